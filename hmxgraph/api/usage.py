"""``graph.usage``: counts by hour and the reports of compilations, as a server keeps them."""

from collections.abc import Iterable
from uuid import uuid4

from hmxgraph.api._base import Face, Moment, as_us, now_us
from hmxgraph.graph import usage
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from hmxgraph.protocol.reports import CompileReport
from hmxgraph.protocol.usage import CompileRun, UsageHour


class Usage(Face):
    """Usage of a tenant's memory: counts of events, packs and compilations by hour, and the stored compilations."""

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def add(self, hours: Iterable[UsageHour]) -> int:
        """Add the counts to those stored for the same hours; return the number of hours written.

        If the server's answer to the commit is lost, the counts may be added twice: they are statistics, not a ledger.
        """
        return self._perform(usage.add(self._tenancy, tuple(hours)))

    def hours(self, *, since: Moment | None = None, until: Moment | None = None) -> tuple[UsageHour, ...]:
        """The counts of each hour that begins at or after *since* and before *until* (default: now), oldest first.

        Raises:
            InvalidTime: *since* or *until* is not a time.

        """
        return self._perform(usage.hours(self._tenancy, as_us(since) or 0, now_us(until)))

    def record_run(self, report: CompileReport) -> CompileRun:
        """Store *report* under a fresh id and return the stored run."""
        run = CompileRun(str(uuid4()), self._tenancy.tenant_id, now_us(), report.document())
        return self._perform(usage.record_run(self._tenancy, run))

    def runs(self, *, limit: int = 20) -> tuple[CompileRun, ...]:
        """The latest stored compilations, newest first.

        Raises:
            InvalidRequest: *limit* is not a valid page size.

        """
        return self._perform(usage.runs(self._tenancy, limit))
