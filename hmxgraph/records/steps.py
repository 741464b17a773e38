"""Check new task records (required fields, allowed steps), and compute their effect on the task.

See memd: Agent Guardrails.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import DIGEST_ROLES, TaskRecord
from hmxgraph.records.board import board_changes, check_board_fields, check_board_step, holder_at
from hmxgraph.records.digests import OWN_DIGESTS
from hmxgraph.records.trust import CONFIRMED, COUNTERSIGNING, OPEN, REJECTED, STEPS, Parent, agent_key, judges

# The state of the task that a step belongs to.


@dataclass(frozen=True, slots=True)
class TaskState:
    """The state of a task.

    ``runs`` are the ids of all runs, ``open_runs`` those of runs without an end; ``tools`` is the tool of each run.
    ``status`` is None before the task's start, then ``open``, then the status of its ``task_finish``; reopening a task
    makes it ``open`` again.
    """

    task_id: str
    status: str | None = None
    open_runs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    project_id: str | None = None
    goal: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    assignee: str | None = None
    lease_until_us: int | None = None

    @property
    def started(self) -> bool:
        """Whether the task exists."""
        return self.status is not None

    @property
    def finished(self) -> bool:
        """Whether it is finished, and not reopened since."""
        return self.status not in {None, OPEN}


# Rules that hold for every record, whatever the state of its task.

# Maximum length, in characters, of the fields that classify records; ids and names have no such limit.
_LONGEST_CLASSIFYING = 256
_CLASSIFYING = ("status", "artifact_role", "verification_status", "relation_kind")
# Kinds of records that end a run or a task.
_ENDING = frozenset({"run_finish", "task_finish"})


def _check_consistency(record: TaskRecord) -> None:
    """Refuse a record that breaks a rule for all records.

    Raises:
        TaskError: names the broken rule, and the way out.

    >>> _check_consistency(TaskRecord(artifact_id="r", artifact_kind="task_finish", task_id="t", tenant_id="a",
    ...     timestamp_created=0, status="open"))
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: task_finish: status 'open' is not final; write status='completed' or 'failed'
    """
    for check in (
        _check_names,
        _check_end,
        _check_verdict,
        _check_promotion,
        _check_lengths,
        _check_digest,
        _check_parent,
    ):
        check(record)


def _check_parent(record: TaskRecord) -> None:
    if record.parent_task_id is not None and record.parent_task_id == record.task_id:
        reason = f"task {record.task_id!r:.60} cannot be part of itself"
        raise TaskError(record.artifact_kind, reason, "leave parent_task_id out, or name another task")


def _check_digest(record: TaskRecord) -> None:
    kind, role = record.artifact_kind, record.artifact_role
    if kind == "digest":
        reason = "digests are composed by the engine from their sources"
        raise TaskError(kind, reason, "record evidence or a decision instead; memory.compact refreshes digests")
    digest_fields = {
        "artifact_role": role if role in DIGEST_ROLES else None,
        "digest_key": record.digest_key,
        "source_updated_at_ms": record.source_updated_at_ms,
    }
    for name, value in digest_fields.items():
        if value is not None:
            raise TaskError(kind, f"{name} {value!r:.60} is only for digests", f"leave {name} out")


def _check_names(record: TaskRecord) -> None:
    kind, agent_id = record.artifact_kind, record.agent_id
    if record.artifact_id.startswith(OWN_DIGESTS):
        reason = f"ids that begin with {OWN_DIGESTS!r} are reserved for digests composed by the engine"
        raise TaskError(kind, reason, "choose another artifact_id, or leave it out")
    if agent_id is None or (agent_id and agent_id == agent_id.strip()):
        return
    if agent_key(agent_id) is None:
        raise TaskError(kind, "agent_id is blank, and a blank is not a name", "name the agent, or leave agent_id out")
    reason = f"agent_id {agent_id!r:.60} has leading or trailing white space"
    raise TaskError(kind, reason, "give the name without it")


def _check_end(record: TaskRecord) -> None:
    if record.artifact_kind in _ENDING and (record.status or "").strip().lower() == OPEN:
        reason = f"status {record.status!r} is not final"
        raise TaskError(record.artifact_kind, reason, "write status='completed' or 'failed'")


def _check_verdict(record: TaskRecord) -> None:
    kind, supports, status = record.artifact_kind, record.supports_claim, record.verification_status
    if _contradicts_itself(kind, supports, status):
        reason = f"supports_claim={supports} and verification_status {status!r:.60} contradict each other"
        raise TaskError(kind, reason, "make them agree, or leave verification_status out")


def _contradicts_itself(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether the ``verification_status`` of a judgement says the opposite of its ``supports_claim``.

    >>> _contradicts_itself("verification", True, "rejected"), _contradicts_itself("verification", True, "pending")
    (True, False)
    """
    if artifact_kind not in COUNTERSIGNING or supports_claim is None:
        return False
    return (verification_status or "").strip().lower() in (REJECTED if supports_claim else CONFIRMED)


def _check_promotion(record: TaskRecord) -> None:
    kind, stated = record.artifact_kind, record.promotion_state
    if stated == "verified":
        reason = "an agent cannot make its own record verified"
        raise TaskError(kind, reason, "leave promotion_state out; another agent's countersignature verifies it")
    if stated == "summarized" and kind != "digest":
        raise TaskError(kind, "promotion_state 'summarized' is only for digests", "write raw or canonical")


def _check_lengths(record: TaskRecord) -> None:
    for name, word in _classifying_fields(record):
        if len(word) > _LONGEST_CLASSIFYING:
            reason = f"{name} has {len(word)} characters, more than {_LONGEST_CLASSIFYING}"
            raise TaskError(record.artifact_kind, reason, "give a short word, and put the rest into the summary")


def _classifying_fields(record: TaskRecord) -> Iterator[tuple[str, str]]:
    """The fields that classify *record*."""
    yield from ((name, word) for name in _CLASSIFYING if (word := getattr(record, name)) is not None)
    yield from (("entity_type", entity.entity_type) for entity in record.entity_refs or ())


# Required fields, and the steps that a task allows next (memd: Agent Guardrails).

# The required fields of each kind: field, rule, way out.
_REQUIRED: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "task_start": {"goal": ("a task starts with a goal", "give it (goal=...)")},
    "task_progress": {
        "summary": ("a checkpoint says what was done", "give it (summary=...)"),
        "followups": ("a checkpoint says what comes next", "give the next step (next_step=...)"),
    },
    "run_start": {
        "command": ("a run has a command", "give it (command=...)"),
        "why_chosen": ("a run says why it was chosen", "give the reason (why_chosen=...)"),
        "inputs": ("a run has inputs", "name at least one (inputs=[...])"),
    },
    "run_finish": {"status": ("the end of a run says how it ended", "give it (status='completed' or 'failed')")},
    "evidence": {"summary": ("evidence says what was found", "give it (summary=...)")},
    "review": {"summary": ("a review says what it found", "give it (summary=...)")},
    "revision": {"summary": ("a revision says what was revised", "give it (summary=...)")},
    "verification": {
        "summary": ("a verification says what was verified", "give it (summary=...)"),
        "supports_claim": (
            "a verification supports the claim or rejects it",
            "choose one (supports_claim=True or False)",
        ),
    },
    "decision": {"summary": ("a decision says what was decided", "give it (summary=...)")},
    "digest": {"summary": ("a digest has a text", "give it (summary=...)")},
    "task_finish": {"status": ("the end of a task says how it ended", "give it (status='completed' or 'failed')")},
}
# Kinds of records that must reply to another one.
_REPLYING = frozenset({"review", "revision", "verification"})


def check_fields(record: TaskRecord) -> None:
    """Refuse a record that lacks a required field of its kind, or breaks a rule for all records.

    Raises:
        TaskError: names the field, the rule, and the way out.

    >>> check_fields(TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0))
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: task_start: goal is missing: a task starts with a goal; give it (goal=...)
    """
    kind = record.artifact_kind
    required = {} if record.is_move else _REQUIRED[kind]
    if record.is_move:
        check_board_fields(record)
    for name, (rule, way_out) in required.items():
        if _is_blank(getattr(record, name)):
            raise TaskError(kind, f"{name} is missing: {rule}", way_out)
    if kind in _REPLYING and record.reply_to_artifact_id is None:
        reason = f"reply_to_artifact_id is missing: a {kind} is about a record"
        raise TaskError(kind, reason, "name that record (reply_to_artifact_id=...)")
    _check_consistency(record)


def check_step(record: TaskRecord, task_state: TaskState, parent: Parent | None) -> None:
    """Refuse a record that the existing records of its task rule out.

    Raises:
        TaskError: the reason, and the way out.

    """
    kind = record.artifact_kind
    if kind == "task_start":
        _check_start(task_state)
        return
    if not task_state.started:
        reason = f"there is no task {record.task_id!r}, and nothing is recorded before its start"
        step = record.artifact_role if record.is_move and record.artifact_role else kind
        raise TaskError(step, reason, "start it first (tasks.start), or look up its id (tasks.list)")
    if record.is_move:
        check_board_step(record, task_state)
        return
    if kind in STEPS and task_state.finished:
        reason = f"task {record.task_id!r} is finished ({task_state.status}), and only replies and decisions may follow"
        way_out = f"reopen it (tasks.reopen), or start another with parent_task_id={record.task_id!r}"
        raise TaskError(kind, reason, way_out)
    if record.reply_to_artifact_id is not None:
        _check_reply(record, task_state, parent)


def no_parent(kind: str, artifact_id: str | None) -> TaskError:
    """The error for a reply to a missing record."""
    reason = f"there is no record {artifact_id!r} to reply to, and a reply is about a stored record"
    return TaskError(kind, reason, "give its artifact_id (records.search finds it)")


def run_to_finish(task_state: TaskState, run_id: str | None) -> str:
    """The run that a ``run_finish`` finishes: *run_id*, or the only open one.

    Raises:
        TaskError: *run_id* is no run of the task or is finished; or it is None, and no run or several are open.

    >>> run_to_finish(TaskState("t", "open", ("r1",), ("r1",)), None)
    'r1'
    """
    if run_id is None:
        return _only_open_run(task_state)
    if run_id not in task_state.runs:
        reason = f"task {task_state.task_id!r} has no run {run_id!r}"
        way_out = f"give the artifact_id of one of its run_start records (run_id=...){_listed(task_state.open_runs)}"
        raise TaskError("run_finish", reason, way_out)
    if run_id not in task_state.open_runs:
        reason = f"run {run_id!r} of task {task_state.task_id!r} is finished, and a run finishes only once"
        raise TaskError("run_finish", reason, "start another run (run_start)")
    return run_id


def _only_open_run(task_state: TaskState) -> str:
    match task_state.open_runs:
        case (run_id,):
            return run_id
        case ():
            reason = f"no run of task {task_state.task_id!r} is open"
            raise TaskError("run_finish", reason, "start one first (run_start)")
        case several:
            reason = f"{len(several)} runs of task {task_state.task_id!r} are open, and a record finishes only one"
            raise TaskError("run_finish", reason, f"name it (run_id=...){_listed(several)}")


def _listed(runs: tuple[str, ...]) -> str:
    return f": {', '.join(runs)}" if runs else ""


def _is_blank(value: object) -> bool:
    return value is None or value == () or (isinstance(value, str) and not value.strip())


def _check_start(task_state: TaskState) -> None:
    if task_state.started:
        reason = f"task {task_state.task_id!r} was started before"
        raise TaskError("task_start", reason, "continue it with tasks.progress, or leave task_id out for a new task")


def _check_reply(record: TaskRecord, task_state: TaskState, parent: Parent | None) -> None:
    """Refuse a reply to a missing record, to itself or to a digest, and a judgement of an erased record.

    Also refuse the end of a run that is not open, and a successor that the parent cannot have.
    """
    kind, parent_id = record.artifact_kind, record.reply_to_artifact_id
    if parent is None:
        raise no_parent(kind, parent_id)
    if parent_id == record.artifact_id:
        raise TaskError(kind, "a record cannot reply to itself", "name the record that it replies to")
    if parent.artifact_kind == "digest":
        reason = f"{parent_id!r} is a digest, which only repeats its sources"
        raise TaskError(kind, reason, "reply to one of its sources (related_artifact_ids)")
    if parent.erased and kind in COUNTERSIGNING:
        reason = f"record {parent_id!r} was erased, and nothing is left in it to judge"
        raise TaskError(kind, reason, "reply to another record")
    if kind == "run_finish":
        run_to_finish(task_state, parent_id)
    if record.relation_kind == "supersedes":
        _check_supersession(record, parent)


def _check_supersession(record: TaskRecord, parent: Parent) -> None:
    if parent.superseded_by is not None:
        reason = (
            f"{parent.artifact_id!r} is already superseded by {parent.superseded_by!r}, and a record has one successor"
        )
        raise TaskError(record.artifact_kind, reason, "supersede that one instead")
    author = agent_key(parent.agent_id)
    if judges(parent.artifact_kind, parent.supports_claim) and author not in {None, agent_key(record.agent_id)}:
        name = (parent.agent_id or "").strip()
        reason = f"{parent.artifact_id!r} is a verdict of {name!r:.60}, which only its author may supersede"
        raise TaskError(record.artifact_kind, reason, "reply to it without superseding it")


# Fields that are derived from the task and from the record replied to.


def with_derived_fields(record: TaskRecord, task_state: TaskState, parent: Parent | None) -> TaskRecord:
    """*record* with thread, project, run and relation filled in from its task and parent.

    The thread is the parent's, or the task's own; the project is the task's, or the parent's; a ``run_finish`` gets
    its run and the run's tool. Fields that are set stay.

    Raises:
        TaskError: a ``run_finish`` names a run that is not open, or names none while no run or several are open.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0, goal="Find it")
    >>> with_derived_fields(record, TaskState("t"), None).thread_id
    't'
    """
    added = _place(record, task_state, parent) | _relation(record, task_state)
    fresh = {name: value for name, value in added.items() if value is not None and getattr(record, name) is None}
    return TaskRecord.parse(record.document() | fresh) if fresh else record


def _place(record: TaskRecord, task_state: TaskState, parent: Parent | None) -> dict[str, Any]:
    thread = parent.thread_id if parent and parent.thread_id else record.task_id
    project = task_state.project_id or (parent.project_id if parent else None)
    return {"thread_id": thread, "project_id": project}


def _relation(record: TaskRecord, task_state: TaskState) -> dict[str, Any]:
    """The relation of *record* to its parent; for the end of a run, also the run and its tool."""
    if record.artifact_kind == "run_finish" and task_state.started and not task_state.finished:
        run_id = run_to_finish(task_state, record.reply_to_artifact_id)
        tool = task_state.tools.get(run_id)
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


# The effect of a record on its task and runs.

# The status of runs that are open when their task ends.
_ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed properties of the task, and of its runs by run id; None removes a property."""

    task: dict[str, Any]
    runs: dict[str, dict[str, Any]]


def changes(record: TaskRecord, task_state: TaskState) -> Changes:
    """The effect of *record* on a task in this state.

    >>> start = TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=1, goal="Find the leak")
    >>> changes(start, TaskState("t")).task["status"]
    'open'
    """
    match record.artifact_kind:
        case "task_start":
            return Changes(_started(record), {})
        case "run_start":
            return Changes(_touched(record), {record.artifact_id: _run_started(record)})
        case "run_finish":
            run = {"status": record.status, "finished_us": record.created_us}
            return Changes(_touched(record), {record.reply_to_artifact_id or "": run})
        case "task_finish":
            ended = {"status": _ABANDONED, "finished_us": record.created_us}
            finished = {"status": record.status, "finished_us": record.created_us, "lease_until_us": None}
            if holder_at(task_state, record.created_us) is None:
                finished |= {"assignee": None, "assignee_key": None}
            return Changes(_touched(record) | finished, dict.fromkeys(task_state.open_runs, ended))
        case _:
            moved = board_changes(record) if record.is_move else {}
            return Changes(_touched(record) | moved, {})


def _touched(record: TaskRecord) -> dict[str, Any]:
    return {"updated_us": record.created_us}


def _started(record: TaskRecord) -> dict[str, Any]:
    """The properties of a task that its start sets."""
    properties = {
        "task_id": record.task_id,
        "goal": record.goal,
        "project_id": record.project_id,
        "thread_id": record.thread_id,
        "agent_id": record.agent_id,
        "status": OPEN,
        "started_us": record.created_us,
    }
    return _touched(record) | {name: value for name, value in properties.items() if value is not None}


def _run_started(record: TaskRecord) -> dict[str, Any]:
    """The properties of a run that its start sets."""
    properties = {
        "run_id": record.artifact_id,
        "task_id": record.task_id,
        "status": OPEN,
        "tool_name": record.tool_name,
        "command": record.command,
        "agent_id": record.agent_id,
        "started_us": record.created_us,
    }
    return {name: value for name, value in properties.items() if value is not None}
