"""Comparison of two texts: how alike they are, and whether they contradict each other."""

import re
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from hmxgraph.text.terms import STOP_WORDS, terms, words

# How alike two texts or two sets are, in [0, 1].


def jaccard(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """Shared members over all members (Jaccard 1901); two empty collections are alike.

    >>> jaccard(["deploy", "staging"], ["deploy", "production"])
    0.3333333333333333

    """
    left: AbstractSet[Hashable] = a if isinstance(a, AbstractSet) else set(a)
    right: AbstractSet[Hashable] = b if isinstance(b, AbstractSet) else set(b)
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 1.0


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """Each run of three words in *text*; a shorter text is one run.

    >>> sorted(trigrams("always verify the rollout"))
    [('always', 'verify', 'the'), ('verify', 'the', 'rollout')]

    """
    return frozenset(runs_of_three(words(text)))


def runs_of_three(found: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Each run of three among words already *found*, in their order; fewer are one run.

    >>> list(runs_of_three(["a", "b", "a", "b"])), list(runs_of_three(["verify", "it"]))
    ([('a', 'b', 'a'), ('b', 'a', 'b')], [('verify', 'it')])

    """
    if len(found) < 3:
        return [tuple(found)] if found else []
    return zip(found, found[1:], found[2:], strict=False)


def trigram_jaccard(text_a: str, text_b: str) -> float:
    """The Jaccard likeness of two texts' word trigrams: 1.0 for texts that differ in punctuation and case only.

    >>> trigram_jaccard("Verify the rollout!", "verify the rollout")
    1.0

    """
    return jaccard(trigrams(text_a), trigrams(text_b))


# Whether two short directives or statements say the opposite of each other, by their words alone.

# Two directives speak about the same from here on: shared terms over all terms, or over those of the shorter one.
ALIKE = 0.6
_INSIDE = 0.8
_SHORT_NOT = re.compile(r"(?<!\bca)(?<=\w)n['\u2019]t\b|(?<=\bcan)(?:['\u2019]t|not)\b", re.IGNORECASE)
# Words about how long, of whom and how much a directive holds say nothing about what it is about.
_FOR_GOOD = re.compile(
    r"(?i:\b(?:from now on|(?:going|moving) forward|in (?:the )?future|henceforth|as a rule|in general|by default"
    r"|at all times|without (?:any )?exceptions?|no matter|any ?more|any longer|ever again)\b)"
    r"|(?<!\bin )(?<!\bof )(?<!\b(?:last|next|this) )\bmay(?= [a-z])"
    r"|(?:(?<=\bis )|(?<='re )|(?<=\b(?:are|not) ))(?:allowed|permitted) to\b"
)
_NOT = re.compile(r"\b(?:no longer|nobody|no[ -]one|under no circumstances|stop(?= \w+ing\b))", re.IGNORECASE)
_NEGATIONS = frozenset(
    (
        "not",
        "never",
        "no",
        "without",
        "avoid",
        "avoids",
        "avoiding",
        "refrain",
        "forbid",
        "forbids",
        "forbidden",
        "prohibit",
        "prohibits",
        "prohibited",
        "disallow",
        "disallowed",
        "neither",
        "nor",
        "prevent",
        "prevents",
    )
)
# The right word means the opposite of the left one.
_ANTONYMS = (
    "accept reject",
    "add remove",
    "allow deny",
    "allow block",
    "approve reject",
    "before after",
    "continue stop",
    "enable disable",
    "fast slow",
    "faster slower",
    "increase decrease",
    "increase reduce",
    "keep delete",
    "lock unlock",
    "online offline",
    "open close",
    "pass fail",
    "run skip",
    "start stop",
    "up down",
    "success failure",
    "valid invalid",
    "safe unsafe",
    "healthy unhealthy",
    "grow shrink",
    "rise fall",
)
_WEIGHTLESS = frozenset(terms("always must ever please use using used should shall need every"))

# Types of relations that cannot both hold between the same two entities, each pair in alphabetical order.
OPPOSED_RELATIONS = [
    ["allows", "forbids"],
    ["avoids", "prefers"],
    ["blocks", "enables"],
    ["causes", "prevents"],
    ["contradicts", "supports"],
    ["dislikes", "likes"],
    ["excludes", "requires"],
]


class _Stance(NamedTuple):
    """What is spoken about, and whether for or against it."""

    about: frozenset[str]
    against: bool


def stance(text: str) -> _Stance:
    """The search terms of *text* without its negations, and whether an odd number of them turns it round.

    >>> stance("Never deploy on Fridays") == _Stance(frozenset({"deploy", "friday"}), against=True)
    True
    >>> stance("Don't avoid retries").against
    False
    >>> stance("From now on nobody may deploy on Fridays") == stance("Never deploy on Fridays")
    True
    """
    plain = _FOR_GOOD.sub("", _NOT.sub(" not", _SHORT_NOT.sub(" not", text)))
    found = [(word, _base(word)) for word in words(plain)]
    turns = sum(word in _NEGATIONS or base in _OPPOSITES for word, base in found)
    kept = [_OPPOSITES.get(base, base) for word, base in found if word not in _NEGATIONS]
    about = frozenset(base for base in kept if base in _KEPT or base not in STOP_WORDS)
    return _Stance(about - _WEIGHTLESS, against=turns % 2 == 1)


def opposed(one: str, other: str) -> bool:
    """Whether both speak about the same, one for and one against it.

    >>> opposed("Use ALTER TABLE directly", "Never use ALTER TABLE directly")
    True
    >>> opposed("Use ALTER TABLE directly", "Never deploy on Fridays")
    False
    """
    left, right = stance(one), stance(other)
    return left.against != right.against and _same_subject(left.about, right.about)


def differs(one: str, other: str) -> bool:
    """Whether two answers to one question are not the same answer: other words, or the opposite.

    An answer that only says more is not another one.

    >>> differs("Use an online migration", "Use a blue-green switch"), differs("Retry twice.", "retry twice, then wait")
    (True, False)
    """
    left, right = stance(one), stance(other)
    return left.against != right.against or _inside(left.about, right.about) < _INSIDE


def _same_subject(left: frozenset[str], right: frozenset[str]) -> bool:
    if min(len(left), len(right)) > 1:
        return jaccard(left, right) >= ALIKE or _inside(left, right) >= _INSIDE
    return bool(left) and jaccard(left, right) >= ALIKE


def _inside(left: frozenset[str], right: frozenset[str]) -> float:
    """The share of the smaller set that the larger one has (overlap coefficient)."""
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else float(left == right)


def _base(word: str) -> str:
    """The search term of a word; a stop word itself."""
    return (terms(word) or [word])[0]


_OPPOSITES = {_base(wrong): _base(right) for right, wrong in (pair.split() for pair in _ANTONYMS)}
# Stop words that carry the meaning once an antonym turned on them.
_KEPT = frozenset({"before", "up"})
