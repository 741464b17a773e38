"""A tenant's clock: events dated ahead of the wall clock, and a clock that one of them has moved, set right."""

from functools import partial

from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, read, state, write
from hmxgraph.protocol.reports import AheadEvent, ClockReport
from hmxgraph.protocol.timestamps import iso

# Events named in a report.
_MOST = 1_000


def repair(tenancy: Tenancy, latest_us: int, *, dry_run: bool = False) -> Procedure[ClockReport]:
    """What is dated after *latest_us*, which from now on has no say in logical time, expiry and recency.

    The tenant's clock is set back to the latest of everything else. A dry run changes nothing.
    """
    before = yield from read(partial(state, tenancy))
    rows = yield from read(partial(_ahead, tenancy, latest_us))
    late = bool(before["logical_us"]) and before["logical_us"] > latest_us
    after = before
    if not dry_run and (late or any(not row["marked"] for row in rows)):
        yield from write(partial(_hold_back, tenancy, latest_us))
        after = yield from read(partial(state, tenancy))
    return ClockReport(
        tenancy.tenant_id,
        dry_run,
        _iso(before["logical_us"]),
        _iso(after["logical_us"]),
        tuple(AheadEvent(row["event_id"], row["session_id"], row["timestamp"]) for row in rows),
    )


def _iso(time_us: int | None) -> str | None:
    return None if time_us is None else iso(time_us)


def _ahead(tenancy: Tenancy, latest_us: int) -> Plan[list[Row]]:
    rows = yield bind("retention/ahead", tenant_id=tenancy.tenant_id, latest_us=latest_us, limit=_MOST)
    return rows


def _hold_back(tenancy: Tenancy, latest_us: int) -> Plan[None]:
    version = yield from bump(tenancy, 0)
    yield bind("retention/hold_back", tenant_id=tenancy.tenant_id, latest_us=latest_us, version=version)
    rows = yield bind("retention/latest", tenant_id=tenancy.tenant_id)
    moved = {"tenant_key": tenancy.key, "latest_us": rows[0]["latest_us"] or 0}
    yield bind("retention/rewind", tenant_id=tenancy.tenant_id, **moved)
