"""Words that stand close to those of a question: of the same family, or of the same meaning in everyday English."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from hmxgraph.text.terms import terms

# What a related word counts beside the very word that was asked for.
FAMILY = 0.3
MEANING = 0.2
# Words of one family share their beginning and differ in the ending only: allergy, allergic.
SHARED_BEGINNING = 5
LONGEST_ENDING = 4


class Kinship:
    """For each word, which of the question's terms it counts for, and how much."""

    def __init__(self, asked: Sequence[str]) -> None:
        self._rows = {term: row for row, term in enumerate(asked)}
        self._families: dict[str, list[str]] = {}
        self._meanings: dict[str, list[str]] = {}
        for term in self._rows:
            if len(term) >= SHARED_BEGINNING:
                self._families.setdefault(term[:SHARED_BEGINNING], []).append(term)
            for other in _meanings().get(term, ()):
                self._meanings.setdefault(other, []).append(term)

    def of(self, word: str) -> tuple[tuple[int, float], ...]:
        """Pairs of a term's place in the question and a weight in (0, 1].

        >>> Kinship(["allergi", "pet"]).of("allerg"), Kinship(["allergi", "pet"]).of("puppi")
        (((0, 0.3),), ((1, 0.2),))

        """
        if (row := self._rows.get(word)) is not None:
            return ((row, 1.0),)
        weights = {self._rows[term]: MEANING for term in self._meanings.get(word, ())}
        for term in self._families.get(word[:SHARED_BEGINNING], ()):
            if abs(len(term) - len(word)) <= LONGEST_ENDING:
                weights[self._rows[term]] = FAMILY
        return tuple(sorted(weights.items()))

    def among(self, vocabulary: Iterable[str]) -> dict[str, tuple[tuple[int, float], ...]]:
        """What each word of *vocabulary* counts for, of those that count for anything."""
        rows, meanings, families = self._rows, self._meanings, self._families
        near = (word for word in vocabulary if word in rows or word in meanings or word[:SHARED_BEGINNING] in families)
        return {word: found for word in near if (found := self.of(word))}


@cache
def _meanings() -> Mapping[str, frozenset[str]]:
    """For each term the terms that share a group with it."""
    related: dict[str, set[str]] = {}
    text = files("hmxgraph.recall").joinpath("everyday.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        group = [] if line.startswith("#") else terms(line)
        for term in group:
            related.setdefault(term, set()).update(other for other in group if other != term)
    return {term: frozenset(others) for term, others in sorted(related.items())}
