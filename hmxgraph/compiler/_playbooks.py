"""failure_playbook: what to do when something fails, and how to keep it from failing (HMX-A 4.2)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hmxgraph.compiler._amendments import CHOSEN, FROM, GIVEN
from hmxgraph.compiler._cases import Cases
from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._earlier_changes import calls_after_changes, spoiling_changes
from hmxgraph.compiler._recoveries import (
    Recovery,
    advisable,
    changed_inputs,
    common_changes,
    recoveries,
    tallies,
    went_elsewhere,
)
from hmxgraph.compiler._result_rules import ResultRule
from hmxgraph.compiler._retries import call_again
from hmxgraph.compiler._slots import filled
from hmxgraph.compiler._step_wording import as_done, usual_line
from hmxgraph.compiler._unfit_choices import choices, unfit_choices
from hmxgraph.compiler._verbs import (
    instruction,
    is_action,
    kind_of,
    line_instruction,
    line_is_target,
    names_its_object,
    names_program,
    serves_any_purpose,
)
from hmxgraph.compiler._vocabulary import PREPARATIONS
from hmxgraph.compiler._wording import capital, citing, listed, small, subjects
from hmxgraph.compiler.actions import LONGEST_COMMAND, PATH_FIELDS
from hmxgraph.compiler.failures import FailureGroup, Occurrence, most_frequent, plain_message, significance, strata
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import Amendment, SessionSummary, Step
from hmxgraph.text.artifacts import attempted, done, noted, plain, times
from hmxgraph.text.terms import most_first

_MOST_DRAFTS = 200
_MOST_TALLIES = 8
_MOST_KEYS = 20
_MOST_INPUTS = 4
_MOST_WAYS = 3
_MOST_DEEDS = 4
_HALF = 0.5
_LEAST_CALLS = 4
_MOST_LOOKUPS = 2
_GAP = 0.2
_LEADS_NOWHERE = PREPARATIONS | {"exit"}
# One-sided 5 % level: an unnecessary lookup costs little.
_CLEARLY = 1.64
# Error words which say that a value is wrong, as opposed to unavailable at the moment (_SPENT).
_DENIED = re.compile(
    r"\b(?:not found|not exist|no such|unknown|invalid|incorrect|wrong|mismatch|not match|unrecognized|malformed)\b",
    re.IGNORECASE,
)
_SPENT = re.compile(r"\b(?:available|enough|stock|taken|full|expired|sold)\b", re.IGNORECASE)


def failure_playbooks(
    groups: Sequence[FailureGroup],
    classes: Sequence[GoalClass],
    summaries: Sequence[SessionSummary],
    recent: Sequence[SessionSummary],
    profile: CompilerProfile,
    refused: Mapping[str, ResultRule],
    waiting: Mapping[str, ResultRule],
) -> Iterator[ArtifactDraft]:
    """One playbook per failure group about which something can be said.

    *refused* explains failures by their events, *waiting* says what the changes wait for. What calls chose is learnt
    from the *recent* sessions.
    """
    base = _failing_share(summaries)
    kinds = {member.session_id: goal_class.name for goal_class in classes for member in goal_class.members}
    cases, calls, made = Cases(summaries), calls_after_changes(summaries), choices(recent)
    for group in groups[:_MOST_DRAFTS]:
        best = recoveries(group)
        unmet = [*_unmet(group, refused), *spoiling_changes(group, calls), *unfit_choices(group, made)]
        prevention = [*unmet, *_prevention(group, best, _protecting(group, summaries, kinds), summaries)]
        if prevention or _answered(group, best):
            draft = _playbook(group, best, prevention, waiting, base, profile)
            repairs = _useful(group, best, cases)
            if unmet and not repairs and len(group.sessions) > 1:
                # It says how to keep it from failing; what sessions did after it is no way out.
                yield replace(draft, useful=True, metadata={**(draft.metadata or {}), "recoveries": []})
            else:
                yield replace(draft, useful=repairs)


def _unmet(group: FailureGroup, refused: Mapping[str, ResultRule]) -> list[str]:
    """What to check first, if most of these calls failed because it was not so."""
    events = [occurrence.failure.event_id for occurrence in group.occurrences]
    rules = [refused[event_id] for event_id in events if event_id in refused]
    usual = most_first(Counter(f"Before {rule.action}, check that {rule.condition}" for rule in rules))[:1]
    return usual if len(rules) > _HALF * len(group.occurrences) else []


def _answered(group: FailureGroup, best: Sequence[Recovery]) -> bool:
    """Whether there is something to do, or to leave alone, when it fails: a single case that ended there shows none."""
    if _advised_ways(group, advisable(best)):
        return True
    if not any(occurrence.repaired for occurrence in group.occurrences):
        return len(group.sessions) > 1 or bool(_gone_on(group))
    retried = [occurrence for occurrence in group.occurrences if occurrence.again is not None]
    worked = sum(occurrence.repaired and not occurrence.displaced for occurrence in retried)
    return bool(_only_repair(group)) or worked <= _HALF * len(retried)


def _overcome(occurrence: Occurrence) -> bool:
    """Whether the reaction helped; a session may also succeed without the failed action."""
    return bool(occurrence.helped) and not went_elsewhere(occurrence)


def _playbook(
    group: FailureGroup,
    best: Sequence[Recovery],
    prevention: list[str],
    waiting: Mapping[str, ResultRule],
    base: float,
    profile: CompilerProfile,
) -> ArtifactDraft:
    judged = [occurrence for occurrence in group.occurrences if occurrence.helped is not None]
    seen = Observations(len(group.sessions), len(judged), sum(_overcome(occurrence) for occurrence in judged))
    content = {
        "failure_pattern": _pattern(group),
        "trigger_conditions": _triggers(group),
        "symptoms": _symptoms(group),
        "recovery_steps": _recovery_steps(group, advisable(best), waiting, profile.recovery_steps),
        "prevention_strategies": prevention,
        "severity": _severity(group, base, profile),
    }
    return ArtifactDraft(
        artifact_type="failure_playbook",
        lineage_key=f"failure:{group.key}",
        title=citing(f"{group.action} fails: " if group.action else "The work fails: ", group.says),
        summary=_summary(group, content),
        content=content,
        seen=seen,
        source_events=evidence(_trails(group), profile.max_evidence),
        tags=tags(["failure", *subjects([group.action] if group.action else [])[:4]]),
        metadata={
            "failure_key": group.key,
            "actions": sorted({occurrence.action for occurrence in group.occurrences if occurrence.action}),
            "failure_keys": group.keys[:_MOST_KEYS],
            "recoveries": tallies(best, group.action)[:_MOST_TALLIES],
        },
    )


def _useful(group: FailureGroup, best: Sequence[Recovery], cases: Cases) -> bool:
    """Whether it is useful: a way worked in several cases or has no known result, or several sessions tried in vain."""
    advised = [recovery for recovery, _ in _advised_ways(group, advisable(best))]
    if advised:
        repairs = [recovery for recovery in advised if not _hands_over(recovery)]
        return any(recovery.unknown for recovery in repairs) or _worked_in_cases(repairs, cases)
    repaired = any(occurrence.repaired for occurrence in group.occurrences)
    return not repaired and any(
        recovery.seen.sessions > 1 and not recovery.seen.successes and not recovery.guesswork for recovery in best
    )


def _worked_in_cases(repairs: Sequence[Recovery], cases: Cases) -> bool:
    """Whether one of the ways worked in several sessions, and all of them together in several cases."""
    sound = [recovery for recovery in repairs if recovery.futile < 1]
    credited = [occurrence for way in sound for occurrence in way.credited if occurrence.helped]
    helped = {occurrence.summary.session_id: occurrence.summary for occurrence in credited}
    return any(way.sessions_helped > 1 for way in sound) and len(cases.grouped(helped.values())) > 1


def _pattern(group: FailureGroup) -> str:
    """The failure in readable form: its type if informative, then the message."""
    kind = most_frequent(occurrence.failure.kind for occurrence in group.occurrences)
    return f"{kind}: {group.says}" if kind and group.signature.startswith(kind.lower()) else group.says


def _triggers(group: FailureGroup) -> list[str]:
    actions = Counter(occurrence.action for occurrence in group.occurrences if occurrence.action)
    return [f"Calling {name}{_with_inputs(group, name)}" for name in most_first(actions)[:4]] or [
        "During the session, outside of any call"
    ]


def _with_inputs(group: FailureGroup, action: str) -> str:
    """The input names, if there are few."""
    names = _inputs(group, action)
    return f" with {listed(names)}" if 0 < len(names) <= _MOST_INPUTS else ""


def _inputs(group: FailureGroup, action: str) -> list[str]:
    """The inputs of at least half of these calls; none for a failure outside of any call."""
    called = [
        occurrence for occurrence in group.occurrences if occurrence.action == action and occurrence.failure.step >= 0
    ]
    steps = [occurrence.summary.steps[occurrence.failure.step] for occurrence in called]
    counts = Counter(name for step in steps for name in dict(step.inputs))
    return sorted(name for name, count in counts.items() if count >= len(steps) / 2)


def _symptoms(group: FailureGroup) -> list[str]:
    """The distinct messages; those that differ only in numbers or capitals count once."""
    messages = Counter(
        capital(plain_message(occurrence.failure.message) or occurrence.failure.signature)
        for occurrence in group.occurrences
    )
    return most_first(messages)[:3]


def _recovery_steps(
    group: FailureGroup, best: Sequence[Recovery], waiting: Mapping[str, ResultRule], most: int
) -> list[str]:
    """What to do for each action that failed so: what worked best, else that nothing is known to help."""
    advised = _advised_ways(group, best)[:most]
    if advised:
        last = "" if all(_hands_over(recovery) for recovery, _ in advised) else " if nothing else helps"
        before = [None, *(recovery.failed for recovery, _ in advised)]
        return [
            noted(
                _way(
                    group,
                    recovery,
                    deed,
                    waiting.get(recovery.action),
                    further=not _hands_over(recovery) and recovery.failed == previous,
                )
                + last * _hands_over(recovery),
                _trust(group, recovery),
            )
            for (recovery, deed), previous in zip(advised, before, strict=False)
        ]
    tried = [recovery for recovery in best if not _hands_over(recovery) and not recovery.guesswork][:most]
    alone = " alone" if any(occurrence.repaired for occurrence in group.occurrences) else ""
    # Retries are divided by their changes, which are not told where none helped.
    vain: Counter[str] = Counter()
    for recovery in (recovery for recovery in tried if not recovery.seen.successes):
        vain[f"{_attempt(recovery)}{alone} did not help"] += recovery.seen.count
    return ["; ".join([_no_recovery(group), *(noted(said, attempted(count)) for said, count in vain.items())])]


def _advised_ways(group: FailureGroup, best: Sequence[Recovery]) -> list[tuple[Recovery, str]]:
    """For each failed action the reactions that worked and what they were; handing over comes last.

    Beside the best one, only attempts with other inputs are advised, whose kind or source is known.
    """
    worked = [
        (recovery, deed)
        for recovery in best
        if recovery.reliable and not _hands_over(recovery) and (deed := _deed(group, recovery))
    ]
    several = [pair for pair in worked if pair[0].unknown or pair[0].sessions_helped > 1]
    # Beside ways that worked in several sessions, one that worked once is advised only if no feedback rejects it.
    sound = worked if not several else [pair for pair in worked if not any(map(_rejected, pair[0].credited))]
    once = [pair for pair in sound if pair not in several]
    ways_by_action: dict[str, list[tuple[Recovery, str]]] = {}
    for recovery, deed in [*several, *once]:
        ways = ways_by_action.setdefault(recovery.failed, [])
        further = len(ways) < _MOST_WAYS and recovery.informed and not _advised_already(recovery, deed, ways)
        if not ways or further:
            ways.append((recovery, deed))
    handovers = [
        (recovery, _deed(group, recovery))
        for recovery in best
        if _hands_over(recovery) and recovery.proven and recovery.seen.count >= _HALF * _unrepaired(group)
    ]
    return [*(pair for ways in ways_by_action.values() for pair in ways), *handovers[:1]]


def _unrepaired(group: FailureGroup) -> int:
    """How often the failure was not repaired."""
    return sum(not occurrence.repaired for occurrence in group.occurrences)


def _rejected(occurrence: Occurrence) -> bool:
    return occurrence.summary.rejected


def _advised_already(recovery: Recovery, deed: str, ways: Sequence[tuple[Recovery, str]]) -> bool:
    """Whether one of *ways* is the same instruction, or takes the inputs from the same source."""
    sources = set(map(_source, recovery.changes))
    return any(deed == other or not sources.isdisjoint(way.actions) for way, other in ways)


def _where(group: FailureGroup, recovery: Recovery, rule: ResultRule | None) -> str:
    """When a way is open: which action failed, if not the group's own, and the result that another change waits for."""
    if _hands_over(recovery):
        return ""
    failed = f"{recovery.failed} failed" if recovery.failed != group.action else ""
    says = rule.condition if rule and recovery.instead else ""
    conditions = " and ".join(condition for condition in (failed, says) if condition)
    return f"If {conditions}: " if conditions else ""


def _way(group: FailureGroup, recovery: Recovery, deed: str, rule: ResultRule | None, *, further: bool) -> str:
    """A way with its condition; "Or: " introduces a further one."""
    where = _where(group, recovery, rule)
    return f"{'Or: ' * further}{where}{small(deed) if where else deed}"


def _no_recovery(group: FailureGroup) -> str:
    """What to do where no reaction is known to help; several changes may have helped together."""
    retried = [occurrence for occurrence in group.occurrences if occurrence.again is not None]
    repaired = sum(occurrence.repaired for occurrence in retried)
    displaced = sum(occurrence.displaced for occurrence in retried)
    if not repaired:
        return _gone_on(group) or "Stop and tell the user what failed"
    counted = times(repaired - displaced, len(retried), displaced)
    if repair := _only_repair(group):
        return repair
    if any(occurrence.changes for occurrence in retried if occurrence.repaired):
        return noted(f"Try {group.action} again after several changes: no single one is known to help", counted)
    if repaired - displaced > _HALF * len(retried):
        return noted(f"Try {group.action} again: what made the error go away is not known", counted)
    return noted("Stop and tell the user what failed; no change of the inputs is known to help", counted)


def _only_repair(group: FailureGroup) -> str:
    """The changes of the only repair, if they are few and each can be described; "" if there were several repairs."""
    repaired = [occurrence for occurrence in group.occurrences if occurrence.repaired]
    deeds = _instructions(repaired[0].work) if len(repaired) == 1 else []
    if not deeds:
        return ""
    how = ", then ".join([deeds[0], *map(small, deeds[1:]), f"try {group.action} again"])
    return noted(how, times(1 - repaired[0].displaced, 1, int(repaired[0].displaced)))


def _instructions(work: Sequence[Step]) -> list[str]:
    """An instruction for each of these changes; none if there are many, or one cannot be described."""
    deeds = [
        f"Edit {step.edit}" if step.edit else line_instruction(step.action, step.command) if step.command else ""
        for step in work
    ]
    return deeds if any(step.edit for step in work) and len(deeds) <= _MOST_DEEDS and all(deeds) else []


def _gone_on(group: FailureGroup) -> str:
    """What most sessions went on with, where none tried again what failed; "" if they stopped or came to nothing."""
    went_on = [occurrence for occurrence in group.occurrences if _carried_on(occurrence)]
    failed = all(occurrence.summary.went_well is False for occurrence in went_on)
    if not group.action or failed or len(went_on) <= _HALF * len(group.occurrences):
        return ""
    names = most_first(Counter(occurrence.following[0].action for occurrence in went_on))
    if _LEADS_NOWHERE.issuperset(names):
        return ""
    return f"No way to repair it is known; the work went on with {listed(names[:2], 'or')}"


def _carried_on(occurrence: Occurrence) -> bool:
    """Whether the session went on with other work: it did not try again what failed, nor stop, nor hand over."""
    following = occurrence.following[:1]
    return occurrence.again is None and any(
        kind_of(step.action) in {"lookup", "action"} and step.action != occurrence.action for step in following
    )


def _hands_over(recovery: Recovery) -> bool:
    return kind_of(recovery.action) == "handover"


def _attempt(recovery: Recovery) -> str:
    return f"another {recovery.action}" if recovery.retry else listed(recovery.actions)


def _deed(group: FailureGroup, recovery: Recovery) -> str:
    """What to do and how to continue; "" if the names of the steps do not say what to do."""
    if recovery.retry:
        return _once_more(group, recovery)
    if _hands_over(recovery):
        return instruction(recovery.action)
    named = (line or names_its_object(name) for name, line in zip(recovery.actions, recovery.lines, strict=True))
    if not all(named) and not all(occurrence.declared for occurrence in recovery.credited):
        return ""
    deeds = [
        line_instruction(name, line) if line else as_done(instruction(name), recovery.steps_of(name))
        for name, line in zip(recovery.actions, recovery.lines, strict=True)
    ]
    deed = ", then ".join([deeds[0], *map(small, deeds[1:])])
    if not recovery.instead:
        deed = _until_it_passes(group, recovery) or deed
        return f"{deed}, then {small(_again(recovery))}"
    if group.action:
        deed = f"{deed} instead"
    # What follows a change in its place is the next thing that was asked for.
    is_end = is_action(recovery.action) and not serves_any_purpose(recovery.action)
    return deed if is_end or recovery.then in {"", recovery.failed} else f"{deed}, then go on with {recovery.then}"


def _until_it_passes(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction to edit until a check passes, if the error names it, and files were edited each time."""
    edited = all(any(map(_edits_file, occurrence.work)) for occurrence in recovery.credited)
    if recovery.comes_first or not (edited and names_program(group.says, recovery.action)):
        return ""
    return f"Edit the files that it complains of until `{recovery.lines[0] or recovery.action}` passes"


def _edits_file(step: Step) -> bool:
    return is_action(step.action) and not step.command and any(name in PATH_FIELDS for name, _ in step.inputs)


def _once_more(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction to retry, with the inputs to change or the command line to use; "" if the retries differ."""
    line = recovery.lines[0]
    if line and line_is_target(recovery.action):
        return f"{line_instruction(recovery.action, line)} again"
    if not line:
        return _with_changes(group, recovery)
    failed = usual_line(
        [
            replace(_failing(occurrence), command=filled(_failing(occurrence).command, occurrence.slots))
            for occurrence in recovery.credited
        ]
    )
    if line == failed and len(line) >= LONGEST_COMMAND:
        return ""  # both are cut, and may differ after that
    return f"Run {recovery.action} again" + (f" as `{line}`" if line != failed else "")


def _failing(occurrence: Occurrence) -> Step:
    return occurrence.summary.steps[occurrence.failure.step]


def _again(recovery: Recovery) -> str:
    """The instruction to try again after something else was done, with what was taken from that."""
    taken = [change for change in common_changes(recovery.credited) if _source(change) in recovery.actions]
    return call_again(recovery.failed, taken, settled=False) or f"Try {recovery.failed} again"


def _source(change: Amendment) -> str:
    """The action that a changed input comes from; "" if none."""
    return change.detail.removeprefix("from ") if change.how in {FROM, GIVEN, CHOSEN} else ""


def _with_changes(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction to call again, with what changed and where it was taken from; "" if that is not known."""
    if not recovery.changes:
        unchanged = not any(map(changed_inputs, recovery.credited)) and names_its_object(recovery.action)
        return f"Call {recovery.action} again unchanged" if unchanged else ""
    wrong = _DENIED.search(group.says) is not None and not _SPENT.search(group.says)
    return call_again(recovery.action, recovery.changes, settled=recovery.settled, wrong=wrong)


def _trust(group: FailureGroup, recovery: Recovery) -> str:
    """How often it worked, and how often another error followed; "" if that is unknown.

    Handing over repairs nothing: it says how often it was done where nothing else did.
    """
    if _hands_over(recovery):
        return done(recovery.seen.count, _unrepaired(group))
    if recovery.unknown:
        return ""
    worked = recovery.seen.successes - recovery.displaced
    return times(worked, recovery.seen.count, recovery.displaced, futile=recovery.futile)


def _prevention(
    group: FailureGroup, best: Sequence[Recovery], protecting: Sequence[str], summaries: Iterable[SessionSummary]
) -> list[str]:
    """Prevention supported by sessions: lookups that avoided the failure, and inputs that failing calls lacked.

    A lookup is credited only if it is also known to repair the failure, or to supply the input that repairs it.
    """
    before = f"Before {group.action}, " if group.action else "Before going on, "
    helped = [recovery for recovery in best if recovery.seen.successes]
    supplied = {_source(change) for recovery in helped if recovery.retry for change in recovery.changes}
    repairing = {name for recovery in helped for name in recovery.actions} | supplied
    lookups = [name for name in protecting if name in repairing][:_MOST_LOOKUPS]
    advice = [f"{before}{small(instruction(name))}" for name in lookups]
    if lacking := _lacking(group, summaries):
        return [*advice, f"{before}make sure that {listed(lacking)} {'is' if len(lacking) == 1 else 'are'} given"]
    return advice


def _lacking(group: FailureGroup, summaries: Iterable[SessionSummary]) -> list[str]:
    """The inputs that failing calls lacked, and that most successful retries and calls had."""
    again = [occurrence for occurrence in group.occurrences if occurrence.retried and occurrence.action == group.action]
    helped = [occurrence for occurrence in again if occurrence.helped]
    counts = Counter(
        change.input for occurrence in helped for change in changed_inputs(occurrence) if change.how == GIVEN
    )
    lacking = sorted(name for name in counts if counts[name] > _HALF * len(helped))
    worked = [
        {name for name, _ in step.inputs}
        for session in (summaries if lacking else ())
        for step in session.steps
        if step.action == group.action and step.ok
    ]
    return [name for name in lacking if sum(name in inputs for inputs in worked) > _HALF * len(worked)]


def _protecting(group: FailureGroup, summaries: Sequence[SessionSummary], kinds: Mapping[str, str]) -> list[str]:
    """Lookups that precede successful calls clearly more often than calls with this failure.

    Only the first call of each session counts, because later ones may be repaired, and only sessions of the same kind
    are compared.
    """
    failed = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    calls = [
        (kinds.get(session.session_id, ""), frozenset(session.actions[:place]), (session.session_id, place) in failed)
        for session in summaries
        if group.action in session.actions
        for place in [session.actions.index(group.action)]
        if (session.session_id, place) in failed or session.steps[place].ok
    ]
    well, badly = ([before for _, before, bad in calls if bad is wanted] for wanted in (False, True))
    if min(len(well), len(badly)) < _LEAST_CALLS:
        return []
    lookups = {name for before in well for name in before if kind_of(name) == "lookup" and name != group.action}
    gaps = {name: _share(name, well) - _share(name, badly) for name in sorted(lookups)}
    # A lookup that preceded most of the failing calls, too, does not prevent the failure.
    rare = {name for name in gaps if _share(name, badly) <= _HALF}
    return [name for name in most_first(gaps) if name in rare and gaps[name] >= _GAP and _clear(name, calls)]


def _clear(name: str, calls: Iterable[tuple[str, frozenset[str], bool]]) -> bool:
    """Whether calls without *name* before them fail significantly more often."""
    by_kind = strata((kind, name not in before, bad) for kind, before, bad in calls)
    return significance(list(by_kind.values())) >= _CLEARLY


def _share(name: str, calls: Sequence[frozenset[str]]) -> float:
    return sum(name in before for before in calls) / len(calls)


def _severity(group: FailureGroup, base: float, profile: CompilerProfile) -> str:
    rise = _failing_share(group.sessions) - base
    final = any(occurrence.failure.recoverable is False for occurrence in group.occurrences)
    helped = sum(_overcome(occurrence) for occurrence in group.occurrences) / len(group.occurrences)
    if final or (rise >= 2 * profile.severe_rise and helped < 0.25):
        return "critical"
    if rise >= profile.severe_rise:
        return "high"
    return "medium" if helped < 0.75 else "low"


def _failing_share(summaries: Iterable[SessionSummary]) -> float:
    outcomes = [session.succeeded for session in summaries if session.went_well is not None]
    return outcomes.count(False) / len(outcomes) if outcomes else 0.0


def _trails(group: FailureGroup) -> Iterable[list[str]]:
    """For each session, the failing calls, the failures and the actions after them."""
    trails: defaultdict[str, list[str]] = defaultdict(list)
    for occurrence in group.occurrences:
        nearby = (
            occurrence.summary.steps[occurrence.failure.step : occurrence.failure.step + 2]
            if occurrence.failure.step >= 0
            else occurrence.following[:1]
        )
        trails[occurrence.summary.session_id] += [occurrence.failure.event_id, *(step.event_id for step in nearby)]
    return trails.values()


def _summary(group: FailureGroup, content: dict[str, Any]) -> str:
    what = f"When {group.action} fails" if group.action else "When the work fails"
    step = plain(content["recovery_steps"][0])
    return f"{what} with “{group.says}”: {small(step)}."
