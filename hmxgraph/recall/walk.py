"""Reach events that share entities with the question or with the best events.

Events and the entities they mention form a bipartite graph. Personalised PageRank (Haveliwala 2002) from the entities
of the question and its best events scores nearby events. A bridge leads from a good event, through an entity that the
question does not name, to another event that mentions the entity. This event, the target, gains the more, the more it
matches of those question words that the first event, the source, lacks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log1p
from typing import NamedTuple

import numpy as np

from hmxgraph.recall.pool import EventPool, Flags, Floats, Integers, WordMatch
from hmxgraph.recall.question import Question
from hmxgraph.text.terms import terms

# Probability that a step follows an edge instead of restarting the walk.
_DAMPING = 0.7
# Number of steps.
STEPS = 14
# The walk starts at the entities that the question names and at this number of events that match best in words.
_SEED_EVENTS = 3
# Share of the restart probability that these events get if the question names entities.
_EVENT_SEEDS = 0.05
# Added to the ranks before taking logarithms.
_LOG_FLOOR = 1e-7
# Weight of the edge from an event to the entity in its title, relative to a mere mention.
ABOUT = 3.0
# Number of best events from which bridges start.
_BRIDGE_SOURCES = 8
# The largest gain of the target of a bridge if the entity is its title.
_TITLE_BRIDGE = 2.25
# The same for a document and for talk that only mention the entity. A name shared by talk says less: with the weight of
# documents, packs of 2,048 tokens for 179 questions about chats held 64.8 instead of 66.7 % of the evidence.
_SHARED_BRIDGE, _TALK_BRIDGE = 1.8, 1.2
# The share of these gains that remains if the target has none of the question's words that the source lacks.
_TITLE_FLOOR = 0.35
_SHARED_FLOOR, _TALK_FLOOR = 0.25, 0.2
# Factor on the gain over a second bridge.
_SECOND_HOP = 0.8


class Mention(NamedTuple):
    """An event mentions an entity; ``role`` is "title" if the event is about it."""

    event_id: str
    entity: str
    role: str = ""


@dataclass(frozen=True)
class Neighbourhood:
    """All mentions of the entities of the best events, except very common entities.

    ``event_count`` is the number of the tenant's events.
    """

    mentions: tuple[Mention, ...] = ()
    event_count: int = 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entities, sorted."""
        return tuple(sorted({mention.entity for mention in self.mentions}))

    @cached_property
    def name_terms(self) -> dict[str, str]:
        """The blank-separated search terms of each entity name."""
        return {name: " ".join(terms(name)) for name in self.names}

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Rarity of each entity: 1 if it has at most two mentions, less for more common ones."""
        degree: dict[str, int] = dict.fromkeys(self.names, 0)
        for mention in self.mentions:
            degree[mention.entity] += 1
        top = log1p(self.event_count / 2) or 1.0
        return {name: min(1.0, log1p(self.event_count / count) / top) for name, count in degree.items()}


def closeness(question: Question, pool: EventPool, neighbourhood: Neighbourhood, word_scores: Floats) -> Floats:
    """Return the personalised PageRank of each event on a log scale in [0, 1]; 0 outside the neighbourhood.

    The walk starts at the entities of the question and the three events in the neighbourhood with the best
    *word_scores*, their lexical scores.
    """
    graph = _Graph(pool, neighbourhood)
    seeds = graph.entity_seeds(question), graph.event_seeds(word_scores)
    if not graph.weights.size or not (seeds[0].sum() + seeds[1].sum()):
        return np.zeros(len(pool))
    ranks = graph.walk(*seeds)
    scale = np.log(ranks + _LOG_FLOOR) - log(_LOG_FLOOR)
    return np.where(graph.reached, scale / (scale.max() or 1.0), 0.0)


def bridges(
    question: Question, pool: EventPool, neighbourhood: Neighbourhood, match: WordMatch, scores: Floats
) -> Floats:
    """Return the gain of each event as the target of a bridge, or of two in a row; at most ``_TITLE_BRIDGE``.

    The gain grows with the score of the source, with the question's words that the target has and the source lacks,
    and, if the target only mentions the entity, with the rarity of the entity. Talk that mentions it gains less than a
    document that does. A second bridge counts less.
    """
    links = _links(question, pool, neighbourhood, match)
    if not len(links.source) or scores.max(initial=0.0) <= 0:
        return np.zeros(len(pool))
    first = _gains(links, scores, 1.0)
    return np.maximum(first, _gains(links, scores + first, _SECOND_HOP))


class _Links(NamedTuple):
    """Links between events through an entity: the indexes of source and target in the pool, and the strength."""

    source: Integers
    target: Integers
    strength: Floats


def _links(question: Question, pool: EventPool, neighbourhood: Neighbourhood, match: WordMatch) -> _Links:
    events_of, present = _events_by_entity(pool, neighbourhood), match.counts.clip(0, 1)
    new_names = [name for name in neighbourhood.names if not _in_question(question, neighbourhood.name_terms[name])]
    links_by_name = [
        _links_through(neighbourhood.rarity[name], events_of[name], match.weights, present, pool.talk > 0)
        for name in new_names
        if name in events_of
    ]
    if not links_by_name:
        return _Links(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    return _Links(*map(np.concatenate, zip(*links_by_name, strict=True)))


def _links_through(
    rarity: float, events_of: Sequence[tuple[int, str]], weights: Floats, present: Floats, talk: Flags
) -> _Links:
    """Return the links from each event that mentions an entity to every other event that mentions it."""
    indexes = np.array([index for index, _ in events_of], dtype=np.int64)
    is_titled = np.array([role == "title" for _, role in events_of], dtype=bool)
    contained = present[:, indexes]
    missing = weights[:, np.newaxis] * (1 - contained)
    total = missing.sum(axis=0)
    # For each source and target: the target's share of the question words that the source lacks.
    added = np.einsum("ts,tg->sg", missing, contained) / np.where(total > 0, total, 1.0)[:, np.newaxis]
    to_titled = _TITLE_BRIDGE * (_TITLE_FLOOR + (1 - _TITLE_FLOOR) * added)
    is_talk = talk[indexes]
    most, floor = np.where(is_talk, _TALK_BRIDGE, _SHARED_BRIDGE), np.where(is_talk, _TALK_FLOOR, _SHARED_FLOOR)
    to_mention = most * rarity**2 * (floor + (1 - floor) * added)
    source, target = np.nonzero(indexes[:, np.newaxis] != indexes)
    return _Links(indexes[source], indexes[target], np.where(is_titled, to_titled, to_mention)[source, target])


def _events_by_entity(pool: EventPool, neighbourhood: Neighbourhood) -> dict[str, list[tuple[int, str]]]:
    events_of: dict[str, list[tuple[int, str]]] = {}
    for mention in neighbourhood.mentions:
        if (index := pool.index.get(mention.event_id)) is not None:
            events_of.setdefault(mention.entity, []).append((index, mention.role))
    return {name: sorted(events) for name, events in events_of.items()}


def _in_question(question: Question, name_terms: str) -> bool:
    """Whether the question contains all *name_terms*; true if there are none, as for an entity named "???"."""
    return not name_terms or set(name_terms.split()) <= set(question.terms)


def _gains(links: _Links, scores: Floats, factor: float) -> Floats:
    """Return the best gain of each target over the links that start at the best events, times *factor*."""
    sources = np.unique(links.source)
    best_sources = sources[np.argsort(-scores[sources], kind="stable")[:_BRIDGE_SOURCES]]
    chosen = np.isin(links.source, best_sources)
    source, target, strength = links.source[chosen], links.target[chosen], links.strength[chosen]
    gains = np.zeros(len(scores))
    np.maximum.at(gains, target, factor * strength * np.maximum(scores[source] / scores.max(), 0.0) ** 2)
    return gains


class _Graph:
    """The weighted bipartite graph of events and entities, as arrays."""

    def __init__(self, pool: EventPool, neighbourhood: Neighbourhood) -> None:
        self._neighbourhood = neighbourhood
        numbers = {name: number for number, name in enumerate(neighbourhood.names)}
        edges = _strongest(
            (mention for mention in neighbourhood.mentions if mention.event_id in pool.index), pool, numbers
        )
        self.events: Integers = np.array([event for event, _ in edges], dtype=np.int64)
        self.entities: Integers = np.array([entity for _, entity in edges], dtype=np.int64)
        rarity = np.array([neighbourhood.rarity[name] for name in neighbourhood.names])
        self.weights: Floats = np.array(list(edges.values())) * (rarity[self.entities] if edges else 1.0)
        self.reached = np.isin(np.arange(len(pool)), self.events)
        self._sizes = len(pool), len(numbers)

    def entity_seeds(self, question: Question) -> Floats:
        """Return the seeds of the entities that the question names, weighted by rarity."""
        neighbourhood = self._neighbourhood
        named = [
            neighbourhood.rarity[name] * question.mentions(neighbourhood.name_terms[name])
            for name in neighbourhood.names
        ]
        return np.array(named, dtype=np.float64)

    def event_seeds(self, word_scores: Floats) -> Floats:
        """Return the seeds of the lexically best events in the neighbourhood."""
        seeds = np.where(self.reached, word_scores, 0.0)
        best = np.argsort(-seeds, kind="stable")[:_SEED_EVENTS]
        return np.where(np.isin(np.arange(len(seeds)), best), seeds, 0.0)

    def walk(self, entity_seeds: Floats, event_seeds: Floats) -> Floats:
        """Return the ranks of the events after ``STEPS`` steps."""
        restart_entities, restart_events = _restart_distribution(entity_seeds, event_seeds)
        per_event = self.weights / np.bincount(self.events, self.weights, self._sizes[0])[self.events]
        per_entity = self.weights / np.bincount(self.entities, self.weights, self._sizes[1])[self.entities]
        events, entities = restart_events, restart_entities
        for _ in range(STEPS):
            to_entities = np.bincount(self.entities, per_event * events[self.events], self._sizes[1])
            to_events = np.bincount(self.events, per_entity * entities[self.entities], self._sizes[0])
            events = (1 - _DAMPING) * restart_events + _DAMPING * to_events
            entities = (1 - _DAMPING) * restart_entities + _DAMPING * to_entities
        return events


def _strongest(mentions: Iterable[Mention], pool: EventPool, numbers: dict[str, int]) -> dict[tuple[int, int], float]:
    """Return the weight of each edge between an event and an entity: that of its strongest mention."""
    edges: dict[tuple[int, int], float] = {}
    for event_id, entity, role in mentions:
        edge = pool.index[event_id], numbers[entity]
        edges[edge] = max(edges.get(edge, 0.0), ABOUT if role == "title" else 1.0)
    return dict(sorted(edges.items()))


def _restart_distribution(entity_seeds: Floats, event_seeds: Floats) -> tuple[Floats, Floats]:
    """Normalise both seeds to one distribution, with a small share on events if there are entity seeds."""
    entities, events = entity_seeds.sum(), event_seeds.sum()
    if not entities:
        return entity_seeds, event_seeds / events
    event_share = _EVENT_SEEDS if events else 0.0
    return (1 - event_share) * entity_seeds / entities, event_share * event_seeds / (events or 1.0)
