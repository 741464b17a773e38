"""Usage in the graph: counts by hour, and the reports of compilations."""

from collections.abc import Iterable

from hmxgraph.graph._paging import check_limit
from hmxgraph.graph.plan import Plan, Procedure, Tenancy, bind, read, write
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.usage import COUNTERS, CompileRun, UsageHour


def add(tenancy: Tenancy, hours: Iterable[UsageHour]) -> Procedure[int]:
    """Add the counts of *hours* to those stored for the same hours; return the number of hours."""
    rows = [
        {"key": tenancy.node_key("usage", str(hour.hour_us)), "hour_us": hour.hour_us}
        | {name: getattr(hour, name) for name in COUNTERS}
        for hour in hours
    ]

    def plan() -> Plan[int]:
        result = yield bind("usage/add", tenant_id=tenancy.tenant_id, hours=rows)
        stored: int = result[0]["hours"]
        return stored

    return (yield from write(plan))


def hours(tenancy: Tenancy, since_us: int, until_us: int) -> Procedure[tuple[UsageHour, ...]]:
    """The hours that begin from *since_us* until before *until_us*, oldest first; hours without usage are left out."""

    def plan() -> Plan[tuple[UsageHour, ...]]:
        rows = yield bind("usage/list", tenant_id=tenancy.tenant_id, since_us=since_us, until_us=until_us)
        return tuple(UsageHour(**row) for row in rows)

    return (yield from read(plan))


def record_run(tenancy: Tenancy, run: CompileRun) -> Procedure[CompileRun]:
    """Store the report of a compilation and return *run*."""

    def plan() -> Plan[CompileRun]:
        yield bind(
            "usage/record_run",
            tenant_id=tenancy.tenant_id,
            key=tenancy.node_key("compile-run", run.run_id),
            run_id=run.run_id,
            finished_us=run.finished_us,
            report=canonical_text(run.report),
        )
        return run

    return (yield from write(plan))


def runs(tenancy: Tenancy, limit: int) -> Procedure[tuple[CompileRun, ...]]:
    """The latest compilations, newest first.

    Raises:
        InvalidRequest: *limit* is not a valid page size.

    """
    check_limit(limit)

    def plan() -> Plan[tuple[CompileRun, ...]]:
        rows = yield bind("usage/runs", tenant_id=tenancy.tenant_id, limit=limit)
        return tuple(
            CompileRun(run["run_id"], tenancy.tenant_id, run["finished_us"], parse_json(run["report"]))
            for run in (row["run"] for row in rows)
        )

    return (yield from read(plan))
