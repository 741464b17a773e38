"""The sub-faces of shared work, on the tenant of an open graph."""

from hmxgraph.api.memory import MemoryOperations
from hmxgraph.api.records import Records
from hmxgraph.api.tasks import Tasks


def tasks_of(graph) -> Tasks:
    """``graph.tasks``."""
    return Tasks(graph._tenancy, graph._connection)


def records_of(graph) -> Records:
    """``graph.records``."""
    return Records(graph._tenancy, graph._connection)


def memory_of(graph) -> MemoryOperations:
    """``graph.memory``."""
    return MemoryOperations(graph._tenancy, graph._connection)
