"""strategy_template: the phases that successful work on one subject goes through (HMX-A 4.5)."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._schemas import agreed, class_name, complexity
from hmxgraph.compiler._verbs import is_action, kind_of, noun_words, read_action, serves_any_purpose
from hmxgraph.compiler._vocabulary import BROWSER, REQUEST_VERBS, telling_words
from hmxgraph.compiler._wording import capital, goal_phrase, listed, plain_words, spelling, spoken, title
from hmxgraph.compiler.goal_classes import GoalClass, only_failed, repairs_of
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.sessions import FROM_USER
from hmxgraph.compiler.summary import SessionSummary, Step
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.terms import most_first, terms

_Phased = Sequence[tuple[str, Step]]
_PHASES = {
    "identify": "Identify what the request is about",
    "gather": "Gather the facts",
    "weigh": "Weigh the options",
    "act": "Make the change",
    "verify": "Verify the result",
    "hand over": "Hand over what cannot be done",
}
_STAGES = {name: phase for phase, name in _PHASES.items()}
_MOST_TOOLS = 6
_MOST_NAMED = 4
_MOST_VALUES = 4
_FREQUENT = 0.2
_OFTEN = 0.4
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Field:
    """Kinds of requests that are handled alike: about one subject, or to make one change."""

    subject: str
    purpose: str
    classes: tuple[GoalClass, ...]

    @property
    def members(self) -> tuple[SessionSummary, ...]:
        """All sessions of these kinds."""
        return tuple(one for found in self.classes for one in found.members)

    @property
    def models(self) -> tuple[SessionSummary, ...]:
        """The sessions to learn from."""
        return tuple(one for found in self.classes for one in found.models)


def strategy_templates(classes: Sequence[GoalClass], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """One strategy for each subject that requests are about.

    A single phase tells less than the task schemas do, and of two that go through the same phases the wider tells all.
    """
    fields = [field for field in _fields(classes, profile) if field.purpose or field.subject or len(field.classes) == 1]
    told: list[list[dict[str, Any]]] = []
    for field in sorted(fields, key=lambda one: -len(one.members)):
        template = _template(field, profile)
        found = template.content["phases"]
        if len(found) > 1 and found not in told:
            told.append(found)
            yield template


def phases(summary: SessionSummary) -> list[tuple[str, Step]]:
    """Each step with its phase: what it was for, seen from where the session stood.

    Look-ups that start from the user's words identify, later ones gather, those after the last change verify.
    """
    changes = [place for place, step in enumerate(summary.steps) if is_action(step.action)]
    last = changes[-1] if changes else len(summary.steps)
    known: set[str] = set()
    found = []
    for place, step in enumerate(summary.steps):
        phase = _phase(step, fresh=step.action not in known, after=place > last, started=bool(known))
        known.add(step.action)
        found.append((phase, step))
    return found


def _phase(step: Step, *, fresh: bool, after: bool, started: bool) -> str:
    match kind_of(step.action):
        case "action":
            return "act"
        case "scratch":
            return "weigh"
        case "handover":
            return "hand over"
        case _:
            if after:
                return "verify"
            told = any(origin == FROM_USER for _, origin in step.inputs)
            return "identify" if not started or (fresh and told) else "gather"


def _fields(classes: Sequence[GoalClass], profile: CompilerProfile) -> list[Field]:
    """The fields of one change each, then those of one subject where they join several changes."""
    by_change: defaultdict[str, list[GoalClass]] = defaultdict(list)
    for found in classes:
        by_change[_main_change(found)].append(found)
    narrow = [Field(_subject(by_change[name]), name, tuple(by_change[name])) for name in sorted(by_change) if name]
    by_subject: defaultdict[str, list[GoalClass]] = defaultdict(list)
    for group in _joined(classes, profile):
        by_subject[_subject(group)] += group
    wide = [Field(subject, "", tuple(by_subject[subject])) for subject in sorted(by_subject)]
    wide = [one for one in wide if one.classes not in {other.classes for other in narrow}]
    # What a single kind of request takes is told by its task schema, unless nothing wider tells it.
    covered = {found.name for one in wide if len(one.classes) > 1 for found in one.classes}
    return [
        one for one in narrow if len(one.classes) > 1 or covered.isdisjoint(kind.name for kind in one.classes)
    ] + wide


def _main_change(found: GoalClass) -> str:
    """The change that most of the class's sessions make, "" if they make none; a click may change anything."""
    made = [(name, share) for name, share in found.steps if is_action(name) and not name.startswith(BROWSER)]
    changes = [(share, not _called(name), name) for name, share in made]
    # Of several that all make, one whose name says what it does, and of these the first: what ends the work, as a
    # commit does, is not its purpose.
    return max(changes, key=lambda one: one[:2], default=(0.0, False, ""))[2]


def _called(name: str) -> bool:
    """Whether the name of an action says only with what it is done."""
    return serves_any_purpose(name) and read_action(name).verb != "run"


def _joined(classes: Sequence[GoalClass], profile: CompilerProfile) -> list[list[GoalClass]]:
    """Classes joined that share much of their steps."""
    joined: list[list[GoalClass]] = []
    for found in classes:
        names = [name for name, _ in found.steps]
        near = [group for group in joined if any(_likeness(names, one) >= profile.strategy_likeness for one in group)]
        joined = [group for group in joined if group not in near] + [[*(one for group in near for one in group), found]]
    return joined


def _likeness(names: Sequence[str], other: GoalClass) -> float:
    return jaccard(names, [name for name, _ in other.steps])


def _subject(group: Sequence[GoalClass]) -> str:
    """The noun in the names of the steps that most requests speak of too; else what they speak of; else the noun."""
    counts = Counter(
        _stem(word)
        for found in group
        for name, share in found.steps
        for word in noun_words(name)
        for _ in range(round(10 * share))
    )
    requests = [request for found in group for request in found.requests]
    said = spoken(requests)
    nouns = [noun for noun in sorted(counts) if noun not in _EMPTY and len(noun) > 2]
    least = _OFTEN * len(requests)
    heard = {noun: said[terms(noun)[0]] for noun in nouns if terms(noun) and said[terms(noun)[0]] >= least}
    if heard:
        return min(heard, key=lambda noun: (-heard[noun], -counts[noun], noun))
    written = spelling(requests)
    # What a sentence is about tends to stand at its end: "fix the failing unit test".
    late = {word: statistics.fmean(places) for word, places in _places(requests).items()}
    often = [term for term in said if said[term] >= least]
    ranked = sorted(often, key=lambda term: (-said[term], -late.get(written[term], 0.0), term))
    topics = [written[term] for term in ranked]
    telling = [word for word in plain_words(topics, requests) if word not in REQUEST_VERBS]
    return (telling or ([] if requests else most_first({noun: counts[noun] for noun in nouns})) or [""])[0]


def _places(requests: Sequence[str]) -> dict[str, list[float]]:
    """For each telling word how far into the requests it stands, 0 at the start."""
    places: defaultdict[str, list[float]] = defaultdict(list)
    for request in requests:
        found = telling_words(request)
        for place, word in enumerate(found):
            places[word].append(place / len(found))
    return places


def _template(field: Field, profile: CompilerProfile) -> ArtifactDraft:
    models = field.models
    worked = _purposeful(models)
    found = _phase_documents(worked, _flow(worked, profile), asked=agreed(models))
    stages = [_STAGES[phase["name"]] for phase in found]
    names = list(dict.fromkeys(class_name(one, profile) for one in field.classes))
    flow = listed(stages, "then")
    about = _about(field, names)
    goal = about if len(names) == 1 or field.purpose else f"{about}: {'; '.join(names[:_MOST_NAMED])}"
    content = {
        "goal": capital(goal),
        "phases": found,
        "applicability_conditions": _conditions(field, found),
        "estimated_complexity": complexity(len(found), models, profile) if models else "low",
    }
    return ArtifactDraft(
        artifact_type="strategy_template",
        lineage_key=f"strategy:{field.purpose or field.subject}:{'change' if field.purpose else 'subject'}",
        title=title(f"Strategy to {about}"),
        summary=f"Sessions that {about}{' and succeed' if any(one.succeeded for one in models) else ''} "
        f"go like this: {flow}.",
        content=content,
        seen=Observations.of_sessions(models, field.members),
        source_events=evidence((trail(one) for one in models), profile.max_evidence),
        tags=tags(["strategy", field.subject]),
        metadata={"kinds_of_requests": len(field.classes)},
    )


def _purposeful(models: Sequence[SessionSummary]) -> list[_Phased]:
    """The steps of the sessions with their phases, but for what only failed or answers failures, as playbooks tell.

    Where most began with what only failed, the answer to it is the way.
    """
    taken = Counter(name for one in models for name in set(one.actions))
    vain = {name for name in taken if only_failed(name, models)}
    instead = any(taken[name] > _MOSTLY * len(models) for name in vain)
    aside = vain if instead else vain | repairs_of(models)
    return [
        [(phase, step) for phase, step in phases(one) if aside >= taken.keys() or step.action not in aside]
        for one in models
    ]


def _about(field: Field, names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    if field.purpose:
        return goal_phrase([field.purpose])
    return f"handle requests about the {field.subject}"


def _phase_documents(worked: Sequence[_Phased], flow: Sequence[str], *, asked: bool) -> list[dict[str, Any]]:
    names = _phase_tools(worked, flow)
    return [
        _phase_document(order, phase, names[phase], _criterion(phase, names[phase], worked, asked=asked))
        for order, phase in enumerate(names, start=1)
    ]


def _phase_tools(worked: Sequence[_Phased], flow: Sequence[str]) -> dict[str, list[str]]:
    """What each phase is done with, a look-up where it is new; a phase of which nothing is left is none."""
    tools: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in worked:
        for phase, action in sorted({(phase, step.action) for phase, step in one}):
            tools[phase][action] += 1
    sessions = _phase_sessions(worked)
    found = {phase: _frequent(tools[phase], sessions[phase]) for phase in flow}
    if {"identify", "gather"} <= found.keys():
        found["gather"] = [name for name in found["gather"] if name not in found["identify"]]
    return {phase: found[phase] for phase in flow if found[phase]}


def _flow(worked: Sequence[_Phased], profile: CompilerProfile) -> list[str]:
    """The phases that enough of the sessions go through, in the order of work."""
    sessions = _phase_sessions(worked)
    return [phase for phase in _PHASES if sessions[phase] >= max(1.0, profile.phase_share * len(worked))]


def _phase_sessions(worked: Sequence[_Phased]) -> Counter[str]:
    return Counter(phase for one in worked for phase in {phase for phase, _ in one})


def _frequent(counts: Counter[str], sessions: int) -> list[str]:
    ranked = most_first(counts)
    return [name for name in ranked if counts[name] >= _FREQUENT * sessions][:_MOST_TOOLS] or ranked[:1]


def _phase_document(order: int, phase: str, names: Sequence[str], criterion: str) -> dict[str, Any]:
    phrases = list(dict.fromkeys(read_action(name).phrase for name in names))
    return {
        "order": order,
        "name": _PHASES[phase],
        "description": capital(listed(phrases, "or" if phase == "act" else "and")),
        "tools_used": sorted(names),
        "success_criteria": [criterion],
    }


def _criterion(phase: str, names: Sequence[str], worked: Sequence[_Phased], *, asked: bool) -> str:
    match phase:
        case "act" if not any(step.ok for one in worked for name, step in one if name == phase):
            return f"A result tells that {listed(names, 'or')} worked; none has so far"
        case "act":
            done = "every call made" if len(names) > 1 else names[0]
            first = f"Each change was agreed with the user first, and {done}" if asked else done
            return f"{first if len(names) == 1 else capital(first)} has reported success"
        case "weigh":
            return "What to do, and what it costs, is settled before anything is changed"
        case "hand over":
            return "A person has taken over with a summary of what was found"
        case "verify":
            return f"{listed(names, 'or')} shows, after the last change, that it worked"
        case _:
            values = _passed_on(phase, names, worked)
            one = len(values) == 1 and not values[0].endswith("s")
            known = f"{listed(values)} {'is' if one else 'are'} known"
            return known if values else f"{listed(names, 'or')} has answered without an error"


def _passed_on(phase: str, names: Sequence[str], worked: Sequence[_Phased]) -> list[str]:
    """The values that later phases take from what this one found, those that most sessions take first."""
    taken: Counter[str] = Counter()
    for one in worked:
        taken.update({name for later, step in one if later != phase for name, origin in step.inputs if origin in names})
    return [name for name in most_first(taken) if taken[name] >= _FREQUENT * len(worked)][:_MOST_VALUES]


def _conditions(field: Field, found: Sequence[dict[str, Any]]) -> list[str]:
    """What the request is about, and the tools that the phases name."""
    tools = sorted({name for phase in found for name in phase["tools_used"]})
    named = (
        f"The tools {listed(tools)} are at hand" if len(tools) <= _MOST_TOOLS else "The tools of all phases are at hand"
    )
    hand = f"The tool {tools[0]} is at hand" if len(tools) == 1 else named
    return [*([f"The request speaks of “{field.subject}”"] if field.subject else []), hand]


def _stem(word: str) -> str:
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > 3 else word


_EMPTY = frozenset(("detail", "info", "information", "data", "list", "all", "status", "mode", "test"))
