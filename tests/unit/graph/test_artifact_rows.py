"""Artifacts as rows and back, without a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.errors import InvalidDocument, NotFound, SuccessorMismatch, SupersessionCycle
from hmxgraph.graph._paging import cursor, place
from hmxgraph.graph.artifacts import artifact_row, core_differences, stored_artifact, stored_document, tampering
from hmxgraph.graph.lifecycle import check_recordable, check_successor, numbered
from hmxgraph.graph.plan import Tenancy
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, made, pattern, policy, schema

TENANCY = Tenancy.of("acme")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e9, 1e9) | st.sampled_from([1e21, -1e300, 5e-324])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries(
    {
        "confidence": st.floats(0, 1) | st.sampled_from([0, 1]),
        "status": st.sampled_from(["draft", "active", "archived"]),
        "source_events": st.lists(TEXTS, max_size=4),
        "metadata": st.dictionaries(TEXTS, JSON, max_size=3),
    },
    optional={
        "agent_id": TEXTS,
        "tags": st.lists(TEXTS, max_size=3),
        "observed_count": st.integers(0, 10**6),
        "success_rate": st.floats(0, 1),
        "updated_at": st.sampled_from([iso(at(3)), iso(at(4))]),
        "validity_scope": st.just({"agent_ids": ["a"], "conditions": ["x"]}),
    },
)


def row(artifact, **more):
    """The row of an artifact, tokens counted as words."""
    return artifact_row(TENANCY, artifact, lambda text: len(text.split()), **more)


def properties(artifact, **more):
    """The properties as the database returns them: None is absent, tuples are lists."""
    stored = row(artifact, **more)["properties"]
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in stored.items()}
    return {name: value for name, value in plain.items() if value is not None}


@given(st.dictionaries(TEXTS, JSON, max_size=4), FIELDS)
def test_a_document_survives_being_stored(content, fields):
    """A document is read exactly as it was stored, whatever its content and optional fields."""
    artifact = made("a1", "x-acme-note", content, 0, fields)
    stored = properties(artifact)
    expected = artifact.document() | {"tenant_id": "acme"}
    assert stored_document(stored) == expected
    assert tampering(stored) == ()
    assert stored_artifact(stored).document() == expected


def test_the_keys_of_a_row():
    """A new chain has its own key, evidence is listed once, a live artifact has the key of its content."""
    stored = row(schema("a1", source_events=["e2", "e1", "e2"], source_memory_ids=["m1"]))
    assert stored["key"] == stored["properties"]["key"] == stored["properties"]["chain_key"] == TENANCY.node_key("a1")
    assert stored["evidence_keys"] == [TENANCY.node_key("e1"), TENANCY.node_key("e2")]
    assert stored["memory_keys"] == [TENANCY.node_key("m1")]
    assert stored["properties"]["dedup_key"] is not None
    assert row(schema("a1", status="archived"))["properties"]["dedup_key"] is None
    assert stored["properties"]["lineage_key"] == "a1"
    assert row(schema("a1"), lineage_key="deploy")["properties"]["lineage_key"] == "deploy"


def test_equal_content_has_equal_keys():
    """The dedup key depends on tenant, type and content; the core hash on all immutable fields."""
    first, other = (row(schema(name))["properties"] for name in ("a1", "a2"))
    assert first["dedup_key"] == other["dedup_key"]
    assert first["core_hash"] != other["core_hash"]
    assert row(schema("a1", status="draft", tags=["x"]))["properties"]["core_hash"] == first["core_hash"]


def test_the_searchable_side():
    """Readable text with its tokens, stemmed terms of everything, the tenant's scope token."""
    stored = row(schema("a1", title="Deploying", tags=["k8s"]))["properties"]
    assert stored["text"].splitlines()[0] == "Deploying"
    assert stored["token_count"] == len(stored["text"].split())
    assert {"deploy", "manifest", "kubectl", "k8s"} <= set(stored["search_text"].split())
    assert stored["scope"] == TENANCY.scope


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (policy("a", "x", condition="Big tables"), policy("b", "y", condition="the big table"), True),
        (policy("a", "x", condition="Big tables"), policy("b", "y", condition="small tables"), False),
        (pattern("a", "Big tables", "x"), policy("b", "y", condition="Big tables"), False),
    ],
)
def test_situations_are_compared_by_their_terms(first, second, same):
    """Two artifacts of one type apply to the same situation if they name the same terms."""
    keys = [row(artifact)["properties"]["situation_key"] for artifact in (first, second)]
    assert (keys[0] == keys[1]) is same


@pytest.mark.parametrize("artifact", [schema("a"), policy("a", "x", condition="the"), made("a", "decision_policy", {})])
def test_without_a_subject_there_is_no_situation(artifact):
    """Artifacts of other types, and conditions without any term, have no situation key."""
    properties = row(artifact)["properties"]
    assert (properties["situation_key"], properties["uncompared"]) == (None, None)


def test_what_has_a_subject_waits_to_be_compared():
    """An artifact with a subject is marked as not compared yet."""
    assert row(policy("a", "x"))["properties"]["uncompared"] is True


@pytest.mark.parametrize(
    ("artifact", "guides"),
    [
        (schema("a"), "task_schema"),
        (made("a", "failure_playbook", {}), "failure_playbook"),
        (policy("a", "x", metadata={"tools": ["kubectl"]}), "decision_policy"),
        (policy("a", "x", metadata={"tools": []}), None),
        (policy("a", "x"), None),
        (pattern("a", "Big tables", "x"), None),
    ],
)
def test_what_can_guide_a_session_is_marked(artifact, guides):
    """Of policies, only those that name tools can guide the next call."""
    assert row(artifact)["properties"]["guides"] == guides


def test_visible_from_the_later_of_both_times():
    """An artifact recorded after its creation is visible from the time of recording."""
    assert row(schema("a1", second=5))["properties"]["status_times"] == [at(5)]
    assert row(schema("a1", second=5), at_us=at(9))["properties"]["status_times"] == [at(9)]
    assert row(schema("a1", second=5), at_us=at(2))["properties"]["status_times"] == [at(5)]


def test_the_time_of_the_update_keeps_its_spelling():
    """``updated_at`` is returned as it was given, until a later change."""
    given = "2026-03-15T00:00:00+02:00"
    stored = properties(schema("a1", updated_at=given))
    assert stored_document(stored)["updated_at"] == given
    before, after = stored["given_updated_us"] - 1, stored["given_updated_us"] + 1
    for time_us, spelling in ((before, given), (after, "2026-03-14T22:00:00.000001Z")):
        changed = {"status_times": [*stored["status_times"], time_us], "status_values": ["active", "archived"]}
        assert stored_document(stored | changed)["updated_at"] == spelling
    unspelled = {name: value for name, value in stored.items() if name != "given_updated_at"}
    assert stored_document(unspelled)["updated_at"] == "2026-03-14T22:00:00.000Z"


def test_the_overlay_of_each_time():
    """Status, successor, counts and last change are those of the requested time."""
    stored = properties(schema("a1", observed_count=2, updated_at=iso(at(0)))) | {
        "superseded_by": "a2",
        "status": "superseded",
        "status_times": [at(0), at(10), at(30)],
        "status_values": ["draft", "active", "superseded"],
        "count_times": [at(0), at(20)],
        "observed_counts": [2, 7],
        "success_rates": [-1.0, 0.5],
    }
    seen = [stored_document(stored, at(second)) for second in (0, 10, 20, 30)]
    assert [overlay["status"] for overlay in seen] == ["draft", "active", "active", "superseded"]
    assert [overlay.get("superseded_by") for overlay in seen] == [None, None, None, "a2"]
    assert [overlay["observed_count"] for overlay in seen] == [2, 2, 7, 7]
    assert [overlay.get("success_rate") for overlay in seen] == [None, None, 0.5, 0.5]
    assert [overlay["updated_at"] for overlay in seen] == [iso(at(second)) for second in (0, 10, 20, 30)]
    assert stored_document(stored, at(-1)) is None
    assert stored_document(stored) == seen[-1]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"content": '{"steps":[]}'}, ("content_hash", "core_hash", "text")),
        ({"summary": "Else"}, ("core_hash", "text")),
        ({"text": "Else"}, ("text",)),
        ({"source_events": ["e9"]}, ("core_hash",)),
        ({"content": "{"}, ("unreadable",)),
        ({"content": "[]"}, ("content_hash", "core_hash", "text")),
        ({"content": None}, ("unreadable",)),
    ],
)
def test_tampering_is_named(change, faults):
    """Each failed check is named; a document that cannot be read is reported as unreadable."""
    assert tampering(properties(schema("a1")) | change) == faults


def test_differences_of_cores_leave_the_overlay_out():
    """Only immutable fields are compared."""
    document = schema("a1", tags=["x"]).document()
    other_document = schema("a1", tags=["y"], title="Else", agent_id="b").document()
    assert core_differences(document, other_document) == ("agent_id", "title")


def test_all_faults_at_once():
    """All faults that keep an artifact from starting a chain are reported together."""
    wrong = schema("a1", tenant_id="other", content_hash="0" * 64, version=3, status="superseded")
    with pytest.raises(InvalidDocument) as caught:
        check_recordable(TENANCY, wrong)
    paths = [fault.path for fault in caught.value.faults]
    assert paths == ["$.tenant_id", "$.content_hash", "$.version", "$.status"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"hmx_version": "HMX-2.0"}, "$.hmx_version"),
        ({"created_at": "9999-12-31T23:59:59-01:00"}, "$.created_at"),
        ({"created_at": "0000-01-01T00:00:00Z"}, "$.created_at"),
        ({"updated_at": "9999-12-31T23:59:59-01:00"}, "$.updated_at"),
    ],
)
def test_other_major_versions_and_unrepresentable_times_are_refused(fields, path):
    """An artifact of another major version, or of a time that no pack can show, cannot start or continue a chain."""
    for check in (check_recordable, lambda tenancy, wrong: check_successor(tenancy, "a0", wrong)):
        with pytest.raises(InvalidDocument) as caught:
            check(TENANCY, schema("a1", **fields))
        assert [fault.path for fault in caught.value.faults] == [path]
    check_recordable(TENANCY, schema("a1", hmx_version="HMX-1.1", created_at="9999-12-31T23:59:59Z"))


def test_successors_are_checked_before_the_graph_is_asked():
    """An artifact cannot succeed itself; nor can another tenant's, or one that names another predecessor."""
    with pytest.raises(SupersessionCycle, match="new id"):
        check_successor(TENANCY, "a1", schema("a1"))
    with pytest.raises(SuccessorMismatch, match="tenant_id"):
        check_successor(TENANCY, "a1", schema("a2", tenant_id="other"))
    with pytest.raises(SuccessorMismatch, match="supersedes"):
        check_successor(TENANCY, "a1", schema("a2", version=2, supersedes="a0"))
    check_successor(TENANCY, "a1", schema("a2"))


def test_a_fresh_document_is_numbered():
    """Version 1 without a predecessor becomes the next version; any other version is kept for the graph to check."""
    old = {"artifact_id": "a1", "version": 4}
    assert (numbered(schema("a2"), old).version, numbered(schema("a2"), old).supersedes) == (5, "a1")
    assert numbered(schema("a2", version=9), old).version == 9
    assert numbered(schema("a2", supersedes="a1"), old).version == 1


@given(st.integers(-(2**63), 2**63 - 1), TEXTS)
def test_a_cursor_is_the_place_it_was_made_from(time_us, name):
    """A cursor decodes to the time and id that it was made from."""
    assert place(cursor(time_us, name)) == (time_us, name)


def test_a_cursor_of_no_time_is_refused():
    """A number that a database cannot store is refused."""
    with pytest.raises(NotFound):
        place(cursor(10**30, "a"))
