"""The public API: ``KnowledgeGraph`` and its asynchronous twin, one module per subject."""

from hmxgraph.api.aio import AsyncKnowledgeGraph, connect_async
from hmxgraph.api.graph import KnowledgeGraph, connect

__all__ = ["AsyncKnowledgeGraph", "KnowledgeGraph", "connect", "connect_async"]
