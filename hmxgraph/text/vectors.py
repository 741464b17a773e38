"""Check the vectors that an embedder returns, and turn the similarity of texts into closeness in meaning."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hmxgraph.errors import InvalidVectors

# Checks of an embedder's vectors.

# The largest number of dimensions that the server's index accepts.
_MOST_DIMENSIONS = 4096
# The smallest norm of a vector, because the squares of much smaller numbers are 0 in single precision.
_SMALLEST_NORM = 1e-18


def checked_vectors(vectors: Any, count: int) -> list[list[float]]:
    """Return the *vectors* of *count* texts as lists of floats.

    Raises:
        InvalidVectors: not one list of numbers per text, or vectors that are empty, longer than the index accepts,
            of different sizes, not finite or (nearly) zero.

    >>> checked_vectors([(1, 0)], 1)
    [[1.0, 0.0]]

    """
    try:
        rows = [np.asarray(vector, dtype=np.float64) for vector in vectors]
    except (TypeError, ValueError) as error:
        raise InvalidVectors(f"{type(vectors).__name__}: {error}", "a list of numbers for each text") from error
    if len(rows) != count:
        raise InvalidVectors(f"{len(rows)} vectors for {count} texts", "one vector for each text, in the same order")
    if any(row.ndim != 1 for row in rows):
        raise InvalidVectors("values that are not flat lists of numbers", "a list of numbers for each text")
    sizes = sorted({row.size for row in rows})
    if len(sizes) > 1 or any(not 0 < size <= _MOST_DIMENSIONS for size in sizes):
        sizes_text = " and ".join(map(str, sizes))
        raise InvalidVectors(
            f"vectors of {sizes_text} numbers", f"vectors of one size, 1 to {_MOST_DIMENSIONS:,} numbers"
        )
    for number, row in enumerate(rows, start=1):
        if not np.isfinite(row).all() or float(np.linalg.norm(row)) < _SMALLEST_NORM:
            fault = f"vector {number}, which is nearly zero or not finite"
            raise InvalidVectors(fault, "finite numbers, not all of them nearly zero")
    return [row.tolist() for row in rows]


# From similarity to closeness in meaning. The cosine of unrelated texts depends on the model: 0.05 with one, 0.75 with
# another. A question is therefore first compared with these sentences on unrelated subjects, to find out which cosine
# unrelated texts have with the current model.

BACKGROUND = (
    "The train to the coast was twenty minutes late again.",
    "Could you please close the window before you leave?",
    "He bought a kilo of tomatoes and some bread.",
    "The function returns an empty list when there is no match.",
    "My sister is learning to play the violin.",
    "What does the committee think of the new proposal?",
    "It rained all night and the cellar is full of water.",
    "Merge the branch after the tests have passed.",
    "The museum is closed on Mondays.",
    "I prefer tea to coffee in the afternoon.",
    "Our neighbours painted their fence green.",
    "The invoice for March has not been paid yet.",
    "How long does it take to walk to the station?",
    "The patient has had a fever since yesterday.",
    "Three volcanoes erupted on the island last century.",
    "She finally finished the novel she was reading.",
    "Restart the server if the connection times out.",
    "The team lost the final after extra time.",
    "There are two cats sleeping on the sofa.",
    "Please book a table for four on Friday evening.",
    "The company opened a second office in Lisbon.",
    "Stir the sauce until it thickens.",
    "I forgot the password of my old account.",
    "Which of these phones has the better camera?",
)
# Minimum standard deviation: smaller differences between cosines are only noise.
_LEAST_DEVIATION = 0.01
# Number of standard deviations above the background at which similarity begins to count, and at which closeness is 1.
_CHANCE, _CERTAIN = 2.5, 7.0
# The standard deviation of a normal distribution is this many times its median absolute deviation.
_DEVIATIONS_PER_MAD = 1.4826


class Background(NamedTuple):
    """How similar a question is to unrelated sentences, and how much similarities of unrelated texts vary.

    Both are based on medians, because a few of the sentences may happen to be related to the question or to each other.
    """

    middle: float
    deviation: float

    @classmethod
    def of(cls, question: Sequence[float], sentences: Sequence[Sequence[float]]) -> "Background":
        """Compare the vector of a *question* with those of the *sentences*, and all of them with each other."""
        rows = np.array([question, *sentences])
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, np.newaxis]
        # Not a matrix product, because the order in which BLAS adds depends on the machine.
        cosines = np.einsum("ik,jk->ij", rows, rows)
        pairs = cosines[np.triu_indices(len(rows), 1)]
        spread = _DEVIATIONS_PER_MAD * float(np.median(np.abs(pairs - np.median(pairs))))
        return cls(float(np.median(cosines[0, 1:])), max(spread, _LEAST_DEVIATION))

    def closeness(self, similarity: float) -> float:
        """Return how close in meaning a text with this *similarity* is to the question: 0 (unrelated) to 1.

        >>> Background(0.1, 0.1).closeness(0.3), Background(0.1, 0.1).closeness(0.9)
        (0.0, 1.0)

        """
        above = (similarity - self.middle) / self.deviation
        return round(min(max((above - _CHANCE) / (_CERTAIN - _CHANCE), 0.0), 1.0), 6)
