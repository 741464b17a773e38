"""Calls that fail because an earlier call changed the same item: an order that was exchanged cannot be returned."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from hmxgraph.compiler._verbs import is_action, kind_of
from hmxgraph.compiler.failures import FailureGroup, Stratum, chance
from hmxgraph.compiler.summary import SessionSummary

# Minimum share of calls after the change that fail, maximum probability that chance explains this for any of the
# changes compared (Bonferroni), and minimum sessions in which a call failed after the change.
_LEAST_FAILED, _BY_CHANCE, _LEAST_SESSIONS = 0.3, 0.05, 2


class Call(NamedTuple):
    """A call with a known result, and the earlier changes of the items that it names.

    The keys of ``earlier_changes`` are the other actions that changed one of these items before. Each value is the
    argument by which lookups name that item ("order_id"), "" if it is not known. ``step_index`` is the index of the
    call in its session.
    """

    session_id: str
    step_index: int
    earlier_changes: Mapping[str, str]
    worked: bool


def calls_of_changes(sessions: Iterable[SessionSummary]) -> Mapping[str, list[Call]]:
    """For each action that changes something, its calls with a known result."""
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    for session in sessions:
        for action, call in _calls(session):
            calls[action].append(call)
    return calls


def _calls(session: SessionSummary) -> Iterator[tuple[str, Call]]:
    """Yield each call with a known result that changes something, with its action."""
    items = _looked_up(session)
    changes_by_item: defaultdict[str, set[str]] = defaultdict(set)
    for index, step in enumerate(session.steps):
        if step.ok is None or not is_action(step.action):
            continue
        named_items = sorted(items.keys() & set(step.about))
        earlier_changes = {
            change: items[item] for item in named_items for change in changes_by_item[item] if change != step.action
        }
        yield step.action, Call(session.session_id, index, earlier_changes, step.ok)
        if step.ok:
            for item in named_items:
                changes_by_item[item].add(step.action)


def _looked_up(session: SessionSummary) -> dict[str, str]:
    """The items of a session, each with the argument by which lookups name it, "" if it is not known.

    An identifier with which a lookup was called names an item; others, such as zip codes, are properties of many items.
    """
    items: dict[str, str] = {}
    for step in session.steps:
        if kind_of(step.action) == "lookup":
            arguments = {argument for argument, _ in step.inputs}
            is_only_argument = len(arguments) == len(step.about) == 1
            for item in step.about:
                items[item] = items.get(item) or (min(arguments) if is_only_argument else "")
    return items


def harmful_changes(group: FailureGroup, calls: Mapping[str, list[Call]]) -> list[str]:
    """Advice on each earlier change that makes the action of *group* fail: what to do instead, and the counts.

    Changes that preceded exactly the same calls are left out, because the counts do not show which of them is the
    cause.
    """
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    same_action = calls.get(group.action, [])
    failing = [call for call in same_action if (call.session_id, call.step_index) in failed]
    changes = sorted({change for call in failing for change in call.earlier_changes})
    calls_after = {
        change: frozenset((call.session_id, call.step_index) for call in same_action if change in call.earlier_changes)
        for change in changes
    }
    # For each set of calls, the number of changes that preceded exactly these calls.
    change_counts = Counter(calls_after.values())
    advice = []
    for change in (change for change in changes if change_counts[calls_after[change]] == 1):
        after = [call for call in same_action if change in call.earlier_changes]
        others = [call for call in same_action if change not in call.earlier_changes]
        failed_after, failed_otherwise = (
            [call for call in compared if (call.session_id, call.step_index) in failed] for compared in (after, others)
        )
        table = Stratum(len(after), len(failed_after), len(others), len(failed_otherwise))
        if (
            len({call.session_id for call in failed_after}) >= _LEAST_SESSIONS
            and len(failed_after) >= _LEAST_FAILED * len(after)
            and chance(table) <= _BY_CHANCE / len(changes)
        ):
            counts = f"{len(failed_after)} of {len(after)} times, otherwise {len(failed_otherwise)} of {len(others)}"
            same_item = _same_item({call.earlier_changes[change] for call in failed_after})
            avoidance = _avoidance(group.action, change, same_item, len(after), calls)
            advice.append(f"{avoidance}: after that it failed this way {counts}")
    return advice


def _same_item(arguments: Collection[str]) -> str:
    """The phrase that says which item two calls share, by the *arguments* that named it in lookups."""
    argument = "".join(arguments) if len(arguments) == 1 else ""
    return f"with the same {argument}" if argument else "on the same item"


def _avoidance(action: str, change: str, same_item: str, least: int, calls: Mapping[str, list[Call]]) -> str:
    """The advice to call *action* before *change*, if that order always worked, at least *least* times.

    Otherwise, the advice to make sure that *change* was not made. *same_item* says which item both calls name.
    """
    worked_after = [call.worked for call in calls.get(change, []) if action in call.earlier_changes]
    if len(worked_after) >= max(least, _LEAST_SESSIONS) and all(worked_after):
        return f"Call {action} before {change} {same_item}, not after it"
    return f"Before {action}, make sure that {change} has not succeeded {same_item}"
