"""Words as numbers, so that the words of some hundred events are counted in columns.

Packs rank the same events again and again, and most words stand in many of them: numbers are given once, and what was
counted is kept. Which number a word has depends on what was asked before; nothing that is counted does.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import count

import numpy as np

from hmxgraph.recall.arrays import Integers

# What a related word counts beside the very word that was asked for: allergy, allergic.
FAMILY = 0.3
SHARED_BEGINNING = 5
LONGEST_ENDING = 4
# Texts whose words are kept as numbers, some hundred bytes each, and words from which on all is begun anew.
_REMEMBERED = 8_192
_MOST_WORDS = 200_000


class Lexicon(dict[str, int]):
    """The number of each word; one that is new gets the next. Threads may share it.

    >>> lexicon = Lexicon()
    >>> lexicon["deploy"] == lexicon["deploy"] != lexicon["stage"]
    True

    """

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[int, str] = {}
        self.counted = lru_cache(maxsize=_REMEMBERED)(self._counted)
        self._next = count()
        self._families: dict[str, dict[str, int]] = {}

    def __missing__(self, word: str) -> int:
        own = next(self._next)
        self.words[own] = word
        # The family first: a thread that finds the word finds it there too.
        number = self[word] = self._families.setdefault(word[:SHARED_BEGINNING], {}).setdefault(word, own)
        return number

    def _counted(self, text: str) -> Integers:
        """The numbers of the blank-separated words of *text*, each once, and below them how often each occurs."""
        times = Counter(text.split())
        return np.array([[*map(self.__getitem__, times)], [*times.values()]], dtype=np.int64)

    def kin(self, asked: Sequence[str]) -> list[tuple[int, int, float]]:
        """For each word met so far that counts for one of those *asked*: the place of that, its number, its weight.

        A word itself counts whole; those of its family, with the same beginning and another ending, in part.

        >>> lexicon = Lexicon()
        >>> numbers = [lexicon[word] for word in ("allergi", "allerg", "bread")]
        >>> lexicon.kin(["allergi", "pet"]) == [(0, numbers[0], 1.0), (0, numbers[1], 0.3)]
        True

        """
        found = [(row, number, 1.0) for row, word in enumerate(asked) if (number := self.get(word)) is not None]
        for row, word in enumerate(asked):
            alike = sorted(self._families.get(word[:SHARED_BEGINNING], {}).copy().items())
            found += [(row, number, FAMILY) for other, number in alike if other not in asked and _related(word, other)]
        return found


def _related(word: str, other: str) -> bool:
    return len(word) >= SHARED_BEGINNING and abs(len(other) - len(word)) <= LONGEST_ENDING


_current = Lexicon()


def lexicon() -> Lexicon:
    """The one in use; a new one where the old one has grown too large."""
    global _current  # noqa: PLW0603 - replaced whole, so that who works with the old one goes on with it
    if len(_current) > _MOST_WORDS:
        _current = Lexicon()
    return _current
