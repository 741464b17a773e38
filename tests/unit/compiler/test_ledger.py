"""A compilation learns from the latest sessions, whatever their order of arrival."""

import random
from dataclasses import replace

import pytest

from hmxgraph.compiler.compilation import Ledger, compile_summaries
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import deployment

ONCE = summarise(deployment("once"))
STEPS = len(ONCE.steps)


def summaries(ages):
    """Equal sessions, of which the first ended last."""
    return [replace(ONCE, session_id=f"s{age}", last_us=ONCE.last_us - age) for age in ages]


def ids(sessions):
    """The ids of *sessions*."""
    return [session.session_id for session in sessions]


@pytest.mark.parametrize("seed", range(8))
def test_the_latest_sessions_are_kept_in_any_order_of_arrival(seed):
    """Three of nine sessions are kept, two of them with texts."""
    given = summaries(range(9))
    random.Random(seed).shuffle(given)
    ledger = Ledger(CompilerProfile(max_sessions=3, habit_positions=STEPS + 1), given)
    assert (ids(ledger.sessions()), ids(ledger.recent())) == (["s0", "s1", "s2"], ["s0", "s1"])
    assert ledger.older


@pytest.mark.parametrize("seed", range(8))
def test_no_texts_of_sessions_that_are_left_out(seed):
    """Sessions left out keep no texts, even if habits could use more steps."""
    given = summaries(range(9))
    random.Random(seed).shuffle(given)
    ledger = Ledger(CompilerProfile(max_sessions=3, habit_positions=1_000), given)
    assert ids(ledger.recent()) == ids(ledger.sessions()) == ["s0", "s1", "s2"]


def test_as_many_as_allowed_are_all():
    """``older`` is unset if nothing was left out; sessions without events do not count."""
    empty = replace(ONCE, session_id="empty", event_count=0)
    ledger = Ledger(CompilerProfile(max_sessions=3), [*summaries(range(3)), empty])
    assert (len(ledger.sessions()), ledger.older) == (3, False)


def test_of_sessions_that_ended_together_the_last_by_id_are_kept():
    """Ties are broken, so that the order of arrival does not matter."""
    ledger = Ledger(CompilerProfile(max_sessions=2), [replace(ONCE, session_id=name) for name in "bac"])
    assert ids(ledger.sessions()) == ["b", "c"]


def test_a_compilation_says_that_it_left_out_older_sessions():
    """Patterns of older sessions alone are not learned."""
    asked = [replace(session, request="Water the plants") for session in summaries(range(5, 10))]
    profile = CompilerProfile(max_sessions=5)
    compiled = compile_summaries([*asked, *summaries(range(5))], profile)
    assert (compiled.sessions, compiled.older) == (5, True)
    assert not compile_summaries(summaries(range(5)), profile).older
    assert compiled.drafts == compile_summaries(summaries(range(5)), profile).drafts
