"""Which reactions helped after a failure: the basis of playbooks and of suggestions.

An occurrence is one failure in one session, with what followed it. Its route holds the steps credited with the result.
The actions of these steps, in order, are called a remedy, whether they helped or not.
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
    serve_same_purpose,
    strata,
)
from hmxgraph.compiler.summary import Amendment, Step
from hmxgraph.text.terms import most_first

# Something observed fewer times may be a coincidence.
_TWICE = 2
_WORK_KINDS = frozenset({"action", "lookup"})
_HALF = 0.5
# Maximum probability of a difference if it were due to chance alone.
_CHANCE = 0.05

Remedy = tuple[str, ...]
# Occurrences by remedy, by whether it is only a retry, and by how the inputs of the retry changed.
_Remedies = dict[tuple[Remedy, bool, tuple[Amendment, ...]], list[Occurrence]]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One reaction to the failure of the action ``failed``: its actions, and how often it was tried and helped.

    ``lines`` holds the usual command line of each action, "" if it has none. ``retry`` is set if the reaction is only
    another attempt; ``changes`` then says which inputs changed, and how. ``seen`` counts the occurrences and in how
    many the reaction helped, ``attempts`` those in which the failed action was tried again. ``credited`` holds the
    occurrences in which it helped, or all if it never did. ``next_action`` is the action that usually followed it.

    ``displaced`` counts how often the failure was gone but another one replaced it. ``instead`` is set if, where the
    reaction helped, the failed action was usually not tried again. ``unknown`` is set if no result is known. ``futile``
    is the share of the occurrences with help in which feedback nevertheless rejected the session; it is 0 if the first
    action changes nothing.
    """

    failed: str
    actions: Remedy
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
        """Whether the reaction can be recommended: it helped, or its result is unknown."""
        return self.unknown or self.seen.successes > 0

    @property
    def reliable(self) -> bool:
        """Whether the reaction worked at least half of the time, or its result is unknown.

        A repair worked if it removed the error, even if another error followed. A mere retry worked only if it
        succeeded, unless it is known how its inputs changed and the error went away each of several times.
        """
        removed = self.informed and self.seen.successes == self.seen.count > 1
        worked = self.seen.successes - (self.displaced if self.retry and not removed else 0)
        return self.unknown or (worked > 0 and worked >= _HALF * self.seen.count)

    @property
    def settled(self) -> bool:
        """Whether the user usually spoke between the failure and the reaction."""
        return sum(occurrence.settled for occurrence in self.credited) > _HALF * len(self.credited)

    @property
    def informed(self) -> bool:
        """Whether the failed action was usually retried, and it is known how its inputs changed."""
        return any(change.how not in UNEXPLAINED for change in common_changes(self.credited))

    @property
    def sessions_helped(self) -> int:
        """The number of sessions in which the reaction helped."""
        return len({occurrence.summary.session_id for occurrence in self.credited if occurrence.helped})

    @property
    def coincidence(self) -> bool:
        """Whether the reaction may be unrelated to the failure: a change made once, after which nothing was retried."""
        return self._never_retried and self.seen.count < _TWICE and is_action(self.action)

    @property
    def guesswork(self) -> bool:
        """Whether the reaction is a lookup or change that was never followed by a retry and helped at most once."""
        return self._never_retried and self.seen.successes < _TWICE and kind_of(self.action) in _WORK_KINDS

    @property
    def comes_first(self) -> bool:
        """Whether the first action of the reaction usually was the first change after the failure.

        It must have been in at least half of the credited occurrences with changes; if there are none, the answer is
        yes.
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
        """The number of tries times (success rate plus one half), by which reactions are ranked."""
        return self.seen.count * (self.seen.success_rate + 0.5)


def recoveries(group: FailureGroup) -> list[Recovery]:
    """The reactions to this failure, best supported first.

    Coincidences are left out, and so is a reaction that shares an action with a better one.
    """
    with_reaction = [
        occurrence
        for occurrence in group.occurrences
        if (occurrence.route or occurrence.retried) and not turned_to_other_work(occurrence)
    ]
    by_failed: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for occurrence in with_reaction:
        # Different programs with the same error message have the same repair.
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
    selected: list[Recovery] = []
    for recovery in ranked:
        overlaps = any(
            set(recovery.actions) & set(better.actions) and not (recovery.retry or better.retry)
            for better in selected
            if better.failed == recovery.failed
        )
        if not recovery.coincidence and not overlaps:
            selected.append(recovery)
    return selected


def _with_failed_tries(recovery: Recovery, occurrences: Sequence[Occurrence]) -> Recovery:
    """*recovery*; if it is a lookup used instead of the failed action, with the occurrences in which it failed as well.

    When the lookup failed, the failed action was called again, so the occurrence was counted for that retry.
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

    A handover does not count as one that worked. Reactions that never worked are kept, as a warning.
    """
    supported = [recovery for recovery in candidates if not recovery.guesswork]
    one_works = any(
        recovery.seen.success_rate >= _HALF for recovery in supported if kind_of(recovery.action) != "handover"
    )
    return [
        recovery
        for recovery in supported
        if not one_works or recovery.unknown or not 0 < recovery.seen.success_rate < _HALF
    ]


def turned_to_other_work(occurrence: Occurrence) -> bool:
    """Whether the failed action was not tried again and unrelated work followed, which says nothing about the failure.

    Work is unrelated if it is the same program run for something else, or a tool that serves another purpose or changes
    other items, unless a decision or feedback says that it was done instead.
    """
    if occurrence.next_attempt is not None or occurrence.declared or not occurrence.route:
        return False
    replacement = occurrence.route[0]
    same_purpose = replacement.action != occurrence.action and serve_same_purpose(replacement.action, occurrence.action)
    return not same_purpose or _changes_something_else(replacement, occurrence)


def _changes_something_else(replacement: Step, occurrence: Occurrence) -> bool:
    """Whether *replacement* changes items that the failed change did not name, such as another order."""
    failed = occurrence.failed_step
    if failed is None or not is_action(replacement.action) or not is_action(failed.action):
        return False
    if changes_another(replacement, occurrence.failure.step, occurrence.summary):
        return True
    return bool(replacement.about and failed.about) and set(replacement.about).isdisjoint(failed.about)


def tallies(reactions: Iterable[Recovery], failed: str) -> list[dict[str, Any]]:
    """The tries and successes of each first action of a reaction, as stored in the metadata of a playbook.

    *failed* is the action that usually failed. A reaction to the failure of another action names that action in
    "after". Reactions that usually came after other changes are left out. So are lookups before attempts that all
    failed, because the lookup is not to blame for them.
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
    """Whether the reaction is a lookup before another attempt, and all these attempts failed."""
    before_attempt = not recovery.retry and not recovery.instead and kind_of(recovery.action) == "lookup"
    return before_attempt and not recovery.seen.successes


def _candidates(occurrences: Sequence[Occurrence], message: str) -> _Remedies:
    """The occurrences of each remedy. A remedy is a whole route or a single action of a reaction.

    Retries are grouped by the inputs that changed. A single action that did not help alone gets no credit for longer
    routes that helped, because something else was needed. An action that was never tried alone is a remedy in two
    cases: the failure was gone clearly more often with it than without it, or the *message* names it and the failure
    was gone each time. A named action also replaces the longer remedies that contain it.
    """
    exact: dict[tuple[Remedy, bool], list[Occurrence]] = {}
    for occurrence in occurrences:
        if occurrence.attributable:
            exact.setdefault((_remedy_of(occurrence), occurrence.retried), []).append(occurrence)
    remedies: _Remedies = {
        (remedy, retry, changes): retries
        for (remedy, retry), group in exact.items()
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
            remedies = {
                remedy: remedy_occurrences for remedy, remedy_occurrences in remedies.items() if single not in remedy[0]
            }
        if longer and not needed_more and (alone or is_named or _makes_the_difference(single, occurrences)):
            remedies[(single,), False, ()] = [*alone, *longer]
    return remedies


def _by_changes(retries: Sequence[Occurrence]) -> Iterator[tuple[tuple[Amendment, ...], list[Occurrence]]]:
    """Group the retries: first those with the most frequent change, then the remaining ones in the same manner.

    A change of unexplained kind forms a group only when no other change is left. Retries without changes come last.
    """
    remaining = list(retries)
    while remaining:
        counts = Counter(change for occurrence in remaining for change in _bare_changes(occurrence))
        usual = min(counts, key=lambda change: (change.how in UNEXPLAINED, -counts[change], change), default=None)
        similar = [occurrence for occurrence in remaining if usual is None or usual in _bare_changes(occurrence)]
        yield common_changes(similar), similar
        remaining = [occurrence for occurrence in remaining if occurrence not in similar]


def common_changes(retries: Sequence[Occurrence]) -> tuple[Amendment, ...]:
    """The changes that most of these retries made; a detail is included if most retries share it."""
    bare_counts = Counter(change for occurrence in retries for change in _bare_changes(occurrence))
    full_counts = Counter(change for occurrence in retries for change in changed_inputs(occurrence))
    full = [change for change in most_first(full_counts) if full_counts[change] > _HALF * len(retries)]
    bare = [change for change in most_first(bare_counts) if bare_counts[change] > _HALF * len(retries)]
    return (*full, *(change for change in bare if change not in map(_without_details, full)))


def changed_inputs(occurrence: Occurrence) -> tuple[Amendment, ...]:
    """How the inputs of the next attempt differ from those of the failed call.

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


def _actions_of(occurrence: Occurrence) -> Remedy:
    """All changes of the reaction, else the actions of the route; none if the reaction is only a retry."""
    return occurrence.changes or tuple(step.action for step in occurrence.route)


def _has_several(occurrence: Occurrence) -> bool:
    return len(_actions_of(occurrence)) > 1


def _makes_the_difference(action: str, occurrences: Sequence[Occurrence]) -> bool:
    """Whether the failure was gone more often after reactions with *action* than chance can explain."""
    judged = (
        ("", action in _actions_of(occurrence), occurrence.helped)
        for occurrence in occurrences
        if occurrence.helped is not None
    )
    return any(chance(table) <= _CHANCE for table in strata(judged).values())


def _is_named_remedy(action: str, message: str, uses: Sequence[Occurrence]) -> bool:
    """Whether the *message* names the program of *action*, and the failure was gone whenever it was run.

    For example, a hook that fails with "[DIALYZER]" names the check to run until it passes.
    """
    return names_program(message, action) and len(uses) >= _TWICE and all(occurrence.helped for occurrence in uses)


def _remedy_of(occurrence: Occurrence) -> Remedy:
    return tuple(step.action for step in occurrence.route) or (occurrence.action,)


def _recovery(
    failed: str, key: tuple[Remedy, bool, tuple[Amendment, ...]], occurrences: Sequence[Occurrence]
) -> Recovery:
    remedy, retry, changes = key
    judged = [occurrence for occurrence in occurrences if occurrence.helped is not None]
    seen = Observations(
        len({occurrence.summary.session_id for occurrence in occurrences}),
        len(occurrences),
        sum(bool(occurrence.helped) for occurrence in judged),
    )
    credited = [occurrence for occurrence in occurrences if occurrence.helped] or list(occurrences)
    attempted_count = sum(occurrence.next_attempt is not None for occurrence in credited)
    next_actions = [_next_action(occurrence, remedy, retry=retry) for occurrence in credited]
    return Recovery(
        failed=failed,
        actions=remedy,
        lines=tuple(_usual_lines(remedy, credited, retry=retry)),
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
        futile=_share_rejected(credited) if is_action(remedy[0]) else 0,
    )


def _share_rejected(credited: Sequence[Occurrence]) -> float:
    """The share of the occurrences in which the reaction helped whose session was rejected by feedback."""
    helped = [occurrence.summary.rejected for occurrence in credited if occurrence.helped]
    return sum(helped) / len(helped) if helped else 0


def _usual_lines(remedy: Remedy, credited: Sequence[Occurrence], *, retry: bool) -> Iterator[str]:
    """Yield the usual command line of each action of a remedy.

    If an action occurs several times, its first line is that of the first time, and so on.
    """
    for index, name in enumerate(remedy):
        steps = _steps_with_slots(name, credited, retry=retry)
        yield usual_line(steps[remedy[:index].count(name) :: remedy.count(name)])


def _steps_with_slots(action: str, credited: Sequence[Occurrence], *, retry: bool) -> list[Step]:
    """The steps that took *action*, with slots in their command lines in place of values from the message."""
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


def _next_action(occurrence: Occurrence, remedy: Remedy, *, retry: bool) -> str:
    """The action after a remedy: the failed action if it was retried, else the next one that is not of the remedy.

    "" if there is none, and if the remedy is only a retry.
    """
    if retry:
        return ""
    if occurrence.next_attempt is not None:
        return occurrence.action
    names = [step.action for step in occurrence.following]
    start = names.index(remedy[0]) if remedy[0] in names else 0
    return next((name for name in names[start:] if name not in remedy), "")
