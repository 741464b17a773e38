"""What ``graph.tasks`` and ``graph.records`` have in common: one store of records, and one search over it."""

from collections.abc import Mapping
from typing import Any, Unpack

from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Procedure
from hmxgraph.graph.plans.tasks import records, search
from hmxgraph.graph.rows.tasks.results import SearchResult, Written
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.knowledge.drafting import RecordSearch, drafted, made_up, searched
from hmxgraph.knowledge.moments import Moment
from hmxgraph.knowledge.plain.face import Face


class SharedWork(Face):
    """The records of a tenant: a task is told by records, and records are about tasks."""

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def _recording(self, kind: str, at: Moment | None, given: Mapping[str, Any]) -> Procedure[Written]:
        """How the record of *kind* that *given* describes is stored; what is left open is filled in here."""
        return records.write_fields(self._tenancy, drafted(kind, at, given), made_up(kind, at, given))

    def search(
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
        return self._perform(search.search(self._tenancy, asked))
