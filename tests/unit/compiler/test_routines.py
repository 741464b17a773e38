"""Routines: the commands that long sessions run before each command that closes a piece of work."""

from dataclasses import replace

import pytest

from hmxgraph.compiler._routines import routines
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.summary import Failure, SessionSummary, Situation, Step

CHECKS = ("make build", "pytest", "ruff check", "git add")
ROUTINE = [*CHECKS, "git commit"]


def session(name, *actions, outcome="unknown", reason=""):
    """A session of these actions: command lines, and tools with capitalised names."""
    steps = tuple(
        Step(action, f"{name}{number}", Situation(), command="" if action[0].isupper() else action, ok=True)
        for number, action in enumerate(actions)
    )
    return SessionSummary(name, steps=steps, outcome=outcome, outcome_reason=reason)


def work(*routine, times=5, before=12):
    """The actions of pieces of work: edits, then the *routine*."""
    return [each for _ in range(times) for each in [*["Edit"] * before, *routine]]


def learned(*sessions):
    """The commands of each routine of these sessions, in order."""
    return [[step["tools_used"][0] for step in draft.content["steps"]] for draft in routines(sessions, DEFAULT_PROFILE)]


def test_what_comes_before_each_commit_is_a_routine():
    """A routine states its counts and its evidence."""
    sessions = [session(name, *work(*ROUTINE)) for name in ("s1", "s2")]
    (draft,) = routines(sessions, DEFAULT_PROFILE)
    assert learned(*sessions) == [ROUTINE]
    assert draft.title == "Run git commit after make build, pytest and ruff check"
    assert (draft.seen.sessions, draft.seen.count) == (2, 10)
    assert draft.validated(DEFAULT_PROFILE)


@pytest.mark.parametrize(
    "sessions",
    [
        [session("s1", *work(*ROUTINE))],
        [session("s1", *work(*ROUTINE)), session("s2", *work(*ROUTINE, times=1, before=80))],
        [session(name, *work(*ROUTINE, times=2)) for name in ("s1", "s2")],
        [session(name, *work("make build", "npm install", "git add", "git commit")) for name in ("s1", "s2")],
        [session(name, *work("ls", "cat", "git status", "git commit")) for name in ("s1", "s2")],
        [session(name, *work(*ROUTINE), outcome="failure", reason="negative feedback") for name in ("s1", "s2")],
    ],
    ids=["one session", "closed once", "short sessions", "no check", "only lookups", "rejected"],
)
def test_what_makes_no_routine(sessions):
    """A routine needs several long, unrejected sessions with several pieces of work each, and a check."""
    assert learned(*sessions) == []


def test_a_command_in_no_certain_place_is_no_part():
    """A command at varying positions in pieces of work is not part of the routine."""
    early, late = ["npm install", *work(*ROUTINE, times=1)], [*work(*CHECKS, times=1), "npm install", "git commit"]
    sessions = [session(name, *([*early, *late] * 3)) for name in ("s1", "s2")]
    assert learned(*sessions) == [ROUTINE]


def test_a_command_far_before_the_end_is_no_part():
    """A command that opens pieces of work is not part of the routine and closes no others."""
    sessions = [session(name, *(["ticket start", *work(*ROUTINE, times=1)] * 5)) for name in ("s1", "s2")]
    assert learned(*sessions) == [ROUTINE]


def test_failed_runs_do_not_close():
    """After a refused commit, the same piece of work continues."""
    refused = Step("git commit", "refused", Situation(), command="git commit", ok=False)
    first, second = (session(name, *work(*ROUTINE)) for name in ("s1", "s2"))
    steps = tuple(each for step in first.steps for each in ([refused, step] if step.action == "git commit" else [step]))
    (draft,) = routines([SessionSummary("s1", steps=steps), second], DEFAULT_PROFILE)
    assert draft.seen.count == 10


def test_what_an_error_demands_is_part_of_the_routine():
    """A rare check is included, with the reason, if a hook names it in an error."""

    def refused(name):
        worked = session(name, *work(*ROUTINE, times=4), *work(*CHECKS, "make format", "git commit", times=1))
        steps = (*worked.steps, Step("git commit", f"{name}-x", Situation(), command="git commit", ok=False))
        failure = Failure("hook", "", "the hook says: run FORMAT first", f"{name}-f", step=len(steps) - 1)
        return replace(worked, steps=steps, failures=(failure,))

    sessions = [refused(name) for name in ("s1", "s2")]
    assert learned(*sessions) == [[*CHECKS, "make format", "git commit"]]
    (draft,) = routines(sessions, DEFAULT_PROFILE)
    reason = "git commit has failed with “the hook says: run FORMAT first”"
    assert draft.content["steps"][4]["description"] == f"Run `make format`: {reason}"
    assert learned(*(replace(each, failures=()) for each in sessions)) == [ROUTINE]


def test_the_order_is_that_of_most_pieces_that_have_both():
    """Formatting always precedes the check, although the check comes early in pieces without formatting."""
    formatted = [*["Edit"] * 20, "make build", "pytest", "ruff format", "ruff check", "git add", "git commit"]
    checked_early = [*["Edit"] * 8, "make build", "pytest", "ruff check", *["Edit"] * 8, "git add", "git commit"]
    sessions = [session(name, *(formatted * 5 + checked_early * 2)) for name in ("s1", "s2")]
    (routine,) = learned(*sessions)
    assert routine == ["make build", "pytest", "ruff format", "ruff check", "git add", "git commit"]
