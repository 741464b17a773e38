"""Patterns built from lists of phrases."""

import re

_WORD = re.compile(r"[\w'-]+")
_PUNCTUATION = str.maketrans(dict.fromkeys('.,:;!?()[]{}"*_/', " "))


def one_of(*phrases: str) -> str:
    """A pattern for any of *phrases*, which are patterns themselves.

    >>> one_of("make sure", "be sure")
    '(?:make sure|be sure)'
    """
    return f"(?:{'|'.join(phrases)})"


def cues(text: str) -> frozenset[str]:
    """The words of a lower-case *text* by which rules decide whether to look at it at all.

    >>> sorted(cues("don't go, i'd say: never!"))
    ["don't", 'go', "i'd", 'never', 'say']
    """
    if text.isascii():
        return frozenset(text.translate(_PUNCTUATION).split())
    return frozenset(_WORD.findall(text))


def pattern(*parts: str) -> re.Pattern[str]:
    """The parts as one pattern that does not mind capitals."""
    return re.compile("".join(parts), re.IGNORECASE)
