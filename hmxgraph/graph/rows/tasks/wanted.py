"""What a search for task records asks: words, exact filters, mode, and the shape of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hmxgraph.graph.lucene import record_query
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import indexable
from hmxgraph.tasks.facets import facet_token, filters_in, first_of, wanted
from hmxgraph.tasks.modes import Mode, mode_of
from hmxgraph.text.asked import checked_text, checked_whole
from hmxgraph.text.terms import terms

MOST = 500
# The word that a record gets in the full-text index once it is superseded or retired.
HIDDEN = "hidden"
# Each exact filter has an index of its own, by time; the more selective first.
_ANCHORED = {
    "reply_to_artifact_id": "tasks/newest_of/reply_to_artifact_id",
    "task_id": "tasks/newest_of/task_id",
    "thread_id": "tasks/newest_of/thread_id",
    "session_id": "tasks/newest_of/session_id",
    "entity_name": "tasks/newest_of/entity_name",
    "challenge_id": "tasks/newest_of/challenge_id",
    "dataset_name": "tasks/newest_of/dataset_name",
    "agent_id": "tasks/newest_of/agent_id",
    "tool_name": "tasks/newest_of/tool_name",
    "project_id": "tasks/newest_of/project_id",
    "dataset_version": "tasks/newest_of/dataset_version",
    "artifact_kind": "tasks/newest_of/artifact_kind",
    "artifact_role": "tasks/newest_of/artifact_role",
    "status": "tasks/newest_of/status",
    "requested_action": "tasks/newest_of/requested_action",
    "verification_status": "tasks/newest_of/verification_status",
    "relation_kind": "tasks/newest_of/relation_kind",
    "entity_type": "tasks/newest_of/entity_type",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of each hit is shown: whole, compact, or as many compact ones as a token budget holds."""

    compact: bool = False
    token_budget: int | None = None
    expand_event_siblings: bool = False

    def __post_init__(self) -> None:
        if self.token_budget is not None:
            checked_whole("token_budget", self.token_budget, "number of tokens", 1)


class Anchor(NamedTuple):
    """Where a search for the newest begins: a statement, its value, and whether its index alone answers the search."""

    statement: str
    value: str | None
    alone: bool


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
        chosen, either, lifted = (map(facet_token, group) for group in (self.facets, self.alternatives, preferred))
        hidden = () if self.include_hidden else (HIDDEN,)
        return record_query(tenancy.scope, terms(self.query), chosen, either, lifted, hidden)

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The facets of which a record must carry one: those asked for, else what the mode prefers without words."""
        return self.any_facets or (() if self.query else self.preferences.preferred)

    def anchored(self) -> Anchor:
        """The statement whose index bounds the search best, and the value that it is anchored at."""
        said = dict(map(first_of, self.facets))
        alone = not self.alternatives and sum(map(filters_in, self.facets)) <= 1
        for name, statement in _ANCHORED.items():
            if name in said:
                return Anchor(statement, indexable(said[name]), alone)
        return Anchor("tasks/newest", None, alone and not said)


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
        UnknownChoice: an unknown filter or mode.
        InvalidRequest: a limit outside 1..500, a token budget below 1, or words or a filter that are no text.

    """
    checked_text("query", query, 'ask in words, such as "leak"')
    mode_of(mode)
    checked_limit(limit)
    chosen = shape or Shape()
    return Wanted(query, wanted(filters), (), mode, limit, include_hidden, shape=chosen)


def checked_limit(limit: int) -> None:
    """Refuse a number of hits that no search gives.

    Raises:
        InvalidRequest: below 1, above 500, or no whole number.

    """
    checked_whole("limit", limit, "number of hits", 1, MOST)
