"""Task records in the graph: written and read, each step in one transaction."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from hmxgraph.errors import NotFound, TaskError, UnknownChoice, naming
from hmxgraph.extraction.entities import normalise
from hmxgraph.graph._entities import entity_key, entity_properties
from hmxgraph.graph._events import LockedBatch, StoredBody, divide, extractions_of, store_new, stored_session
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

# Fields that are also properties of the node, so that people and statements can query them; the document has every
# field in full. First those with an index: a value that is too long for the index is shortened.
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
_UNINDEXED = (
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
_MOST_TERMS = 4_000
# Kinds of records that are candidates for the pack section ``episodes``.
_EPISODES = frozenset({"task_start", "task_progress", "run_start", "run_finish", "task_finish"})


def task_key(tenancy: Tenancy, task_id: str) -> str:
    """The key of a task's node."""
    return tenancy.node_key("task", task_id)


def record_properties(
    tenancy: Tenancy, record: TaskRecord, sequence: int, count_tokens: TokenCounter, inherited: Sequence[str] = ()
) -> Row:
    """The properties of a record's node.

    *sequence* is the position of the record's event in its session, for a stable order. If the record supersedes
    another, *inherited* are the kinds of that record's projections (searchable texts).
    """
    document = record.to_json()
    text = record_text(record)
    parts = projections(record, inherited)
    indexed = {name: indexable(value) for name in _INDEXED if (value := getattr(record, name)) is not None}
    unindexed = {name: value for name in _UNINDEXED if (value := getattr(record, name)) is not None}
    record_facets = facets(record, parts)
    return (
        indexed
        | unindexed
        | {
            "key": tenancy.node_key(record.artifact_id),
            "tenant_id": tenancy.tenant_id,
            "document": document,
            "record_hash": sha256_hex(document.encode()),
            "created_us": record.created_us,
            "sequence": sequence,
            "facets": list(record_facets),
            "scope": " ".join([tenancy.scope, *(facet_token(facet) for facet in record_facets)]),
            "tags": list(record.tags or ()),
            "projection_kinds": [part.kind for part in parts],
            "projection_texts": [part.text for part in parts],
            "pack_section": pack_section(record, inherited),
            "text": text,
            "search_text": " ".join(search_text(text).split(" ")[:_MOST_TERMS]),
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
    """The nodes to which ``tasks/record`` links a record, by kind; ``use`` holds the properties of a link.

    *changed* are the properties of the task and its runs that the record sets.
    """
    parents = [record.parent_task_id] if record.artifact_kind == "task_start" and record.parent_task_id else []
    reply = [tenancy.node_key(record.reply_to_artifact_id)] if record.reply_to_artifact_id else []
    return {
        "task": {"key": task_key(tenancy, record.task_id), "properties": changed.task},
        "parents": [{"key": task_key(tenancy, name), "properties": {"task_id": name}} for name in parents],
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


def _batch_rows(records: Sequence[Row], links: Sequence[Row]) -> Row:
    """The batch of ``tasks/record``: the *records* in order, and for each kind of node the nodes that *links* name.

    Each node is listed once, in key order, so that writers wait for each other instead of deadlocking. Its ``uses`` are
    the positions of the records that name it, each with the properties of that link.
    """
    return {
        "records": list(records),
        "tasks": _shared([[row["task"]] for row in links]),
        **{name: _shared([row[name] for row in links]) for name in _NODES},
        **{name: _pairs([row[name] for row in links]) for name in ("replies", "superseded", "related")},
        "entities": _shared_entities([row["entities"] for row in links]),
    }


_NODES = ("parents", "runs", "datasets", "facets", "challenges", "contributors")


def _shared(rows_by_record: Sequence[Sequence[Row]]) -> list[Row]:
    """The nodes of one kind, each once; if records give a property different values, the last record decides."""
    nodes: dict[str, Row] = {}
    for place, rows in enumerate(rows_by_record):
        for row in rows:
            node = nodes.setdefault(row["key"], {"key": row["key"], "properties": {}, "uses": []})
            node["properties"] |= row["properties"]
            node["uses"].append([place, row.get("use", {})])
    return [nodes[key] for key in sorted(nodes)]


def _shared_entities(rows_by_record: Sequence[Sequence[Row]]) -> list[Row]:
    """The entities, each as the first record describes it, with the first and the last time of all records."""
    first_rows: dict[str, Row] = {}
    times: dict[str, list[int]] = defaultdict(list)
    for row in chain.from_iterable(rows_by_record):
        first_rows.setdefault(row["key"], row)
        times[row["key"]].append(row["properties"]["first_us"])
    return [
        entity
        | {
            "properties": first_rows[key]["properties"],
            "first_us": min(times[key]),
            "last_us": max(times[key]),
        }
        for entity in _shared(rows_by_record)
        for key in [entity["key"]]
    ]


def _pairs(keys_by_record: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """The position of each record with each of its keys, in key order."""
    pairs = [(place, key) for place, keys in enumerate(keys_by_record) for key in keys]
    return sorted(pairs, key=lambda pair: pair[::-1])


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


def _runs(tenancy: Tenancy, record: TaskRecord, changed: Changes) -> list[Row]:
    return [
        {"key": tenancy.node_key("run", run_id), "properties": properties, "use": {"own": run_id in _own_runs(record)}}
        for run_id, properties in changed.runs.items()
    ]


def _own_runs(record: TaskRecord) -> Sequence[str | None]:
    """The ids of the runs that a record may be part of: its own and that of its parent; none if it ends a task."""
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
    facets_by_key = {facet_key(tenancy, text): {"name": name_of(text)} for text in filter_facets(record)}
    return [{"key": key, "properties": properties} for key, properties in sorted(facets_by_key.items())]


def facet_key(tenancy: Tenancy, text: str) -> str:
    """The key of a facet's node, made of its tenant, name and value."""
    return tenancy.node_key("facet", text)


def _challenges(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    if record.challenge_id is None:
        return []
    key = tenancy.node_key("challenge", record.challenge_id)
    return [{"key": key, "properties": {"challenge_id": record.challenge_id}}]


def _contributors(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    contributors = [
        {
            "key": tenancy.node_key("contributor", contributor.contributor_id),
            "properties": _present(contributor_id=contributor.contributor_id, display_name=contributor.display_name),
            "use": _present(
                role=contributor.role, contribution=contributor.contribution, display_name=contributor.display_name
            ),
        }
        for contributor in record.contributors or ()
    ]
    author = record.agent_id
    authors = [] if author is None else [_author(tenancy, author)]
    return _by_key([*authors, *contributors])


def _author(tenancy: Tenancy, agent_id: str) -> Row:
    key = tenancy.node_key("contributor", agent_id)
    return {"key": key, "properties": {"contributor_id": agent_id}, "use": {"role": "author"}}


def _entities(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    """A row for each name as the record spells it; a name that normalises to nothing is kept as it is."""
    spelled = {(reference.name, reference.entity_type): reference for reference in record.entity_refs or ()}
    return sorted((_entity(tenancy, reference, record.created_us) for reference in spelled.values()), key=_key_and_name)


def _entity(tenancy: Tenancy, reference: EntityRef, created_us: int) -> Row:
    normalised = normalise(reference.entity_type, reference.name) or reference.name
    properties = entity_properties(tenancy, reference.entity_type, reference.name, normalised)
    properties |= {"first_us": created_us, "last_us": created_us}
    mention = {"name": reference.name, "role": reference.role or ""}
    return {"key": entity_key(tenancy, reference.entity_type, normalised), "properties": properties, "use": mention}


def _key_and_name(row: Row) -> tuple[str, str]:
    return row["key"], row["use"]["name"]


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

# Maximum number of records read of a thread or a task.
LONGEST_THREAD = 10_000


class Submission(NamedTuple):
    """A record to write: its fields, and the name that it has in errors if there are several records.

    *generated* names the fields that the caller left out and that were filled in, such as the time: they are not
    compared when a record is repeated.
    """

    fields: Mapping[str, Any]
    generated: Collection[str] = ()
    name: str = ""


class _Submitted(NamedTuple):
    """A valid record to write, with the rest of its submission."""

    record: TaskRecord
    generated: Collection[str] = ()
    name: str = ""


def write_all(tenancy: Tenancy, submissions: Sequence[Submission]) -> Procedure[tuple[RecordReceipt, ...]]:
    """Store records with their nodes, links and events, all or none; the digests they affect are marked stale.

    Each record may build on those before it. Storing a record again changes nothing. A record without a task belongs to
    the task of the record that it replies to.

    Raises:
        UnknownChoice: there is no such kind of record, and no task id is given.
        InvalidDocument: the fields do not make a valid record; every fault is listed.
        InvalidRequest: no task id is given, and the id of the record replied to is not text.
        TaskError: the step is impossible in the task's state or lacks a required field, or its id is taken; or no task
            id is given, and the record replied to is missing: neither stored nor earlier in the call.

    """
    replies = {}
    for number, (fields, _, name) in enumerate(submissions):
        if fields.get("task_id") is None:
            with _naming(name):
                replies[number] = _reply_of(fields)
    task_ids = (yield from read(partial(_task_ids, tenancy, sorted({*replies.values()})))) if replies else {}
    submitted = []
    for number, (fields, generated, name) in enumerate(submissions):
        with _naming(name):
            record = _record_of(tenancy, fields, task_ids, replies.get(number))
            check_fields(record)
        task_ids.setdefault(record.artifact_id, record.task_id)
        submitted.append(_Submitted(record, generated, name))
    return (yield from write(partial(_write, tenancy, submitted))) if submitted else ()


def write_fields(tenancy: Tenancy, fields: Mapping[str, Any]) -> Procedure[RecordReceipt]:
    """Store the record of *fields*, as `write_all` does."""
    (receipt,) = yield from write_all(tenancy, [Submission(fields)])
    return receipt


def write_record(tenancy: Tenancy, record: TaskRecord) -> Procedure[RecordReceipt]:
    """Store *record*, as `write_all` does.

    Raises:
        TaskError: the step is impossible in the task's state or lacks a required field, or its id is taken.

    """
    check_fields(record)
    (receipt,) = yield from write(partial(_write, tenancy, [_Submitted(record)]))
    return receipt


def _reply_of(fields: Mapping[str, Any]) -> str:
    """The id of the record that a record without a task replies to."""
    kind = str(fields["artifact_kind"])
    if kind not in ARTIFACT_KINDS:
        raise UnknownChoice("kind", kind, ARTIFACT_KINDS)
    reply = fields.get("reply_to_artifact_id")
    if reply is None:
        reason = "task_id is missing: a record belongs to a task"
        raise TaskError(kind, reason, "name the task (task_id=...), or a record to reply to")
    return checked_text("reply_to_artifact_id", reply)


def _task_ids(tenancy: Tenancy, artifact_ids: Sequence[str]) -> Plan[dict[str, str]]:
    """The task id of each of these records that is stored, by record id."""
    existing = yield from _existing(tenancy, [tenancy.node_key(artifact_id) for artifact_id in artifact_ids])
    return {record.record.artifact_id: record.record.task_id for record in existing.records.values()}


def _record_of(
    tenancy: Tenancy, fields: Mapping[str, Any], task_ids: Mapping[str, str], reply: str | None
) -> TaskRecord:
    """The record of *fields*; with the id of a record to *reply* to, it belongs to that record's task.

    Raises:
        TaskError: there is no record to reply to.

    """
    if reply is None:
        return TaskRecord(tenant_id=tenancy.tenant_id, **fields)
    if reply not in task_ids:
        raise no_parent("reply", reply)
    return TaskRecord(tenant_id=tenancy.tenant_id, **{**fields, "task_id": task_ids[reply]})


def record_view(tenancy: Tenancy, artifact_id: str) -> Procedure[RecordView]:
    """The record with this id and its current trust tier.

    Raises:
        NotFound: there is no such record.
        InvalidRequest: an id that is not valid text.

    """
    checked_text("artifact_id", artifact_id)
    return (yield from read(lambda: _record(tenancy, artifact_id)))


def thread(
    tenancy: Tenancy, thread_id: str, *, include_hidden: bool = True, limit: int = LONGEST_THREAD
) -> Procedure[tuple[RecordView, ...]]:
    """The first records of a thread, oldest first, without digests; by default with superseded and erased ones.

    Raises:
        InvalidRequest: an id that is not valid text.

    """
    checked_text("thread_id", thread_id)
    return (yield from read(lambda: _thread(tenancy, thread_id, include_hidden, limit)))


def views(tenancy: Tenancy, keys: Sequence[str]) -> Plan[tuple[RecordView, ...]]:
    """The records with these keys, in this order; unknown keys are skipped."""
    rows = yield bind("tasks/fetch", tenant_id=tenancy.tenant_id, batch={"keys": list(keys)})
    views_by_key = {row["record"]["key"]: _record_view(row) for row in rows}
    return tuple(views_by_key[key] for key in keys if key in views_by_key)


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


class _EarlierRecord(NamedTuple):
    """A record that is stored, or that precedes another one in the same call."""

    record: TaskRecord
    projections: tuple[Projection, ...]
    superseded_by: str | None = None
    erased: bool = False

    @classmethod
    def of(cls, properties: Row) -> "_EarlierRecord":
        """The record of a node."""
        record, superseded_by = stored_record(properties), properties.get("superseded_by")
        return cls(record, _projected(properties), superseded_by, properties.get("erased", False))

    def as_parent(self) -> Parent:
        """The record as one that is replied to."""
        names = ("artifact_id", "artifact_kind", "task_id", "thread_id", "project_id", "agent_id", "supports_claim")
        fields: dict[str, Any] = {name: getattr(self.record, name) for name in names}
        kinds = tuple(part.kind for part in self.projections)
        return Parent(**fields, superseded_by=self.superseded_by, erased=self.erased, projection_kinds=kinds)

    def receipt(self, event_ids: Sequence[str] = (), *, created: bool = False) -> RecordReceipt:
        """The receipt of a call that wrote the record, or that found it."""
        record = self.record
        return RecordReceipt(record.task_id, record.artifact_id, self.projections, tuple(event_ids), created)


class _Existing(NamedTuple):
    """The stored records by key, and the keys that belong to artifacts."""

    records: dict[str, _EarlierRecord]
    artifact_keys: frozenset[str]


def _existing(tenancy: Tenancy, keys: Collection[str]) -> Plan[_Existing]:
    rows = yield bind("tasks/existing", tenant_id=tenancy.tenant_id, batch={"keys": sorted({*keys})})
    return _Existing(
        {row["key"]: _EarlierRecord.of(row["record"]) for row in rows if row["record"] is not None},
        frozenset(row["key"] for row in rows if row["artifact_id"] is not None),
    )


class _Step(NamedTuple):
    """A new record, its task's state before it, its name in errors, and the projection kinds of what it supersedes."""

    record: TaskRecord
    task_state: TaskState
    inherited: Sequence[str]
    name: str = ""


class _Ledger:
    """What a record is checked against: the stored tasks and records, updated with the earlier records of the call."""

    def __init__(self, tenancy: Tenancy, tasks: Mapping[str, Row], existing: _Existing) -> None:
        self._tenancy = tenancy
        self._tasks = dict(tasks)
        self._records = existing.records
        self._artifact_keys = existing.artifact_keys

    def record(self, artifact_id: str | None) -> _EarlierRecord | None:
        """The record with this id, if there is one."""
        return self._records.get(self._tenancy.node_key(artifact_id)) if artifact_id else None

    def step(self, submitted: TaskRecord, name: str) -> _Step:
        """The step that a new record takes in its task.

        Raises:
            TaskError: the task's state or the earlier records do not allow it.

        """
        if self._tenancy.node_key(submitted.artifact_id) in self._artifact_keys:
            reason = f"{submitted.artifact_id!r} is an artifact's id, and an id names one thing"
            raise TaskError(submitted.artifact_kind, reason, "choose another artifact_id, or leave it out")
        task_state = _task_state_of(submitted.task_id, self._tasks.get(submitted.task_id))
        record = with_derived_fields(submitted, task_state, self._parent(submitted))
        parent = self._parent(record)
        check_step(record, task_state, parent)
        inherited = parent.projection_kinds if parent and record.relation_kind == "supersedes" else ()
        return _Step(record, task_state, inherited, name)

    def _parent(self, record: TaskRecord) -> Parent | None:
        parent = self.record(record.reply_to_artifact_id)
        return parent and parent.as_parent()

    def add(self, step: _Step) -> _EarlierRecord:
        """Let later records build on *step*."""
        record, changed = step.record, changes(step.record, step.task_state)
        task = self._tasks.get(record.task_id, {"task": {}, "runs": []})
        runs = {run["run_id"]: run for run in task["runs"]}
        runs |= {run_id: runs.get(run_id, {}) | properties for run_id, properties in changed.runs.items()}
        self._tasks[record.task_id] = {"task": task["task"] | changed.task, "runs": list(runs.values())}
        if record.relation_kind == "supersedes" and (superseded := self.record(record.reply_to_artifact_id)):
            key = self._tenancy.node_key(superseded.record.artifact_id)
            self._records[key] = superseded._replace(superseded_by=record.artifact_id)
        added = _EarlierRecord(record, projections(record, step.inherited))
        self._records[self._tenancy.node_key(record.artifact_id)] = added
        return added


def _naming(name: str) -> AbstractContextManager[None]:
    """Name the record in errors that the block raises, if it has a name."""
    return naming(name) if name else nullcontext()


def _write(tenancy: Tenancy, submitted: Sequence[_Submitted]) -> Plan[tuple[RecordReceipt, ...]]:
    ledger = yield from _opened_ledger(tenancy, [each.record for each in submitted])
    steps: list[_Step] = []
    receipts: list[RecordReceipt] = []
    for record, generated, name in submitted:
        with _naming(name):
            if stored := ledger.record(record.artifact_id):
                receipts.append(_written_before(record, stored, generated))
                continue
            step = ledger.step(record, name)
        steps.append(step)
        event_ids = [event.event_id for event in events_of(step.record, 0)]
        receipts.append(ledger.add(step).receipt(event_ids, created=True))
    if steps:
        yield from _store(tenancy, steps)
    return tuple(receipts)


def _opened_ledger(tenancy: Tenancy, records: Sequence[TaskRecord]) -> Plan[_Ledger]:
    """Lock the tasks of *records* and those that they are part of, and read what the records are checked against."""
    task_ids = [task_id for record in records for task_id in (record.task_id, record.parent_task_id) if task_id]
    names = {task_key(tenancy, task_id): task_id for task_id in task_ids}
    rows = yield bind("tasks/lock", tenant_id=tenancy.tenant_id, batch={"task_keys": sorted(names)})
    tasks = {names[row["task"]["key"]]: row for row in rows}
    ids = {record.artifact_id for record in records}
    ids |= {record.reply_to_artifact_id for record in records if record.reply_to_artifact_id}
    for record in records:
        if record.artifact_kind == "run_finish" and record.reply_to_artifact_id is None:
            ids.update(_task_state_of(record.task_id, tasks.get(record.task_id)).open_runs)
    existing = yield from _existing(tenancy, [tenancy.node_key(artifact_id) for artifact_id in ids])
    return _Ledger(tenancy, tasks, existing)


def _written_before(submitted: TaskRecord, stored: _EarlierRecord, generated: Collection[str]) -> RecordReceipt:
    """The receipt of a record that is stored already; a different record with its id is refused."""
    stored_fields, given_fields = stored.record.document(), submitted.document()
    if not stored.erased and (
        differing := sorted(
            name for name in given_fields if name not in generated and stored_fields.get(name) != given_fields[name]
        )
    ):
        reason = f"{submitted.artifact_id!r} is stored with another {', '.join(differing)}, and a record never changes"
        raise TaskError(submitted.artifact_kind, reason, "record a revision of it, or leave artifact_id out")
    return stored.receipt()


def _store(tenancy: Tenancy, steps: Sequence[_Step]) -> Plan[None]:
    """Store new records with their links and events, and mark the digests that they affect as stale."""
    count = counter()
    batch_row = yield from _open_sessions(tenancy, [step.record for step in steps])
    stored = {key: StoredBody(*body) for key, *body in batch_row["events"]}
    ends = {row["key"]: row["tail"][0] for row in batch_row["sessions"]}
    records, links = [], []
    events: dict[str, list[PreparedEvent]] = {}
    for record, task_state, inherited, _ in steps:
        session_key = tenancy.node_key(session_of(record))
        sequence = 0 if ends[session_key] is None else int(ends[session_key]) + 1
        reports = [prepare(event, count) for event in events_of(record, sequence)]
        properties = record_properties(tenancy, record, sequence, count, inherited)
        records.append(properties)
        links.append(record_links(tenancy, record, changes(record, task_state)))
        events[properties["key"]] = reports
        for event in reports:
            if event.key not in stored:
                ends[session_key] = event.event.sequence
    yield bind("tasks/record", tenant_id=tenancy.tenant_id, batch=_batch_rows(records, links))
    silent_us = max((row["created_us"] for row in records if not events[row["key"]]), default=None)
    yield from _report(tenancy, list(chain.from_iterable(events.values())), stored, batch_row, silent_us)
    yield from _refuse_loops(tenancy, steps)
    digests = {name.artifact_id(tenancy.tenant_id) for step in steps for name in stale_digests(step.record)}
    batch = {
        "records": [{"key": key, "event_keys": [event.key for event in own]} for key, own in sorted(events.items())],
        "digest_keys": sorted(tenancy.node_key(digest_id) for digest_id in digests),
    }
    yield bind("tasks/settle", tenant_id=tenancy.tenant_id, batch=batch)


def _open_sessions(tenancy: Tenancy, records: Sequence[TaskRecord]) -> Plan[Row]:
    """Lock the sessions of the records' events; the row of ``events/open``, with those events that are stored."""
    names = {tenancy.node_key(name): name for name in map(session_of, records)}
    sessions = [{"key": key, "session_id": names[key]} for key in sorted(names)]
    event_ids = chain.from_iterable(event_ids_of(tenancy.tenant_id, record.artifact_id) for record in records)
    return (
        yield from open_batch(
            tenancy, {"sessions": sessions, "event_keys": [tenancy.node_key(event_id) for event_id in event_ids]}
        )
    )


def _report(
    tenancy: Tenancy,
    events: Sequence[PreparedEvent],
    stored: Mapping[str, StoredBody],
    batch_row: Row,
    silent_us: int | None,
) -> Plan[None]:
    """Store the new ones among the records' *events*, and raise the tenant's version.

    *batch_row* is the row of ``events/open`` with their locked sessions. *silent_us* is the latest time of the records
    without events: the logical clock advances to it.
    """
    ordered = tuple(sorted(events, key=lambda event: (event.session_key, event.order)))
    divided = divide(Batch(ordered), stored, {}, frozenset(batch_row["signatures"] or ()))
    if divided.new:
        extractions = extractions_of(divided.new, tenancy.trust)
        observations = Observations.of([extractions[event.key] for event in divided.new])
        answers: Sequence[Row] = ()
        if observations.with_slot:
            answers = (yield from open_batch(tenancy, observations.slots(tenancy)))["answers"]
        sessions = {row["key"]: stored_session(row) for row in batch_row["sessions"]}
        yield from store_new(tenancy, LockedBatch(sessions, divided, answers), observations, extractions)
    # Even if all events were stored before, the version is raised: readers cache by it, and it locks the tenant.
    newest_us = max((event.event.time_us for event in divided.new or events), default=0)
    if not divided.new or (silent_us is not None and newest_us < silent_us):
        yield from bump(tenancy, max(newest_us, silent_us or 0))


def _refuse_loops(tenancy: Tenancy, steps: Sequence[_Step]) -> Plan[None]:
    """Refuse a task that would be its own ancestor; the tenant lock rules out a concurrent loop."""
    starts = {
        task_key(tenancy, step.record.task_id): step
        for step in steps
        if step.record.parent_task_id and step.record.artifact_kind == "task_start"
    }
    if not starts:
        return
    rows = yield bind("tasks/parents", tenant_id=tenancy.tenant_id, batch={"task_keys": sorted(starts)})
    others = {row["key"]: row["steps"] - 1 for row in rows}
    for key, (record, *_, name) in reversed(starts.items()):
        if key in others:
            count = f"{others[key]} other {'task' if others[key] == 1 else 'tasks'}"
            reason = f"task {record.task_id!r:.60} would be part of itself, through {count}"
            with _naming(name):
                raise TaskError(record.artifact_kind, reason, "leave parent_task_id out, or name another task")
