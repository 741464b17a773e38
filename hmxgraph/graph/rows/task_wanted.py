"""What a search for task records asks: words, exact filters, mode, and the shape of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hmxgraph.errors import UnknownChoice
from hmxgraph.graph.lucene import record_query
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.tasks.facets import facet, facet_token, wanted
from hmxgraph.tasks.modes import Mode, mode_of
from hmxgraph.text.terms import terms

MOST = 500
# Filters that have an index of their own, by time, the more selective first.
_ANCHORED = {"project_id": "tasks/newest_of_project", "agent_id": "tasks/newest_of_agent"}


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of each hit is shown: whole, compact, or as many compact ones as a token budget holds."""

    compact: bool = False
    token_budget: int | None = None
    expand_event_siblings: bool = False

    def __post_init__(self) -> None:
        if self.token_budget is not None and self.token_budget < 1:
            raise UnknownChoice("token_budget", str(self.token_budget), ("1 or more",))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: *query* ranks, *facets* choose exactly, *any_facets* choose by any one of them."""

    query: str = ""
    facets: tuple[str, ...] = ()
    any_facets: tuple[str, ...] = ()
    mode: str = "generic"
    limit: int = 20
    include_hidden: bool = False
    before_us: int = 2**63 - 1
    shape: Shape = field(default_factory=Shape)

    @property
    def preferences(self) -> Mode:
        """What the mode lifts."""
        return mode_of(self.mode)

    def question(self, tenancy: Tenancy) -> str:
        """The search as a question to the full-text index."""
        preferred = self.preferences.preferred if self.query else ()
        groups = (self.facets, self.alternatives, preferred)
        return record_query(tenancy.scope, terms(self.query), *(map(facet_token, group) for group in groups))

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The facets of which a record must carry one: those asked for, else what the mode prefers without words."""
        return self.any_facets or (() if self.query else self.preferences.preferred)

    def anchored(self) -> tuple[str, str | None]:
        """The statement whose index bounds the search best, and the value that it is anchored at."""
        for name, statement in _ANCHORED.items():
            start = facet(name, "")
            if found := next((one for one in self.facets if one.startswith(start)), None):
                return statement, found.removeprefix(start)
        return "tasks/newest", None


def search_of(
    query: str,
    filters: Mapping[str, object],
    *,
    mode: str = "generic",
    limit: int = 20,
    include_hidden: bool = False,
    shape: Shape | None = None,
) -> Wanted:
    """The search that these arguments describe.

    Raises:
        UnknownChoice: an unknown filter or mode, a limit outside 1..500, a token budget below 1.

    """
    mode_of(mode)
    checked_limit(limit)
    chosen = shape or Shape()
    return Wanted(query, wanted(filters), (), mode, limit, include_hidden, shape=chosen)


def checked_limit(limit: int) -> None:
    """Refuse a number of hits that no search gives.

    Raises:
        UnknownChoice: below 1 or above 500.

    """
    if not 1 <= limit <= MOST:
        raise UnknownChoice("limit", str(limit), (f"1 to {MOST}",))
