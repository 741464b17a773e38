"""Replays: the inputs and decisions in a tenant's backup, recorded again under another tenant.

Events, task records and artifacts that cannot be derived are recorded with their ids, other knowledge is derived again,
and decisions about memories and conflicts are repeated. Every step may be repeated, so an interrupted replay is
continued.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple, TypeAlias

from hmxgraph.compiler.reconcile import COMPILER
from hmxgraph.extraction.extract import EVENT_TYPE
from hmxgraph.graph import artifacts, conflicts, lifecycle, memory_operations
from hmxgraph.graph._events import AHEAD, mark_ahead
from hmxgraph.graph._events import record as record_events
from hmxgraph.graph.artifacts import BLANK, is_linked, stored_document
from hmxgraph.graph.compilations import LINEAGES, CompileOptions, compile_tenant
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, read, write
from hmxgraph.graph.records import stored_record, write_record
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import PreparedEvent, event_document, prepare
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.lifecycle import Conflict
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.events import SESSION, events_of
from hmxgraph.text.terms import counter

# A function that returns the nodes in a backup, each with its outgoing relationships; each call begins with the first.
Nodes: TypeAlias = Callable[[], Iterator[Row]]
Progress: TypeAlias = Callable[[int], object] | None
# Numbers of rows and of characters after which another transaction begins.
_MOST_ROWS = 500
_MOST_CHARACTERS = 4_000_000


def parts(rows: Iterable[Any], weigh: Callable[[Any], int] = lambda _: 0) -> Iterator[list[Any]]:
    """*rows* in order, one list per transaction."""
    part: list[Any] = []
    weight = 0
    for row in rows:
        part.append(row)
        weight += weigh(row)
        if len(part) == _MOST_ROWS or weight > _MOST_CHARACTERS:
            yield part
            part, weight = [], 0
    if part:
        yield part


def replay(tenancy: Tenancy, nodes: Nodes, progress: Progress) -> Procedure[None]:
    """Record the inputs among *nodes* in their original order, derive the rest, and repeat the decisions."""
    records = sorted(_records(nodes), key=lambda pair: (pair[0].created_us, pair[1]))
    reported_ids = {event.event_id for entry, sequence in records for event in events_of(entry, sequence)}
    event_count = 0
    for by_hand, group in groupby(_events(tenancy, nodes, reported_ids), key=_is_by_hand):
        for part in parts(group, lambda event: len(event.properties["content"])):
            ordered = tuple(sorted(part, key=lambda event: (event.session_key, event.order)))
            yield from write(partial(record_events, tenancy, Batch(ordered, by_hand=by_hand)))
            event_count += len(part)
            if progress:
                progress(event_count)
    for chain in _chains(nodes):
        yield from _record_again(tenancy, chain)
    for entry, _ in records:
        if entry.artifact_kind != "digest":
            yield from write_record(tenancy, TaskRecord.parse(entry.document() | {"tenant_id": tenancy.tenant_id}))
    yield from compile_tenant(tenancy, CompileOptions(full=True))
    yield from _decide_again(tenancy, _Decisions.of(nodes))


def _records(nodes: Nodes) -> Iterator[tuple[TaskRecord, int]]:
    for node in nodes():
        if "TaskRecord" in node["labels"] and not node["properties"].get("erased"):
            yield stored_record(node["properties"]), node["properties"]["sequence"]


def _events(tenancy: Tenancy, nodes: Nodes, reported_ids: Collection[str]) -> list[PreparedEvent]:
    """The events that were not erased, except those of task records, in the order in which they were stored."""
    recorded = []
    for node in nodes():
        properties = node["properties"]
        if "Event" in node["labels"] and not properties.get("erased") and properties["event_id"] not in reported_ids:
            wire = {name: value for name, value in properties.items() if name in Event.model_fields or name in _ORIGINS}
            event = Event.parse(event_document(wire) | {"tenant_id": tenancy.tenant_id})
            prepared = prepare(event, counter())
            prepared.properties.update({name: properties[name] for name in _AS_READ if name in properties})
            if properties.get(AHEAD):
                (prepared,) = mark_ahead([prepared], event.time_us - 1)
            recorded.append((properties.get("recorded_version", 0), prepared))
    recorded.sort(key=lambda pair: (pair[0], pair[1].session_key, pair[1].order))
    return [event for _, event in recorded]


# Properties of an event's node that tell whether a value was given or computed.
_ORIGINS = ("salience_origin",)
# Properties copied from the backup: they were made from the event as it was read, and the stored content, in canonical
# form, has lost the order of the fields.
_AS_READ = ("text", "search_text", "token_count", "tokenizer")


def _is_by_hand(event: PreparedEvent) -> bool:
    """Whether `remember` recorded the event."""
    return event.event.event_type == EVENT_TYPE and event.event.session_id == SESSION


# Compiled artifacts are derived again, except in a chain that somebody continued or proposed to continue by hand: there
# they are recorded with their ids, so that the successor has its predecessor and the compiler continues the same chain.


def _chains(nodes: Nodes) -> list[list[Row]]:
    """The chains of artifacts that cannot be derived again, each in the order in which its versions are recorded.

    Proposals to succeed a version come after that version and before its actual successor: both need an active
    predecessor.
    """
    chains: dict[str, list[Row]] = {}
    versions = [node["properties"] for node in nodes() if "Artifact" in node["labels"]]
    chain_keys = {version["artifact_id"]: version["chain_key"] for version in versions}
    for version in versions:
        # A draft that is only proposed has a chain key of its own.
        chain_key = chain_keys.get(version.get("supersedes"), version["chain_key"])
        chains.setdefault(chain_key, []).append(version)
    by_hand = [chain for chain in chains.values() if any(version.get("agent_id") != COMPILER for version in chain)]
    for chain in by_hand:
        # Rejected proposals come before open ones, which may have the same content.
        chain.sort(key=lambda version: (version["version"], is_linked(version), version["status"] == "draft"))
    return sorted(by_hand, key=lambda chain: chain[0]["recorded_us"])


def _record_again(tenancy: Tenancy, chain: Sequence[Row]) -> Procedure[None]:
    """Record the versions of a chain with the proposals to succeed them, and change their statuses as before."""
    stored = []
    for version in chain:
        recorded_us, artifact = version["status_times"][0], _as_recorded(tenancy, version)
        # A version that is no longer in force may have the same content as a version of another chain.
        unique = version.get("dedup_key") is not None
        receipt = yield from lifecycle.record_artifact(tenancy, artifact, at_us=recorded_us, unique=unique)
        if receipt.outcome == "duplicate":
            continue
        stored.append(version)
        proposed = version.get("supersedes") and not is_linked(version)
        yield from _change_again(tenancy, version, ("active", *_ENDED) if proposed else ("active",))
    for version in stored:
        yield from _change_again(tenancy, version, _ENDED)
    compiled = [version for version in chain if version["lineage_key"].startswith(LINEAGES)]
    if compiled:
        yield from write(partial(_mark_compiled, tenancy, compiled))


# Statuses of an artifact that is no longer in force and has no successor.
_ENDED = ("deprecated", "archived")


def _as_recorded(tenancy: Tenancy, version: Row) -> Artifact:
    """The artifact of a node, with the status in which it was recorded; an erased artifact has no content.

    A validity scope that names the tenant of the backup names this tenant instead.
    """
    document: dict[str, Any] = (stored_document(version) or {}) | {"tenant_id": tenancy.tenant_id}
    document["status"] = version["status_values"][0]
    document.pop("superseded_by", None)
    scope = document.get("validity_scope") or {}
    if tenants := scope.get("tenant_ids"):
        renamed = [tenancy.tenant_id if name == version["tenant_id"] else name for name in tenants]
        document["validity_scope"] = scope | {"tenant_ids": list(dict.fromkeys(renamed))}
    if version.get("erased"):
        document["content_hash"] = content_hash(document["content"])
    return Artifact.parse(document)


def _change_again(tenancy: Tenancy, version: Row, statuses: Collection[str]) -> Procedure[None]:
    """Repeat the status changes to one of *statuses*, except those that another replay of the backup has made."""
    history = zip(version["status_values"], version["status_times"], version["status_reasons"], strict=True)
    for (before, *_), (status, at_us, reason) in pairwise(history):
        if status in statuses:
            stored = yield from artifacts.artifact(tenancy, version["artifact_id"])
            if stored.status == before:
                yield from lifecycle.change_status(tenancy, stored.artifact_id, before, status, reason, at_us)


def _mark_compiled(tenancy: Tenancy, versions: Sequence[Row]) -> Plan[None]:
    """Give *versions* their lineage, by which the compiler knows its chains, and mark those that were erased."""
    rows = [
        {
            "key": tenancy.node_key(version["artifact_id"]),
            "lineage_key": version["lineage_key"],
            "cites_session": bool(version.get("erased")),
        }
        for version in versions
    ]
    batch = {"artifacts": rows}
    yield bind("retention/blank_artifacts", tenant_id=tenancy.tenant_id, batch=batch, blank=dict(BLANK))


# Deletions of memories and resolutions of conflicts are not events, and a successor names its predecessor by an id that
# differs between tenants. A replay repeats all three last: otherwise what no longer holds would count again.

# The kind of a side, with the text of a memory or the id of an artifact: these are the same in every tenant.
_Side: TypeAlias = tuple[str, str]


class _MemoryNode(NamedTuple):
    """A memory in a backup, with its evidence (ids of events) and its predecessor (a node id)."""

    properties: Row
    event_ids: frozenset[str]
    predecessor: str | None


class _Decisions(NamedTuple):
    """The memories in a backup by node id, and its resolved conflicts by their sides, with the side that was kept."""

    memories: dict[str, _MemoryNode]
    resolved: dict[frozenset[_Side], tuple[Row, _Side | None]]

    @classmethod
    def of(cls, nodes: Nodes) -> "_Decisions":
        """The decisions in the backup with *nodes*."""
        event_ids: dict[str, str] = {}
        sides: dict[str, tuple[str, _Side]] = {}
        memories, resolved = [], []
        for node in nodes():
            labels, properties = node["labels"], node["properties"]
            if "Event" in labels:
                event_ids[node["id"]] = properties["event_id"]
            elif "Memory" in labels:
                memories.append(node)
                sides[node["id"]] = properties["memory_id"], ("memory", properties.get("text") or "")
            elif "Artifact" in labels:
                sides[node["id"]] = properties["artifact_id"], ("artifact", properties["artifact_id"])
            elif "Conflict" in labels and properties["status"] == "resolved":
                resolved.append(node)
        return cls({node["id"]: _memory_node(node, event_ids) for node in memories}, _by_sides(resolved, sides))


def _memory_node(node: Row, event_ids: Mapping[str, str]) -> _MemoryNode:
    links = [(kind, target) for kind, target, _ in node["outgoing"]]
    evidence = frozenset(event_ids[target] for _, target in links if target in event_ids)
    return _MemoryNode(node["properties"], evidence, next((to for kind, to in links if kind == "SUPERSEDES"), None))


def _by_sides(
    conflicts: Iterable[Row], sides: Mapping[str, tuple[str, _Side]]
) -> dict[frozenset[_Side], tuple[Row, _Side | None]]:
    resolved = {}
    for node in conflicts:
        own_sides = dict(sides[target] for _, target, _ in node["outgoing"] if target in sides)
        kept_id = node["properties"].get("kept_id")
        # A relation is no node: conflicts between relations stay open.
        if kept_id is None or kept_id in own_sides:
            resolved[frozenset(own_sides.values())] = (
                node["properties"],
                None if kept_id is None else own_sides[kept_id],
            )
    return resolved


def _decide_again(tenancy: Tenancy, decisions: _Decisions) -> Procedure[None]:
    """Supersede and delete memories again, and resolve conflicts."""
    for memory in decisions.memories.values():
        if memory.predecessor is not None:
            older = decisions.memories[memory.predecessor]
            newer_id = yield from _counterpart_id(tenancy, memory)
            older_id = yield from _counterpart_id(tenancy, older)
            if newer_id and older_id:
                yield from memory_operations.follow(tenancy, newer_id, older_id, older.properties["valid_to_us"])
    for memory in decisions.memories.values():
        at_us = memory.properties.get("deleted_us")
        if at_us is not None and (memory_id := (yield from _counterpart_id(tenancy, memory))):
            reason = memory.properties.get("delete_reason") or ""
            yield from memory_operations.delete(tenancy, memory_id, reason, at_us)
    if decisions.resolved:
        for conflict in (yield from conflicts.conflicts(tenancy)):
            yield from _resolve_again(tenancy, conflict, decisions.resolved)


def _counterpart_id(tenancy: Tenancy, memory: _MemoryNode) -> Procedure[str | None]:
    """The id of the tenant's memory with the text of *memory* and no further evidence, or None."""
    for event_id in sorted(memory.event_ids):
        rows = yield from read(partial(_memories_of, tenancy, event_id))
        # An erased event was not replayed and has no rows: then the next event decides.
        for row in rows:
            if row["text"] == memory.properties.get("text"):
                memory_id: str = row["memory_id"]
                most = len(memory.event_ids) + 1
                evidence = yield from read(partial(memory_operations.evidence, tenancy, memory_id, most))
                return memory_id if memory.event_ids.issuperset(evidence) else None
    return None


def _memories_of(tenancy: Tenancy, event_id: str) -> Plan[list[Row]]:
    event_key = tenancy.node_key(event_id)
    return (yield bind("memory_operations/from_event", tenant_id=tenancy.tenant_id, event_key=event_key))


def _resolve_again(
    tenancy: Tenancy, conflict: Conflict, resolved: Mapping[frozenset[_Side], tuple[Row, _Side | None]]
) -> Procedure[None]:
    # The ids of memories differ between tenants, their texts do not.
    sides: dict[_Side, str] = {
        (side.kind, side.text if side.kind == "memory" else side.side_id): side.side_id for side in conflict.sides
    }
    if (decision := resolved.get(frozenset(sides))) is not None:
        properties, kept_side = decision
        keep, reason = None if kept_side is None else sides[kept_side], properties.get("resolution") or ""
        yield from conflicts.resolve(
            tenancy, conflict.conflict_id, keep=keep, reason=reason, at_us=properties["resolved_us"]
        )
