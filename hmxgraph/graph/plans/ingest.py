"""Batches of events into the graph: each in one transaction, all of it or nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hmxgraph.errors import IngestRefused
from hmxgraph.extraction import extract
from hmxgraph.graph.plan import Plan, Row
from hmxgraph.graph.plans import entities, memories
from hmxgraph.graph.plans.tenants import bump
from hmxgraph.graph.rows.entities import Extracted
from hmxgraph.graph.rows.events import (
    StoredSession,
    by_session,
    inner_and_outer,
    neighbours,
    new_kinds,
    offers,
    session_row,
    stored_session,
)
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.ingest.batch import Batch, conflict
from hmxgraph.ingest.chain import Neighbours, Weave, amid
from hmxgraph.ingest.embeddings import first_dimension, left_out
from hmxgraph.ingest.prepare import PreparedEvent
from hmxgraph.ingest.report import ConflictingEvent, Receipt
from hmxgraph.text.tokens import counter


@dataclass(frozen=True, slots=True)
class Sifted:
    """A batch divided: what is new, what is known, what contradicts the known."""

    new: tuple[PreparedEvent, ...]
    duplicates: int
    conflicting: tuple[ConflictingEvent, ...]
    counts: Mapping[str, int]
    signatures: frozenset[str]

    def receipt(self, *, late: int = 0, warnings: tuple[str, ...] = ()) -> Receipt:
        """What became of the batch."""
        return Receipt(
            tuple(sorted({event.session_key for event in self.new})),
            len(self.new),
            late,
            self.duplicates,
            self.conflicting,
            warnings,
        )


def record(tenancy: Tenancy, batch: Batch, *, strict: bool = False) -> Plan[Receipt]:
    """Store what is new of *batch* with all its links; a batch that holds nothing new writes nothing.

    Raises:
        IngestRefused: *strict*, and an id is taken by another body; nothing of the batch is stored.

    Locks are taken in the order sessions, events, entities, memories, tenant. Two writers that bring the same event in
    different sessions meet at its key; the second is run again and finds it stored.
    """
    sifted = yield from _sift(tenancy, batch)
    if strict:
        _refuse_conflicts(sifted.conflicting)
    if not sifted.new:
        return sifted.receipt()
    found = batch.found or extracted(sifted.new)
    sessions = yield from _lock(tenancy, sifted.new)
    if any(sifted.counts.get(session.key, 0) != session.event_count for session in sessions.values()):
        # Somebody wrote to these sessions between the reading and the lock: now it cannot change any more.
        sifted = yield from _sift(tenancy, batch)
    if not sifted.new:
        return sifted.receipt()
    dimension = yield from _store(tenancy, sifted, sessions, found)
    return sifted.receipt(late=_late(sifted.new, sessions), warnings=tuple(left_out(sifted.new, dimension)))


def _refuse_conflicts(conflicting: tuple[ConflictingEvent, ...]) -> None:
    for one in conflicting:
        reason = (
            f"event {one.event_id!r} is stored with another body (hash {one.stored_hash}); give it an id of its own"
        )
        raise IngestRefused(one.source or "source", reason, one.line)


def _sift(tenancy: Tenancy, batch: Batch) -> Plan[Sifted]:
    rows = yield bind(
        "events/known",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        batch={
            "event_keys": [event.key for event in batch.events],
            "session_keys": sorted({event.session_key for event in batch.events}),
        },
    )
    known = dict(rows[0]["events"])
    hashes = {event.key: event.properties["event_hash"] for event in batch.events} | known
    met = [*(event for event in batch.events if event.key in known), *batch.repeats]
    clashes = [event for event in met if event.properties["event_hash"] != hashes[event.key]]
    return Sifted(
        tuple(event for event in batch.events if event.key not in known),
        len(met) - len(clashes),
        tuple(conflict(event, hashes[event.key]) for event in sorted(clashes, key=lambda event: event.place)),
        dict(rows[0]["sessions"]),
        frozenset(rows[0]["signatures"]),
    )


def _lock(tenancy: Tenancy, events: Iterable[PreparedEvent]) -> Plan[dict[str, StoredSession]]:
    names = {event.session_key: event.event.session_id for event in events}
    sessions = [{"key": key, "session_id": names[key]} for key in sorted(names)]
    rows = yield bind("events/lock_sessions", tenant_id=tenancy.tenant_id, batch={"sessions": sessions})
    return {row["key"]: stored_session(row) for row in rows}


def extracted(events: Iterable[PreparedEvent]) -> dict[str, Extracted]:
    """What the rules find in each event, by its key; found before anything is locked."""
    return {event.key: Extracted(event.key, event.event.time_us, extract(event.event)) for event in events}


def _store(
    tenancy: Tenancy, sifted: Sifted, sessions: Mapping[str, StoredSession], found: Mapping[str, Extracted]
) -> Plan[int | None]:
    """Write what is new; the dimension of the tenant's embeddings comes back, None while it has none."""
    weave = yield from _weave(tenancy, sifted.new, sessions)
    kinds = new_kinds(sifted.new, sifted.signatures)
    first_of_kind = frozenset(kinds.values())
    inner, outer, joined = inner_and_outer(sifted.new, weave)
    yield bind(
        "events/record",
        tenant_id=tenancy.tenant_id,
        batch={
            "sessions": [session_row(sessions[key], events, first_of_kind) for key, events in by_session(sifted.new)],
            "parted": weave.parted,
            "joined": joined,
            **{kind.lower(): pairs for kind, pairs in inner.items()},
        },
    )
    batch = [found[event.key] for event in sifted.new]
    tokenizer = sifted.new[0].properties["tokenizer"]
    yield from entities.link(tenancy, batch)
    yield from memories.store(tenancy, batch, counter(tokenizer), tokenizer)
    version = yield from bump(tenancy, max(event.event.time_us for event in sifted.new), events=len(sifted.new))
    settled = yield bind(
        "events/settle",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        version=version,
        batch={
            "signatures": list(kinds),
            "session_keys": sorted({event.session_key for event in sifted.new}),
            "event_keys": [event.key for event in sifted.new],
            "offers": list(offers(sifted.new)),
            "embedding_dimension": first_dimension(sifted.new),
            **{kind.lower(): pairs for kind, pairs in outer.items()},
        },
    )
    dimension: int | None = settled[0]["embedding_dimension"]
    return dimension


def _weave(tenancy: Tenancy, events: Iterable[PreparedEvent], sessions: Mapping[str, StoredSession]) -> Plan[Weave]:
    groups = by_session(events)
    amids = [event for key, group in groups for event in _amid(group, sessions[key])]
    between = (yield from _neighbours(tenancy, amids)) if amids else {}
    weave = Weave()
    for key, group in groups:
        weave.add(group, sessions[key].ends, between)
    return weave


def _amid(events: list[PreparedEvent], session: StoredSession) -> list[PreparedEvent]:
    return amid(events, session.ends) if session.ends else []


def _neighbours(tenancy: Tenancy, events: Sequence[PreparedEvent]) -> Plan[dict[str, Neighbours]]:
    rows = yield bind(
        "events/neighbours", tenant_id=tenancy.tenant_id, batch={"late": [_place(event) for event in events]}
    )
    ids = {event.key: event.event.event_id for event in events}
    return {row["key"]: neighbours(row, ids[row["key"]]) for row in rows}


def _place(event: PreparedEvent) -> Row:
    sequence, time_us, event_id = event.order
    return {
        "key": event.key,
        "session_key": event.session_key,
        "sequence": sequence,
        "time_us": time_us,
        "event_id": event_id,
    }


def _late(events: Iterable[PreparedEvent], sessions: Mapping[str, StoredSession]) -> int:
    ends = ((event, sessions[event.session_key].ends) for event in events)
    return sum(1 for event, end in ends if end and event.order[0] < end.tail.order[0])
