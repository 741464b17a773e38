"""Asynchronous twin of ``knowledge.plain.exploring``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hmxgraph.api._base import Moment, as_us
from hmxgraph.api.awaitable.face import AsyncFace
from hmxgraph.api.exploring import QueryResult
from hmxgraph.fingerprint.measures import MeasuredDigest
from hmxgraph.graph import checks, explain, exploring
from hmxgraph.graph.connection import Trace
from hmxgraph.graph.plan import query
from hmxgraph.protocol.explanations import Explanation
from hmxgraph.protocol.reports import VerifyReport

if TYPE_CHECKING:
    import networkx as nx


class AsyncExploring(AsyncFace):
    """The part of the front door for people who look at the memory."""

    async def query(self, name: str, /, **parameters: Any) -> QueryResult:
        """The rows of a saved query, such as ``explore/supersession_chains``; the tenant is filled in.

        Raises:
            StatementMisuse: no such query, or its parameters do not fit.

        """
        rows = await self._perform(exploring.saved_query(self._tenancy, name, parameters))
        return QueryResult(name, query(name).row, tuple(rows))

    async def explain(self, record_id: str) -> Explanation:
        """The full trail of an artifact, memory, event, conflict, entity or pack entry, down to the text of events.

        Raises:
            NotFound: nothing has this id.

        """
        return await self._perform(explain.explain(self._tenancy, record_id))

    async def verify(self) -> VerifyReport:
        """Every hash, chain, history, link and counter checked again; lists what is wrong and mends nothing."""
        return await self._perform(checks.verify(self._tenancy))

    async def to_networkx(self) -> "nx.MultiDiGraph[str]":
        """The active entity graph: nodes with ``name`` and ``type``, edges with ``type`` and ``weight``."""
        found = await self._perform(exploring.relations(self._tenancy))
        return await self._beside(exploring.entity_graph, found)

    async def digest(self, *, as_of: Moment | None = None) -> MeasuredDigest:
        """The structure of the entity graph in numbers: counts, distributions, averages, hubs, depth (HMX-F 5)."""
        return await self._perform(exploring.digest(self._tenancy, as_us(as_of)))

    def trace(self, listener: Trace) -> Callable[[], None]:
        """Tell *listener* each statement from now on: name, rows, milliseconds. Call what you get to stop."""
        return self._connection.listen(listener)

    async def health(self) -> dict[str, Any]:
        """Server version and edition, indexes that are not online, and this tenant's state."""
        return await self._perform(exploring.health(self._tenancy))
