"""Words as numbers, so that the words of some hundred events are counted in columns.

Packs rank the same events again and again, and most words stand in many of them: numbers are given once, and what was
counted is kept. Which number a word has depends on what was asked before; nothing that is counted does.
"""

from collections import Counter
from functools import lru_cache
from itertools import count

import numpy as np

from hmxgraph.recall.arrays import Integers

# What a related word counts beside the very word that was asked for: allergy, allergic.
FAMILY = 0.3
SHARED_BEGINNING = 5
LONGEST_ENDING = 4
# Texts whose words are kept as numbers, a kilobyte or two each, and words from which on all is begun anew.
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
        first = self._families.setdefault(word[:SHARED_BEGINNING], {}) if word.isalpha() else self
        number = self[word] = first.setdefault(word, own)
        return number

    def _counted(self, text: str) -> Integers:
        """The numbers of the blank-separated words of *text*, each once, and below them how often each occurs."""
        times = Counter(text.split())
        return np.array([[*map(self.__getitem__, times)], [*times.values()]], dtype=np.int64)

    def kin(self, word: str) -> list[tuple[str, int]]:
        """The other words met so far that are of the family of *word*, with their numbers.

        They share its beginning and differ in the ending only; numbers and identifiers that do are strangers.

        >>> lexicon = Lexicon()
        >>> numbers = [lexicon[word] for word in ("allergi", "allerg", "bread", "order12345", "order12346")]
        >>> lexicon.kin("allergi") == [("allerg", numbers[1])], lexicon.kin("order12345")
        (True, [])

        """
        if len(word) < SHARED_BEGINNING or not word.isalpha():
            return []
        lengths = range(len(word) - LONGEST_ENDING, len(word) + LONGEST_ENDING + 1)
        family = self._families.get(word[:SHARED_BEGINNING], {}).copy()
        return [(other, number) for other, number in family.items() if other != word and len(other) in lengths]


_current = Lexicon()


def lexicon() -> Lexicon:
    """The one in use; a new one where the old one has grown too large."""
    global _current  # noqa: PLW0603 - replaced whole, so that who works with the old one goes on with it
    if len(_current) > _MOST_WORDS:
        _current = Lexicon()
    return _current
