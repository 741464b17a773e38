"""Calls that fail because an earlier call changed the same item: an order that was exchanged cannot be returned."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hmxgraph.compiler._verbs import is_action, kind_of
from hmxgraph.compiler.failures import FailureGroup, Stratum, chance
from hmxgraph.compiler.summary import SessionSummary

# Minimum share of calls after the change that fail, maximum probability of that by chance for any of the changes
# compared (Bonferroni), and minimum sessions with such a failure.
_LEAST_FAILED, _BY_CHANCE, _LEAST_SESSIONS = 0.3, 0.05, 2


class Call(NamedTuple):
    """A call that worked or failed, and the earlier changes of the items that it is about."""

    session_id: str
    place: int
    earlier_changes: frozenset[str]
    worked: bool


def calls_after_changes(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Call]]:
    """The calls of actions that change something, if their result is known, by action."""
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    for session in sessions:
        for action, call in _calls(session):
            calls[action].append(call)
    return calls


def _calls(session: SessionSummary) -> Iterator[tuple[str, Call]]:
    # An identifier that was looked up names an item; others, such as zip codes, are properties of many items.
    items = {name for step in session.steps if kind_of(step.action) == "lookup" for name in step.about}
    changed: defaultdict[str, set[str]] = defaultdict(set)
    for place, step in enumerate(session.steps):
        if step.ok is None or not is_action(step.action):
            continue
        about = items.intersection(step.about)
        earlier_changes = frozenset(action for item in about for action in changed[item]) - {step.action}
        yield step.action, Call(session.session_id, place, earlier_changes, step.ok)
        if step.ok:
            for item in about:
                changed[item].add(step.action)


def spoiling_changes(group: FailureGroup, calls: Mapping[str, list[Call]]) -> list[str]:
    """Advice for each earlier change that makes the action of *group* fail: what to do instead, and the counts."""
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    same_action = calls.get(group.action, [])
    failing = [call for call in same_action if (call.session_id, call.place) in failed]
    changes = sorted({change for call in failing for change in call.earlier_changes})
    advice = []
    for change in changes:
        after = [call for call in same_action if change in call.earlier_changes]
        others = [call for call in same_action if change not in call.earlier_changes]
        hits, misses = ([call for call in side if (call.session_id, call.place) in failed] for side in (after, others))
        table = Stratum(len(after), len(hits), len(others), len(misses))
        if (
            len({call.session_id for call in hits}) >= _LEAST_SESSIONS
            and len(hits) >= _LEAST_FAILED * len(after)
            and chance(table) <= _BY_CHANCE / len(changes)
        ):
            counted = f"it failed this way {len(hits)} of {len(after)} times, otherwise {len(misses)} of {len(others)}"
            advice.append(f"{_avoidance(group.action, change, len(after), calls)}: after that {counted}")
    return advice


def _avoidance(action: str, change: str, spoilt: int, calls: Mapping[str, list[Call]]) -> str:
    """Advice to call *action* first, if *change* worked each time after it (at least *spoilt* times); else to check."""
    swapped = [call.worked for call in calls.get(change, []) if action in call.earlier_changes]
    if len(swapped) >= max(spoilt, _LEAST_SESSIONS) and all(swapped):
        return f"Call {action} before {change} on the same item, not after it"
    return f"Before {action}, make sure that {change} has not changed the same item"
