"""Similarity is symmetric, bounded, and one for equal texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.text.comparison import jaccard, trigram_jaccard


@given(st.text(), st.text())
def test_likeness_is_symmetric_and_bounded(a, b):
    """For any texts, the similarity is in [0, 1] and does not depend on their order."""
    assert 0.0 <= trigram_jaccard(a, b) == trigram_jaccard(b, a) <= 1.0
    assert trigram_jaccard(a, a) == 1.0


def test_one_changed_word_costs_its_trigrams():
    """A changed word in the middle of a text takes three trigrams with it."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    other = [*words[:5], "other", *words[6:]]
    assert trigram_jaccard(" ".join(words), " ".join(other)) == pytest.approx(5 / 11)


def test_empty_collections_are_alike():
    """Two empty collections are alike; an empty and a non-empty one are not."""
    assert (jaccard([], []), jaccard([], [1])) == (1.0, 0.0)
