"""Embeddings of events: one dimension per tenant, and only comparable norms."""

import pytest

from hmxgraph.ingest.prepare import first_dimension, left_out
from tests.unit.ingest.making import prepared


def test_the_first_embedding_that_came_names_the_dimension():
    """The order of arrival decides, not the order of the session; events without an embedding say nothing."""
    events = [prepared(embeddings=embeddings, sequence=n) for n, embeddings in enumerate(([1, 2], [3, 4, 5]))]
    assert first_dimension(events) == 2
    assert first_dimension([prepared()]) is None


def test_embeddings_of_another_dimension_are_reported():
    """One warning for each dimension, naming both; further ones are silent."""
    events = [prepared(embeddings=[1, 2]), prepared(embeddings=[1]), prepared()]
    (warning,) = left_out(events, 2)
    assert warning == "an embedding of 1 numbers is left out of comparisons: this tenant's have 2"


@pytest.mark.parametrize("embeddings", [[0.0, 0.0], [1e200, 1.0], [1e-200]])
def test_embeddings_without_a_direction_are_reported(embeddings):
    """A vector that single precision cannot compare is kept for the hash and sets no dimension."""
    made = prepared(embeddings=embeddings)
    assert made.properties["embeddings"] == embeddings
    assert "embedding_dimension" not in made.properties
    assert len(list(left_out([made], None))) == 1
