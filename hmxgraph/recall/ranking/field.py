"""How well the words of a question meet an event and the turns around it: BM25 over a field of neighbours.

A turn rarely repeats what the turn before it asked about; so the words of up to four turns before and after count for
it too, weaker with each step. Formula: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hmxgraph.recall.arrays import Floats
from hmxgraph.recall.ranking.pool import REACH, EventPool
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
    def worth(self) -> dict[str, float]:
        """What each term is worth."""
        return dict(zip(self.terms, self.weights.tolist(), strict=True))

    @property
    def share(self) -> Floats:
        """The part of the question's information that each event has itself, in [0, 1]."""
        total = self.weights.sum()
        return weighted(self.weights, self.counts > 0) / total if total else np.zeros(self.counts.shape[1])


def match_words(terms: Sequence[str], pool: EventPool, event_count: int) -> WordMatch:
    """Where the *terms* occur in the *pool*, weighted by how rare they are among the tenant's events."""
    counts = pool.occurrences.related_counts(terms)
    rare = rarity((counts >= 1).sum(axis=1), max(event_count, len(pool)))
    return WordMatch(tuple(terms), counts, rare * [ASKING if term in _ASKING_WORDS else 1.0 for term in terms])


def rarity(frequency: Floats | Sequence[int], size: int) -> Floats:
    """Inverse document frequency of terms that stand in *frequency* of *size* documents.

    >>> bool(rarity([1], 100)[0] > rarity([50], 100)[0] > 0)
    True

    """
    known = np.asarray(frequency, dtype=np.float64)
    return np.log1p((size - known + 0.5) / (known + 0.5))


def field_scores(match: WordMatch, near: "Nearby") -> Floats:
    """BM25 of the question over each event's neighbourhood; zeros where nothing matches."""
    met = match.counts.any(axis=1)
    counts = near.spread(match.counts[met], boosted=True)
    return weighted(match.weights[met], counts * (K1 + 1) / (counts + near.norms))


def weighted(weights: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    """The sums of *values* (rows by columns) over their rows, each row with its weight.

    Not by matrix product: that goes to a library with threads of its own, which wait by spinning, on the processors
    that the server works on, and sum in an order that depends on the machine.

    >>> weighted(np.array([1.0, 0.5]), np.array([[1.0, 0.0], [2.0, 4.0]])).tolist()
    [2.0, 2.0]

    """
    found: Floats = np.einsum("r,rc->c", weights, values)
    return found


class Nearby:
    """How much the words of each event count for those before and after it, by how far they are apart in the pool."""

    def __init__(self, pool: EventPool) -> None:
        self._shares = [self._at(pool, shift) for shift in range(1, min(REACH + 1, len(pool)))]
        lengths = self.spread(pool.lengths[np.newaxis, :], boosted=False)[0]
        # Events without a single token have no length to compare.
        mean = (lengths.mean() if len(pool) else 0.0) or 1.0
        self.norms: Floats = K1 * (1 - B + B * lengths / mean)

    @staticmethod
    def _at(pool: EventPool, shift: int) -> tuple[int, Floats, Floats, Floats]:
        """What goes to the later event, the same where a question is answered, and what goes to the earlier one."""
        gaps = pool.places[shift:] - pool.places[:-shift]
        steps = np.minimum(gaps, REACH + 1)
        later = _shares(LATER)[steps]
        answers = later * (1 + ANSWERED * (pool.questions[:-shift] & (gaps == 1)))
        return shift, later, answers, _shares(EARLIER)[steps]

    def spread(self, values: Floats, *, boosted: bool) -> Floats:
        """*values* (rows by events) with what neighbours pass on."""
        total = values.copy()
        for shift, later, answers, earlier in self._shares:
            total[:, shift:] += values[:, :-shift] * (answers if boosted else later)
            total[:, :-shift] += values[:, shift:] * earlier
        return total


def _shares(each_step: float) -> Floats:
    """What is passed on over 0, 1, 2, ... steps; nothing beyond reach."""
    return np.array([*(each_step**step for step in range(REACH + 1)), 0.0])
