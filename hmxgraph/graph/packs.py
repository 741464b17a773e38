"""Context packs: what a question touches is read in three statements, the rest is pure (HMX-C)."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

from hmxgraph.compiler.compilation import Model
from hmxgraph.extraction.entities import names_in
from hmxgraph.graph._conflict_rows import relation_id
from hmxgraph.graph._events import pool_rows
from hmxgraph.graph._paging import term_query
from hmxgraph.graph.guidance import MODELS_KEPT, action_name, answered_failure, guidance, guiding_actions, models_kept
from hmxgraph.graph.plan import Ahead, Plan, Procedure, Row, Statement, bind, read
from hmxgraph.graph.tenancy import Tenancy, model_key
from hmxgraph.ingest.rendition import full_text
from hmxgraph.protocol.artifacts import texts
from hmxgraph.protocol.canonical import canonical_text, sha256_hex
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.assemble import assemble
from hmxgraph.recall.candidates import State
from hmxgraph.recall.draft import Draft, Weighed, weighed
from hmxgraph.recall.knowledge import (
    NO_GUIDANCE,
    Evidence,
    Guidance,
    Happened,
    Known,
    KnownArtifact,
    KnownConflict,
    KnownEntity,
    KnownMemory,
    KnownRecord,
    KnownRelation,
    RunningSession,
)
from hmxgraph.recall.known_candidates import brief
from hmxgraph.recall.pack import Pack
from hmxgraph.recall.pool import EventPool
from hmxgraph.recall.question import LONGEST_QUESTION, PackRequest, Question, asks_for_work, understood
from hmxgraph.recall.relevance import Ranking
from hmxgraph.recall.walk import Mention, Neighbourhood
from hmxgraph.records.events import event_ids_of
from hmxgraph.records.trust import Reply, rejected, tier, verdicts
from hmxgraph.text.artifacts import Validity, render_artifact
from hmxgraph.text.terms import TokenCounter, terms

# The running session in a row of ``recall/knowledge``: what happened in it, each under the action it belongs to.

_TOOL = re.compile(r"[^\s(]+")
_ANSWERS = frozenset({"tool_result", "error"})


def happened(rows: Sequence[Sequence[Any]]) -> Iterator[Happened]:
    """What was done and what came of it, as it came; *rows* have type, text, content, call id and failed, latest first.

    A result without a call id answers the last call of its tool, an error without one the last that was done.

    >>> call = ["tool_call", "bash(ls)", '{"tool_name": "bash"}', "c1", False]
    >>> [(each.action, each.failed) for each in happened([["tool_result", "bash failed: no", "{}", None, True], call])]
    [('bash', False), ('bash', True)]

    """
    by_call: dict[str, str] = {}
    by_tool: dict[str, str] = {}
    last = ""
    for event_type, text, content, call_id, failed in reversed(rows):
        if event_type in _ANSWERS:
            tool = _tool(text)
            action = by_call.get(call_id) or (last if event_type == "error" else by_tool.get(tool, tool))
        else:
            action = last = action_name(event_type, content, text)
        if event_type == "tool_call":
            by_tool[_tool(text)] = action
            if call_id is not None:
                by_call[call_id] = action
        yield Happened(event_type, text, action, failed=failed)


def _tool(text: str) -> str:
    match = _TOOL.match(text)
    return match.group() if match else ""


# Rows of ``cypher/recall`` as what recall ranks.

# Statuses under which an artifact is looked at: what is shown, and what is named as left out (HMX-A 5).
_SEEN = frozenset({"active", "deprecated"})
_BRIEFS_KEPT = 1_024


def known(row: Row, tenant_id: str, as_of_us: int) -> Known:
    """What ``recall/knowledge`` answered, as of *as_of_us*."""
    records = [_record(values, tenant_id, as_of_us) for values in row["task_records"]]
    artifacts = [_artifact(values, as_of_us) for values in row["artifacts"]]
    return Known(
        tuple(sorted((each for each in artifacts if each.status in _SEEN), key=lambda each: each.artifact_id)),
        tuple(sorted((_memory(values, as_of_us) for values in row["memories"]), key=lambda each: each.memory_id)),
        tuple(sorted((KnownEntity(*_entity(values)) for values in row["entities"]), key=lambda each: each.entity_id)),
        tuple(sorted((_relation(values) for values in row["relations"]), key=lambda each: each.relation_id)),
        tuple(sorted((_conflict(values) for values in row["conflicts"]), key=lambda each: each.conflict_id)),
        tuple(sorted(_evidence(row["evidence"], as_of_us), key=lambda each: (each.record_id, each.event_id))),
        RunningSession(tuple(happened(row["session"])), row["session_events"]),
        tuple(sorted(records, key=lambda each: each.record_id)),
    )


def _evidence(found: Sequence[Sequence[str]], as_of_us: int) -> Iterator[Evidence]:
    records, events, texts = zip(*found, strict=True) if found else ((), (), ())
    for event_id, session_id, speaker, _, _, _, time_us, tokens, salience, _, label, record_id, text in pool_rows(
        as_of_us, events, records, texts
    ):
        yield Evidence(record_id, event_id, session_id, time_us, tokens, salience, speaker, text, label)


def _artifact(values: Row, as_of_us: int) -> KnownArtifact:
    counted = max(bisect_right(values["count_times"], as_of_us) - 1, 0)
    observed, rate = values["observed_counts"][counted], values["success_rates"][counted]
    evidence = max(values["source_events"], 1)
    conditions = _conditions(values["validity_scope"])
    told = _brief(values["artifact_type"], values["title"], values["text"], values["content"])
    return KnownArtifact(
        artifact_id=values["artifact_id"],
        artifact_type=values["artifact_type"],
        title=values["title"],
        text=f"{told}\nOnly where: {'; '.join(conditions)}" if conditions else told,
        tokens=values["token_count"],
        words=values["search_text"],
        status=values["status_values"][bisect_right(values["status_times"], as_of_us) - 1],
        confidence=values["confidence"],
        created_us=values["created_us"],
        content=parse_json(values["content"]),
        observed_count=observed if observed > 0 else evidence,
        success_rate=rate if rate >= 0 else None,
        tags=tuple(values["tags"] or ()),
        agent_id=values["agent_id"],
        validity=_validity(values),
        conditions=conditions,
        sound=_genuine(values) and _evidence_left(values),
        actions=guiding_actions(values["metadata"], values["content"]),
        failure=answered_failure(values["metadata"]),
        confirmed_us=max(values["count_times"][counted], values["created_us"]),
    )


def _genuine(values: Row) -> bool:
    """Whether content and text are those that were recorded."""
    if sha256_hex(values["content"].encode()) != values["content_hash"]:
        return False
    recorded = _text(values["artifact_type"], values["title"], values["summary"], values["content"])
    return bool(values["text"] == recorded)


@lru_cache(maxsize=_BRIEFS_KEPT)
def _text(artifact_type: str, title: str, summary: str, content: str) -> str:
    return render_artifact(artifact_type, title, summary, parse_json(content))


@lru_cache(maxsize=_BRIEFS_KEPT)
def _brief(artifact_type: str, title: str, text: str, content: str) -> str:
    return brief(artifact_type, title, text, parse_json(content))


def _conditions(scope: str | None) -> tuple[str, ...]:
    """The conditions of a validity scope (HMX-A 6): words that no rule can decide, so that the reader is told them."""
    return texts(parse_json(scope).get("conditions")) if scope else ()


def _validity(values: Row) -> Validity:
    return Validity(
        tenants=_listed(values["valid_tenants"]),
        agents=_listed(values["valid_agents"]),
        tags=_listed(values["valid_tags"]),
        from_us=values["valid_from_us"],
        to_us=values["valid_to_us"],
    )


def _listed(names: list[str] | None) -> tuple[str, ...] | None:
    return tuple(names) if names else None


def _evidence_left(values: Row) -> bool:
    """Whether some event stands behind a record, or none was ever linked to it."""
    return bool(values["alive"] or not values["linked"])


def _memory(values: Row, as_of_us: int) -> KnownMemory:
    begins, ends = values["valid_from_us"], values["valid_to_us"]
    return KnownMemory(
        memory_id=values["memory_id"],
        kind=values["kind"],
        text=values["text"] or "",
        tokens=values["token_count"] or 0,
        words=values["search_text"] or "",
        confidence=values["confidence"],
        observations=values["observation_count"] or 1,
        last_us=min(values["last_us"], as_of_us),
        method=values["extraction_method"] or "",
        hard=bool(values["hard"]),
        held=(begins is None or begins <= as_of_us) and (ends is None or as_of_us < ends),
        sound=_evidence_left(values),
        here=values["here"],
        open=values["open"],
    )


def _record(values: Row, tenant_id: str, as_of_us: int) -> KnownRecord:
    replies = [Reply(**reply) for reply in values["replies"]]
    kind, agent_id, record_id = values["artifact_kind"], values["agent_id"], values["artifact_id"]
    return KnownRecord(
        record_id=record_id,
        section=values["pack_section"],
        text=values["text"],
        words=values["search_text"],
        created_us=values["created_us"],
        session_id=values["session_id"] or f"task:{values['task_id']}",
        agent_id=agent_id,
        trust_tier=tier(kind, agent_id, replies),
        rejected=rejected(agent_id, replies),
        countersigned=sum(word.countersigns for word in verdicts(agent_id, replies)),
        held=values["hidden_us"] is None or values["hidden_us"] > as_of_us,
        told_by=frozenset(event_ids_of(tenant_id, record_id)),
    )


def _entity(values: Sequence[Any]) -> tuple[str, str, str, int, float, int]:
    key, name, entity_type, mentions, confidence, last_us = values
    return key, name, entity_type, mentions or 1, 1.0 if confidence is None else confidence, last_us or 0


def _relation(values: Sequence[Any]) -> KnownRelation:
    source, relation_type, target, source_key, target_key, weight, confidence, evidence, last_us = values
    own_id = relation_id(source_key, relation_type, target_key)
    return KnownRelation(
        own_id, source, relation_type, target, weight or 0.0, confidence or 0.0, evidence or 1, last_us or 0
    )


def _conflict(values: Row) -> KnownConflict:
    text = values["text"] or values["reason"] or ""
    return KnownConflict(
        values["conflict_id"],
        values["reason"] or "",
        text,
        values["token_count"] or 0,
        values["detected_us"],
        tuple(sorted(values["sides"])),
        tuple(_validity(scope) for scope in values["scopes"]),
    )


# Context packs: what a question touches is read in three statements, the rest is pure (HMX-C).

# Hits of the full-text search, and how many of them bring their neighbours.
_HITS = 150
_WINDOWS = 100
# An index that knows no times is asked for so many times as many hits where an earlier time is asked about.
REACH = 10
_ANCHORS = 12
# So many events whose text is long are read to the end.
LONG = 4
# An entity that more events mention ties nothing together.
COMMON = 30
_GOAL_DAYS = 90
_LATEST_DAYS = 30
# A pack is read again where the state moved meanwhile, but not without end.
_MOST_READS = 5
# The server plans a statement anew for each order of magnitude of its parameters' sizes; so they have one size each.
_NOTHING = "\0" * 64
_QUERY_LENGTH = 1_024
_NEVER = 2**62


def pack(tenancy: Tenancy, request: PackRequest, count_tokens: TokenCounter) -> Procedure[Pack]:
    """The context pack for *request*: one read transaction of at most three statements, of one version of the state.

    A transaction sees what others commit meanwhile: where the version moved, all is read anew, a few times.
    """
    made, left = None, _MOST_READS
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
        limit=_HITS,
        reach=_reach(request),
        windows=_WINDOWS,
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
        active_us=as_of_us - _GOAL_DAYS * DAY_US if knows else _NEVER,
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
        anchors=_keys(tenancy, ranking.anchors(_ANCHORS), _ANCHORS),
        long=_keys(tenancy, ranking.going_on(LONG), LONG),
        degree=COMMON,
        from_us=span.start_us if span else _NEVER,
        to_us=span.end_us if span else _NEVER,
        latest_us=state.as_of_us - _LATEST_DAYS * DAY_US if latest else _NEVER,
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
