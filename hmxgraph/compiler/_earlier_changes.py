"""Calls that fail because an earlier call changed the same thing: an order that was exchanged cannot be returned."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hmxgraph.compiler._verbs import is_action, kind_of
from hmxgraph.compiler.failures import FailureGroup, Stratum, chance
from hmxgraph.compiler.summary import SessionSummary

# The share of calls after the change that fail, the probability of that by chance for any of the changes in question
# (Bonferroni), and the number of sessions that show it.
_AT_LEAST, _BY_CHANCE, _SESSIONS = 0.3, 0.05, 2


class Call(NamedTuple):
    """A call that worked or failed, and the changes made before it of what it is about."""

    session_id: str
    place: int
    after: frozenset[str]
    worked: bool


def calls_after_changes(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Call]]:
    """All calls with a known end, by action."""
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    for session in sessions:
        for action, call in _calls(session):
            calls[action].append(call)
    return calls


def _calls(session: SessionSummary) -> Iterator[tuple[str, Call]]:
    # What was looked up by its identifier is a thing; other identifiers, such as a zip code, are properties of many.
    things = {name for step in session.steps if kind_of(step.action) == "lookup" for name in step.about}
    changed: defaultdict[str, set[str]] = defaultdict(set)
    for place, step in enumerate(session.steps):
        if step.ok is None or not is_action(step.action):
            continue
        about = things.intersection(step.about)
        after = frozenset(action for thing in about for action in changed[thing]) - {step.action}
        yield step.action, Call(session.session_id, place, after, step.ok)
        if step.ok:
            for thing in about:
                changed[thing].add(step.action)


def spoiling_changes(group: FailureGroup, calls: Mapping[str, list[Call]]) -> list[str]:
    """What to check before the action of *group*, with how often it failed so after each change that spoils it."""
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    made = calls.get(group.action, [])
    changes = sorted({change for call in made if (call.session_id, call.place) in failed for change in call.after})
    advice = []
    for change in changes:
        after = [call for call in made if change in call.after]
        others = [call for call in made if change not in call.after]
        hits, misses = ([call for call in side if (call.session_id, call.place) in failed] for side in (after, others))
        table = Stratum(len(after), len(hits), len(others), len(misses))
        if (
            len({call.session_id for call in hits}) >= _SESSIONS
            and len(hits) >= _AT_LEAST * len(after)
            and chance(table) <= _BY_CHANCE / len(changes)
        ):
            counted = f"it failed so {len(hits)} of {len(after)} times, otherwise {len(misses)} of {len(others)}"
            advice.append(f"{_avoidance(group.action, change, len(after), calls)}: after that {counted}")
    return advice


def _avoidance(action: str, change: str, spoilt: int, calls: Mapping[str, list[Call]]) -> str:
    """The other order, if that was taken at least as often and *change* worked then; else to check what was changed."""
    swapped = [call.worked for call in calls.get(change, []) if action in call.after]
    if len(swapped) >= max(spoilt, _SESSIONS) and all(swapped):
        return f"Call {action} before {change} of the same thing, not after it"
    return f"Before {action}, make sure that {change} has not changed the same thing"
