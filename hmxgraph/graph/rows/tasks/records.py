"""Task records as nodes and back: the one place that knows both forms."""

from collections.abc import Sequence
from typing import Any

from hmxgraph.extraction.entities.names import normalise
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.entities import entity_key, entity_properties
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.canonical import sha256_hex
from hmxgraph.protocol.identity import indexable
from hmxgraph.protocol.records import DatasetRef, EntityRef, TaskRecord
from hmxgraph.tasks.changes import Changes
from hmxgraph.tasks.facets import facet_token, facets
from hmxgraph.tasks.projections import projections, record_text
from hmxgraph.tasks.standing import OPEN, Parent, Standing
from hmxgraph.text.terms import search_text
from hmxgraph.text.tokens import DEFAULT_ENCODING, TokenCounter

# Those wire fields by which indexes find records, and further ones that stand on the node beside the whole document, so
# that people and statements can ask for them. What is too long for an index is whole in the document alone.
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
_LONGEST_SEARCH_TEXT = 4_000
_EPISODES = frozenset({"task_start", "task_progress", "run_start", "run_finish", "task_finish"})


def task_key(tenancy: Tenancy, task_id: str) -> str:
    """The key of a task's node."""
    return tenancy.node_key("task", task_id)


def record_properties(tenancy: Tenancy, record: TaskRecord, sequence: int, count_tokens: TokenCounter) -> Row:
    """The properties of a record's node; *sequence* is its event's place in the session, for a stable order."""
    document = record.to_json()
    text = record_text(record)
    parts = projections(record)
    found = {name: indexable(value) for name in _INDEXED if (value := getattr(record, name)) is not None}
    shown = {name: value for name in _SHOWN if (value := getattr(record, name)) is not None}
    named = facets(record)
    return (
        found
        | shown
        | {
            "key": tenancy.node_key(record.artifact_id),
            "tenant_id": tenancy.tenant_id,
            "document": document,
            "record_hash": sha256_hex(document.encode()),
            "created_us": record.created_us,
            "sequence": sequence,
            "facets": list(named),
            "scope": " ".join([tenancy.scope, *(facet_token(one) for one in named)]),
            "tags": list(record.tags or ()),
            "projection_kinds": [part.kind for part in parts],
            "projection_texts": [part.text for part in parts],
            "pack_section": pack_section(record),
            "text": text,
            "search_text": " ".join(search_text(text).split(" ")[:_LONGEST_SEARCH_TEXT]),
            "token_count": count_tokens(text),
            "tokenizer": DEFAULT_ENCODING,
        }
    )


def pack_section(record: TaskRecord) -> str:
    """The section of context packs in which a record is a candidate.

    >>> pack_section(TaskRecord(artifact_id="r", artifact_kind="decision", task_id="t", tenant_id="a",
    ...     timestamp_created=0, summary="Use tiles"))
    'procedures'
    """
    if record.artifact_kind == "decision" or (record.artifact_kind == "task_finish" and record.what_worked):
        return "procedures"
    return "episodes" if record.artifact_kind in _EPISODES else "evidence"


def record_links(tenancy: Tenancy, record: TaskRecord, changed: Changes) -> Row:
    """Everything that ``tasks/record`` links a record to, in the order of keys."""
    parents = [record.parent_task_id] if record.artifact_kind == "task_start" and record.parent_task_id else []
    reply = [tenancy.node_key(record.reply_to_artifact_id)] if record.reply_to_artifact_id else []
    return {
        "task": {"key": task_key(tenancy, record.task_id), "properties": changed.task},
        "parents": [{"key": task_key(tenancy, name), "task_id": name} for name in parents],
        "runs": _runs(tenancy, record, changed),
        "datasets": _datasets(tenancy, record),
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


def standing_of(task_id: str, row: Row | None) -> Standing:
    """The standing of a task in a row of ``tasks/lock`` or ``tasks/get``; no row is no task."""
    if row is None or row["task"].get("status") is None:
        return Standing(task_id)
    task, runs = row["task"], sorted(row["runs"], key=lambda run: (run["started_us"], run["run_id"]))
    return Standing(
        task_id,
        task["status"],
        tuple(run["run_id"] for run in runs if run["status"] == OPEN),
        tuple(run["run_id"] for run in runs),
        task.get("project_id"),
        task.get("goal", ""),
        {run["run_id"]: run["tool_name"] for run in runs if run.get("tool_name")},
    )


def parent_of(properties: Row | None) -> Parent | None:
    """The record that is replied to."""
    if properties is None:
        return None
    record = stored_record(properties)
    names = ("artifact_id", "artifact_kind", "task_id", "thread_id", "project_id", "agent_id", "supports_claim")
    found: dict[str, Any] = {name: getattr(record, name) for name in names}
    return Parent(**found, superseded_by=properties.get("superseded_by"), erased=properties.get("erased", False))


def _runs(tenancy: Tenancy, record: TaskRecord, changed: Changes) -> list[Row]:
    rows = [
        {"key": tenancy.node_key("run", run_id), "properties": properties, "told": run_id in _own_runs(record)}
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
            "use": _use(dataset, record.created_us),
        }
        for dataset in record.dataset_refs or ()
    ]
    return _by_key(rows)


def _use(dataset: DatasetRef, created_us: int) -> dict[str, Any]:
    """What the edge to a data set says: by name and version it is found."""
    version = None if dataset.version is None else indexable(dataset.version)
    found = _present(name=indexable(dataset.name), version=version, description=dataset.description)
    return found | {"created_us": created_us}


def _challenges(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    if record.challenge_id is None:
        return []
    return [{"key": tenancy.node_key("challenge", record.challenge_id), "challenge_id": record.challenge_id}]


def _contributors(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    given = [
        {
            "key": tenancy.node_key("contributor", one.contributor_id),
            "properties": _present(contributor_id=one.contributor_id, display_name=one.display_name),
            "share": _present(role=one.role, contribution=one.contribution, display_name=one.display_name),
        }
        for one in record.contributors or ()
    ]
    author = record.agent_id
    signed = [] if author is None else [_author(tenancy, author)]
    return _by_key([*signed, *given])


def _author(tenancy: Tenancy, agent_id: str) -> Row:
    key = tenancy.node_key("contributor", agent_id)
    return {"key": key, "properties": {"contributor_id": agent_id}, "share": {"role": "author"}}


def _entities(tenancy: Tenancy, record: TaskRecord) -> list[Row]:
    """A row for each name as the record spells it; a name of nothing but signs stands for itself."""
    spelled = {(one.name, one.entity_type): one for one in record.entity_refs or ()}
    return sorted((_entity(tenancy, one, record.created_us) for one in spelled.values()), key=_key_and_name)


def _entity(tenancy: Tenancy, one: EntityRef, created_us: int) -> Row:
    normalised = normalise(one.entity_type, one.name) or one.name
    properties = entity_properties(tenancy, one.entity_type, one.name, normalised) | _seen(created_us)
    found = {"name": indexable(one.name), "entity_type": one.entity_type}
    mention = found | {"role": one.role or "", "created_us": created_us}
    return {"key": entity_key(tenancy, one.entity_type, normalised), "properties": properties, "mention": mention}


def _key_and_name(row: Row) -> tuple[str, str]:
    return row["key"], row["mention"]["name"]


def _seen(created_us: int) -> dict[str, int]:
    return {"first_us": created_us, "last_us": created_us}


def _present(**properties: Any) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def _by_key(rows: list[Row]) -> list[Row]:
    """Each key once, the last one given, in the order of keys."""
    return sorted({row["key"]: row for row in rows}.values(), key=lambda row: row["key"])
