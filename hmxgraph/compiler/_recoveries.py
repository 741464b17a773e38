"""What helped after a failure: the one model that playbooks and suggestions draw on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.compiler._drafts import Observations
from hmxgraph.compiler._schemas import usual_line
from hmxgraph.compiler._slots import filled
from hmxgraph.compiler._verbs import is_action, kind_of
from hmxgraph.compiler.failures import FailureGroup, Occurrence, chance, most_frequent, strata
from hmxgraph.compiler.summary import Step

_TWICE = 2
_WORKS = frozenset({"action", "lookup"})
_HALF = 0.5
_CHANCE = 0.05

Way = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One reaction to a failure: its actions with their usual lines, how often it was tried, how often it helped.

    ``retry`` is set if it is nothing but another attempt at the failed action. ``attempts`` counts the times that the
    failed action was attempted again; without any, the end of the session judges. ``displaced`` counts how often the
    failure was gone but another came in its place. ``instead`` is set if the failed action was usually not tried again
    where it helped, and ``futile`` if feedback calls all sessions in which it helped failures.
    """

    actions: Way
    lines: tuple[str, ...]
    retry: bool
    seen: Observations
    attempts: int
    then: str
    unknown: bool
    displaced: int = 0
    instead: bool = False
    futile: bool = False

    @property
    def action(self) -> str:
        """The first action."""
        return self.actions[0]

    @property
    def proven(self) -> bool:
        """Whether it can be recommended: it helped, or its result is unknown."""
        return self.unknown or self.seen.successes > 0

    @property
    def coincidence(self) -> bool:
        """Whether it may be unrelated to the failure: another change, made once, after which nothing was retried."""
        return self._unattested and self.seen.count < _TWICE and is_action(self.action)

    @property
    def guesswork(self) -> bool:
        """Whether only the end of at most one session speaks for it, since the failed action was never tried again."""
        return self._unattested and self.seen.successes < _TWICE and kind_of(self.action) in _WORKS

    @property
    def _unattested(self) -> bool:
        return not self.attempts and not self.retry

    @property
    def score(self) -> float:
        """Laplace's estimate, discounted for few observations as confidence is (DESIGN 6)."""
        return self.seen.count * (self.seen.success_rate + 0.5)


def recoveries(group: FailureGroup) -> list[Recovery]:
    """The reactions to this failure, best supported first, without those that overlap a better one."""
    judged = [
        occurrence
        for occurrence in group.occurrences
        if (occurrence.route or occurrence.retried) and not went_elsewhere(occurrence)
    ]
    ways = _candidates(judged)
    tried = [_recovery(way, retry, occurrences) for (way, retry), occurrences in sorted(ways.items()) if occurrences]
    ranked = sorted(
        tried,
        key=lambda recovery: (
            -(recovery.seen.successes > 0),
            -recovery.score,
            -len(recovery.actions),
            recovery.actions,
        ),
    )
    kept: list[Recovery] = []
    for recovery in ranked:
        overlapping = any(
            set(recovery.actions) & set(other.actions) and not (recovery.retry or other.retry) for other in kept
        )
        if not recovery.coincidence and not overlapping:
            kept.append(recovery)
    return kept


def advisable(candidates: Sequence[Recovery]) -> list[Recovery]:
    """The reactions worth suggesting: no guesses, and nothing that usually failed where another usually worked."""
    sure = [recovery for recovery in candidates if not recovery.guesswork]
    good = any(recovery.seen.success_rate >= _HALF for recovery in sure if kind_of(recovery.action) != "handover")
    return [recovery for recovery in sure if not good or recovery.unknown or not 0 < recovery.seen.success_rate < _HALF]


def went_elsewhere(occurrence: Occurrence) -> bool:
    """Whether the failing program was next run for another purpose and the failed action never retried."""
    same = bool(occurrence.route) and occurrence.route[0].action == occurrence.action
    return same and occurrence.again is None


def tallies(advised: Iterable[Recovery]) -> list[dict[str, Any]]:
    """The tries and successes of each first action, in the form that the metadata of a playbook stores."""
    counted: dict[str, dict[str, Any]] = {}
    for recovery in advised:
        tally = counted.setdefault(recovery.action, {"tool": recovery.action, "used": 0, "helped": 0})
        tally["used"] += recovery.seen.count
        tally["helped"] += recovery.seen.successes
    return list(counted.values())


def _candidates(occurrences: Sequence[Occurrence]) -> Mapping[tuple[Way, bool], list[Occurrence]]:
    """The occurrences of each way: whole routes, and single actions with every route that contains them.

    A single action that failed alone gets no credit for longer routes that worked: it needed something else. An action
    that was never tried alone is a separate way only if the failure was gone clearly more often with it than without.
    """
    exact: dict[tuple[Way, bool], list[Occurrence]] = {}
    for occurrence in occurrences:
        if occurrence.attributable:
            exact.setdefault((_way(occurrence), occurrence.retried), []).append(occurrence)
    ways = dict(exact)
    for single in sorted({name for occurrence in occurrences for name in _made(occurrence)}):
        alone = exact.get(((single,), False), [])
        longer = [occurrence for occurrence in occurrences if single in _made(occurrence) and _with_others(occurrence)]
        needed_more = (
            alone
            and not any(occurrence.helped for occurrence in alone)
            and any(occurrence.helped for occurrence in longer)
        )
        if longer and not needed_more and (alone or _makes_the_difference(single, occurrences)):
            ways[(single,), False] = [*alone, *longer]
    return ways


def _made(occurrence: Occurrence) -> Way:
    """All actions of the reaction; none if it is nothing but a retry."""
    return occurrence.changes or tuple(step.action for step in occurrence.route)


def _with_others(occurrence: Occurrence) -> bool:
    return len(_made(occurrence)) > 1


def _makes_the_difference(action: str, occurrences: Sequence[Occurrence]) -> bool:
    """Whether the failure was gone more often after reactions with *action* than chance explains."""
    judged = (
        ("", action in _made(occurrence), occurrence.helped)
        for occurrence in occurrences
        if occurrence.helped is not None
    )
    return any(chance(table) <= _CHANCE for table in strata(judged).values())


def _way(occurrence: Occurrence) -> Way:
    return tuple(step.action for step in occurrence.route) or (occurrence.action,)


def _recovery(way: Way, retry: bool, occurrences: Sequence[Occurrence]) -> Recovery:  # noqa: FBT001 - a sort key's part
    judged = [occurrence for occurrence in occurrences if occurrence.helped is not None]
    seen = Observations(
        len({occurrence.summary.session_id for occurrence in occurrences}),
        len(occurrences),
        sum(bool(occurrence.helped) for occurrence in judged),
    )
    credited = [occurrence for occurrence in occurrences if occurrence.helped] or list(occurrences)
    again = sum(occurrence.again is not None for occurrence in credited)
    after = [_next(occurrence, way, retry=retry) for occurrence in credited]
    return Recovery(
        actions=way,
        lines=tuple(usual_line(_steps(name, occurrences, retry=retry)) for name in way),
        retry=retry,
        seen=seen,
        attempts=sum(occurrence.again is not None for occurrence in occurrences),
        then=most_frequent(name for name in after if name),
        unknown=not judged,
        displaced=sum(occurrence.displaced for occurrence in judged),
        instead=again <= _HALF * len(credited),
        futile=any(occurrence.helped for occurrence in credited) and all(map(_rejected, credited)),
    )


def _rejected(occurrence: Occurrence) -> bool:
    """Whether feedback says that the session failed; an outcome inferred from later work is no judgement of this."""
    return occurrence.summary.went_well is False and occurrence.summary.outcome_reason.endswith("feedback")


def _steps(action: str, occurrences: Sequence[Occurrence], *, retry: bool) -> list[Step]:
    """The steps that did *action*, those that helped if any did, with slots in their lines."""
    best = [occurrence for occurrence in occurrences if occurrence.helped] or list(occurrences)
    chosen = [
        (occurrence, step)
        for occurrence in best
        for step in ([occurrence.again] if retry else occurrence.route)
        if step is not None
    ]
    return [
        replace(step, command=filled(step.command, occurrence.slots))
        for occurrence, step in chosen
        if retry or step.action == action
    ]


def _next(occurrence: Occurrence, way: Way, *, retry: bool) -> str:
    if retry:
        return ""
    if occurrence.again is not None:
        return occurrence.action
    later = [step.action for step in occurrence.following if step.action not in way]
    return later[0] if later else ""
