"""Asynchronous twin of ``knowledge.plain.shared_work``."""

from collections.abc import Mapping
from typing import Any, Unpack

from hmxgraph.api._base import Moment, RecordSearch, drafted, made_up, searched
from hmxgraph.api.awaitable.face import AsyncFace
from hmxgraph.graph import record_search, records
from hmxgraph.graph.connection import AsyncConnection
from hmxgraph.graph.plan import Procedure
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.record_results import SearchResult, Written


class AsyncSharedWork(AsyncFace):
    """The records of a tenant: a task is told by records, and records are about tasks."""

    def __init__(self, tenancy: Tenancy, connection: AsyncConnection) -> None:
        self._tenancy = tenancy
        self._opened: AsyncConnection | None = connection

    def _recording(self, kind: str, at: Moment | None, given: Mapping[str, Any]) -> Procedure[Written]:
        """How the record of *kind* that *given* describes is stored; what is left open is filled in here."""
        return records.write_fields(self._tenancy, drafted(kind, at, given), made_up(kind, at, given))

    async def search(
        self,
        query: str = "",
        *,
        mode: str = "generic",
        limit: int = 20,
        include_hidden: bool = False,
        **wanted: Unpack[RecordSearch],
    ) -> SearchResult:
        """Task records that all exact filters hold for, best match of *query* first (newest first without words).

        ``compact`` leaves ids, trust and a short text; ``token_budget`` as many compact hits as it holds;
        ``expand_event_siblings`` adds what carries the same ``event:`` tag. Superseded and
        retired records come only with *include_hidden*, with their ``hidden_reason``.

        Raises:
            UnknownChoice: an unknown filter or mode.

        """
        asked = searched(query, wanted, mode=mode, limit=limit, include_hidden=include_hidden)
        return await self._perform(record_search.search(self._tenancy, asked))
