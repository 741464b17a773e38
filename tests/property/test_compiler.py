"""Properties of the compiler: results do not depend on order, repetition, hash seed or incremental compilation."""

import random
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.reconcile import OWN_REASON, BuildContext, Head, lineage, reconcile
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.summary import SessionSummary
from tests.hash_seeds import digests_of
from tests.session_makers import START, Script

REQUESTS = ("Deploy the staging environment", "Cancel my order", "Fix the failing test", "")
TOOLS = ("get_order", "find_user", "cancel_order", "apply_patch", "think", "transfer_to_agent")
steps = st.tuples(st.sampled_from(TOOLS), st.sampled_from((None, None, "order not found", "timeout after 30 s")))
decisions = st.sampled_from((None, None, ("Which way?", "skipped"), ("which way", "right"), ("Which way?", "Left!")))
scripts = st.tuples(
    st.sampled_from(REQUESTS), st.lists(steps, max_size=6), st.sampled_from(("positive", "negative", "")), decisions
)
worlds = st.lists(scripts, max_size=12)


def played(world):
    """The events of each session of a world."""
    sessions = []
    for number, (request, taken, signal, decided) in enumerate(world):
        script = Script(f"s{number:02}")
        script = script.user(request) if request else script.agent("On it")
        if decided:
            script.add("decision", {"question": decided[0], "chosen_option": decided[1], "alternatives": ["wait"]})
        for tool, error in taken:
            script.call(tool, error=error, order_id="#W1234567")
        sessions.append((script.feedback(signal) if signal else script).events)
    return sessions


def compiled(sessions):
    """The drafts compiled from a world."""
    return compile_summaries(summarise(events) for events in sessions).drafts


def applied(heads, changes):
    """The heads after *changes*, as the graph would store them."""
    kept = {head.artifact_id: head for head in heads}
    for change in changes:
        if change.head is not None and (change.statuses or change.artifact is not None):
            gone = kept.pop(change.head.artifact_id)
            if "deprecated" in change.statuses:
                kept[gone.artifact_id] = replace(gone, status="deprecated", reason=OWN_REASON + change.reason)
        if change.head is not None and change.action in {"counted", "activated"}:
            kept[change.head.artifact_id] = head_of(change.draft, change.head.artifact_id, change.head.version, change)
        elif change.artifact is not None:
            kept[change.artifact.artifact_id] = head_of(
                change.draft, change.artifact.artifact_id, change.artifact.version, change
            )
    return list(kept.values())


def head_of(draft, artifact_id, version, change):
    """The head that results from a change."""
    made = reconcile([], [draft], BuildContext("acme", DEFAULT_PROFILE, START))[0].artifact
    return Head(
        artifact_id,
        draft.artifact_type,
        lineage(draft, change.generation),
        version,
        made.status,
        draft.title,
        draft.summary,
        made.content_hash,
        made.confidence,
        made.observed_count,
        made.success_rate,
    )


@given(worlds, st.randoms(use_true_random=False))
def test_order_of_events_and_sessions_never_matters(world, random):
    """Sessions and their events in any order compile to the same drafts."""
    sessions = played(world)
    mixed = [random.sample(events, len(events)) for events in sessions]
    random.shuffle(mixed)
    assert compiled(mixed) == compiled(sessions)


@given(worlds)
def test_stored_summaries_compile_like_fresh_ones(world):
    """Stored session summaries compile to the same drafts as summaries that are made again."""
    sessions = played(world)
    stored = [SessionSummary.parse(summarise(events).to_json()) for events in sessions]
    assert compile_summaries(stored).drafts == compiled(sessions)


def twice_changes_nothing(first, second):
    """Compile a world, then a larger one twice: the second time changes nothing, and lineages are unique."""
    context = BuildContext("acme", DEFAULT_PROFILE, START)
    heads = applied([], reconcile([], compiled(played(first)), context))
    drafts = compiled(played(first + second))
    assert len({(draft.artifact_type, draft.lineage_key) for draft in drafts}) == len(drafts)
    heads = applied(heads, reconcile(heads, drafts, context))
    again = reconcile(heads, drafts, context)
    assert {change.action for change in again} <= {"unchanged", "skipped"}


@given(worlds, worlds)
def test_compiling_twice_changes_nothing(first, second):
    """Compiling the same sessions twice changes nothing the second time, whatever was compiled before."""
    twice_changes_nothing(first, second)


@pytest.mark.fuzz
@settings(max_examples=3_000)
@given(st.lists(scripts, max_size=25), worlds)
def test_compiling_twice_changes_nothing_for_long(first, second):
    """The same for many larger worlds."""
    twice_changes_nothing(first, second)


@given(worlds)
def test_titles_are_unique_and_support_is_listed(world):
    """Titles and lineages are unique, confidence is in [0, 1], and evidence lists known events without repeats."""
    sessions = played(world)
    known = {event.event_id for events in sessions for event in events}
    drafts = compiled(sessions)
    assert len({draft.title for draft in drafts}) == len(drafts)
    assert len({(draft.artifact_type, draft.lineage_key) for draft in drafts}) == len(drafts)
    for draft in drafts:
        assert 0 <= draft.seen.confidence <= 1
        assert len(set(draft.source_events)) == len(draft.source_events)
        assert set(draft.source_events) <= known


def digest():
    """One hash over the artifacts compiled from many generated worlds."""
    chance, whole = random.Random(5), sha256()
    for _ in range(40):
        world = [
            (
                chance.choice(REQUESTS),
                [
                    (chance.choice(TOOLS), chance.choice((None, "timeout after 30 s")))
                    for _ in range(chance.randrange(7))
                ],
                chance.choice(("positive", "negative", "")),
                None,
            )
            for _ in range(chance.randrange(20))
        ]
        for change in reconcile([], compiled(played(world)), BuildContext("acme", DEFAULT_PROFILE, START)):
            whole.update(change.artifact.to_json().encode())
    return whole.hexdigest()


@pytest.mark.slow
def test_the_hash_seed_does_not_matter():
    """Processes with other values of PYTHONHASHSEED compile the same artifacts."""
    assert digests_of(__name__) == {digest()}
