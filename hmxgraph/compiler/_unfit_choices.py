"""Failures caused by the value that a call chose: an item that a lookup reported as not available cannot be ordered.

A statement is what an earlier lookup returned about the chosen value, such as "available: false". For each statement,
the calls are divided into those with a fit choice and those with an unfit one, and their failures are compared.
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
# Separates a field from its value in a statement.
_SEPARATOR = ": "


class Choice(NamedTuple):
    """A call with a known result, and the statements about the values it chose, as (argument, lookup, statement).

    ``step_index`` is the index of the call in its session.
    """

    session_id: str
    step_index: int
    statements: frozenset[tuple[str, str, str]]
    worked: bool


def choices(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Choice]]:
    """By action, the calls of actions that change something, if their result is known."""
    by_action: defaultdict[str, list[Choice]] = defaultdict(list)
    for session in sessions:
        for index, step in enumerate(session.steps):
            if step.ok is not None and is_action(step.action):
                by_action[step.action].append(Choice(session.session_id, index, frozenset(step.chosen), step.ok))
    return by_action


def unfit_choices(group: FailureGroup, known_choices: Mapping[str, list[Choice]]) -> list[str]:
    """The best-supported advice on what to choose, or not to choose, for the action of *group*; empty if there is none.

    A call counts only if the lookup made a statement about its choice. Advice against a choice is given only if the
    error message names the value of the statement, because the choices of a few sessions have much in common by chance.
    """
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    calls, message_terms = known_choices.get(group.action, []), set(terms(group.signature))
    statements = sorted({statement for call in calls for statement in call.statements})
    advice = []
    for argument, lookup, statement in statements:
        # The calls about whose choice the lookup made a statement in the same field, with all these statements.
        known = [
            (call, returned) for call in calls if (returned := _statements_about(call, argument, lookup, statement))
        ]
        condition = f"{lookup} says {cited(statement)}: it then failed this way"
        probability, fit_counts, unfit_counts = _difference(
            [(call, returned == {statement}) for call, returned in known], failed
        )
        advice.append(
            (probability, f"Choose {argument} only if {condition} {fit_counts} times, otherwise {unfit_counts}")
        )
        if message_terms.issuperset(terms(statement.partition(_SEPARATOR)[2])):
            probability, fit_counts, unfit_counts = _difference(
                [(call, statement not in returned) for call, returned in known], failed
            )
            advice.append(
                (probability, f"Do not choose {argument} if {condition} {unfit_counts} times, otherwise {fit_counts}")
            )
    return [text for probability, text in sorted(advice)[:1] if probability <= _BY_CHANCE / len(statements)]


def _difference(calls: Sequence[tuple[Choice, bool]], failed: Container[tuple[str, int]]) -> tuple[float, str, str]:
    """The probability that only chance makes calls with an unfit choice fail so much more often, and the two counts.

    *calls* pairs each call with whether its choice is fit. The probability is 1 if too few calls with an unfit choice
    *failed*, or in too few sessions. The counts say how many calls with a fit choice failed ("1 of 4"), and how many
    with an unfit one.
    """
    fit = [call for call, is_fit in calls if is_fit]
    unfit = [call for call, is_fit in calls if not is_fit]
    fit_failed, unfit_failed = (
        [call for call in compared if (call.session_id, call.step_index) in failed] for compared in (fit, unfit)
    )
    sessions = {call.session_id for call in unfit_failed}
    enough = len(sessions) >= _LEAST_SESSIONS and len(unfit_failed) >= _LEAST_FAILED * len(unfit)
    probability = chance(Stratum(len(unfit), len(unfit_failed), len(fit), len(fit_failed))) if enough else 1.0
    return probability, f"{len(fit_failed)} of {len(fit)}", f"{len(unfit_failed)} of {len(unfit)}"


def _statements_about(call: Choice, argument: str, lookup: str, statement: str) -> set[str]:
    """The statements that *lookup* returned about the choice for *argument*, in the same field as *statement*."""
    field, separator, _ = statement.partition(_SEPARATOR)
    return {
        returned
        for name, source, returned in call.statements
        if (name, source) == (argument, lookup) and returned.startswith(field + separator)
    }
