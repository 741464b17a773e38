"""Task records and memory operations as HMX events, so that the compiler learns from shared work."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hmxgraph.protocol.canonical import indexable, stable_id
from hmxgraph.protocol.events import AGENT, HMX_VERSION, ORIGIN, Event
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.timestamps import iso
from hmxgraph.records.digests import EVERYTHING, WIDE_ROLES, DigestName
from hmxgraph.records.search import means_failure, sentences

# Task records as HMX events.

# The agent id of events that report unsigned records.
UNSIGNED = "unsigned"
# Prefix of the session id of records that name no session.
TASK_SESSION = "task:"
# Roles of records that only say who holds a task.
HOLDING = frozenset({"claim", "release"})
Content = dict[str, Any]


class _EventBody(NamedTuple):
    """Type and content of an event."""

    event_type: str
    content: Content


def session_of(record: TaskRecord) -> str:
    """The session of the record's events: the one that the record names, else one for the whole task."""
    return record.session_id or f"{TASK_SESSION}{record.task_id}"


def _event_id_of(tenant_id: str, artifact_id: str, index: int = 0) -> str:
    """The id of a record's event; a failed record has a second event (index 1)."""
    return stable_id(tenant_id, "task-record", artifact_id, str(index))


def event_ids_of(tenant_id: str, artifact_id: str) -> tuple[str, str]:
    """The ids of a record's events; the second exists only if it failed."""
    return _event_id_of(tenant_id, artifact_id), _event_id_of(tenant_id, artifact_id, 1)


def events_of(record: TaskRecord, sequence: int) -> tuple[Event, ...]:
    """The events of *record*, numbered from *sequence*; none for a digest, claim or release, which report no work.

    >>> record = TaskRecord(artifact_id="r1", artifact_kind="run_finish", task_id="t", tenant_id="a", agent_id="ana",
    ...     timestamp_created=0, reply_to_artifact_id="r0", status="failed", tool_name="make", summary="no space left")
    >>> [event.event_type for event in events_of(record, 4)]
    ['tool_result', 'error']
    """
    if record.artifact_kind == "digest" or record.artifact_role in HOLDING:
        return ()
    bodies = [_BODIES[record.artifact_kind](record)]
    if record.artifact_kind != "task_start" and means_failure(record.status):
        bodies.append(_error(record))
    return tuple(_event(record, sequence + index, index, body) for index, body in enumerate(bodies))


def _event(record: TaskRecord, sequence: int, index: int, body: _EventBody) -> Event:
    """One event of *record*: *index* 0 is its main event, 1 the error of a failed record, caused by the main event."""
    parent = record.reply_to_artifact_id if index == 0 else record.artifact_id
    metadata = {
        name: indexable(value)
        for name in ("task_id", "project_id", "artifact_id", "artifact_kind", "thread_id")
        if (value := getattr(record, name)) is not None
    }
    return Event(
        hmx_version=HMX_VERSION,
        event_id=_event_id_of(record.tenant_id, record.artifact_id, index),
        event_type=body.event_type,
        agent_id=record.agent_id or UNSIGNED,
        tenant_id=record.tenant_id,
        session_id=session_of(record),
        timestamp=iso(record.created_us),
        sequence=sequence,
        content=body.content,
        metadata={ORIGIN: AGENT, **metadata},
        parent_event_id=_event_id_of(record.tenant_id, parent) if parent else None,
        provenance_ref=f"task-record:{record.artifact_id}",
        tags=list(record.tags) if record.tags else None,
    )


def _start(record: TaskRecord) -> _EventBody:
    background = (record.motivation, record.hypothesis, record.scientific_question)
    return _EventBody("message", {"role": "user", "text": sentences(record.goal, *background)})


def _observation(record: TaskRecord) -> _EventBody:
    fields = ("blockers", "followups", "outputs", "evidence_kind", "supports_claim", "validation", "uncertainty")
    return _EventBody("observation", {"text": sentences(record.summary)} | _fields(record, *fields))


def _call(record: TaskRecord) -> _EventBody:
    arguments = _fields(record, "command", "parameters", "inputs", "tool_version")
    content = {"tool_name": record.tool_name or "command", "arguments": arguments, "call_id": record.artifact_id}
    return _EventBody("tool_call", content | _fields(record, "why_chosen"))


def _result(record: TaskRecord) -> _EventBody:
    result = _fields(record, "status", "summary", "outputs", "metrics", "what_worked", "what_failed")
    content = {
        "tool_name": record.tool_name or "command",
        "result": result,
        "success": not means_failure(record.status),
    }
    return _EventBody("tool_result", content | {"call_id": record.reply_to_artifact_id or record.artifact_id})


def _verdict(record: TaskRecord) -> _EventBody:
    if record.supports_claim is None:
        return _EventBody("message", {"role": "assistant", "text": sentences(record.summary)})
    signal = "positive" if record.supports_claim else "negative"
    return _feedback(record, signal)


def _revision(record: TaskRecord) -> _EventBody:
    return _feedback(record, "positive" if record.supports_claim else "correction")


def _feedback(record: TaskRecord, signal: str) -> _EventBody:
    target = _event_id_of(record.tenant_id, record.reply_to_artifact_id or "")
    return _EventBody("feedback", {"signal": signal, "target_event_id": target, "comment": sentences(record.summary)})


def _decision(record: TaskRecord) -> _EventBody:
    question = record.scientific_question or record.goal or record.requested_action or f"task {record.task_id}"
    content = {
        "question": question,
        "chosen_option": sentences(record.summary),
        "reasoning": sentences(record.why_chosen),
    }
    return _EventBody("decision", content | _fields(record, "confidence"))


def _finish(record: TaskRecord) -> _EventBody:
    fields = ("summary", "what_worked", "what_failed", "validation", "uncertainty", "followups")
    return _EventBody("state_change", {"from": "open", "to": record.status} | _fields(record, *fields))


def _error(record: TaskRecord) -> _EventBody:
    message = "; ".join(record.what_failed or ()) or record.summary or f"{record.artifact_kind} {record.status}"
    kind = "TaskFailed" if record.artifact_kind == "task_finish" else "RunFailed"
    recoverable = record.artifact_kind != "task_finish"
    return _EventBody("error", {"error_type": kind, "message": message, "recoverable": recoverable})


def _fields(record: TaskRecord, *names: str) -> Content:
    """The fields of *record* with these *names* that are set and not empty."""
    document = record.document()
    return {name: document[name] for name in names if document.get(name) not in (None, [], {})}


_BODIES: Mapping[str, Callable[[TaskRecord], _EventBody]] = {
    "task_start": _start,
    "task_progress": _observation,
    "run_start": _call,
    "run_finish": _result,
    "evidence": _observation,
    "review": _verdict,
    "revision": _revision,
    "verification": _verdict,
    "decision": _decision,
    "task_finish": _finish,
}


# Operations on memories as events. These events are the evidence of memories that were added by hand.

# The session of all events about operations on memories.
SESSION = "memory-operations"


class MemoryOperation(NamedTuple):
    """An operation on memories: its agent, its time, and the id of the event that reports it."""

    agent_id: str
    at_us: int
    event_id: str


def memory_event(
    tenant_id: str, operation: MemoryOperation, sequence: int, event_type: str, content: Mapping[str, Any]
) -> Event:
    """The event that reports an operation.

    >>> memory_event("acme", MemoryOperation("ana", 0, "e1"), 3, "feedback", {"signal": "positive"}).sequence
    3
    """
    return Event(
        hmx_version=HMX_VERSION,
        event_id=operation.event_id,
        event_type=event_type,
        agent_id=operation.agent_id,
        tenant_id=tenant_id,
        session_id=SESSION,
        timestamp=iso(operation.at_us),
        sequence=sequence,
        content=dict(content),
        metadata={},
    )


def addition_content(kind: str, text: str, *, hard: bool) -> dict[str, Any]:
    """The content of the event that reports a memory added by hand."""
    return {"kind": kind, "text": text, "hard": hard}


def feedback_content(memory_id: str, signal: str, comment: str, target_event_id: str | None) -> dict[str, Any]:
    """The content of the event that reports feedback on a memory."""
    target = {} if target_event_id is None else {"target_event_id": target_event_id}
    return {"signal": signal, "comment": comment, "memory_id": memory_id} | target


def outcome_content(memory_ids: tuple[str, ...], result: str, summary: str) -> dict[str, Any]:
    """The content of the event that reports the outcome of work that used memories."""
    return {"outcome": result, "text": summary or f"outcome: {result}", "memory_ids": list(memory_ids)}


# Erased records.

# Statuses of tasks and runs that erasure may keep, because they reveal nothing about the content of records.
PLAIN_STATUSES = ("open", "completed", "failed", "abandoned", "finished")


def digests_containing(task_id: str, project_id: str | None) -> tuple[DigestName, ...]:
    """The digests that may contain a record of this task and project, sorted.

    >>> len(digests_containing("t", "soil")), len(digests_containing("t", None))
    (11, 6)
    """
    wide = {DigestName(role, scope) for role in WIDE_ROLES for scope in (EVERYTHING, project_id or EVERYTHING)}
    return tuple(sorted({DigestName("task_resume", task_id), *wide}))


def erased_form(record: TaskRecord) -> TaskRecord:
    """*record* reduced to the fields that erasure keeps: ids, kind, time, thread, and the record it replies to.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="evidence", task_id="t", tenant_id="a",
    ...     timestamp_created=5, thread_id="t", summary="seen")
    >>> sorted(erased_form(record).document())
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
