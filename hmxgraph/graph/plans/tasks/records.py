"""Task records written and read: each step in one transaction, together with the event that tells it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hmxgraph.errors import NotFound, TaskError, UnknownChoice
from hmxgraph.graph.plan import Plan, Procedure, Row, read, write
from hmxgraph.graph.plans.ingest import record as record_batch
from hmxgraph.graph.plans.tenants import bump
from hmxgraph.graph.rows.tasks.records import (
    parent_of,
    record_links,
    record_properties,
    standing_of,
    stored_record,
    task_key,
)
from hmxgraph.graph.rows.tasks.results import Projected, RecordView, Written
from hmxgraph.graph.rows.tasks.views import record_view
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import PreparedEvent, prepare
from hmxgraph.protocol.identity import indexable
from hmxgraph.protocol.records import ARTIFACT_KINDS, TaskRecord
from hmxgraph.tasks.changes import changes
from hmxgraph.tasks.completing import completed
from hmxgraph.tasks.digest_names import stale_digests
from hmxgraph.tasks.events import events_of, session_of
from hmxgraph.tasks.projections import projections
from hmxgraph.tasks.standing import Standing
from hmxgraph.tasks.steps import check_said, check_step, no_parent
from hmxgraph.text.asked import checked_text
from hmxgraph.text.tokens import counter

LONGEST_THREAD = 10_000


def write_record(tenancy: Tenancy, record: TaskRecord, made_up: Collection[str] = ()) -> Procedure[Written]:
    """*record* stored with its nodes, links and events, and the digests it touches marked stale.

    Given again it is answered as before, whatever the fields *made_up* say: its author did not give them.

    Raises:
        TaskError: the step is impossible as the task stands, or says too little.

    """
    check_said(record)
    return (yield from write(lambda: _write(tenancy, record, made_up)))


def write_fields(tenancy: Tenancy, fields: Mapping[str, Any], made_up: Collection[str] = ()) -> Procedure[Written]:
    """The record of *fields* stored; where they name no task, it is that of the record they reply to.

    Those *made_up* for it, such as the time where none was given, are not held against a record that is given again.

    Raises:
        UnknownChoice: no such kind, and no task that a record could be of.
        InvalidDocument: the fields are no record; every fault is listed.
        TaskError: the step is impossible as the task stands, or says too little.

    """
    if fields.get("task_id") is not None:
        return (yield from write_record(tenancy, TaskRecord(tenant_id=tenancy.tenant_id, **fields), made_up))
    kind = str(fields["artifact_kind"])
    if kind not in ARTIFACT_KINDS:
        raise UnknownChoice("kind", kind, ARTIFACT_KINDS)
    reply = fields.get("reply_to_artifact_id")
    if reply is None:
        reason = "task_id is missing: a record belongs to a task"
        raise TaskError(kind, reason, "name the task (task_id=...), or a record to reply to")
    task_id = yield from read(lambda: parent_task(tenancy, checked_text("reply_to_artifact_id", reply)))
    given = {name: value for name, value in fields.items() if name != "task_id"}
    found = TaskRecord(tenant_id=tenancy.tenant_id, task_id=task_id, **given)
    return (yield from write_record(tenancy, found, made_up))


def record(tenancy: Tenancy, artifact_id: str) -> Procedure[RecordView]:
    """The record with this id and the trust it has now.

    Raises:
        NotFound: there is none.
        InvalidRequest: an id that is no text.

    """
    checked_text("artifact_id", artifact_id)
    return (yield from read(lambda: _record(tenancy, artifact_id)))


def thread(
    tenancy: Tenancy, thread_id: str, *, include_hidden: bool = True, limit: int = LONGEST_THREAD
) -> Procedure[tuple[RecordView, ...]]:
    """The records of a thread, oldest first; superseded ones stay part of it unless asked otherwise.

    Raises:
        InvalidRequest: an id that is no text.

    """
    checked_text("thread_id", thread_id)
    return (yield from read(lambda: _thread(tenancy, thread_id, include_hidden, limit)))


def views(tenancy: Tenancy, keys: Sequence[str]) -> Plan[tuple[RecordView, ...]]:
    """The records with these keys, in this order; unknown keys are left out."""
    rows = yield bind("tasks/fetch", tenant_id=tenancy.tenant_id, batch={"keys": list(keys)})
    found = {row["record"]["key"]: record_view(row) for row in rows}
    return tuple(found[key] for key in keys if key in found)


def parent_task(tenancy: Tenancy, artifact_id: str) -> Plan[str]:
    """The task of a record that is to be replied to.

    Raises:
        TaskError: there is no such record.

    """
    rows = yield bind("tasks/met", tenant_id=tenancy.tenant_id, key=tenancy.node_key(artifact_id), parent_key="")
    if rows[0]["record"] is None:
        raise no_parent("reply", artifact_id)
    return stored_record(rows[0]["record"]).task_id


def _record(tenancy: Tenancy, artifact_id: str) -> Plan[RecordView]:
    found = yield from views(tenancy, [tenancy.node_key(artifact_id)])
    if not found:
        raise NotFound("task record", artifact_id, tenancy.tenant_id)
    return found[0]


def _thread(tenancy: Tenancy, thread_id: str, include_hidden: bool, limit: int) -> Plan[tuple[RecordView, ...]]:  # noqa: FBT001 - inner
    rows = yield bind(
        "tasks/thread",
        tenant_id=tenancy.tenant_id,
        thread_id=indexable(thread_id),
        include_hidden=include_hidden,
        limit=limit,
    )
    return (yield from views(tenancy, [row["key"] for row in rows]))


def _write(tenancy: Tenancy, given: TaskRecord, made_up: Collection[str]) -> Plan[Written]:
    standing = yield from _lock(tenancy, given.task_id)
    met = yield from _met(tenancy, given)
    parent = parent_of(met["parent"])
    if met["record"] is not None and met["record"].get("erased"):
        return _written(stored_record(met["record"]), (), created=False)
    if met["record"] is not None:
        return _written_before(given, stored_record(met["record"]), made_up)
    if met["artifact_id"] is not None:
        reason = f"{given.artifact_id!r} is an artifact's id, and an id names one thing"
        raise TaskError(given.artifact_kind, reason, "choose another artifact_id, or leave it out")
    wanted = completed(given, standing, parent)
    if wanted.reply_to_artifact_id != given.reply_to_artifact_id:
        parent = parent_of((yield from _met(tenancy, wanted))["parent"])
    check_step(wanted, standing, parent)
    return (yield from _store(tenancy, wanted, standing))


def _lock(tenancy: Tenancy, task_id: str) -> Plan[Standing]:
    rows = yield bind("tasks/lock", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, task_id))
    return standing_of(task_id, rows[0] if rows else None)


def _met(tenancy: Tenancy, record: TaskRecord) -> Plan[Row]:
    reply = record.reply_to_artifact_id
    parent_key = tenancy.node_key(reply) if reply else ""
    key = tenancy.node_key(record.artifact_id)
    rows = yield bind("tasks/met", tenant_id=tenancy.tenant_id, key=key, parent_key=parent_key)
    return rows[0]


def _written_before(given: TaskRecord, stored: TaskRecord, made_up: Collection[str]) -> Written:
    """The answer to a record that is stored already, completed as it then was; another one under its id is refused."""
    known, asked = stored.document(), given.document()
    if other := sorted(name for name in asked if name not in made_up and known.get(name) != asked[name]):
        reason = f"{given.artifact_id!r} is stored with another {', '.join(other)}, and a record never changes"
        raise TaskError(given.artifact_kind, reason, "record a revision of it, or leave artifact_id out")
    return _written(stored, (), created=False)


def _store(tenancy: Tenancy, record: TaskRecord, standing: Standing) -> Plan[Written]:
    count = counter()
    sequence = yield from _next_sequence(tenancy, record)
    events = [prepare(event, count) for event in events_of(record, sequence)]
    properties = record_properties(tenancy, record, sequence, count)
    links = record_links(tenancy, record, changes(record, standing))
    yield bind("tasks/record", tenant_id=tenancy.tenant_id, batch={"record": properties, **links})
    yield from _tell(tenancy, record, events)
    digests = sorted(tenancy.node_key(name.artifact_id(tenancy.tenant_id)) for name in stale_digests(record))
    touched = {"event_keys": [event.key for event in events], "digest_keys": digests}
    yield bind("tasks/settle", tenant_id=tenancy.tenant_id, key=properties["key"], batch=touched)
    return _written(record, [event.event.event_id for event in events], created=True)


def _next_sequence(tenancy: Tenancy, record: TaskRecord) -> Plan[int]:
    """The sequence after the session's last one, under the session's lock."""
    session_id = session_of(record)
    sessions = [{"key": tenancy.node_key(session_id), "session_id": session_id}]
    rows = yield bind("events/lock_sessions", tenant_id=tenancy.tenant_id, batch={"sessions": sessions})
    last = rows[0]["tail"][0]
    return 0 if last is None else int(last) + 1


def _tell(tenancy: Tenancy, record: TaskRecord, events: Sequence[PreparedEvent]) -> Plan[None]:
    if events:
        yield from record_batch(tenancy, Batch(tuple(events)))
    else:
        yield from bump(tenancy, record.created_us)


def _written(record: TaskRecord, event_ids: Sequence[str], *, created: bool) -> Written:
    made = tuple(Projected(part.kind, part.text) for part in projections(record))
    return Written(record.task_id, record.artifact_id, made, tuple(event_ids), created)
