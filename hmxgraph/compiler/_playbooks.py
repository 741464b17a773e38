"""failure_playbook: what to do when an action fails, and how to prevent the failure (HMX-A 4.2)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hmxgraph.compiler._amendments import CHOSEN, FROM, GIVEN
from hmxgraph.compiler._cases import Cases
from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._earlier_changes import calls_of_changes, harmful_changes
from hmxgraph.compiler._recoveries import (
    Recovery,
    advisable,
    changed_inputs,
    common_changes,
    recoveries,
    tallies,
    turned_to_other_work,
)
from hmxgraph.compiler._result_rules import ResultRule
from hmxgraph.compiler._retries import call_again, needs_approval, obtain_approval
from hmxgraph.compiler._slots import filled
from hmxgraph.compiler._step_wording import APPROVER, usual_line, with_actor
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
from hmxgraph.compiler._vocabulary import PREPARATIONS, states_approval
from hmxgraph.compiler._wording import capital, citing, listed, small, subjects
from hmxgraph.compiler.actions import LONGEST_COMMAND, PATH_FIELDS
from hmxgraph.compiler.failures import (
    WRONG_VALUE,
    FailureGroup,
    Occurrence,
    most_frequent,
    plain_message,
    significance,
    strata,
)
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import Amendment, SessionSummary, Step
from hmxgraph.text.artifacts import attempted, done, noted, plain, times
from hmxgraph.text.terms import most_first

# Limits: failure groups considered; recoveries and failure keys in the metadata of a playbook; inputs named in a
# trigger; reactions advised after one failed action; steps described if a failure was repaired only once.
_MOST_GROUPS = 200
_MOST_TALLIES = 8
_MOST_KEYS = 20
_MOST_INPUTS = 4
_MOST_REACTIONS = 3
_MOST_REPAIRS = 4
_HALF = 0.5
# Programs that do not show how a session continued.
_SHOWS_NO_WORK = PREPARATIONS | {"exit"}
# A lookup prevents a failure if it preceded a clearly larger share of the successful calls than of the failing ones:
# minimum difference of the shares, minimum calls of each, and minimum standard errors above chance (1.64 is a one-sided
# 5 % level, which is enough because an unnecessary lookup costs little).
_LEAST_DIFFERENCE, _LEAST_CALLS, _LEAST_SIGNIFICANCE = 0.2, 4, 1.64
# Maximum lookups advised as prevention, actions named as triggers, messages named as symptoms, and nouns in the tags.
_MOST_LOOKUPS, _MOST_TRIGGERS, _MOST_SYMPTOMS, _MOST_NOUNS = 2, 4, 3, 4
# A failure is seldom overcome if it was overcome in less than the first share of its occurrences, usually overcome if
# in at least the second.
_SELDOM_OVERCOME, _USUALLY_OVERCOME = 0.25, 0.75
# Words of errors about a value that is currently unavailable, as opposed to a wrong one (``WRONG_VALUE``).
_UNAVAILABLE = re.compile(r"\b(?:available|enough|stock|taken|full|expired|sold)\b", re.IGNORECASE)


def failure_playbooks(
    groups: Sequence[FailureGroup],
    classes: Sequence[GoalClass],
    summaries: Sequence[SessionSummary],
    recent: Sequence[SessionSummary],
    profile: CompilerProfile,
    refused: Mapping[str, ResultRule],
    waiting: Mapping[str, ResultRule],
) -> Iterator[ArtifactDraft]:
    """Yield a playbook for each of the most frequent failure groups for which there is advice.

    *refused* maps the event ids of failures to the rules that explain them: the result of a lookup showed that the call
    would fail. *waiting* maps each change that agents make only after a certain result of a lookup to the rule with
    this result. Choices that made calls fail are learned from the *recent* sessions.
    """
    base_failing_share = _failing_share(summaries)
    kinds = {member.session_id: goal_class.name for goal_class in classes for member in goal_class.members}
    cases, calls, known_choices = Cases(summaries), calls_of_changes(summaries), choices(recent)
    for group in groups[:_MOST_GROUPS]:
        reactions = [recovery for recovery in recoveries(group) if _is_general(group, recovery, cases)]
        checks_first = [
            *_precondition(group, refused),
            *harmful_changes(group, calls),
            *unfit_choices(group, known_choices),
        ]
        prevention = [*checks_first, *_prevention(group, reactions, _protections(group, summaries, kinds), summaries)]
        if prevention or _has_advice(group, reactions):
            draft = _playbook(group, reactions, prevention, waiting, base_failing_share, profile)
            useful = _is_useful(group, reactions, cases)
            if checks_first and not useful and len(group.sessions) > 1:
                # The playbook is useful for its prevention; what sessions did after the failure was not a recovery.
                yield replace(draft, useful=True, metadata={**(draft.metadata or {}), "recoveries": []})
            else:
                yield replace(draft, useful=useful)


def _is_general(group: FailureGroup, recovery: Recovery, cases: Cases) -> bool:
    """Whether a reaction is advice for everybody, not only what one user preferred.

    The one doubtful reaction is another change instead of a failed action that is not the usual one of the group. It
    must have helped in several cases.
    """
    helped = recovery.seen.successes and _replaces(recovery)
    return recovery.failed == group.action or not helped or _count_cases([recovery], cases) > 1


def _precondition(group: FailureGroup, refused: Mapping[str, ResultRule]) -> list[str]:
    """The instruction to check a condition before the action, if rules explain most of these failures; else empty."""
    event_ids = [occurrence.failure.event_id for occurrence in group.occurrences]
    rules = [refused[event_id] for event_id in event_ids if event_id in refused]
    usual = most_first(Counter(f"Before {rule.action}, check that {rule.condition}" for rule in rules))[:1]
    return usual if len(rules) > _HALF * len(group.occurrences) else []


def _has_advice(group: FailureGroup, reactions: Sequence[Recovery]) -> bool:
    """Whether *group* shows what to do or avoid after the failure.

    A single session that stopped after the failure shows neither, nor do retries that mostly worked for an unknown
    reason.
    """
    if _advised_reactions(group, advisable(reactions)) or _undone_warnings(group):
        return True
    if not any(occurrence.repaired for occurrence in group.occurrences):
        return len(group.sessions) > 1 or bool(_continuation(group))
    retried = [occurrence for occurrence in group.occurrences if occurrence.next_attempt is not None]
    worked = sum(occurrence.repaired and not occurrence.displaced for occurrence in retried)
    return bool(_only_repair(group)) or worked <= _HALF * len(retried)


def _was_overcome(occurrence: Occurrence) -> bool:
    """Whether the reaction helped; the success of a session that turned to unrelated work does not count."""
    return bool(occurrence.helped) and not turned_to_other_work(occurrence)


def _playbook(
    group: FailureGroup,
    reactions: Sequence[Recovery],
    prevention: list[str],
    waiting: Mapping[str, ResultRule],
    base_failing_share: float,
    profile: CompilerProfile,
) -> ArtifactDraft:
    judged = [occurrence for occurrence in group.occurrences if occurrence.helped is not None]
    seen = Observations(len(group.sessions), len(judged), sum(_was_overcome(occurrence) for occurrence in judged))
    content = {
        "failure_pattern": _pattern(group),
        "trigger_conditions": _triggers(group),
        "symptoms": _symptoms(group),
        "recovery_steps": _recovery_steps(group, advisable(reactions), waiting, profile.recovery_steps),
        "prevention_strategies": prevention,
        "severity": _severity(group, base_failing_share, profile),
    }
    return ArtifactDraft(
        artifact_type="failure_playbook",
        lineage_key=f"failure:{group.key}",
        title=citing(f"{group.action} fails: " if group.action else "The work fails: ", group.message),
        summary=_summary(group, content),
        content=content,
        seen=seen,
        source_events=evidence(_trails(group), profile.max_evidence),
        tags=tags(["failure", *subjects([group.action] if group.action else [])[:_MOST_NOUNS]]),
        metadata={
            "failure_key": group.key,
            "actions": sorted({occurrence.action for occurrence in group.occurrences if occurrence.action}),
            "failure_keys": group.keys[:_MOST_KEYS],
            "recoveries": tallies(reactions, group.action)[:_MOST_TALLIES],
        },
    )


def _is_useful(group: FailureGroup, reactions: Sequence[Recovery], cases: Cases) -> bool:
    """Whether the playbook is useful enough to be more than a draft.

    If it advises reactions, one other than a handover must have worked in several cases, or have no known result. If it
    advises none, it is useful as a warning: several sessions tried a reaction in vain, and the failure was never
    repaired.
    """
    advised = [recovery for recovery, _ in _advised_reactions(group, advisable(reactions))]
    if advised:
        repairs = [recovery for recovery in advised if not _hands_over(recovery)]
        return any(recovery.unknown for recovery in repairs) or _worked_in_cases(repairs, cases)
    undone_in = {occurrence.summary.session_id for occurrence in group.occurrences if occurrence.undone}
    if len(undone_in) > 1 and _undone_warnings(group):
        return True
    repaired = any(occurrence.repaired for occurrence in group.occurrences)
    return not repaired and any(
        recovery.seen.sessions > 1 and not recovery.seen.successes and not recovery.guesswork for recovery in reactions
    )


def _worked_in_cases(repairs: Sequence[Recovery], cases: Cases) -> bool:
    """Whether one of these reactions worked in several sessions, and all of them together in several cases.

    Changes are ignored if feedback rejects every session in which they helped.
    """
    accepted = [recovery for recovery in repairs if recovery.futile < 1]
    return any(recovery.sessions_helped > 1 for recovery in accepted) and _count_cases(accepted, cases) > 1


def _count_cases(reactions: Iterable[Recovery], cases: Cases) -> int:
    """The number of cases in which these reactions helped."""
    credited = [occurrence for recovery in reactions for occurrence in recovery.credited if occurrence.helped]
    helped = {occurrence.summary.session_id: occurrence.summary for occurrence in credited}
    return len(cases.grouped(helped.values()))


def _pattern(group: FailureGroup) -> str:
    """The failure in readable form: its error type if the signature begins with it, then the message."""
    kind = most_frequent(occurrence.failure.kind for occurrence in group.occurrences)
    return f"{kind}: {group.message}" if kind and group.signature.startswith(kind.lower()) else group.message


def _triggers(group: FailureGroup) -> list[str]:
    """The most frequent calls that fail like this, with their inputs; a sentence instead if no call failed."""
    actions = Counter(occurrence.action for occurrence in group.occurrences if occurrence.action)
    return [f"Calling {name}{_with_inputs(group, name)}" for name in most_first(actions)[:_MOST_TRIGGERS]] or [
        "During the session, outside of any call"
    ]


def _with_inputs(group: FailureGroup, action: str) -> str:
    """The phrase "with ..." that names the inputs of the failing calls; "" if there are none, or too many to name."""
    inputs = _inputs(group, action)
    return f" with {listed(inputs)}" if 0 < len(inputs) <= _MOST_INPUTS else ""


def _inputs(group: FailureGroup, action: str) -> list[str]:
    """The inputs that at least half of the failing calls of *action* had; none for a failure outside of any call."""
    called = [
        occurrence for occurrence in group.occurrences if occurrence.action == action and occurrence.failure.step >= 0
    ]
    steps = [occurrence.summary.steps[occurrence.failure.step] for occurrence in called]
    counts = Counter(name for step in steps for name in dict(step.inputs))
    return sorted(name for name, count in counts.items() if count >= len(steps) / 2)


def _symptoms(group: FailureGroup) -> list[str]:
    """The most frequent messages; those that differ only in numbers or the case of the first letter count once."""
    messages = Counter(
        capital(plain_message(occurrence.failure.message) or occurrence.failure.signature)
        for occurrence in group.occurrences
    )
    return most_first(messages)[:_MOST_SYMPTOMS]


def _recovery_steps(
    group: FailureGroup, reactions: Sequence[Recovery], waiting: Mapping[str, ResultRule], most: int
) -> list[str]:
    """At most *most* steps, then warnings: what worked best after each failed action, and what the user had undone.

    If nothing worked, one step says how to continue, and what did not help.
    """
    advised, warnings = _advised_reactions(group, reactions)[:most], _undone_warnings(group)
    if advised:
        handover_condition = "" if all(_hands_over(recovery) for recovery, _ in advised) else " if nothing else helps"
        previously_failed = [None, *(recovery.failed for recovery, _ in advised)]
        return [
            noted(
                _step_text(
                    group,
                    recovery,
                    text,
                    waiting.get(recovery.action),
                    further=not _hands_over(recovery) and recovery.failed == previous,
                )
                + handover_condition * _hands_over(recovery),
                _track_record(group, recovery),
            )
            for (recovery, text), previous in zip(advised, previously_failed, strict=False)
        ] + warnings
    tried = [recovery for recovery in reactions if not _hands_over(recovery) and not recovery.guesswork][:most]
    alone = " alone" if any(occurrence.repaired for occurrence in group.occurrences) else ""
    # Retries with different changes are counted together, because the text does not state changes that did not help.
    counts: Counter[str] = Counter()
    for recovery in (recovery for recovery in tried if not recovery.seen.successes):
        counts[f"{_attempt(recovery)}{alone} did not help"] += recovery.seen.count
    return [
        "; ".join([_no_recovery(group), *(noted(text, attempted(count)) for text, count in counts.items())]),
        *warnings,
    ]


def _undone_warnings(group: FailureGroup) -> list[str]:
    """What not to do, because the user had it undone, with the counts."""
    undone = Counter(_instruction_for([step]) for occurrence in group.occurrences for step in occurrence.undone)
    return [
        f"Do not {small(text)}: the user had it undone{f' ({count} times)' if count > 1 else ''}"
        for text, count in undone.most_common(_MOST_REACTIONS)
        if text
    ]


def _instruction_for(steps: Sequence[Step]) -> str:
    """The instruction to take these steps of one action; "" if neither its line nor its name says what to do."""
    action, line = steps[0].action, usual_line(steps)
    if line:
        return line_instruction(action, line)
    return with_actor(instruction(action), steps) if names_its_object(action) else ""


def _advised_reactions(group: FailureGroup, reactions: Sequence[Recovery]) -> list[tuple[Recovery, str]]:
    """The reactions to advise, each with its instruction.

    Those to the failure of the group's usual action come first, then those to other actions, then a handover. Besides
    the best reaction to a failed action, further ones are advised only if it is known how the inputs of the retry
    changed.
    """
    working = [
        (recovery, text)
        for recovery in reactions
        if recovery.reliable and not _hands_over(recovery) and (text := _reaction_text(group, recovery))
    ]
    in_several_sessions = [pair for pair in working if pair[0].unknown or pair[0].sessions_helped > 1]
    # If some reactions worked in several sessions, one that worked in a single session is advised only if no feedback
    # rejects that session.
    acceptable = (
        working if not in_several_sessions else [pair for pair in working if not any(map(_rejected, pair[0].credited))]
    )
    in_one_session = [pair for pair in acceptable if pair not in in_several_sessions]
    by_failed_action: dict[str, list[tuple[Recovery, str]]] = {group.action: []}
    for recovery, text in [*in_several_sessions, *in_one_session]:
        advised = by_failed_action.setdefault(recovery.failed, [])
        adds_advice = len(advised) < _MOST_REACTIONS and recovery.informed and not _is_advised(recovery, text, advised)
        if not advised or adds_advice:
            advised.append((recovery, text))
    handovers = [
        (recovery, _reaction_text(group, recovery))
        for recovery in reactions
        if _hands_over(recovery) and recovery.proven and recovery.seen.count >= _HALF * _unrepaired(group)
    ]
    return [*(pair for advised in by_failed_action.values() for pair in advised), *handovers[:1]]


def _replaces(recovery: Recovery) -> bool:
    """Whether another change was made instead of the failed action."""
    return recovery.instead and is_action(recovery.action)


def _unrepaired(group: FailureGroup) -> int:
    """The number of occurrences of the failure in which it was not repaired."""
    return sum(not occurrence.repaired for occurrence in group.occurrences)


def _rejected(occurrence: Occurrence) -> bool:
    return occurrence.summary.rejected


def _is_advised(recovery: Recovery, text: str, advised: Sequence[tuple[Recovery, str]]) -> bool:
    """Whether *advised* already contains this instruction, or an action from which *recovery* takes inputs."""
    sources = set(map(_source, recovery.changes))
    return any(
        text == advised_text or not sources.isdisjoint(advised_recovery.actions)
        for advised_recovery, advised_text in advised
    )


def _reaction_condition(group: FailureGroup, recovery: Recovery, rule: ResultRule | None) -> str:
    """The condition under which a reaction applies, as a phrase "If ...: "; "" if it always applies.

    The condition names the failed action if that is not the usual one of the group. If another action is used instead,
    it names the result of a lookup that this action waits for. If another change is made instead, and users usually
    spoke before it, it names their consent.
    """
    if _hands_over(recovery):
        return ""
    failed = f"{recovery.failed} failed" if recovery.failed != group.action else ""
    result = rule.condition if rule and recovery.instead else ""
    consent = "the user agrees" if _replaces(recovery) and recovery.settled else ""
    conditions = listed([condition for condition in (failed, result, consent) if condition])
    return f"If {conditions}: " if conditions else ""


def _step_text(group: FailureGroup, recovery: Recovery, text: str, rule: ResultRule | None, *, further: bool) -> str:
    """The instruction of a reaction with its condition; "Or: " introduces a *further* reaction to the same failure."""
    condition = _reaction_condition(group, recovery, rule)
    return f"{'Or: ' * further}{condition}{small(text) if condition else text}"


def _no_recovery(group: FailureGroup) -> str:
    """What to do if no single reaction is known to help; several changes may have helped together."""
    retried = [occurrence for occurrence in group.occurrences if occurrence.next_attempt is not None]
    repaired = sum(occurrence.repaired for occurrence in retried)
    displaced = sum(occurrence.displaced for occurrence in retried)
    if not repaired:
        return _continuation(group) or "Stop and tell the user what failed"
    track_record = times(repaired - displaced, len(retried), displaced)
    if repair := _only_repair(group):
        return repair
    if any(occurrence.changes for occurrence in retried if occurrence.repaired):
        return noted(f"Try {group.action} again after several changes: no single one is known to help", track_record)
    if repaired - displaced > _HALF * len(retried):
        return noted(f"Try {group.action} again: what made the error go away is not known", track_record)
    return noted("Stop and tell the user what failed; no change of the inputs is known to help", track_record)


def _only_repair(group: FailureGroup) -> str:
    """The instruction to repeat the only repair of the failure; "" if there were others or it cannot be described."""
    repaired = [occurrence for occurrence in group.occurrences if occurrence.repaired]
    texts = _change_texts(repaired[0].work) if len(repaired) == 1 else []
    if not texts:
        return ""
    text = ", then ".join([texts[0], *map(small, texts[1:]), f"try {group.action} again"])
    return noted(text, times(1 - repaired[0].displaced, 1, int(repaired[0].displaced)))


def _change_texts(work: Sequence[Step]) -> list[str]:
    """An instruction for each of these changes; empty if there are too many, none is an edit, or one is undescribed."""
    texts = [
        f"Edit {step.edit}" if step.edit else line_instruction(step.action, step.command) if step.command else ""
        for step in work
    ]
    return texts if any(step.edit for step in work) and len(texts) <= _MOST_REPAIRS and all(texts) else []


def _continuation(group: FailureGroup) -> str:
    """The sentence that says which other work most sessions continued with, without a retry; "" if they did not.

    Also "" if there is no failed action, if all sessions that continued failed, or if their next action shows no work,
    such as ``exit``.
    """
    continued = [occurrence for occurrence in group.occurrences if _did_other_work(occurrence)]
    all_failed = all(occurrence.summary.went_well is False for occurrence in continued)
    if not group.action or all_failed or len(continued) <= _HALF * len(group.occurrences):
        return ""
    names = most_first(Counter(occurrence.following[0].action for occurrence in continued))
    if _SHOWS_NO_WORK.issuperset(names):
        return ""
    return f"No repair is known; most sessions went on with {listed(names[:2], 'or')}"


def _did_other_work(occurrence: Occurrence) -> bool:
    """Whether the session continued with other work, without a retry or a handover."""
    first_step = occurrence.following[:1]
    return occurrence.next_attempt is None and any(
        kind_of(step.action) in {"lookup", "action"} and step.action != occurrence.action for step in first_step
    )


def _hands_over(recovery: Recovery) -> bool:
    return kind_of(recovery.action) == "handover"


def _attempt(recovery: Recovery) -> str:
    """The name of a reaction that did not help."""
    return f"another {recovery.action}" if recovery.retry else listed(recovery.actions)


def _reaction_text(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction for a reaction, and how to continue; "" if the names of its actions do not say what to do."""
    if recovery.retry:
        text = _retry_instruction(group, recovery)
        unchanged = text in {f"Run {recovery.action} again", f"Call {recovery.action} again unchanged"}
        # If the user spoke before the same call worked, the user may have repaired what failed.
        if unchanged and recovery.settled:
            return f"Tell the user what failed and wait for the answer, then {small(text)}"
        return text
    if _hands_over(recovery):
        return instruction(recovery.action)
    are_specific = (line or names_its_object(name) for name, line in zip(recovery.actions, recovery.lines, strict=True))
    if not all(are_specific) and not all(occurrence.declared for occurrence in recovery.credited):
        return ""
    texts = [
        line_instruction(name, line) if line else with_actor(instruction(name), recovery.steps_of(name))
        for name, line in zip(recovery.actions, recovery.lines, strict=True)
    ]
    text = ", then ".join([texts[0], *map(small, texts[1:])])
    if not recovery.instead:
        text = _until_it_passes(group, recovery) or text
        return f"{text}, then {small(_retry_after(recovery))}"
    if group.action:
        text = f"{text} instead"
    # After a change that replaces the failed one, the next action belongs to another request.
    is_replacement = is_action(recovery.action) and not serves_any_purpose(recovery.action)
    is_complete = is_replacement or recovery.next_action in {"", recovery.failed}
    return text if is_complete else f"{text}, then go on with {recovery.next_action}"


def _until_it_passes(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction to edit until a check passes.

    "" unless the error names the check, files were edited each time, and an edit usually preceded the check.
    """
    always_edited = all(any(map(_edits_file, occurrence.work)) for occurrence in recovery.credited)
    if recovery.comes_first or not (always_edited and names_program(group.message, recovery.action)):
        return ""
    return f"Edit the files that it reports until `{recovery.lines[0] or recovery.action}` passes"


def _edits_file(step: Step) -> bool:
    return is_action(step.action) and not step.command and any(name in PATH_FIELDS for name, _ in step.inputs)


def _retry_instruction(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction to retry, with the inputs to change or the command line to use; "" if neither is known."""
    line = recovery.lines[0]
    if line and line_is_target(recovery.action):
        return f"{line_instruction(recovery.action, line)} again"
    if not line:
        return _retry_with_changes(group, recovery)
    failed_line = usual_line(
        [
            replace(_failed_step(occurrence), command=filled(_failed_step(occurrence).command, occurrence.slots))
            for occurrence in recovery.credited
        ]
    )
    if line == failed_line and len(line) >= LONGEST_COMMAND:
        return ""  # Both lines were cut to this length and may differ after it.
    text = f"run {recovery.action} again" + (f" as `{line}`" if line != failed_line else "")
    return f"Get approval from whoever may give it, then {text}" if APPROVER in line else capital(text)


def _failed_step(occurrence: Occurrence) -> Step:
    return occurrence.summary.steps[occurrence.failure.step]


def _retry_after(recovery: Recovery) -> str:
    """The instruction to retry after the steps of *recovery*, with the inputs that they supply and needed approvals."""
    changes = common_changes(recovery.credited)
    stated = [change for change in changes if _source(change) in recovery.actions or needs_approval(change)]
    return call_again(recovery.failed, stated, settled=False) or f"Try {recovery.failed} again"


def _source(change: Amendment) -> str:
    """The action from which a changed input comes; otherwise "" or a text that names no action."""
    return change.detail.removeprefix("from ") if change.how in {FROM, GIVEN, CHOSEN} else ""


def _retry_with_changes(group: FailureGroup, recovery: Recovery) -> str:
    """The instruction to call again, unchanged or with the changed inputs and their sources; "" if neither is known."""
    if not recovery.changes:
        unchanged = not any(map(changed_inputs, recovery.credited)) and names_its_object(recovery.action)
        return f"Call {recovery.action} again unchanged" if unchanged else ""
    value_is_wrong = WRONG_VALUE.search(group.message) is not None and not _UNAVAILABLE.search(group.message)
    return call_again(recovery.action, recovery.changes, settled=recovery.settled, wrong=value_is_wrong)


def _track_record(group: FailureGroup, recovery: Recovery) -> str:
    """How often a reaction worked, and how often another error followed; "" if that is unknown.

    A handover repairs nothing, so its record is how often it was done among the failures that were not repaired.
    """
    if _hands_over(recovery):
        return done(recovery.seen.count, _unrepaired(group))
    if recovery.unknown:
        return ""
    worked = recovery.seen.successes - recovery.displaced
    return times(worked, recovery.seen.count, recovery.displaced, futile=recovery.futile)


def _prevention(
    group: FailureGroup, reactions: Sequence[Recovery], protecting: Sequence[str], summaries: Iterable[SessionSummary]
) -> list[str]:
    """How to prevent the failure: lookups to make before the call, and inputs that failing calls lacked.

    Of the *protecting* lookups, those count that are also known to repair the failure, or to supply an input that
    repairs it.
    """
    before = f"Before {group.action}, " if group.action else "Before going on, "
    helped = [recovery for recovery in reactions if recovery.seen.successes]
    supplied = {_source(change) for recovery in helped if recovery.retry for change in recovery.changes}
    repairing = {name for recovery in helped for name in recovery.actions} | supplied
    lookups = [name for name in protecting if name in repairing][:_MOST_LOOKUPS]
    advice = [f"{before}{small(instruction(name))}" for name in lookups]
    missing = _missing_inputs(group, summaries)
    approvals = [name for name in missing if states_approval(name)]
    if values := [name for name in missing if name not in approvals]:
        advice.append(f"{before}make sure that {listed(values)} {'is' if len(values) == 1 else 'are'} given")
    return [*advice, f"{before}{obtain_approval(approvals)}"] if approvals else advice


def _missing_inputs(group: FailureGroup, summaries: Iterable[SessionSummary]) -> list[str]:
    """The inputs that failing calls lacked but most successful retries and most other successful calls had.

    Approvals count only if all successful calls had them.
    """
    retries = [
        occurrence for occurrence in group.occurrences if occurrence.retried and occurrence.action == group.action
    ]
    helped = [occurrence for occurrence in retries if occurrence.helped]
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
    with_input = {name: sum(name in inputs for inputs in worked) for name in lacking}
    return [
        name
        for name in lacking
        if with_input[name] == len(worked) or (with_input[name] > _HALF * len(worked) and not states_approval(name))
    ]


def _protections(group: FailureGroup, summaries: Sequence[SessionSummary], kinds: Mapping[str, str]) -> list[str]:
    """Lookups that precede successful calls clearly more often than calls with this failure.

    Only the first call of each session counts, because later ones may be repairs. The difference must also be
    significant among sessions with the same kind of request (*kinds*, by session id).
    """
    failed_calls = {(occurrence.summary.session_id, occurrence.failure.step) for occurrence in group.occurrences}
    # For each first call: the kind of request, the actions before it, and whether it failed.
    calls = [
        (
            kinds.get(session.session_id, ""),
            frozenset(session.actions[:index]),
            (session.session_id, index) in failed_calls,
        )
        for session in summaries
        if group.action in session.actions
        for index in [session.actions.index(group.action)]
        if (session.session_id, index) in failed_calls or session.steps[index].ok
    ]
    before_success = [before for _, before, failed in calls if not failed]
    before_failure = [before for _, before, failed in calls if failed]
    if min(len(before_success), len(before_failure)) < _LEAST_CALLS:
        return []
    actions = {name for before in before_success for name in before}
    lookups = sorted(name for name in actions if kind_of(name) == "lookup" and name != group.action)
    differences = {name: _share(name, before_success) - _share(name, before_failure) for name in lookups}
    # A lookup that also preceded most failing calls does not prevent the failure.
    rare_before_failure = {name for name in lookups if _share(name, before_failure) <= _HALF}
    return [
        name
        for name in most_first(differences)
        if name in rare_before_failure and differences[name] >= _LEAST_DIFFERENCE and _is_significant(name, calls)
    ]


def _is_significant(name: str, calls: Iterable[tuple[str, frozenset[str], bool]]) -> bool:
    """Whether calls without the lookup *name* before them fail significantly more often."""
    by_kind = strata((kind, name not in before, failed) for kind, before, failed in calls)
    return significance(list(by_kind.values())) >= _LEAST_SIGNIFICANCE


def _share(name: str, actions_before_calls: Sequence[frozenset[str]]) -> float:
    """The share of calls that the action *name* preceded."""
    return sum(name in actions for actions in actions_before_calls) / len(actions_before_calls)


def _severity(group: FailureGroup, base_failing_share: float, profile: CompilerProfile) -> str:
    """How severe a failure is: how seldom it is overcome, and how much more often its sessions fail than all sessions.

    A failure that an error declared not recoverable is critical.
    """
    rise = _failing_share(group.sessions) - base_failing_share
    is_final = any(occurrence.failure.recoverable is False for occurrence in group.occurrences)
    overcome_share = sum(_was_overcome(occurrence) for occurrence in group.occurrences) / len(group.occurrences)
    if is_final or (rise >= 2 * profile.severe_rise and overcome_share < _SELDOM_OVERCOME):
        return "critical"
    if rise >= profile.severe_rise:
        return "high"
    return "medium" if overcome_share < _USUALLY_OVERCOME else "low"


def _failing_share(summaries: Iterable[SessionSummary]) -> float:
    """The share of sessions that failed, among those with a known outcome."""
    outcomes = [session.succeeded for session in summaries if session.went_well is not None]
    return outcomes.count(False) / len(outcomes) if outcomes else 0.0


def _trails(group: FailureGroup) -> Iterable[list[str]]:
    """For each session, the event ids of the failures, of the failing calls, and of the step after each."""
    trails: defaultdict[str, list[str]] = defaultdict(list)
    for occurrence in group.occurrences:
        call_and_next_step = (
            occurrence.summary.steps[occurrence.failure.step : occurrence.failure.step + 2]
            if occurrence.failure.step >= 0
            else occurrence.following[:1]
        )
        trails[occurrence.summary.session_id] += [
            occurrence.failure.event_id,
            *(step.event_id for step in call_and_next_step),
        ]
    return trails.values()


def _summary(group: FailureGroup, content: dict[str, Any]) -> str:
    condition = f"When {group.action} fails" if group.action else "When the work fails"
    step = plain(content["recovery_steps"][0])
    return f"{condition} with “{group.message}”: {small(step)}."
