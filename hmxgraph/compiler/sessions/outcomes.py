"""How a session ended: what people said first, what the work itself showed next."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hmxgraph.compiler.sessions.actions import SessionEvent
from hmxgraph.compiler.sessions.summary import Failure, Outcome, Step
from hmxgraph.compiler.vocabulary import BAD_STATES, GOOD_STATES

_TRIALS = frozenset(
    ("test_run", "pytest", "unittest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "ctest")
)
_FIELDS = ("outcome", "result", "status", "to", "new_state", "state")
_WORD = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome, in words why, and the event that told it."""

    outcome: Outcome = "unknown"
    reason: str = ""
    event_id: str = ""


def judged(event: SessionEvent) -> Verdict | None:
    """What *event* says about the session as a whole, if anything: feedback, or a state named good or bad."""
    if event.event_type == "feedback":
        return _from_feedback(event)
    if event.event_type == "state_change" or event.event_type.startswith("x-"):
        return _from_state(event)
    return None


def from_work(steps: Sequence[Step], failures: Sequence[Failure]) -> Verdict:
    """The outcome that the work shows where nobody judged it: a failure that nothing good followed, or none.

    >>> from hmxgraph.compiler.sessions.summary import Situation
    >>> from_work([Step("pytest", "e1", Situation(), ok=False), Step("pytest", "e2", Situation(), ok=True)], []).outcome
    'success'
    """
    final = [failure for failure in failures if failure.recoverable is False]
    if final:
        return Verdict("failure", f"final error: {final[-1].signature}", final[-1].event_id)
    known = [step for step in steps if step.ok is not None]
    if not known:
        return Verdict("failure", failures[-1].signature, failures[-1].event_id) if failures else Verdict()
    open_trials = {step.action: step for step in known if _is_trial(step.action)}
    failed = [step for step in (*open_trials.values(), known[-1]) if not step.ok]
    if failed:
        return Verdict("failure", f"{failed[-1].action} failed last", failed[-1].event_id)
    return Verdict("success", "no failure left open", known[-1].event_id)


def _is_trial(action: str) -> bool:
    """Whether *action* runs tests, by its program or its subcommand: "npm test"."""
    return action in _TRIALS or action.endswith(" test")


def _from_feedback(event: SessionEvent) -> Verdict | None:
    match event.content.get("signal"):
        case "positive":
            return Verdict("success", "positive feedback", event.event_id)
        case "negative" | "correction":
            return Verdict("failure", f"{event.content['signal']} feedback", event.event_id)
        case _:
            return None


def _from_state(event: SessionEvent) -> Verdict | None:
    for field in _FIELDS:
        value = event.content.get(field)
        words = set(_WORD.findall(value.lower())) if isinstance(value, str) and len(value) <= 40 else set()
        if words & BAD_STATES:
            return Verdict("failure", f"{field} {value}", event.event_id)
        if words & GOOD_STATES:
            return Verdict("success", f"{field} {value}", event.event_id)
    return None
