"""How alike two texts or two sets are, in [0, 1]."""

from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from hmxgraph.text.terms import words


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
