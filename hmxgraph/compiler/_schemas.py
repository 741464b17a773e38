"""task_schema: the steps of one kind of task (HMX-A 4.1)."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby
from typing import Any

from hmxgraph.compiler._cases import changes_of, done_without_failing
from hmxgraph.compiler._class_names import change_is_asked_for, class_name, conjunction, is_handed_over
from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._refusals import RequestedChange
from hmxgraph.compiler._result_rules import ResultRule, rule_for_each
from hmxgraph.compiler._step_wording import describe, stated_approvals, usual_origins
from hmxgraph.compiler._verbs import (
    instruction,
    is_action,
    kind_of,
    names_its_object,
    noun_words,
    read_action,
    receiver,
    serves_any_purpose,
)
from hmxgraph.compiler._wording import (
    approval_for,
    asks_question,
    capital,
    common_complaint,
    common_phrase,
    common_words,
    distinctive,
    listed,
    plain_words,
    small,
    subjects,
    term_counts,
    title,
)
from hmxgraph.compiler.failures import SPOKEN, FailureGroup, serve_same_purpose
from hmxgraph.compiler.goal_classes import GoalClass, in_order_of_work
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import FROM_USER, SessionSummary, Step
from hmxgraph.text.artifacts import in_sessions, times
from hmxgraph.text.lines import cited
from hmxgraph.text.terms import most_first, terms

# Limits: search words; words in the tags, and as many nouns from the names of tools; optional changes named in the
# summary; and groups of successive lookups or changes whose order the summary keeps.
_MOST_KEYWORDS = 80
_MOST_TAG_WORDS = 6
_MOST_CHANGES = 3
_MOST_GROUPS = 4
# A procedure warns of a failure of a change if at least this number, and this share, of the sessions that tried the
# change had the failure.
_PITFALL_SESSIONS, _PITFALL_SHARE = 3, 0.1
# Shares of sessions, requests or classes.
_HALF = 0.5
_OFTEN = 0.3
_USUALLY = 0.75
_SELDOM = 0.2
# Minimum success rate and maximum optional steps of a procedure.
_LEAST_SUCCESS, _MOST_OPTIONAL = 0.25, 2
# A procedure warns that its change often failed if the success rate is below the first number and at least the second
# number of sessions have a known outcome.
_MOSTLY_WELL, _ENOUGH = 0.6, 8


def task_schemas(
    classes: Sequence[GoalClass],
    profile: CompilerProfile,
    rules: Sequence[ResultRule],
    requested: Mapping[str, RequestedChange],
    pitfalls: Mapping[str, str],
) -> Iterator[ArtifactDraft]:
    """Yield a schema for each goal class with a required step.

    *rules* state which results of lookups decide whether a change is made. *requested* maps the name of a class to the
    change that its requests ask for, *pitfalls* the name of a change to the warning about its usual failure.
    """
    usual_lookups = _usual_lookups(classes)
    requests = [request for goal_class in classes for request in goal_class.requests]
    all_counts = term_counts(requests)
    for goal_class in classes:
        keywords = distinctive(goal_class.requests, all_counts, len(requests), _MOST_KEYWORDS)
        content = _content(goal_class, profile)
        _add_result_conditions(content, rules)
        _add_pitfalls(content, pitfalls)
        schema = _schema(goal_class, content, keywords, usual_lookups, profile, requested.get(goal_class.name))
        if not _shows_when(goal_class, all_counts, len(requests), profile):
            schema = replace(schema, useful=False)
        if any(not step["optional"] for step in schema.content["steps"]):
            yield schema


def _usual_lookups(classes: Sequence[GoalClass]) -> frozenset[str]:
    """Lookups that most goal classes use: they do not distinguish one class from another."""
    counts = Counter(name for goal_class in classes for name, _ in goal_class.steps if kind_of(name) == "lookup")
    return frozenset(name for name in counts if counts[name] > _HALF * len(classes))


def _schema(
    goal_class: GoalClass,
    content: dict[str, Any],
    keywords: Sequence[str],
    usual_lookups: frozenset[str],
    profile: CompilerProfile,
    requested: RequestedChange | None,
) -> ArtifactDraft:
    name = class_name(goal_class, profile)
    topics = plain_words(common_words(keywords, goal_class.requests, _OFTEN), goal_class.requests)[:_MOST_TAG_WORDS]
    seen = _observations(goal_class, content)
    content["preconditions"] += [requested.precondition] if requested else _doubts(goal_class, seen)
    return ArtifactDraft(
        artifact_type="task_schema",
        lineage_key=f"goal:{goal_class.name}",
        title=title(name),
        summary=_summary(name, content),
        content=content,
        seen=seen,
        source_events=evidence(map(trail, goal_class.examples), profile.max_evidence),
        tags=tags([*topics, *subjects(content["tools_used"])[:_MOST_TAG_WORDS]]),
        keywords=tuple(keywords),
        qualifiers=_qualifiers(goal_class, common_words(topics, goal_class.requests, _HALF), usual_lookups),
        metadata={"goal_actions": _required(content), "requests_speak_of": topics},
        # If most sessions declined the change, a procedure would make an agent carry it out without saying when.
        useful=_is_useful(goal_class, content, profile) and (requested is None or not requested.usually_declined),
    )


def _doubts(goal_class: GoalClass, seen: Observations) -> list[str]:
    """The precondition that the change is allowed and agreed, if many sessions that made it failed; else empty.

    It is not known why they failed: the change may not have been allowed, or its inputs may have been wrong.
    """
    changes = [name for name, share in goal_class.steps if is_action(name) and share >= _HALF]
    is_reliable = seen.success_rate >= _MOSTLY_WELL or seen.count < _ENOUGH
    if not changes or is_reliable or any(map(serves_any_purpose, changes)):
        return []
    how_often = times(seen.successes, seen.count).removeprefix("worked ")
    single = len(changes) == 1
    allowed = "The change is allowed" if single else "The changes are allowed"
    evidence_text = f"sessions that made {'it' if single else 'them'} went well only {how_often}"
    return [f"{allowed}, and each input is what was agreed: {evidence_text}"]


def _add_result_conditions(content: dict[str, Any], rules: Sequence[ResultRule]) -> None:
    """Add the results of lookups on which changes depend to *content*.

    If all changes wait for the same result, it becomes a precondition. Otherwise each change states its own condition.
    """
    applicable = [rule for rule in rules if rule.lookup in content["tools_used"]]
    rule_by_change = rule_for_each(applicable, called_for=False)
    changes = [step for step in content["steps"] if is_action(step["tools_used"][0])]
    conditional = [step for step in changes if step["tools_used"][0] in rule_by_change]
    step_rules = [rule_by_change[step["tools_used"][0]] for step in conditional]
    required_results = {rule.condition: rule for rule in step_rules if not rule.called_for}
    all_required = len(step_rules) == len(changes) and not any(rule.called_for for rule in step_rules)
    if len(required_results) == 1 and all_required:
        content["preconditions"] += [f"{condition} ({rule.how_often})" for condition, rule in required_results.items()]
        return
    for step, rule in zip(conditional, step_rules, strict=True):
        step["description"] = f"{'If' if rule.called_for else 'Only if'} {rule.condition}: {small(step['description'])}"


def _add_pitfalls(content: dict[str, Any], pitfalls: Mapping[str, str]) -> None:
    """Add the warning about its usual failure to each change in *content*."""
    for step in content["steps"]:
        if pitfall := pitfalls.get(step["tools_used"][0]):
            step["description"] += f"; {pitfall}"


def _required(content: Mapping[str, Any]) -> list[str]:
    """The actions of the required steps, by which a request is recognised as this kind of work."""
    return sorted({step["tools_used"][0] for step in content["steps"] if not step["optional"]})


def _observations(goal_class: GoalClass, content: Mapping[str, Any]) -> Observations:
    """The support of the procedure: its examples, judged by the outcomes of all sessions that made its changes.

    If it has no changes, all sessions of the class are counted.
    """
    changes = set(filter(is_action, _required(content)))
    followed = [member for member in goal_class.members if changes.issubset(member.actions)]
    return Observations.of_sessions(list(dict.fromkeys(goal_class.examples)), followed)


def _is_useful(goal_class: GoalClass, content: Mapping[str, Any], profile: CompilerProfile) -> bool:
    """Whether the steps fulfil the request, and are not only what the sessions happened to do.

    There must be several cases that share a step and most of their actions, with few optional steps and not too many
    failures, and a step must say what it acts on. Without requests, sessions must agree on more of their actions,
    because nothing else shows when to do the work.
    """
    least = _HALF if goal_class.requests else _USUALLY
    shared = {name for name, share in goal_class.steps if share >= least}
    seen = _observations(goal_class, content)
    return (
        goal_class.cases >= _cases_needed(goal_class, profile)
        and any(not step["optional"] for step in content["steps"])
        and any(map(_states_object, content["steps"]))
        and sum(step["optional"] for step in content["steps"]) <= _MOST_OPTIONAL
        and _does_what_is_asked(goal_class)
        and statistics.median(_share_covered(shared, example) for example in goal_class.examples) >= least
        and (not seen.count or seen.success_rate >= _LEAST_SUCCESS)
    )


def _states_object(step: Mapping[str, Any]) -> bool:
    """Whether a step says what it acts on: by the name of its tool, or by a command line, a file or a page element."""
    return "`" in step["description"] or any(map(names_its_object, step["tools_used"]))


def _shows_when(goal_class: GoalClass, all_counts: Counter[str], total: int, profile: CompilerProfile) -> bool:
    """Whether the requests show when to follow the procedure, so that it is not followed for other requests.

    They do if most share a phrase or a complaint. For changes, it is also enough that many name each change, or that
    most contain a word that is rare in other requests. *all_counts* counts the terms of all requests, *total* the
    requests. Nothing needs to be shown for work without requests, for answers, and for general-purpose programs.
    """
    requests = [example.request for example in goal_class.examples if example.request]
    changes = [name for name, share in goal_class.steps if share >= _HALF and is_action(name)]
    handed_over = any(share >= _HALF and kind_of(name) == "handover" for name, share in goal_class.steps)
    if not requests or any(map(serves_any_purpose, changes)) or not (changes or handed_over):
        return True
    if any(find_phrase(requests, profile.title_share) for find_phrase in (common_complaint, common_phrase)):
        return True
    all_named = all(_is_named(change, changes, requests) for change in changes)
    return bool(changes) and (all_named or _has_own_word(goal_class, requests, all_counts, total))


def _is_named(change: str, changes: Sequence[str], requests: Sequence[str]) -> bool:
    """Whether many of these requests contain a word from the name of *change* that no other of the *changes* has."""
    own_terms = _name_terms(change).difference(*(_name_terms(other) for other in changes if other != change))
    return sum(not own_terms.isdisjoint(terms(request)) for request in requests) >= _OFTEN * len(requests)


def _name_terms(action: str) -> frozenset[str]:
    """The terms of the verb and the nouns in the name of *action*."""
    return frozenset(terms(" ".join((read_action(action).verb, *noun_words(action)))))


def _has_own_word(goal_class: GoalClass, requests: Sequence[str], all_counts: Counter[str], total: int) -> bool:
    """Whether there is a term that most *requests* of the examples use, and few requests of other classes."""
    example_counts, class_counts = term_counts(requests), term_counts(goal_class.requests)
    others = total - len(goal_class.requests)
    return any(
        example_counts[term] >= _USUALLY * len(requests) and all_counts[term] - class_counts[term] <= _SELDOM * others
        for term in example_counts
    )


def _cases_needed(goal_class: GoalClass, profile: CompilerProfile) -> int:
    """The number of cases that a procedure needs: more than it has changes, because chance may have combined these."""
    changes = [name for name, share in goal_class.steps if share >= _HALF and is_action(name)]
    return max(profile.min_cases, 1 + sum(not serves_any_purpose(name) for name in changes))


def _does_what_is_asked(goal_class: GoalClass) -> bool:
    """Whether the sessions made the same changes, answered a question, or handed the request over.

    Sessions that declined a change, or that made different changes, do not show how to do what is asked.
    """
    shares = dict(goal_class.steps)
    usual = [name for name in shares if is_action(name) and shares[name] >= _HALF]
    if usual:
        return _agree_on(usual, goal_class)
    if any(map(is_action, shares)):
        return False
    if goal_class.requests and any(kind_of(name) == "handover" for name in shares):
        return True
    questions_only = not goal_class.requests or (_asks_questions(goal_class) and not change_is_asked_for(goal_class))
    return questions_only and not is_handed_over(goal_class)


def _agree_on(changes: Sequence[str], goal_class: GoalClass) -> bool:
    """Whether the sessions made all of these changes and, unless general-purpose programs made them, no others.

    If requests complain about a symptom, all of ``goal_class.training_sessions`` count instead of the examples, because
    the repair depends on what the agent finds.
    """
    if any(map(serves_any_purpose, changes)):
        return conjunction(changes, goal_class.examples) == "and"
    complaining = bool(common_complaint(goal_class.requests, _HALF))
    sessions = goal_class.training_sessions if complaining else goal_class.examples
    return sum(changes_of(session) == set(changes) for session in sessions) >= _USUALLY * len(sessions)


def _asks_questions(goal_class: GoalClass) -> bool:
    """Whether most requests ask a question."""
    return sum(map(asks_question, goal_class.requests)) > _HALF * len(goal_class.requests)


def _share_covered(steps: AbstractSet[str], example: SessionSummary) -> float:
    """The share of the distinct actions of *example* that are among these steps."""
    actions = set(example.actions)
    return len(actions & steps) / len(actions)


def _content(goal_class: GoalClass, profile: CompilerProfile) -> dict[str, Any]:
    """The procedure: the steps of most examples, what they need, and how to recognise that the work is done."""
    examples = goal_class.examples
    # A step that only a minority took depends on something that those sessions found and that requests do not show.
    usual_steps = [(name, share) for name, share in goal_class.steps if share >= _HALF]
    names = [name for name, _ in usual_steps]
    alternatives = {
        name: alternative
        for name in names
        if (alternative := _alternative(name, examples)) and alternative not in names
    }
    if not alternatives and (first := _either_lookup(names, examples)):
        alternatives = {first: _alternative(first, examples)}
        names = in_order_of_work([*names, first], examples)
        shares = {first: _HALF, **dict(usual_steps)}
        usual_steps = [(name, shares[name]) for name in names]
    required = {name for name, share in usual_steps if _is_required((name, share), alternatives, examples, profile)}
    steps: list[dict[str, Any]] = [
        {
            "order": order,
            "description": _step_description(name, alternatives.get(name, ""), examples, names[: order - 1])
            + ("" if name in required else _how_often(name, examples)),
            "tools_used": [name, *_common_alternative(alternatives.get(name, ""), examples)],
            "optional": name not in required,
        }
        for order, name in enumerate(names, start=1)
    ]
    if check := _final_check(names, examples):
        steps.append(_check_step(check, steps[names.index(check)], len(steps) + 1))
    return {
        "steps": steps,
        "preconditions": _preconditions(
            [step["tools_used"][0] for step in steps if not step["optional"]], alternatives, examples
        ),
        "postconditions": _postconditions([(step["tools_used"][0], step["optional"]) for step in steps], goal_class),
        "tools_used": sorted({*names, *alternatives.values()}),
        "estimated_complexity": complexity(len(names), examples, profile),
    }


def _is_required(
    step: tuple[str, float], alternatives: Collection[str], examples: Sequence[SessionSummary], profile: CompilerProfile
) -> bool:
    """Whether a *step*, given by name and share, is required: nearly all examples take it, or it has an alternative."""
    name, share = step
    count, total = _session_counts(name, examples)
    return max(share, count / total) >= profile.required_share or name in alternatives


def _how_often(name: str, examples: Sequence[SessionSummary]) -> str:
    return f"; {in_sessions(*_session_counts(name, examples))}"


def _session_counts(name: str, examples: Sequence[SessionSummary]) -> tuple[int, int]:
    """The number of examples that took a step, and the number of all examples; repeated *examples* count once."""
    sessions = list(dict.fromkeys(examples))
    return sum(name in session.actions for session in sessions), len(sessions)


def _alternative(action: str, examples: Sequence[SessionSummary]) -> str:
    """The lookup used instead of *action* in sessions where the user gave other inputs; "" if there is none.

    For example, the user gives either an e-mail address or a name and zip code, and the lookup of the user differs.
    """
    inputs = set(_given_by_user(action, examples)) if kind_of(action) == "lookup" else set()
    if not inputs:
        return ""
    session_counts = Counter(name for example in examples for name in done_without_failing(example))
    enough = max(2, _SELDOM * len(examples))
    candidates = [name for name in most_first(session_counts) if name != action and session_counts[name] >= enough]
    return next((name for name in candidates if _stands_in(name, action, session_counts[name], examples)), "")


def _common_alternative(alternative: str, examples: Sequence[SessionSummary]) -> list[str]:
    """The alternative of a step as a list, empty if few sessions take it: a rare alternative is only described."""
    count = sum(alternative in done_without_failing(example) for example in examples)
    return [alternative] if alternative and count >= _OFTEN * len(examples) else []


def _either_lookup(names: Sequence[str], examples: Sequence[SessionSummary]) -> str:
    """The more usual of two alternative lookups, if most sessions use one of them but neither is a step; else ""."""
    session_counts = Counter(name for example in examples for name in done_without_failing(example))
    for name in most_first(session_counts):
        other = _alternative(name, examples) if name not in names else ""
        either = sum(not done_without_failing(example).isdisjoint({name, other}) for example in examples)
        if other and other not in names and either > _HALF * len(examples):
            return name
    return ""


def _stands_in(name: str, action: str, uses: int, examples: Sequence[SessionSummary]) -> bool:
    """Whether *name* looks up the same thing as *action* in other sessions, with other inputs from the user."""
    given = set(_given_by_user(name, examples))
    if kind_of(name) != "lookup" or not given or given == set(_given_by_user(action, examples)):
        return False
    both_used = sum({name, action} <= done_without_failing(example) for example in examples)
    same_purpose = serve_same_purpose(name, action) and not set(noun_words(name)).isdisjoint(noun_words(action))
    return same_purpose and both_used <= _SELDOM * uses


def _given_by_user(action: str, examples: Sequence[SessionSummary]) -> list[str]:
    """The arguments of *action* whose values usually come from the user."""
    origins = usual_origins(_uses_of(action, examples))
    return [argument for argument, origin in origins.items() if origin == FROM_USER]


def _step_description(action: str, alternative: str, examples: Sequence[SessionSummary], before: Sequence[str]) -> str:
    """The instruction for *action*; with an *alternative*, for both, each with the inputs that the user has given."""
    if not alternative:
        return describe(action, _uses_of(action, examples), before)
    uses = {name: sum(map(bool, _uses_of(name, examples))) for name in (alternative, action)}
    return ". ".join(
        f"If the user has given {listed(_given_by_user(name, examples))}: {small(instruction(name))}"
        for name in sorted(uses, key=lambda name: -uses[name])
    )


def _final_check(names: Sequence[str], examples: Sequence[SessionSummary]) -> str:
    """The lookup that most sessions use both before their first and after their last change; "" if there is none."""
    checks = Counter(
        name
        for example in examples
        if (indexes := [index for index, action in enumerate(example.actions) if is_action(action)])
        for name in {name for name in example.actions[indexes[-1] + 1 :] if name in example.actions[: indexes[0]]}
    )
    usual = [name for name in names if kind_of(name) == "lookup" and checks[name] > _HALF * len(examples)]
    if any(kind_of(name) == "handover" for name in names):
        return ""  # Nothing follows a handover.
    return max(usual, key=lambda name: (checks[name], name), default="")


def _check_step(check: str, first: Mapping[str, Any], order: int) -> dict[str, Any]:
    """The step that repeats the lookup *check* at the end; *first* is the step that makes it before the changes."""
    description = str(first["description"]).partition("; ")[0]
    return {**first, "order": order, "description": f"{description} again, to check the result", "tools_used": [check]}


def _qualifiers(goal_class: GoalClass, topics: Sequence[str], usual_lookups: frozenset[str]) -> tuple[str, ...]:
    """Phrases that distinguish this class from others with the same name: its changes, its lookups, and its topics."""
    steps = [name for name, share in goal_class.steps if share >= _HALF and name not in usual_lookups]
    changes, lookups = ([name for name in steps if kind_of(name) == kind] for kind in ("action", "lookup"))
    phrases = (
        listed([read_action(name).phrase for name in names], conjunction(names, goal_class.examples))
        for names in (changes[:2], changes[:3], lookups[:2])
    )
    return tuple(filter(None, (*phrases, f"mentioning {listed(topics[:2])}" if topics else "")))


def _uses_of(action: str, examples: Sequence[SessionSummary]) -> list[list[Step]]:
    """The steps that take *action*, as a list for each session; failed steps are left out unless all failed."""
    uses = [[step for step in session.steps if step.action == action] for session in examples]
    not_failed = [[step for step in steps if step.ok is not False] for steps in uses]
    return not_failed if any(not_failed) else uses


def complexity(steps: int, sessions: Sequence[SessionSummary], profile: CompilerProfile) -> str:
    """The complexity, "low", "medium" or "high", by the number of steps and the usual length of a session."""
    usual_actions = statistics.median(len(session.steps) for session in sessions)
    size = max(steps, usual_actions / 2)
    if size <= profile.low_complexity:
        return "low"
    return "high" if size > profile.high_complexity else "medium"


def _preconditions(
    names: Sequence[str], alternatives: Mapping[str, str], examples: Sequence[SessionSummary]
) -> list[str]:
    """The preconditions of the actions *names*: inputs from the user, approvals, consent if sessions waited for it."""
    arguments = [argument for name in names if name not in alternatives for argument in _given_by_user(name, examples)]
    either_inputs = [
        f"{listed(_given_by_user(alternative, examples))}, or {listed(_given_by_user(name, examples))}"
        for name, alternative in alternatives.items()
    ]
    inputs = list(dict.fromkeys(arguments))
    conditions = [f"The user has given {detail}" for detail in (*either_inputs, *([listed(inputs)] if inputs else []))]
    approvals = list(dict.fromkeys(name for action in names for name in stated_approvals(_uses_of(action, examples))))
    conditions += [f"Whoever may do so has given any {approval_for(approvals)}"] if approvals else []
    return conditions + (["The user has agreed to the change"] if agreed(examples, names) else [])


def agreed(sessions: Sequence[SessionSummary], names: Sequence[str] | None = None) -> bool:
    """Whether users usually agreed to the changes: a user message came right before the first one.

    Only changes among *names* count, if given. Further changes may follow without a message, because the user agreed to
    all of them.
    """
    first_changes = [
        next((index for index, action in enumerate(session.actions) if _is_change(action, names)), None)
        for session in sessions
    ]
    agreements = [
        index > 0 and session.steps[index].situation.since in SPOKEN
        for session, index in zip(sessions, first_changes, strict=True)
        if index is not None
    ]
    return bool(agreements) and sum(agreements) >= _HALF * len(agreements)


def _is_change(action: str, names: Sequence[str] | None) -> bool:
    return is_action(action) and (names is None or action in names)


def _postconditions(steps: Sequence[tuple[str, bool]], goal_class: GoalClass) -> list[str]:
    """How to recognise that the work is done; *steps* pairs the tool of each step with whether it is optional.

    Tools that never reported success are omitted.
    """
    handovers = [name for name, optional in steps if kind_of(name) == "handover" and not optional]
    if handovers:
        return [f"{capital(receiver(handovers[0]))} has taken over with a summary of what was found"]
    if not any(is_action(name) for name, _ in steps):
        was_declined = change_is_asked_for(goal_class) or is_handed_over(goal_class)
        informed = "The user knows what was found, and why nothing was changed"
        return [informed if was_declined else "The user's question is answered from what was found"]
    succeeded = {step.action for session in goal_class.examples for step in session.steps if step.ok}
    changes = [(name, optional) for name, optional in steps if is_action(name) and name in succeeded]
    unconditional = [f"{name} has reported success" for name, optional in changes if not optional]
    conditional = [f"{name} has reported success, if it was called" for name, optional in changes if optional]
    return unconditional + conditional


def _does_work(tool: str) -> bool:
    return kind_of(tool) in {"lookup", "action"}


def _summary(name: str, content: dict[str, Any]) -> str:
    """The procedure in one sentence: lookups with their alternatives and changes in order, then the check."""
    with_alternatives = {step["tools_used"][0]: " or ".join(step["tools_used"]) for step in content["steps"]}
    required = [step["tools_used"][0] for step in content["steps"] if not step["optional"]]
    # Successive lookups form a group, and so do successive changes.
    groups = [(are_changes, list(tools)) for are_changes, tools in groupby(filter(_does_work, required), key=is_action)]
    if len(groups) > _MOST_GROUPS:
        lookups, changes = ([tool for tool in required if kind_of(tool) == kind] for kind in ("lookup", "action"))
        groups = [(False, lookups), (True, changes)]
    optional_changes = [
        step["tools_used"][0] for step in content["steps"] if step["optional"] and is_action(step["tools_used"][0])
    ]
    ends_with_check = len(groups) > 1 and not groups[-1][0]
    parts = [
        f"{'carry out' if are_changes else 'consult'} {listed([with_alternatives[tool] for tool in tools])}"
        for are_changes, tools in groups[: len(groups) - ends_with_check]
    ]
    parts += [f"{listed(optional_changes, most=_MOST_CHANGES)} where needed"] if optional_changes else []
    parts += [f"check with {listed(groups[-1][1])}"] if ends_with_check else []
    procedure = ", then ".join(parts) or f"use {listed(content['tools_used'])}"
    return f"{capital(name)}: {procedure}."


def frequent_failures(
    groups: Iterable[FailureGroup], sessions: Sequence[SessionSummary], refused: Mapping[str, ResultRule]
) -> dict[str, str]:
    """A warning for each change about its most frequent failure, if that is frequent among sessions that tried it.

    *refused* maps the event ids of failures to the rules that explain them. These failures are left out, because the
    procedure already states the result that the change waits for.
    """
    sessions_by_failure: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for group in groups:
        for occurrence in group.occurrences:
            if is_action(occurrence.action) and occurrence.failure.event_id not in refused:
                sessions_by_failure[occurrence.action][group.message].add(occurrence.summary.session_id)
    warnings = {
        action: _warning(action, sessions_by_failure[action], sessions) for action in sorted(sessions_by_failure)
    }
    return {action: warning for action, warning in warnings.items() if warning}


def _warning(action: str, sessions_by_message: Mapping[str, set[str]], sessions: Iterable[SessionSummary]) -> str:
    """The warning about the most frequent failure of *action*; "" if that is rare."""
    usual = max(sorted(sessions_by_message), key=lambda message: len(sessions_by_message[message]))
    failed, called = len(sessions_by_message[usual]), sum(action in session.actions for session in sessions)
    if failed < _PITFALL_SESSIONS or failed < _PITFALL_SHARE * called:
        return ""
    return f"it has failed with {cited(usual.rstrip('.'))}, {in_sessions(failed, called)}"
