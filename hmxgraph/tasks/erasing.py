"""What is left of a record that was erased: its place."""

from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.digest_names import EVERYTHING, LIBRARIES, DigestName

# Words for how a task or run ended that say nothing about its content.
PLAIN_STATUSES = ("open", "completed", "failed", "abandoned", "finished")


def digests_telling(task_id: str, project_id: str | None) -> tuple[DigestName, ...]:
    """The digests in which a record of this task and project may be told, sorted.

    >>> len(digests_telling("t", "soil")), len(digests_telling("t", None))
    (11, 6)
    """
    wide = {DigestName(role, scope) for role in LIBRARIES for scope in (EVERYTHING, project_id or EVERYTHING)}
    return tuple(sorted({DigestName("task_resume", task_id), *wide}))


def place_of(
    tenant_id: str,
    artifact_id: str,
    artifact_kind: str,
    *,
    task_id: str,
    created_us: int,
    **where: str | None,
) -> TaskRecord:
    """The record that stands where another was: its ids, kind and time, and *where* (thread, what it replied to).

    >>> place_of("a", "r", "evidence", task_id="t", created_us=5_000, thread_id="t").document()["timestamp_created"]
    5
    """
    return TaskRecord(
        artifact_id=artifact_id,
        artifact_kind=artifact_kind,
        task_id=task_id,
        tenant_id=tenant_id,
        timestamp_created=created_us // 1000,
        thread_id=where.get("thread_id"),
        reply_to_artifact_id=where.get("reply_to_artifact_id"),
    )
