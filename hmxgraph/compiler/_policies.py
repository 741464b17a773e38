"""decision_policy: which way to go where several are open (HMX-A 4.3).

Two sources: decisions that agents wrote down, and choices they made without saying so, where sessions that stood at
the same point took different actions.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._schemas import class_name, origins
from hmxgraph.compiler._signatures import signature
from hmxgraph.compiler._verbs import instruction, kind_of, read_action
from hmxgraph.compiler._vocabulary import telling_words
from hmxgraph.compiler._wording import (
    LONGEST_TITLE,
    capital,
    distinctive,
    listed,
    plain_words,
    quoted,
    spoken,
    subjects,
    title,
)
from hmxgraph.compiler.failures import clearness, failure_key, most_frequent, strata
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.sessions import FROM_USER
from hmxgraph.compiler.summary import Decision, SessionSummary, Step
from hmxgraph.text.lines import condition_of
from hmxgraph.text.terms import terms

_MOST_OPTIONS = 6
_MOST_WORDS = 20
# One-sided, at ten in a hundred: a choice has to be made anyway.
_CLEARLY = 1.28
_HALF = 0.5
_MOSTLY = 0.8
# From how many requests on their words tell something, how many must use them, how many of the others may.
_FEW, _MOST, _HARDLY = 5, 0.6, 0.15


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

    @property
    def requests(self) -> list[str]:
        """What those sessions were asked for."""
        return [one.request for one, _, _ in self.taken if one.request]

    @property
    def given(self) -> list[str]:
        """The inputs that mostly came from the user."""
        steps = [step for one, _, event_id in self.taken for step in one.steps if step.event_id == event_id]
        return [name for name, origin in origins(steps).items() if origin == FROM_USER]


def decision_policies(
    classes: Sequence[GoalClass], summaries: Sequence[SessionSummary], profile: CompilerProfile
) -> Iterator[ArtifactDraft]:
    """The policies behind written decisions, then those behind the clearest silent choices."""
    yield from _written(summaries, profile)
    kinds = {one.session_id: found.name for found in classes for one in found.members}
    everywhere = {
        point: options
        for point, options in _choices(summaries, profile, kinds)
        if kind_of(options[0].name) == "lookup" or _told_apart(options)
    }
    found = [_silent_policy(None, point, everywhere[point], profile) for point in sorted(everywhere)]
    for one in classes:
        for point, options in _choices(one.members, profile, kinds):
            if _differs(options, everywhere.get(point, ())):
                found.append(_silent_policy(one, point, options, profile))
    ranked = sorted(found, key=lambda one: (-one.seen.sessions * one.seen.confidence, one.lineage_key))
    yield from ranked[: profile.max_policies]


def _differs(options: Sequence[Option], usual: Sequence[Option]) -> bool:
    """Whether a kind of request goes another way than requests do in general, where these have a rule of their own."""
    if not usual:
        return True
    covered = {one.name for one in options} <= {one.name for one in usual} and _told_apart(usual)
    return options[0].name != usual[0].name and not covered


def _written(summaries: Sequence[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    questions: defaultdict[str, list[tuple[SessionSummary, Decision]]] = defaultdict(list)
    for summary in sorted(summaries, key=lambda one: one.session_id):
        for decision in summary.decisions:
            if decision.question and decision.chosen:
                questions[failure_key(signature("", decision.question))].append((summary, decision))
    for key in sorted(questions):
        options = _ranked(_decided(questions[key]))
        if not _undecided(options, profile):
            yield _written_policy(key, questions[key], options, profile)


def _undecided(options: Sequence[Option], profile: CompilerProfile) -> bool:
    """Whether another way that was taken often enough went just as well: then there is nothing to recommend."""
    best, *others = options
    return best.seen.sessions >= profile.min_support and any(
        one.seen.sessions >= profile.min_support and one.seen.success_rate >= best.seen.success_rate for one in others
    )


def _written_policy(
    key: str,
    made: Sequence[tuple[SessionSummary, Decision]],
    options: Sequence[Option],
    profile: CompilerProfile,
) -> ArtifactDraft:
    question = most_frequent(decision.question for _, decision in made)
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
        "condition": condition_of(question),
        "recommendation": best.name,
        "alternatives": others[:_MOST_OPTIONS],
        "outcomes": [_outcome(one) for one in options[:_MOST_OPTIONS]],
        "scope": scope,
    }
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"question:{key}",
        title=title(f"Decide: {question}"),
        summary=f"{capital(best.name)}: {_reason(options)}.",
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
        verdict = decision.verdict if decision.verdict is not None else summary.went_well
        key = failure_key(signature("", decision.chosen))
        taken[key].append((summary, verdict, decision.event_id))
        names[key].append(decision.chosen)
    return [Option(most_frequent(names[key]), tuple(taken[key])) for key in sorted(taken)]


def _choices(
    summaries: Sequence[SessionSummary], profile: CompilerProfile, kinds: Mapping[str, str]
) -> Iterator[tuple[str, list[Option]]]:
    """The points at which these sessions clearly chose between actions that compete, with the options, best first."""
    points: defaultdict[str, dict[str, list[tuple[SessionSummary, bool | None, str]]]] = defaultdict(dict)
    for summary in sorted(summaries, key=lambda one: one.session_id):
        for point, step in _first_choices(summary):
            points[point].setdefault(step.action, []).append((summary, summary.went_well, step.event_id))
    for point in sorted(points):
        options = [Option(name, tuple(points[point][name])) for name in sorted(points[point])]
        ranked = _ranked(_competing(_serious(options, profile), point))
        if len(ranked) < 2 or ranked[0].seen.success_rate < _HALF:
            continue
        if _told_apart(ranked) or _clearly_best(ranked, kinds):
            yield point, ranked


def _competing(options: Sequence[Option], point: str) -> list[Option]:
    """The options of the kind most chosen; going on with the same action, or giving up, competes with nothing."""
    fresh = [one for one in options if one.name != point.rstrip("!")]
    main = max(fresh, key=lambda one: (one.count, one.name), default=None)
    if main is None or kind_of(main.name) not in {"lookup", "action"}:
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


def _told_apart(options: Sequence[Option]) -> bool:
    """Whether it can be seen beforehand which of the ways is due."""
    return all(_when(one, options) for one in options[:2])


def _clearly_best(options: Sequence[Option], kinds: Mapping[str, str]) -> bool:
    """Whether the first way went better than the others for requests of the same kind."""
    taken = [
        (kinds.get(one.session_id, ""), option is options[0], good)
        for option in options
        for one, good, _ in option.taken
        if good is not None
    ]
    return clearness(list(strata(taken).values())) >= _CLEARLY


def _when(option: Option, options: Sequence[Option]) -> str:
    """What tells that this way is due and none of the others: what the user has given, or speaks of; "" if nothing."""
    rivals = [one for one in options if one is not option]
    theirs = {name for one in rivals for name in one.given}
    if mine := [name for name in option.given if name not in theirs]:
        return f"the user has given {listed(mine)}"
    requests, others = option.requests, [request for one in rivals for request in one.requests]
    if len(requests) < _FEW or len(others) < _FEW:
        return ""
    here, there = spoken(requests), spoken(others)
    words = distinctive(requests, here + there, len(requests) + len(others), _MOST_WORDS)
    telling = [word for word in plain_words(words, requests) if _sets_apart(word, (requests, here), (others, there))]
    return f"the request says {quoted(telling[:2], 'or')}" if telling else ""


def _sets_apart(
    word: str, mine: tuple[Sequence[str], Counter[str]], theirs: tuple[Sequence[str], Counter[str]]
) -> bool:
    """Whether most requests of the one kind use the word, and hardly any of the other."""
    term = terms(word)[0]
    return mine[1][term] >= _MOST * len(mine[0]) and theirs[1][term] <= _HARDLY * len(theirs[0])


def _silent_policy(
    found: GoalClass | None, point: str, options: Sequence[Option], profile: CompilerProfile
) -> ArtifactDraft:
    """The policy for a point of the work, for one kind of request or (None) for all."""
    best, once = options[0], _once(point)
    asked = f" and the task is to {class_name(found, profile)}" if found is not None else ""
    whens = [_when(one, options) for one in options]
    rivals = listed([one.name for one in options[1:]], "or")
    scope = subjects([one.name for one in options])[:6]
    choices = listed([one.name for one in options], "or") if all(whens[:2]) else f"{best.name} rather than {rivals}"
    heading = f"When {once}: {choices}"
    content = {
        "condition": once + asked,
        "recommendation": _due(best, whens[0]),
        "alternatives": [
            _alternative(_due(one, when), one) for one, when in zip(options[1:_MOST_OPTIONS], whens[1:], strict=False)
        ],
        "outcomes": [_outcome(one) for one in options[:_MOST_OPTIONS]],
        "scope": scope,
    }
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"choice:{found.name if found is not None else '*'}:{point}",
        title=title(heading if len(heading) <= LONGEST_TITLE else f"When {once}: {best.name} first"),
        summary=f"When {once}{asked}: {_advised(options, whens)}.",
        content=content,
        seen=best.seen,
        source_events=evidence(
            ([event_id, *trail(one, ())] for option in options for one, _, event_id in option.taken),
            profile.max_evidence,
        ),
        tags=tags(["decision", *scope]),
        qualifiers=(f"to {class_name(found, profile)}",) if found is not None else (),
        metadata={"origin": "choices", "tools": [one.name for one in options]},
    )


def _due(option: Option, when: str) -> str:
    return instruction(option.name) + (f", if {when}" if when else "")


def _once(point: str) -> str:
    if not point:
        return "the work begins"
    return f"{point[:-1]} has failed" if point.endswith("!") else f"{point} is done"


def _advised(options: Sequence[Option], whens: Sequence[str]) -> str:
    """What to do: which way when, or the best way with the reason."""
    if all(whens[:2]):
        return "; ".join(f"{one.name} if {when}" for one, when in zip(options, whens, strict=True) if when)
    return f"{read_action(options[0].name).phrase} first; {_reason(options)}"


def _reason(options: Sequence[Option]) -> str:
    """Why the first way is recommended, with counts."""
    known = [one for one in options if one.seen.count][:3]
    if not known:
        return "how it went is not known so far"
    best, *others = known
    against = listed([f"{one.seen.successes} of {one.seen.count} with {one.name}" for one in others])
    well = f"it went well in {best.seen.successes} of {best.seen.count} sessions"
    return f"{well}, against {against}" if against else well


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
