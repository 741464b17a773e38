"""Two shares compared kind by kind, so that hard kinds of requests blame nothing that only they need."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stratum:
    """The sessions of one kind of request: with and without something, and how many of each show the effect."""

    having: int
    affected: int
    others: int
    others_affected: int

    @property
    def expected(self) -> float:
        """How many of those that have it would show the effect if it made no difference."""
        return self.having * (self.affected + self.others_affected) / (self.having + self.others)

    @property
    def variance(self) -> float:
        """How far chance moves that number (hypergeometric)."""
        total, affected = self.having + self.others, self.affected + self.others_affected
        return self.having * self.others * affected * (total - affected) / (total * total * (total - 1))


def strata(observed: Iterable[tuple[str, bool, bool]]) -> dict[str, Stratum]:
    """The kinds in which some have it and others do not, from (kind, has it, shows the effect) for each session.

    >>> strata([("a", True, True), ("a", False, False), ("b", True, True)])
    {'a': Stratum(having=1, affected=1, others=1, others_affected=0)}
    """
    counts: defaultdict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for kind, has, shows in observed:
        counts[kind][has, shows] += 1
    found = {
        kind: Stratum(one[True, True] + one[True, False], one[True, True],
                      one[False, True] + one[False, False], one[False, True])
        for kind, one in sorted(counts.items())
    }  # fmt: skip
    return {kind: one for kind, one in found.items() if one.having and one.others}


def clearness(found: Sequence[Stratum]) -> float:
    """How many standard errors the affected lie above what chance would give, over all kinds (Mantel, Haenszel 1959).

    >>> round(clearness([Stratum(6, 6, 6, 0)]), 2), clearness([Stratum(6, 3, 6, 3)])
    (3.32, 0.0)
    """
    surplus = sum(one.affected for one in found) - sum(one.expected for one in found)
    variance = sum(one.variance for one in found)
    return surplus / math.sqrt(variance) if variance > 0 else 0.0
