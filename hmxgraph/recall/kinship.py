"""Words of the same family as those of a question: they share their beginning and differ in the ending only."""

from collections.abc import Iterable, Sequence

# What a related word counts beside the very word that was asked for: allergy, allergic.
FAMILY = 0.3
SHARED_BEGINNING = 5
LONGEST_ENDING = 4


class Kinship:
    """For each word, which of the question's terms it counts for, and how much."""

    def __init__(self, asked: Sequence[str]) -> None:
        self._rows = {term: row for row, term in enumerate(asked)}
        self._families: dict[str, list[str]] = {}
        for term in self._rows:
            if len(term) >= SHARED_BEGINNING:
                self._families.setdefault(term[:SHARED_BEGINNING], []).append(term)

    def of(self, word: str) -> tuple[tuple[int, float], ...]:
        """Pairs of a term's place in the question and a weight in (0, 1].

        >>> Kinship(["allergi", "pet"]).of("allerg"), Kinship(["allergi", "pet"]).of("pet")
        (((0, 0.3),), ((1, 1.0),))

        """
        if (row := self._rows.get(word)) is not None:
            return ((row, 1.0),)
        kin = (term for term in self._families.get(word[:SHARED_BEGINNING], ()) if _same_family(term, word))
        return tuple(sorted((self._rows[term], FAMILY) for term in kin))

    def among(self, vocabulary: Iterable[str]) -> dict[str, tuple[tuple[int, float], ...]]:
        """What each word of *vocabulary* counts for, of those that count for anything."""
        rows, families = self._rows, self._families
        near = (word for word in vocabulary if word in rows or word[:SHARED_BEGINNING] in families)
        return {word: found for word in near if (found := self.of(word))}


def _same_family(term: str, word: str) -> bool:
    return abs(len(term) - len(word)) <= LONGEST_ENDING
