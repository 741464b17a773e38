"""Context packs: what a question touches is read in three statements, the rest is pure (HMX-C)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from hmxgraph.compiler.model import Model
from hmxgraph.extraction import names_in
from hmxgraph.graph.lucene import term_query
from hmxgraph.graph.plan import Ahead, Plan, Procedure, Row, read
from hmxgraph.graph.rows.compilation import model_key
from hmxgraph.graph.rows.packs.guidance import MODELS_KEPT, guidance, models_kept
from hmxgraph.graph.rows.packs.known import known
from hmxgraph.graph.rows.recall_rows import pool_rows
from hmxgraph.graph.statement import Statement, bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.ingest.rendition import full_text
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.asking.question import LONGEST_QUESTION, Question, asks_for_work, understood
from hmxgraph.recall.asking.request import PackRequest
from hmxgraph.recall.known.guidance import NO_GUIDANCE, Guidance
from hmxgraph.recall.known.weighed import Weighed, weighed
from hmxgraph.recall.packing.assemble import assemble
from hmxgraph.recall.packing.draft import Draft
from hmxgraph.recall.ranking.pool import EventPool
from hmxgraph.recall.ranking.relevance import Ranking
from hmxgraph.recall.ranking.walk import Mention, Neighbourhood
from hmxgraph.recall.rendering.pack import Pack
from hmxgraph.recall.state import State
from hmxgraph.text.terms import terms
from hmxgraph.text.tokens import TokenCounter

# Hits of the full-text search, and how many of them bring their neighbours.
HITS = 150
WINDOWS = 100
# An index that knows no times is asked for so many times as many hits where an earlier time is asked about.
REACH = 10
ANCHORS = 12
# So many events whose text is long are read to the end.
LONG = 4
# An entity that more events mention ties nothing together.
COMMON = 30
GOAL_DAYS = 90
LATEST_DAYS = 30
# A pack is read again where the state moved meanwhile, but not without end.
MOST_READS = 5
# The server plans a statement anew for each order of magnitude of its parameters' sizes; so they have one size each.
_NOTHING = "\0" * 64
_QUERY_LENGTH = 1_024
_NEVER = 2**62


def pack(tenancy: Tenancy, request: PackRequest, count_tokens: TokenCounter) -> Procedure[Pack]:
    """The context pack for *request*: one read transaction of at most three statements, of one version of the state.

    A transaction sees what others commit meanwhile: where the version moved, all is read anew, a few times.
    """
    made, left = None, MOST_READS
    while made is None:
        left -= 1
        made = yield from read(partial(_pack, tenancy, request, count_tokens, settled=left > 0))
    return made


def _pack(tenancy: Tenancy, request: PackRequest, count_tokens: TokenCounter, *, settled: bool) -> Plan[Pack | None]:
    """The pack; none where it has to be *settled* and the state moved while it was read."""
    asked = tuple(dict.fromkeys(terms(request.query[:LONGEST_QUESTION])))
    names = tuple(mention.name for mention in names_in(request.query[:LONGEST_QUESTION]))
    kept = models_kept()
    rows = yield bind(
        "recall/events",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        as_of_us=request.as_of_us,
        query=term_query(tenancy.scope, asked, {term for name in names for term in terms(name)}).ljust(_QUERY_LENGTH),
        limit=HITS,
        reach=_reach(request),
        windows=WINDOWS,
        works=set(request.sections) != {"episodes"} and asks_for_work(request.query[:LONGEST_QUESTION]),
        model_key=model_key(tenancy),
        models=_filled(sorted(kept), MODELS_KEPT),
        session_key=_session_key(tenancy, request),
        guided=request.strategy == "fingerprint_guided" and request.priors is None,
    )
    first = _First(tenancy, _guided(request, rows), names, rows[0] if rows else None, kept)
    knowledge = _knowledge(first, asked)
    yield Ahead(knowledge)
    # Here the events are ranked, some milliseconds, in which the server works too; and in the same way below.
    surroundings = _surroundings(first, asked)
    [told] = yield knowledge
    yield Ahead(surroundings)
    touched = first.weighed(told, count_tokens)
    [around] = yield surroundings
    unsettled = around["state_version"] != first.state.state_version
    if unsettled and settled:
        # Full-text indexes follow a commit by some milliseconds. Asked once more, the next reading begins after those.
        yield surroundings
        return None
    truncated = first.state.truncated or told["cut_off"] or around["cut_off"]
    state = replace(first.state, truncated=truncated, unsettled=unsettled)
    return assemble(first.draft(state, around, touched))


def _guided(request: PackRequest, rows: list[Row]) -> PackRequest:
    """*request* with the priors of the imported fingerprint in force, where it is guided by one and brings none."""
    priors = rows[0]["priors"] if rows else None
    return request if priors is None else replace(request, priors=parse_json(priors))


@dataclass(frozen=True)
class _First:
    """What the first statement answered: None where the tenant has nothing yet."""

    tenancy: Tenancy
    request: PackRequest
    names: tuple[str, ...]
    row: Row | None
    kept: Mapping[str, Model]

    @cached_property
    def state(self) -> State:
        row = self.row or {"state_version": 0, "as_of_us": None, "event_count": 0, "cut_off": False}
        as_of_us = row["as_of_us"] if row["as_of_us"] is not None else self.request.as_of_us or 0
        return State(self.tenancy.tenant_id, row["state_version"], as_of_us, row["event_count"], row["cut_off"])

    @cached_property
    def question(self) -> Question:
        return understood(self.request.query, self.state.as_of_us, self.names)

    @cached_property
    def events(self) -> list[list[Any]]:
        return _events(self.row, self.state.as_of_us) if self.row else []

    @cached_property
    def centres(self) -> frozenset[str]:
        """The hits whose neighbours are all there: known of none where some were erased, expired or came later."""
        if self.row is None or len(self.events) < len(self.row["events"]):
            return frozenset()
        return frozenset(self.row["centres"])

    @cached_property
    def by_words(self) -> Ranking:
        return Ranking(self.question, EventPool.of(self.events, centres=self.centres), self.state.event_count)

    def ranking(self, more: list[list[Any]]) -> Ranking:
        met = self.by_words.pool.index
        if all(row[0] in met for row in more):
            return self.by_words
        pool = EventPool.of(self.events, more, centres=self.centres)
        return Ranking(self.question, pool, self.state.event_count)

    @cached_property
    def guidance(self) -> Guidance:
        """The procedure to follow and the actions worth expecting, as the compiler's model foresees them."""
        return guidance(self.request.query[:LONGEST_QUESTION], self.row, self.kept) if self.row else NO_GUIDANCE

    def weighed(self, row: Row, count_tokens: TokenCounter) -> Weighed:
        touched = known(row, self.tenancy.tenant_id, self.state.as_of_us)
        return weighed(self.request, self.state, self.by_words, touched, count_tokens, self.guidance)

    def draft(self, state: State, row: Row, touched: Weighed) -> Draft:
        mentions = tuple(sorted(Mention(*values) for values in row["mentions"]))
        around = Neighbourhood(mentions, self.state.event_count)
        ranking = self.ranking(_events(row, self.state.as_of_us))
        whole = {event_id: full_text(kind, parse_json(content)) for event_id, kind, content in row["contents"]}
        return Draft(self.request, state, ranking, around, touched, whole)


def _events(row: Row, as_of_us: int) -> list[list[Any]]:
    return pool_rows(as_of_us, row["events"], row["texts"])


def _knowledge(first: _First, asked: tuple[str, ...]) -> Statement:
    tenancy, request, as_of_us = first.tenancy, first.request, first.state.as_of_us
    knows = set(request.sections) != {"episodes"}
    return bind(
        "recall/knowledge",
        tenant_id=tenancy.tenant_id,
        as_of_us=as_of_us,
        reach=_reach(request),
        earlier=request.as_of_us is not None,
        active_us=as_of_us - GOAL_DAYS * DAY_US if knows else _NEVER,
        session_key=_session_key(tenancy, request),
        chosen=_keys(tenancy, filter(None, [first.guidance.lead]), 1),
        failure=f'"failure_key":{canonical_text(failure)}' if (failure := first.guidance.failure) else "",
        words=term_query(tenancy.scope, asked if knows else ()).ljust(_QUERY_LENGTH),
    )


def _surroundings(first: _First, asked: tuple[str, ...]) -> Statement:
    tenancy, request, state = first.tenancy, first.request, first.state
    ranking = first.by_words
    span = ranking.question.span
    latest = not asked or request.strategy == "recency_biased" or ranking.question.latest
    return bind(
        "recall/surroundings",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        as_of_us=state.as_of_us,
        anchors=_keys(tenancy, ranking.anchors(ANCHORS), ANCHORS),
        long=_keys(tenancy, ranking.going_on(LONG), LONG),
        degree=COMMON,
        from_us=span.start_us if span else _NEVER,
        to_us=span.end_us if span else _NEVER,
        latest_us=state.as_of_us - LATEST_DAYS * DAY_US if latest else _NEVER,
        session_key=_session_key(tenancy, request),
    )


def _reach(request: PackRequest) -> int:
    return 1 if request.as_of_us is None else REACH


def _keys(tenancy: Tenancy, ids: Iterable[str], size: int) -> list[str]:
    return _filled([tenancy.node_key(one) for one in ids], size)


def _filled(keys: list[str], size: int) -> list[str]:
    """*keys* and after them keys of nothing, *size* in all."""
    return keys + [_NOTHING] * (size - len(keys))


def _session_key(tenancy: Tenancy, request: PackRequest) -> str:
    return tenancy.node_key(request.session_id) if request.session_id else _NOTHING
