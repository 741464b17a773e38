"""Simple baselines for context packs: BM25 over single texts, and filling a budget in order."""

from collections import Counter
from collections.abc import Sequence
from math import log1p

from hmxgraph.text.terms import terms


class PlainBM25:
    """Okapi BM25 over texts (k1 1.2, b 0.75), stemmed and without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(terms(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(texts)
        self._containing = Counter(term for counts in self._counts for term in counts)

    def order(self, question: str) -> list[int]:
        """The positions of the texts, best first; those without any question word last."""
        asked = {term: self._rarity(term) for term in sorted(set(terms(question))) if term in self._containing}
        scores = [self._score(asked, place) for place in range(len(self._counts))]
        return sorted(range(len(scores)), key=lambda place: (-scores[place], place))

    def _rarity(self, term: str) -> float:
        known = self._containing[term]
        return log1p((len(self._counts) - known + 0.5) / (known + 0.5))

    def _score(self, asked: dict[str, float], place: int) -> float:
        norm = 1.2 * (0.25 + 0.75 * self._lengths[place] / self._mean)
        counts = self._counts[place]
        return sum(
            weight * counts[term] * 2.2 / (counts[term] + norm) for term, weight in asked.items() if counts[term]
        )


def filled(order: Sequence[int], costs: Sequence[int], budget: int) -> set[int]:
    """The positions that fit *budget* when taken in *order*, skipping those that do not fit."""
    chosen, used = set(), 0
    for place in order:
        if used + costs[place] <= budget:
            used += costs[place]
            chosen.add(place)
    return chosen
