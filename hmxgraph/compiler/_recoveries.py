"""Which reactions helped after a failure: the basis of playbooks and of suggestions.

An occurrence is one failure in one session, with what followed it. Its route holds the steps credited with the result.
The actions of these steps, in order, are called a way.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.compiler._amendments import ASKED, CHOSEN, CORRECTED, FROM, GIVEN, UNEXPLAINED
from hmxgraph.compiler._drafts import Observations
from hmxgraph.compiler._slots import filled
from hmxgraph.compiler._step_wording import usual_line
from hmxgraph.compiler._verbs import is_action, kind_of, names_program, serves_any_purpose
from hmxgraph.compiler.failures import (
    FailureGroup,
    Occurrence,
    chance,
    changes_another,
    most_frequent,
    strata,
    to_the_same_end,
)
from hmxgraph.compiler.summary import Amendment, Step
from hmxgraph.text.terms import most_first

# Minimum observations of what is not taken for a coincidence.
_TWICE = 2
_WORK_KINDS = frozenset({"action", "lookup"})
_HALF = 0.5
# Maximum probability that a difference is due to chance.
_CHANCE = 0.05

Way = tuple[str, ...]
# Occurrences by way, by whether it is only a retry, and by how the inputs of the retry changed.
_Ways = dict[tuple[Way, bool, tuple[Amendment, ...]], list[Occurrence]]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One reaction to the failure of an action: its actions and their command lines, how often it was tried and helped.

    ``failed`` is the action that failed, and ``credited`` holds the occurrences in which the reaction helped, or all if
    it never did. ``retry`` is set if it is only another attempt; ``changes`` then says which inputs changed, and how.
    ``attempts`` counts the retries of the failed action. Without retries, the outcome of the session, or of the step
    taken instead, decides whether it helped. ``next_action`` is the action that usually followed. ``displaced`` counts
    how often the failure was gone but another replaced it. ``instead`` is set if the failed action was usually not
    retried where the reaction helped, ``unknown`` if no result is known. ``futile`` says how often it helped in vain:
    the share of the occurrences in which it helped but feedback rejected the session all the same. It is 0 if the first
    action changes nothing.
    """

    failed: str
    actions: Way
    lines: tuple[str, ...]
    retry: bool
    seen: Observations
    attempts: int
    next_action: str
    unknown: bool
    credited: tuple[Occurrence, ...] = ()
    changes: tuple[Amendment, ...] = ()
    displaced: int = 0
    instead: bool = False
    futile: float = 0

    @property
    def action(self) -> str:
        """The first action."""
        return self.actions[0]

    @property
    def proven(self) -> bool:
        """Whether it can be recommended: it helped, or its result is unknown."""
        return self.unknown or self.seen.successes > 0

    @property
    def reliable(self) -> bool:
        """Whether it worked at least half of the time, or its result is unknown.

        A repair worked if it removed the error, whatever failed next. A retry must have succeeded, unless its changes
        are explained and the error went away each of several times.
        """
        removed = self.informed and self.seen.successes == self.seen.count > 1
        worked = self.seen.successes - (self.displaced if self.retry and not removed else 0)
        return self.unknown or (worked > 0 and worked >= _HALF * self.seen.count)

    @property
    def settled(self) -> bool:
        """Whether the user usually spoke between the failure and the next attempt, or what was done instead."""
        return sum(occurrence.settled for occurrence in self.credited) > _HALF * len(self.credited)

    @property
    def informed(self) -> bool:
        """Whether the failed action was usually retried with inputs that changed in an explained way."""
        return any(change.how not in UNEXPLAINED for change in common_changes(self.credited))

    @property
    def sessions_helped(self) -> int:
        """In how many sessions it helped."""
        return len({occurrence.summary.session_id for occurrence in self.credited if occurrence.helped})

    @property
    def coincidence(self) -> bool:
        """Whether it may be unrelated to the failure: a change made once and no retry after it."""
        return self._never_retried and self.seen.count < _TWICE and is_action(self.action)

    @property
    def guesswork(self) -> bool:
        """Whether it was never followed by a retry and helped at most once; False for thinking and handing over."""
        return self._never_retried and self.seen.successes < _TWICE and kind_of(self.action) in _WORK_KINDS

    @property
    def comes_first(self) -> bool:
        """Whether at least half of the credited reactions with changes began with its first action.

        True if there were no changes.
        """
        firsts = [occurrence.changes[0] == self.action for occurrence in self.credited if occurrence.changes]
        return 2 * sum(firsts) >= len(firsts)

    def steps_of(self, action: str) -> list[Step]:
        """The steps that took *action* in the credited occurrences."""
        return [step for occurrence in self.credited for step in occurrence.route if step.action == action]

    @property
    def _never_retried(self) -> bool:
        return not self.attempts and not self.retry

    @property
    def score(self) -> float:
        """The tries times (success rate plus one half), by which reactions are ranked."""
        return self.seen.count * (self.seen.success_rate + 0.5)


def recoveries(group: FailureGroup) -> list[Recovery]:
    """The reactions to this failure, best supported first, without coincidences and those that overlap a better one."""
    with_reaction = [
        occurrence
        for occurrence in group.occurrences
        if (occurrence.route or occurrence.retried) and not went_elsewhere(occurrence)
    ]
    by_failed: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for occurrence in with_reaction:
        # Programs that fail alike share their repair.
        failed_action = group.action if serves_any_purpose(occurrence.action) else occurrence.action
        by_failed[failed_action].append(occurrence)
    tried = [
        _with_failed_tries(_recovery(failed, key, occurrences), by_failed[failed])
        for failed in sorted(by_failed)
        for key, occurrences in sorted(_candidates(by_failed[failed], group.message).items())
    ]
    ranked = sorted(
        tried,
        key=lambda recovery: (
            -(recovery.seen.successes > 0),
            -recovery.score,
            -len(recovery.actions),
            recovery.actions,
            recovery.failed,
        ),
    )
    kept: list[Recovery] = []
    for recovery in ranked:
        overlapping = any(
            set(recovery.actions) & set(other.actions) and not (recovery.retry or other.retry)
            for other in kept
            if other.failed == recovery.failed
        )
        if not recovery.coincidence and not overlapping:
            kept.append(recovery)
    return kept


def _with_failed_tries(recovery: Recovery, occurrences: Sequence[Occurrence]) -> Recovery:
    """*recovery*; if it is a lookup used instead of the failed action, its failed tries are counted, too.

    After such a try the failed action was called again, so the occurrence counts for that retry, not for the lookup.
    """
    if recovery.retry or not recovery.instead or len(recovery.actions) > 1 or kind_of(recovery.action) != "lookup":
        return recovery
    failed_tries = [
        occurrence.summary.session_id
        for occurrence in occurrences
        if occurrence.next_attempt is not None
        and any(step.action == recovery.action and step.ok is False for step in occurrence.following)
    ]
    seen = recovery.seen
    sessions = seen.sessions + len(set(failed_tries))
    return replace(recovery, seen=replace(seen, sessions=sessions, count=seen.count + len(failed_tries)))


def advisable(candidates: Sequence[Recovery]) -> list[Recovery]:
    """The reactions to report: no guesswork, and if one usually worked, none that worked less than half of the time.

    Handing over does not count as one that worked. Reactions that never worked are kept, as a warning.
    """
    sure = [recovery for recovery in candidates if not recovery.guesswork]
    good = any(recovery.seen.success_rate >= _HALF for recovery in sure if kind_of(recovery.action) != "handover")
    return [recovery for recovery in sure if not good or recovery.unknown or not 0 < recovery.seen.success_rate < _HALF]


def went_elsewhere(occurrence: Occurrence) -> bool:
    """Whether the failed action was never retried and other work followed, which says nothing about the failure.

    Other work is the same program with another purpose, or a tool that does not serve the same end or changes other
    items, unless a decision or feedback says that it was done instead.
    """
    if occurrence.next_attempt is not None or occurrence.declared or not occurrence.route:
        return False
    way = occurrence.route[0]
    same_end = way.action != occurrence.action and to_the_same_end(way.action, occurrence.action)
    return not same_end or _changes_something_else(way, occurrence)


def _changes_something_else(way: Step, occurrence: Occurrence) -> bool:
    """Whether *way* changes items that the failed change did not name, such as another order."""
    failed = occurrence.failed_step
    if failed is None or not is_action(way.action) or not is_action(failed.action):
        return False
    if changes_another(way, occurrence.failure.step, occurrence.summary):
        return True
    return bool(way.about and failed.about) and set(way.about).isdisjoint(failed.about)


def tallies(reactions: Iterable[Recovery], failed: str) -> list[dict[str, Any]]:
    """The tries and successes of each first action, as stored in the metadata of a playbook.

    *failed* is the action that usually failed; a reaction to the failure of another action names that action in
    "after". Reactions that usually came after other changes are left out, and so are lookups before attempts that all
    failed: the lookup is not to blame for these.
    """
    counted: dict[tuple[str, str], dict[str, Any]] = {}
    for recovery in (recovery for recovery in reactions if recovery.comes_first and not _is_vain_lookup(recovery)):
        tally = counted.setdefault(
            (recovery.failed, recovery.action),
            {"tool": recovery.action, "used": 0, "helped": 0}
            | ({"after": recovery.failed} if recovery.failed != failed else {}),
        )
        tally["used"] += recovery.seen.count
        tally["helped"] += recovery.seen.successes
    return list(counted.values())


def _is_vain_lookup(recovery: Recovery) -> bool:
    """Whether it is a lookup before another attempt, and these attempts failed."""
    before_attempt = not recovery.retry and not recovery.instead and kind_of(recovery.action) == "lookup"
    return before_attempt and not recovery.seen.successes


def _candidates(occurrences: Sequence[Occurrence], message: str) -> _Ways:
    """The occurrences of each way: of each whole route, and of each single action of the reactions.

    Retries are grouped by the inputs that changed. A single action that did not help alone gets no credit for longer
    routes that helped: something else was needed. An action never tried alone is a way of its own in two cases: the
    failure was gone clearly more often with it than without, or the *message* names it and the failure was gone each
    time. A named action also replaces the longer ways that contain it.
    """
    exact: dict[tuple[Way, bool], list[Occurrence]] = {}
    for occurrence in occurrences:
        if occurrence.attributable:
            exact.setdefault((_way(occurrence), occurrence.retried), []).append(occurrence)
    ways: _Ways = {
        (way, retry, changes): retries
        for (way, retry), group in exact.items()
        for changes, retries in (_by_changes(group) if retry else [((), group)])
    }
    for single in sorted({name for occurrence in occurrences for name in _actions_of(occurrence)}):
        alone = exact.get(((single,), False), [])
        longer = [
            occurrence for occurrence in occurrences if single in _actions_of(occurrence) and _has_several(occurrence)
        ]
        needed_more = (
            alone
            and not any(occurrence.helped for occurrence in alone)
            and any(occurrence.helped for occurrence in longer)
        )
        is_named = _is_named_remedy(single, message, longer)
        if is_named:
            ways = {way: way_occurrences for way, way_occurrences in ways.items() if single not in way[0]}
        if longer and not needed_more and (alone or is_named or _makes_the_difference(single, occurrences)):
            ways[(single,), False, ()] = [*alone, *longer]
    return ways


def _by_changes(retries: Sequence[Occurrence]) -> Iterator[tuple[tuple[Amendment, ...], list[Occurrence]]]:
    """Group the retries: those with the most frequent change, then the rest in the same way.

    Changes that do not say how to repeat them are considered when no other is left, retries without changes come last.
    """
    remaining = list(retries)
    while remaining:
        counts = Counter(change for occurrence in remaining for change in _bare_changes(occurrence))
        usual = min(counts, key=lambda change: (change.how in UNEXPLAINED, -counts[change], change), default=None)
        similar = [occurrence for occurrence in remaining if usual is None or usual in _bare_changes(occurrence)]
        yield common_changes(similar), similar
        remaining = [occurrence for occurrence in remaining if occurrence not in similar]


def common_changes(retries: Sequence[Occurrence]) -> tuple[Amendment, ...]:
    """The changes that most of these retries made, with the details shared by most."""
    shared = Counter(change for occurrence in retries for change in _bare_changes(occurrence))
    full = Counter(change for occurrence in retries for change in changed_inputs(occurrence))
    common = [change for change in most_first(full) if full[change] > _HALF * len(retries)]
    bare = [change for change in most_first(shared) if shared[change] > _HALF * len(retries)]
    return (*common, *(change for change in bare if change not in map(_without_details, common)))


def changed_inputs(occurrence: Occurrence) -> tuple[Amendment, ...]:
    """The inputs changed in the next attempt, and how.

    If the user spoke in between, a new value from a result or of unknown origin counts as the user's choice.
    """
    changes = () if occurrence.next_attempt is None else occurrence.next_attempt.amendments
    if not occurrence.settled:
        return changes
    return tuple(
        Amendment(change.input, CHOSEN, "", change.detail) if change.how in {FROM, CORRECTED} else change
        for change in changes
    )


def _bare_changes(occurrence: Occurrence) -> set[Amendment]:
    return set(map(_without_details, changed_inputs(occurrence)))


def _without_details(change: Amendment) -> Amendment:
    """*change* without the details that vary between retries with the same change.

    Asking the user for a value and letting the user choose one are the same change.
    """
    if change.how in {CHOSEN, ASKED}:
        return Amendment(change.input, CHOSEN)
    return replace(change, detail="") if change.how == GIVEN else change


def _actions_of(occurrence: Occurrence) -> Way:
    """All actions of the reaction; none if it is only a retry."""
    return occurrence.changes or tuple(step.action for step in occurrence.route)


def _has_several(occurrence: Occurrence) -> bool:
    return len(_actions_of(occurrence)) > 1


def _makes_the_difference(action: str, occurrences: Sequence[Occurrence]) -> bool:
    """Whether the failure was gone more often after reactions with *action* than chance explains."""
    judged = (
        ("", action in _actions_of(occurrence), occurrence.helped)
        for occurrence in occurrences
        if occurrence.helped is not None
    )
    return any(chance(table) <= _CHANCE for table in strata(judged).values())


def _is_named_remedy(action: str, message: str, uses: Sequence[Occurrence]) -> bool:
    """Whether the *message* names the program of *action*, and the failure was gone whenever it was run.

    A hook that fails with "[DIALYZER]" names the check to run until it passes.
    """
    return names_program(message, action) and len(uses) >= _TWICE and all(occurrence.helped for occurrence in uses)


def _way(occurrence: Occurrence) -> Way:
    return tuple(step.action for step in occurrence.route) or (occurrence.action,)


def _recovery(failed: str, key: tuple[Way, bool, tuple[Amendment, ...]], occurrences: Sequence[Occurrence]) -> Recovery:
    way, retry, changes = key
    judged = [occurrence for occurrence in occurrences if occurrence.helped is not None]
    seen = Observations(
        len({occurrence.summary.session_id for occurrence in occurrences}),
        len(occurrences),
        sum(bool(occurrence.helped) for occurrence in judged),
    )
    credited = [occurrence for occurrence in occurrences if occurrence.helped] or list(occurrences)
    attempted_count = sum(occurrence.next_attempt is not None for occurrence in credited)
    next_actions = [_next_action(occurrence, way, retry=retry) for occurrence in credited]
    return Recovery(
        failed=failed,
        actions=way,
        lines=tuple(_usual_lines(way, credited, retry=retry)),
        retry=retry,
        seen=seen,
        attempts=sum(occurrence.next_attempt is not None for occurrence in occurrences),
        next_action=most_frequent(name for name in next_actions if name),
        unknown=not judged,
        credited=tuple(credited),
        changes=changes,
        displaced=sum(occurrence.displaced for occurrence in judged),
        instead=attempted_count <= _HALF * len(credited),
        # A lookup worked if it returned its result, however the session ends.
        futile=_share_rejected(credited) if is_action(way[0]) else 0,
    )


def _share_rejected(credited: Sequence[Occurrence]) -> float:
    """The share of the occurrences in which the reaction helped whose session was rejected by feedback."""
    helped = [occurrence.summary.rejected for occurrence in credited if occurrence.helped]
    return sum(helped) / len(helped) if helped else 0


def _usual_lines(way: Way, credited: Sequence[Occurrence], *, retry: bool) -> Iterator[str]:
    """The usual line of each action of a way; the nth of a repeated action has the nth line."""
    for place, name in enumerate(way):
        steps, count, earlier = _steps_with_slots(name, credited, retry=retry), way.count(name), way[:place].count(name)
        yield usual_line(steps[earlier::count])


def _steps_with_slots(action: str, credited: Sequence[Occurrence], *, retry: bool) -> list[Step]:
    """The steps that took *action*, with slots in their lines."""
    occurrence_steps = [
        (occurrence, step)
        for occurrence in credited
        for step in ([occurrence.next_attempt] if retry else occurrence.route)
        if step is not None
    ]
    return [
        replace(step, command=filled(step.command, occurrence.slots))
        for occurrence, step in occurrence_steps
        if retry or step.action == action
    ]


def _next_action(occurrence: Occurrence, way: Way, *, retry: bool) -> str:
    """The action after a reaction: the failed one if retried, else the next other one; "" after a mere retry."""
    if retry:
        return ""
    if occurrence.next_attempt is not None:
        return occurrence.action
    names = [step.action for step in occurrence.following]
    start = names.index(way[0]) if way[0] in names else 0
    return next((name for name in names[start:] if name not in way), "")
