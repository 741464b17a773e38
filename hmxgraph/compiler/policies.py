"""decision_policy: which way to go where several are open (HMX-A 4.3).

Two sources: decisions that agents wrote down, and choices they made without saying so, where sessions that stood at
the same point took different actions.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler.drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler.failures import failure_key, most_frequent
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.schemas import class_name
from hmxgraph.compiler.signatures import signature
from hmxgraph.compiler.summary import Decision, SessionSummary, Step
from hmxgraph.compiler.verbs import instruction, kind_of, noun_words, read_action
from hmxgraph.compiler.wording import capital, listed, subjects, title
from hmxgraph.compiler.words import telling_words
from hmxgraph.text.similarity import jaccard

_MOST_OPTIONS = 6
_CLEARLY = 0.1
_ALIKE = 0.35
_HALF = 0.5
_MOSTLY = 0.8


@dataclass(frozen=True, slots=True)
class Option:
    """One way that was taken: its name, the sessions that took it, how that went."""

    name: str
    taken: tuple[tuple[SessionSummary, bool | None, str], ...]

    @property
    def seen(self) -> Observations:
        """How often it was taken, and went well where that is known."""
        known = [good for _, good, _ in self.taken if good is not None]
        return Observations(len({one.session_id for one, _, _ in self.taken}), len(known), sum(known))

    @property
    def count(self) -> int:
        """How often it was taken."""
        return len(self.taken)


def decision_policies(
    classes: Sequence[GoalClass], summaries: Sequence[SessionSummary], profile: CompilerProfile
) -> Iterator[ArtifactDraft]:
    """The policies behind written decisions, then those behind the clearest silent choices."""
    yield from _written(summaries, profile)
    everywhere = dict(_choices(summaries, profile, ("lookup",)))
    found = [_silent_policy(None, point, everywhere[point], profile) for point in sorted(everywhere)]
    for one in classes:
        # A kind of request has a rule of its own where it goes another way than requests do in general.
        for point, options in _choices(one.members, profile, ("lookup", "action")):
            if point not in everywhere or options[0].name != everywhere[point][0].name:
                found.append(_silent_policy(one, point, options, profile))
    ranked = sorted(found, key=lambda one: (-one.seen.sessions * one.seen.confidence, one.lineage_key))
    yield from ranked[: profile.max_policies]


def _written(summaries: Sequence[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    questions: defaultdict[str, list[tuple[SessionSummary, Decision]]] = defaultdict(list)
    for summary in sorted(summaries, key=lambda one: one.session_id):
        for decision in summary.decisions:
            if decision.question and decision.chosen:
                questions[failure_key(signature("", decision.question))].append((summary, decision))
    for key in sorted(questions):
        yield _written_policy(key, questions[key], profile)


def _written_policy(
    key: str, made: Sequence[tuple[SessionSummary, Decision]], profile: CompilerProfile
) -> ArtifactDraft:
    question = most_frequent(decision.question for _, decision in made)
    options = _ranked(_decided(made))
    best = options[0]
    never = sorted({other for _, decision in made for other in decision.alternatives} - {one.name for one in options})
    others = [
        *(_alternative(one.name, one) for one in options[1:]),
        *(
            {"description": name, "outcome": "never chosen so far", "chosen_count": 0, "success_rate": 0.0}
            for name in never[: max(0, _MOST_OPTIONS - len(options))]
        ),
    ]
    scope = list(dict.fromkeys(telling_words(question)))[:6]
    content = {
        "condition": question.rstrip("?"),
        "recommendation": best.name,
        "alternatives": others[:_MOST_OPTIONS],
        "outcomes": [_outcome(one) for one in options[:_MOST_OPTIONS]],
        "scope": scope,
    }
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"question:{key}",
        title=title(f"Decide: {question.rstrip('?')}"),
        summary=f"{capital(question.rstrip('?'))}: {best.name}.",
        content=content,
        seen=best.seen,
        source_events=evidence(
            ([decision.event_id, one.outcome_event_id] for one, decision in made), profile.max_evidence
        ),
        tags=tags(["decision", *scope]),
        metadata={"origin": "decisions", "decided": len(made)},
    )


def _decided(made: Iterable[tuple[SessionSummary, Decision]]) -> list[Option]:
    taken: defaultdict[str, list[tuple[SessionSummary, bool | None, str]]] = defaultdict(list)
    names: defaultdict[str, list[str]] = defaultdict(list)
    for summary, decision in made:
        verdict = decision.verdict if decision.verdict is not None else _verdict(summary)
        key = failure_key(signature("", decision.chosen))
        taken[key].append((summary, verdict, decision.event_id))
        names[key].append(decision.chosen)
    return [Option(most_frequent(names[key]), tuple(taken[key])) for key in sorted(taken)]


def _choices(
    summaries: Sequence[SessionSummary], profile: CompilerProfile, kinds: tuple[str, ...]
) -> Iterator[tuple[str, list[Option]]]:
    """The points at which these sessions clearly chose between actions that compete, with the options, best first."""
    points: defaultdict[str, dict[str, list[tuple[SessionSummary, bool | None, str]]]] = defaultdict(dict)
    for summary in sorted(summaries, key=lambda one: one.session_id):
        for point, step in _first_choices(summary):
            points[point].setdefault(step.action, []).append((summary, _verdict(summary), step.event_id))
    for point in sorted(points):
        options = [Option(name, tuple(points[point][name])) for name in sorted(points[point])]
        ranked = _ranked(_competing(_serious(options, profile), point, kinds))
        if len(ranked) > 1 and _telling(ranked) and ranked[0].seen.success_rate >= _HALF:
            yield point, ranked


def _competing(options: Sequence[Option], point: str, kinds: tuple[str, ...]) -> list[Option]:
    """The options of the kind most chosen; going on with the same action, or giving up, competes with nothing."""
    fresh = [one for one in options if one.name != point.rstrip("!")]
    main = max(fresh, key=lambda one: (one.count, one.name), default=None)
    if main is None or kind_of(main.name) not in kinds:
        return []
    return [one for one in fresh if kind_of(one.name) == kind_of(main.name)]


def _first_choices(summary: SessionSummary) -> Iterator[tuple[str, Step]]:
    """Each point of a session when first reached (after which action, or that action's failure) and the step taken."""
    seen: set[str] = set()
    before, failed = "", False
    for step in summary.steps:
        point = f"{before}!" if failed else before
        if kind_of(step.action) == "scratch":
            continue
        if point not in seen:
            seen.add(point)
            yield point, step
        before, failed = step.action, step.ok is False


def _serious(options: Sequence[Option], profile: CompilerProfile) -> list[Option]:
    total = sum(one.count for one in options)
    return [
        one
        for one in options
        if one.count >= profile.choice_share * total and one.seen.sessions >= profile.choice_support
    ]


def _telling(options: Sequence[Option]) -> bool:
    """Whether the options compete: alike in name, or clearly different in how they went."""
    rates = [one.seen.success_rate for one in options]
    names = [set(noun_words(one.name)) for one in options]
    alike = any(jaccard(one, other) >= _ALIKE for place, one in enumerate(names) for other in names[place + 1 :])
    return alike or max(rates) - min(rates) >= _CLEARLY


def _silent_policy(
    found: GoalClass | None, point: str, options: Sequence[Option], profile: CompilerProfile
) -> ArtifactDraft:
    """The policy for a point of the work, for one kind of request or (None) for all."""
    best, after = options[0], _after(point)
    asked = class_name(found, profile) if found is not None else ""
    when = f"{after}, where the request is to {asked}" if asked else after
    rivals = listed([one.name for one in options[1:]], "or")
    scope = subjects([one.name for one in options])[:6]
    content = {
        "condition": capital(when),
        "recommendation": instruction(best.name),
        "alternatives": [_alternative(instruction(one.name), one) for one in options[1:_MOST_OPTIONS]],
        "outcomes": [_outcome(one) for one in options[:_MOST_OPTIONS]],
        "scope": scope,
    }
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"choice:{found.name if found is not None else '*'}:{point}",
        title=title(f"{capital(after)}{f', to {asked}' if asked else ''}: {best.name} rather than {rivals}"),
        summary=f"{capital(when)}, {read_action(best.name).phrase} with {best.name}.",
        content=content,
        seen=best.seen,
        source_events=evidence(
            ([event_id, *trail(one, ())] for option in options for one, _, event_id in option.taken),
            profile.max_evidence,
        ),
        tags=tags(["decision", *scope]),
        metadata={"origin": "choices", "tools": [one.name for one in options]},
    )


def _after(point: str) -> str:
    if not point:
        return "at the start of the work"
    return f"when {point[:-1]} fails" if point.endswith("!") else f"after {point}"


def _ranked(options: Sequence[Option]) -> list[Option]:
    return sorted(options, key=lambda one: (-one.seen.confidence, -one.count, one.name))


def _alternative(description: str, option: Option) -> dict[str, Any]:
    return {
        "description": description,
        "outcome": _result_words(option),
        "chosen_count": option.count,
        "success_rate": option.seen.success_rate,
    }


def _outcome(option: Option) -> dict[str, Any]:
    """HMX-A 4.3 names a memory as the source; the compiler's source is the event of the first such choice."""
    return {
        "decision": option.name,
        "outcome": _result_words(option),
        "positive": option.seen.success_rate >= _HALF,
        "source_memory_id": option.taken[0][2],
    }


def _result_words(option: Option) -> str:
    seen = option.seen
    if not seen.count:
        return "outcome not known"
    if seen.success_rate >= _MOSTLY:
        return "mostly went well"
    return "mostly failed" if seen.success_rate <= 1 - _MOSTLY else "went well at times"


def _verdict(summary: SessionSummary) -> bool | None:
    return None if summary.outcome == "unknown" else summary.succeeded
