"""Words that the best events share beyond those of the question: pseudo-relevance feedback.

Answers come in other words than questions. What the best events have in common, and few others have, is likely to be
about the same matter: it is looked for as well, far below the question's own words. Rocchio 1971, "Relevance feedback
in information retrieval"; Lavrenko and Croft 2001, "Relevance-based language models".

Of talk only. A document with a title is about one subject, and others are reached from it by the names that they share
(``walk``); words that similar documents share lead back to where one is (multi-hop passages: 3 points of recall less).
"""

from collections.abc import Collection, Sequence

import numpy as np

from hmxgraph.recall.arrays import Floats
from hmxgraph.recall.ranking.field import Nearby, WordMatch, field_scores, rarity, weighted
from hmxgraph.recall.ranking.pool import EventPool

# So many events are believed, as far as their words meet the question this well; so many of their words are taken.
BELIEVED = 10
LEAST_MATCH = 0.2
MOST_WORDS = 15
# In how many of them a word has to stand, and beyond which part of all events it tells nothing.
SHARED_BY = 2
COMMON = 0.15
# What it adds to a relevance on which the best match of words is 1, and how it fades below the best.
WEIGHT = 0.2
FADING = 0.7


def feedback_scores(
    pool: EventPool, near: Nearby, first: Floats, words: Floats, asked: Collection[str], event_count: int
) -> Floats:
    """What each event gains, at most ``WEIGHT``.

    *first* are the scores so far, *words* their part that is the match of words; *asked* is not looked for again.
    """
    talk = pool.talk > 0
    good = np.argsort(-first, kind="stable")[:BELIEVED]
    best = good[(words[good] > LEAST_MATCH) & talk[good]].tolist()
    shared = _shared(pool, best, asked)
    if not shared:
        return np.zeros(len(pool))
    found = field_scores(_telling(pool, shared, {at: max(float(first[at]), 0.0) for at in best}, event_count), near)
    top = found.max(initial=0.0)
    return np.where(talk, WEIGHT * (found / top) ** FADING, 0.0) if top else found


def _shared(pool: EventPool, best: Sequence[int], asked: Collection[str]) -> list[str]:
    shared = pool.occurrences.shared(best, SHARED_BY) if best else []
    return [word for word in shared if word not in asked and not word.isdigit()]


def _telling(pool: EventPool, shared: Sequence[str], believed: dict[int, float], event_count: int) -> WordMatch:
    """The most telling of the *shared* words: those of the best events that are rare elsewhere."""
    counts = pool.occurrences.counts(shared)
    frequency = (counts > 0).sum(axis=1)
    places = list(believed)
    belief = weighted(np.array([believed[at] for at in places]), (counts[:, places] > 0).T)
    worth = np.where(frequency <= COMMON * len(pool), belief * np.log((len(pool) + 1) / (frequency + 0.5)), 0.0)
    order = np.argsort(-worth, kind="stable")[:MOST_WORDS]
    chosen = order[worth[order] > 0]
    weights = rarity(frequency[chosen], max(event_count, len(pool))) * worth[chosen] / worth.max(initial=1e-9)
    return WordMatch(tuple(shared[int(row)] for row in chosen), counts[chosen], weights)
