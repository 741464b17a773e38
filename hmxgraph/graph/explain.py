"""The evidence of a record: through memories, down to the text of events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hmxgraph.compiler.reconcile import awaited
from hmxgraph.errors import NotFound
from hmxgraph.graph._entities import evidence_mark
from hmxgraph.graph.artifacts import ALWAYS, evidence_keys, stored_document, tampering
from hmxgraph.graph.conflicts import by_keys
from hmxgraph.graph.memories import shown_owner
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, read, shown_mask_key
from hmxgraph.protocol.explanations import Evidence, Explanation
from hmxgraph.protocol.lifecycle import Conflict
from hmxgraph.protocol.timestamps import iso
from hmxgraph.protocol.trust import TrustPolicy
from hmxgraph.records.events import event_ids_of
from hmxgraph.text.masking import linked_secrets, masked_fields

# The facts about a record, and an event as evidence.


def evidence(row: Row) -> Evidence:
    """The event in a row of ``explain/events``."""
    return Evidence(
        row["event_id"],
        row["session_id"],
        row["agent_id"],
        row["event_type"],
        row["timestamp"],
        row["text"] or "",
        row["erased"],
        row["source"],
    )


def _artifact_facts(properties: Row, versions: int) -> dict[str, Any]:
    """The facts about an artifact: most fields, its trust and history, failed checks, and what a draft waits for."""
    document = stored_document(properties) or {}
    left_out = {"content", "metadata", "source_events", "source_memory_ids", "summary", "tenant_id", "hmx_version"}
    trust = (document.get("metadata") or {}).get("trust")
    fields = {name: value for name, value in document.items() if name not in left_out} | (
        {"trust": trust} if trust else {}
    )
    facts = fields | {
        "versions_in_chain": versions,
        "history": _history(properties),
        "tampered": list(tampering(properties)),
    }
    if document.get("status") == "draft":
        facts["waits_for"] = list(awaited(document, properties["lineage_key"]))
    return facts


def _memory_facts(row: Row, trust: TrustPolicy) -> dict[str, Any]:
    """The facts about a memory: its statement, confidence, owner and successors; for a proposal, its support so far."""
    names = ("kind", "subject", "predicate", "object", "confidence", "observation_count", "extraction_method", "hard")
    properties = row["record"]
    facts = {name: properties[name] for name in names if properties.get(name) is not None}
    if owner := properties.get("owner"):
        facts["owner"] = shown_owner(owner)
    if row["superseded_by"]:
        facts["superseded_by"] = row["superseded_by"]
    if properties.get("unproven"):
        facts["trust"] = {
            "in_force": not properties.get("proposed", False),
            "sessions": row["sessions"],
            "origins": row["origins"],
            "needed": {"sessions": trust.sessions, "origins": trust.origins},
        }
    return facts


def _history(properties: Row) -> list[dict[str, Any]]:
    times, values, reasons = (properties[f"status_{name}"] for name in ("times", "values", "reasons"))
    return [
        {"at": iso(at_us), "status": status, "reason": reason}
        for at_us, status, reason in zip(times, values, reasons, strict=True)
    ]


# The trail of a record: its evidence, through memories, down to the text of events.

# Maximum number of mentions shown of an entity or a relation: there may be a million, and the newest are enough to show
# what it is.
MOST_MENTIONS = 20
# Number of events shown of a memory, the first ones; ``observation_count`` counts all that were not erased.
MOST_MEMORY_EVENTS = 100


def explain(tenancy: Tenancy, record_id: str) -> Procedure[Explanation]:
    """The trail of an artifact, memory, event, conflict, task record, entity or relation, by its id.

    Secrets are masked as in packs.

    Raises:
        NotFound: nothing has this id.

    """
    explanation = yield from read(lambda: _explain(tenancy, record_id))
    key = shown_mask_key(tenancy)
    return _masked(explanation, partial(linked_secrets, key=key)) if key else explanation


def _masked(explanation: Explanation, mask: Callable[[str], str]) -> Explanation:
    return replace(
        explanation,
        text=mask(explanation.text),
        facts=masked_fields(explanation.facts, mask),
        events=tuple(replace(event, text=mask(event.text)) for event in explanation.events),
        rests_on=tuple(_masked(part, mask) for part in explanation.rests_on),
        supports=tuple(masked_fields(dependent, mask) for dependent in explanation.supports),
        conflicts=tuple(_masked_conflict(conflict, mask) for conflict in explanation.conflicts),
    )


def _masked_conflict(conflict: Conflict, mask: Callable[[str], str]) -> Conflict:
    sides = tuple(replace(side, text=mask(side.text)) for side in conflict.sides)
    return replace(conflict, reason=mask(conflict.reason), text=mask(conflict.text), sides=sides)


def _explain(tenancy: Tenancy, record_id: str) -> Plan[Explanation]:
    rows = yield bind("explain/identify", tenant_id=tenancy.tenant_id, key=tenancy.node_key(record_id), name=record_id)
    if not rows:
        return (yield from _relation(tenancy, record_id))
    return (yield from _BY_KIND[rows[0]["kind"]](tenancy, rows[0]["record"]))


def _artifact(tenancy: Tenancy, record: Row) -> Plan[Explanation]:
    events, memories = evidence_keys(tenancy, record)
    versions = yield bind(
        "artifacts/chain", tenant_id=tenancy.tenant_id, chain_key=record["chain_key"], as_of_us=ALWAYS
    )
    source_events = yield from _events(tenancy, sorted(events))
    derived = yield from _memories(tenancy, sorted(memories))
    stored = {event.event_id for event in source_events} | {memory.record_id for memory in derived}
    return Explanation(
        "artifact",
        record["artifact_id"],
        record["text"],
        record["status"],
        _artifact_facts(record, len(versions)),
        source_events,
        derived,
        conflicts=(yield from _conflicts_of(tenancy, [record["key"]])).get(record["key"], ()),
        missing=tuple(name for name in sorted({*events.values(), *memories.values()}) if name not in stored),
    )


def _memory(tenancy: Tenancy, record: Row) -> Plan[Explanation]:
    (explanation,) = yield from _memories(tenancy, [record["key"]])
    return explanation


def _memories(tenancy: Tenancy, keys: Sequence[str]) -> Plan[tuple[Explanation, ...]]:
    if not keys:
        return ()
    rows = yield bind("explain/memories", tenant_id=tenancy.tenant_id, keys=list(keys), limit=MOST_MEMORY_EVENTS)
    source_events = yield from _events(tenancy, sorted({key for row in rows for key in row["event_keys"]}))
    events = {tenancy.node_key(event.event_id): event for event in source_events}
    conflicts = yield from _conflicts_of(tenancy, [row["record"]["key"] for row in rows])
    return tuple(_memory_explanation(row, _memory_facts(row, tenancy.trust), events, conflicts) for row in rows)


def _memory_explanation(
    row: Row,
    facts: Mapping[str, Any],
    events: Mapping[str, Evidence],
    conflicts_of_record: Mapping[str, tuple[Conflict, ...]],
) -> Explanation:
    record = row["record"]
    return Explanation(
        "memory",
        record["memory_id"],
        record["text"],
        record["status"],
        facts,
        tuple(events[key] for key in row["event_keys"]),
        conflicts=conflicts_of_record.get(record["key"], ()),
    )


def _events(tenancy: Tenancy, keys: Sequence[str]) -> Plan[tuple[Evidence, ...]]:
    if not keys:
        return ()
    rows = yield bind("explain/events", tenant_id=tenancy.tenant_id, keys=list(keys))
    return tuple(evidence(row) for row in rows)


def _event(tenancy: Tenancy, record: Row) -> Plan[Explanation]:
    events = yield from _events(tenancy, [record["key"]])
    dependents = yield bind("explain/dependents", tenant_id=tenancy.tenant_id, key=record["key"])
    names = ("event_type", "session_id", "sequence", "timestamp", "event_hash", "salience", "provenance_ref")
    facts = {name: record[name] for name in names if record.get(name) is not None}
    status = "erased" if record.get("erased") else "stored"
    return Explanation("event", record["event_id"], events[0].text, status, facts, events, supports=tuple(dependents))


def _task_record(tenancy: Tenancy, record: Row) -> Plan[Explanation]:
    """The trail of a task record: the events that report it."""
    name = record["artifact_id"]
    keys = [tenancy.node_key(event_id) for event_id in event_ids_of(tenancy.tenant_id, name)]
    events = yield from _events(tenancy, sorted(keys))
    names = ("artifact_kind", "task_id", "run_id", "thread_id", "project_id", "agent_id", "reply_to_artifact_id")
    facts = {name: record[name] for name in names if record.get(name) is not None}
    return Explanation("task_record", name, record["text"], record.get("status") or "", facts, events)


def _conflict(tenancy: Tenancy, record: Row) -> Plan[Explanation]:
    (conflict,) = yield from by_keys(tenancy, [record["key"]])
    sides: list[Explanation] = []
    for side in conflict.sides:
        part = yield from _explain(tenancy, side.side_id)
        sides.append(part)
    names = ("kind", "reason", "detected_at", "resolved_at", "kept_id", "resolution")
    facts = {name: getattr(conflict, name) for name in names if getattr(conflict, name) is not None}
    return Explanation("conflict", conflict.conflict_id, conflict.text, conflict.status, facts, rests_on=tuple(sides))


def _entity(tenancy: Tenancy, record: Row) -> Plan[Explanation]:
    events = yield from _mentions(tenancy, record["key"], None)
    names = ("type", "aliases", "mention_count", "confidence")
    facts = {name: record[name] for name in names if record.get(name) is not None}
    return Explanation("entity", record["key"], record["name"], record.get("status") or "", facts, events)


def _relation(tenancy: Tenancy, record_id: str) -> Plan[Explanation]:
    """The trail of a relation, whose id is its type between the first characters of the keys of its ends.

    Raises:
        NotFound: *record_id* is not the id of a relation either.

    """
    source, _, rest = record_id.partition(":")
    relation_type, _, target = rest.rpartition(":")
    ends = {"source_begin": source, "target_begin": target, "relation_type": relation_type}
    rows = (yield bind("explain/relation", tenant_id=tenancy.tenant_id, **ends)) if source and target else []
    if not rows:
        raise NotFound("record", record_id, tenancy.tenant_id, "give a record's id, or the source_id of a pack's entry")
    relation = rows[0]["relation"]
    mark = evidence_mark(relation_type, rows[0]["target"]["key"])
    events = yield from _mentions(tenancy, rows[0]["source"]["key"], mark)
    text = f"{rows[0]['source']['name']} {relation_type} {rows[0]['target']['name']}"
    names = ("relation_type", "weight", "confidence", "evidence_count")
    facts = {name: relation[name] for name in names if relation.get(name) is not None}
    return Explanation("relation", record_id, text, relation.get("status") or "", facts, events)


def _mentions(tenancy: Tenancy, key: str, mark: str | None) -> Plan[tuple[Evidence, ...]]:
    rows = yield bind("explain/mentions", tenant_id=tenancy.tenant_id, key=key, mark=mark, limit=MOST_MENTIONS)
    return (yield from _events(tenancy, [row["key"] for row in rows]))


def _conflicts_of(tenancy: Tenancy, keys: Sequence[str]) -> Plan[dict[str, tuple[Conflict, ...]]]:
    """The conflicts of these records, by record key."""
    rows = yield bind("explain/conflicts", tenant_id=tenancy.tenant_id, keys=list(keys))
    if not rows:
        return {}
    conflicts = yield from by_keys(tenancy, sorted({key for row in rows for key in row["conflict_keys"]}))
    return {
        row["record_key"]: tuple(
            conflict for conflict in conflicts if tenancy.node_key(conflict.conflict_id) in row["conflict_keys"]
        )
        for row in rows
    }


_BY_KIND: dict[str, Callable[[Tenancy, Row], Plan[Explanation]]] = {
    "artifact": _artifact,
    "memory": _memory,
    "event": _event,
    "conflict": _conflict,
    "task_record": _task_record,
    "entity": _entity,
}
