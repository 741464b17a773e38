"""A record as its author gave it, completed from its task and from what it replies to."""

from typing import Any

from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.standing import Parent, Standing
from hmxgraph.tasks.steps import run_to_finish


def completed(record: TaskRecord, standing: Standing, parent: Parent | None) -> TaskRecord:
    """*record* with the thread, project, run and relation that follow from where it stands.

    The thread is the parent's, else the task's own; the project is the task's; a ``run_finish`` names its run and the
    run's tool.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0, goal="Find it")
    >>> completed(record, Standing("t"), None).thread_id
    't'
    """
    added = _place(record, standing, parent) | _relation(record, standing)
    fresh = {name: value for name, value in added.items() if value is not None and getattr(record, name) is None}
    return TaskRecord.parse(record.document() | fresh) if fresh else record


def _place(record: TaskRecord, standing: Standing, parent: Parent | None) -> dict[str, Any]:
    thread = parent.thread_id if parent and parent.thread_id else record.task_id
    project = standing.project_id or (parent.project_id if parent else None)
    return {"thread_id": thread, "project_id": project}


def _relation(record: TaskRecord, standing: Standing) -> dict[str, Any]:
    if record.artifact_kind == "run_finish" and standing.started and not standing.finished:
        run_id = run_to_finish(standing, record.reply_to_artifact_id)
        tool = standing.tools.get(run_id)
        return {"reply_to_artifact_id": run_id, "relation_kind": "finishes", "tool_name": tool}
    if record.reply_to_artifact_id is None:
        return {}
    return {"relation_kind": _RELATIONS.get(record.artifact_kind, "replies_to")}


_RELATIONS = {
    "review": "reviews",
    "revision": "revises",
    "verification": "verifies",
    "decision": "decides",
    "evidence": "supports",
}
