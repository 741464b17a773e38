"""The task, record and memory interfaces of a graph's tenant, without a meter."""

from hmxgraph.api.memory import MemoryOperations
from hmxgraph.api.records import Records
from hmxgraph.api.tasks import Tasks
from hmxgraph.graph.plan import write
from hmxgraph.graph.records import _Submitted, _write
from hmxgraph.protocol.records import TaskRecord


def tasks_of(graph) -> Tasks:
    """``graph.tasks``."""
    return Tasks(graph._tenancy, graph._connection)


def records_of(graph) -> Records:
    """``graph.records``."""
    return Records(graph._tenancy, graph._connection)


def memory_of(graph) -> MemoryOperations:
    """``graph.memory``."""
    return MemoryOperations(graph._tenancy, graph._connection)


def digest_by_hand(graph, task_id, *, at_ms=0, **fields) -> str:
    """Write a digest as earlier versions let agents do; return its id."""
    record = TaskRecord(
        artifact_id=f"by-hand-{task_id[:20]}",
        artifact_kind="digest",
        task_id=task_id,
        tenant_id=graph.tenant_id,
        timestamp_created=at_ms,
        **fields,
    )
    (receipt,) = graph._connection.perform(write(lambda: _write(graph._tenancy, [_Submitted(record)])))
    return receipt.artifact_id
