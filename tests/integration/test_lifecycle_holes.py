"""Storage rules that once lost or exposed data: overlays, whole chains, loops, scopes that never apply."""

import random

import pytest

import hmxgraph
from hmxgraph.errors import (
    AlreadySuperseded,
    IngestRefused,
    InvalidDocument,
    InvalidRequest,
    InvalidTransition,
    NotFound,
    TaskError,
)
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, schema
from tests.task_makers import tasks_of
from tests.unit.fingerprint import states
from tests.unit.ingest.making import document


def test_recording_again_names_what_it_ignored(graph):
    """Recording a document again does not change its status or counts, and the receipt lists what it ignored."""
    graph.record_artifact(schema("a1", observed_count=3, tags=["deploy"]))
    again = graph.record_artifact(schema("a1", observed_count=9, status="deprecated", tags=["deploy"]))
    assert (again.outcome, set(again.ignored)) == ("unchanged", {"observed_count", "status"})
    assert graph.record_artifact(schema("a1", observed_count=3, tags=["deploy"])).ignored == ()


def test_a_whole_chain_travels(graph, address):
    """A whole chain can be imported in any order, with all versions and statuses; a second import changes nothing."""
    graph.record_artifact(schema("a1", step="Apply"))
    graph.supersede("a1", schema("a2", step="Apply, then wait", second=1))
    graph.supersede("a2", schema("a3", step="Apply, wait, verify", second=2))
    graph.transition("a3", "deprecated")
    versions = list(graph.chain("a1").versions)
    random.Random(3).shuffle(versions)
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        moved = [version.document() | {"tenant_id": other.tenant_id} for version in versions]
        with pytest.raises(InvalidRequest, match="whole chain"):
            other.import_chain([version for version in moved if version["version"] < 3])
        assert other.artifacts(status=None).artifacts == ()
        receipts = other.import_chain(moved)
        assert [receipt.outcome for receipt in receipts] == ["created"] * 3
        assert [(version.artifact_id, version.status) for version in other.chain("a2").versions] == [
            ("a1", "superseded"),
            ("a2", "superseded"),
            ("a3", "deprecated"),
        ]
        assert [receipt.outcome for receipt in other.import_chain(moved)] == ["unchanged"] * 3
        assert other.verify().findings == ()
        with pytest.raises(InvalidRequest, match="whole chain"):
            other.import_chain([version for version in moved if version["version"] > 1])


def test_a_draft_successor_leaves_its_predecessor_in_force(graph):
    """The old version holds until a draft is activated; then both change at the same moment."""
    graph.record_artifact(schema("a1", step="Apply"))
    for name, step in (("a2", "Apply, then wait"), ("a3", "Apply"), ("a4", "Apply and verify")):
        proposed = graph.supersede("a1", schema(name, step=step, second=5, status="draft", confidence=0.7))
        assert (proposed.outcome, proposed.superseded_id, proposed.artifact.version) == ("created", None, 2)
    assert (graph.artifact("a1").status, graph.chain("a1").head.artifact_id) == ("active", "a1")
    assert graph.verify().findings == ()
    graph.transition("a2", "deprecated")
    assert graph.transition("a3", "active").status == "active"
    assert [(version.artifact_id, version.status) for version in graph.chain("a1").versions] == [
        ("a1", "superseded"),
        ("a3", "active"),
    ]
    assert graph.artifact("a1", as_of=iso(at(4))).status == "active"
    with pytest.raises(AlreadySuperseded, match="'a1' is already superseded by 'a3'"):
        graph.transition("a4", "active")
    assert graph.verify().findings == ()


def test_a_draft_of_something_no_longer_in_force_is_not_activated(graph):
    """If its predecessor was deprecated, a draft cannot be activated, and the error gives the reason."""
    graph.record_artifact(schema("a1"))
    graph.supersede("a1", schema("a2", step="Wait", status="draft"))
    graph.transition("a1", "deprecated")
    with pytest.raises(InvalidTransition, match="'a1' cannot go from 'deprecated' to 'superseded'"):
        graph.transition("a2", "active")
    assert (graph.artifact("a2").status, graph.verify().findings) == ("draft", ())


def test_nothing_is_its_own_parent(graph):
    """An event cannot be its own cause, nor a task part of itself."""
    looped = document(tenant_id=graph.tenant_id, event_id="e1", parent_event_id="e1")
    report = graph.ingest([looped])
    assert (report.accepted, [fault.path for fault in report.rejected[0].faults]) == (0, ["$.parent_event_id"])
    with pytest.raises(TaskError, match="cannot be part of itself"):
        tasks_of(graph).start("Deploy", task_id="t1", parent_task_id="t1")


def caused(tenant_id, *pairs):
    """Events in sessions of their own, each naming its cause."""
    return [
        document(tenant_id=tenant_id, event_id=effect, session_id=f"of {effect}", parent_event_id=cause)
        for effect, cause in pairs
    ]


def test_no_event_is_its_own_cause_over_others(graph, tmp_path):
    """In one call or over several, the event that closes a causal loop is rejected; all others are stored."""
    looped = [("a", "c"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")]
    report = graph.ingest(caused(graph.tenant_id, *looped), rejects=tmp_path / "rejects")
    (rejected,) = report.rejected
    assert (report.accepted, rejected.event_id in "abc") == (4, True)
    assert [fault.path for fault in rejected.faults] == ["$.parent_event_id"]
    assert f'"event_id":"{rejected.event_id}"' in (tmp_path / "rejects").read_text()
    later = [("f", "h"), ("g", "f"), ("h", "g")]
    outcomes = [graph.ingest(caused(graph.tenant_id, pair)).accepted for pair in later]
    assert outcomes == [1, 1, 0]
    with pytest.raises(IngestRefused, match="'h' would be its own cause"):
        graph.ingest(caused(graph.tenant_id, ("h", "g")), on_error="raise")
    assert graph.ingest(caused(graph.tenant_id, ("h", "a"))).accepted == 1
    assert {finding.check for finding in graph.verify().findings} == {"parent_event_id"}


@pytest.mark.slow
def test_following_causes_costs_little(graph):
    """The search for causal loops takes few statements and stops, with a warning, at a bound."""
    chain = [(f"e{number}", f"e{number - 1}") for number in range(1, 6200)]
    graph.ingest(caused(graph.tenant_id, *chain))
    sent = []
    graph.trace(lambda line: sent.append(line.split()[0]))
    graph.ingest(caused(graph.tenant_id, ("e6200", "e6199"), ("x", "e6201")))
    assert sent.count("events/ancestors") == 0
    report = graph.ingest(caused(graph.tenant_id, ("e6201", "e6200")))
    assert (report.accepted, sent.count("events/ancestors")) == (1, 21)
    assert any("would not have been found" in warning for warning in report.warnings)


def test_no_task_is_part_of_itself_over_others(graph):
    """Starting a task that would close a loop of parent tasks is refused and stores nothing."""
    tasks = tasks_of(graph)
    tasks.start("Deploy", task_id="t1", parent_task_id="t2")
    tasks.start("Release", task_id="t2", parent_task_id="t3")
    with pytest.raises(TaskError, match="part of itself, through 2 other tasks"):
        tasks.start("Plan", task_id="t3", parent_task_id="t1")
    tasks.start("Plan", task_id="t3")
    tasks.start("Test", task_id="t4", parent_task_id="t5")
    with pytest.raises(TaskError, match=r"part of itself, through 1 other task\b"):
        tasks.start("Review", task_id="t5", parent_task_id="t4")


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        ({"tenant_ids": ["somebody-else"]}, "$.validity_scope.tenant_ids"),
        (
            {"time_range": {"start": "2026-02-01T00:00:00Z", "end": "2026-01-01T00:00:00Z"}},
            "$.validity_scope.time_range",
        ),
    ],
)
def test_a_scope_that_never_applies_is_refused(graph, scope, path):
    """An artifact whose scope can never apply is refused; the fault names the offending part of the scope."""
    with pytest.raises(InvalidDocument) as caught:
        graph.record_artifact(schema("a1", validity_scope=scope))
    assert [fault.path for fault in caught.value.faults] == [path]
    graph.record_artifact(schema("a1", validity_scope={"tenant_ids": ["somebody-else", graph.tenant_id]}))


def test_evidence_that_arrives_later_is_linked_and_erased_with(graph):
    """An artifact may name events that are not stored yet; erasing them later still deprecates it."""
    graph.record_artifact(schema("a1", source_events=["late"]))
    assert graph.explain("a1").missing == ("late",)
    graph.ingest([document(tenant_id=graph.tenant_id, event_id="late")])
    assert [event.event_id for event in graph.explain("a1").events] == ["late"]
    assert graph.verify().findings == ()
    report = graph.forget(event_id="late")
    assert (report.artifacts, graph.artifact("a1").status) == (("a1",), "deprecated")


def test_all_of_one_user_can_be_revoked(graph):
    """Forgetting a user erases what they said and what was remembered for them, and nothing of anybody else."""
    rule = {"role": "user", "text": "Always label peanuts."}
    for number, name in enumerate(("Ann", "bob")):
        graph.ingest(
            [
                document(
                    tenant_id=graph.tenant_id,
                    event_id=f"e{number}",
                    session_id=name,
                    content=rule,
                    metadata={"user_id": name},
                    source="user",
                )
            ]
        )
    graph.remember("Ann wants no peanuts", user_id="Ann", kind="preference")
    report = graph.forget(user_id="ann", dry_run=True)
    assert len(report.events) == 2
    report = graph.forget(user_id="Ann")
    assert (len(report.events), report.remaining) == (2, 0)
    left = graph.memories(status=None)[0]
    assert {memory.owner for memory in left} == {"bob"}
    assert graph.verify().findings == ()


def test_an_import_can_be_revoked_by_its_fingerprint(graph, address):
    """Forgetting a fingerprint deprecates the artifacts it brought and erases the event of its import."""
    envelope = states.envelope()
    imported = graph.import_fingerprint(envelope)
    report = graph.forget(fingerprint=imported.fingerprint_id)
    assert set(report.artifacts) == set(imported.created_ids)
    assert [event.event_id for event in report.events] == [imported.import_id]
    assert {graph.artifact(name).status for name in imported.created_ids} == {"deprecated"}
    with pytest.raises(NotFound):
        graph.forget(fingerprint=imported.fingerprint_id)


def test_an_import_outlives_a_forget_that_selects_nothing_of_it(graph):
    """All criteria must match: an import that one of them excludes stays in force."""
    imported = graph.import_fingerprint(states.envelope())
    report = graph.forget(fingerprint=imported.fingerprint_id, session_id="another")
    assert (report.events, report.artifacts) == ((), ())
    assert {graph.artifact(name).status for name in imported.created_ids} == {"draft"}
    assert graph.take_back_import(imported.fingerprint_id).deprecated_ids == imported.created_ids


def test_an_import_whose_event_was_erased_before_is_withdrawn_all_the_same(graph):
    """An import can be forgotten although its event is gone, as after a call killed halfway."""
    imported = graph.import_fingerprint(states.envelope())
    graph.forget(event_id=imported.import_id)
    graph.forget(fingerprint=imported.fingerprint_id)
    with pytest.raises(NotFound):
        graph.forget(fingerprint=imported.fingerprint_id)
