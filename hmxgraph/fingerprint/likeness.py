"""Groups of related things: connected by tags that are half the same, or by a tag and a title half the same."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Words = frozenset[str]


def related_groups(tags: Sequence[Words], titles: Sequence[Words]) -> list[list[int]]:
    """The places of all things as groups, each ascending, in the order of their first places.

    Two are related when the Jaccard similarity of their tags is at least 0.5, or when they share a tag and that of
    their titles' words is at least 0.5 (DESIGN 6). Relatedness is carried on: a chain is one group.

    >>> related_groups([frozenset("ab"), frozenset("abc"), frozenset("x")], [frozenset()] * 3)
    [[0, 1], [2]]

    """
    group = np.arange(len(tags))
    by_tag, by_title = _Overlap(tags), _Overlap(titles)
    for place in range(len(tags)):
        tags_alike, tags_shared = by_tag.with_earlier(place)
        titles_alike, _ = by_title.with_earlier(place)
        related = np.flatnonzero(tags_alike | (tags_shared & titles_alike))
        if len(related):
            _join(group, place, related)
    found: dict[int, list[int]] = {}
    for place, number in enumerate(group.tolist()):
        found.setdefault(number, []).append(place)
    return list(found.values())


class _Overlap:
    """How many words each set shares with those before it, by the places in which each word occurs."""

    def __init__(self, sets: Sequence[Words]) -> None:
        self._sizes = np.array([len(words) for words in sets], dtype=np.int32)
        # A word that occurs once is shared with nobody.
        frequency = Counter(word for words in sets for word in words)
        self._words = [sorted(word for word in words if frequency[word] > 1) for words in sets]
        self._places = {word: np.empty(count, dtype=np.int64) for word, count in frequency.items() if count > 1}
        self._seen: Counter[str] = Counter()

    def with_earlier(self, place: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each earlier set: whether it is at least half the same, and whether it shares anything at all."""
        shared = np.zeros(place, dtype=np.int32)
        for word in self._words[place]:
            shared[self._places[word][: self._seen[word]]] += 1
        self._note(place, self._words[place])
        # shared / (a + b - shared) >= 1/2, without a division
        alike = 3 * shared >= self._sizes[:place] + self._sizes[place]
        return alike & (shared > 0), shared > 0

    def _note(self, place: int, words: Iterable[str]) -> None:
        for word in words:
            self._places[word][self._seen[word]] = place
            self._seen[word] += 1


def _join(group: NDArray[np.int64], place: int, related: NDArray[np.int64]) -> None:
    """Give *place*, the *related* and their groups the smallest of their numbers."""
    present = np.zeros(len(group), dtype=bool)
    present[group[related]] = True
    present[group[place]] = True
    if np.count_nonzero(present) > 1:
        group[present[group]] = np.flatnonzero(present)[0]
