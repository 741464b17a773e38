"""Artifacts on the real graph: recorded once, immutable, superseded in linear chains, with five legal transitions."""

import pytest

from hmxgraph.errors import (
    AlreadySuperseded,
    DuplicateArtifact,
    ImmutableArtifact,
    InvalidDocument,
    InvalidTransition,
    NotFound,
    SuccessorMismatch,
    SuccessorNeeded,
    SupersessionCycle,
)
from hmxgraph.graph import artifacts, lifecycle
from hmxgraph.graph.plan import Tenancy
from hmxgraph.protocol.artifacts import LEGAL_TRANSITIONS, STATUSES
from tests.artifact_makers import at, made, policy, schema


@pytest.fixture
def perform(connection):
    """Runs a procedure and returns its result."""
    return connection.perform


@pytest.fixture
def tenancy(tenant_id):
    """The tenant of this test."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def record(perform, tenancy):
    """Records an artifact and returns the receipt."""
    return lambda artifact: perform(lifecycle.record_artifact(tenancy, artifact))


@pytest.fixture
def supersede(perform, tenancy):
    """Supersedes an artifact by another and returns the receipt."""
    return lambda old_id, artifact: perform(lifecycle.supersede(tenancy, old_id, artifact))


@pytest.fixture
def shown(perform, tenancy):
    """Returns one artifact by id, as of now or of a given second."""

    def show(artifact_id, second=None):
        as_of_us = None if second is None else at(second)
        return perform(artifacts.artifact(tenancy, artifact_id, as_of_us=as_of_us))

    return show


def test_an_artifact_comes_back_as_it_was_given(record, shown, tenancy):
    """Every field of the document comes back, with the tenant filled in."""
    scope = {"agent_ids": ["a"], "time_range": {"start": "2026-03-01T00:00:00Z"}, "conditions": ["none"]}
    given = schema(
        "a1",
        confidence=1,
        source_events=["e2", "e1"],
        source_memory_ids=["m1"],
        agent_id="compiler",
        tags=["k8s"],
        observed_count=15,
        success_rate=0.87,
        validity_scope=scope,
        metadata={"z": [1, {"y": None}], "a": "é"},
        updated_at="2026-03-15T00:00:00Z",
        created_at="2026-03-14T04:00:00+01:00",
    )
    assert record(given).outcome == "created"
    assert shown("a1").document() == given.document() | {"tenant_id": tenancy.tenant_id}


def test_recording_again_changes_nothing(record, shown):
    """Recording the same core again changes nothing, even if overlay fields such as tags and status differ."""
    record(schema("a1", tags=["one"]))
    again = record(schema("a1", tags=["two"], status="draft"))
    assert (again.outcome, again.artifact.tags, again.artifact.status) == ("unchanged", ("one",), "active")
    assert shown("a1") == again.artifact


def test_the_core_is_immutable(record, shown):
    """An existing id with another core is refused, the error names the changed fields, and nothing is written."""
    record(schema("a1"))
    with pytest.raises(ImmutableArtifact, match="different content, content_hash, title ") as caught:
        record(schema("a1", step="Something else", title="Else"))
    assert caught.value.fields == ("content", "content_hash", "title")
    assert shown("a1").title == "Title of a1"


def test_equal_content_is_recorded_once_while_it_lives(record, perform, tenancy):
    """Equal content of one type is recorded once while that artifact lives; archiving it allows another."""
    record(schema("a1"))
    assert record(schema("a2")).artifact.artifact_id == "a1"
    assert record(made("x1", "x-acme-note", schema("any").content)).outcome == "created"
    perform(lifecycle.transition(tenancy, "a1", "archived"))
    assert record(schema("a2")).outcome == "created"


def test_a_custom_type_is_an_artifact_like_any_other(record, shown):
    """An artifact of a namespaced type is stored and found (HMX-A 3)."""
    record(made("x1", "x-acme-checklist", {"points": ["Breathe", "Look"]}))
    assert shown("x1").artifact_type == "x-acme-checklist"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"tenant_id": "somebody else"}, "$.tenant_id"),
        ({"content_hash": "0" * 64}, "$.content_hash"),
        ({"version": 2}, "$.version"),
        ({"status": "superseded"}, "$.status"),
        ({"hmx_version": "HMX-2.0"}, "$.hmx_version"),
        ({"created_at": "9999-12-31T23:59:59-01:00"}, "$.created_at"),
        ({"status": "archived", "superseded_by": "a2"}, "$.superseded_by"),
    ],
)
def test_an_artifact_that_cannot_begin_a_chain_is_refused(record, shown, fields, path):
    """A field that a first version cannot have is reported as the only fault, and nothing is stored."""
    with pytest.raises(InvalidDocument) as caught:
        record(schema("a1", **fields))
    assert [fault.path for fault in caught.value.faults] == [path]
    with pytest.raises(NotFound):
        shown("a1")


def test_supersession_is_status_edge_and_version_at_once(record, supersede, shown):
    """Superseding sets the old status, the links in both directions and the next version at once (HMX-A 7)."""
    record(schema("a1"))
    done = supersede("a1", schema("a2", step="Apply, then verify", second=60))
    assert (done.outcome, done.superseded_id, done.artifact.version) == ("created", "a1", 2)
    old, new = shown("a1"), shown("a2")
    assert (old.status, old.superseded_by, old.updated_at) == ("superseded", "a2", "2026-03-14T03:01:00.000Z")
    assert (new.status, new.supersedes, new.superseded_by) == ("active", "a1", None)


def test_a_document_that_names_its_predecessor_supersedes_it(record, shown):
    """Recording an artifact with ``supersedes`` and the next version supersedes its predecessor."""
    record(schema("a1"))
    assert record(schema("a2", step="Else", version=2, supersedes="a1")).superseded_id == "a1"
    with pytest.raises(NotFound, match="a9"):
        record(schema("a3", step="More", version=2, supersedes="a9"))
    assert shown("a1").superseded_by == "a2"


def test_superseding_twice_alike_is_done_once(record, supersede):
    """Superseding with the same successor again is reported as unchanged."""
    record(schema("a1"))
    supersede("a1", schema("a2", step="Else"))
    assert supersede("a1", schema("a2", step="Else")).outcome == "unchanged"


def test_a_successor_may_say_the_same_with_new_confidence(record, supersede):
    """A successor may have its predecessor's content: it is not a duplicate, because it replaces the predecessor."""
    record(schema("a1"))
    assert supersede("a1", schema("a2", confidence=0.9)).outcome == "created"
    assert record(schema("a3")).artifact.artifact_id == "a2"


def test_a_successor_may_not_say_what_a_third_one_says(record, supersede, shown):
    """A successor with the content of another active artifact is refused as a duplicate."""
    record(schema("a1"))
    record(schema("b1", step="Else"))
    with pytest.raises(DuplicateArtifact, match="b1"):
        supersede("a1", schema("a2", step="Else"))
    assert shown("a1").status == "active"


def test_there_is_one_successor(record, supersede):
    """Superseding an artifact that has a successor is refused, and the error names that successor."""
    record(schema("a1"))
    supersede("a1", schema("a2", step="Else"))
    with pytest.raises(AlreadySuperseded) as caught:
        supersede("a1", schema("a3", step="More"))
    assert caught.value.winner_id == "a2"


def test_history_has_no_loops(record, supersede):
    """An artifact cannot be superseded by itself or by an older version of its chain (HMX-A 7)."""
    record(schema("a1"))
    supersede("a1", schema("a2", step="Else"))
    supersede("a2", schema("a3", step="More"))
    for old_id, artifact in [("a3", schema("a1")), ("a3", schema("a2", step="Else")), ("a3", schema("a3"))]:
        with pytest.raises(SupersessionCycle):
            supersede(old_id, artifact)


def test_a_stored_artifact_does_not_become_a_successor(record, supersede):
    """An artifact recorded on its own cannot become a successor: version and predecessor are part of its core."""
    record(schema("a1"))
    record(schema("b1", step="Else"))
    with pytest.raises(ImmutableArtifact, match="supersedes, version"):
        supersede("a1", schema("b1", step="Else"))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tenant_id": "somebody else"}, "tenant_id"),
        ({"version": 3, "supersedes": "a1"}, "version"),
        ({"version": 1, "supersedes": "a1"}, "version"),
        ({"supersedes": "a7", "version": 2}, "supersedes"),
        ({"status": "archived"}, "status"),
        ({"artifact_type": "x-acme-note"}, "artifact_type"),
    ],
)
def test_a_successor_continues_its_predecessor(record, supersede, shown, fields, field):
    """A successor's tenant, predecessor, type, version and status must fit (HMX-A 7); the error names the field."""
    record(schema("a1"))
    with pytest.raises(SuccessorMismatch) as caught:
        supersede("a1", schema("a2", step="Else").model_copy(update=fields))
    assert caught.value.field == field
    assert shown("a1").status == "active"


@pytest.mark.parametrize("status", ["draft", "deprecated", "archived"])
def test_only_an_active_head_is_superseded(record, supersede, status):
    """Only an active artifact can be superseded (HMX-A 5)."""
    record(schema("a1", status=status))
    with pytest.raises(InvalidTransition, match=f"from '{status}' to 'superseded'"):
        supersede("a1", schema("a2", step="Else"))


def test_nothing_is_superseded_that_is_not_there(supersede):
    """Superseding an unknown artifact is an error that names it."""
    with pytest.raises(NotFound, match="no artifact 'a1'"):
        supersede("a1", schema("a2"))


@pytest.mark.parametrize("before", [status for status in STATUSES if status != "superseded"])
@pytest.mark.parametrize("after", STATUSES)
def test_five_transitions_are_legal(record, perform, tenancy, shown, before, after):
    """Only the transitions of HMX-A 5 are legal; superseded is reached only through a successor."""
    record(schema("a1", status=before))
    move = lifecycle.transition(tenancy, "a1", after, reason="because", at_us=at(9))
    if after in LEGAL_TRANSITIONS[before] and after != "superseded":
        assert perform(move).status == after
        assert (shown("a1").status, shown("a1", 8).status) == (after, before)
    else:
        with pytest.raises(SuccessorNeeded if (before, after) == ("active", "superseded") else InvalidTransition):
            perform(move)
        assert shown("a1").status == before


def test_superseded_is_final(record, supersede, perform, tenancy):
    """No transition leads out of superseded."""
    record(schema("a1"))
    supersede("a1", schema("a2", step="Else"))
    for status in STATUSES:
        with pytest.raises(InvalidTransition, match="is final"):
            perform(lifecycle.transition(tenancy, "a1", status))


def test_an_unknown_status_is_refused(record, perform, tenancy):
    """A transition to an unknown status is refused, and the error lists the legal ones."""
    record(schema("a1"))
    with pytest.raises(InvalidTransition, match="legal from 'active': superseded, deprecated, archived"):
        perform(lifecycle.transition(tenancy, "a1", "retired"))


def test_tenants_do_not_see_each_other(record, perform, tenancy):
    """Artifacts with the same id in two tenants are independent, and a tenant cannot read the other's."""
    record(policy("a1", "Go online"))
    other = Tenancy.of(tenancy.tenant_id + "-other")
    with pytest.raises(NotFound):
        perform(artifacts.artifact(other, "a1"))
    assert perform(lifecycle.record_artifact(other, policy("a1", "Go offline"))).outcome == "created"
    assert perform(artifacts.artifacts(tenancy)).artifacts[0].content["recommendation"] == "Go online"
