"""The front door: one class for plain code, its twin for asynchronous code."""

from hmxgraph.api.aio import AsyncKnowledgeGraph, connect_async
from hmxgraph.api.graph import KnowledgeGraph, connect

__all__ = ["AsyncKnowledgeGraph", "KnowledgeGraph", "connect", "connect_async"]
