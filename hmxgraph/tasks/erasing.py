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


def place_of(record: TaskRecord) -> TaskRecord:
    """The record that stands where *record* was: its ids, kind and time, its thread, and what it replied to.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="evidence", task_id="t", tenant_id="a",
    ...     timestamp_created=5, thread_id="t", summary="seen")
    >>> sorted(place_of(record).document())
    ['artifact_id', 'artifact_kind', 'task_id', 'tenant_id', 'thread_id', 'timestamp_created']
    """
    return TaskRecord(
        artifact_id=record.artifact_id,
        artifact_kind=record.artifact_kind,
        task_id=record.task_id,
        tenant_id=record.tenant_id,
        timestamp_created=record.created_us // 1000,
        thread_id=record.thread_id,
        reply_to_artifact_id=record.reply_to_artifact_id,
    )
