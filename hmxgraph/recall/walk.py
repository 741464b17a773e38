"""From what the question names to what it does not: a walk over the entities that events share.

Events and the entities they mention form a graph with two kinds of nodes. Personalised PageRank (Haveliwala 2002) from
the entities of the question and its best events finds what lies close to them; bridges then lead from a good event
over an entity that the question does not name to an event that tells the rest of what was asked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log1p
from typing import NamedTuple

import numpy as np

from hmxgraph.recall.pool import EventPool, Floats, Integers, WordMatch
from hmxgraph.recall.question import Question
from hmxgraph.text.terms import terms

_DAMPING = 0.7
STEPS = 14
# The part of the walk's restarts that goes to events found by words; more would only find them again.
_EVENT_SEEDS = 0.05
_SEED_EVENTS = 3
_FAINT = 1e-7
# What an event is about ties it to an entity more than what it merely mentions.
ABOUT = 3.0
_BRIDGE_SOURCES = 8
_TITLE_BRIDGE = 2.25
_SHARED_BRIDGE = 1.2
# What a bridge is worth where the other end has none of the question's other words: more to what is about the entity.
_TITLE_FLOOR = 0.35
_SHARED_FLOOR = 0.2
_SECOND_HOP = 0.8


class Mention(NamedTuple):
    """One event mentions one entity; ``role`` is "title" where the event is about it."""

    event_id: str
    entity: str
    role: str = ""


@dataclass(frozen=True)
class Neighbourhood:
    """The mentions around the best events, complete for each entity; ``event_count`` is the tenant's."""

    mentions: tuple[Mention, ...] = ()
    event_count: int = 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entities, in order."""
        return tuple(sorted({mention.entity for mention in self.mentions}))

    @cached_property
    def name_terms(self) -> dict[str, str]:
        """The search terms of each entity's name, blank-separated."""
        return {name: " ".join(terms(name)) for name in self.names}

    @cached_property
    def rarity(self) -> dict[str, float]:
        """How telling each entity is: 1 for one that two events mention, less for more common ones."""
        degree: dict[str, int] = dict.fromkeys(self.names, 0)
        for mention in self.mentions:
            degree[mention.entity] += 1
        top = log1p(self.event_count / 2) or 1.0
        return {name: min(1.0, log1p(self.event_count / count) / top) for name, count in degree.items()}


def closeness(question: Question, pool: EventPool, around: Neighbourhood, found: Floats) -> Floats:
    """Personalised PageRank of each event on a logarithmic scale in [0, 1]; 0 for events outside the neighbourhood.

    *found* is how well words meet each event: the best three seed the walk lightly, beside the question's entities.
    """
    graph = _Graph(pool, around)
    seeds = graph.entity_seeds(question), graph.event_seeds(found)
    if not graph.weights.size or not (seeds[0].sum() + seeds[1].sum()):
        return np.zeros(len(pool))
    ranks = graph.walk(*seeds)
    scale = np.log(ranks + _FAINT) - log(_FAINT)
    return np.where(graph.reached, scale / (scale.max() or 1.0), 0.0)


def bridges(question: Question, pool: EventPool, around: Neighbourhood, match: WordMatch, scores: Floats) -> Floats:
    """What each event gains as the other end of a bridge, at most about ``TITLE_BRIDGE``; two hops, the second weaker.

    A bridge is worth more from a better event, over a rarer entity, and to one that has the question's other words.
    """
    planks = _planks(question, pool, around, match)
    if not len(planks.source) or scores.max(initial=0.0) <= 0:
        return np.zeros(len(pool))
    first = _crossed(planks, scores, 1.0)
    return np.maximum(first, _crossed(planks, scores + first, _SECOND_HOP))


class _Planks(NamedTuple):
    """Ways over an entity: from which event to which, and how strong."""

    source: Integers
    target: Integers
    strength: Floats


def _planks(question: Question, pool: EventPool, around: Neighbourhood, match: WordMatch) -> _Planks:
    ends, present = _ends(pool, around), match.counts.clip(0, 1)
    open_names = [name for name in around.names if not _already_asked(question, around.name_terms[name])]
    laid = [_over(around.rarity[name], ends[name], match.weights, present) for name in open_names if name in ends]
    if not laid:
        return _Planks(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    return _Planks(*map(np.concatenate, zip(*laid, strict=True)))


def _over(rarity: float, ends: Sequence[tuple[int, str]], weights: Floats, present: Floats) -> _Planks:
    """From each of an entity's events to each other one."""
    places = np.array([place for place, _ in ends], dtype=np.int64)
    titles = np.array([role == "title" for _, role in ends], dtype=bool)
    has = present[:, places]
    left = weights[:, np.newaxis] * (1 - has)
    total = left.sum(axis=0)
    # Of what a source leaves open of the question, the part that a target has.
    rest = np.einsum("ts,tg->sg", left, has) / np.where(total > 0, total, 1.0)[:, np.newaxis]
    about = _TITLE_BRIDGE * (_TITLE_FLOOR + (1 - _TITLE_FLOOR) * rest)
    shared = _SHARED_BRIDGE * rarity**2 * (_SHARED_FLOOR + (1 - _SHARED_FLOOR) * rest)
    source, target = np.nonzero(places[:, np.newaxis] != places)
    return _Planks(places[source], places[target], np.where(titles, about, shared)[source, target])


def _ends(pool: EventPool, around: Neighbourhood) -> dict[str, list[tuple[int, str]]]:
    ends: dict[str, list[tuple[int, str]]] = {}
    for mention in around.mentions:
        if (place := pool.index.get(mention.event_id)) is not None:
            ends.setdefault(mention.entity, []).append((place, mention.role))
    return {name: sorted(found) for name, found in ends.items()}


def _already_asked(question: Question, name_terms: str) -> bool:
    return not name_terms or set(name_terms.split()) <= set(question.terms)


def _crossed(planks: _Planks, scores: Floats, share: float) -> Floats:
    """What the best planks bring to their far ends: those that begin at the best events."""
    begins = np.unique(planks.source)
    sources = begins[np.argsort(-scores[begins], kind="stable")[:_BRIDGE_SOURCES]]
    good = np.isin(planks.source, sources)
    source, target, strength = planks.source[good], planks.target[good], planks.strength[good]
    gains = np.zeros(len(scores))
    np.maximum.at(gains, target, share * strength * np.maximum(scores[source] / scores.max(), 0.0) ** 2)
    return gains


class _Graph:
    """Events and entities with weighted edges, as arrays."""

    def __init__(self, pool: EventPool, around: Neighbourhood) -> None:
        self._around = around
        numbers = {name: number for number, name in enumerate(around.names)}
        edges = _strongest((mention for mention in around.mentions if mention.event_id in pool.index), pool, numbers)
        self.events: Integers = np.array([event for event, _ in edges], dtype=np.int64)
        self.entities: Integers = np.array([entity for _, entity in edges], dtype=np.int64)
        rarity = np.array([around.rarity[name] for name in around.names])
        self.weights: Floats = np.array(list(edges.values())) * (rarity[self.entities] if edges else 1.0)
        self.reached = np.isin(np.arange(len(pool)), self.events)
        self._sizes = len(pool), len(numbers)

    def entity_seeds(self, question: Question) -> Floats:
        """The entities that the question names, by rarity."""
        around = self._around
        named = [around.rarity[name] * question.mentions(around.name_terms[name]) for name in around.names]
        return np.array(named, dtype=np.float64)

    def event_seeds(self, found: Floats) -> Floats:
        """The best events of the neighbourhood by words."""
        seeds = np.where(self.reached, found, 0.0)
        best = sorted(range(len(seeds)), key=lambda place: (-seeds[place], place))[:_SEED_EVENTS]
        return np.where(np.isin(np.arange(len(seeds)), best), seeds, 0.0)

    def walk(self, entity_seeds: Floats, event_seeds: Floats) -> Floats:
        """The stationary weights of the events after ``STEPS`` steps."""
        restart_entities, restart_events = _shares(entity_seeds, event_seeds)
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
    edges: dict[tuple[int, int], float] = {}
    for event_id, entity, role in mentions:
        edge = pool.index[event_id], numbers[entity]
        edges[edge] = max(edges.get(edge, 0.0), ABOUT if role == "title" else 1.0)
    return dict(sorted(edges.items()))


def _shares(entity_seeds: Floats, event_seeds: Floats) -> tuple[Floats, Floats]:
    """Both seeds as one distribution, the events with their small part of it."""
    entities, events = entity_seeds.sum(), event_seeds.sum()
    if not entities:
        return entity_seeds, event_seeds / events
    part = _EVENT_SEEDS if events else 0.0
    return (1 - part) * entity_seeds / entities, part * event_seeds / (events or 1.0)
