"""How well the words of a question meet an event and the turns around it: BM25 over a field of neighbours.

A turn rarely repeats what the turn before it asked about; so the words of up to four turns before and after count for
it too, weaker with each step. Formula: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hmxgraph.recall.kinship import Kinship
from hmxgraph.recall.pool import REACH, EventPool, Floats, Integers
from hmxgraph.text.terms import terms as terms_of

K1 = 1.5
B = 0.75
# What words weigh one turn later and one turn earlier: an answer follows its question more often than the reverse.
LATER = 0.65
EARLIER = 0.6
# Words by which questions are put say less about the answer than words of the matter.
ASKING = 0.5
_ASKING_WORDS = frozenset(
    terms_of(
        "kind type sort many much long often way thing something mention describe say tell name "
        "according different various"
        " specific first recent recently"
    )
)
# A matching question turn passes that much more on to the turn that answers it.
ANSWERED = 0.4


@dataclass(frozen=True, slots=True)
class WordMatch:
    """Occurrences of the question's terms in each event (terms by events), and what each term is worth."""

    terms: tuple[str, ...]
    counts: Floats
    weights: Floats

    @property
    def share(self) -> Floats:
        """The part of the question's information that each event has itself, in [0, 1]."""
        total = self.weights.sum()
        return self.weights @ (self.counts > 0) / total if total else np.zeros(self.counts.shape[1])


class Counted(NamedTuple):
    """A pool and the counts of the same terms in it."""

    pool: EventPool
    counts: Floats


def match_words(terms: Sequence[str], pool: EventPool, event_count: int, counted: Counted | None = None) -> WordMatch:
    """Where the *terms* occur in the *pool*, weighted by how rare they are among the tenant's events.

    Events that were *counted* before are not counted again.
    """
    counts = _counts(terms, pool.words) if counted is None else _more_counts(terms, pool, counted)
    rare = rarity((counts >= 1).sum(axis=1), max(event_count, len(pool)))
    return WordMatch(tuple(terms), counts, rare * [ASKING if term in _ASKING_WORDS else 1.0 for term in terms])


def rarity(frequency: Floats | Sequence[int], size: int) -> Floats:
    """Inverse document frequency of terms that stand in *frequency* of *size* documents.

    >>> bool(rarity([1], 100)[0] > rarity([50], 100)[0] > 0)
    True

    """
    known = np.asarray(frequency, dtype=np.float64)
    return np.log1p((size - known + 0.5) / (known + 0.5))


def field_scores(match: WordMatch, pool: EventPool) -> Floats:
    """BM25 of the question over each event's neighbourhood; zeros where nothing matches."""
    if not len(pool) or not len(match.terms):
        return np.zeros(len(pool))
    near = _Neighbourhood(pool)
    counts = near.spread(match.counts, boosted=True)
    lengths = near.spread(pool.lengths[np.newaxis, :], boosted=False)[0]
    # Events without a single token have no length to compare.
    norms = K1 * (1 - B + B * lengths / (lengths.mean() or 1.0))
    scores: Floats = match.weights @ (counts * (K1 + 1) / (counts + norms))
    return scores


class _Neighbourhood:
    """The pairs of events within reach of each other, and how much the one's words count for the other."""

    def __init__(self, pool: EventPool) -> None:
        self._asks = pool.questions
        self._pairs = [self._within_reach(pool, shift) for shift in range(1, REACH + 1)]

    @staticmethod
    def _within_reach(pool: EventPool, shift: int) -> tuple[int, Integers, Integers]:
        gaps = pool.places[shift:] - pool.places[:-shift]
        first = np.flatnonzero(gaps <= REACH)
        return shift, first, gaps[first]

    def spread(self, values: Floats, *, boosted: bool) -> Floats:
        """*values* (rows by events) with what neighbours pass on."""
        total = values.copy()
        for shift, first, gaps in self._pairs:
            boost = 1 + ANSWERED * (self._asks[first] & (gaps == 1)) if boosted else 1.0
            total[:, first + shift] += values[:, first] * LATER**gaps * boost
            total[:, first] += values[:, first + shift] * EARLIER**gaps
        return total


def _more_counts(terms: Sequence[str], pool: EventPool, counted: Counted) -> Floats:
    before = np.array([counted.pool.index.get(event_id, -1) for event_id in pool.event_id], dtype=np.int64)
    new = np.flatnonzero(before < 0)
    counts = counted.counts[:, before]
    counts[:, new] = _counts(terms, [pool.words[at] for at in new])
    return counts


def _counts(terms: Sequence[str], texts: Sequence[str]) -> Floats:
    """Terms by texts. Most words are kin to no term: they are told apart once for all texts, not once for each."""
    split = [text.split() for text in texts]
    kin = Kinship(terms).among(set().union(*split))
    counts = [[0.0] * len(texts) for _ in terms]
    for column, words in enumerate(split):
        for word in words:
            if word in kin:
                for row, weight in kin[word]:
                    counts[row][column] += weight
    return np.array(counts).reshape(len(terms), len(texts))
