"""Failures caused by the value that a call chose: a variant that a lookup reported as not available cannot be ordered.

A statement is what an earlier lookup said about the chosen value, such as "available: false". By such statements, the
choices of calls are divided into fit and unfit ones, and their failures are compared.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.failures import FailureGroup, Stratum, chance
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.lines import cited
from hmxgraph.text.terms import terms

# Minimum share of unfit choices that fail, maximum probability that chance explains this for any of the statements
# compared (Bonferroni), and minimum sessions in which an unfit choice failed.
_LEAST_FAILED, _BY_CHANCE, _LEAST_SESSIONS = 0.3, 0.05, 2
# What separates a field from its value in a statement.
_MARK = ": "


class Choice(NamedTuple):
    """A call with a known result, and the statements about its choice, as (argument, lookup, statement)."""

    session_id: str
    place: int
    statements: frozenset[tuple[str, str, str]]
    worked: bool


def choices(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Choice]]:
    """The calls of actions that change something, if their result is known, by action."""
    by_action: defaultdict[str, list[Choice]] = defaultdict(list)
    for session in sessions:
        for place, step in enumerate(session.steps):
            if step.ok is not None and is_action(step.action):
                by_action[step.action].append(Choice(session.session_id, place, frozenset(step.chosen), step.ok))
    return by_action


def unfit_choices(group: FailureGroup, known_choices: Mapping[str, list[Choice]]) -> list[str]:
    """The best advice on what to choose, or not to choose, for the action of *group*, with the counts; empty if none.

    A call counts only if the lookup made a statement about its choice. Advice against a choice also needs the error
    message to name the statement's value: choices of a few sessions have much in common by chance.
    """
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    calls, message = known_choices.get(group.action, []), set(terms(group.signature))
    statements = sorted({statement for call in calls for statement in call.statements})
    advice = []
    for argument, lookup, statement in statements:
        known = [(call, about) for call in calls if (about := _statements_about(call, argument, lookup, statement))]
        says = f"{lookup} says {cited(statement)}: it then failed this way"
        probability, fit_counts, unfit_counts = _difference(
            [(call, about == {statement}) for call, about in known], failed
        )
        advice.append((probability, f"Choose {argument} only if {says} {fit_counts} times, otherwise {unfit_counts}"))
        if message.issuperset(terms(statement.partition(_MARK)[2])):
            probability, fit_counts, unfit_counts = _difference(
                [(call, statement not in about) for call, about in known], failed
            )
            advice.append(
                (probability, f"Do not choose {argument} if {says} {unfit_counts} times, otherwise {fit_counts}")
            )
    return [text for probability, text in sorted(advice)[:1] if probability <= _BY_CHANCE / len(statements)]


def _difference(calls: Sequence[tuple[Choice, bool]], failed: Container[tuple[str, int]]) -> tuple[float, str, str]:
    """The probability that only chance makes the unfit *calls* fail so much more often than the fit ones.

    Each of *calls* comes with whether it is fit. The probability is 1 if too few of the unfit *failed*, or in too few
    sessions. The other values say how many of the fit calls failed ("1 of 4"), and how many of the unfit ones.
    """
    fit, unfit = ([call for call, fits in calls if fits is wanted] for wanted in (True, False))
    fit_failed, unfit_failed = (
        [call for call in side if (call.session_id, call.place) in failed] for side in (fit, unfit)
    )
    sessions = {call.session_id for call in unfit_failed}
    enough = len(sessions) >= _LEAST_SESSIONS and len(unfit_failed) >= _LEAST_FAILED * len(unfit)
    probability = chance(Stratum(len(unfit), len(unfit_failed), len(fit), len(fit_failed))) if enough else 1.0
    return probability, f"{len(fit_failed)} of {len(fit)}", f"{len(unfit_failed)} of {len(unfit)}"


def _statements_about(call: Choice, argument: str, lookup: str, statement: str) -> set[str]:
    """The statements that *lookup* returned about the choice for *argument*, in the same field as *statement*."""
    field, mark, _ = statement.partition(_MARK)
    return {
        returned
        for name, source, returned in call.statements
        if (name, source) == (argument, lookup) and returned.startswith(field + mark)
    }
