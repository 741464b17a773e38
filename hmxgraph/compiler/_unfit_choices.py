"""Calls that fail because of what they chose: a variant that the lookup says is not available cannot be ordered."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.failures import FailureGroup, Stratum, chance
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.lines import cited

# The share of other choices that fail, the probability of that by chance for any of the statements in question
# (Bonferroni), and the number of sessions that show it.
_AT_LEAST, _BY_CHANCE, _SESSIONS = 0.3, 0.05, 2


class Choice(NamedTuple):
    """A call with a known end, and what lookups said of each thing that it chose: argument, lookup, statement."""

    session_id: str
    place: int
    said: frozenset[tuple[str, str, str]]
    worked: bool


def choices(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Choice]]:
    """All calls that change something, by action."""
    made: defaultdict[str, list[Choice]] = defaultdict(list)
    for session in sessions:
        for place, step in enumerate(session.steps):
            if step.ok is not None and is_action(step.action):
                made[step.action].append(Choice(session.session_id, place, frozenset(step.chosen), step.ok))
    return made


def unfit_choices(group: FailureGroup, made: Mapping[str, list[Choice]]) -> list[str]:
    """What to choose for the action of *group*, with how often it failed so where something else was chosen.

    Nothing else was chosen where nothing is known of the choice.
    """
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    calls = made.get(group.action, [])
    statements = sorted({each for call in calls if call.worked for each in call.said})
    advice = []
    for argument, lookup, statement in statements:
        known = [(call, said) for call in calls if (said := _said_of(call, argument, lookup, statement))]
        fit = [call for call, said in known if said == {statement}]
        others = [call for call, said in known if said != {statement}]
        misses, hits = ([call for call in side if (call.session_id, call.place) in failed] for side in (fit, others))
        table = Stratum(len(others), len(hits), len(fit), len(misses))
        likelihood = chance(table)
        if (
            len({call.session_id for call in hits}) >= _SESSIONS
            and len(hits) >= _AT_LEAST * len(others)
            and likelihood <= _BY_CHANCE / len(statements)
        ):
            counted = (
                f"otherwise it failed so {len(hits)} of {len(others)} times, with that {len(misses)} of {len(fit)}"
            )
            advice.append((likelihood, f"Take only {argument} of which {lookup} says {cited(statement)}: {counted}"))
    return [text for _, text in sorted(advice)[:1]]


def _said_of(call: Choice, argument: str, lookup: str, statement: str) -> set[str]:
    """What *lookup* said of the things chosen for *argument* in the field of *statement*."""
    field, mark, _ = statement.partition(": ")
    return {
        said for name, other, said in call.said if (name, other) == (argument, lookup) and said.startswith(field + mark)
    }
