"""Exact filters as facets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.errors import PackError
from hmxgraph.protocol.records import FILTERS
from hmxgraph.records.search import facet_token, facets, required_facets
from tests.unit.records.making import made

FULL = {
    "status": "completed",
    "challenge_id": "c1",
    "thread_id": "th",
    "reply_to_artifact_id": "r0",
    "artifact_role": "pilot",
    "dataset_refs": [{"name": "soil", "version": "2"}, {"name": "rain", "version": "7"}],
    "entity_refs": [{"name": "E. coli", "entity_type": "organism"}],
    "tool_name": "blast",
    "project_id": "p1",
    "agent_id": "ana",
    "session_id": "s1",
    "requested_action": "verify",
    "verification_status": "verified",
    "relation_kind": "supports",
}
VALUES = {name: value for name, value in FULL.items() if isinstance(value, str)} | {
    "task_id": "t1",
    "artifact_kind": "evidence",
    "dataset_name": "soil",
    "dataset_version": "2",
    "entity_name": "E. coli",
    "entity_type": "organism",
}


def test_there_are_eighteen_filters_and_each_has_a_facet():
    """A record that has everything is found by each of the eighteen filters, and by all at once."""
    tokens = set(facets(made(**FULL)))
    assert set(VALUES) == set(FILTERS)
    assert len(FILTERS) == 18
    for name in FILTERS:
        assert set(required_facets({name: VALUES[name]})) <= tokens
        assert not set(required_facets({name: "another"})) <= tokens
    assert set(required_facets(VALUES)) <= tokens


def test_name_and_version_must_be_of_one_data_set():
    """The version of another data set does not match this one; nor does the type of another entity."""
    tokens = set(facets(made(**FULL)))
    assert not set(required_facets({"dataset_name": "soil", "dataset_version": "7"})) <= tokens
    assert set(required_facets({"dataset_name": "rain", "dataset_version": "7"})) <= tokens


@pytest.mark.parametrize(("filters", "message"), [({"task": "t"}, "unknown filter 'task'"), ({"task_id": 3}, "text")])
def test_an_unknown_filter_is_refused_not_skipped(filters, message):
    """A misspelt filter, or a value that is not text, raises an error that lists the valid ones."""
    with pytest.raises(PackError, match=message):
        required_facets(filters)


@given(st.text(), st.text())
def test_tokens_are_plain_words_unique_to_their_value(value, other_value):
    """Whatever characters a value has, its token is one plain word, equal only for equal values."""
    tokens = facet_token(f"status={value}"), facet_token(f"status={other_value}")
    assert all(token.isascii() and token.isalnum() for token in tokens)
    assert (tokens[0] == tokens[1]) == (value == other_value)
