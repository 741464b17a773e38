"""Which step a task allows next, what each step must say, and what it changes (memd: Agent Guardrails)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.digests import OWN_DIGESTS
from hmxgraph.records.trust import CONFIRMED, COUNTERSIGNING, OPEN, REJECTED, STEPS, Parent, judges, signature

# The state of the task that a step belongs to.


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a task: its status, ids of open runs, ids of all runs, project, goal, and the runs' tools.

    ``status`` is None before the task's start, ``open`` during its life, then that of its finish.
    """

    task_id: str
    status: str | None = None
    open_runs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    project_id: str | None = None
    goal: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        """Whether the task exists."""
        return self.status is not None

    @property
    def finished(self) -> bool:
        """Whether its end was recorded."""
        return self.status not in {None, OPEN}


# What no record may say, however its task stands.

# The most characters of a word that a record is classed by; ids and names may have any length.
LONGEST_WORD = 256
_CLASSING = ("status", "artifact_role", "verification_status", "relation_kind")
_ENDING = frozenset({"run_finish", "task_finish"})


def _check_sense(record: TaskRecord) -> None:
    """Refuse a record that contradicts itself, ends nothing, claims trust, or takes a name that is not to be had.

    Raises:
        TaskError: what is wrong, and the way out.

    >>> _check_sense(TaskRecord(artifact_id="r", artifact_kind="task_finish", task_id="t", tenant_id="a",
    ...     timestamp_created=0, status="open"))
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: task_finish: status 'open' is no end; say how it ended (status='completed' or 'failed')
    """
    for check in (_check_name, _check_end, _check_verdict, _check_promotion, _check_words):
        check(record)


def _check_name(record: TaskRecord) -> None:
    kind, agent_id = record.artifact_kind, record.agent_id
    if record.artifact_id.startswith(OWN_DIGESTS):
        reason = f"ids that begin with {OWN_DIGESTS!r} are those of the digests that the engine composes itself"
        raise TaskError(kind, reason, "choose another artifact_id, or leave it out")
    if agent_id is None or agent_id == signature(agent_id):
        return
    if signature(agent_id) is None:
        raise TaskError(kind, "agent_id is blank, and a blank signs nothing", "name the agent, or leave agent_id out")
    reason = f"agent_id {agent_id!r:.60} has blanks around it, and blanks make no other agent"
    raise TaskError(kind, reason, "give the name without them")


def _check_end(record: TaskRecord) -> None:
    if record.artifact_kind in _ENDING and (record.status or "").strip().lower() == OPEN:
        reason = f"status {record.status!r} is no end"
        raise TaskError(record.artifact_kind, reason, "say how it ended (status='completed' or 'failed')")


def _check_verdict(record: TaskRecord) -> None:
    kind, supports, status = record.artifact_kind, record.supports_claim, record.verification_status
    if _contradicts_itself(kind, supports, status):
        reason = f"supports_claim={supports} and verification_status {status!r:.60} contradict each other"
        raise TaskError(kind, reason, "say one thing; verification_status may be left out")


def _contradicts_itself(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether a judgement's status says the opposite of its ``supports_claim``.

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
        raise TaskError(kind, "promotion_state 'summarized' belongs to digests alone", "say raw or canonical")


def _check_words(record: TaskRecord) -> None:
    for name, word in _words(record):
        if len(word) > LONGEST_WORD:
            reason = f"{name} has {len(word)} characters, and a word that records are classed by has {LONGEST_WORD}"
            raise TaskError(record.artifact_kind, reason, "give a short word, and say the rest in the summary")


def _words(record: TaskRecord) -> Iterator[tuple[str, str]]:
    """The words by which *record* is classed."""
    yield from ((name, word) for name in _CLASSING if (word := getattr(record, name)) is not None)
    yield from (("entity_type", one.entity_type) for one in record.entity_refs or ())


# Which step a task's record allows next, and what each step must say (memd: Agent Guardrails).

# What every kind must say: the field, the rule, and the way to keep it.
_SAYS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "task_start": {"goal": ("a task starts with a goal", "say what it is (goal=...)")},
    "task_progress": {
        "summary": ("a checkpoint says what was done", "say it (summary=...)"),
        "followups": ("a checkpoint says what comes next", "give the next step (next_step=...)"),
    },
    "run_start": {
        "command": ("a run says what is run", "give the command (command=...)"),
        "why_chosen": ("a run says why it was chosen", "give the reason (why_chosen=...)"),
        "inputs": ("a run says what it works on", "name at least one input (inputs=[...])"),
    },
    "run_finish": {"status": ("the end of a run says how it ended", "say it (status='completed' or 'failed')")},
    "evidence": {"summary": ("evidence says what was found", "say it (summary=...)")},
    "review": {"summary": ("a review says what it found", "say it (summary=...)")},
    "revision": {"summary": ("a revision says what was revised", "say it (summary=...)")},
    "verification": {
        "summary": ("a verification says what was verified", "say it (summary=...)"),
        "supports_claim": (
            "a verification supports the claim or rejects it",
            "say which (supports_claim=True or False)",
        ),
    },
    "decision": {"summary": ("a decision says what was decided", "say it (summary=...)")},
    "digest": {"summary": ("a digest has a text", "give it (summary=...)")},
    "task_finish": {"status": ("the end of a task says how it ended", "say it (status='completed' or 'failed')")},
}
_REPLYING = frozenset({"review", "revision", "verification"})


def check_said(record: TaskRecord) -> None:
    """Refuse a record that leaves out what its kind must say, or says what no record may.

    Raises:
        TaskError: names the field, the rule, and how to give it.

    >>> check_said(TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0))
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: task_start: goal is missing: a task starts with a goal; say what it is (goal=...)
    """
    kind = record.artifact_kind
    for name, (rule, way_out) in _SAYS[kind].items():
        if _silent(getattr(record, name)):
            raise TaskError(kind, f"{name} is missing: {rule}", way_out)
    if kind in _REPLYING and record.reply_to_artifact_id is None:
        reason = f"reply_to_artifact_id is missing: a {kind} is about a record"
        raise TaskError(kind, reason, "name that record (reply_to_artifact_id=...)")
    _check_sense(record)


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
        reason = f"there is no task {record.task_id!r}, and nothing is recorded before its start"
        raise TaskError(kind, reason, "start it first (tasks.start)")
    if kind in STEPS and standing.finished:
        reason = f"task {record.task_id!r} is finished ({standing.status}), and only replies and decisions may follow"
        raise TaskError(kind, reason, f"start another with parent_task_id={record.task_id!r}")
    if record.reply_to_artifact_id is not None:
        _check_reply(record, standing, parent)


def no_parent(kind: str, artifact_id: str | None) -> TaskError:
    """The refusal of a reply to a record that is not there."""
    reason = f"there is no record {artifact_id!r} to reply to, and a reply is about a stored record"
    return TaskError(kind, reason, "give its artifact_id (records.search finds it)")


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
        reason = f"task {standing.task_id!r} has no run {run_id!r}, and a task ends its own runs only"
        way_out = f"give the artifact_id of a run_start of it (run_id=...){_listed(standing.open_runs)}"
        raise TaskError("run_finish", reason, way_out)
    if run_id not in standing.open_runs:
        reason = f"run {run_id!r} of task {standing.task_id!r} is finished, and a run ends once"
        raise TaskError("run_finish", reason, "start another run (run_start)")
    return run_id


def _only_open_run(standing: Standing) -> str:
    match standing.open_runs:
        case (run_id,):
            return run_id
        case ():
            reason = f"no run of task {standing.task_id!r} is open, and only an open run can end"
            raise TaskError("run_finish", reason, "start one first (run_start)")
        case several:
            reason = f"{len(several)} runs are open in task {standing.task_id!r}, and one record ends one run"
            raise TaskError("run_finish", reason, f"say which (run_id=...){_listed(several)}")


def _listed(runs: tuple[str, ...]) -> str:
    return f": {', '.join(runs)}" if runs else ""


def _silent(value: object) -> bool:
    return value is None or value == () or (isinstance(value, str) and not value.strip())


def _check_start(standing: Standing) -> None:
    if standing.started:
        reason = f"task {standing.task_id!r} was started before, and a task starts once"
        raise TaskError("task_start", reason, "go on with tasks.progress, or leave task_id out for a new task")


def _check_reply(record: TaskRecord, standing: Standing, parent: Parent | None) -> None:
    kind, wanted = record.artifact_kind, record.reply_to_artifact_id
    if parent is None:
        raise no_parent(kind, wanted)
    if wanted == record.artifact_id:
        raise TaskError(kind, "a record cannot reply to itself", "name the record that it is about")
    if parent.erased and kind in COUNTERSIGNING:
        reason = f"record {wanted!r} was erased, and nothing is left in it to judge"
        raise TaskError(kind, reason, "reply to another record")
    check = _BY_KIND.get(kind)
    if check:
        check(record, standing)
    if record.relation_kind == "supersedes":
        _check_supersession(record, parent)


def _check_run_finish(record: TaskRecord, standing: Standing) -> None:
    run_to_finish(standing, record.reply_to_artifact_id)


def _check_supersession(record: TaskRecord, parent: Parent) -> None:
    if parent.artifact_kind == "digest":
        reason = f"{parent.artifact_id!r} is a digest, and a digest is composed, not superseded"
        raise TaskError(record.artifact_kind, reason, "revise one of its sources, the digest follows")
    if parent.superseded_by is not None:
        reason = (
            f"{parent.artifact_id!r} is already superseded by {parent.superseded_by!r}, and a record has one successor"
        )
        raise TaskError(record.artifact_kind, reason, "supersede that one instead")
    author = signature(parent.agent_id)
    if judges(parent.artifact_kind, parent.supports_claim) and author not in {None, signature(record.agent_id)}:
        reason = f"{parent.artifact_id!r} is what {author!r:.60} said of another record, and nobody else takes it back"
        raise TaskError(record.artifact_kind, reason, "reply to it without superseding it")


_BY_KIND: Mapping[str, Callable[[TaskRecord, Standing], None]] = {"run_finish": _check_run_finish}


# A record as its author gave it, completed from its task and from what it replies to.


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


# What one record changes about its task and runs: plain values, written by the graph.

_ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Changes:
    """Properties that the task gets, and those of each of its runs that changes, by run id."""

    task: dict[str, Any]
    runs: dict[str, dict[str, Any]]


def changes(record: TaskRecord, standing: Standing) -> Changes:
    """What *record* changes about a task that stands like *standing*.

    >>> start = TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=1, goal="Find the leak")
    >>> changes(start, Standing("t")).task["status"]
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
            finished = {"status": record.status, "finished_us": record.created_us}
            return Changes(_touched(record) | finished, dict.fromkeys(standing.open_runs, ended))
        case _:
            return Changes(_touched(record), {})


def _touched(record: TaskRecord) -> dict[str, Any]:
    return {"updated_us": record.created_us}


def _started(record: TaskRecord) -> dict[str, Any]:
    found = {
        "task_id": record.task_id,
        "goal": record.goal,
        "project_id": record.project_id,
        "thread_id": record.thread_id,
        "agent_id": record.agent_id,
        "status": OPEN,
        "started_us": record.created_us,
    }
    return _touched(record) | {name: value for name, value in found.items() if value is not None}


def _run_started(record: TaskRecord) -> dict[str, Any]:
    found = {
        "run_id": record.artifact_id,
        "task_id": record.task_id,
        "status": OPEN,
        "tool_name": record.tool_name,
        "command": record.command,
        "agent_id": record.agent_id,
        "started_us": record.created_us,
    }
    return {name: value for name, value in found.items() if value is not None}
