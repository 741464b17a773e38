"""causal_pattern: what makes sessions succeed or fail, against how they fare without it (HMX-A 4.4).

Strength is Cheng's causal power (1997): how much of what could still happen the cause brings about,
(p - base) / (1 - base). Only what a two-sided test of two shares finds clear is kept.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hmxgraph.compiler.drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler.failures import FailureGroup
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.compiler.verbs import is_action, kind_of
from hmxgraph.compiler.wording import subjects, title
from hmxgraph.text.similarity import jaccard

_OFTEN = 3
_COUNTEREXAMPLES = 3
_SAME = 0.8


@dataclass(frozen=True, slots=True)
class Cause:
    """Something a session may show: in words, its lineage, the steps at which a session shows it (None: nowhere)."""

    name: str
    key: str
    shown: Callable[[SessionSummary], list[int] | None]
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with its effect: counts with and without the cause."""

    cause: Cause
    effect: str
    having: tuple[SessionSummary, ...]
    affected: tuple[SessionSummary, ...]
    others: int
    others_affected: int

    @property
    def share(self) -> float:
        """The share of sessions with the cause that show the effect."""
        return len(self.affected) / len(self.having)

    @property
    def base(self) -> float:
        """The share of sessions without the cause that show the effect."""
        return self.others_affected / self.others

    @property
    def strength(self) -> float:
        """The causal power of the cause, in [0, 1]."""
        return round(max(0.0, (self.share - self.base) / (1 - self.base)) if self.base < 1 else 0.0, 2)

    @property
    def clearness(self) -> float:
        """How many standard errors the two shares lie apart (pooled)."""
        total = len(self.having) + self.others
        pooled = (len(self.affected) + self.others_affected) / total
        error = math.sqrt(pooled * (1 - pooled) * (1 / len(self.having) + 1 / self.others))
        return (self.share - self.base) / error if error else 0.0


def causal_patterns(
    groups: Sequence[FailureGroup], summaries: Sequence[SessionSummary], profile: CompilerProfile
) -> Iterator[ArtifactDraft]:
    """The clearest causes of success and of failure, the clearest first."""
    known = sorted((one for one in summaries if one.outcome != "unknown"), key=lambda one: one.session_id)
    found = [
        finding
        for cause in _causes(groups, known)
        for effect in ("the session succeeds", "the session fails")
        if (finding := _finding(cause, effect, known, profile)) is not None
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
    return one.effect == other.effect and (
        jaccard([summary.session_id for summary in one.having], [summary.session_id for summary in other.having])
        >= _SAME
    )


def _causes(groups: Sequence[FailureGroup], summaries: Sequence[SessionSummary]) -> Iterator[Cause]:
    for group in groups:
        places = _failure_places(group)
        where = f"{group.action} fails" if group.action else "The work fails"
        name = f"{where} with “{group.says}”"
        yield Cause(
            name, f"failure:{group.key}", _listed_in(places), tuple(subjects([group.action] if group.action else []))
        )
    actions = sorted({step.action for one in summaries for step in one.steps})
    for action in actions:
        nouns = tuple(subjects([action]))
        yield Cause(f"{action} is called", f"action:{action}", _uses(action, 1), nouns)
        yield Cause(f"{action} is called {_OFTEN} times or more", f"often:{action}", _uses(action, _OFTEN), nouns)
    for action in (name for name in actions if is_action(name)):
        for lookup in _common_lookups(action, summaries):
            nouns = tuple(subjects([action, lookup]))
            name = f"{action} is called without {lookup} before it"
            yield Cause(name, f"without:{action}:{lookup}", _unprepared(action, lookup), nouns)


def _failure_places(group: FailureGroup) -> dict[str, list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for one in group.occurrences:
        places[one.summary.session_id].append(one.failure.step)
    return dict(places)


def _listed_in(places: dict[str, list[int]]) -> Callable[[SessionSummary], list[int] | None]:
    return lambda summary: places.get(summary.session_id)


def _uses(action: str, least: int) -> Callable[[SessionSummary], list[int] | None]:
    def shown(summary: SessionSummary) -> list[int] | None:
        places = [place for place, step in enumerate(summary.steps) if step.action == action]
        return places if len(places) >= least else None

    return shown


def _unprepared(action: str, lookup: str) -> Callable[[SessionSummary], list[int] | None]:
    def shown(summary: SessionSummary) -> list[int] | None:
        names = summary.actions
        if action not in names:
            return None
        first = names.index(action)
        return [first] if lookup not in names[:first] else None

    return shown


def _common_lookups(action: str, summaries: Sequence[SessionSummary]) -> list[str]:
    """Look-ups that often, but not always, come before *action*."""
    before = [set(one.actions[: one.actions.index(action)]) for one in summaries if action in one.actions]
    names = sorted({name for seen in before for name in seen if kind_of(name) == "lookup"})
    shares = {name: sum(name in seen for seen in before) / len(before) for name in names}
    return [name for name in names if 0.2 <= shares[name] <= 0.9]


def _finding(
    cause: Cause, effect: str, summaries: Sequence[SessionSummary], profile: CompilerProfile
) -> Finding | None:
    good = effect == "the session succeeds"
    # A call that was prepared is measured against the same call unprepared, not against sessions without the call.
    scope = _comparable(cause, summaries)
    having = tuple(one for one in scope if cause.shown(one) is not None)
    others = len(scope) - len(having)
    if len(having) < profile.cause_support or others < profile.cause_support:
        return None
    affected = tuple(one for one in having if one.succeeded == good)
    total = sum(one.succeeded == good for one in scope)
    finding = Finding(cause, effect, having, affected, others, total - len(affected))
    clear = finding.strength >= profile.cause_strength and finding.clearness >= profile.cause_significance
    return finding if clear and len(affected) >= profile.min_support else None


def _comparable(cause: Cause, summaries: Sequence[SessionSummary]) -> Sequence[SessionSummary]:
    kind, _, rest = cause.key.partition(":")
    if kind not in {"without", "often"}:
        return summaries
    action = rest.partition(":")[0]
    return [one for one in summaries if action in one.actions]


def _pattern(finding: Finding, profile: CompilerProfile) -> ArtifactDraft:
    cause, effect = finding.cause, finding.effect
    affected = {one.session_id for one in finding.affected}
    spared = [one for one in finding.having if one.session_id not in affected]
    content = {
        "cause": cause.name,
        "effect": effect,
        "direction": "forward",
        "strength": finding.strength,
        "conditions": [
            f"Seen in {len(finding.affected)} of {len(finding.having)} sessions where {cause.name}",
            f"Base rate: {finding.others_affected} of {finding.others} comparable sessions without it",
        ],
        "counterexamples": [
            f"Session {one.session_id}: {cause.name}, and still it {_opposite(effect)}"
            for one in spared[:_COUNTEREXAMPLES]
        ],
    }
    return ArtifactDraft(
        artifact_type="causal_pattern",
        lineage_key=f"cause:{cause.key}:{effect}",
        title=title(f"When {cause.name}, {effect} more often"),
        summary=f"Where {cause.name}, {effect} more often than elsewhere.",
        content=content,
        seen=Observations(len(finding.having), len(finding.having), len(finding.affected)),
        source_events=evidence(
            (trail(one, (cause.shown(one) or [])[:3]) for one in finding.having), profile.max_evidence
        ),
        tags=tags(["cause", "success" if effect.endswith("succeeds") else "failure", *cause.subjects[:4]]),
        metadata={
            "clearness": round(finding.clearness, 2),
            "share": round(finding.share, 4),
            "base": round(finding.base, 4),
        },
    )


def _opposite(effect: str) -> str:
    return "failed" if effect.endswith("succeeds") else "succeeded"
