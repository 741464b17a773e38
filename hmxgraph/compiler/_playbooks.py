"""failure_playbook: what to do when something fails, and how to keep it from failing (HMX-A 4.2)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._schemas import usual_line
from hmxgraph.compiler._verbs import instruction, is_action, kind_of, line_is_target, told_line
from hmxgraph.compiler._wording import capital, citing, listed, subjects
from hmxgraph.compiler.actions import TARGET_FIELDS
from hmxgraph.compiler.failures import FailureGroup, Occurrence, clearness, most_frequent, plain_message, strata
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Step
from hmxgraph.text.artifacts import AT_TIMES, EVENLY, MOSTLY, ONCE, noted, plain
from hmxgraph.text.terms import most_first

_COMMON = frozenset(("id", "name", "type", "i", "is", "not", "the", "a", "of", "to", "for", "with", "value", "number"))
_MOST_DRAFTS = 200
_MOST_TALLIES = 8
_MOST_INPUTS, _FEW_INPUTS = 4, 2
_USUALLY, _HALF = 0.8, 0.5
_LEAST_CALLS = 4
_MOST_LOOKUPS = 2
_GAP = 0.2
# One-sided, at five in a hundred: a look-up too many costs little.
_CLEARLY = 1.64
_TWICE = 2
_MOST_CHANGES = 3
# How inputs change from one attempt to the next, with the link between their names.
_GIVEN, _CORRECTED, _LEFT = "given", "corrected", "left out"
_CHANGED = {_GIVEN: "and", _CORRECTED: "or", _LEFT: "and"}
_FORM = re.compile(r"required|missing|must|should|invalid|valid|format|expected|match", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Recovery:
    """One first thing done after a failure, how often, and how often that helped.

    ``line`` is the command line by which it was mostly done, ``retry`` tells whether it was what had failed.
    """

    action: str
    line: str
    retry: bool
    seen: Observations
    then: str
    unknown: bool
    repaired: bool

    @property
    def proven(self) -> bool:
        """Whether it may be advised: it helped, or nobody knows yet."""
        return self.unknown or self.seen.successes > 0

    @property
    def coincidence(self) -> bool:
        """Whether it may have had nothing to do with the failure: another change, once, and what failed was left."""
        lonely = self.seen.count < _TWICE and not self.repaired
        return self.proven and lonely and not self.retry and is_action(self.action)


def failure_playbooks(
    groups: Sequence[FailureGroup],
    classes: Sequence[GoalClass],
    summaries: Sequence[SessionSummary],
    profile: CompilerProfile,
) -> Iterator[ArtifactDraft]:
    """One playbook for each kind of failure."""
    base = _failing_share(summaries)
    kinds = {one.session_id: found.name for found in classes for one in found.members}
    for group in groups[:_MOST_DRAFTS]:
        prevention = _prevention(group, _protecting(group, summaries, kinds))
        yield _playbook(group, prevention, base, profile)


def recoveries(group: FailureGroup) -> list[_Recovery]:
    """What was done first after this failure, the best proven first.

    Ranked by Laplace's estimate held back for few observations, as confidence is (DESIGN 6).
    """
    options: dict[tuple[str, bool], list[Occurrence]] = {}
    for one in group.occurrences:
        if one.following and not _went_elsewhere(one):
            options.setdefault((one.following[0].action, one.retried), []).append(one)
    found = [_recovery(options[option]) for option in sorted(options)]
    ranked = sorted(found, key=lambda one: (-one.seen.count * (one.seen.success_rate + 0.5), one.action, one.retry))
    return [one for one in ranked if not one.coincidence]


def _went_elsewhere(occurrence: Occurrence) -> bool:
    """Whether the failing program was run for something else next, and what failed was left as it was."""
    same = bool(occurrence.following) and occurrence.following[0].action == occurrence.action
    return same and not occurrence.retried and not occurrence.repaired


def _overcome(occurrence: Occurrence) -> bool:
    """Whether what was done helped; the session may have gone well without what failed."""
    return bool(occurrence.helped) and not _went_elsewhere(occurrence)


def _recovery(occurrences: Sequence[Occurrence]) -> _Recovery:
    """What these have in common that were followed by the same."""
    first = [one.following[0] for one in occurrences]
    known = [one for one in occurrences if one.helped is not None]
    seen = Observations(
        len({one.summary.session_id for one in occurrences}), len(occurrences), sum(bool(one.helped) for one in known)
    )
    return _Recovery(
        action=first[0].action,
        line=usual_line(first),
        retry=occurrences[0].retried,
        seen=seen,
        then=most_frequent(one.following[1].action for one in occurrences if len(one.following) > 1),
        unknown=not known,
        repaired=any(one.repaired for one in occurrences),
    )


def _playbook(group: FailureGroup, prevention: Sequence[str], base: float, profile: CompilerProfile) -> ArtifactDraft:
    best = recoveries(group)
    known = [one for one in group.occurrences if one.helped is not None]
    seen = Observations(len(group.sessions), len(known), sum(_overcome(one) for one in known))
    content = {
        "failure_pattern": _pattern(group),
        "trigger_conditions": _triggers(group),
        "symptoms": _symptoms(group),
        "recovery_steps": _recovery_steps(group, best, profile.recovery_steps),
        "prevention_strategies": list(prevention),
        "severity": _severity(group, base, profile),
    }
    where = f"when {group.action} fails: " if group.action else "from: "
    return ArtifactDraft(
        artifact_type="failure_playbook",
        lineage_key=f"failure:{group.key}",
        title=citing(f"Recover {where}", group.says),
        summary=_summary(group, content),
        content=content,
        seen=seen,
        source_events=evidence(_trails(group), profile.max_evidence),
        tags=tags(["failure", *subjects([group.action] if group.action else [])[:4]]),
        metadata={
            "failure_key": group.key,
            "actions": sorted({one.action for one in group.occurrences if one.action}),
            "recoveries": _tallies(best)[:_MOST_TALLIES],
        },
    )


def _tallies(best: Sequence[_Recovery]) -> list[dict[str, Any]]:
    """For each action how often it was used first after the failure and helped, whether to try again or not."""
    found: dict[str, dict[str, Any]] = {}
    for one in best:
        tally = found.setdefault(one.action, {"tool": one.action, "used": 0, "helped": 0})
        tally["used"] += one.seen.count
        tally["helped"] += one.seen.successes
    return list(found.values())


def _pattern(group: FailureGroup) -> str:
    """The failure as people write it: its type where that tells something, then the message."""
    kind = most_frequent(one.failure.kind for one in group.occurrences)
    return f"{kind}: {group.says}" if kind and group.signature.startswith(kind.lower()) else group.says


def _triggers(group: FailureGroup) -> list[str]:
    actions = Counter(one.action for one in group.occurrences if one.action)
    return [f"Calling {name}{_with_inputs(group, name)}" for name in most_first(actions)[:4]] or [
        "During the session, outside of any call"
    ]


def _with_inputs(group: FailureGroup, action: str) -> str:
    """The inputs by name where they are few enough to tell something."""
    names = _inputs(group, action)
    return f" with {listed(names)}" if 0 < len(names) <= _MOST_INPUTS else ""


def _inputs(group: FailureGroup, action: str) -> list[str]:
    """The inputs that at least half of these calls had; a failure outside of any call has none."""
    called = [one for one in group.occurrences if one.action == action and one.failure.step >= 0]
    steps = [one.summary.steps[one.failure.step] for one in called]
    counts = Counter(name for step in steps for name, _ in step.inputs)
    return sorted(name for name, count in counts.items() if count >= len(steps) / 2)


def _symptoms(group: FailureGroup) -> list[str]:
    """The messages as people wrote them, those that differ in numbers or capitals only once."""
    messages = Counter(
        capital(plain_message(one.failure.message) or one.failure.signature) for one in group.occurrences
    )
    return most_first(messages)[:3]


def _recovery_steps(group: FailureGroup, best: Sequence[_Recovery], most: int) -> list[str]:
    proven = [one for one in best if one.proven][:most]
    if not proven:
        names = list(dict.fromkeys(one.action for one in best))[:most]
        tried = [f"; {listed(names)} {'has' if len(names) == 1 else 'have'} not helped so far"] if names else []
        return ["Stop and tell the user what failed" + "".join(tried)]
    return [_advice(group, one) for one in proven]


def _advice(group: FailureGroup, recovery: _Recovery) -> str:
    """What to do, what to go on with, and how far it can be trusted."""
    return noted(_deed(group, recovery), _trust(recovery))


def _deed(group: FailureGroup, recovery: _Recovery) -> str:
    if recovery.retry:
        return _once_more(group, recovery)
    if kind_of(recovery.action) == "handover":
        return f"{instruction(recovery.action)} if nothing else helps"
    again = f", then try {group.action} again" if recovery.then and recovery.then == group.action else ""
    onward = f", then go on with {recovery.then}" if not again and recovery.then not in {"", recovery.action} else ""
    deed = told_line(recovery.action, recovery.line) if recovery.line else instruction(recovery.action)
    return deed + again + onward


def _once_more(group: FailureGroup, recovery: _Recovery) -> str:
    """To try again: with which inputs corrected, or by which other command line."""
    if recovery.line and line_is_target(recovery.action):
        return f"{told_line(recovery.action, recovery.line)} again"
    if not recovery.line:
        return f"Call {recovery.action} again{_corrected(group, recovery.action)}"
    failed = usual_line([_failing(one) for one in _retries(group, recovery.action)])
    return f"Run {recovery.action} again" + (f" as `{recovery.line}`" if recovery.line != failed else "")


def _failing(occurrence: Occurrence) -> Step:
    return occurrence.summary.steps[occurrence.failure.step]


def _corrected(group: FailureGroup, action: str) -> str:
    """How the inputs of another attempt mostly differ: " with phone given and date or time corrected"."""
    counts = Counter(change for one in _retries(group, action) for change in _changes(one))
    ranked = most_first(counts)
    usual = [change for change in ranked if counts[change] >= _HALF * counts[ranked[0]]][:_MOST_CHANGES]
    names = {how: [name for name, deed in usual if deed == how] for how in _CHANGED}
    parts = [f"{listed(names[how], link)} {how}" for how, link in _CHANGED.items() if names[how]]
    return f" with {listed(parts)}" if parts else ""


def _retries(group: FailureGroup, action: str) -> list[Occurrence]:
    """Where *action* was tried again at once: those that helped, if any did."""
    again = [one for one in group.occurrences if one.retried and one.action == action]
    return [one for one in again if one.helped] or again


def _changes(occurrence: Occurrence) -> list[tuple[str, str]]:
    """The inputs in which the next attempt differs from the one that failed, each with how."""
    if occurrence.again is None:
        return []
    before, after = ({name for name, _ in step.inputs} for step in (_failing(occurrence), occurrence.again))
    given, left = (
        [(name, how) for name in names] for names, how in ((after - before, _GIVEN), (before - after, _LEFT))
    )
    return [*given, *left, *((name, _CORRECTED) for name in occurrence.again.changed if name in before & after)]


def _trust(recovery: _Recovery) -> str:
    """How far it can be trusted, "" where nothing is to be said."""
    if recovery.unknown or kind_of(recovery.action) == "handover":
        return ""
    if recovery.seen.count == 1:
        return ONCE
    if recovery.seen.success_rate >= _USUALLY:
        return MOSTLY
    return EVENLY if recovery.seen.success_rate >= _HALF else AT_TIMES


def _prevention(group: FailureGroup, protecting: Sequence[str]) -> list[str]:
    """What the sessions bear out: look-ups that spared others the failure, and inputs that it is known to hang on.

    The inputs were given or corrected where another attempt helped, or the message speaks of them.
    """
    before = f"Before {group.action}, " if group.action else "Before going on, "
    found = [f"{before}{_small(instruction(name))}" for name in protecting[:_MOST_LOOKUPS]]
    if lacking := _lacking(group):
        return [*found, f"{before}make sure that {listed(lacking)} {'is' if len(lacking) == 1 else 'are'} given"]
    blamed = [name for name in _blamed(group, group.action) if not _cleared(group, name)] if group.action else []
    if group.action and (doubtful := blamed or _mended(group)):
        inputs = listed(doubtful)
        check = f"bring {inputs} into the form it demands" if _FORM.search(group.signature) else f"check {inputs}"
        found.append(before + check)
    return found


def _cleared(group: FailureGroup, name: str) -> bool:
    """Whether most attempts that helped gave the very same for an input, so that it was not at fault."""
    again = [(one, one.again) for one in group.occurrences if one.again is not None and one.again.ok]
    return sum(name not in step.changed or _on_the_same(one, step, name) for one, step in again) > _HALF * len(again)


def _on_the_same(occurrence: Occurrence, again: Step, name: str) -> bool:
    """Whether a later action in the browser was done to the same, whatever was clicked in between."""
    return name in TARGET_FIELDS and "" != again.command == _failing(occurrence).command


def _mended(group: FailureGroup) -> list[str]:
    """The inputs that most attempts which helped had corrected, where they are few enough to tell something."""
    again = [one for one in _retries(group, group.action) if one.helped]
    counts = Counter(name for one in again for name, how in _changes(one) if how == _CORRECTED)
    usual = sorted(name for name in counts if counts[name] > _HALF * len(again))
    return usual if len(usual) <= _FEW_INPUTS else []


def _lacking(group: FailureGroup) -> list[str]:
    """The inputs that the failing calls did without and most attempts that helped had."""
    again = [one for one in _retries(group, group.action) if one.helped]
    counts = Counter(name for one in again for name, how in _changes(one) if how == _GIVEN)
    return sorted(name for name in counts if counts[name] > _HALF * len(again))


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _blamed(group: FailureGroup, action: str) -> list[str]:
    """The inputs that the message speaks of."""
    spoken = _stems(group.signature) - _COMMON
    return [name for name in _inputs(group, action) if not spoken.isdisjoint(_stems(name.lower()))]


def _stems(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[a-z]+", text)}


def _protecting(group: FailureGroup, summaries: Sequence[SessionSummary], kinds: Mapping[str, str]) -> list[str]:
    """Look-ups that came before calls that went well, and clearly less often before those that failed like this.

    Of each session the first call counts, against sessions of its kind: what comes later has been repaired, and what
    only some kinds of requests need spares nobody.
    """
    failed = {(one.summary.session_id, one.failure.step) for one in group.occurrences}
    calls = [
        (kinds.get(one.session_id, ""), frozenset(one.actions[:place]), (one.session_id, place) in failed)
        for one in summaries
        if group.action in one.actions
        for place in [one.actions.index(group.action)]
        if (one.session_id, place) in failed or one.steps[place].ok
    ]
    well, badly = ([before for _, before, bad in calls if bad is wanted] for wanted in (False, True))
    if min(len(well), len(badly)) < _LEAST_CALLS:
        return []
    lookups = {name for before in well for name in before if kind_of(name) == "lookup" and name != group.action}
    gaps = {name: _share(name, well) - _share(name, badly) for name in sorted(lookups)}
    return [name for name in most_first(gaps) if gaps[name] >= _GAP and _clear(name, calls)]


def _clear(name: str, calls: Iterable[tuple[str, frozenset[str], bool]]) -> bool:
    """Whether calls without *name* before them fail more often than chance explains."""
    found = strata((kind, name not in before, bad) for kind, before, bad in calls)
    return clearness(list(found.values())) >= _CLEARLY


def _share(name: str, calls: Sequence[frozenset[str]]) -> float:
    return sum(name in before for before in calls) / len(calls)


def _severity(group: FailureGroup, base: float, profile: CompilerProfile) -> str:
    rise = _failing_share(group.sessions) - base
    final = any(one.failure.recoverable is False for one in group.occurrences)
    helped = sum(_overcome(one) for one in group.occurrences) / len(group.occurrences)
    if final or (rise >= 2 * profile.severe_rise and helped < 0.25):
        return "critical"
    if rise >= profile.severe_rise:
        return "high"
    return "medium" if helped < 0.75 else "low"


def _failing_share(summaries: Iterable[SessionSummary]) -> float:
    known = [one.succeeded for one in summaries if one.went_well is not None]
    return known.count(False) / len(known) if known else 0.0


def _trails(group: FailureGroup) -> Iterable[list[str]]:
    """Session by session the failing calls, the failures and the actions after them."""
    trails: defaultdict[str, list[str]] = defaultdict(list)
    for one in group.occurrences:
        nearby = (
            one.summary.steps[one.failure.step : one.failure.step + 2] if one.failure.step >= 0 else one.following[:1]
        )
        trails[one.summary.session_id] += [one.failure.event_id, *(step.event_id for step in nearby)]
    return trails.values()


def _summary(group: FailureGroup, content: dict[str, Any]) -> str:
    what = f"When {group.action} fails" if group.action else "When the work fails"
    step = plain(content["recovery_steps"][0])
    return f"{what} with “{group.says}”: {_small(step)}."
