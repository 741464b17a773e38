"""Texts that say the same: equal once normalised, or sharing at least 0.92 of their word trigrams (DESIGN 6)."""

import re
import unicodedata
from functools import lru_cache
from math import ceil
from typing import NamedTuple, TypeAlias

from hmxgraph.text.similarity import jaccard, runs_of_three

ALIKE = 0.92
# Of sets with fewer members only equal ones share that much: one more than 11 out of 12 is not enough.
FEW = 12
# Packs of one tenant read the same texts again and again: so many are kept, some kilobytes each.
_REMEMBERED = 4_096
# What may stand around a word and changes nothing of what is said; "-5", ".5", "!ready", "C#" and "<b" are other words.
_QUOTES = "\"'`*_\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u300c\u300d\u300e\u300f"
_SENTENCE = ".,;:!?\u2026\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
_BEFORE = _QUOTES + "([{\u00a1\u00bf\uff08"
_AFTER = _QUOTES + _SENTENCE + ")]}\uff09"
# A word of nothing else ends or marks up a sentence; ":(" and "[]" tell something.
_UNTOLD = _QUOTES + _SENTENCE + "#\u2022"
_WITHOUT_SPACES = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])")
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
        >>> seen.repeats("Agents can deploy"), seen.repeats("Agents can't deploy")
        (False, False)

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
    own = frozenset(map(hash, runs_of_three(_said(text))))
    # Any order will do, as long as it is one: that of hashes is the quickest to make.
    telling = sorted(own)[: len(own) - ceil(ALIKE * len(own)) + 1] if len(own) >= FEW else ()
    return Shape(own, tuple(telling))


def _said(text: str) -> list[str]:
    """The words of *text* between blanks, in one case, without what only ends, quotes or marks up a sentence.

    Everything inside a word and every other mark is part of it: "can't" is not "can", "-5" not "5", "C#" not "C++".
    A text of nothing else is what it is. In scripts without blanks each character is a word.

    >>> _said('**Always** use "C#" (not C++), or "can\u2019t"!'), _said("!!!")
    (['always', 'use', 'c#', 'not', 'c++', 'or', "can't"], ['!!!'])

    """
    written = (text.casefold() if text.isascii() else _folded(text)).split()
    return [bare for word in written if (bare := word if word.isalnum() else _bare(word))] or written


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFC", text.casefold()).replace("\u2019", "'")
    return _WITHOUT_SPACES.sub(r" \1 ", plain)


def _bare(word: str) -> str:
    """*word* without what surrounds it; "" where that is all, unless it tells something."""
    return (word.lstrip(_BEFORE).rstrip(_AFTER) or word) if word.strip(_UNTOLD) else ""
