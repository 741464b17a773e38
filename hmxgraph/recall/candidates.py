"""Candidates and their scores: four components combined (HMX-C 5)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall._times import Span
from hmxgraph.recall.pool import Floats, Integers
from hmxgraph.recall.question import PackRequest, Question

# The tenant state that a pack is built from.


@dataclass(frozen=True, slots=True)
class State:
    """The tenant, its state version, the moment of the request, and the number of the tenant's events.

    - ``truncated``: whether more events or knowledge match, or may match, than were read.
    - ``unsettled``: whether concurrent writes occurred during every attempt to read, so that the state has no single
      version.
    """

    tenant_id: str
    state_version: int
    as_of_us: int
    event_count: int
    truncated: bool = False
    unsettled: bool = False


# One score from four components, for every kind of candidate (HMX-C 5).

# The weights of the components.
_RELEVANCE, _RECENCY, _PROVENANCE, _SALIENCE = 0.4, 0.2, 0.2, 0.2
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"relevance": _RELEVANCE, "recency": _RECENCY, "provenance": _PROVENANCE, "salience": _SALIENCE}
)
# Below this score a candidate is dropped as low_relevance.
THRESHOLD = 0.40
# Recency halves in this many days.
HALF_LIFE_DAYS = 7.0
# The same for the strategy ``recency_biased``.
_RECENT_HALF_LIFE_DAYS = 2.0
# Number of component values whose rounded form is cached, because most candidates share a few values.
_CACHED_NUMBERS = 4_096


def plain(number: float) -> float:
    """Return *number* as canonical JSON writes it (RFC 8785 3.2.2.3): whole numbers without ".0"."""
    return int(number) if number.is_integer() else number


@lru_cache(maxsize=_CACHED_NUMBERS)
def _four_decimals(number: float) -> float:
    return plain(round(1.0 * number, 4))


class Components(NamedTuple):
    """The components of a score, each in [0, 1]."""

    relevance: float
    recency: float
    provenance: float
    salience: float

    @property
    def score(self) -> float:
        """The weighted sum, rounded to six decimals.

        >>> Components(1.0, 0.5, 1.0, 0.5).score
        0.8

        """
        relevance, recency, provenance, salience = self
        weighted = _RELEVANCE * relevance + _RECENCY * recency + _PROVENANCE * provenance + _SALIENCE * salience
        return round(weighted, 6)

    def document(self) -> dict[str, float]:
        """Return the components as JSON values, rounded to four decimals.

        >>> Components(1.0, 0.5, 0.123456, 0.0).document()
        {'relevance': 1, 'recency': 0.5, 'provenance': 0.1235, 'salience': 0}

        """
        relevance, recency, provenance, salience = map(_four_decimals, self)
        return {"relevance": relevance, "recency": recency, "provenance": provenance, "salience": salience}


def scores(relevance: Floats, recency: Floats, provenance: float, salience: Floats) -> Floats:
    """Return :attr:`Components.score` for many candidates with the same *provenance*.

    >>> scores(np.array([1.0]), np.array([0.5]), 1.0, np.array([0.5])).tolist()
    [0.8]

    """
    weighted = _RELEVANCE * relevance + _RECENCY * recency + _PROVENANCE * provenance + _SALIENCE * salience
    rounded: Floats = np.round(weighted, 6)
    return rounded


@dataclass(frozen=True, slots=True)
class RecencyDecay:
    """Recency as exponential decay from ``moment`` (None: now); always 0 without a half-life."""

    moment: Span | None
    half_life_days: float | None
    now_us: int = 0

    def recency(self, time_us: int | None) -> float:
        """Return 2^(-distance from the moment / half-life), in [0, 1]; 0 without a time or a half-life."""
        if time_us is None or self.half_life_days is None:
            return 0.0
        distance_us = max(self.now_us - time_us, 0) if self.moment is None else self.moment.distance_us(time_us)
        return float(2.0 ** (-distance_us / DAY_US / self.half_life_days))

    def recencies(self, times: Integers) -> Floats:
        """Return :meth:`recency` for many times at once."""
        if self.half_life_days is None:
            return np.zeros(len(times))
        distances = np.maximum(self.now_us - times, 0) if self.moment is None else self.moment.distances_us(times)
        decayed: Floats = 2.0 ** (-distances / DAY_US / self.half_life_days)
        return decayed


def recency_decay(request: PackRequest, question: Question, as_of_us: int) -> RecencyDecay:
    """Return how recency decays for *request* as of *as_of_us*.

    Recency decays from the time that the question names, otherwise from now. A time that has not ended is ignored in a
    request for work, because it is not about past events ("a plan for this week"). A question about the past that names
    no time gets no recency at all, unless it asks for the latest of something or has no terms ("?"). With the strategy
    ``recency_biased``, recency always decays from now, with a shorter half-life.
    """
    if request.strategy == "recency_biased":
        return RecencyDecay(None, _RECENT_HALF_LIFE_DAYS, as_of_us)
    if question.span is not None and not (question.works and not question.overview and question.span.end_us > as_of_us):
        return RecencyDecay(question.span, HALF_LIFE_DAYS, as_of_us)
    by_age = question.latest or not question.recalls or not question.terms
    return RecencyDecay(None, HALF_LIFE_DAYS if by_age else None, as_of_us)


def support(confidence: float, observations: int) -> float:
    """Return the trust in an inferred record: its confidence, discounted while observations are few.

    >>> round(support(0.9, 8), 3)
    0.72

    """
    return confidence * observations / (observations + 2)


# The section of events, and their origin.
SECTION = "episodes"
EPISODIC = "episodic"
# The name of the speaker at the beginning of a memory.
SAID_BY = re.compile(r"\A[^\W\d_][\w .'-]{0,59}: ")

# One candidate of any kind: event, memory, artifact, task record, entity, relation or conflict.

# Ranking key: the score, negated, then tokens, id and section.
Order: TypeAlias = tuple[float, int, str, str]


class Candidate(NamedTuple):
    """An item that may become an entry of a pack.

    - ``tokens``: the length of the rendered line in tokens, or only of the text if the candidate cannot be included.
    - ``label``: marks text from outside sources, and disputed, superseded or rejected content.
    - ``verdict``: a drop reason known in advance, or "".
    - ``exempt``: a hard rule or pinned memory, which is never dropped as low_relevance.

    For events:

    - ``place``: the index in the event pool.
    - ``call``: the index of the call that a result belongs to, or -1.
    - ``tool``: whether it is a tool call or a tool's result.
    - ``outcome``: the last feedback on the session, "positive" or "negative"; "" for none. Always "" in a log of many
      tasks, a session too long to be shown as one episode.
    - ``step``: the number of the event's step in such a log if the log is shown by steps, otherwise -1.
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
    call: int = -1
    tool: bool = False
    outcome: str = ""
    step: int = -1

    @property
    def useful(self) -> bool:
        """Whether it may be included: it has no verdict, and its score is high enough or it is exempt."""
        return not self.verdict and (self.exempt or self.score >= THRESHOLD)

    @property
    def order(self) -> Order:
        """The ranking key (HMX-C 3.3); the section distinguishes two candidates made from the same record."""
        return -self.score, self.tokens, self.source_id, self.section


class Ranked(NamedTuple):
    """A candidate with its global rank, starting at 1."""

    rank: int
    candidate: Candidate


class Dropped(NamedTuple):
    """A candidate that was left out, with the reason (HMX-C 8)."""

    ranked: Ranked
    reason: str
