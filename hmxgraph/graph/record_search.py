"""Search for task records (defined by the memd specification): indexes resolve exact filters, then matches are ranked.

A facet is a filter's name and value as one text, such as ``task_id=t1``.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from hmxgraph.errors import InvalidRequest
from hmxgraph.graph._paging import record_query
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, read
from hmxgraph.graph.records import facet_key, views
from hmxgraph.protocol.canonical import canonical_text, indexable
from hmxgraph.protocol.parsing import checked_integer, checked_list, checked_text
from hmxgraph.protocol.record_results import Hit, ProjectScope, RecordView, SearchResult
from hmxgraph.recall.question import LONGEST_QUESTION
from hmxgraph.records.digests import Mode, mode_of, mode_score
from hmxgraph.records.search import (
    ConversationTags,
    best_projection,
    facet,
    facet_token,
    name_of,
    required_facets,
)
from hmxgraph.text.terms import TokenCounter, counter, terms

# A search for task records: words, exact filters, mode, and the shape of the answer.

# Maximum number of hits that a search may ask for.
MOST_HITS = 500
# The word that superseded and retired records have in the full-text index.
_HIDDEN = "hidden"
# Filters, the most selective first: a search starts with the first of its filters in this order.
_BY_SELECTIVITY = (
    "reply_to_artifact_id",
    "task_id",
    "thread_id",
    "session_id",
    "entity_name",
    "challenge_id",
    "dataset_name",
    "agent_id",
    "tool_name",
    "project_id",
    "dataset_version",
    "artifact_kind",
    "artifact_role",
    "status",
    "requested_action",
    "verification_status",
    "relation_kind",
    "entity_type",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of the hits: whole, compact, or as many compact ones as fit a token budget.

    ``expand_event_siblings`` adds to each hit up to eight others from the same event.

    Raises:
        InvalidRequest: the token budget is below 1, or not a whole number.

    """

    compact: bool = False
    token_budget: int | None = None
    expand_event_siblings: bool = False

    def __post_init__(self) -> None:
        if self.token_budget is not None:
            checked_integer("token_budget", self.token_budget, "a number of tokens", 1)


class _Anchor(NamedTuple):
    """The facet from which a newest-first search starts (None: all records); whether it alone answers the search."""

    facet: str | None
    suffices: bool


@dataclass(frozen=True, slots=True)
class SearchCriteria:
    """A search: *query* ranks the hits, which must have all *facets* and one of *any_facets*, if any."""

    query: str = ""
    facets: tuple[str, ...] = ()
    any_facets: tuple[str, ...] = ()
    mode: str = "generic"
    limit: int = 20
    include_hidden: bool = False
    shape: Shape = field(default_factory=Shape)

    @property
    def preferences(self) -> Mode:
        """The preferences of the search mode."""
        return mode_of(self.mode)

    def fulltext_query(self, tenancy: Tenancy) -> str:
        """The search as a full-text query."""
        preferred = self.preferences.preferred if self.query.strip() else ()
        groups = (self.facets, self.alternatives, preferred)
        required_tokens, alternative_tokens, preferred_tokens = (map(facet_token, group) for group in groups)
        hidden = () if self.include_hidden else (_HIDDEN,)
        return record_query(
            tenancy.scope, terms(self.query), required_tokens, alternative_tokens, preferred_tokens, hidden
        )

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The facets of which a record must have one: those requested; else, in a search without words, the mode's."""
        return self.any_facets or (() if self.query.strip() else self.preferences.preferred)

    @property
    def anchor(self) -> _Anchor:
        """The most selective facet, from which the search starts."""
        selective = sorted(self.facets, key=_selectivity)
        return _Anchor(selective[0] if selective else None, len(selective) <= 1 and not self.alternatives)


def _selectivity(text: str) -> int:
    return _BY_SELECTIVITY.index(name_of(text))


def search_of(
    query: str,
    filters: Mapping[str, object],
    *,
    mode: str = "generic",
    limit: int = 20,
    include_hidden: bool = False,
    shape: Shape | None = None,
) -> SearchCriteria:
    """The search that these arguments describe.

    Raises:
        UnknownChoice: an unknown filter or mode.
        InvalidRequest: *limit* is outside 1..500, or the query or a filter is not text.

    """
    question = checked_text("query", query, 'ask in words, such as "leak"')[:LONGEST_QUESTION]
    mode_of(mode)
    checked_limit(limit)
    return SearchCriteria(question, required_facets(filters), (), mode, limit, include_hidden, shape=shape or Shape())


def checked_limit(limit: int) -> None:
    """Refuse a limit outside 1..500.

    Raises:
        InvalidRequest: below 1, above 500, or not a whole number.

    """
    checked_integer("limit", limit, "a number of hits", 1, MOST_HITS)


# Search results in the requested shape: compact hits, as many as fit a token budget.


class _Shapeable(Protocol):
    """A hit that can be written in full and in short form."""

    def document(self) -> Mapping[str, Any]:
        """The hit as a JSON-able dict."""
        ...

    def compacted(self) -> Self:
        """The same hit, shorter; ids, trust and visibility stay."""
        ...


H = TypeVar("H", bound=_Shapeable)


class _BudgetUse(NamedTuple):
    """The number of hits left out, and the tokens of those returned (None: not counted)."""

    omitted: int = 0
    token_estimate: int | None = None


def shaped(hits: Sequence[H], shape: Shape) -> tuple[tuple[H, ...], _BudgetUse]:
    """*hits* in the requested *shape*, in rank order until the next one would exceed the budget."""
    if not shape.compact and shape.token_budget is None:
        return tuple(hits), _BudgetUse()
    short = tuple(hit.compacted() for hit in hits)
    if shape.token_budget is None:
        return short, _BudgetUse()
    fitting = tuple(_within(short, shape.token_budget, counter()))
    return fitting, _BudgetUse(len(short) - len(fitting), sum(cost(hit, counter()) for hit in fitting))


def cost(hit: _Shapeable, count_tokens: TokenCounter) -> int:
    """Number of tokens of a hit as JSON."""
    return count_tokens(canonical_text(hit.document()))


def _within(hits: Sequence[H], budget: int, count_tokens: TokenCounter) -> Iterator[H]:
    remaining = budget
    for hit in hits:
        remaining -= cost(hit, count_tokens)
        if remaining < 0:
            return
        yield hit


# The search itself: exact filters first, by index, then ranking, then the shape of the answer.

# Candidates per requested hit.
POOL = 3
# Minimum number of candidates.
LEAST_POOL = 60
# Number of newest records checked before the full-text index is queried.
RECENT = 300
# Maximum number of hits requested from the full-text index.
MOST_FULLTEXT_HITS = 3_000
_NO_LIMIT = 2**31 - 1
# Maximum number of siblings of a hit.
SIBLINGS = 8


def search(tenancy: Tenancy, criteria: SearchCriteria, scopes: Sequence[ProjectScope] = ()) -> Procedure[SearchResult]:
    """The records that *criteria* describes, best first; newest first if it has no words.

    With *scopes*, the records of all these projects are searched, ranked together and labelled with their scope.
    """
    return (
        yield from read(lambda: _search_scopes(tenancy, criteria, scopes) if scopes else _search(tenancy, criteria))
    )


def hits_of(tenancy: Tenancy, criteria: SearchCriteria) -> Plan[tuple[Hit, ...]]:
    """The hits of a search, before shaping."""
    rows = yield from _candidates(tenancy, criteria)
    return (yield from _hits(tenancy, criteria, _scored(criteria, rows, _best_score(rows))))


def _hits(tenancy: Tenancy, criteria: SearchCriteria, scores: dict[str, float]) -> Plan[tuple[Hit, ...]]:
    record_views = yield from views(tenancy, list(scores))
    return tuple(_hit(criteria.query, view, scores[tenancy.node_key(view.artifact_id)]) for view in record_views)


def keys_of(tenancy: Tenancy, criteria: SearchCriteria) -> Plan[list[str]]:
    """The keys of the newest records that pass the filters, newest first; words are ignored.

    A search with at most one filter and no alternatives is answered by one index alone. Otherwise, the newest records
    of the most selective filter (of the tenant, if there is none) are checked first. If too few of them match, the
    full-text index intersects the filters. If its hits reach their limit, all records of the most selective filter are
    checked.
    """
    anchor = criteria.anchor
    rows = yield from _window(tenancy, criteria, anchor, _NO_LIMIT if anchor.suffices else RECENT)
    if anchor.suffices or len(rows) >= criteria.limit:
        return [row["key"] for row in rows]
    rows = yield bind(
        "tasks/matching",
        tenant_id=tenancy.tenant_id,
        question=criteria.fulltext_query(tenancy),
        batch=_facets(criteria),
        include_hidden=criteria.include_hidden,
        window_limit=MOST_FULLTEXT_HITS,
        limit=criteria.limit,
    )
    if rows and rows[0]["total"] >= MOST_FULLTEXT_HITS:
        rows = yield from _window(tenancy, criteria, anchor, _NO_LIMIT)
    return [row["key"] for row in rows]


def _search(tenancy: Tenancy, criteria: SearchCriteria) -> Plan[SearchResult]:
    hits = yield from hits_of(tenancy, criteria)
    if criteria.shape.expand_event_siblings:
        hits = yield from _with_siblings(tenancy, hits)
    shaped_hits, budget_use = shaped(hits, criteria.shape)
    return SearchResult(shaped_hits, criteria.mode, *budget_use)


def _candidates(tenancy: Tenancy, criteria: SearchCriteria) -> Plan[list[Row]]:
    """The best-matching records with key and text score; for a search without words, the keys of the newest records."""
    if not criteria.query.strip():
        keys = yield from keys_of(tenancy, criteria)
        return [{"key": key} for key in keys]
    rows = yield bind(
        "tasks/search",
        tenant_id=tenancy.tenant_id,
        question=criteria.fulltext_query(tenancy),
        batch=_facets(criteria),
        include_hidden=criteria.include_hidden,
        limit=max(LEAST_POOL, POOL * criteria.limit),
    )
    return rows


def _best_score(rows: Sequence[Row]) -> float:
    return max((row["score"] for row in rows if "score" in row), default=1.0) or 1.0


def _scored(criteria: SearchCriteria, rows: Sequence[Row], best: float) -> dict[str, float]:
    """The scores of the best *rows* by key, best first: text score as a share of *best*, raised by the preferences.

    If the search has no words, all rows keep their order and have the score 1.
    """
    if not criteria.query.strip():
        return {row["key"]: 1.0 for row in rows}
    scored = [(mode_score(criteria.preferences, row["score"] / best, _mode_facets(row)), row) for row in rows]
    scored.sort(key=lambda pair: (-pair[0], -pair[1]["created_us"], pair[1]["key"]))
    return {row["key"]: score for score, row in scored[: criteria.limit]}


def _window(tenancy: Tenancy, criteria: SearchCriteria, anchor: _Anchor, window: int) -> Plan[list[Row]]:
    parameters = {
        "tenant_id": tenancy.tenant_id,
        "batch": _facets(criteria),
        "include_hidden": criteria.include_hidden,
        "window_limit": window,
        "limit": criteria.limit,
    }
    if anchor.facet is None:
        return (yield bind("tasks/newest", **parameters))
    return (yield bind("tasks/newest_with_facet", facet_key=facet_key(tenancy, anchor.facet), **parameters))


def _facets(criteria: SearchCriteria) -> Row:
    return {"facets": list(criteria.facets), "any_facets": list(criteria.alternatives)}


def _mode_facets(row: Row) -> list[str]:
    """The facets of a candidate that a search mode may prefer."""
    role = row["artifact_role"]
    return [
        facet("artifact_kind", row["artifact_kind"]),
        *([facet("artifact_role", role)] if role else []),
        *(facet("projection", kind) for kind in row["projection_kinds"]),
    ]


def _hit(query: str, view: RecordView, score: float) -> Hit:
    parts = view.projections
    matched = best_projection(query, parts)
    return Hit(view, score, matched.kind, matched.text)


def _with_siblings(tenancy: Tenancy, hits: Sequence[Hit]) -> Plan[tuple[Hit, ...]]:
    tagged = {hit.artifact_id: tag for hit in hits if (tag := _event_tag(hit))}
    tagged_projects = sorted({(tagged[hit.artifact_id], _project(hit)) for hit in hits if hit.artifact_id in tagged})
    rows = yield bind(
        "tasks/siblings",
        tenant_id=tenancy.tenant_id,
        batch={
            "tags": [
                _sibling_question(tenancy, *tagged_project, place)
                for place, tagged_project in enumerate(tagged_projects)
            ]
        },
        window_limit=MOST_FULLTEXT_HITS,
        limit=SIBLINGS + 1,
    )
    siblings_of_tag = {tagged_projects[row["place"]]: row["siblings"] for row in rows}
    return tuple(
        _expanded(hit, siblings_of_tag.get((tagged.get(hit.artifact_id, ""), _project(hit)), [])) for hit in hits
    )


def _sibling_question(tenancy: Tenancy, tag: str, project: str, place: int) -> Row:
    facets = [facet("tag", tag), *([facet("project_id", project)] if project else [])]
    question = record_query(tenancy.scope, [], map(facet_token, facets), without=[_HIDDEN])
    return {"place": place, "tag": tag, "project_id": indexable(project), "question": question}


def _event_tag(hit: Hit) -> str | None:
    event_id = ConversationTags.read(hit.view.record.tags or ()).event_id
    return None if event_id is None else f"event:{event_id}"


def _project(hit: Hit) -> str:
    return hit.view.record.project_id or ""


def _expanded(hit: Hit, siblings: Sequence[Row]) -> Hit:
    other_siblings = tuple(sibling for sibling in siblings if sibling["artifact_id"] != hit.artifact_id)[:SIBLINGS]
    return Hit(hit.view, hit.score, hit.matched_kind, hit.matched_text, other_siblings)


# A search in a project and in the scopes that held its records before (memd: compatibility aliases).

MOST_ALIASES = 16


def project_scopes(
    tenancy: Tenancy, project_id: str | None, aliases: object, *, own_database: bool = False
) -> tuple[ProjectScope, ...]:
    """The scope of *project_id* in this tenant, then those of its *aliases*, each once; none without aliases.

    An alias is a project of this tenant, or a pair of tenant and project.

    Raises:
        InvalidRequest: an alias is neither of these, there are more than 16, the project is missing, or the
            tenant has its *own_database* and an alias names another tenant.
        InvalidTenant: an alias names an invalid tenant.

    >>> [scope.tenant_id for scope in project_scopes(Tenancy.of("a"), "parser", ["parser-1", ("b", "parser")])]
    ['a', 'a', 'b']
    """
    alias_list = checked_list("aliases", aliases)
    if not alias_list:
        return ()
    if not project_id:
        raise InvalidRequest("project_id", "(missing)", "the current project of these aliases", "pass project_id")
    if len(alias_list) > MOST_ALIASES:
        raise InvalidRequest(
            "aliases", f"{len(alias_list)} aliases", f"at most {MOST_ALIASES}", "search in several calls"
        )
    own_scope = ProjectScope(tenancy.tenant_id, project_id)
    scopes = tuple(dict.fromkeys([own_scope, *(_alias(tenancy, each) for each in alias_list)]))
    if own_database and any(scope.tenant_id != tenancy.tenant_id for scope in scopes):
        raise InvalidRequest("aliases", "another tenant", "a project of this tenant", "connect to that tenant instead")
    return scopes


def _alias(tenancy: Tenancy, alias: object) -> ProjectScope:
    tenant_id, project_id = alias if isinstance(alias, tuple | list) and len(alias) == 2 else (tenancy.tenant_id, alias)
    return ProjectScope(Tenancy.of(tenant_id).tenant_id, checked_text("aliases", project_id, "write (tenant, project)"))


def _search_scopes(tenancy: Tenancy, criteria: SearchCriteria, scopes: Sequence[ProjectScope]) -> Plan[SearchResult]:
    requests = [
        (Tenancy.of(scope.tenant_id, tenancy.trust), _in_project(criteria, scope.project_id)) for scope in scopes
    ]
    candidates = []
    for scope_tenancy, request in requests:
        candidates.append((yield from _candidates(scope_tenancy, request)))
    best = _best_score([row for rows in candidates for row in rows])
    hits: list[Hit] = []
    for scope, (scope_tenancy, request), rows in zip(scopes, requests, candidates, strict=True):
        scope_hits = yield from _hits(scope_tenancy, request, _scored(request, rows, best))
        if criteria.shape.expand_event_siblings:
            scope_hits = yield from _with_siblings(scope_tenancy, scope_hits)
        hits += [replace(hit, origin=scope) for hit in scope_hits]
    shaped_hits, budget_use = shaped(sorted(hits, key=_rank_key)[: criteria.limit], criteria.shape)
    counts = Counter(hit.origin for hit in shaped_hits)
    return SearchResult(
        shaped_hits, criteria.mode, *budget_use, scope_expansion=tuple((scope, counts[scope]) for scope in scopes)
    )


def _in_project(criteria: SearchCriteria, project_id: str) -> SearchCriteria:
    facets = [text for text in criteria.facets if name_of(text) != "project_id"]
    return replace(criteria, facets=tuple(sorted([*facets, facet("project_id", project_id)])))


def _rank_key(hit: Hit) -> tuple[float, int, str]:
    """Best first, then newest."""
    return -hit.score, -hit.view.record.created_us, hit.artifact_id
