"""Task records in the graph: written and read, each step in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hmxgraph.errors import NotFound, TaskError, UnknownChoice
from hmxgraph.extraction.entities import normalise
from hmxgraph.graph._entities import entity_key, entity_properties
from hmxgraph.graph._events import Opened, StoredBody, divided, extracted, store_new, stored_session
from hmxgraph.graph.memories import Observations
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, open_batch, read, write
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import PreparedEvent, prepare
from hmxgraph.protocol.canonical import indexable, sha256_hex
from hmxgraph.protocol.parsing import checked_text
from hmxgraph.protocol.record_results import Projection, RecordReceipt, RecordView
from hmxgraph.protocol.records import ARTIFACT_KINDS, EntityRef, TaskRecord
from hmxgraph.records.digests import stale_digests
from hmxgraph.records.events import event_ids_of, events_of, session_of
from hmxgraph.records.search import facet_token, facets, filter_facets, name_of, projections, record_text
from hmxgraph.records.steps import Changes, TaskState, changes, check_fields, check_step, no_parent, with_derived_fields
from hmxgraph.records.trust import OPEN, Parent, Reply, promotion, tier, verdicts
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter, counter, search_text

# Task records as nodes and back: the only place that knows both forms.

# Fields that are indexed, and further ones that are properties of the node for people and statements to query. The
# document has every field in full; an indexed value that is too long for the index is shortened.
_INDEXED = (
    "task_id",
    "project_id",
    "agent_id",
    "session_id",
    "challenge_id",
    "thread_id",
    "reply_to_artifact_id",
    "tool_name",
    "requested_action",
)
_SHOWN = (
    "artifact_id",
    "artifact_kind",
    "parent_task_id",
    "status",
    "artifact_role",
    "relation_kind",
    "confidence",
    "supports_claim",
    "verification_status",
    "promotion_state",
    "digest_key",
    "source_updated_at_ms",
    "goal",
    "summary",
)
# Maximum number of terms of a record in the full-text index.
_LONGEST_SEARCH_TEXT = 4_000
_EPISODES = frozenset({"task_start", "task_progress", "run_start", "run_finish", "task_finish"})


def task_key(tenancy: Tenancy, task_id: str) -> str:
    """The key of a task's node."""
    return tenancy.node_key("task", task_id)


def record_properties(
    tenancy: Tenancy, record: TaskRecord, sequence: int, count_tokens: TokenCounter, inherited: Sequence[str] = ()
) -> Row:
    """The properties of a record's node; *sequence* is its event's position in the session, for a stable order."""
    document = record.to_json()
    text = record_text(record)
    parts = projections(record, inherited)
    indexed = {name: indexable(value) for name in _INDEXED if (value := getattr(record, name)) is not None}
    displayed = {name: value for name in _SHOWN if (value := getattr(record, name)) is not None}
    named = facets(record, parts)
    return (
        indexed
        | displayed
        | {
            "key": tenancy.node_key(record.artifact_id),
            "tenant_id": tenancy.tenant_id,
            "document": document,
            "record_hash": sha256_hex(document.encode()),
            "created_us": record.created_us,
            "sequence": sequence,
            "facets": list(named),
            "scope": " ".join([tenancy.scope, *(facet_token(facet) for facet in named)]),
            "tags": list(record.tags or ()),
            "projection_kinds": [part.kind for part in parts],
            "projection_texts": [part.text for part in parts],
            "pack_section": pack_section(record, inherited),
            "text": text,
            "search_text": " ".join(search_text(text).split(" ")[:_LONGEST_SEARCH_TEXT]),
            "token_count": count_tokens(text),
            "tokenizer": DEFAULT_ENCODING,
        }
    )


def pack_section(record: TaskRecord, inherited: Sequence[str] = ()) -> str:
    """The section of context packs in which a record is a candidate; a revised decision is still a decision.

    >>> pack_section(TaskRecord(artifact_id="r", artifact_kind="decision", task_id="t", tenant_id="a",
    ...     timestamp_created=0, summary="Use tiles"))
    'procedures'
    """
    decides = record.artifact_kind == "decision" or "decision" in inherited[:1]
    if decides or (record.artifact_kind == "task_finish" and record.what_worked):
        return "procedures"
    return "episodes" if record.artifact_kind in _EPISODES else "evidence"


def record_links(tenancy: Tenancy, record: TaskRecord, changed: Changes) -> Row:
    """The nodes to which ``tasks/record`` links a record, in key order."""
    parents = [record.parent_task_id] if record.artifact_kind == "task_start" and record.parent_task_id else []
    reply = [tenancy.node_key(record.reply_to_artifact_id)] if record.reply_to_artifact_id else []
    return {
        "task": {"key": task_key(tenancy, record.task_id), "properties": changed.task},
        "parents": [{"key": task_key(tenancy, name), "task_id": name} for name in parents],
        "runs": _runs(tenancy, record, changed),
        "datasets": _datasets(tenancy, record),
        "facets": facet_rows(tenancy, record),
        "challenges": _challenges(tenancy, record),
        "contributors": _contributors(tenancy, record),
        "entities": _entities(tenancy, record),
        "replies": reply,
        "superseded": reply if record.relation_kind == "supersedes" else [],
        "related": sorted(tenancy.node_key(name) for name in set(record.related_artifact_ids or ())),
    }


def stored_record(properties: Row) -> TaskRecord:
    """The record of a node, exactly as it was written."""
    return TaskRecord.parse(properties["document"])


def _task_state_of(task_id: str, row: Row | None) -> TaskState:
    """The state of a task from a row of ``tasks/lock``; without a row or a status, the task has not started."""
    if row is None or row["task"].get("status") is None:
        return TaskState(task_id)
    task, runs = row["task"], sorted(row["runs"], key=lambda run: (run["started_us"], run["run_id"]))
    return TaskState(
        task_id,
        task["status"],
        tuple(run["run_id"] for run in runs if run["status"] == OPEN),
        tuple(run["run_id"] for run in runs),
        task.get("project_id"),
        task.get("goal", ""),
        {run["run_id"]: run["tool_name"] for run in runs if run.get("tool_name")},
        task.get("assignee"),
        task.get("lease_until_us"),
    )


def _parent_of(properties: Row | None) -> Parent | None:
    """The record that is replied to, from the properties of its node; None without a node."""
    if properties is None:
        return None
    record = stored_record(properties)
    names = ("artifact_id", "artifact_kind", "task_id", "thread_id", "project_id", "agent_id", "supports_claim")
    parent_fields: dict[str, Any] = {name: getattr(record, name) for name in names}
    return Parent(
        **parent_fields,
        superseded_by=properties.get("superseded_by"),
        erased=properties.get("erased", False),
        projection_kinds=tuple(properties.get("projection_kinds", ())),
    )


def _runs(tenancy: Tenancy, record: TaskRecord, changed: Changes) -> list[Row]:
    rows = [
        {"key": tenancy.node_key("run", run_id), "properties": properties, "own": run_id in _own_runs(record)}
        for run_id, properties in changed.runs.items()
    ]
    return sorted(rows, key=lambda row: row["key"])


def _own_runs(record: TaskRecord) -> Sequence[str | None]:
    return () if record.artifact_kind == "task_finish" else (record.artifact_id, record.reply_to_artifact_id)


def _datasets(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    rows = [
        {
            "key": tenancy.node_key("dataset", dataset.name, dataset.version or ""),
            "properties": _present(name=dataset.name, version=dataset.version, description=dataset.description),
            "use": _present(description=dataset.description),
        }
        for dataset in record.dataset_refs or ()
    ]
    return _by_key(rows)


def facet_rows(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    """The facets of *record* that exact filters look up by index."""
    return _by_key([{"key": facet_key(tenancy, text), "name": name_of(text)} for text in filter_facets(record)])


def facet_key(tenancy: Tenancy, text: str) -> str:
    """The key of a facet's node, made of its tenant, name and value."""
    return tenancy.node_key("facet", text)


def _challenges(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    if record.challenge_id is None:
        return []
    return [{"key": tenancy.node_key("challenge", record.challenge_id), "challenge_id": record.challenge_id}]


def _contributors(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    named = [
        {
            "key": tenancy.node_key("contributor", contributor.contributor_id),
            "properties": _present(contributor_id=contributor.contributor_id, display_name=contributor.display_name),
            "share": _present(
                role=contributor.role, contribution=contributor.contribution, display_name=contributor.display_name
            ),
        }
        for contributor in record.contributors or ()
    ]
    author = record.agent_id
    signed = [] if author is None else [_author(tenancy, author)]
    return _by_key([*signed, *named])


def _author(tenancy: Tenancy, agent_id: str) -> Row:
    key = tenancy.node_key("contributor", agent_id)
    return {"key": key, "properties": {"contributor_id": agent_id}, "share": {"role": "author"}}


def _entities(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    """A row for each name as the record spells it; a name that normalises to nothing is kept as it is."""
    spelled = {(reference.name, reference.entity_type): reference for reference in record.entity_refs or ()}
    return sorted((_entity(tenancy, reference, record.created_us) for reference in spelled.values()), key=_key_and_name)


def _entity(tenancy: Tenancy, reference: EntityRef, created_us: int) -> Row:
    normalised = normalise(reference.entity_type, reference.name) or reference.name
    properties = entity_properties(tenancy, reference.entity_type, reference.name, normalised)
    properties |= {"first_us": created_us, "last_us": created_us}
    mention = {"name": reference.name, "role": reference.role or ""}
    return {"key": entity_key(tenancy, reference.entity_type, normalised), "properties": properties, "mention": mention}


def _key_and_name(row: Row) -> tuple[str, str]:
    return row["key"], row["mention"]["name"]


def _present(**properties: Any) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def _by_key(rows: list[Row]) -> list[Row]:
    """Rows in key order, the last one of each key."""
    return sorted({row["key"]: row for row in rows}.values(), key=lambda row: row["key"])


# Rows of task records as views: the record and its trust tier, which its replies decide.


def _record_view(row: Row) -> RecordView:
    """The view from a row of ``tasks/fetch``."""
    properties = row["record"]
    record = stored_record(properties)
    replies = [Reply(**reply) for reply in row["replies"]]
    # Agent ids are compared in their stored form, which shortens long ones.
    author = properties.get("agent_id")
    trust_tier = tier(record.artifact_kind, author, replies)
    reply_verdicts = verdicts(author, replies)
    return RecordView(
        record,
        trust_tier,
        promotion(record.promotion_state, record.artifact_kind, trust_tier),
        _projected(properties),
        tuple(verdict.artifact_id for verdict in reply_verdicts if verdict.countersigns),
        tuple(verdict.artifact_id for verdict in reply_verdicts if verdict.rejects),
        properties.get("superseded_by"),
        properties.get("hidden_reason"),
        bool(properties.get("stale")),
    )


def _projected(properties: Row) -> tuple[Projection, ...]:
    pairs = zip(properties["projection_kinds"], properties["projection_texts"], strict=True)
    return tuple(Projection(kind, text) for kind, text in pairs)


# Task records written and read: each step in one transaction, together with the event that reports it.

LONGEST_THREAD = 10_000


def write_record(tenancy: Tenancy, record: TaskRecord, generated: Collection[str] = ()) -> Procedure[RecordReceipt]:
    """Store *record* with its nodes, links and events; the digests it affects are marked stale.

    Storing it again changes nothing. *generated* fields are not compared, because the caller did not supply them.

    Raises:
        TaskError: the step is impossible in the task's state or lacks a required field, or its id is taken.

    """
    check_fields(record)
    return (yield from write(lambda: _write(tenancy, record, generated)))


def write_fields(
    tenancy: Tenancy, fields: Mapping[str, Any], generated: Collection[str] = ()
) -> Procedure[RecordReceipt]:
    """Store the record of *fields*; without a task, it belongs to the task of the record that it replies to.

    *generated* fields, such as a time that the caller left out, are not compared when a record is repeated.

    Raises:
        UnknownChoice: there is no such kind of record, and no task id is given.
        InvalidDocument: the fields do not make a valid record; every fault is listed.
        InvalidRequest: no task id is given, and the id of the record replied to is not text.
        TaskError: as for `write_record`; or no task id is given, and no stored record is replied to.

    """
    if fields.get("task_id") is not None:
        return (yield from write_record(tenancy, TaskRecord(tenant_id=tenancy.tenant_id, **fields), generated))
    kind = str(fields["artifact_kind"])
    if kind not in ARTIFACT_KINDS:
        raise UnknownChoice("kind", kind, ARTIFACT_KINDS)
    reply = fields.get("reply_to_artifact_id")
    if reply is None:
        reason = "task_id is missing: a record belongs to a task"
        raise TaskError(kind, reason, "name the task (task_id=...), or a record to reply to")
    task_id = yield from read(lambda: _parent_task(tenancy, checked_text("reply_to_artifact_id", reply)))
    own_fields = {name: value for name, value in fields.items() if name != "task_id"}
    record = TaskRecord(tenant_id=tenancy.tenant_id, task_id=task_id, **own_fields)
    return (yield from write_record(tenancy, record, generated))


def record(tenancy: Tenancy, artifact_id: str) -> Procedure[RecordView]:
    """The record with this id and its current trust tier.

    Raises:
        NotFound: there is no such record.
        InvalidRequest: an id that is not a string.

    """
    checked_text("artifact_id", artifact_id)
    return (yield from read(lambda: _record(tenancy, artifact_id)))


def thread(
    tenancy: Tenancy, thread_id: str, *, include_hidden: bool = True, limit: int = LONGEST_THREAD
) -> Procedure[tuple[RecordView, ...]]:
    """The first records of a thread, oldest first, without digests; by default with superseded and erased ones.

    Raises:
        InvalidRequest: an id that is not a string.

    """
    checked_text("thread_id", thread_id)
    return (yield from read(lambda: _thread(tenancy, thread_id, include_hidden, limit)))


def views(tenancy: Tenancy, keys: Sequence[str]) -> Plan[tuple[RecordView, ...]]:
    """The records with these keys, in this order; unknown keys are skipped."""
    rows = yield bind("tasks/fetch", tenant_id=tenancy.tenant_id, batch={"keys": list(keys)})
    views_by_key = {row["record"]["key"]: _record_view(row) for row in rows}
    return tuple(views_by_key[key] for key in keys if key in views_by_key)


def _parent_task(tenancy: Tenancy, artifact_id: str) -> Plan[str]:
    """The id of the task of the record that is replied to.

    Raises:
        TaskError: there is no such record.

    """
    rows = yield bind("tasks/existing", tenant_id=tenancy.tenant_id, key=tenancy.node_key(artifact_id), parent_key="")
    if rows[0]["record"] is None:
        raise no_parent("reply", artifact_id)
    return stored_record(rows[0]["record"]).task_id


def _record(tenancy: Tenancy, artifact_id: str) -> Plan[RecordView]:
    record_views = yield from views(tenancy, [tenancy.node_key(artifact_id)])
    if not record_views:
        raise NotFound("task record", artifact_id, tenancy.tenant_id)
    return record_views[0]


def _thread(tenancy: Tenancy, thread_id: str, include_hidden: bool, limit: int) -> Plan[tuple[RecordView, ...]]:  # noqa: FBT001 - inner
    rows = yield bind(
        "tasks/thread",
        tenant_id=tenancy.tenant_id,
        thread_id=indexable(thread_id),
        include_hidden=include_hidden,
        limit=limit,
    )
    return (yield from views(tenancy, [row["key"] for row in rows]))


def _write(tenancy: Tenancy, submitted: TaskRecord, generated: Collection[str]) -> Plan[RecordReceipt]:
    task_state = yield from _lock(tenancy, submitted.task_id)
    existing = yield from _existing(tenancy, submitted)
    parent = _parent_of(existing["parent"])
    if existing["record"] is not None and existing["record"].get("erased"):
        return _receipt(stored_record(existing["record"]), existing["record"], (), created=False)
    if existing["record"] is not None:
        return _written_before(submitted, existing["record"], generated)
    if existing["artifact_id"] is not None:
        reason = f"{submitted.artifact_id!r} is an artifact's id, and an id names one thing"
        raise TaskError(submitted.artifact_kind, reason, "choose another artifact_id, or leave it out")
    record = with_derived_fields(submitted, task_state, parent)
    if record.reply_to_artifact_id != submitted.reply_to_artifact_id:
        parent = _parent_of((yield from _existing(tenancy, record))["parent"])
    check_step(record, task_state, parent)
    inherited = parent.projection_kinds if parent and record.relation_kind == "supersedes" else ()
    return (yield from _store(tenancy, record, task_state, inherited))


def _lock(tenancy: Tenancy, task_id: str) -> Plan[TaskState]:
    rows = yield bind("tasks/lock", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, task_id))
    return _task_state_of(task_id, rows[0] if rows else None)


def _existing(tenancy: Tenancy, record: TaskRecord) -> Plan[Row]:
    reply = record.reply_to_artifact_id
    parent_key = tenancy.node_key(reply) if reply else ""
    key = tenancy.node_key(record.artifact_id)
    rows = yield bind("tasks/existing", tenant_id=tenancy.tenant_id, key=key, parent_key=parent_key)
    return rows[0]


def _written_before(submitted: TaskRecord, properties: Row, generated: Collection[str]) -> RecordReceipt:
    """The receipt of a record that is stored already; a different record with its id is refused."""
    stored = stored_record(properties)
    stored_fields, given_fields = stored.document(), submitted.document()
    if differing := sorted(
        name for name in given_fields if name not in generated and stored_fields.get(name) != given_fields[name]
    ):
        reason = f"{submitted.artifact_id!r} is stored with another {', '.join(differing)}, and a record never changes"
        raise TaskError(submitted.artifact_kind, reason, "record a revision of it, or leave artifact_id out")
    return _receipt(stored, properties, (), created=False)


def _store(
    tenancy: Tenancy, record: TaskRecord, task_state: TaskState, inherited: Sequence[str]
) -> Plan[RecordReceipt]:
    count = counter()
    opened = yield from _open_session(tenancy, record)
    last = opened["sessions"][0]["tail"][0]
    sequence = 0 if last is None else int(last) + 1
    events = [prepare(event, count) for event in events_of(record, sequence)]
    properties = record_properties(tenancy, record, sequence, count, inherited)
    links = record_links(tenancy, record, changes(record, task_state))
    yield bind("tasks/record", tenant_id=tenancy.tenant_id, batch={"record": properties, **links})
    yield from _report(tenancy, record, events, opened)
    yield from _refuse_loop(tenancy, record)
    digests = sorted(tenancy.node_key(name.artifact_id(tenancy.tenant_id)) for name in stale_digests(record))
    touched = {"event_keys": [event.key for event in events], "digest_keys": digests}
    yield bind("tasks/settle", tenant_id=tenancy.tenant_id, key=properties["key"], batch=touched)
    return _receipt(record, properties, [event.event.event_id for event in events], created=True)


def _open_session(tenancy: Tenancy, record: TaskRecord) -> Plan[Row]:
    """Lock the session of the record's events; the row of ``events/open``, with those events that are stored."""
    session_id = session_of(record)
    sessions = [{"key": tenancy.node_key(session_id), "session_id": session_id, "expected": -1}]
    event_keys = [tenancy.node_key(name) for name in event_ids_of(tenancy.tenant_id, record.artifact_id)]
    return (yield from open_batch(tenancy, {"sessions": sessions, "event_keys": event_keys}))


def _report(tenancy: Tenancy, record: TaskRecord, events: Sequence[PreparedEvent], opened: Row) -> Plan[None]:
    """Store the events of the record in their session, which is *opened*."""
    if not events:
        yield from bump(tenancy, record.created_us)
        return
    stored = {key: StoredBody(*body) for key, *body in opened["events"]}
    sifted = divided(Batch(tuple(events)), stored, {}, frozenset(opened["signatures"] or ()))
    if not sifted.new:
        return
    extractions = extracted(sifted.new, tenancy.trust)
    observations = Observations.of([extractions[event.key] for event in sifted.new])
    answers: Sequence[Row] = ()
    if observations.with_slot:
        answers = (yield from open_batch(tenancy, observations.slots(tenancy)))["answers"]
    session = stored_session(opened["sessions"][0])
    yield from store_new(tenancy, Opened({session.key: session}, sifted, answers), observations, extractions)


def _refuse_loop(tenancy: Tenancy, record: TaskRecord) -> Plan[None]:
    """Refuse a task that would be its own ancestor; the tenant lock rules out a concurrent loop."""
    if not record.parent_task_id or record.artifact_kind != "task_start":
        return
    rows = yield bind("tasks/parents", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, record.task_id))
    if rows:
        reason = f"task {record.task_id!r:.60} would be part of itself, through {rows[0]['steps'] - 1} other tasks"
        raise TaskError(record.artifact_kind, reason, "leave parent_task_id out, or name another task")


def _receipt(record: TaskRecord, properties: Row, event_ids: Sequence[str], *, created: bool) -> RecordReceipt:
    return RecordReceipt(record.task_id, record.artifact_id, _projected(properties), tuple(event_ids), created)
