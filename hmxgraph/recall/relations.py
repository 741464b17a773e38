"""Relations around the entities of a question: ranked by a random walk and worded as sentences.

The walk is personalised PageRank (Haveliwala 2002) over entities, their relations and the best events. It starts at the
entities that the question names, and with a small share at the best events. Relations that connect two named entities,
directly or through a third entity, get the most weight.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import product
from math import log2
from typing import NamedTuple

import numpy as np

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.candidates import Candidate, support
from hmxgraph.recall.knowledge import KnownRelation, Related, RelatedEntity
from hmxgraph.recall.known_candidates import Appraisal, relation_candidate
from hmxgraph.recall.pool import EventPool, Floats, Integers
from hmxgraph.recall.question import LONGEST_QUESTION, Question
from hmxgraph.text.comparison import REQUESTED
from hmxgraph.text.terms import search_text, terms, words

# Probability that a step follows a link instead of restarting the walk.
_DAMPING = 0.6
# Number of steps.
_STEPS = 16
# Share of the restart probability that the best events get if the question names entities.
_EVENT_SHARE = 0.1
# Weight of the link between an event and an entity that it mentions.
_MENTION_WEIGHT = 0.25
# Factor on the weight of a relation whose type the question asks for.
_ASKED = 3.0
# Factor on the weight of a relation between entities that were merely mentioned together.
_TOGETHER = 0.2
# The flow of a relation is how much of the walk passes along it. Relevance grows with the cube root, because flows
# differ by orders of magnitude.
_FLOW_EXPONENT = 1 / 3
# Minimum relevance of a sentence with an entity that the question names and a type of relation that it asks for.
_ANSWERS = 0.7
# The flow of a sentence is multiplied by this power of the number of named entities in it, plus one if it has a type of
# relation that the question asks for.
_NAMED_EXPONENT = 2
# Factors on relations farther from the named entities, see ``_factors``. ``_IF_OTHERS_ASKED`` replaces ``_FAR`` if the
# question asks for other entities ("What else ...").
_OUTER, _FAR, _IF_OTHERS_ASKED = 0.5, 0.05, 2.0
# Words with which a question asks for other entities.
_ASKS_OTHERS = frozenset({"also", "another", "else", "other", "others", "same", "share", "shared", "shares"})
# Factor on relevance if no entity is named: the best events only suggest what the question is about.
_UNNAMED = 0.75
# Maximum number of sentences.
MOST_SENTENCES = 40
# Minimum relevance: less relevant relations lead away from the subject.
_LEAST_RELEVANCE = 0.35
# Maximum number of targets of one relation type that a sentence lists.
_MOST_TARGETS = 8
# A target may be outdated if it was last seen more than this (an hour) before the latest target of its relation type.
_SAME_LISTING_US = DAY_US // 24
# Relation types that are verbs; all others are the names of fields of a record.
_VERBS = frozenset({"chooses", "fixes", "hosted_on", "mentions_with", "raises", "runs", "touches", "uses"})
# The wording of verbs that differs from the relation type.
_WORDINGS = {"mentions_with": "is mentioned with", "hosted_on": "is hosted on"}
# The type of the relation between an entity and the name that a record gives it.
_NAME = "name"
# Relation types that are shown only if the question asks for them (:func:`_is_wanted`).
_GATED = frozenset({"mentions_with", "raises", "uses"})
# Terms of questions for everything about the entities that they name: "What do you know about Ann?"
_ASKS_ALL = frozenset(terms("know tell show about everything all anything something relations relate related records"))
_ASKS_PEOPLE = re.compile(r"\bwho(?:se|m)?\b", re.IGNORECASE)
# Entity types of people, as terms.
_PEOPLE = frozenset(terms("user person customer passenger client member patient employee guest contact owner"))
# Irregular verb forms, and the form with which names of fields begin: "paid", and "pay" in "payment".
_IRREGULAR = {"paid": "pay", "sent": "send", "sold": "sell", "bought": "buy", "built": "build", "ran": "run"}
# Minimum length of a term that counts as the stem of another.
_SHORTEST_STEM = 3
# Entity types that are not shown before the name, because they add nothing to it.
_SILENT = frozenset(
    {"agent", "command", "concept", "error_type", "file", "id", "person", "symbol", "tag", "tool", "url"}
)
# Types of entities that act.
_WORKERS = frozenset({"agent", "tool"})
# Terms with which a question asks who or what acted.
_ACTORS = frozenset(terms("agent agents tool tools command commands"))
# A question about the errors that something raises: "Which errors occur?", "What does this raise?"
_ASKS_WHICH_ERROR = re.compile(
    r"\b(?:which|what) (?:kinds? of |types? of )?(?:errors?|exceptions?)\b|\braises?\b", re.IGNORECASE
)
# A question about who used something: "Which of them used it?", but not "it cannot be used".
_ASKS_WHO = re.compile(r"\b(?:who|whose|which|what)\b[^.?!]{0,60}\bus(?:es?|ed|ing)\b", re.IGNORECASE)


def _shown(entity: RelatedEntity) -> str:
    """Return the name of an entity, followed by the name that a record gave it if that differs."""
    return f"{entity.name} ({entity.label})" if entity.label and entity.label != entity.name else entity.name


def _titled(entity: RelatedEntity) -> str:
    """Return the type and name of an entity; without the type if that adds nothing.

    >>> _titled(RelatedEntity("k", "1151293680", "item", "1151293680", "Lamp"))
    'item 1151293680 (Lamp)'
    """
    kind = entity.type.replace("_", " ")
    hides_type = entity.type in _SILENT or entity.name.lower().startswith(f"{kind} ")
    return _shown(entity) if hides_type else f"{kind} {_shown(entity)}"


class Sentence(NamedTuple):
    """A sentence that states relations of one entity: its text, the best of these relations, and its relevance.

    ``from_records``: whether it states a field of a record.
    """

    text: str
    relation: KnownRelation
    relevance: float
    from_records: bool


@dataclass(frozen=True)
class Vicinity:
    """The best events: their scores in [0, 1] by id, and the entities they mention, as (event id, normalised name).

    ``assurance``: how well they match the question, in [0, 1].
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    mentions: Sequence[tuple[str, str]] = ()
    assurance: float = 0.0


def without_unconfirmed(related: Related, pool: EventPool) -> Related:
    """Return *related* without fields that only the arguments of calls state, unless such a call worked.

    A field stays if a call in the *pool* whose arguments contain both of its ends worked; if the pool has no results,
    any such call counts. Calls that are not in the pool do not count, because they may have failed.
    """
    failures, successes = pool.failures, pool.successes
    worked = pool.calls_with(successes) if failures.any() or successes.any() else np.flatnonzero(pool.calls).tolist()
    calls = [f" {pool.words[index]} " for index in sorted(worked)]

    @cache
    def with_end(end: str) -> frozenset[int]:
        own_terms = f" {search_text(end)} "
        return frozenset(index for index, call in enumerate(calls) if own_terms in call)

    def is_confirmed(relation: KnownRelation) -> bool:
        return not with_end(relation.source).isdisjoint(with_end(relation.target))

    def is_unconfirmed_field(relation: KnownRelation) -> bool:
        return relation.confidence <= REQUESTED and relation.relation_type not in _VERBS

    relations = (
        relation for relation in related.relations if not is_unconfirmed_field(relation) or is_confirmed(relation)
    )
    return replace(related, relations=tuple(relations))


def relation_candidates(
    related: Related, vicinity: Vicinity, appraisal: Appraisal, contested: Collection[str]
) -> Iterator[Candidate]:
    """Yield the candidates of ``graph_relations``: sentences, and each of the *contested* relations by itself."""
    sides = [relation for relation in related.relations if relation.relation_id in contested]
    yield from (relation_candidate(relation, appraisal) for relation in sides)
    uncontested = [relation for relation in related.relations if relation.relation_id not in contested]
    for sentence in sentences(appraisal.question, replace(related, relations=tuple(uncontested)), vicinity):
        yield _candidate(sentence, appraisal)


def _candidate(sentence: Sentence, appraisal: Appraisal) -> Candidate:
    relation = sentence.relation
    components = appraisal.components(
        sentence.relevance,
        relation.last_us,
        support(relation.confidence, relation.evidence_count),
        relation.weight,
        least=_LEAST_RELEVANCE,
    )
    return Candidate(
        section="graph_relations",
        source_type="relation",
        source_id=relation.relation_id,
        tokens=appraisal.count_tokens(sentence.text),
        score=components.score,
        components=components,
        content=sentence.text,
        origin="graph",
        confidence=relation.confidence,
        evidence_count=relation.evidence_count,
        time_us=relation.last_us,
        label="data" if sentence.from_records else "",
    )


def sentences(question: Question, related: Related, vicinity: Vicinity) -> Iterator[Sentence]:
    """Yield the relations around *question* as sentences, at most one for each source of relations, best first."""
    named = related.named.intersection(entity.key for entity in related.entities)
    specific = _unshared(related, named) if question.works or question.own else named
    # A request for work that names no specific entity needs no facts about entities, and a question about "my lamp"
    # needs none about the lamps of others.
    if not specific and (question.works or named):
        return
    related = replace(related, named=specific)
    tools = frozenset(entity.key for entity in related.entities if entity.type in _WORKERS)
    wanted = [relation for relation in related.relations if _is_wanted(relation, question, tools, related.named)]
    shown = list(_surest(wanted))
    if not shown:
        return
    asked_types = frozenset(_asked_types({relation.relation_type for relation in shown}, question))
    flows = _Walk(related, shown, vicinity, asked_types).flows * _factors(question, related, shown)
    ranked = sorted(zip(flows.tolist(), shown, strict=True), key=lambda pair: (-pair[0], pair[1].relation_id))
    sources = _subjects(related) if question.works else _asked_sources(question, related, shown)
    ranked = [(flow, relation) for flow, relation in ranked if relation.source_key in sources]
    yield from _worded(related, ranked, asked_types, 1.0 if related.named else _UNNAMED * vicinity.assurance)


def _asked_sources(question: Question, related: Related, shown: Iterable[KnownRelation]) -> frozenset[str]:
    """Return the keys of the entities whose sentences answer a question.

    A sentence answers the question if the question names two entities in it, or has a term of an entity or relation in
    it, or of their types: "Which flights does Ann take?". The type right before a name ("order 17") does not count,
    because it only says what the name is. A question with "who" is answered by entities that are people. A question
    with no terms besides names, such as "What do you know about Ann?", asks for everything.
    """
    named = [entity for entity in related.entities if entity.key in related.named]
    skipped = {term for entity in named for term in (*_type_before_name(entity, question), *_terms_of_names(entity))}
    asked = set(question.terms) - skipped - _ASKS_ALL
    by_source: dict[str, list[KnownRelation]] = {}
    for relation in shown:
        by_source.setdefault(relation.source_key, []).append(relation)
    if not asked:
        return frozenset(by_source)
    by_key = {entity.key: entity for entity in related.entities}
    distinct = replace(related, named=_distinct(named))
    asks_people = bool(_ASKS_PEOPLE.search(question.text[:LONGEST_QUESTION]))

    def answers(source: str) -> bool:
        relations = by_source[source]
        entities = [by_key[source], *(by_key[relation.target_key] for relation in relations)]
        types = {term for entity in entities for term in _type_terms(entity)}
        fields = {term for relation in relations for term in terms(relation.relation_type.replace("_", " "))}
        return (
            any(_same_stem(*pair) for pair in product(types | fields, asked))
            or any(not asked.isdisjoint(_terms_of_names(entity)) for entity in entities)
            or (bool(named) and answers_by_name(source, relations, types))
        )

    def answers_by_name(source: str, relations: Sequence[KnownRelation], types: Collection[str]) -> bool:
        return (
            any(relation.relation_type in _GATED for relation in relations)
            or (asks_people and not _PEOPLE.isdisjoint(types))
            or _named_count(source, relations, distinct) > 1
        )

    return frozenset(filter(answers, by_source))


def _type_terms(entity: RelatedEntity) -> list[str]:
    return terms(entity.type.replace("_", " "))


def _terms_of_names(entity: RelatedEntity) -> list[str]:
    return terms(f"{entity.name} {entity.label or ''}")


def _distinct(named: Iterable[RelatedEntity]) -> frozenset[str]:
    """Return the keys of *named* entities whose name no other contains, unlike "Kovacs" in "mei_kovacs_8020"."""
    names = {entity.key: frozenset(terms(entity.name)) for entity in named}
    return frozenset(
        key for key, name_terms in names.items() if not any(name_terms < other for other in names.values())
    )


def _type_before_name(entity: RelatedEntity, question: Question) -> list[str]:
    """Return the terms of an entity's type if the question has the type right before the name: "order 17"."""
    type_terms = _type_terms(entity)
    return type_terms if question.mentions(" ".join([*type_terms, search_text(entity.name)])) else []


def _same_stem(term: str, other: str) -> bool:
    """Whether one term begins with the other; "paid" counts as "pay", so that it matches "payment".

    >>> _same_stem("payment", "paid"), _same_stem("flight", "fly"), _same_stem("id", "i")
    (True, False, False)
    """
    short, long = sorted((_IRREGULAR.get(term, term), _IRREGULAR.get(other, other)), key=len)
    return len(short) >= _SHORTEST_STEM and long.startswith(short)


def _subjects(related: Related) -> frozenset[str]:
    """Return the keys of the entities that a request for work is about.

    They are the entities that it names, the bearers of names (people and records) in it, and the entities with a
    relation to any other named entity. Entities related only to a bearer are not included: an agent asked to cancel an
    order needs the relations of this order, not the customer's other orders. If the request has a name with a bearer,
    an entity with a relation to another named entity must be related to the bearer, too: bookings of the same flight by
    other people do not count.
    """
    names = {relation.target_key for relation in related.relations if relation.relation_type == _NAME}
    names |= {entity.key for entity in related.entities if entity.type == "person"}
    named_bearers = related.named & names
    holders = {
        relation.source_key for relation in related.relations if relation.target_key in related.named - named_bearers
    }
    if named_bearers:
        bearers = _origins(replace(related, named=named_bearers))
        holders &= {
            end for relation in related.relations if not bearers.isdisjoint(_ends(relation)) for end in _ends(relation)
        }
    return _origins(related) | holders


def _ends(relation: KnownRelation) -> frozenset[str]:
    return frozenset({relation.source_key, relation.target_key})


def _unshared(related: Related, named: Iterable[str]) -> frozenset[str]:
    """Return the *named* entities that are not shared: "my lamp" does not mean all lamps.

    A name is shared if several records of one type have it; a user and this user's email address differ in type. An
    entity is also shared if there are several entities of every type that has a relation to it: a flight that many
    users booked is shared, but a card of one user that paid many orders is not.
    """
    types = {entity.key: entity.type for entity in related.entities}
    bearers, holders = dict[str, Counter[str]](), dict[str, Counter[str]]()
    for counts, links in (
        (bearers, (relation for relation in related.relations if relation.relation_type == _NAME)),
        (holders, related.relations),
    ):
        for source, target in {(relation.source_key, relation.target_key) for relation in links}:
            counts.setdefault(target, Counter())[types[source]] += 1
    none = {"": 1}
    return frozenset(
        key for key in named if max(bearers.get(key, none).values()) <= 1 and min(holders.get(key, none).values()) <= 1
    )


def _is_wanted(relation: KnownRelation, question: Question, workers: Collection[str], named: Collection[str]) -> bool:
    """Whether a relation may be shown.

    - Entities that were merely mentioned together are shown only if the question names both.
    - ``uses`` relations, and the actions of *workers* (agents and tools), are shown if the question names both ends, or
      if it names one end, asks who or what acted, and requests no work: "I think we use the gift card" does not ask who
      used a tool named "think". They are not shown if the question quotes an error, such as "Bash failed: no tree".
    - ``raises`` relations are shown only if the question asks which errors occur, or names the error without quoting a
      message.
    - A ``hosted_on`` relation is left out if the address contains the host.
    """
    kind = relation.relation_type
    if kind == "hosted_on" and relation.target.lower() in relation.source.lower():
        return False
    if kind == "raises" and (question.error or relation.target_key not in named):
        return bool(_ASKS_WHICH_ERROR.search(question.text))
    working = kind == "uses" or (kind in {"chooses", "runs", "touches"} and relation.source_key in workers)
    if not working and kind != "mentions_with":
        return True
    if working and question.error:
        return False
    ends = sum(question.mentions(search_text(name)) for name in (relation.source, relation.target))
    asks = not _ACTORS.isdisjoint(question.terms) or _ASKS_WHO.search(question.text[:LONGEST_QUESTION])
    return ends == 2 or (ends == 1 and working and not question.works and bool(asks))


def _surest(relations: Sequence[KnownRelation]) -> Iterator[KnownRelation]:
    """Yield *relations*; of several that state the same field of an entity, only those with the highest confidence.

    If a result states the payment method of a reservation, a payment method that a call merely tried is left out.
    """
    highest: dict[tuple[str, str], float] = {}
    for relation in relations:
        field_of_entity = relation.source_key, relation.relation_type
        highest[field_of_entity] = max(highest.get(field_of_entity, 0.0), relation.confidence)
    for relation in relations:
        least = highest[relation.source_key, relation.relation_type]
        if relation.relation_type in _VERBS or relation.confidence >= least:
            yield relation


def _asked_types(relation_types: Iterable[str], question: Question) -> Iterator[str]:
    """Yield the types of relations that the question asks for by name."""
    for relation_type in relation_types:
        type_terms = terms(relation_type.replace("_", " "))
        if type_terms and set(type_terms) <= set(question.terms):
            yield relation_type


def _factors(question: Question, related: Related, shown: Sequence[KnownRelation]) -> Floats:
    """Return the factor on each relation by its closeness to the entities that the question names.

    A holder is an entity with a relation to a named entity. Relations count in full if they begin or end at a named
    entity, begin at the target of one of its relations, or begin at a holder. Other relations that end at a holder
    count half (``_OUTER``). All remaining ones count little (``_FAR``), or double (``_IF_OTHERS_ASKED``) if the
    question asks for other entities.
    """
    origins = _origins(related)
    if not origins:
        return np.ones(len(shown))
    targets = {relation.target_key for relation in shown if relation.source_key in origins}
    holders = {relation.source_key for relation in shown if relation.target_key in origins}
    asks_others = not _ASKS_OTHERS.isdisjoint(words(question.text[:LONGEST_QUESTION]))

    def factor(relation: KnownRelation) -> float:
        source, target = relation.source_key, relation.target_key
        if source in origins or target in origins or source in targets or source in holders:
            return 1.0
        if target in holders:
            return _OUTER
        return _IF_OTHERS_ASKED if asks_others else _FAR

    return np.array([factor(relation) for relation in shown])


def _origins(related: Related) -> frozenset[str]:
    """Return the keys of the entities that the question names, by their own name or by one that a record gives them."""
    holders = (
        relation
        for relation in related.relations
        if relation.relation_type == _NAME and relation.target_key in related.named
    )
    return related.named | {relation.source_key for relation in holders}


def _worded(
    related: Related, ranked: Iterable[tuple[float, KnownRelation]], asked_types: Collection[str], factor: float
) -> Iterator[Sentence]:
    """Yield a sentence for each source of the *ranked* relations, best first, unless earlier sentences state the same.

    The relevance of all sentences is multiplied by *factor*.
    """
    by_key = {entity.key: entity for entity in related.entities}
    totals: dict[str, float] = {}
    least: dict[str, float] = {}
    by_source: dict[str, list[KnownRelation]] = {}
    for flow, relation in ranked:
        totals[relation.source_key] = totals.get(relation.source_key, 0.0) + flow
        by_source.setdefault(relation.source_key, []).append(relation)
    for source, relations in by_source.items():
        named_count = _named_count(source, relations, related)
        asks = any(relation.relation_type in asked_types for relation in relations)
        totals[source] *= max(named_count + asks, 1) ** _NAMED_EXPONENT
        least[source] = _ANSWERS if named_count and asks else 0.0
    for echo in _echoes(by_source, related.named):
        del totals[echo]
    top = max(totals.values(), default=0.0)
    stated: set[frozenset[str]] = set()
    for source in sorted(totals, key=lambda key: (-totals[key], key))[:MOST_SENTENCES]:
        relations = _briefer(by_source[source], asked_types)
        pairs = {frozenset({source, relation.target_key}) for relation in relations if relation.relation_type != _NAME}
        if totals[source] > 0 and not pairs <= stated:
            stated |= pairs
            relevance = factor * max((totals[source] / top) ** _FLOW_EXPONENT, least[source])
            from_records = any(relation.relation_type not in _VERBS for relation in relations)
            yield Sentence(
                _sentence(by_key[source], relations, by_key, related.named), relations[0], relevance, from_records
            )


def _echoes(by_source: Mapping[str, Sequence[KnownRelation]], named: Collection[str]) -> Iterator[str]:
    """Yield each source with several targets if another entity has the same targets, and a relation to the source.

    For example, an email address has relations to the same orders as the user who has the address. If each of the two
    has a relation to the other, the one that is not yielded is the one that the question names, else the one with more
    targets, else the first.
    """
    holdings = {source: {relation.target_key for relation in relations} for source, relations in by_source.items()}
    rank = {source: (source not in named, -len(held), number) for number, (source, held) in enumerate(holdings.items())}
    holders_of: dict[str, list[str]] = {}
    for source, held in holdings.items():
        for target in held:
            holders_of.setdefault(target, []).append(source)
    for source, held in holdings.items():
        holders = (other for other in holders_of.get(source, ()) if held - {other} <= holdings[other])
        if len(held) > 1 and any(other not in held or rank[other] < rank[source] for other in holders):
            yield source


def _named_count(source: str, relations: Sequence[KnownRelation], related: Related) -> int:
    """Return how many of the named entities occur in these relations, by their key or by the name in a record."""
    ends = {source, *(relation.target_key for relation in relations)}
    labels = {entity.label for entity in related.entities if entity.key in ends}
    return sum(
        entity.key in ends or entity.name in labels for entity in related.entities if entity.key in related.named
    )


def _briefer(relations: Sequence[KnownRelation], asked_types: Collection[str]) -> list[KnownRelation]:
    """Return *relations* without those whose type is a longer form of the type of another one to the same target.

    A "refund payment method" is left out if it is also the "payment method". Relations of *asked_types* stay.
    """
    types: dict[str, set[str]] = {}
    for relation in relations:
        types.setdefault(relation.target_key, set()).add(relation.relation_type)
    return [
        relation
        for relation in relations
        if relation.relation_type in asked_types
        or not any(relation.relation_type.endswith(f"_{shorter}") for shorter in types[relation.target_key])
    ]


def _sentence(
    entity: RelatedEntity,
    relations: Sequence[KnownRelation],
    by_key: Mapping[str, RelatedEntity],
    named: Collection[str],
) -> str:
    """Return the sentence about *entity*: its fields, then its verbs; targets are sorted best first, outdated last."""
    parts: dict[str, list[str]] = {}
    earlier: dict[str, list[str]] = {}
    latest = _latest(relations)
    for relation in relations:
        if relation.relation_type != _NAME or entity.label != relation.target:
            target = by_key[relation.target_key]
            name = target.name if target.key in named or target.label == entity.label else _shown(target)
            is_outdated = relation.last_us < latest[relation.relation_type] - _SAME_LISTING_US
            (earlier if is_outdated else parts).setdefault(relation.relation_type, []).append(name)
    fields = [
        _listed(_noun(kind, len(names)), names) + _formerly(earlier.get(kind, ()))
        for kind, names in parts.items()
        if kind not in _VERBS
    ]
    verbs = [
        _listed(_WORDINGS.get(kind, kind), [*names, *earlier.get(kind, ())])
        for kind, names in parts.items()
        if kind in _VERBS
    ]
    has = [f"has {', '.join(fields)}"] if fields else []
    return f"{_titled(entity)} {'; '.join([*has, *verbs])}"


def _latest(relations: Iterable[KnownRelation]) -> dict[str, int]:
    """Return the time when a relation of each type was last seen."""
    latest: dict[str, int] = {}
    for relation in relations:
        latest[relation.relation_type] = max(latest.get(relation.relation_type, 0), relation.last_us)
    return latest


def _formerly(names: Sequence[str]) -> str:
    """Return the *names* of targets that are probably outdated, such as an item that was replaced by another.

    >>> _formerly(["8555936349"]), _formerly(["a", "b"]), _formerly([])
    (', earlier 8555936349', ', earlier a and b', '')
    """
    return f", {_listed('earlier', names)}" if names else ""


def _listed(word: str, names: Sequence[str]) -> str:
    """Return the *names* after their *word*; a long list is cut to the best, with the number of the others.

    >>> _listed("items", ["a", "b"]), _listed("uses", [str(number) for number in range(10)])
    ('items a and b', 'uses 0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    if len(names) > _MOST_TARGETS:
        return f"{word} {', '.join(names[:_MOST_TARGETS])} and {len(names) - _MOST_TARGETS} more"
    return f"{word} {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f"{word} {names[0]}"


def _noun(relation_type: str, count: int) -> str:
    """Return the noun for a field, in the plural if *count* is not 1.

    >>> _noun("payment_method", 1), _noun("item", 2), _noun("category", 2), _noun("address", 2)
    ('payment method', 'items', 'categories', 'addresses')
    """
    noun = relation_type.replace("_", " ")
    if count == 1:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in {"", *"aeiou"}:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


class _Walk:
    """The graph of entities and events as arrays."""

    def __init__(
        self, related: Related, shown: Sequence[KnownRelation], vicinity: Vicinity, asked_types: Collection[str]
    ) -> None:
        scores = vicinity.scores
        numbers = {entity.key: number for number, entity in enumerate(related.entities)}
        self._source: Integers = np.array([numbers[relation.source_key] for relation in shown], dtype=np.int64)
        self._target: Integers = np.array([numbers[relation.target_key] for relation in shown], dtype=np.int64)
        self._weights: Floats = np.array([_weight(relation, asked_types) for relation in shown])
        events = {event_id: number for number, event_id in enumerate(sorted(scores), start=len(numbers))}
        numbers_by_name: dict[str, list[int]] = {}
        for entity in related.entities:
            numbers_by_name.setdefault(entity.normalised, []).append(numbers[entity.key])
        pairs = [
            (events[event_id], number)
            for event_id, name in vicinity.mentions
            if event_id in events
            for number in numbers_by_name.get(name, ())
        ]
        self._begin: Integers = np.concatenate([self._source, np.array([event for event, _ in pairs], dtype=np.int64)])
        self._end: Integers = np.concatenate([self._target, np.array([entity for _, entity in pairs], dtype=np.int64)])
        self._link_weights: Floats = np.concatenate([self._weights, np.full(len(pairs), _MENTION_WEIGHT)])
        self._size = len(numbers) + len(events)
        self._degree = np.bincount(self._begin, self._link_weights, self._size) + np.bincount(
            self._end, self._link_weights, self._size
        )
        self._restart = self._seeds(numbers, related.named, events, scores)

    @cached_property
    def flows(self) -> Floats:
        """The flow through each relation, in both directions, in the last step of the walk."""
        ranks = self._ranks() / np.where(self._degree > 0, self._degree, 1.0)
        flows: Floats = self._weights * (ranks[self._source] + ranks[self._target])
        return flows

    def _ranks(self) -> Floats:
        degree = np.where(self._degree > 0, self._degree, 1.0)
        ranks = self._restart
        for _ in range(_STEPS):
            shares = ranks / degree
            forward = np.bincount(self._end, self._link_weights * shares[self._begin], self._size)
            backward = np.bincount(self._begin, self._link_weights * shares[self._end], self._size)
            ranks = (1 - _DAMPING) * self._restart + _DAMPING * (forward + backward)
        return ranks

    def _seeds(
        self, numbers: Mapping[str, int], named: Iterable[str], events: Mapping[str, int], scores: Mapping[str, float]
    ) -> Floats:
        """Return the restart distribution: a share for the best events, the rest for named entities, least for hubs."""
        seeds = np.zeros(self._size)
        for key in sorted(named):
            if key in numbers:
                seeds[numbers[key]] = 1.0 / log2(2.0 + float(self._degree[numbers[key]]))
        mass = float(seeds.sum())
        share = _EVENT_SHARE if mass else 1.0
        seeds *= (1 - share) / (mass or 1.0)
        total = sum(max(score, 0.0) for score in scores.values())
        for event_id, number in events.items():
            seeds[number] = share * max(scores[event_id], 0.0) / (total or 1.0)
        return seeds


def _weight(relation: KnownRelation, asked_types: Collection[str]) -> float:
    """Return the weight of a relation in the walk: how well it is supported, times factors for its type."""
    weight = relation.weight * relation.confidence * (_TOGETHER if relation.relation_type == "mentions_with" else 1.0)
    return weight * (_ASKED if relation.relation_type in asked_types else 1.0)
