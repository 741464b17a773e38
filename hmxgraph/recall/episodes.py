"""Events as candidates: relevant by the ranking, recent by the clock, their own provenance."""

from collections.abc import Iterator

import numpy as np

from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.pool import EventPool, Floats
from hmxgraph.recall.scoring import Clock, Components

# The relevance from which on an event has anything to do with the question.
HELPS = 0.2


def episode_candidates(pool: EventPool, relevance: Floats, clock: Clock) -> Iterator[Candidate]:
    """A candidate for each event of *pool*, without its text."""
    for at, value in enumerate(relevance.tolist()):
        components = Components(value, clock.recency(pool.time_us[at]), 1.0, pool.salience[at])
        yield Candidate(
            "episodes",
            "episode",
            pool.event_id[at],
            pool.tokens[at],
            components.score,
            components,
            pool.words[at],
            origin="episodic",
            time_us=pool.time_us[at],
            session_id=pool.session_id[at],
            speaker=pool.speaker[at],
            place=at,
        )


def separated(relevance: Floats, assurance: float) -> Floats:
    """Relevance on [0, 1] with what helps at all lifted clear of what does not; all of it by how sure the match is."""
    return assurance * np.where(relevance > 0, HELPS + (1 - HELPS) * relevance, 0.0)
