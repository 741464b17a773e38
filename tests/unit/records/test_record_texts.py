"""Projections, events and digests derived from records."""

import pytest

from hmxgraph.protocol.document import content_faults
from hmxgraph.protocol.records import ARTIFACT_KINDS, DIGEST_ROLES, PROJECTION_KINDS
from hmxgraph.records.digests import compose, digest_name, stale_digests
from hmxgraph.records.events import events_of
from hmxgraph.records.maintenance import DigestState, dream
from hmxgraph.records.search import projections
from tests.unit.records.making import made, view

FULL = {
    "goal": "Find the leak",
    "summary": "the buffer leaks",
    "command": "make check",
    "status": "failed",
    "what_worked": ["valgrind"],
    "what_failed": ["asan"],
    "validation": ["rerun"],
    "supports_claim": True,
    "reply_to_artifact_id": "r0",
    "artifact_role": "task_resume",
    "agent_id": "ana",
}
EVENT_TYPES = {
    "task_start": ["message"],
    "task_progress": ["observation", "error"],
    "run_start": ["tool_call", "error"],
    "run_finish": ["tool_result", "error"],
    "evidence": ["observation", "error"],
    "review": ["feedback", "error"],
    "revision": ["feedback", "error"],
    "verification": ["feedback", "error"],
    "decision": ["decision", "error"],
    "digest": [],
    "task_finish": ["state_change", "error"],
}


def test_the_nine_projections_are_all_made():
    """All kinds of records together have exactly the nine projection kinds."""
    kinds = {part.kind for kind in ARTIFACT_KINDS for part in projections(made(kind, **FULL))}
    assert kinds == set(PROJECTION_KINDS)


def test_a_digest_is_neither_failure_nor_success():
    """A digest of failures is not itself a failure."""
    assert [part.kind for part in projections(made("digest", **FULL))] == ["digest"]


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_each_record_becomes_events(kind):
    """Each kind has its event type, failures add an error, content is as HMX-E 4 says, ids are stable."""
    events = events_of(made(kind, **FULL), 4)
    assert [event.event_type for event in events] == EVENT_TYPES[kind]
    assert [event.sequence for event in events] == [4 + place for place in range(len(events))]
    assert events == events_of(made(kind, **FULL), 4)
    assert [fault for event in events for fault in content_faults("event", event.event_type, event.content)] == []


def test_a_run_is_a_call_and_its_result():
    """Start and finish of a run share the call id, so that the result answers the call."""
    start = made("run_start", "run1", command="make", tool_name="make")
    finish = made("run_finish", "end1", status="completed", reply_to_artifact_id="run1", tool_name="make")
    call, result = events_of(start, 0)[0].content, events_of(finish, 1)[0].content
    assert (call["call_id"], result["call_id"], result["success"]) == ("run1", "run1", True)


@pytest.mark.parametrize("role", DIGEST_ROLES)
def test_digests_depend_on_nothing_but_their_sources(role):
    """The same sources give the same digest, with the time of the newest, citing all of them and making no claim."""
    records = [made(kind, f"r{place}", timestamp_created=place, **FULL) for place, kind in enumerate(ARTIFACT_KINDS)]
    sources = [view(record) for record in records]
    name = digest_name(role, task_id="t1", project_id="p1")
    digest, repeated = compose(name, "acme", sources), compose(name, "acme", list(sources))
    assert digest is not None
    assert digest == repeated
    assert (digest.artifact_role, digest.promotion_state, digest.supports_claim) == (role, "summarized", None)
    assert digest.source_updated_at_ms == len(ARTIFACT_KINDS) - 1
    assert set(digest.related_artifact_ids or ()) <= {record.artifact_id for record in records} - {"r9"}


@pytest.mark.parametrize("role", DIGEST_ROLES)
def test_there_is_no_digest_of_nothing(role):
    """Without sources, or with only digests as sources, no digest is composed."""
    name = digest_name(role, task_id="t1")
    assert compose(name, "acme", []) is None
    assert compose(name, "acme", [view(made("digest", **FULL), "compiled_digest_hint")]) is None


def test_blockers_are_those_last_stated():
    """An empty list clears the blockers; a record without the field does not."""
    records = [
        made("task_start", "a", goal="Find it"),
        made("task_progress", "b", summary="stuck", blockers=["no access"], followups=["ask"]),
        made("evidence", "c", summary="seen"),
    ]
    name = digest_name("task_resume", task_id="t1")
    blocked = compose(name, "acme", [view(record) for record in records])
    records.append(made("task_progress", "d", summary="on", blockers=[], followups=["go on"]))
    freed = compose(name, "acme", [view(record) for record in records])
    assert blocked is not None
    assert freed is not None
    assert (blocked.blockers, freed.blockers, freed.followups) == (("no access",), None, ("go on",))


def test_rejected_records_are_no_evidence():
    """The evidence library leaves out what another agent's verification rejected."""
    name = digest_name("evidence_library")
    assert compose(name, "acme", [view(made(summary="x"), rejected_by=("v",))]) is None


def test_a_record_makes_its_own_digests_stale():
    """A failure makes stale the failure libraries of its project and of the tenant, and its task's resume."""
    keys = {
        name.digest_key for name in stale_digests(made("run_finish", project_id="p", **FULL | {"status": "failed"}))
    }
    assert {"failure_library:p", "failure_library:*", "project_brief:p", "task_resume:t1"} <= keys
    assert "decision_library:p" not in keys
    assert stale_digests(made("digest", **FULL)) == ()
    assert stale_digests(made("task_progress", **FULL | {"artifact_role": "dream_report"})) == ()


def test_of_duplicate_digests_the_engines_own_stays():
    """Duplicates written by hand are retired, stale digests refreshed, nothing else changes; same state, same plan."""
    name = digest_name("failure_library")
    own = DigestState("k1", name.artifact_id("acme"), name, stale=True, source_updated_at_ms=1)
    copy = DigestState("k2", "by-hand", name, stale=True, source_updated_at_ms=9)
    plan = dream("acme", [copy, own], ())
    assert (plan.retire, plan.refresh) == ((copy,), (name,))
    assert plan == dream("acme", [own, copy], ())
    fresh = DigestState("k1", own.artifact_id, name, stale=False, source_updated_at_ms=1)
    assert dream("acme", [fresh], ()).idle
