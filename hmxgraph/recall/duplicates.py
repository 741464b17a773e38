"""Texts that say the same: equal once normalised, or sharing at least 0.92 of their word trigrams (DESIGN 6)."""

from functools import lru_cache
from math import ceil
from typing import NamedTuple, TypeAlias

from hmxgraph.text.similarity import jaccard, runs_of_three
from hmxgraph.text.terms import words

ALIKE = 0.92
# Of sets with fewer members only equal ones share that much: one more than 11 out of 12 is not enough.
FEW = 12
# Packs of one tenant read the same texts again and again: so many are kept, some kilobytes each.
_REMEMBERED = 4_096
Trigrams: TypeAlias = frozenset[int]


class Shape(NamedTuple):
    """A text's trigrams, as numbers, and the few of them of which a text like it has to have one."""

    trigrams: Trigrams
    telling: tuple[int, ...]


class Duplicates:
    """The texts seen so far; asks of each new one whether it repeats an earlier one.

    Two sets that share 92 % of their members share one of their first few in any fixed order (prefix filter, Bayardo,
    Ma and Srikant 2007), so that only a handful of candidates is ever compared.
    """

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._few: set[Trigrams] = set()
        self._by_trigram: dict[int, list[Trigrams]] = {}

    def repeats(self, text: str) -> bool:
        """Whether *text* says what an earlier one said; remembers it if not.

        >>> seen = Duplicates()
        >>> seen.repeats("Always verify the rollout."), seen.repeats("always verify the ROLLOUT")
        (False, True)

        """
        if text in self._texts:
            return True
        shape = _shape(text)
        if not shape.trigrams:
            return False
        self._texts.add(text)
        return self._repeats_most(shape) if shape.telling else self._repeats_all(shape.trigrams)

    def _repeats_all(self, shape: Trigrams) -> bool:
        known = shape in self._few
        self._few.add(shape)
        return known

    def _repeats_most(self, shape: Shape) -> bool:
        own, telling = shape
        least, most = ALIKE * len(own), len(own) / ALIKE
        for start in telling:
            for other in self._by_trigram.get(start, ()):
                if least <= len(other) <= most and jaccard(own, other) >= ALIKE:
                    return True
        for start in telling:
            self._by_trigram.setdefault(start, []).append(own)
        return False


@lru_cache(maxsize=_REMEMBERED)
def _shape(text: str) -> Shape:
    own = frozenset(map(hash, runs_of_three(words(text))))
    # Any order will do, as long as it is one: that of hashes is the quickest to make.
    telling = sorted(own)[: len(own) - ceil(ALIKE * len(own)) + 1] if len(own) >= FEW else ()
    return Shape(own, tuple(telling))
