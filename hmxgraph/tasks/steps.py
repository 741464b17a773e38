"""Which step a task's record allows next, and what each step must say (memd: Agent Guardrails)."""

from collections.abc import Callable, Mapping

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.standing import STEPS, Parent, Standing

COUNTERSIGNING = frozenset({"review", "revision", "verification", "decision"})
# What every kind must say, and how to say it.
_SAYS: Mapping[str, Mapping[str, str]] = {
    "task_start": {"goal": "say what is to be reached"},
    "task_progress": {"summary": "say what was done", "followups": "give the next step (next_step=...)"},
    "run_start": {
        "command": "give the command that is run",
        "why_chosen": "give the reason why it was chosen (why_chosen=...)",
        "inputs": "name at least one input",
    },
    "run_finish": {"status": "say how the run ended (status='completed' or 'failed')"},
    "evidence": {"summary": "say what was found"},
    "review": {"summary": "say what the review found"},
    "revision": {"summary": "say what was revised"},
    "verification": {"summary": "say what was verified", "supports_claim": "say whether it supports the claim"},
    "decision": {"summary": "say what was decided"},
    "digest": {"summary": "give the digest's text"},
    "task_finish": {"status": "say how the task ended (status='completed' or 'failed')"},
}
_REPLYING = frozenset({"review", "revision", "verification"})


def check_said(record: TaskRecord) -> None:
    """Refuse a record that leaves out what its kind must say, or that claims trust for itself.

    Raises:
        TaskError: names the field and how to give it.

    >>> check_said(TaskRecord(artifact_id="r", artifact_kind="run_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0, command="make", inputs=["data"]))
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: run_start: why_chosen is missing; give the reason why it was chosen (why_chosen=...)
    """
    kind = record.artifact_kind
    for field, way_out in _SAYS[kind].items():
        if _silent(getattr(record, field)):
            raise TaskError(kind, f"{field} is missing", way_out)
    if kind in _REPLYING and record.reply_to_artifact_id is None:
        raise TaskError(kind, "reply_to_artifact_id is missing", "name the record that it is about")
    if record.promotion_state == "verified":
        reason = "an agent cannot make its own record verified"
        raise TaskError(kind, reason, "leave promotion_state out; another agent's countersignature verifies it")
    if record.promotion_state == "summarized" and kind != "digest":
        raise TaskError(kind, "promotion_state 'summarized' belongs to digests", "say raw or canonical")


def check_step(record: TaskRecord, standing: Standing, parent: Parent | None) -> None:
    """Refuse a record that cannot follow what its task's record says so far.

    Raises:
        TaskError: what stands in the way, and the way out.

    """
    kind = record.artifact_kind
    if kind == "task_start":
        _check_start(standing)
        return
    if not standing.started:
        raise TaskError(kind, f"there is no task {record.task_id!r}", "start it first (tasks.start)")
    if kind in STEPS and standing.finished:
        reason = f"task {record.task_id!r} is finished ({standing.status})"
        raise TaskError(kind, reason, f"start another with parent_task_id={record.task_id!r}")
    if record.reply_to_artifact_id is not None:
        _check_reply(record, standing, parent)


def run_to_finish(standing: Standing, run_id: str | None) -> str:
    """The run that a ``run_finish`` ends: the one named, else the only one open.

    Raises:
        TaskError: no such run, none open, several open, or ended before.

    >>> run_to_finish(Standing("t", "open", ("r1",), ("r1",)), None)
    'r1'
    """
    if run_id is None:
        return _only_open_run(standing)
    if run_id not in standing.runs:
        reason = f"task {standing.task_id!r} has no run {run_id!r}"
        raise TaskError("run_finish", reason, "give the artifact_id of its run_start")
    if run_id not in standing.open_runs:
        raise TaskError("run_finish", f"run {run_id!r} is finished", "start another run (run_start)")
    return run_id


def _only_open_run(standing: Standing) -> str:
    match standing.open_runs:
        case (run_id,):
            return run_id
        case ():
            raise TaskError("run_finish", f"no run of task {standing.task_id!r} is open", "start one first (run_start)")
        case several:
            way_out = f"say which (run_id): {', '.join(several)}"
            raise TaskError("run_finish", f"{len(several)} runs are open", way_out)


def _silent(value: object) -> bool:
    return value is None or value == () or (isinstance(value, str) and not value.strip())


def _check_start(standing: Standing) -> None:
    if standing.started:
        reason = f"task {standing.task_id!r} was started before"
        raise TaskError("task_start", reason, "go on with tasks.progress, or leave task_id out for a new task")


def _check_reply(record: TaskRecord, standing: Standing, parent: Parent | None) -> None:
    kind, wanted = record.artifact_kind, record.reply_to_artifact_id
    if parent is None:
        raise TaskError(kind, f"there is no record {wanted!r} to reply to", "give the artifact_id of a stored record")
    if wanted == record.artifact_id:
        raise TaskError(kind, "a record cannot reply to itself", "name the record that it is about")
    if parent.erased and kind in COUNTERSIGNING:
        raise TaskError(kind, f"record {wanted!r} was erased", "nothing is left to judge; reply to another record")
    check = _BY_KIND.get(kind)
    if check:
        check(record, standing)
    if record.relation_kind == "supersedes":
        _check_supersession(record, parent)


def _check_run_finish(record: TaskRecord, standing: Standing) -> None:
    run_to_finish(standing, record.reply_to_artifact_id)


def _check_supersession(record: TaskRecord, parent: Parent) -> None:
    if parent.artifact_kind == "digest":
        raise TaskError(record.artifact_kind, "a digest is not superseded", "it refreshes itself from its sources")
    if parent.superseded_by is not None:
        reason = f"{parent.artifact_id!r} is already superseded by {parent.superseded_by!r}"
        raise TaskError(record.artifact_kind, reason, "supersede that one instead")


_BY_KIND: Mapping[str, Callable[[TaskRecord, Standing], None]] = {"run_finish": _check_run_finish}
