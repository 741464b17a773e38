"""Candidates and their scores: four components to one relevance score (HMX-C 5, DESIGN 6); events as candidates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall._times import Span
from hmxgraph.recall.pool import EventPool, Floats, Integers
from hmxgraph.recall.question import PackRequest, Question
from hmxgraph.text.excerpts import Passages
from hmxgraph.text.lines import attributed, event_line
from hmxgraph.text.terms import TokenCounter

# The state of a tenant that a pack answers from.


@dataclass(frozen=True, slots=True)
class State:
    """Whose state, which version, as of when, how many events, and whether the search was cut off.

    ``unsettled`` tells that others wrote while it was read, as often as it was begun again: it is of no one version.
    """

    tenant_id: str
    state_version: int
    as_of_us: int
    event_count: int
    truncated: bool = False
    unsettled: bool = False


# From four components to one score, the same for every kind of candidate (HMX-C 5, DESIGN 6).

_RELEVANCE, _RECENCY, _PROVENANCE, _SALIENCE = 0.4, 0.2, 0.2, 0.2
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"relevance": _RELEVANCE, "recency": _RECENCY, "provenance": _PROVENANCE, "salience": _SALIENCE}
)
# Below this a candidate says too little about the question (DESIGN 6).
THRESHOLD = 0.40
HALF_LIFE_DAYS = 7.0
_RECENT_HALF_LIFE_DAYS = 2.0


def plain(number: float) -> float:
    """A number as canonical JSON spells it (RFC 8785 3.2.2.3): a whole one without ".0", which costs least to write."""
    return int(number) if number.is_integer() else number


class Components(NamedTuple):
    """What a score is made of, each in [0, 1]."""

    relevance: float
    recency: float
    provenance: float
    salience: float

    @property
    def score(self) -> float:
        """The weighted sum, rounded before anything is sorted by it.

        >>> Components(1.0, 0.5, 1.0, 0.5).score
        0.8

        """
        relevance, recency, provenance, salience = self
        weighted = _RELEVANCE * relevance + _RECENCY * recency + _PROVENANCE * provenance + _SALIENCE * salience
        return round(weighted, 6)

    def document(self) -> dict[str, float]:
        """The components as JSON values, to four decimals.

        >>> Components(1.0, 0.5, 0.123456, 0.0).document()
        {'relevance': 1, 'recency': 0.5, 'provenance': 0.1235, 'salience': 0}

        """
        relevance, recency, provenance, salience = [plain(round(1.0 * value, 4)) for value in self]
        return {"relevance": relevance, "recency": recency, "provenance": provenance, "salience": salience}


def scores(relevance: Floats, recency: Floats, provenance: float, salience: Floats) -> Floats:
    """:attr:`Components.score` of many candidates at once.

    >>> scores(np.array([1.0]), np.array([0.5]), 1.0, np.array([0.5])).tolist()
    [0.8]

    """
    weighted = _RELEVANCE * relevance + _RECENCY * recency + _PROVENANCE * provenance + _SALIENCE * salience
    found: Floats = np.round(weighted, 6)
    return found


@dataclass(frozen=True, slots=True)
class Clock:
    """How recent something is: halved with each half-life from the time the question is about.

    Work under way wants what is new. A question about the past that names no time is answered by when it happened, not
    by how long ago: its half-life is None, and age then speaks for nothing. One that says nothing ("?") is answered by
    what is new. The moment is None where it is now.
    """

    moment: Span | None
    half_life_days: float | None
    now_us: int = 0

    def recency(self, time_us: int | None) -> float:
        """2 to the power of -age / half-life, in [0, 1]."""
        if time_us is None or self.half_life_days is None:
            return 0.0
        away_us = max(self.now_us - time_us, 0) if self.moment is None else self.moment.distance_us(time_us)
        return float(2.0 ** (-away_us / DAY_US / self.half_life_days))

    def recencies(self, times: Integers) -> Floats:
        """:meth:`recency` of many times at once."""
        if self.half_life_days is None:
            return np.zeros(len(times))
        away = np.maximum(self.now_us - times, 0) if self.moment is None else self.moment.distances_us(times)
        found: Floats = 2.0 ** (-away / DAY_US / self.half_life_days)
        return found


def clock(request: PackRequest, question: Question, as_of_us: int) -> Clock:
    """The clock by which *request* is answered as of *as_of_us*."""
    if request.strategy == "recency_biased":
        return Clock(None, _RECENT_HALF_LIFE_DAYS, as_of_us)
    if question.span is not None:
        return Clock(question.span, HALF_LIFE_DAYS, as_of_us)
    by_age = question.latest or not question.recalls or not question.terms
    return Clock(None, HALF_LIFE_DAYS if by_age else None, as_of_us)


def support(confidence: float, observations: int) -> float:
    """How far something inferred can be trusted: its confidence, discounted while few observations carry it.

    >>> round(support(0.9, 8), 3)
    0.72

    """
    return confidence * observations / (observations + 2)


# One candidate for a pack, whatever it is: an event, a memory, an artifact, an entity, a relation, a conflict.

# What candidates are ranked by: score downwards, tokens, id, section.
Order: TypeAlias = tuple[float, int, str, str]


class Candidate(NamedTuple):
    """Something that may go into a section.

    ``tokens`` are those that it takes as written; of what cannot go in those of its text are enough. ``verdict`` is a
    drop reason that stands from the beginning. An ``exempt`` candidate is never too irrelevant: identity and hard
    rules. Of events, ``label`` says that their words came from tools or the web, and ``place`` is where they stand in
    their session.
    """

    section: str
    source_type: str
    source_id: str
    tokens: int
    score: float
    components: Components
    content: str = ""
    origin: str = ""
    confidence: float = 1.0
    evidence_count: int = 1
    time_us: int = 0
    session_id: str = ""
    speaker: str = ""
    label: str = ""
    place: int = 0
    verdict: str = ""
    exempt: bool = False

    @property
    def order(self) -> Order:
        """By score, then the shorter, then by id (HMX-C 3.3); the section where one record stands in two."""
        return -self.score, self.tokens, self.source_id, self.section


class Ranked(NamedTuple):
    """A candidate with its place among all of them, 1 for the first."""

    rank: int
    candidate: Candidate


class Dropped(NamedTuple):
    """A candidate that was left out, and why (HMX-C 8)."""

    ranked: Ranked
    reason: str


# Events as candidates: relevant by the ranking, recent by the clock, their own provenance.
#
# A pack chooses among some hundred events and shows a few of them: they are scored as columns, and become candidates
# one
# by one, when somebody asks.

# The relevance from which on an event has anything to do with the question.
HELPS = 0.2
# The part of the best event's relevance from which on it speaks fully for an event that it is new.
MATTERS = 0.4
SECTION = "episodes"
# The origin of what was recorded as it happened.
EPISODIC = "episodic"


class Sketch(NamedTuple):
    """What tells whether an event comes into question."""

    event_id: str
    words: str
    tokens: int
    score: float


class _Columns(NamedTuple):
    """Numbers as Python has them: one at a time they are read much faster than from arrays."""

    relevance: list[float]
    recency: list[float]
    score: list[float]


@dataclass(frozen=True)
class Episodes:
    """The events of *pool* with their relevance; *verdicts* are drop reasons that stand from the beginning, by id.

    *timely* is how far its time speaks for each event, in [0, 1].
    """

    pool: EventPool
    relevance: Floats
    clock: Clock
    verdicts: Mapping[str, str] = field(default_factory=dict)
    timely: Floats | float = 1.0

    def __len__(self) -> int:
        return len(self.pool)

    @cached_property
    def recency(self) -> Floats:
        """Of each event, in [0, 1]: by the clock as far as its time speaks for it, and as far as lets it in, last."""
        by_clock = self.clock.recencies(self.pool.times)
        lacking = (THRESHOLD - self._scored(np.zeros(len(self)))) / WEIGHTS["recency"]
        return np.maximum(self.timely * by_clock, np.minimum(by_clock, lacking))

    @cached_property
    def scores(self) -> Floats:
        """Of each event; no doubt is cast on what was recorded."""
        return self._scored(self.recency)

    def _scored(self, recency: Floats) -> Floats:
        return scores(self.relevance, recency, 1.0, np.array(self.pool.salience, dtype=np.float64))

    @cached_property
    def _columns(self) -> _Columns:
        return _Columns(self.relevance.tolist(), self.recency.tolist(), self.scores.tolist())

    def orders(self) -> Iterator[Order]:
        """What each event is ranked by, as ``Candidate.order`` tells it."""
        pool = self.pool
        return zip((-self.scores).tolist(), pool.tokens, pool.event_id, repeat(SECTION), strict=False)

    def sketch(self, at: int) -> Sketch:
        """Of the event at that place what tells whether it comes into question."""
        pool = self.pool
        return Sketch(pool.event_id[at], pool.words[at], pool.tokens[at], self._columns.score[at])

    def candidate(self, at: int) -> Candidate:
        """The event at that place."""
        pool, event_id = self.pool, self.pool.event_id[at]
        of = self._columns
        components = Components(of.relevance[at], of.recency[at], 1.0, pool.salience[at])
        return Candidate(
            SECTION,
            "episode",
            event_id,
            pool.tokens[at],
            of.score[at],
            components,
            attributed(pool.text[at], pool.speaker[at]),
            origin=EPISODIC,
            time_us=pool.time_us[at],
            session_id=pool.session_id[at],
            speaker=pool.speaker[at],
            label=pool.label[at],
            place=at,
            verdict=self.verdicts.get(event_id, ""),
        )


def timely(relevance: Floats, assurance: float) -> Floats:
    """How far it speaks for events that they are new: as they have to do with the question, by how sure the match is.

    Otherwise whatever happened last would push out what was done about the same weeks ago.
    """
    return 1.0 - assurance * (1.0 - np.minimum(relevance / MATTERS, 1.0))


def separated(relevance: Floats, assurance: float) -> Floats:
    """Relevance on [0, 1] with what helps at all lifted clear of what does not; all of it by how sure the match is."""
    return assurance * np.where(relevance > 0, HELPS + (1 - HELPS) * relevance, 0.0)


# Long events read to the end: what a pack shows of them are the passages that the question asks for.


def read_on(
    pool: EventPool, whole: Mapping[str, str], wanted: Mapping[str, float], count_tokens: TokenCounter
) -> EventPool:
    """*pool* with an excerpt in the place of each beginning whose *whole* text has more of what is *wanted*.

    An excerpt is no longer than the beginning was.
    """
    texts, tokens = list(pool.text), list(pool.tokens)
    for event_id, text in whole.items():
        at = pool.index[event_id]
        passages = Passages.of(text, wanted)
        if passages.anything_after(len(texts[at])):
            texts[at] = passages.excerpt(len(texts[at]))
            tokens[at] = count_tokens(event_line(texts[at], pool.label[at], pool.speaker[at]))
    return replace(pool, text=tuple(texts), tokens=tuple(tokens)) if whole else pool
