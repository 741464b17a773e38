"""Events as candidates: relevant by the ranking, recent by the clock, their own provenance.

A pack chooses among some hundred events and shows a few of them: they are scored as columns, and become candidates one
by one, when somebody asks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np

from hmxgraph.recall.arrays import Floats
from hmxgraph.recall.candidates import Candidate, Order
from hmxgraph.recall.ranking.pool import EventPool
from hmxgraph.recall.scoring import THRESHOLD, WEIGHTS, Clock, Components, scores
from hmxgraph.text.lines import told

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
            told(pool.text[at], pool.speaker[at]),
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
