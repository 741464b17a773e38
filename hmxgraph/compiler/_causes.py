"""causal_pattern: what makes sessions succeed or fail, against sessions like them without it (HMX-A 4.4).

Some kinds of requests are harder than others, and each has its own actions; so sessions are compared within their
kind only. Strength is Cheng's causal power (1997): how much of what could still happen the cause brings about,
(p - base) / (1 - base). Only what the test of Mantel and Haenszel (1959) finds clear over all kinds is kept.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._verbs import is_action, kind_of, noun_words
from hmxgraph.compiler._wording import LONGEST_TITLE, subjects, title
from hmxgraph.compiler.failures import FailureGroup, Stratum, clearness, strata
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.comparison import jaccard

_OFTEN = 3
_COUNTEREXAMPLES = 3
# What befell two sessions, the test takes for clear too soon.
_LEAST_AFFECTED = 3
_SAME = 0.8
_ALIKE = 0.35
_LATER_CLAUSES = re.compile(r"[,;:][^”]*”")
_SUCCEEDS, _FAILS = "the session succeeds", "the session fails"
_HAPPENED = {_SUCCEEDS: "succeeded", _FAILS: "failed"}

_Places = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class _Cause:
    """Something a session may show: in words, its lineage, and for each session that shows it the steps at which.

    ``scope`` are the sessions that could have shown it; ``effects`` what it may be the cause of.
    """

    name: str
    key: str
    places: _Places
    scope: Sequence[SessionSummary]
    subjects: tuple[str, ...]
    effects: tuple[str, ...] = (_SUCCEEDS, _FAILS)


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with its effect, counted by kind of request; ``having`` are the sessions counted that show the cause."""

    cause: _Cause
    effect: str
    having: tuple[SessionSummary, ...]
    strata: tuple[Stratum, ...]

    @property
    def count(self) -> int:
        """How many sessions show the cause."""
        return sum(one.having for one in self.strata)

    @property
    def affected(self) -> int:
        """How many of those show the effect."""
        return sum(one.affected for one in self.strata)

    @property
    def others(self) -> int:
        """How many sessions of the same kinds do not show the cause."""
        return sum(one.others for one in self.strata)

    @property
    def others_affected(self) -> int:
        """How many of those show the effect all the same."""
        return sum(one.others_affected for one in self.strata)

    @property
    def share(self) -> float:
        """The share of sessions with the cause that show the effect."""
        return self.affected / self.count

    @property
    def base(self) -> float:
        """The share that would be expected of them without it: that of the others, kind by kind."""
        return sum(one.having * one.others_affected / one.others for one in self.strata) / self.count

    @property
    def strength(self) -> float:
        """The causal power of the cause, in [0, 1]."""
        return round(max(0.0, (self.share - self.base) / (1 - self.base)) if self.base < 1 else 0.0, 2)

    @property
    def clearness(self) -> float:
        """How many standard errors the sessions with the cause lie above what chance would give."""
        return clearness(self.strata)


def causal_patterns(
    groups: Sequence[FailureGroup],
    classes: Sequence[GoalClass],
    summaries: Sequence[SessionSummary],
    profile: CompilerProfile,
) -> Iterator[ArtifactDraft]:
    """The clearest causes of success and of failure, the clearest first."""
    kinds = {one.session_id: found.name for found in classes for one in found.members}
    # What is of no kind is like nothing that it could be compared with.
    judged = (one for one in summaries if one.outcome != "unknown" and one.session_id in kinds)
    known = sorted(judged, key=lambda one: one.session_id)
    found = [
        finding
        for cause in _causes(groups, known)
        if profile.cause_support <= len(cause.places) <= len(cause.scope) - profile.cause_support
        for effect in cause.effects
        if (finding := _finding(cause, effect, kinds, profile)) is not None
    ]
    ranked = sorted(found, key=lambda one: (-one.clearness, one.cause.key, one.effect))
    kept: list[Finding] = []
    for finding in ranked:
        if len(kept) < profile.max_causes and not any(_same(finding, other) for other in kept):
            kept.append(finding)
    for finding in kept:
        yield _pattern(finding, profile)


def _same(one: Finding, other: Finding) -> bool:
    """Whether two causes of an effect show in practically the same sessions, so that one tells nothing new."""
    return one.effect == other.effect and jaccard(one.cause.places.keys(), other.cause.places.keys()) >= _SAME


def _causes(groups: Sequence[FailureGroup], summaries: Sequence[SessionSummary]) -> Iterator[_Cause]:
    for group in groups:
        where = f"{group.action} fails" if group.action else "the work fails"
        nouns = tuple(subjects([group.action] if group.action else []))
        places = _failure_places(group)
        yield _Cause(f"{where} with “{group.says}”", f"failure:{group.key}", places, summaries, nouns, (_FAILS,))
    uses = _uses(summaries)
    # Thinking and handing over come of difficulty, they are not what makes it; what ends the work comes of success.
    for action in (name for name in sorted(uses) if kind_of(name) in {"lookup", "action"}):
        if _ends(uses[action], summaries):
            continue
        nouns = tuple(subjects([action]))
        yield _Cause(f"{action} is called", f"action:{action}", uses[action], summaries, nouns)
        users = [one for one in summaries if one.session_id in uses[action]]
        often = {name: places for name, places in uses[action].items() if len(places) >= _OFTEN}
        yield _Cause(f"{action} is called {_OFTEN} times or more", f"often:{action}", often, users, nouns)
        if is_action(action):
            yield from _unprepared(action, users, uses[action])


def _failure_places(group: FailureGroup) -> dict[str, list[int]]:
    """Where it failed like this and the work went on: a failure that ends the session is its outcome, not the cause."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for one in group.occurrences:
        summary, step = one.summary, one.failure.step
        decisive = one.failure.event_id == summary.outcome_event_id or step == len(summary.steps) - 1
        if summary.outcome != "unknown" and not decisive:
            places[summary.session_id].append(step)
    return dict(places)


def _uses(summaries: Sequence[SessionSummary]) -> dict[str, dict[str, list[int]]]:
    """For each action the sessions that take it, and at which steps."""
    uses: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for summary in summaries:
        for place, action in enumerate(summary.actions):
            uses[action][summary.session_id].append(place)
    return {action: dict(uses[action]) for action in uses}


def _ends(uses: _Places, summaries: Sequence[SessionSummary]) -> bool:
    """Whether an action mostly is the last of the session when it is taken first."""
    ends = sum(uses[one.session_id][0] == len(one.steps) - 1 for one in summaries if one.session_id in uses)
    return ends > len(uses) / 2


def _unprepared(action: str, users: Sequence[SessionSummary], uses: _Places) -> Iterator[_Cause]:
    """Changes made without a look-up that often, but not always, comes before them; what stands in for it counts."""
    before = {one.session_id: frozenset(one.actions[: uses[one.session_id][0]]) for one in users}
    names = sorted({name for seen in before.values() for name in seen if kind_of(name) == "lookup"})
    for lookup in names:
        alike = {lookup, *(name for name in names if _alike(name, lookup))}
        lacking = {key: uses[key][:1] for key in before if alike.isdisjoint(before[key])}
        if 0.1 <= len(lacking) / len(users) <= 0.8:
            nouns = tuple(subjects([action, lookup]))
            name = f"{action} is called without {lookup} before it"
            yield _Cause(name, f"without:{action}:{lookup}", lacking, users, nouns, (_FAILS,))


def _alike(one: str, other: str) -> bool:
    return jaccard(noun_words(one), noun_words(other)) >= _ALIKE


def _finding(cause: _Cause, effect: str, kinds: Mapping[str, str], profile: CompilerProfile) -> Finding | None:
    """The cause with its effect, where enough sessions show it and chance hardly explains it."""
    good = effect == _SUCCEEDS
    found = strata(
        (kinds[one.session_id], one.session_id in cause.places, one.succeeded == good) for one in cause.scope
    )
    comparable = [one for one in cause.scope if kinds[one.session_id] in found]
    having = tuple(one for one in comparable if one.session_id in cause.places)
    finding = Finding(cause, effect, having, tuple(found.values()))
    if min(finding.count, finding.others) < profile.cause_support or finding.affected < _LEAST_AFFECTED:
        return None
    clear = finding.strength >= profile.cause_strength and finding.clearness >= profile.cause_significance
    return finding if clear else None


def _pattern(finding: Finding, profile: CompilerProfile) -> ArtifactDraft:
    cause, effect = finding.cause, finding.effect
    opposite = _HAPPENED[_FAILS if effect == _SUCCEEDS else _SUCCEEDS]
    spared = [one for one in finding.having if one.succeeded != (effect == _SUCCEEDS)][:_COUNTEREXAMPLES]
    without = f"{finding.others_affected} of {finding.others} without it"
    content = {
        "cause": cause.name,
        "effect": effect,
        "direction": "forward",
        "strength": finding.strength,
        "conditions": [
            f"Among sessions with like requests: {finding.affected} of {finding.count} with the cause, {without}"
        ],
        "counterexamples": [f"Session {one.session_id} {opposite} all the same" for one in spared],
    }
    return ArtifactDraft(
        artifact_type="causal_pattern",
        lineage_key=f"cause:{cause.key}:{effect}",
        title=title(_heading(cause.name, effect)),
        summary=f"Where {cause.name}, {finding.share:.0%} of sessions {_HAPPENED[effect]}; "
        f"without it, {finding.base:.0%} of sessions with like requests.",
        content=content,
        seen=Observations(finding.count, finding.count, finding.affected),
        source_events=evidence(
            (trail(one, cause.places[one.session_id][:3]) for one in finding.having), profile.max_evidence
        ),
        tags=tags(["cause", "success" if effect == _SUCCEEDS else "failure", *cause.subjects[:4]]),
        metadata={
            "clearness": round(finding.clearness, 2),
            "share": round(finding.share, 4),
            "base": round(finding.base, 4),
            "kinds_of_requests": len(finding.strata),
        },
    )


def _heading(cause: str, effect: str) -> str:
    """The title; of a long message the first clause has to do."""
    whole = f"When {cause}, {effect} more often"
    return whole if len(whole) <= LONGEST_TITLE else f"When {_LATER_CLAUSES.sub('”', cause)}, {effect} more often"
