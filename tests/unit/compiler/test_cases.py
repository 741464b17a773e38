"""Cases: sessions with the same rare identifiers are runs of one case, found without comparing all pairs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.compiler._cases import _SAME_CASE, Cases
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import deployment

ONCE = summarise(deployment("s"))
ABOUT = st.lists(st.sampled_from("abcdefghijkl"), max_size=5)


def about(values):
    """Sessions about these *values*."""
    return [replace(ONCE, session_id=f"s{number:04}", about=tuple(each)) for number, each in enumerate(values)]


def compared_with_all(cases, sessions):
    """The cases found by comparing each session with every case."""
    groups = []
    for session in sorted(sessions, key=lambda session: (-cases._weight(session.about), session.session_id)):
        alike = [cases._similarity(session, runs[0]) for runs in groups]
        if max(alike, default=0.0) >= _SAME_CASE:
            groups[alike.index(max(alike))].append(session)
        else:
            groups.append([session])
    return groups


@given(st.lists(ABOUT, max_size=40))
def test_cases_are_those_of_comparing_all_with_all(values):
    """Skipping comparisons that cannot match changes no case."""
    cases, sessions = Cases(about(values)), about(values)
    assert cases.grouped(sessions) == compared_with_all(cases, sessions)


@pytest.mark.parametrize(
    ("values", "sizes"), [(["a", "b"], [1, 1]), (["o1", "o1 o2", "o3"], [1, 2]), (["", ""], [1, 1])]
)
def test_rare_identifiers_make_a_case(values, sizes):
    """Two sessions are one case if their shared values weigh enough; the rest of the tenant is unrelated."""
    sessions = about([each.split() for each in [*values, *(f"other{number}" for number in range(20))]])
    assert sorted(len(runs) for runs in Cases(sessions).grouped(sessions[: len(values)])) == sizes


def test_the_most_typical_runs_of_a_case_are_its_examples():
    """The examples are the four runs most similar to the others, independent of order."""
    usual, other = about([["o1"]] * 9)[0].steps, summarise(deployment("x", lines=("ls",))).steps
    runs = [replace(run, steps=other if number in {0, 3} else usual) for number, run in enumerate(about([["o1"]] * 9))]
    everything = [*runs, *about([[f"other{number}"] for number in range(60)])]
    assert [run.session_id for run in Cases(everything).examples(runs)] == ["s0001", "s0002", "s0004", "s0005"]


@pytest.mark.parametrize("kinds", [("user{} order{} item{}",), ("",), ("user{} order{} item{}", "")])
def test_each_session_is_compared_with_few(kinds, monkeypatch):
    """The number of comparisons grows linearly with sessions, even if sessions have no rare values."""

    def comparisons(count):
        made = []
        values = [kinds[n % len(kinds)].format(n // 2, n // 3, n % 31).split() for n in range(count)]
        likeness = Cases._similarity
        with monkeypatch.context() as patch:
            patch.setattr(Cases, "_similarity", lambda *given: made.append(1) or likeness(*given))
            Cases(about(values)).grouped(about(values))
        return len(made)

    assert comparisons(1600) <= 6 * comparisons(400)
