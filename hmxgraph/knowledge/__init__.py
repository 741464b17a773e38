"""The front door: one class for plain code, its twin for asynchronous code."""

from hmxgraph.knowledge.aio import AsyncKnowledgeGraph, connect_async
from hmxgraph.knowledge.sync import KnowledgeGraph, connect

__all__ = ["AsyncKnowledgeGraph", "KnowledgeGraph", "connect", "connect_async"]
