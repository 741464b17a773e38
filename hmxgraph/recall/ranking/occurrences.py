"""Which search terms stand in which events, and how often, as columns."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hmxgraph.recall.arrays import Floats, Integers
from hmxgraph.recall.ranking.lexicon import FAMILY, lexicon


class Occurrences:
    """The search terms of some events, given as the blank-separated words of each.

    >>> Occurrences(["deploy stage deploy", "stage"]).counts(["deploy", "cluster"]).tolist()
    [[2.0, 0.0], [0.0, 0.0]]

    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._lexicon = lexicon()
        counted = [self._lexicon.counted(text) for text in texts]
        self._numbers, self._times = np.concatenate(counted, axis=1) if counted else np.zeros((2, 0), dtype=np.int64)
        self._events = np.repeat(np.arange(len(texts)), [own.shape[1] for own in counted])
        self._size = len(texts)

    @cached_property
    def vocabulary(self) -> Integers:
        """How many different terms each event has."""
        return np.bincount(self._events, minlength=self._size)

    def first_told(self, ranks: Integers) -> Floats:
        """The share of each event's terms that no event of a lower rank has; *ranks* are all different.

        >>> Occurrences(["deploy stage", "stage cluster", "stage"]).first_told(np.array([0, 1, 2])).tolist()
        [1.0, 0.5, 0.0]

        """
        own = ranks[self._events]
        first = np.full(self._end, self._size)
        np.minimum.at(first, self._numbers, own)
        news = np.bincount(self._events[own == first[self._numbers]], minlength=self._size)
        return news / np.maximum(self.vocabulary, 1)

    def met(self, words: Iterable[str]) -> Integers:
        """How many of *words* each event has."""
        wanted = self._marked([number for word in words if (number := self._lexicon.get(word)) is not None])
        return np.bincount(self._events[wanted[self._numbers] >= 0], minlength=self._size)

    def counts(self, words: Sequence[str]) -> Floats:
        """How often each of *words* occurs in each event (words by events)."""
        return self._occurrences([self._lexicon[word] for word in words])

    def related_counts(self, words: Sequence[str]) -> Floats:
        """The same, with words of the same family counted in part."""
        counts = self.counts(words)
        kin = [(row, number) for row, word in enumerate(words) for number in self._kin(word, words)]
        places = {number: place for place, number in enumerate(dict.fromkeys(number for _, number in kin))}
        found = self._occurrences(list(places))
        for row, number in kin:
            counts[row] += FAMILY * found[places[number]]
        return counts

    def _kin(self, word: str, asked: Sequence[str]) -> list[int]:
        """The numbers of the words here that are kin to *word* and not asked for themselves, as the alphabet has them.

        The order is that in which fractions are added up.
        """
        alike = self._lexicon.kin(word)
        here = [(other, number) for other, number in alike if number < self._end and self._here[number]]
        return [number for other, number in sorted(here) if other not in asked]

    def shared(self, events: Sequence[int], least: int) -> list[str]:
        """The terms that at least so many of *events* have, in the order of the alphabet."""
        chosen = np.zeros(self._size, dtype=bool)
        chosen[list(events)] = True
        numbers, times = np.unique(self._numbers[chosen[self._events]], return_counts=True)
        return sorted(self._lexicon.words[number] for number in numbers[times >= least].tolist())

    def _occurrences(self, numbers: Sequence[int]) -> Floats:
        places = self._marked(numbers)[self._numbers]
        found = places >= 0
        cells = places[found] * self._size + self._events[found]
        shape = len(numbers), self._size
        return np.bincount(cells, self._times[found], shape[0] * shape[1]).astype(np.float64, copy=False).reshape(shape)

    def _marked(self, numbers: Sequence[int]) -> Integers:
        """For each number of a term its place among *numbers*, -1 where it has none."""
        places = np.full(self._end, -1)
        for place, number in enumerate(numbers):
            if number < self._end:
                places[number] = place
        return places

    @cached_property
    def _here(self) -> NDArray[np.bool_]:
        """For each number whether an event has that term."""
        found = np.zeros(self._end, dtype=bool)
        found[self._numbers] = True
        return found

    @cached_property
    def _end(self) -> int:
        """The numbers of all terms are below it."""
        return int(self._numbers.max(initial=-1)) + 1
