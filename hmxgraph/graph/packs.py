"""Context packs: three read statements, a fourth for vectors, and pure rules between and after them.

HMX-C is the part of the HMX-1.0 standard about packs, HMX-A the part about artifacts.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.compilation import Model
from hmxgraph.extraction.entities import names_in
from hmxgraph.extraction.extract import WITHDRAWING
from hmxgraph.graph import embeddings, memories
from hmxgraph.graph._conflict_rows import conflict_place, relation_id
from hmxgraph.graph._events import pool_rows
from hmxgraph.graph._paging import MOST_TERMS, NAME_WEIGHT, each_term, knowledge_query, term_query
from hmxgraph.graph.guidance import MODELS_KEPT, action_names, answered_failures, guidance, guiding_actions, models_kept
from hmxgraph.graph.plan import Ahead, Plan, Procedure, Row, Statement, Tenancy, bind, model_key, read, shown_mask_key
from hmxgraph.ingest.rendition import full_text
from hmxgraph.protocol.artifacts import texts
from hmxgraph.protocol.canonical import canonical_text, sha256_hex
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.protocol.trust import TrustPolicy
from hmxgraph.recall._endings import Turn, is_carried_out
from hmxgraph.recall._parts import ranked_by_parts
from hmxgraph.recall._users import relevant_to_asker, with_own_names
from hmxgraph.recall.appraised import Appraised, appraised, with_relations
from hmxgraph.recall.assemble import assemble
from hmxgraph.recall.briefs import brief
from hmxgraph.recall.candidates import State
from hmxgraph.recall.draft import Draft
from hmxgraph.recall.event_candidates import LONGEST_EPISODE
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
    Related,
    RelatedEntity,
    RunningSession,
)
from hmxgraph.recall.pack import Pack
from hmxgraph.recall.pool import EventPool
from hmxgraph.recall.question import (
    LONGEST_QUESTION,
    PackRequest,
    Question,
    asks_for_work,
    diet_terms,
    speaks_of_trouble,
    understood,
)
from hmxgraph.recall.relations import Vicinity, without_unconfirmed
from hmxgraph.recall.relevance import Ranking
from hmxgraph.recall.walk import Mention, Neighbourhood
from hmxgraph.records.events import event_ids_of
from hmxgraph.records.trust import Reply, rejecting_agents, tier, verdicts
from hmxgraph.text.artifacts import Validity, render_artifact
from hmxgraph.text.terms import TokenCounter, search_text, terms

# The running session in a row of ``recall/knowledge``: its events, each assigned to an action.

# The tool at the start of an event's text: ``bash`` in ``bash(ls)`` and in ``bash failed: no``.
_TOOL = re.compile(r"[^\s(]+")
_ANSWERS = frozenset({"tool_result", "error"})


def session_actions(rows: Sequence[Sequence[Any]]) -> Iterator[Happened]:
    """Yield each event with its action, oldest first; *rows* are (type, text, content, call id, failed), latest first.

    A result or error with a known call id belongs to that call. Otherwise a result belongs to the last call of its
    tool, if any, and an error to the last action.

    >>> call = ["tool_call", "bash(ls)", '{"tool_name": "bash"}', "c1", False]
    >>> result = ["tool_result", "bash failed: no", "{}", None, True]
    >>> [(each.action, each.failed) for each in session_actions([result, call])]
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
            action = last = action_names(event_type, content, text)[-1]
        if event_type == "tool_call":
            by_tool[_tool(text)] = action
            if call_id is not None:
                by_call[call_id] = action
        yield Happened(event_type, text, action, failed=failed)


def _tool(text: str) -> str:
    match = _TOOL.match(text)
    return match.group() if match else ""


# Convert rows of ``cypher/recall`` into values of ``hmxgraph.recall``.

# Statuses of candidate artifacts: active ones are shown, deprecated ones are reported as drops (HMX-A 5).
_CANDIDATE_STATUSES = frozenset({"active", "deprecated"})
# Number of artifacts whose texts are cached.
_BRIEFS_KEPT = 1_024


def _knowledge_of(row: Row, tenancy: Tenancy, as_of_us: int, meanings: Mapping[str, float]) -> Known:
    """Return the knowledge in a row of ``recall/knowledge``, as of *as_of_us*.

    *meanings* says how close each memory is to the question by the vectors of its events, in [0, 1]; 0 if not listed.
    """
    records = [_record(values, tenancy, as_of_us) for values in row["task_records"]]
    artifacts = [_artifact(values, as_of_us) for values in row["artifacts"]]
    return Known(
        tuple(
            sorted(
                (each for each in artifacts if each.status in _CANDIDATE_STATUSES), key=lambda each: each.artifact_id
            )
        ),
        tuple(sorted((_memory(each, as_of_us, meanings) for each in row["memories"]), key=lambda each: each.memory_id)),
        tuple(sorted((_entity(values) for values in row["entities"]), key=lambda each: each.entity_id)),
        tuple(sorted((_conflict(values) for values in row["conflicts"]), key=lambda each: each.conflict_id)),
        tuple(sorted(_evidence(row["evidence"], as_of_us), key=lambda each: (each.record_id, each.event_id))),
        RunningSession(tuple(session_actions(row["session"])), row["session_events"]),
        tuple(sorted(records, key=lambda each: each.record_id)),
        superseded=frozenset(event_id for event_id, deleted in row["outdated"] if not deleted),
        deleted=frozenset(event_id for event_id, deleted in row["outdated"] if deleted),
    )


def _evidence(rows: Sequence[Sequence[str]], as_of_us: int) -> Iterator[Evidence]:
    records, events, texts = zip(*rows, strict=True) if rows else ((), (), ())
    for row in pool_rows(as_of_us, events, records, texts):
        event_id, session_id, speaker, _, _, _, time_us, tokens, salience, _, label, record_id, text, user_id = row
        yield Evidence(record_id, event_id, session_id, time_us, tokens, salience, speaker, text, label, user_id)


def _artifact(values: Row, as_of_us: int) -> KnownArtifact:
    count_index = max(bisect_right(values["count_times"], as_of_us) - 1, 0)
    # -1 stands for a missing count or rate.
    observed, rate = values["observed_counts"][count_index], values["success_rates"][count_index]
    evidence = max(values["source_events"], 1)
    conditions = _conditions(values["validity_scope"])
    briefing = _brief(values["artifact_type"], values["title"], values["text"], values["content"])
    return KnownArtifact(
        artifact_id=values["artifact_id"],
        artifact_type=values["artifact_type"],
        title=values["title"],
        text=f"{briefing}\nOnly where: {'; '.join(conditions)}" if conditions else briefing,
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
        failures=answered_failures(values["metadata"]),
        confirmed_us=max(values["count_times"][count_index], values["created_us"]),
    )


def _genuine(values: Row) -> bool:
    """Whether the content still has its recorded hash, and the text is the rendering of that content."""
    if sha256_hex(values["content"].encode()) != values["content_hash"]:
        return False
    rendered = _text(values["artifact_type"], values["title"], values["summary"], values["content"])
    return bool(values["text"] == rendered)


@lru_cache(maxsize=_BRIEFS_KEPT)
def _text(artifact_type: str, title: str, summary: str, content: str) -> str:
    return render_artifact(artifact_type, title, summary, parse_json(content))


@lru_cache(maxsize=_BRIEFS_KEPT)
def _brief(artifact_type: str, title: str, text: str, content: str) -> str:
    return brief(artifact_type, title, text, parse_json(content))


def _conditions(scope: str | None) -> tuple[str, ...]:
    """Return the conditions of a validity scope (HMX-A 6): free text that only the reader can evaluate."""
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
    """Whether a record has evidence left, or never had any."""
    return bool(values["alive"] or not values["linked"])


def _memory(values: Row, as_of_us: int, meanings: Mapping[str, float]) -> KnownMemory:
    begins = values["valid_from_us"]
    ends = [time_us for time_us in (values["valid_to_us"], values["expires_us"]) if time_us is not None]
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
        held=(begins is None or begins <= as_of_us) and all(as_of_us < end for end in ends),
        sound=_evidence_left(values),
        here=values["here"],
        open=not all(is_carried_out([Turn(*turn) for turn in ending], is_action) for ending in values["endings"]),
        pinned=bool(values["pinned"]),
        aliases=tuple(values["aliases"] or ()),
        meaning=meanings.get(values["memory_id"], 0.0),
        withdraws=values["kind"] == "policy" and values["predicate"] in WITHDRAWING,
    )


def _record(values: Row, tenancy: Tenancy, as_of_us: int) -> KnownRecord:
    replies = [Reply(**reply) for reply in values["replies"]]
    kind, agent_id, record_id = values["artifact_kind"], values["agent_id"], values["artifact_id"]
    return KnownRecord(
        record_id=record_id,
        section=_record_section(values["pack_section"], agent_id, replies, tenancy.trust),
        text=values["text"],
        words=values["search_text"],
        created_us=values["created_us"],
        session_id=values["session_id"] or f"task:{values['task_id']}",
        agent_id=agent_id,
        trust_tier=tier(kind, agent_id, replies),
        rejected_by=rejecting_agents(agent_id, replies),
        countersigned=sum(verdict.countersigns for verdict in verdicts(agent_id, replies)),
        held=values["hidden_us"] is None or values["hidden_us"] > as_of_us,
        reporting_events=frozenset(event_ids_of(tenancy.tenant_id, record_id)),
    )


def _record_section(section: str, agent_id: str | None, replies: Sequence[Reply], trust: TrustPolicy) -> str:
    """*section* if it is ``episodes`` or a trusted agent wrote or countersigned the record, else ``evidence``.

    Agents choose their own names, so a countersignature counts only if its agent is trusted.
    """
    signers = [reply.agent_id for reply in verdicts(agent_id, replies) if reply.countersigns]
    return section if section == "episodes" or trust.vouches([agent_id, *signers]) else "evidence"


def _entity(values: Sequence[Any]) -> KnownEntity:
    key, name, entity_type, mentions, confidence, last_us = values
    return KnownEntity(key, name, entity_type, mentions or 1, 1.0 if confidence is None else confidence, last_us or 0)


def _related_of(row: Row, named_keys: Iterable[str], as_of_us: int, min_confidence: float) -> Related:
    """Return the relations in a row of ``recall/surroundings``, without those of less than *min_confidence*.

    *named_keys* are the keys of the entities that the question names.
    """
    entities = {values[0]: RelatedEntity(*values) for values in row["related"]}
    relations = (_relation(values, entities, as_of_us) for values in row["relations"])
    return Related(
        tuple(
            sorted((each for each in relations if each.confidence >= min_confidence), key=lambda each: each.relation_id)
        ),
        tuple(entities[key] for key in sorted(entities)),
        frozenset(named_keys),
    )


def _relation(values: Sequence[Any], entities: Mapping[str, RelatedEntity], as_of_us: int) -> KnownRelation:
    source, relation_type, target, weight, confidence, evidence, last_us = values
    return KnownRelation(
        relation_id(source, relation_type, target),
        entities[source].name,
        relation_type,
        entities[target].name,
        weight or 0.0,
        confidence or 0.0,
        evidence or 1,
        min(last_us or 0, as_of_us),
        source,
        target,
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


# The plan of a pack.

T = TypeVar("T")
# Maximum number of candidate events.
_MOST_HITS = 150
# Number of the best candidate events that are fetched with their neighbours in the session.
_MOST_CENTRES = 100
# Maximum hits per term: the first number divided by the number of terms, but at least the second number.
_ALL_TERM_HITS = 3_000
_LEAST_TERM_HITS = 250
# In tenants with at most this many events, a search that was cut off or has many hits is ranked again: the index knows
# only how rare a word is among all tenants, not how rare it is in this one.
_FEW_EVENTS = 50_000
# Over-fetch factor for as-of queries: full-text search cannot filter by time.
REACH = 10
# Number of best events from which related events and relations are searched.
_MOST_ANCHORS = 12
# Number of best sessions whose outcomes are read.
_MOST_SESSIONS = 24
# Maximum number of these sessions whose events are read, too, as examples.
_MOST_EXAMPLES = 6
# Maximum number of calls whose results are looked up.
_MOST_CALLS = 96
# Maximum number of events whose following events (their trails) are read: failures, if the question speaks of trouble
# or quotes an error, else calls.
_MOST_TRAILS = 3
# Examples of at most this many events are fetched whole, longer ones only from their end.
_SHORT_EXAMPLE = 128
# Number of long events fetched in full.
MOST_LONG_EVENTS = 4
# Entities mentioned more often than this are too common to link events.
MOST_MENTIONS = 30
# Maximum number of entities named in the question from which relations are fetched.
_MOST_NAMED = 16
# Entities with more relations than this are not expanded to their neighbours.
_MOST_LINKS = 60
# Goals that are at most this many days old are fetched even if they share no word with the question.
_GOAL_DAYS = 90
# Maximum number of expected actions whose policies are fetched.
_MOST_EXPECTED = 32
# Age in days up to which the latest events are fetched.
_LATEST_DAYS = 30
# Maximum attempts to read one version of the state.
_MOST_READS = 5
# Pad parameters to one size so that each plan is cached once: the planner distinguishes orders of magnitude. Lists of
# keys are padded with a key that no node has, full-text queries with spaces.
_NOTHING = "\0" * 64
_QUERY_LENGTH = 1_024
# A time later than that of any event, in microseconds.
_NEVER = 2**62
# Number of nearest events fetched by vector.
_MOST_NEAREST = 60
# In tenants with at most this many events, the question is compared with every vector.
_FEW_VECTORS = 1_000
# Over-fetch factor for larger tenants: the vector index covers all tenants and cannot filter by tenant.
_NEAREST_REACH = 10


def pack(
    tenancy: Tenancy, request: PackRequest, count_tokens: TokenCounter, *, embeds: bool = False
) -> Procedure[Pack]:
    """Return the context pack for *request*, read by three statements in one transaction.

    A read transaction sees concurrent commits. If the tenant's state version changed during the read, everything is
    read again, up to five times in all; if it changed during the fifth, too, the pack is marked as unsettled. With
    *embeds*, a fourth statement searches by vector similarity.
    """
    vector = (yield from embeddings.question_vector(tenancy, request.query)) if embeds else None
    result, attempts_left = None, _MOST_READS
    while result is None:
        attempts_left -= 1
        plan = partial(_pack, tenancy, request, count_tokens, vector=vector, settled=attempts_left > 0)
        result = yield from read(plan)
    return result


def _pack(
    tenancy: Tenancy,
    request: PackRequest,
    count_tokens: TokenCounter,
    *,
    vector: embeddings.QuestionVector | None = None,
    settled: bool,
) -> Plan[Pack | None]:
    """Return the pack; with *settled*, None if the tenant's state changed while the pack was read."""
    question = request.query[:LONGEST_QUESTION]
    query_terms = tuple(dict.fromkeys(terms(question)))
    names = tuple(mention.name for mention in names_in(question))
    cached_models = models_kept()
    rows = yield _candidate_events(tenancy, request, query_terms, names, cached_models)
    nearest = (yield from _nearest(tenancy, request, vector)) if vector is not None and rows else _NOTHING_NEAR
    opening = _Opening(tenancy, _guided(request, rows), names, rows[0] if rows else None, cached_models, nearest)
    knowledge = _knowledge(opening, query_terms)
    yield Ahead(knowledge)
    # Events are ranked here, and knowledge is appraised below, while the server works on the next statement.
    about_events = _event_parameters(opening, query_terms)
    [knowledge_row] = yield knowledge
    knowledge_row = nearest.added_to(knowledge_row)
    named_keys = opening.named_keys(knowledge_row)
    surroundings = bind("recall/surroundings", **about_events, named=_padded(list(named_keys), _MOST_NAMED))
    yield Ahead(surroundings)
    appraised_knowledge = opening.appraised(knowledge_row, count_tokens)
    [surroundings_row] = yield surroundings
    unsettled = surroundings_row["state_version"] != opening.state.state_version
    if unsettled and settled:
        # Full-text indexes lag behind a commit by milliseconds: one more round trip lets them catch up.
        yield surroundings
        return None
    truncated = opening.state.truncated or knowledge_row["cut_off"] or surroundings_row["cut_off"]
    state = replace(opening.state, truncated=truncated, unsettled=unsettled)
    return assemble(opening.draft(state, surroundings_row, appraised_knowledge, named_keys))


def _candidate_events(
    tenancy: Tenancy,
    request: PackRequest,
    query_terms: Sequence[str],
    names: Iterable[str],
    cached_models: Iterable[str],
) -> Statement:
    """The statement that fetches candidate events and, for a request for work, what is needed to choose a procedure.

    For a question about trouble, it fetches the last events of the running session: how its last action failed.
    """
    in_names = {term for name in names for term in terms(name)}
    beginning, guides = request.query[:LONGEST_QUESTION], set(request.sections) != {"episodes"}
    works = guides and asks_for_work(beginning)
    in_trouble = guides and speaks_of_trouble(beginning)
    return bind(
        "recall/events",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        as_of_us=request.as_of_us,
        query=term_query(tenancy.scope, query_terms, in_names).ljust(_QUERY_LENGTH),
        terms=_filled(each_term(tenancy.scope, query_terms), ""),
        weights=_filled([NAME_WEIGHT if term in in_names else 1.0 for term in query_terms], 0.0),
        most=_most_hits(query_terms),
        few=_FEW_EVENTS,
        limit=_MOST_HITS,
        reach=_reach(request),
        windows=_MOST_CENTRES,
        works=works,
        model_key=model_key(tenancy),
        models=_padded(sorted(cached_models), MODELS_KEPT),
        session_key=_session_key(tenancy, request) if works or in_trouble else _NOTHING,
        guided=request.strategy == "fingerprint_guided" and request.priors is None,
    )


def _guided(request: PackRequest, rows: list[Row]) -> PackRequest:
    """*request* with the priors of the imported fingerprint in force, if the first statement fetched them."""
    priors = rows[0]["priors"] if rows else None
    return request if priors is None else replace(request, priors=parse_json(priors))


class _Nearest(NamedTuple):
    """The events and memories nearest to a question's vector; ``meanings`` says how close each event is, in (0, 1]."""

    row: Row
    meanings: Mapping[str, float]

    def events(self, as_of_us: int) -> list[list[Any]]:
        """The rows of the events, without those that are close only by chance: ``meanings`` leaves them out."""
        return [row for row in _events(self.row, as_of_us) if row[0] in self.meanings]

    @property
    def of_memories(self) -> Mapping[str, float]:
        """How close each memory is to the question: as close as its nearest source event."""
        return {each["memory_id"]: self.meanings.get(each["nearest"], 0.0) for each in self.row["memories"]}

    def added_to(self, knowledge: Row) -> Row:
        """*knowledge* plus the nearest memories that full-text search did not find, and their evidence."""
        if not self.row["memories"]:
            return knowledge
        known_ids = {each["memory_id"] for each in knowledge["memories"]}
        further_memories = [each for each in self.row["memories"] if each["memory_id"] not in known_ids]
        evidence = [each for each in self.row["evidence"] if each[0] not in known_ids]
        return knowledge | {
            "memories": [*knowledge["memories"], *further_memories],
            "evidence": [*knowledge["evidence"], *evidence],
        }


_NOTHING_NEAR = _Nearest({"events": [], "texts": [], "memories": [], "evidence": []}, MappingProxyType({}))


def _nearest(tenancy: Tenancy, request: PackRequest, question: embeddings.QuestionVector) -> Plan[_Nearest]:
    rows = yield bind(
        "embeddings/nearest",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        as_of_us=request.as_of_us,
        earlier=request.as_of_us is not None,
        vector=question.vector,
        few=_FEW_VECTORS,
        limit=_MOST_NEAREST,
        reach=_NEAREST_REACH,
        session_key=_session_key(tenancy, request),
        owners=_owners(tenancy, request),
        for_user=request.user_id is not None,
        knows=set(request.sections) != {"episodes"},
        anywhere=not request.scopes,
        scopes=list(request.scopes),
    )
    return _Nearest(rows[0], question.meanings(rows[0])) if rows else _NOTHING_NEAR


@dataclass(frozen=True)
class _Opening:
    """What is known before the second statement; ``row`` is the first statement's, None if the tenant is empty."""

    tenancy: Tenancy
    request: PackRequest
    names: tuple[str, ...]
    row: Row | None
    cached_models: Mapping[str, Model]
    nearest: _Nearest

    @cached_property
    def state(self) -> State:
        row = self.row or {"state_version": 0, "as_of_us": None, "event_count": 0, "cut_off": False}
        as_of_us = row["as_of_us"] if row["as_of_us"] is not None else self.request.as_of_us or 0
        return State(self.tenancy.tenant_id, row["state_version"], as_of_us, row["event_count"], row["cut_off"])

    @cached_property
    def question(self) -> Question:
        return understood(self.request.query, self.state.as_of_us, self.names)

    @cached_property
    def _text_hits(self) -> list[list[Any]]:
        return _events(self.row, self.state.as_of_us) if self.row else []

    @cached_property
    def events(self) -> list[list[Any]]:
        return self._text_hits + self.nearest.events(self.state.as_of_us)

    @cached_property
    def centres(self) -> frozenset[str]:
        """The hits whose neighbours are all among the events; none if events were left out, such as expired ones."""
        if self.row is None or len(self._text_hits) < len(self.row["events"]):
            return frozenset()
        return frozenset(self.row["centres"])

    @cached_property
    def first_ranking(self) -> Ranking:
        """The ranking of the candidate events, before related events are fetched."""
        return self._ranking_of(EventPool.of(self.events, centres=self.centres))

    def ranking(self, further_rows: list[list[Any]]) -> Ranking:
        """The ranking of the candidate events together with those in *further_rows*."""
        known_ids = self.first_ranking.pool.index
        if all(row[0] in known_ids for row in further_rows):
            return self.first_ranking
        return self._ranking_of(EventPool.of(self.events, further_rows, centres=self.centres))

    def _ranking_of(self, pool: EventPool) -> Ranking:
        pool = relevant_to_asker(pool, self.question, self.request)
        pool = with_own_names(pool, self.question)
        meanings = {each: meaning for each, meaning in self.nearest.meanings.items() if each not in pool.withheld}
        ranking = Ranking(self.question, pool, self.state.event_count, meanings)
        return ranked_by_parts(ranking) if ranking.has_parts else ranking

    @cached_property
    def guidance(self) -> Guidance:
        """What the compiler's model and the running session say about the actions to take."""
        return (
            guidance(self.request.query[:LONGEST_QUESTION], self.row, self.cached_models) if self.row else NO_GUIDANCE
        )

    def appraised(self, row: Row, count_tokens: TokenCounter) -> Appraised:
        knowledge = _knowledge_of(row, self.tenancy, self.state.as_of_us, self.nearest.of_memories)
        return appraised(self.request, self.state, self.first_ranking, knowledge, count_tokens, self.guidance)

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """Cases: the past sessions about someone or something that the question names, best first."""
        names_cases = self.first_ranking.named_cases.any() and self.request.sections != ("episodes",)
        return self.first_ranking.case_sessions(_MOST_EXAMPLES) if names_cases else ()

    @cached_property
    def sessions(self) -> Mapping[str, float]:
        """The best sessions with their scores, best first.

        If there are cases, they come first, and the scores of all sessions are ranks: 0, -1, -2 and so on.
        """
        worths = self.first_ranking.best_sessions(_MOST_SESSIONS)
        if not self.cases:
            return worths
        ids = islice(dict.fromkeys([*self.cases, *worths]), _MOST_SESSIONS)
        return {session_id: -float(place) for place, session_id in enumerate(ids)}

    @property
    def most_examples(self) -> int:
        """How many of the best sessions to fetch with their events: all cases or, without cases, up to six examples.

        There are examples only if the question and the requested sections call for them.
        """
        wants_examples = self.first_ranking.wants_examples and {"episodes", "procedures"} <= set(self.request.sections)
        return len(self.cases) or (_MOST_EXAMPLES if wants_examples else 0)

    @cached_property
    def anchors(self) -> tuple[str, ...]:
        """The ids of the best events, from which related events and relations are searched."""
        return self.first_ranking.anchors(_MOST_ANCHORS)

    def named_keys(self, knowledge_row: Row) -> tuple[str, ...]:
        """The keys of up to 16 entities that the question names, the names with most words first, then the rarest."""
        names = ((search_text(name), mentions, key) for key, name, _, mentions, *_ in knowledge_row["entities"])
        named_entities = [
            (-name.count(" "), mentions, key) for name, mentions, key in names if self.question.mentions(name)
        ]
        return tuple(key for *_, key in sorted(named_entities)[:_MOST_NAMED])

    def vicinity(self, mentions: Iterable[Mention]) -> Vicinity:
        """The best events as starting points for ranking relations."""
        first, index = self.first_ranking.first, self.first_ranking.pool.index
        scores = {event_id: float(first[index[event_id]]) for event_id in self.anchors}
        top = max(scores.values(), default=0.0) or 1.0
        return Vicinity(
            {event_id: score / top for event_id, score in scores.items()},
            [(mention.event_id, mention.entity) for mention in mentions],
            self.first_ranking.assurance,
        )

    def draft(self, state: State, row: Row, appraised_knowledge: Appraised, named_keys: Iterable[str]) -> Draft:
        """The material for the pack: events ranked with their neighbourhood, and appraised knowledge with relations."""
        mentions = tuple(sorted(Mention(*values) for values in row["mentions"]))
        ranking = self.ranking(_events(row, self.state.as_of_us))
        related = _related_of(row, named_keys, self.state.as_of_us, self.request.min_confidence)
        related = without_unconfirmed(related, ranking.pool)
        appraised_knowledge = with_relations(appraised_knowledge, related, self.vicinity(mentions))
        neighbourhood = Neighbourhood(mentions, self.state.event_count)
        whole = {event_id: full_text(kind, parse_json(content)) for event_id, kind, content in row["contents"]}
        changes = frozenset(filter(is_action, {call[0] for call in ranking.pool.tools if call is not None}))
        return Draft(
            self.request,
            state,
            ranking,
            neighbourhood,
            appraised_knowledge,
            whole,
            {session_id: _AS_FEEDBACK[outcome] for session_id, outcome in row["outcomes"]},
            frozenset(row["logs"]),
            dict(row["results"]),
            changes,
            frozenset(row["examples"]),
            shown_mask_key(self.tenancy),
        )


# A correction says that the work before it was wrong.
_AS_FEEDBACK = {"positive": "positive", "negative": "negative", "correction": "negative"}


def _events(row: Row, as_of_us: int) -> list[list[Any]]:
    return pool_rows(as_of_us, row["events"], row["texts"])


def _knowledge(opening: _Opening, query_terms: tuple[str, ...]) -> Statement:
    """The statement that fetches the knowledge that may be relevant to the question."""
    tenancy, request, as_of_us = opening.tenancy, opening.request, opening.state.as_of_us
    # A pack of episodes alone needs little knowledge.
    knows = set(request.sections) != {"episodes"}
    return bind(
        "recall/knowledge",
        tenant_id=tenancy.tenant_id,
        as_of_us=as_of_us,
        newest=conflict_place(as_of_us),
        reach=_reach(request),
        earlier=request.as_of_us is not None,
        active_us=as_of_us - _GOAL_DAYS * DAY_US if knows else _NEVER,
        session_key=_session_key(tenancy, request),
        owners=_owners(tenancy, request),
        for_user=request.user_id is not None,
        knows=knows,
        anywhere=not request.scopes,
        scopes=list(request.scopes),
        expected=_padded(
            [canonical_text(name) for name in sorted(opening.guidance.expected)[:_MOST_EXPECTED]], _MOST_EXPECTED
        ),
        chosen=_keys(tenancy, filter(None, [opening.guidance.lead]), 1),
        failure=canonical_text(failure) if (failure := opening.guidance.failure) else "",
        words=knowledge_query(tenancy.scope, (*query_terms, *diet_terms(query_terms)) if knows else ()).ljust(
            _QUERY_LENGTH
        ),
        terms=_filled(each_term(tenancy.scope, query_terms), ""),
        weights=_filled([1.0] * len(query_terms), 0.0),
    )


def _event_parameters(opening: _Opening, query_terms: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of ``recall/surroundings`` that depend on the ranking of events, not on knowledge."""
    tenancy, request, state = opening.tenancy, opening.request, opening.state
    ranking = opening.first_ranking
    span = ranking.question.span
    sessions = opening.sessions
    calls = ranking.best_calls(opening.cases or sessions, _MOST_CALLS) if opening.most_examples else ()
    latest = not query_terms or request.strategy == "recency_biased" or ranking.question.latest
    return {
        "tenant_id": tenancy.tenant_id,
        "tenant_key": tenancy.key,
        "as_of_us": state.as_of_us,
        "anchors": _keys(tenancy, opening.anchors, _MOST_ANCHORS),
        "sessions": _keys(tenancy, sessions, _MOST_SESSIONS),
        "worths": [*sessions.values(), *[0.0] * (_MOST_SESSIONS - len(sessions))],
        "examples": opening.most_examples,
        "if_failed": 1.0 if opening.cases else ranking.if_failed,
        "trails": _keys(tenancy, ranking.trail_starts(_MOST_TRAILS), _MOST_TRAILS),
        "short_session": _SHORT_EXAMPLE,
        "long_session": LONGEST_EPISODE,
        "calls": _keys(tenancy, calls, _MOST_CALLS),
        "unanswered": _keys(tenancy, (call for call in ranking.pool.unanswered if call in calls), _MOST_CALLS),
        "related": "graph_relations" in request.sections,
        "most_links": _MOST_LINKS,
        "long_events": _keys(tenancy, ranking.truncated(MOST_LONG_EVENTS), MOST_LONG_EVENTS),
        "most_mentions": MOST_MENTIONS,
        "from_us": span.start_us if span else _NEVER,
        "to_us": span.end_us if span else _NEVER,
        "latest_us": state.as_of_us - _LATEST_DAYS * DAY_US if latest else _NEVER,
        "session_key": _session_key(tenancy, request),
    }


def _owners(tenancy: Tenancy, request: PackRequest) -> list[str]:
    """The keys of the users whose own memories the pack may contain, padded.

    These are the user and the session of the request; the session stands for an unnamed user. If the request has
    neither, they are the users whom the question names.
    """
    question = request.query[:LONGEST_QUESTION]
    keys = memories.audience(tenancy, question, user_id=request.user_id, session_id=request.session_id)
    return _padded(keys, memories.MOST_AUDIENCE)


def _most_hits(query_terms: Sequence[str]) -> int:
    """Maximum hits per term: fewer if there are many terms, because rare ones then suffice."""
    return max(_ALL_TERM_HITS // max(len(query_terms), 1), _LEAST_TERM_HITS)


def _filled(values: Sequence[T], filling: T) -> list[T]:
    """The first 64 *values*, filled up with *filling* if there are fewer."""
    return [*values[:MOST_TERMS], *[filling] * (MOST_TERMS - len(values))]


def _reach(request: PackRequest) -> int:
    """The over-fetch factor of full-text search for *request*."""
    return 1 if request.as_of_us is None else REACH


def _keys(tenancy: Tenancy, ids: Iterable[str], size: int) -> list[str]:
    return _padded([tenancy.node_key(node_id) for node_id in ids], size)


def _padded(keys: list[str], size: int) -> list[str]:
    """Pad *keys* to *size* with a key that no node has."""
    return keys + [_NOTHING] * (size - len(keys))


def _session_key(tenancy: Tenancy, request: PackRequest) -> str:
    return tenancy.node_key(request.session_id) if request.session_id else _NOTHING
