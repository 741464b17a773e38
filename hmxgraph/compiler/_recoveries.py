"""What helped after a failure: the one model that playbooks and suggestions draw on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.compiler._drafts import Observations
from hmxgraph.compiler._schemas import usual_line
from hmxgraph.compiler._slots import filled
from hmxgraph.compiler._verbs import is_action, kind_of
from hmxgraph.compiler.failures import FailureGroup, Occurrence, most_frequent
from hmxgraph.compiler.summary import Step

_TWICE = 2
_WORKS = frozenset({"action", "lookup"})
_HALF = 0.5

Way = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One reaction to a failure: its actions with their usual lines, how often it was tried, how often it helped.

    ``retry`` is set if it is nothing but another attempt at the failed action. ``attempts`` counts the times that the
    failed action was attempted again; without any, the end of the session judges.
    """

    actions: Way
    lines: tuple[str, ...]
    retry: bool
    seen: Observations
    attempts: int
    then: str
    unknown: bool

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
    """The reactions to this failure, the best supported first; none overlaps a better one."""
    judged = [one for one in group.occurrences if (one.route or one.retried) and not went_elsewhere(one)]
    ways = _candidates(judged)
    tried = [_recovery(way, retry, found) for (way, retry), found in sorted(ways.items()) if found]
    ranked = sorted(tried, key=lambda one: (-(one.seen.successes > 0), -one.score, -len(one.actions), one.actions))
    kept: list[Recovery] = []
    for one in ranked:
        overlapping = any(set(one.actions) & set(other.actions) and not (one.retry or other.retry) for other in kept)
        if not one.coincidence and not overlapping:
            kept.append(one)
    return kept


def advisable(found: Sequence[Recovery]) -> list[Recovery]:
    """The reactions to tell of: without guesswork, and beside what usually worked without what usually did not."""
    sure = [one for one in found if not one.guesswork]
    good = any(one.seen.success_rate >= _HALF for one in sure if kind_of(one.action) != "handover")
    return [one for one in sure if not good or one.unknown or not 0 < one.seen.success_rate < _HALF]


def went_elsewhere(occurrence: Occurrence) -> bool:
    """Whether the failing program was next run for another purpose and the failed action never retried."""
    same = bool(occurrence.route) and occurrence.route[0].action == occurrence.action
    return same and occurrence.again is None


def tallies(found: Iterable[Recovery]) -> list[dict[str, Any]]:
    """For each first action, how often it was tried and how often it helped, as the metadata of a playbook hold it."""
    counted: dict[str, dict[str, Any]] = {}
    for one in found:
        tally = counted.setdefault(one.action, {"tool": one.action, "used": 0, "helped": 0})
        tally["used"] += one.seen.count
        tally["helped"] += one.seen.successes
    return list(counted.values())


def _candidates(occurrences: Sequence[Occurrence]) -> Mapping[tuple[Way, bool], list[Occurrence]]:
    """For each way its occurrences: whole routes, and single actions with every route that contains them.

    A single action that failed alone does not share the successes of longer routes: it needed something else. One that
    was never tried alone is no way of its own.
    """
    exact: dict[tuple[Way, bool], list[Occurrence]] = {}
    for one in occurrences:
        exact.setdefault((_way(one), one.retried), []).append(one)
    ways = dict(exact)
    for single in sorted({name for way, retry in exact if not retry for name in way}):
        alone = exact.get(((single,), False), [])
        longer = [one for (way, _), found in exact.items() if single in way and len(way) > 1 for one in found]
        routes = {_way(one) for one in longer}
        needed_more = alone and not any(one.helped for one in alone) and any(one.helped for one in longer)
        if longer and not needed_more and (alone or len(routes) > 1):
            ways[(single,), False] = [*alone, *longer]
    return ways


def _way(occurrence: Occurrence) -> Way:
    return tuple(step.action for step in occurrence.route) or (occurrence.action,)


def _recovery(way: Way, retry: bool, occurrences: Sequence[Occurrence]) -> Recovery:  # noqa: FBT001 - a sort key's part
    judged = [one for one in occurrences if one.helped is not None]
    seen = Observations(
        len({one.summary.session_id for one in occurrences}), len(occurrences), sum(bool(one.helped) for one in judged)
    )
    after = [_next(one, way, retry=retry) for one in occurrences]
    return Recovery(
        actions=way,
        lines=tuple(usual_line(_steps(name, occurrences, retry=retry)) for name in way),
        retry=retry,
        seen=seen,
        attempts=sum(one.again is not None for one in occurrences),
        then=most_frequent(name for name in after if name),
        unknown=not judged,
    )


def _steps(action: str, occurrences: Sequence[Occurrence], *, retry: bool) -> list[Step]:
    """The steps that did *action*, those that helped if any did, with slots in their lines."""
    best = [one for one in occurrences if one.helped] or list(occurrences)
    chosen = [(one, step) for one in best for step in ([one.again] if retry else one.route) if step is not None]
    return [
        replace(step, command=filled(step.command, one.slots)) for one, step in chosen if retry or step.action == action
    ]


def _next(occurrence: Occurrence, way: Way, *, retry: bool) -> str:
    if retry:
        return ""
    if occurrence.again is not None:
        return occurrence.action
    later = [step.action for step in occurrence.following if step.action not in way]
    return later[0] if later else ""
