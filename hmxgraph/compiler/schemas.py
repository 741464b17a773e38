"""task_schema: how a kind of task gets done (HMX-A 4.1)."""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hmxgraph.compiler.drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Step
from hmxgraph.compiler.tracks import FROM_USER
from hmxgraph.compiler.verbs import instruction, is_action, kind_of
from hmxgraph.compiler.wording import (
    capital,
    common_phrase,
    distinctive,
    goal_phrase,
    listed,
    plain_words,
    spoken,
    subjects,
    title,
)

_KEYWORDS = 80
_TELLING = 6
_MOSTLY = 0.5


def task_schemas(classes: Sequence[GoalClass], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """One schema for each kind of request."""
    usual = _usual_lookups(classes)
    requests = [request for found in classes for request in found.requests]
    everyone = spoken(requests)
    for found in classes:
        keywords = distinctive(found.requests, everyone, len(requests), _KEYWORDS)
        yield _schema(found, keywords, usual, profile)


def _usual_lookups(classes: Sequence[GoalClass]) -> frozenset[str]:
    """Look-ups that most kinds of requests need: they tell no kind from another."""
    counts = Counter(name for found in classes for name, _ in found.steps if kind_of(name) == "lookup")
    return frozenset(name for name in counts if counts[name] > _MOSTLY * len(classes))


def class_name(found: GoalClass, profile: CompilerProfile) -> str:
    """What a class is about: the phrase its requests share, else what its actions come to."""
    return common_phrase(found.requests, profile.title_share) or goal_phrase([name for name, _ in found.steps])


def _schema(
    found: GoalClass, keywords: Sequence[str], usual: frozenset[str], profile: CompilerProfile
) -> ArtifactDraft:
    models = found.models
    name = class_name(found, profile)
    telling = plain_words(keywords, found.requests)[:_TELLING]
    known = [one for one in found.members if one.outcome != "unknown"]
    seen = Observations(len(models), len(known), sum(one.succeeded for one in known))
    content = _content(found, models, profile)
    return ArtifactDraft(
        artifact_type="task_schema",
        lineage_key=f"goal:{found.name}",
        title=title(name),
        summary=_summary(name, content),
        content=content,
        seen=seen,
        source_events=evidence((trail(one) for one in models), profile.max_evidence),
        tags=tags([*telling, *subjects([name for name, _ in found.steps])[:_TELLING]]),
        keywords=tuple(keywords),
        qualifiers=_qualifiers(found, content, telling, usual),
        metadata={"goal_actions": sorted(found.key), "requests_speak_of": telling},
    )


def _content(found: GoalClass, models: Sequence[SessionSummary], profile: CompilerProfile) -> dict[str, Any]:
    names = [name for name, _ in found.steps]
    steps = [
        {
            "order": order,
            "description": describe(
                name, [step for one in models for step in one.steps if step.action == name], models
            ),
            "tools_used": [name],
            "optional": share < profile.required_share,
        }
        for order, (name, share) in enumerate(found.steps, start=1)
    ]
    return {
        "steps": steps,
        "preconditions": _preconditions(names, models),
        "postconditions": _postconditions(names, models),
        "tools_used": sorted(names),
        "estimated_complexity": complexity(len(names), models, profile),
    }


def _qualifiers(
    found: GoalClass, content: dict[str, Any], telling: Sequence[str], usual: frozenset[str]
) -> tuple[str, ...]:
    """What tells this kind from another of the same name: what is given, what is consulted, what requests speak of."""
    given = [text.removeprefix("The user has given ") for text in content["preconditions"] if "has given" in text]
    lookups = [name for name, _ in found.steps if kind_of(name) == "lookup" and name not in usual]
    return tuple(
        text
        for text in (
            f"given {given[0]}" if given else "",
            f"with {listed(lookups, most=3)}" if lookups else "",
            f"about {listed(telling[:3])}" if telling else "",
        )
        if text
    )


def describe(action: str, uses: Sequence[Step], models: Sequence[SessionSummary]) -> str:
    """The instruction for one step: what to do, with what, how often.

    The command line stands for itself where most uses share it.
    """
    commands = Counter(step.command for step in uses if step.command)
    line, count = max(commands.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
    if line and count > _MOSTLY * len(uses):
        return f"Run `{line}`"
    return instruction(action) + _given(uses) + _repeated(action, uses, models)


def complexity(steps: int, models: Sequence[SessionSummary], profile: CompilerProfile) -> str:
    """low, medium or high, from the number of steps and how many actions a session usually takes."""
    usual = statistics.median(len(one.steps) for one in models)
    size = max(steps, usual / 2)
    if size <= profile.low_complexity:
        return "low"
    return "high" if size > profile.high_complexity else "medium"


def origins(uses: Sequence[Step]) -> dict[str, str]:
    """For each argument where its value mostly comes from: an action, "user", or "" where that varies."""
    counts: dict[str, Counter[str]] = {}
    for step in uses:
        for argument, origin in step.inputs:
            counts.setdefault(argument, Counter())[origin] += 1
    usual = {}
    for argument in sorted(counts):
        origin, count = min(counts[argument].items(), key=lambda pair: (-pair[1], pair[0]))
        frequent = sum(counts[argument].values()) >= _MOSTLY * len(uses)
        if frequent:
            usual[argument] = origin if count >= _MOSTLY * sum(counts[argument].values()) else ""
    return usual


def _given(uses: Sequence[Step]) -> str:
    """Which values to pass on, and from where: "using user_id from find_user_id_by_email"."""
    sources: dict[str, list[str]] = {}
    for argument, origin in origins(uses).items():
        if origin:
            sources.setdefault(origin, []).append(argument)
    parts = [
        f"{listed(sources[origin])} from {'the user' if origin == FROM_USER else origin}" for origin in sorted(sources)
    ]
    return f", using {listed(parts)}" if parts else ""


def _repeated(action: str, uses: Sequence[Step], models: Sequence[SessionSummary]) -> str:
    times = [count for one in models if (count := one.actions.count(action))]
    if not times or statistics.median(times) < 2:
        return ""
    changing = Counter(name for step in uses for name in step.changed)
    usual = min(changing, key=lambda name: (-changing[name], name), default="")
    return f", once for each {usual}" if usual else ", as often as needed"


def _preconditions(names: Sequence[str], models: Sequence[SessionSummary]) -> list[str]:
    """What must be known before: values that only the user can give."""
    needed: list[str] = []
    for name in names:
        uses = [step for one in models for step in one.steps if step.action == name]
        needed += [argument for argument, origin in origins(uses).items() if origin == FROM_USER]
    asked = list(dict.fromkeys(needed))
    first = [f"The user has given {listed(asked)}"] if asked else []
    return first + (["The user has agreed to the change"] if agreed(models, names) else [])


def agreed(models: Sequence[SessionSummary], names: Sequence[str] | None = None) -> bool:
    """Whether changes (those named, or all) mostly come right after a word of the user, so that he was asked."""
    changes = [
        step.situation.since in {"user", "both"} and place > 0
        for one in models
        for place, step in enumerate(one.steps)
        if is_action(step.action) and (names is None or step.action in names)
    ]
    return bool(changes) and sum(changes) >= _MOSTLY * len(changes)


def _postconditions(names: Sequence[str], models: Sequence[SessionSummary]) -> list[str]:
    changes = [name for name in names if is_action(name)]
    done = [f"{name} has reported success" for name in changes] or [
        "The user's question is answered from what was found"
    ]
    praised = sum("feedback" in one.outcome_reason for one in models)
    return done + (["Feedback on the session is positive"] if praised >= _MOSTLY * len(models) else [])


def _summary(name: str, content: dict[str, Any]) -> str:
    required = [step["tools_used"][0] for step in content["steps"] if not step["optional"]]
    lookups = [tool for tool in required if kind_of(tool) == "lookup"]
    changes = [tool for tool in required if is_action(tool)]
    parts = [f"consult {listed(lookups)}"] if lookups else []
    parts += [f"carry out {listed(changes)}"] if changes else []
    how = ", then ".join(parts) or f"use {listed(content['tools_used'])}"
    return f"{capital(name)}: {how}."
