"""strategy_template: the phases of successful work on one subject (HMX-A 4.5).

A goal class is a group of sessions that do similar work, see :mod:`hmxgraph.compiler.goal_classes`. Goal classes about
one subject, or with the same main change, form an area. Each area has at most one strategy.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler._class_names import class_name
from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._schemas import agreed, complexity
from hmxgraph.compiler._verbs import is_action, kind_of, noun_words, read_action, receiver, serves_any_purpose
from hmxgraph.compiler._vocabulary import BROWSER, REQUEST_VERBS, informative_words
from hmxgraph.compiler._wording import capital, goal_phrase, listed, plain_words, spelling, term_counts, title
from hmxgraph.compiler.failures import significance, strata
from hmxgraph.compiler.goal_classes import GoalClass, only_failed, repairs_of
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import FROM_USER, SessionSummary, Step
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.terms import most_first, terms

# The steps of a session, each with its phase.
_Phased = Sequence[tuple[str, Step]]
_PHASES = {
    "identify": "Identify what the request is about",
    "gather": "Gather the facts",
    "weigh": "Weigh the options",
    "act": "Make the change",
    "verify": "Verify the result",
    "hand over": "Hand over what cannot be done",
}
_PHASE_OF_NAME = {name: phase for phase, name in _PHASES.items()}
# Maximum tools of a phase, and maximum values named in a success criterion.
_MOST_TOOLS, _MOST_VALUES = 6, 4
# A success criterion names a value that other phases use in at least this share of the sessions.
_FREQUENT = 0.2
# Minimum standard errors by which sessions with all phases must succeed more often than others. This is the one-sided
# 1 % level, because a tenant has many strategies: at the 10 % level, some of them would pass by chance.
_LEAST_SIGNIFICANCE = 2.33
# The subject is a word that at least this share of the requests mention.
_OFTEN = 0.4
# A class usually makes a change if at least this share of its examples make it.
_USUALLY = 0.8
_MAJORITY = 0.5


@dataclass(frozen=True, slots=True)
class Area:
    """Goal classes about one subject, or with the same main change.

    ``purpose`` is the main change; "" if the classes only have the subject in common.
    """

    subject: str
    purpose: str
    classes: tuple[GoalClass, ...]

    @property
    def members(self) -> tuple[SessionSummary, ...]:
        """All sessions of these classes."""
        return tuple(member for goal_class in self.classes for member in goal_class.members)

    @property
    def training_sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions of all classes to learn from."""
        return tuple(session for goal_class in self.classes for session in goal_class.training_sessions)


def strategy_templates(classes: Sequence[GoalClass], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield a strategy for each area that has a single class, or whose classes all usually make its main change.

    Strategies with a single phase are dropped, because task schemas say more. Of several with the same phases, the one
    with the most sessions is kept.
    """
    areas = [area for area in _areas(classes, profile) if len(area.classes) == 1 or _makes_its_change(area)]
    known_phases: list[list[dict[str, Any]]] = []
    for area in sorted(areas, key=lambda area: -len(area.members)):
        template = _template(area, profile)
        phase_documents = template.content["phases"]
        if len(phase_documents) > 1 and phase_documents not in known_phases:
            known_phases.append(phase_documents)
            yield template


def phases(summary: SessionSummary) -> list[tuple[str, Step]]:
    """Each step with its phase, which depends on where in the session it was taken.

    Lookups after the last change belong to "verify". Before it, a lookup belongs to "identify" if it is the first step,
    or if its first use has inputs from the user; other lookups belong to "gather".
    """
    change_indexes = [index for index, step in enumerate(summary.steps) if is_action(step.action)]
    last_change = change_indexes[-1] if change_indexes else len(summary.steps)
    earlier_actions: set[str] = set()
    phased_steps = []
    for index, step in enumerate(summary.steps):
        phase = _phase(
            step,
            is_first_step=not earlier_actions,
            is_first_use=step.action not in earlier_actions,
            after_last_change=index > last_change,
        )
        earlier_actions.add(step.action)
        phased_steps.append((phase, step))
    return phased_steps


def _phase(step: Step, *, is_first_step: bool, is_first_use: bool, after_last_change: bool) -> str:
    """The phase of a step; *is_first_use* says whether the session takes its action for the first time."""
    match kind_of(step.action):
        case "action":
            return "act"
        case "scratch":
            return "weigh"
        case "handover":
            return "hand over"
        case _:
            if after_last_change:
                return "verify"
            from_user = any(origin == FROM_USER for _, origin in step.inputs)
            return "identify" if is_first_step or (is_first_use and from_user) else "gather"


def _areas(classes: Sequence[GoalClass], profile: CompilerProfile) -> list[Area]:
    """The areas with a common main change, then those with only a common subject."""
    by_change: defaultdict[str, list[GoalClass]] = defaultdict(list)
    for goal_class in classes:
        by_change[_main_change(goal_class)].append(goal_class)
    narrow = [Area(_subject(by_change[name]), name, tuple(by_change[name])) for name in sorted(by_change) if name]
    by_subject: defaultdict[str, list[GoalClass]] = defaultdict(list)
    for group in _similar_classes(classes, profile):
        by_subject[_subject(group)] += group
    wide = [Area(subject, "", tuple(by_subject[subject])) for subject in sorted(by_subject)]
    wide = [area for area in wide if area.classes not in {other.classes for other in narrow}]
    # Omit an area of a single class that is also part of a larger area: its task schema describes the class already.
    covered = {name for area in wide if len(area.classes) > 1 for name in _names(area)}
    return [area for area in narrow if len(area.classes) > 1 or covered.isdisjoint(_names(area))] + wide


def _names(area: Area) -> list[str]:
    return [goal_class.name for goal_class in area.classes]


def _main_change(goal_class: GoalClass) -> str:
    """The most frequent change of the class; "" if there is none. Browser actions are ignored: they may do anything."""
    shares = [(name, share) for name, share in goal_class.steps if is_action(name) and not name.startswith(BROWSER)]
    changes = [(share, not _names_only_interface(name), name) for name, share in shares]
    # Of equally frequent changes, prefer one whose name shows its purpose, then the first one: a final action, such as
    # a commit, is not the purpose of the work.
    return max(changes, key=lambda change: change[:2], default=(0.0, False, ""))[2]


def _names_only_interface(name: str) -> bool:
    """Whether the name of an action says only which API it calls."""
    return serves_any_purpose(name) and read_action(name).verb != "run"


def _similar_classes(classes: Sequence[GoalClass], profile: CompilerProfile) -> list[list[GoalClass]]:
    """The classes in groups: a class joins every group with a similar class, and such groups become one."""
    groups: list[list[GoalClass]] = []
    for goal_class in classes:
        names = [name for name, _ in goal_class.steps]
        similar_groups = [
            group
            for group in groups
            if any(_similarity(names, member) >= profile.strategy_likeness for member in group)
        ]
        groups = [group for group in groups if group not in similar_groups] + [
            [*(member for group in similar_groups for member in group), goal_class]
        ]
    return groups


def _similarity(names: Sequence[str], goal_class: GoalClass) -> float:
    return jaccard(names, [name for name, _ in goal_class.steps])


def _subject(group: Sequence[GoalClass]) -> str:
    """The subject of these classes; "" if there is none.

    It is the noun in the names of the steps that requests mention most, else the most frequent word of the requests.
    Without requests, it is the most frequent noun in the names of the steps.
    """
    counts = Counter(
        _singular(word)
        for goal_class in group
        for name, share in goal_class.steps
        for word in noun_words(name)
        for _ in range(round(10 * share))  # Nouns of frequent steps weigh more.
    )
    requests = [request for goal_class in group for request in goal_class.requests]
    request_counts = term_counts(requests)
    nouns = [noun for noun in sorted(counts) if noun not in _UNINFORMATIVE and len(noun) > 2]
    least = _OFTEN * len(requests)
    mentioned_nouns = {
        noun: request_counts[terms(noun)[0]]
        for noun in nouns
        if terms(noun) and request_counts[terms(noun)[0]] >= least
    }
    if mentioned_nouns:
        return min(mentioned_nouns, key=lambda noun: (-mentioned_nouns[noun], -counts[noun], noun))
    spellings = spelling(requests)
    # The topic of a sentence tends to be near its end: "fix the failing unit test".
    lateness = {word: statistics.fmean(positions) for word, positions in _word_positions(requests).items()}
    frequent_terms = [term for term in request_counts if request_counts[term] >= least]
    ranked = sorted(frequent_terms, key=lambda term: (-request_counts[term], -lateness.get(spellings[term], 0.0), term))
    topics = [spellings[term] for term in ranked]
    subjects = [word for word in plain_words(topics, requests) if word not in REQUEST_VERBS]
    return (subjects or ([] if requests else most_first({noun: counts[noun] for noun in nouns})) or [""])[0]


def _word_positions(requests: Sequence[str]) -> dict[str, list[float]]:
    """For each informative word its relative positions in the requests; 0 is the start of a request."""
    positions: defaultdict[str, list[float]] = defaultdict(list)
    for request in requests:
        words = informative_words(request)
        for index, word in enumerate(words):
            positions[word].append(index / len(words))
    return positions


def _template(area: Area, profile: CompilerProfile) -> ArtifactDraft:
    sessions = area.training_sessions
    phased_sessions = _phased_sessions(sessions)
    documents = _phase_documents(phased_sessions, _flow(phased_sessions, profile), agreed_first=agreed(sessions))
    flow = [_PHASE_OF_NAME[phase["name"]] for phase in documents]
    names = list(dict.fromkeys(class_name(goal_class, profile) for goal_class in area.classes))
    goal = names[0] if len(names) == 1 else goal_phrase([area.purpose])
    content = {
        "goal": capital(goal),
        "phases": documents,
        "applicability_conditions": _conditions(area, documents),
        "estimated_complexity": complexity(len(documents), sessions, profile),
    }
    return ArtifactDraft(
        artifact_type="strategy_template",
        lineage_key=f"strategy:{area.purpose or area.subject}:{'change' if area.purpose else 'subject'}",
        title=title(f"Strategy to {goal}"),
        summary=f"Sessions that {goal}{' and succeed' if any(session.succeeded for session in sessions) else ''} "
        f"go like this: {listed(flow, 'then')}.",
        content=content,
        seen=Observations.of_sessions(sessions, area.members),
        source_events=evidence(map(trail, sessions), profile.max_evidence),
        tags=tags(["strategy", area.subject]),
        qualifiers=(goal_phrase([area.purpose]),) if area.purpose else (),
        # The strategy of a single class stays a draft, because its task schema says more.
        useful=len(area.classes) > 1 and _changes_outcome(area, flow),
        metadata={"kinds_of_requests": len(area.classes)},
    )


def _changes_outcome(area: Area, flow: Sequence[str]) -> bool:
    """Whether sessions with all phases succeed clearly more often than others with the same kind of request."""
    observed = [
        (goal_class.name, set(flow) <= {phase for phase, _ in phases(member)}, member.succeeded)
        for goal_class in area.classes
        for member in goal_class.members
        if member.went_well is not None
    ]
    return significance(list(strata(observed).values())) >= _LEAST_SIGNIFICANCE


def _phased_sessions(sessions: Sequence[SessionSummary]) -> list[_Phased]:
    """The steps of each session with their phases, without repairs and actions that only failed.

    If most sessions used an action that only failed, repairs are kept, because they replaced that action. If nothing
    would be left, all steps are kept.
    """
    session_counts = Counter(name for session in sessions for name in set(session.actions))
    always_failed = {name for name in session_counts if only_failed(name, sessions)}
    repairs_did_the_work = any(session_counts[name] > _MAJORITY * len(sessions) for name in always_failed)
    excluded = always_failed if repairs_did_the_work else always_failed | repairs_of(sessions)
    return [
        [
            (phase, step)
            for phase, step in phases(session)
            if excluded >= session_counts.keys() or step.action not in excluded
        ]
        for session in sessions
    ]


def _makes_its_change(area: Area) -> bool:
    """Whether the area has a main change that all its classes usually make."""
    return bool(area.purpose) and all(
        dict(goal_class.steps).get(area.purpose, 0.0) >= _USUALLY for goal_class in area.classes
    )


def _phase_documents(
    phased_sessions: Sequence[_Phased], flow: Sequence[str], *, agreed_first: bool
) -> list[dict[str, Any]]:
    tools = _phase_tools(phased_sessions, flow)
    return [
        _phase_document(
            order, phase, tools[phase], _criterion(phase, tools[phase], phased_sessions, agreed_first=agreed_first)
        )
        for order, phase in enumerate(tools, start=1)
    ]


def _phase_tools(phased_sessions: Sequence[_Phased], flow: Sequence[str]) -> dict[str, list[str]]:
    """The tools of each phase; "gather" omits the lookups of "identify", and phases without tools are dropped."""
    tools: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for session in phased_sessions:
        for phase, action in sorted({(phase, step.action) for phase, step in session}):
            tools[phase][action] += 1
    frequent = {phase: _frequent(tools[phase], len(phased_sessions)) for phase in flow}
    if {"identify", "gather"} <= frequent.keys():
        frequent["gather"] = [name for name in frequent["gather"] if name not in frequent["identify"]]
    return {phase: frequent[phase] for phase in flow if frequent[phase]}


def _flow(phased_sessions: Sequence[_Phased], profile: CompilerProfile) -> list[str]:
    """The phases that enough sessions have, in the order of ``_PHASES``."""
    sessions = _phase_sessions(phased_sessions)
    return [phase for phase in _PHASES if sessions[phase] >= max(1.0, profile.phase_share * len(phased_sessions))]


def _phase_sessions(phased_sessions: Sequence[_Phased]) -> Counter[str]:
    """The number of sessions with each phase."""
    return Counter(phase for session in phased_sessions for phase in {phase for phase, _ in session})


def _frequent(counts: Counter[str], sessions: int) -> list[str]:
    ranked = most_first(counts)
    return [name for name in ranked if counts[name] >= _MAJORITY * sessions][:_MOST_TOOLS]


def _phase_document(order: int, phase: str, names: Sequence[str], criterion: str) -> dict[str, Any]:
    phrases = list(dict.fromkeys(read_action(name).phrase for name in names))
    return {
        "order": order,
        "name": _PHASES[phase],
        "description": capital(listed(phrases, "or" if phase == "act" else "and")),
        "tools_used": sorted(names),
        "success_criteria": [criterion],
    }


def _criterion(phase: str, names: Sequence[str], phased_sessions: Sequence[_Phased], *, agreed_first: bool) -> str:
    """How to recognise that a phase with the tools *names* is done."""
    match phase:
        case "act" if not any(step.ok for session in phased_sessions for other, step in session if other == phase):
            return f"A result shows that {listed(names, 'or')} worked; none has so far"
        case "act":
            calls = "every call made" if len(names) > 1 else names[0]
            start = f"Each change was agreed with the user first, and {calls}" if agreed_first else calls
            return f"{start if len(names) == 1 else capital(start)} has reported success"
        case "weigh":
            return "What to do, and what it costs, is settled before anything is changed"
        case "hand over":
            return f"{capital(receiver(names[0]))} has taken over with a summary of what was found"
        case "verify":
            return f"{listed(names, 'or')} shows, after the last change, that it worked"
        case _:
            values = _values_passed_on(phase, names, phased_sessions)
            singular = len(values) == 1 and not values[0].endswith("s")
            sentence = f"{listed(values)} {'is' if singular else 'are'} known"
            return sentence if values else f"{listed(names, 'or')} has answered without an error"


def _values_passed_on(phase: str, names: Sequence[str], phased_sessions: Sequence[_Phased]) -> list[str]:
    """The inputs whose values other phases take from results of this one, the most frequent first."""
    input_counts: Counter[str] = Counter()
    for session in phased_sessions:
        input_counts.update(
            {name for other, step in session if other != phase for name, origin in step.inputs if origin in names}
        )
    return [name for name in most_first(input_counts) if input_counts[name] >= _FREQUENT * len(phased_sessions)][
        :_MOST_VALUES
    ]


def _conditions(area: Area, documents: Sequence[dict[str, Any]]) -> list[str]:
    """When the strategy applies: the subject of the request, if there are requests, and the tools needed."""
    tools = sorted({name for phase in documents for name in phase["tools_used"]})
    several_available = (
        f"The tools {listed(tools)} are available"
        if len(tools) <= _MOST_TOOLS
        else "The tools of all phases are available"
    )
    available = f"The tool {tools[0]} is available" if len(tools) == 1 else several_available
    states_subject = area.subject and any(goal_class.requests for goal_class in area.classes)
    return [*([f"The request mentions {area.subject}"] if states_subject else []), available]


def _singular(word: str) -> str:
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > 3 else word


# Nouns that are never the subject.
_UNINFORMATIVE = frozenset(("detail", "info", "information", "data", "list", "all", "status", "mode", "test"))
