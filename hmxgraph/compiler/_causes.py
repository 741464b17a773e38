"""causal_pattern: what makes sessions succeed or fail, or a call fail, found by comparing sessions (HMX-A 4.4).

Some kinds of requests are harder than others, and each needs other actions. Sessions are therefore compared only with
those of the same kind of request and the same agent, which form a stratum. The strength of a cause is Cheng's causal
power (1997), (p - base) / (1 - base), where p is the share of sessions with the cause that show the effect, and base is
that share without the cause. Only causes that pass the Mantel-Haenszel test (1959) over all strata are kept. To count
as useful, they must also pass it after correction for the number of comparisons (Bonferroni).
"""

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from hmxgraph.compiler._class_names import class_name
from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._verbs import instruction, is_action, kind_of
from hmxgraph.compiler._wording import LONGEST_TITLE, capital, listed, subjects, title
from hmxgraph.compiler.failures import FailureGroup, Stratum, share_nouns, significance, strata
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.comparison import jaccard

# Maximum counterexamples of a pattern, steps of a session that count as its evidence, and nouns in its tags.
_MOST_COUNTEREXAMPLES, _MOST_STEPS, _MOST_NOUNS = 3, 3, 4
# With fewer affected sessions, the test is significant too easily.
_LEAST_AFFECTED = 3
# Of two causes whose sessions have at least this Jaccard index, the weaker one is redundant.
_SAME_SESSIONS = 0.8
# The part of a quoted message after its first clause.
_LATER_CLAUSES = re.compile(r"[,;:][^”]*”")
_SUCCEEDS, _FAILS, _CALL_FAILS = "the session succeeds", "the session fails", "the call fails"
# For each effect, what the sessions that show it did, and what the others did.
_WITH_EFFECT = {_SUCCEEDS: "succeeded", _FAILS: "failed", _CALL_FAILS: "had the call fail"}
_WITHOUT_EFFECT = {_SUCCEEDS: "failed", _FAILS: "succeeded", _CALL_FAILS: "had the call succeed"}
# The effect of a cause must show in at least this many strata that have at least this many sessions with the cause, and
# as many without it.
_LEAST_STRATA, _LEAST_COMPARED = 2, 2
# The omission of a lookup is a possible cause if the share of sessions that omit it, among those that take the action,
# is between these limits: otherwise one of the compared groups is too small.
_LEAST_OMITTED, _MOST_OMITTED = 0.1, 0.8
# Maximum kinds of requests that the conditions name.
_MOST_KINDS = 3

# For each session id, indexes of steps.
_StepsBySession = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class _Cause:
    """A possible cause: a property of sessions, such as "get_order is called".

    ``name`` describes it; ``steps`` holds the indexes of the steps at which each session shows it. ``scope`` holds the
    sessions that could show it, ``subjects`` the nouns for tags, ``effects`` the outcomes that it may cause. ``advice``
    says what an agent can do; "" if an agent does not control the cause. ``without`` describes the sessions that lack
    the cause. ``failing`` holds the ids of the sessions whose call failed, if that is the effect.
    """

    name: str
    key: str
    steps: _StepsBySession
    scope: Sequence[SessionSummary]
    subjects: tuple[str, ...]
    effects: tuple[str, ...] = (_SUCCEEDS, _FAILS)
    advice: str = ""
    without: str = "without it"
    failing: frozenset[str] = frozenset()

    def shows(self, effect: str, session: SessionSummary) -> bool:
        """Whether *session* shows the *effect*."""
        if effect == _CALL_FAILS:
            return session.session_id in self.failing
        return session.succeeded == (effect == _SUCCEEDS)


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause and its effect, counted by stratum.

    ``having`` holds the counted sessions that show the cause, ``kinds`` the kinds of requests that were compared.
    """

    cause: _Cause
    effect: str
    having: tuple[SessionSummary, ...]
    strata: tuple[Stratum, ...]
    kinds: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """The number of counted sessions that show the cause."""
        return sum(stratum.having for stratum in self.strata)

    @property
    def affected(self) -> int:
        """The number of sessions with the cause that show the effect."""
        return sum(stratum.affected for stratum in self.strata)

    @property
    def others(self) -> int:
        """The number of sessions of the same strata that do not show the cause."""
        return sum(stratum.others for stratum in self.strata)

    @property
    def others_affected(self) -> int:
        """The number of sessions without the cause that show the effect."""
        return sum(stratum.others_affected for stratum in self.strata)

    @property
    def share(self) -> float:
        """The share of sessions with the cause that show the effect."""
        return self.affected / self.count

    @property
    def base(self) -> float:
        """The share of sessions expected to show the effect without the cause.

        It is the share among the sessions without the cause, weighted by the number of sessions with it in each
        stratum.
        """
        return sum(stratum.having * stratum.others_affected / stratum.others for stratum in self.strata) / self.count

    @property
    def strength(self) -> float:
        """The causal power of the cause, from 0 to 1."""
        return round(max(0.0, (self.share - self.base) / (1 - self.base)) if self.base < 1 else 0.0, 2)

    @property
    def useful(self) -> bool:
        """Whether an agent controls the cause, and no difference between agents or requests explains the effect.

        A failing call is observed directly. A session can succeed for many reasons, such as a careful agent, so the
        difference must hold for several agents or kinds of requests, and be reversed for none.
        """
        if not self.cause.advice or self.effect == _CALL_FAILS:
            return bool(self.cause.advice)
        differences = [
            (stratum, stratum.affected / stratum.having - stratum.others_affected / stratum.others)
            for stratum in self.strata
        ]
        shows_effect = [
            difference > 0
            for stratum, difference in differences
            if min(stratum.having, stratum.others) >= _LEAST_COMPARED
        ]
        return sum(shows_effect) >= _LEAST_STRATA and all(difference >= 0 for _, difference in differences)

    @property
    def significance(self) -> float:
        """How far the number of affected sessions with the cause exceeds its expected value, in standard errors."""
        return significance(self.strata)


def causal_patterns(
    groups: Sequence[FailureGroup],
    classes: Sequence[GoalClass],
    summaries: Sequence[SessionSummary],
    profile: CompilerProfile,
) -> Iterator[ArtifactDraft]:
    """Yield the causes of success, failure and failed calls, the most significant first, at most ``max_causes``."""
    kinds = {member.session_id: goal_class.name for goal_class in classes for member in goal_class.members}
    # Skip sessions without a known outcome or a comparison group.
    judged = (summary for summary in summaries if summary.outcome != "unknown" and summary.session_id in kinds)
    sessions = sorted(judged, key=lambda summary: summary.session_id)
    compared = [
        (cause, effect)
        for cause in _causes(groups, sessions)
        if profile.cause_support <= len(cause.steps) <= len(cause.scope) - profile.cause_support
        for effect in cause.effects
    ]
    findings = [
        finding for cause, effect in compared if (finding := _finding(cause, effect, kinds, profile)) is not None
    ]
    least_significance = _corrected_significance(profile.cause_significance, len(compared))
    ranked = sorted(findings, key=lambda finding: (-finding.significance, finding.cause.key, finding.effect))
    selected: list[Finding] = []
    for finding in ranked:
        if len(selected) < profile.max_causes and not any(_is_redundant(finding, better) for better in selected):
            selected.append(finding)
    names = {goal_class.name: class_name(goal_class, profile) for goal_class in classes}
    for finding in selected:
        draft = _pattern(finding, names, profile)
        yield draft if finding.significance >= least_significance else replace(draft, useful=False)


def _corrected_significance(significance: float, comparisons: int) -> float:
    """The significance that each of several *comparisons* needs, if a single one needs *significance* (Bonferroni).

    Both are given in standard errors above chance.

    >>> round(_corrected_significance(2.33, 1), 2), round(_corrected_significance(2.33, 30), 2)
    (2.33, 3.41)
    """
    normal = NormalDist()
    return -normal.inv_cdf((1 - normal.cdf(significance)) / max(comparisons, 1))


def _is_redundant(finding: Finding, other: Finding) -> bool:
    """Whether two causes of the same effect occur in nearly the same sessions, so that the second adds nothing."""
    return (
        finding.effect == other.effect
        and jaccard(finding.cause.steps.keys(), other.cause.steps.keys()) >= _SAME_SESSIONS
    )


def _causes(groups: Sequence[FailureGroup], summaries: Sequence[SessionSummary]) -> Iterator[_Cause]:
    """Yield the possible causes: failures, lookups that do not usually end sessions, and omitted lookups."""
    for group in groups:
        event = f"{group.action} fails" if group.action else "the work fails"
        nouns = tuple(subjects([group.action] if group.action else []))
        steps = _failed_steps(group)
        yield _Cause(f"{event} with “{group.message}”", f"failure:{group.key}", steps, summaries, nouns, (_FAILS,))
    uses = _uses(summaries)
    # Thinking and handing over are consequences of difficulty, and final lookups of success: neither is a cause.
    for action in (name for name in sorted(uses) if kind_of(name) in {"lookup", "action"}):
        nouns = tuple(subjects([action]))
        if is_action(action):
            callers = [session for session in summaries if session.session_id in uses[action]]
            yield from _omitted_lookups(action, callers, uses[action])
        elif not _ends_sessions(uses[action], summaries):
            # Only lookups are advised, because they cost little; whether to make a change depends on the situation.
            advice = capital(instruction(action))
            effects = (_SUCCEEDS,)
            yield _Cause(f"{action} is called", f"action:{action}", uses[action], summaries, nouns, effects, advice)


def _failed_steps(group: FailureGroup) -> dict[str, list[int]]:
    """For each session, the indexes of the failed steps after which work continued, -1 if no failed step is known.

    A failure that ends the session is its outcome, not a cause of the outcome.
    """
    steps: defaultdict[str, list[int]] = defaultdict(list)
    for occurrence in group.occurrences:
        summary, step = occurrence.summary, occurrence.failure.step
        ends_session = occurrence.failure.event_id == summary.outcome_event_id or step == len(summary.steps) - 1
        if summary.outcome != "unknown" and not ends_session:
            steps[summary.session_id].append(step)
    return dict(steps)


def _uses(summaries: Sequence[SessionSummary]) -> dict[str, dict[str, list[int]]]:
    """For each action, the sessions that take it and the indexes of the steps at which they do."""
    uses: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for summary in summaries:
        for index, action in enumerate(summary.actions):
            uses[action][summary.session_id].append(index)
    return {action: dict(uses[action]) for action in uses}


def _ends_sessions(uses: _StepsBySession, summaries: Sequence[SessionSummary]) -> bool:
    """Whether the first use of an action is usually the last step of the session."""
    last_steps = sum(
        uses[session.session_id][0] == len(session.steps) - 1 for session in summaries if session.session_id in uses
    )
    return last_steps > len(uses) / 2


def _omitted_lookups(action: str, callers: Sequence[SessionSummary], uses: _StepsBySession) -> Iterator[_Cause]:
    """Yield the omission of each lookup that some *callers* of *action* make before it and others leave out.

    A lookup of the same kind of item counts as the same lookup.
    """
    before = {caller.session_id: frozenset(caller.actions[: uses[caller.session_id][0]]) for caller in callers}
    lookups = sorted({name for actions in before.values() for name in actions if kind_of(name) == "lookup"})
    for lookup in lookups:
        similar = {lookup, *(name for name in lookups if share_nouns(name, lookup))}
        omitting = {key: uses[key][:1] for key in before if similar.isdisjoint(before[key])}
        if _LEAST_OMITTED <= len(omitting) / len(callers) <= _MOST_OMITTED:
            nouns = tuple(subjects([action, lookup]))
            yield _Cause(
                f"{action} is called without {lookup} before it",
                f"without:{action}:{lookup}",
                omitting,
                callers,
                nouns,
                (_CALL_FAILS,),
                f"Call {lookup} before {action}",
                f"with {lookup} before it",
                frozenset(
                    caller.session_id for caller in callers if caller.steps[uses[caller.session_id][0]].ok is False
                ),
            )


def _finding(cause: _Cause, effect: str, kinds: Mapping[str, str], profile: CompilerProfile) -> Finding | None:
    """The finding for *cause* and *effect*; None if it has too few sessions, is weak, or may be due to chance."""
    exposed = _exposed_sessions(cause)
    kind_and_agent = {session.session_id: f"{kinds[session.session_id]}|{session.agent_id}" for session in exposed}
    tables = strata(
        (kind_and_agent[session.session_id], session.session_id in cause.steps, cause.shows(effect, session))
        for session in exposed
    )
    comparable = [session for session in exposed if kind_and_agent[session.session_id] in tables]
    having = tuple(session for session in comparable if session.session_id in cause.steps)
    compared = frozenset(kinds[session.session_id] for session in comparable)
    finding = Finding(cause, effect, having, tuple(tables.values()), compared)
    if min(finding.count, finding.others) < profile.cause_support or finding.affected < _LEAST_AFFECTED:
        return None
    is_clear = finding.strength >= profile.cause_strength and finding.significance >= profile.cause_significance
    return finding if is_clear else None


def _exposed_sessions(cause: _Cause) -> list[SessionSummary]:
    """The sessions that show the cause, and those long enough to reach the step at which it usually first occurs.

    Otherwise a last resort, which only long and difficult sessions reach, would be blamed for their failures.
    """
    first_steps = {session_id: min(steps) for session_id, steps in cause.steps.items()}
    usual = statistics.median(first_steps.values())
    return [session for session in cause.scope if session.session_id in first_steps or len(session.steps) > usual]


def _pattern(finding: Finding, names: Mapping[str, str], profile: CompilerProfile) -> ArtifactDraft:
    cause, effect = finding.cause, finding.effect
    exceptions = [session for session in finding.having if not cause.shows(effect, session)][:_MOST_COUNTEREXAMPLES]
    others = f"{finding.others_affected} of {finding.others}"
    content = {
        "cause": cause.name,
        "effect": effect,
        "direction": "forward",
        "strength": finding.strength,
        "conditions": [
            (
                f"Among sessions of the same agents with similar requests: {finding.affected} of {finding.count} "
                f"with the cause, {others} without it"
            ),
            *_tasks(finding, names),
        ],
        "counterexamples": [
            f"Session {session.session_id} {_WITHOUT_EFFECT[effect]} nevertheless" for session in exceptions
        ],
    }
    return ArtifactDraft(
        artifact_type="causal_pattern",
        lineage_key=f"cause:{cause.key}:{effect}",
        title=title(f"{cause.advice}: {_contrast(finding)}" if cause.advice else _heading(cause.name, effect)),
        summary=f"Where {cause.name}, {finding.affected} of {finding.count} sessions {_WITH_EFFECT[effect]}; "
        f"{cause.without}, {others} sessions of the same agents with similar requests.",
        content=content,
        seen=Observations(finding.count, finding.count, finding.affected),
        source_events=evidence(
            (trail(session, cause.steps[session.session_id][:_MOST_STEPS]) for session in finding.having),
            profile.max_evidence,
        ),
        tags=tags(["cause", "success" if effect == _SUCCEEDS else "failure", *cause.subjects[:_MOST_NOUNS]]),
        useful=finding.useful,
        metadata={
            "clearness": round(finding.significance, 2),
            "share": round(finding.share, 4),
            "base": round(finding.base, 4),
            "kinds_of_requests": len(finding.strata),
        },
    )


def _tasks(finding: Finding, names: Mapping[str, str]) -> list[str]:
    """A sentence that names the kinds of requests that were compared; empty if there are none or too many."""
    tasks = sorted({names[kind] for kind in finding.kinds if kind in names})
    return [f"The task is to {listed(tasks, 'or')}"] if 0 < len(tasks) <= _MOST_KINDS else []


def _contrast(finding: Finding) -> str:
    """The counts of the effect with and without the cause."""
    with_cause = f"{finding.affected} of {finding.count}"
    without_cause = f"{finding.others_affected} of {finding.others}"
    if finding.effect == _CALL_FAILS:
        # The cause is that a lookup was left out; "it" is the lookup that the title advises.
        return f"it failed {with_cause} times without, {without_cause} times with it"
    return f"{_WITH_EFFECT[finding.effect]} {with_cause} times with it, {without_cause} times without it"


def _heading(cause: str, effect: str) -> str:
    """The title of a cause without advice; if it is too long, with only the first clause of the quoted message."""
    heading = f"When {cause}, {effect} more often"
    return heading if len(heading) <= LONGEST_TITLE else f"When {_LATER_CLAUSES.sub('”', cause)}, {effect} more often"
