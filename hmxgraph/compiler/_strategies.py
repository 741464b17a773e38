"""strategy_template: the phases of successful work on one subject (HMX-A 4.5).

A goal class is a group of sessions that do similar work, see :mod:`hmxgraph.compiler.goal_classes`. The classes of one
subject, or with the same main change, are a field, which gets at most one strategy.
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
# Maximum tools of a phase, and values named in a success criterion.
_MOST_TOOLS, _MOST_VALUES = 6, 4
# Minimum share of sessions in which other phases use a value, for a success criterion to name it.
_FREQUENT = 0.2
# Minimum standard errors by which sessions with all phases must succeed more often than others. This is the one-sided
# 1 % level, because a tenant has many strategies: at the 10 % level, some of them would pass by chance.
_CLEARLY = 2.33
# Minimum share of requests that mention a word, for it to be the subject.
_OFTEN = 0.4
# Minimum share of the examples of each class that make a change, for a strategy to be named after this change.
_USUALLY = 0.8
_MAJORITY = 0.5


@dataclass(frozen=True, slots=True)
class Field:
    """Goal classes that are handled in the same way: about one subject, or making one change.

    ``purpose`` is this change, "" if there is none.
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
        """The sessions to learn from."""
        return tuple(session for goal_class in self.classes for session in goal_class.training_sessions)


def strategy_templates(classes: Sequence[GoalClass], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """One strategy per field that has a single class, or whose classes all usually make its change.

    Strategies with a single phase are dropped, since task schemas say more; if two have equal phases, the one with more
    sessions is kept.
    """
    fields = [field for field in _fields(classes, profile) if len(field.classes) == 1 or _makes_its_change(field)]
    known_phases: list[list[dict[str, Any]]] = []
    for field in sorted(fields, key=lambda subject_field: -len(subject_field.members)):
        template = _template(field, profile)
        phase_documents = template.content["phases"]
        if len(phase_documents) > 1 and phase_documents not in known_phases:
            known_phases.append(phase_documents)
            yield template


def phases(summary: SessionSummary) -> list[tuple[str, Step]]:
    """Each step with its phase, judged by its place in the session.

    Lookups after the last change belong to "verify". Before it, a lookup belongs to "identify" if it is the first step,
    or if its first use has inputs from the user; other lookups belong to "gather".
    """
    changes = [place for place, step in enumerate(summary.steps) if is_action(step.action)]
    last = changes[-1] if changes else len(summary.steps)
    earlier_actions: set[str] = set()
    phased = []
    for place, step in enumerate(summary.steps):
        phase = _phase(
            step, fresh=step.action not in earlier_actions, after=place > last, started=bool(earlier_actions)
        )
        earlier_actions.add(step.action)
        phased.append((phase, step))
    return phased


def _phase(step: Step, *, fresh: bool, after: bool, started: bool) -> str:
    """The phase of a step: *fresh* if its action is new, *after* the last change, *started* if not the first."""
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
            from_user = any(origin == FROM_USER for _, origin in step.inputs)
            return "identify" if not started or (fresh and from_user) else "gather"


def _fields(classes: Sequence[GoalClass], profile: CompilerProfile) -> list[Field]:
    """The fields whose classes make one change, then the other fields, whose classes are about one subject."""
    by_change: defaultdict[str, list[GoalClass]] = defaultdict(list)
    for goal_class in classes:
        by_change[_main_change(goal_class)].append(goal_class)
    narrow = [Field(_subject(by_change[name]), name, tuple(by_change[name])) for name in sorted(by_change) if name]
    by_subject: defaultdict[str, list[GoalClass]] = defaultdict(list)
    for group in _similar_classes(classes, profile):
        by_subject[_subject(group)] += group
    wide = [Field(subject, "", tuple(by_subject[subject])) for subject in sorted(by_subject)]
    wide = [field for field in wide if field.classes not in {other.classes for other in narrow}]
    # Omit the field of a single class that a wider field covers: the class has its task schema already.
    covered = {name for field in wide if len(field.classes) > 1 for name in _names(field)}
    return [field for field in narrow if len(field.classes) > 1 or covered.isdisjoint(_names(field))] + wide


def _names(field: Field) -> list[str]:
    return [goal_class.name for goal_class in field.classes]


def _main_change(goal_class: GoalClass) -> str:
    """The most frequent change of the class, or ""; browser actions, which may do anything, are ignored."""
    shares = [(name, share) for name, share in goal_class.steps if is_action(name) and not name.startswith(BROWSER)]
    changes = [(share, not _names_only_interface(name), name) for name, share in shares]
    # Of equally frequent changes, prefer a telling name, then the first: final actions such as a commit are not the
    # purpose.
    return max(changes, key=lambda change: change[:2], default=(0.0, False, ""))[2]


def _names_only_interface(name: str) -> bool:
    """Whether the name of an action states only the interface that it calls."""
    return serves_any_purpose(name) and read_action(name).verb != "run"


def _similar_classes(classes: Sequence[GoalClass], profile: CompilerProfile) -> list[list[GoalClass]]:
    """The classes grouped by similar steps."""
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
    """The noun of the steps that requests mention most, else the most frequent word of the requests.

    Without requests, the most frequent noun of the steps; "" if there is none.
    """
    counts = Counter(
        _singular(word)
        for goal_class in group
        for name, share in goal_class.steps
        for word in noun_words(name)
        for _ in range(round(10 * share))  # nouns of frequent steps weigh more
    )
    requests = [request for goal_class in group for request in goal_class.requests]
    request_counts = term_counts(requests)
    nouns = [noun for noun in sorted(counts) if noun not in _UNINFORMATIVE and len(noun) > 2]
    least = _OFTEN * len(requests)
    spoken_nouns = {
        noun: request_counts[terms(noun)[0]]
        for noun in nouns
        if terms(noun) and request_counts[terms(noun)[0]] >= least
    }
    if spoken_nouns:
        return min(spoken_nouns, key=lambda noun: (-spoken_nouns[noun], -counts[noun], noun))
    spellings = spelling(requests)
    # The topic of a sentence tends to be near its end: "fix the failing unit test".
    lateness = {word: statistics.fmean(places) for word, places in _word_positions(requests).items()}
    often = [term for term in request_counts if request_counts[term] >= least]
    ranked = sorted(often, key=lambda term: (-request_counts[term], -lateness.get(spellings[term], 0.0), term))
    topics = [spellings[term] for term in ranked]
    telling = [word for word in plain_words(topics, requests) if word not in REQUEST_VERBS]
    return (telling or ([] if requests else most_first({noun: counts[noun] for noun in nouns})) or [""])[0]


def _word_positions(requests: Sequence[str]) -> dict[str, list[float]]:
    """For each informative word its relative positions in the requests, 0 at the start."""
    places: defaultdict[str, list[float]] = defaultdict(list)
    for request in requests:
        tokens = informative_words(request)
        for place, word in enumerate(tokens):
            places[word].append(place / len(tokens))
    return places


def _template(field: Field, profile: CompilerProfile) -> ArtifactDraft:
    models = field.training_sessions
    phased_sessions = _purposeful(models)
    documents = _phase_documents(phased_sessions, _flow(phased_sessions, profile), agreed_first=agreed(models))
    flow = [_PHASE_OF_NAME[phase["name"]] for phase in documents]
    names = list(dict.fromkeys(class_name(goal_class, profile) for goal_class in field.classes))
    about = names[0] if len(names) == 1 else goal_phrase([field.purpose])
    content = {
        "goal": capital(about),
        "phases": documents,
        "applicability_conditions": _conditions(field, documents),
        "estimated_complexity": complexity(len(documents), models, profile),
    }
    return ArtifactDraft(
        artifact_type="strategy_template",
        lineage_key=f"strategy:{field.purpose or field.subject}:{'change' if field.purpose else 'subject'}",
        title=title(f"Strategy to {about}"),
        summary=f"Sessions that {about}{' and succeed' if any(model.succeeded for model in models) else ''} "
        f"go like this: {listed(flow, 'then')}.",
        content=content,
        seen=Observations.of_sessions(models, field.members),
        source_events=evidence((trail(model) for model in models), profile.max_evidence),
        tags=tags(["strategy", field.subject]),
        qualifiers=(goal_phrase([field.purpose]),) if field.purpose else (),
        # A single class is described by its task schema.
        useful=len(field.classes) > 1 and _changes_outcome(field, flow),
        metadata={"kinds_of_requests": len(field.classes)},
    )


def _changes_outcome(field: Field, flow: Sequence[str]) -> bool:
    """Whether sessions with all phases succeed clearly more often than others with the same kind of request."""
    observed = [
        (goal_class.name, set(flow) <= {phase for phase, _ in phases(member)}, member.succeeded)
        for goal_class in field.classes
        for member in goal_class.members
        if member.went_well is not None
    ]
    return significance(list(strata(observed).values())) >= _CLEARLY


def _purposeful(models: Sequence[SessionSummary]) -> list[_Phased]:
    """The steps of the sessions with their phases, without repairs and actions that only failed.

    If most sessions used an action that only failed, repairs are kept. If nothing would be left, all steps are kept.
    """
    session_counts = Counter(name for model in models for name in set(model.actions))
    always_failed = {name for name in session_counts if only_failed(name, models)}
    repairs_did_the_work = any(session_counts[name] > _MAJORITY * len(models) for name in always_failed)
    excluded = always_failed if repairs_did_the_work else always_failed | repairs_of(models)
    return [
        [
            (phase, step)
            for phase, step in phases(model)
            if excluded >= session_counts.keys() or step.action not in excluded
        ]
        for model in models
    ]


def _makes_its_change(field: Field) -> bool:
    """Whether the field has a change that all its classes usually make: a subject alone is handled in many ways."""
    return bool(field.purpose) and all(
        dict(goal_class.steps).get(field.purpose, 0.0) >= _USUALLY for goal_class in field.classes
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
    """The tools of each phase; "gather" omits the lookups that identify, and phases without tools are dropped."""
    tools: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for session in phased_sessions:
        for phase, action in sorted({(phase, step.action) for phase, step in session}):
            tools[phase][action] += 1
    frequent = {phase: _frequent(tools[phase], len(phased_sessions)) for phase in flow}
    if {"identify", "gather"} <= frequent.keys():
        frequent["gather"] = [name for name in frequent["gather"] if name not in frequent["identify"]]
    return {phase: frequent[phase] for phase in flow if frequent[phase]}


def _flow(phased_sessions: Sequence[_Phased], profile: CompilerProfile) -> list[str]:
    """The phases of enough sessions, in working order."""
    sessions = _phase_sessions(phased_sessions)
    return [phase for phase in _PHASES if sessions[phase] >= max(1.0, profile.phase_share * len(phased_sessions))]


def _phase_sessions(phased_sessions: Sequence[_Phased]) -> Counter[str]:
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
        case "act" if not any(step.ok for session in phased_sessions for name, step in session if name == phase):
            return f"A result shows that {listed(names, 'or')} worked; none has so far"
        case "act":
            done = "every call made" if len(names) > 1 else names[0]
            first = f"Each change was agreed with the user first, and {done}" if agreed_first else done
            return f"{first if len(names) == 1 else capital(first)} has reported success"
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
    """The inputs whose values other phases take from this one, the most frequent first."""
    input_counts: Counter[str] = Counter()
    for session in phased_sessions:
        input_counts.update(
            {name for later, step in session if later != phase for name, origin in step.inputs if origin in names}
        )
    return [name for name in most_first(input_counts) if input_counts[name] >= _FREQUENT * len(phased_sessions)][
        :_MOST_VALUES
    ]


def _conditions(field: Field, documents: Sequence[dict[str, Any]]) -> list[str]:
    """The subject of the request and the tools needed."""
    tools = sorted({name for phase in documents for name in phase["tools_used"]})
    needed = (
        f"The tools {listed(tools)} are available"
        if len(tools) <= _MOST_TOOLS
        else "The tools of all phases are available"
    )
    available = f"The tool {tools[0]} is available" if len(tools) == 1 else needed
    states_subject = field.subject and any(goal_class.requests for goal_class in field.classes)
    return [*([f"The request mentions {field.subject}"] if states_subject else []), available]


def _singular(word: str) -> str:
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > 3 else word


# Nouns that are never the subject.
_UNINFORMATIVE = frozenset(("detail", "info", "information", "data", "list", "all", "status", "mode", "test"))
