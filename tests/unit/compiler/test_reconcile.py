"""Comparison of drafts with stored heads: versions, counts, statuses; equal inputs give equal changes."""

from dataclasses import replace

import pytest

from hmxgraph.compiler._drafts import Observations
from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.reconcile import (
    ERASED,
    FORGOTTEN,
    BuildContext,
    Head,
    Position,
    awaited,
    build,
    lineage,
    reconcile,
)
from hmxgraph.compiler.sessions import summarise
from hmxgraph.protocol.canonical import content_hash
from tests.session_makers import START, Script, deployment

MAKING = BuildContext("acme", DEFAULT_PROFILE, START)


@pytest.fixture
def draft():
    """A task schema that ten sessions support."""
    compilation = compile_summaries(summarise(deployment(f"d{number}")) for number in range(10))
    return next(candidate for candidate in compilation.drafts if candidate.artifact_type == "task_schema")


def head_of(draft, **fields):
    """The head that *draft* would have become."""
    plain = Head(
        "a1",
        draft.artifact_type,
        lineage(draft),
        1,
        "active",
        draft.title,
        draft.summary,
        content_hash(draft.content),
        draft.seen.confidence,
        draft.seen.count,
        draft.seen.success_rate,
    )
    return replace(plain, **fields)


def only(heads, drafts):
    """The one change."""
    (change,) = reconcile(heads, drafts, MAKING)
    return change


def test_new_pattern_is_created_under_a_stable_id(draft):
    """The id is derived from tenant, type, lineage and version; two sessions make the artifact active."""
    change = only([], [draft])
    assert (change.action, change.artifact.status, change.artifact.version) == ("created", "active", 1)
    assert change.artifact.artifact_id == only([], [draft]).artifact.artifact_id
    assert change.artifact.artifact_id != reconcile([], [draft], replace(MAKING, tenant_id="b"))[0].artifact.artifact_id


def test_what_never_worked_is_not_recommended(draft):
    """A procedure that never worked stays a draft; a playbook may say that nothing has helped so far."""
    failed = replace(draft, seen=Observations(sessions=5, count=5, successes=0))
    assert not failed.validated(DEFAULT_PROFILE)
    assert replace(failed, seen=Observations(sessions=5, count=5, successes=1)).validated(DEFAULT_PROFILE)
    assert replace(failed, artifact_type="failure_playbook").validated(DEFAULT_PROFILE)


def long_named(number):
    """A session with event ids of 9,000 characters, and three tools with names of 60,000."""
    script = Script(f"d{number}" + "x" * 9_000).user("Berth the ferry")
    for tool in ("look", "assign", "clear"):
        script.call(tool * 15_000, ship="Aurora")
    return script.feedback("positive").events


def test_artifacts_keep_the_limits_whatever_the_names():
    """Ids and tool names may have any length, but compiled artifacts keep the limits of HMX-A 12."""
    drafts = compile_summaries(summarise(long_named(number)) for number in range(20)).drafts
    made = [change.artifact for change in reconcile([], drafts, MAKING)]
    assert {artifact.artifact_type for artifact in made} >= {"task_schema"}
    assert all(artifact.source_events for artifact in made)


def test_same_again_changes_nothing(draft):
    """A head equal to its draft is unchanged."""
    assert only([head_of(draft)], [draft]).action == "unchanged"


@pytest.mark.parametrize(
    ("before", "action", "reason"),
    [
        ({"observed_count": 9}, "counted", "new evidence for the same content"),
        ({"content_hash": "0" * 64}, "updated", "content changed"),
        ({"confidence": 0.7}, "updated", "confidence moved"),
        ({"success_rate": 0.4}, "updated", "success rate crossed one half"),
        ({"title": "Another"}, "updated", "wording changed"),
    ],
)
def test_what_makes_a_new_version(draft, before, action, reason):
    """New content, wording, confidence or side of one half makes a version; more evidence only updates counts."""
    change = only([head_of(draft, **before)], [draft])
    assert (change.action, reason in change.reason) == (action, True)
    if action == "updated":
        assert (change.artifact.version, change.artifact.supersedes) == (2, "a1")


def test_draft_is_validated_by_a_second_session(draft):
    """A draft with the same content becomes active; one with other content is validated and superseded at once."""
    assert only([head_of(draft, status="draft")], [draft]).action == "activated"
    change = only([head_of(draft, status="draft", content_hash="0" * 64)], [draft])
    assert (change.action, change.statuses, change.artifact.supersedes) == ("updated", ("active",), "a1")


def test_one_session_makes_a_draft_and_cannot_keep_an_active_artifact(draft):
    """Support below two sessions is never active."""
    thin = replace(draft, seen=Observations(1, 1, 1))
    assert only([], [thin]).artifact.status == "draft"
    assert only([head_of(draft)], [thin]).action == "deprecated"


def test_contradicted_and_unsupported_are_deprecated(draft):
    """Contradicted artifacts are deprecated, and so are those without evidence."""
    wrong = replace(draft, seen=Observations(10, 10, 0))
    assert only([head_of(draft)], [wrong]).action == "deprecated"
    assert only([], [wrong]).action == "skipped"
    assert only([head_of(draft)], []).action == "deprecated"


def test_pattern_that_shows_again_begins_another_chain(draft):
    """A pattern whose chain ended gets a new chain with another id."""
    change = only([head_of(draft, status="deprecated", reason=ERASED)], [draft])
    assert (change.action, change.artifact.version, change.generation) == ("created", 1, 2)
    assert change.artifact.artifact_id != only([], [draft]).artifact.artifact_id


@pytest.mark.parametrize("reason", [FORGOTTEN, "compiler: events that it tells were erased"])
def test_what_was_forgotten_begins_another_chain_at_once(draft, reason):
    """A pattern forgotten with its events begins a new chain as a draft, also if an earlier release forgot it."""
    thin = replace(draft, seen=Observations(1, 1, 1))
    change = only([head_of(draft, status="deprecated", reason=reason)], [thin])
    assert (change.action, change.artifact.status, change.generation) == ("created", "draft", 2)


@pytest.mark.parametrize(
    "decided",
    [{"status": "archived"}, {"status": "deprecated", "reason": "wrong"}, {"compiled": False}],
)
def test_decisions_of_people_stand(draft, decided):
    """An artifact that a person archived, deprecated or replaced is left alone."""
    assert only([head_of(draft, **decided)], [draft]).action == "skipped"


def test_a_step_of_confidence_makes_a_version(draft):
    """A confidence that moved by exactly one step makes a version; by less, it does not."""
    step = DEFAULT_PROFILE.confidence_step
    moved = only([head_of(draft, confidence=round(draft.seen.confidence - step, 6))], [draft])
    assert (moved.action, moved.reason.partition(" moved")[0]) == ("updated", "confidence")
    assert (
        only([head_of(draft, confidence=round(draft.seen.confidence - step + 0.001, 6))], [draft]).action != "updated"
    )


@pytest.mark.parametrize(
    ("before", "successes", "action"), [(0.5, 4, "updated"), (0.5, 5, "unchanged"), (0.4, 5, "updated")]
)
def test_one_half_is_success(draft, before, successes, action):
    """A success rate of one half counts as success, in both directions."""
    seen = Observations(10, 10, successes)
    draft = replace(draft, seen=seen)
    assert only([head_of(draft, success_rate=before)], [draft]).action == action


OUTSIDE = {"trust": {"untrusted_sources": ["web:evil.example"], "in_force": False}}
FROM_REQUESTS = {"goal_actions": ["get_order", "ship_order"], "requests_speak_of": ["order"]}
WAITING = [
    ({"seen": Observations(sessions=1, count=1, successes=1)}, "more sessions that show it (so far 1)"),
    ({"seen": Observations(sessions=5, count=1, successes=1)}, "with known outcomes (so far 1)"),
    ({"useful": False}, "requests that show when to follow them"),
    ({"useful": False, "metadata": FROM_REQUESTS}, ": most name ship_order, share a phrase"),
    ({"useful": False, "metadata": {"kinds_of_requests": 1}}, "a second kind of request"),
    ({"proposed": True, "metadata": OUTSIDE}, "since it relies on web:evil.example"),
]


@pytest.mark.parametrize(("fields", "expected"), WAITING)
def test_a_draft_says_what_it_waits_for(draft, fields, expected):
    """The document of a draft shows the one condition that keeps it from becoming active."""
    artifact = build(replace(draft, **fields), Position(), MAKING)
    assert artifact.status == "draft"
    (reason,) = awaited(artifact.document(), lineage(draft))
    assert expected in reason


def test_a_draft_that_was_not_compiled_waits_for_an_operator(draft):
    """An artifact recorded as a draft waits for an operator, an imported one also for own events."""
    document = build(draft, Position(), MAKING).document()
    assert awaited(document, "a1") == ("an operator who activates it",)
    assert len(awaited(document | {"metadata": {"imported": {"artifact_id": "a1"}}}, "a1")) == 2
