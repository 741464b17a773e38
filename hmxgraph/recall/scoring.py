"""From four components to one score, the same for every kind of candidate (HMX-C 5, DESIGN 6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.arrays import Floats, Integers
from hmxgraph.recall.asking.question import Question
from hmxgraph.recall.asking.request import PackRequest
from hmxgraph.recall.asking.times import Span

_RELEVANCE, _RECENCY, _PROVENANCE, _SALIENCE = 0.4, 0.2, 0.2, 0.2
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"relevance": _RELEVANCE, "recency": _RECENCY, "provenance": _PROVENANCE, "salience": _SALIENCE}
)
# Below this a candidate says too little about the question (DESIGN 6).
THRESHOLD = 0.40
HALF_LIFE_DAYS = 7.0
RECENT_HALF_LIFE_DAYS = 2.0


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
        return Clock(None, RECENT_HALF_LIFE_DAYS, as_of_us)
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
