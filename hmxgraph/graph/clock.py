"""A tenant's clock: hold back events dated ahead of the wall clock, and set the clock back if one advanced it.

Whether an event lies ahead is decided by the clock of the machine that ingests it. That clock may be wrong, so an event
held back can be admitted later.
"""

from collections.abc import Sequence
from functools import partial

from hmxgraph.extraction.extract import extract
from hmxgraph.graph import _entities, memories
from hmxgraph.graph._entities import EventExtraction
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, open_batch, read, state, write
from hmxgraph.ingest.prepare import event_document
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.reports import AheadEvent, ClockReport
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import counter

# Maximum number of events listed in a report, and admitted in one transaction.
_MOST_EVENTS = 1_000


def repair(tenancy: Tenancy, latest_us: int, *, dry_run: bool = False) -> Procedure[ClockReport]:
    """Hold back the events dated after *latest_us*: they no longer affect logical time, expiry and recency.

    First, events held back by an earlier call but dated up to *latest_us* are admitted. The clock is set back to the
    latest time that is left: that of an event not held back, a status change or a resolution. Later times in the
    histories of artifacts become *latest_us*. The report lists the events dated after *latest_us*, at most the 1,000
    latest. A dry run changes nothing.
    """
    if not dry_run:
        yield from release(tenancy, latest_us)
    before = yield from read(partial(state, tenancy))
    rows = yield from read(partial(_ahead, tenancy, latest_us))
    clock_ahead = (before["logical_us"] or 0) > latest_us
    after = before
    if not dry_run and (clock_ahead or any(not row["marked"] for row in rows)):
        yield from write(partial(_hold_back, tenancy, latest_us))
        after = yield from read(partial(state, tenancy))
    return ClockReport(
        tenancy.tenant_id,
        dry_run,
        _iso(before["logical_us"]),
        _iso(after["logical_us"]),
        tuple(AheadEvent(row["event_id"], row["session_id"], row["timestamp"]) for row in rows),
    )


def release(tenancy: Tenancy, latest_us: int) -> Procedure[None]:
    """Admit the events that were held back as ahead of the clock and are dated up to *latest_us*."""
    due = partial(_due, tenancy, latest_us)
    while events := (yield from read(due)):
        yield from write(partial(_admit, tenancy, events))


def _due(tenancy: Tenancy, latest_us: int) -> Plan[list[Event]]:
    rows = yield bind("retention/due", tenant_id=tenancy.tenant_id, latest_us=latest_us, limit=_MOST_EVENTS)
    return [Event.parse(event_document(row["event"])) for row in rows]


def _admit(tenancy: Tenancy, events: Sequence[Event]) -> Plan[None]:
    """Unmark *events*, which were held back, and learn from those from which nothing was learned before.

    Locks are taken in the order that ``_events.record`` describes.
    """
    by_key = {tenancy.node_key(event.event_id): event for event in events}
    extractions = [
        EventExtraction(key, by_key[key].time_us, extract(by_key[key], tenancy.trust)) for key in sorted(by_key)
    ]
    sessions = {tenancy.node_key(event.session_id): event.session_id for event in events}
    session_rows = [{"key": key, "session_id": sessions[key]} for key in sorted(sessions)]
    slots = memories.Observations.of(extractions).slots(tenancy)
    batch_row = yield from open_batch(tenancy, {"sessions": session_rows, **slots})
    rows = yield bind("retention/admit", tenant_id=tenancy.tenant_id, batch={"event_keys": sorted(by_key)})
    if not rows:
        return
    new_keys = {row["key"] for row in rows if not row["learned"]}
    new_events = [event for event in extractions if event.event_key in new_keys]
    mentions = _entities.entity_rows(tenancy, new_events)
    yield bind("events/record", tenant_id=tenancy.tenant_id, batch={"admitted": sorted(new_keys), **mentions})
    yield from memories.store(tenancy, memories.Observations.of(new_events), batch_row["answers"], counter())
    settle_batch: Row = {"session_keys": sorted(sessions), "logical_us": max(event.time_us for event in events)}
    settle_batch |= {
        name: [] for name in ("event_keys", "signatures", "caused_by", "correlates_with", "about", "answers")
    }
    yield bind("events/settle", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, batch=settle_batch)


def _iso(time_us: int | None) -> str | None:
    return None if time_us is None else iso(time_us)


def _ahead(tenancy: Tenancy, latest_us: int) -> Plan[list[Row]]:
    rows = yield bind("retention/ahead", tenant_id=tenancy.tenant_id, latest_us=latest_us, limit=_MOST_EVENTS)
    return rows


def _hold_back(tenancy: Tenancy, latest_us: int) -> Plan[None]:
    version = yield from bump(tenancy, 0)
    yield bind("retention/hold_back", tenant_id=tenancy.tenant_id, latest_us=latest_us, version=version)
    rows = yield bind("retention/latest", tenant_id=tenancy.tenant_id)
    remaining_us = rows[0]["latest_us"] or 0
    yield bind("retention/rewind", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, latest_us=remaining_us)
