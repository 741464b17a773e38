"""Asynchronous twin of ``knowledge.plain.exploring``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hmxgraph.fingerprint.measures.digest import MeasuredDigest
from hmxgraph.graph.catalogue import query
from hmxgraph.graph.plans import digest, explain, exploring, verify
from hmxgraph.graph.rows.checks.findings import VerifyReport
from hmxgraph.graph.rows.explanations import Explanation
from hmxgraph.graph.watch import Trace
from hmxgraph.knowledge.awaitable.face import AsyncFace
from hmxgraph.knowledge.moments import Moment, as_us
from hmxgraph.knowledge.results import QueryResult

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
        return await self._perform(verify.verify(self._tenancy))

    async def to_networkx(self) -> "nx.MultiDiGraph[str]":
        """The active entity graph: nodes with ``name`` and ``type``, edges with ``type`` and ``weight``."""
        found = await self._perform(exploring.relations(self._tenancy))
        return await self._beside(exploring.entity_graph, found)

    async def digest(self, *, as_of: Moment | None = None) -> MeasuredDigest:
        """The structure of the entity graph in numbers: counts, distributions, averages, hubs, depth (HMX-F 5)."""
        return await self._perform(digest.digest(self._tenancy, as_us(as_of)))

    def trace(self, listener: Trace) -> Callable[[], None]:
        """Tell *listener* each statement from now on: name, rows, milliseconds. Call what you get to stop."""
        return self._connection.listen(listener)

    async def health(self) -> dict[str, Any]:
        """Server version and edition, indexes that are not online, and this tenant's state."""
        return await self._perform(exploring.health(self._tenancy))
