"""Texts that say the same: equal once normalised, or sharing at least 0.92 of their word trigrams (DESIGN 6)."""

from collections.abc import Callable
from math import ceil

from hmxgraph.text.similarity import jaccard, runs_of_three
from hmxgraph.text.terms import words

ALIKE = 0.92
Trigrams = frozenset[tuple[str, ...]]


class Duplicates:
    """The texts seen so far; asks of each new one whether it repeats an earlier one.

    Two sets that share 92 % of their members share one of their first few in any fixed order (prefix filter, Bayardo,
    Ma and Srikant 2007), so that only a handful of candidates is ever compared.
    """

    def __init__(self, split: Callable[[str], list[str]] = words) -> None:
        self._split = split
        self._seen: set[str] = set()
        self._by_trigram: dict[int, list[Trigrams]] = {}

    def repeats(self, text: str) -> bool:
        """Whether *text* says what an earlier one said; remembers it if not.

        >>> seen = Duplicates()
        >>> seen.repeats("Always verify the rollout."), seen.repeats("always verify the ROLLOUT")
        (False, True)

        """
        found = self._split(text)
        normal = " ".join(found)
        if not normal:
            return False
        if normal in self._seen:
            return True
        shape = runs_of_three(found)
        # Any order will do, as long as it is one: that of hashes is the quickest to make.
        first = sorted(map(hash, shape))[: len(shape) - ceil(ALIKE * len(shape)) + 1]
        if any(_alike(shape, other) for start in first for other in self._by_trigram.get(start, ())):
            return True
        self._seen.add(normal)
        for start in first:
            self._by_trigram.setdefault(start, []).append(shape)
        return False


def _alike(shape: Trigrams, other: Trigrams) -> bool:
    """Whether two sets share enough; their sizes alone often tell that they do not."""
    small, large = sorted((len(shape), len(other)))
    return small >= ALIKE * large and jaccard(shape, other) >= ALIKE
