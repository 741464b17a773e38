"""Calls that fail because of their choice: a variant that the lookup says is not available cannot be ordered."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.failures import FailureGroup, Stratum, chance
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.lines import cited

# Minimum share of other choices that fail, maximum probability of that by chance for any of the statements compared
# (Bonferroni), and minimum sessions that show it.
_LEAST_FAILED, _BY_CHANCE, _LEAST_SESSIONS = 0.3, 0.05, 2


class Choice(NamedTuple):
    """A call with a known result, and the statements about its choice, as (argument, lookup, statement)."""

    session_id: str
    place: int
    statements: frozenset[tuple[str, str, str]]
    worked: bool


def choices(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Choice]]:
    """All changes with a known result, by action."""
    by_action: defaultdict[str, list[Choice]] = defaultdict(list)
    for session in sessions:
        for place, step in enumerate(session.steps):
            if step.ok is not None and is_action(step.action):
                by_action[step.action].append(Choice(session.session_id, place, frozenset(step.chosen), step.ok))
    return by_action


def unfit_choices(group: FailureGroup, known_choices: Mapping[str, list[Choice]]) -> list[str]:
    """What to choose for the action of *group*, and how often it failed this way after another choice.

    Calls whose choice is unknown do not count.
    """
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    calls = known_choices.get(group.action, [])
    statements = sorted({each for call in calls if call.worked for each in call.statements})
    advice = []
    for argument, lookup, statement in statements:
        known = [(call, values) for call in calls if (values := _values_of(call, argument, lookup, statement))]
        fit = [call for call, values in known if values == {statement}]
        others = [call for call, values in known if values != {statement}]
        misses, hits = ([call for call in side if (call.session_id, call.place) in failed] for side in (fit, others))
        table = Stratum(len(others), len(hits), len(fit), len(misses))
        likelihood = chance(table)
        if (
            len({call.session_id for call in hits}) >= _LEAST_SESSIONS
            and len(hits) >= _LEAST_FAILED * len(others)
            and likelihood <= _BY_CHANCE / len(statements)
        ):
            counted = (
                f"it then failed this way {len(misses)} of {len(fit)} times, otherwise {len(hits)} of {len(others)}"
            )
            advice.append((likelihood, f"Choose {argument} only if {lookup} says {cited(statement)}: {counted}"))
    return [text for _, text in sorted(advice)[:1]]


def _values_of(call: Choice, argument: str, lookup: str, statement: str) -> set[str]:
    """The statements of *lookup* about the choice for *argument* in the field of *statement*."""
    field, mark, _ = statement.partition(": ")
    return {
        value
        for name, other, value in call.statements
        if (name, other) == (argument, lookup) and value.startswith(field + mark)
    }
