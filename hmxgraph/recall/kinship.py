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
    """For each word, which of the question's terms it counts for, and how much; remembered for the next event."""

    def __init__(self, asked: Sequence[str]) -> None:
        self._rows = {term: row for row, term in enumerate(asked)}
        self._known: dict[str, tuple[tuple[int, float], ...]] = {}

    def of(self, word: str) -> tuple[tuple[int, float], ...]:
        """Pairs of a term's place in the question and a weight in (0, 1].

        >>> Kinship(["allergi", "pet"]).of("allerg"), Kinship(["allergi", "pet"]).of("puppi")
        (((0, 0.3),), ((1, 0.2),))

        """
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = tuple(self._related(word))
        return found

    def _related(self, word: str) -> Iterable[tuple[int, float]]:
        if (row := self._rows.get(word)) is not None:
            return [(row, 1.0)]
        meanings = _meanings().get(word, frozenset())
        weights = {row: _closeness(word, term, meanings) for term, row in self._rows.items()}
        return [(row, weight) for row, weight in weights.items() if weight]


def _closeness(word: str, term: str, meanings: frozenset[str]) -> float:
    beginning = word[:SHARED_BEGINNING]
    if (
        len(beginning) == SHARED_BEGINNING
        and term.startswith(beginning)
        and abs(len(term) - len(word)) <= LONGEST_ENDING
    ):
        return FAMILY
    return MEANING if term in meanings else 0.0


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
