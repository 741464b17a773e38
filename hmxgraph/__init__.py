"""An open memory engine for AI agents on Neo4j: events in, evidence-backed knowledge out, no language model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmxgraph.api import AsyncKnowledgeGraph, KnowledgeGraph, connect, connect_async
    from hmxgraph.errors import Fault, HmxGraphError

__version__ = "0.1.0"
__all__ = [
    "AsyncKnowledgeGraph",
    "Fault",
    "HmxGraphError",
    "KnowledgeGraph",
    "connect",
    "connect_async",
]
_HOMES = {"Fault": "hmxgraph.errors", "HmxGraphError": "hmxgraph.errors"}


def __getattr__(name: str) -> Any:
    # Importing a pure room must not import the driver, so the front door opens when it is first asked for.
    if name not in __all__:
        raise AttributeError(f"module 'hmxgraph' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "hmxgraph.api")), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
