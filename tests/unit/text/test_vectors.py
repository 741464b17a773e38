"""Vectors of an embedder: invalid ones are rejected, and chance similarity means nothing."""

import math

import numpy as np
import pytest

from hmxgraph.errors import InvalidVectors
from hmxgraph.text.vectors import Background, checked_vectors


@pytest.mark.parametrize(
    ("vectors", "fault"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "vectors of 1 and 2 numbers"),
        ([[], []], "vectors of 0 numbers"),
        ([[[1.0]], [[1.0]]], "not flat lists"),
        ([[1.0], [math.nan]], "vector 2, which is nearly zero or not finite"),
        ([[1.0], [math.inf]], "vector 2, which is nearly zero or not finite"),
        ([[0.0], [1.0]], "vector 1, which is nearly zero or not finite"),
        ([[1.0] * 4097] * 2, "vectors of 4097 numbers"),
        (None, "NoneType"),
        (["ab", "c"], "list: "),
    ],
)
def test_what_is_no_vector_is_refused(vectors, fault):
    """The error says what was returned and what was expected."""
    with pytest.raises(InvalidVectors, match=fault):
        checked_vectors(vectors, 2)


def test_arrays_are_vectors():
    """Arrays, such as numpy's, are accepted."""
    assert checked_vectors(np.array([[1, 2], [3, 4]], dtype=np.float32), 2) == [[1.0, 2.0], [3.0, 4.0]]


def test_likeness_is_measured_above_chance():
    """A near text is close in meaning and a random one is not, even if the model finds all texts similar."""
    random = np.random.default_rng(7)
    sentences = random.normal(size=(24, 64))
    near, far = sentences[0] + 0.5 * sentences[1], random.normal(size=64)
    for shift in (0.0, 3.0):
        shifted, asked = sentences + shift, sentences[0] + shift
        background = Background.of(asked.tolist(), shifted[1:].tolist())
        assert background.closeness(cosine(asked, near + shift)) > 0.3
        assert background.closeness(cosine(asked, far + shift)) == 0.0


def cosine(left, right):
    """The cosine of the angle between two vectors."""
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
