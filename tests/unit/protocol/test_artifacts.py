"""Artifacts: typed values, hashes, lifecycle."""

import pytest

from hmxgraph.conformance.kit import example
from hmxgraph.errors import InvalidDocument
from hmxgraph.protocol.artifacts import LEGAL_TRANSITIONS, STATUSES, Artifact, TimeRange, ValidityScope
from hmxgraph.protocol.canonical import content_hash

SCHEMA = example("artifact-task-schema")


def test_fields_are_the_wires():
    """Fields have their wire names; lists are tuples, absent fields are None."""
    artifact = Artifact.parse(SCHEMA)
    assert (artifact.version, artifact.tags, artifact.superseded_by) == (
        2,
        ("kubernetes", "deployment", "staging"),
        None,
    )
    assert artifact.content["steps"][4]["optional"] is True
    assert artifact.document() == SCHEMA


def test_scope_is_typed():
    """The validity scope is read as a value, and written unchanged, including unknown fields."""
    scope = {"agent_ids": ["a"], "time_range": {"start": "2026-01-01T00:00:00Z"}, "moon": "full"}
    artifact = Artifact.parse({**SCHEMA, "validity_scope": scope})
    assert artifact.validity_scope.time_range.start == "2026-01-01T00:00:00Z"
    assert artifact.validity_scope.time_range.end is None
    assert artifact.document()["validity_scope"] == scope


def test_constructor_takes_typed_parts():
    """Parts may be given as values; their absent fields stay absent."""
    scope = ValidityScope(tags=("x",), time_range=TimeRange(start="2026-01-01T00:00:00Z", end=None))
    artifact = Artifact(**{**SCHEMA, "validity_scope": scope, "agent_id": None})
    expected = {"tags": ["x"], "time_range": {"start": "2026-01-01T00:00:00Z"}}
    assert artifact.document() == {**SCHEMA, "validity_scope": expected}


def test_constructor_refuses_what_parse_refuses():
    """The constructor rejects invalid artifacts."""
    with pytest.raises(InvalidDocument, match="from 0 to 1"):
        Artifact(**{**SCHEMA, "confidence": 1.5})


def test_hash_of_content():
    """A correct content hash matches; a wrong one is reported as a warning, not rejected."""
    assert not Artifact.parse(SCHEMA).hash_matches
    assert "$.content_hash" in Artifact.parse(SCHEMA).warnings[0]
    true = Artifact.parse({**SCHEMA, "content_hash": content_hash(SCHEMA["content"])})
    assert true.hash_matches
    assert true.warnings == ()


def test_five_legal_transitions():
    """Five changes of status are legal, no others; final states lead nowhere."""
    assert {(start, end) for start, ends in LEGAL_TRANSITIONS.items() for end in ends} == {
        ("draft", "active"),
        ("active", "superseded"),
        ("active", "deprecated"),
        ("active", "archived"),
        ("draft", "deprecated"),
    }
    assert set(LEGAL_TRANSITIONS) == set(STATUSES)


def test_huge_whole_floats_are_no_versions():
    """A version that is an integer to a schema but beyond 2^53-1 is rejected."""
    with pytest.raises(InvalidDocument, match="version"):
        Artifact.parse({**SCHEMA, "version": 1e300})
