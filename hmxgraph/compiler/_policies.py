"""decision_policy: which option to choose when several are available (HMX-A 4.3).

Policies have two sources: decision events, and implicit choices. An implicit choice is a point of the work (the start
of a session, or right after a certain action) at which different sessions took different actions.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler._class_names import class_name
from hmxgraph.compiler._conditions import MENTIONS, terms_of, what_requests_mention
from hmxgraph.compiler._drafts import MOST_SCOPE_WORDS, ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._signatures import signature
from hmxgraph.compiler._step_wording import origins
from hmxgraph.compiler._verbs import instruction, kind_of, read_action
from hmxgraph.compiler._vocabulary import informative_words
from hmxgraph.compiler._wording import (
    LONGEST_TITLE,
    capital,
    listed,
    small,
    subjects,
    title,
)
from hmxgraph.compiler.failures import failure_key, most_frequent, share_nouns, significance, strata
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import FROM_USER, Decision, SessionSummary, Step
from hmxgraph.text.artifacts import noted, times
from hmxgraph.text.lines import condition_of
from hmxgraph.text.terms import terms

_MOST_OPTIONS = 6
# Minimum standard errors above chance: the one-sided 1 % level, because many points of the work are compared, and the
# choice also depends on the request.
_LEAST_SIGNIFICANCE = 2.33
_HALF = 0.5
# An option with a condition is recommended from the first success rate. From the second, any option will do.
_MOSTLY, _NEARLY_ALWAYS = 0.6, 0.9
# One option works better than another if its success rate is higher by at least this much.
_CLEARLY_BETTER = 0.15
# Cross-validation of a condition: number of folds, and minimum precision. The minimum recall is ``_HALF``.
_FOLDS, _PRECISION = 10, 0.8


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, which is that of an action or was given in decisions, and the times it was chosen.

    Each choice is (session, whether it went well or None if unknown, event id).
    """

    name: str
    choices: tuple[tuple[SessionSummary, bool | None, str], ...]

    @property
    def seen(self) -> Observations:
        """The sessions that chose the option, the choices with a known outcome, and those that went well."""
        outcomes = [went_well for _, went_well, _ in self.choices if went_well is not None]
        return Observations(len({session.session_id for session, _, _ in self.choices}), len(outcomes), sum(outcomes))

    @property
    def count(self) -> int:
        """How often the option was chosen."""
        return len(self.choices)

    @property
    def steps(self) -> list[Step]:
        """The steps by which the option was chosen; none if it was chosen in a decision event."""
        return [step for session, _, event_id in self.choices for step in session.steps if step.event_id == event_id]

    @property
    def worked(self) -> Observations:
        """How often the option worked.

        A lookup is judged by its own result, because sessions fail later for many other reasons.
        """
        results = [step.ok for step in self.steps if step.ok is not None]
        if kind_of(self.name) != "lookup" or not results:
            return self.seen
        return Observations(self.seen.sessions, len(results), sum(results))

    @property
    def requests(self) -> list[str]:
        """The requests of the sessions that chose the option."""
        return [session.request for session, _, _ in self.choices if session.request]

    @property
    def inputs_from_user(self) -> list[str]:
        """The inputs of the action that usually come from the user."""
        return [name for name, origin in origins(self.steps).items() if origin == FROM_USER]


def decision_policies(
    classes: Sequence[GoalClass], summaries: Sequence[SessionSummary], profile: CompilerProfile
) -> Iterator[ArtifactDraft]:
    """Yield the policies from decision events, then the best supported ones from implicit choices."""
    yield from _policies_from_decisions(summaries, profile)
    kinds = {member.session_id: goal_class.name for goal_class in classes for member in goal_class.members}
    options_by_point = {
        point: options
        for point, options in _choices(summaries, profile, kinds)
        if kind_of(options[0].name) == "lookup" or _distinguishable(options)
    }
    drafts = [_choice_policy(None, point, options_by_point[point], profile) for point in sorted(options_by_point)]
    for goal_class in classes:
        for point, options in _choices(goal_class.members, profile, kinds):
            if _class_differs(options, options_by_point.get(point, ())):
                drafts.append(_choice_policy(goal_class, point, options, profile))
    ranked = sorted(drafts, key=lambda draft: (-draft.seen.sessions * draft.seen.confidence, draft.lineage_key))
    yield from ranked[: profile.max_policies]


def _class_differs(options: Sequence[Option], usual: Sequence[Option]) -> bool:
    """Whether a goal class with these *options* needs its own policy, because its best option is not the usual one.

    *usual* are the options of all sessions at the same point. Their policy also serves the class if it has a condition
    for each option and includes all options of the class.
    """
    if not usual:
        return True
    is_covered = {option.name for option in options} <= {option.name for option in usual} and _distinguishable(usual)
    return options[0].name != usual[0].name and not is_covered


def _policies_from_decisions(summaries: Sequence[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield a policy for each question of decision events, unless no option can be recommended."""
    # Signatures and failure keys mask what varies, so that the same question has one key in all sessions.
    decisions_by_question: defaultdict[str, list[tuple[SessionSummary, Decision]]] = defaultdict(list)
    for summary in sorted(summaries, key=lambda session: session.session_id):
        for decision in summary.decisions:
            if decision.question and decision.chosen:
                decisions_by_question[failure_key(signature("", decision.question))].append((summary, decision))
    for key in sorted(decisions_by_question):
        options = _ranked(_decided_options(decisions_by_question[key]))
        if not _is_undecided(options, profile):
            yield _policy_from_decisions(key, decisions_by_question[key], options, profile)


def _is_undecided(options: Sequence[Option], profile: CompilerProfile) -> bool:
    """Whether no option can be recommended, because a rival of the best one is as well supported and as successful."""
    best, *rivals = options
    return best.seen.sessions >= profile.min_support and any(
        rival.seen.sessions >= profile.min_support and rival.seen.success_rate >= best.seen.success_rate
        for rival in rivals
    )


def _policy_from_decisions(
    key: str,
    decisions: Sequence[tuple[SessionSummary, Decision]],
    options: Sequence[Option],
    profile: CompilerProfile,
) -> ArtifactDraft:
    question = most_frequent(decision.question for _, decision in decisions)
    best = options[0]
    chosen_keys = {failure_key(signature("", option.name)) for option in options}
    alternatives = {
        failure_key(signature("", name)): name for _, decision in decisions for name in decision.alternatives
    }
    never_chosen = sorted(name for option_key, name in alternatives.items() if option_key not in chosen_keys)
    other_options = [
        *(_alternative(option.name, option) for option in options[1:]),
        *(
            {"description": name, "outcome": "never chosen so far", "chosen_count": 0, "success_rate": 0.0}
            for name in never_chosen[: max(0, _MOST_OPTIONS - len(options))]
        ),
    ]
    scope = list(dict.fromkeys(informative_words(question)))[:MOST_SCOPE_WORDS]
    content = {
        "condition": condition_of(question),
        "recommendation": best.name,
        "alternatives": other_options[:_MOST_OPTIONS],
        "outcomes": [_outcome(option) for option in options[:_MOST_OPTIONS]],
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
            ([decision.event_id, session.outcome_event_id] for session, decision in decisions), profile.max_evidence
        ),
        tags=tags(["decision", *scope]),
        metadata={"origin": "decisions", "decided": len(decisions)},
    )


def _decided_options(decisions: Iterable[tuple[SessionSummary, Decision]]) -> list[Option]:
    """The options chosen for one question; a decision without a verdict is judged by the outcome of its session."""
    choices_by_key: defaultdict[str, list[tuple[SessionSummary, bool | None, str]]] = defaultdict(list)
    names: defaultdict[str, list[str]] = defaultdict(list)
    for summary, decision in decisions:
        verdict = decision.verdict if decision.verdict is not None else summary.went_well
        key = failure_key(signature("", decision.chosen))
        choices_by_key[key].append((summary, verdict, decision.event_id))
        names[key].append(decision.chosen)
    return [Option(most_frequent(names[key]), tuple(choices_by_key[key])) for key in sorted(choices_by_key)]


def _choices(
    summaries: Sequence[SessionSummary], profile: CompilerProfile, kinds: Mapping[str, str]
) -> Iterator[tuple[str, list[Option]]]:
    """Yield each point of the work at which sessions chose between actions, with the options, best first.

    Points for which no advice is possible are left out.
    """
    points: defaultdict[str, dict[str, list[tuple[SessionSummary, bool | None, str]]]] = defaultdict(dict)
    for summary in sorted(summaries, key=lambda session: session.session_id):
        for point, step in _first_choices(summary):
            points[point].setdefault(step.action, []).append((summary, summary.went_well, step.event_id))
    for point in sorted(points):
        options = [Option(name, tuple(points[point][name])) for name in sorted(points[point])]
        ranked = _ranked(_competing(_frequent_options(options, profile), point))
        if len(ranked) < 2 or ranked[0].seen.success_rate < _HALF:
            continue
        branches = _branches(ranked)
        if _decides(branches) if branches else _clearly_best(ranked, kinds):
            yield point, ranked


def _competing(options: Sequence[Option], point: str) -> list[Option]:
    """The options of the same kind (lookup or change) as the most frequent one; empty if that is of another kind.

    Repeating the last action is not an option.
    """
    new_actions = [option for option in options if option.name != point.rstrip("!")]
    most_chosen = max(new_actions, key=lambda option: (option.count, option.name), default=None)
    if most_chosen is None or kind_of(most_chosen.name) not in {"lookup", "action"}:
        return []
    return [option for option in new_actions if kind_of(option.name) == kind_of(most_chosen.name)]


def _first_choices(summary: SessionSummary) -> Iterator[tuple[str, Step]]:
    """Yield each point that a session reaches, once, with the step taken when it was first reached.

    A point is "" at the start, else the name of the last action, with "!" if it failed. Thoughts are skipped.
    """
    reached: set[str] = set()
    last_action, failed = "", False
    for step in summary.steps:
        point = f"{last_action}!" if failed else last_action
        if kind_of(step.action) == "scratch":
            continue
        if point not in reached:
            reached.add(point)
            yield point, step
        last_action, failed = step.action, step.ok is False


def _frequent_options(options: Sequence[Option], profile: CompilerProfile) -> list[Option]:
    """The options that have a large enough share of all choices and were chosen in enough sessions."""
    total = sum(option.count for option in options)
    return [
        option
        for option in options
        if option.count >= profile.choice_share * total and option.seen.sessions >= profile.choice_support
    ]


def _distinguishable(options: Sequence[Option]) -> bool:
    """Whether conditions show in advance which option applies."""
    return bool(_branches(options))


def _decides(branches: Sequence[tuple[str, Option]]) -> bool:
    """Whether the options are alternatives, and not lookups of different things that work equally well.

    Lookups of different things need no advice: each is called when its inputs are known.
    """
    if branches[0][0].startswith(MENTIONS):
        return True
    options = [option for _, option in branches]
    return all(_find_the_same(option.name, options[0].name) for option in options[1:]) or _works_better(options)


def _find_the_same(name: str, other: str) -> bool:
    """Whether the names of two lookups say that they find the same thing by different keys.

    >>> _find_the_same("find_by_zip", "find_by_email"), _find_the_same("get_user_details", "get_order_details")
    (True, False)
    """
    parts, other_parts = (tool.partition("_by_") for tool in (name, other))
    return parts[:2] == other_parts[:2] if parts[1] else share_nouns(name, other)


def _branches(options: Sequence[Option]) -> list[tuple[str, Option]]:
    """The pairs (condition, option) of the options that have a condition and mostly work.

    Empty unless the two best options are among them, and all conditions have the same form: either all name inputs from
    the user, or all name words of the request.
    """
    conditions = [_condition_of(option, options) for option in options]
    branches = [
        (condition, option)
        for condition, option in zip(conditions, options, strict=True)
        if condition and _mostly_works(option)
    ]
    forms = {condition.startswith(MENTIONS) for condition, _ in branches}
    first_two = all(any(option is other for _, other in branches) for option in options[:2])
    return branches if first_two and len(forms) == 1 else []


def _mostly_works(option: Option) -> bool:
    return not option.worked.count or option.worked.success_rate >= _MOSTLY


def _clearly_best(options: Sequence[Option], kinds: Mapping[str, str]) -> bool:
    """Whether the first option succeeded significantly more often than the others.

    Only sessions with the same kind of request and the same agent are compared.
    """
    observed = [
        (f"{kinds.get(session.session_id, '')}|{session.agent_id}", option is options[0], went_well)
        for option in options
        for session, went_well, _ in option.choices
        if went_well is not None
    ]
    return significance(list(strata(observed).values())) >= _LEAST_SIGNIFICANCE


def _condition_of(option: Option, options: Sequence[Option]) -> str:
    """The condition under which only this option applies: what the user has given or mentioned; "" if there is none."""
    rivals = [rival for rival in options if rival is not option]
    rival_inputs = {name for rival in rivals for name in rival.inputs_from_user}
    if own_inputs := [name for name in option.inputs_from_user if name not in rival_inputs]:
        return f"the user has given {listed(own_inputs)}"
    rival_requests = [request for rival in rivals for request in rival.requests]
    option_terms = terms_of(option.name, option.steps)
    condition = what_requests_mention(option.requests, rival_requests, option_terms)
    return condition if condition and _predicts_choice(option.requests, rival_requests, option_terms) else ""


def _predicts_choice(requests: Sequence[str], rival_requests: Sequence[str], option_terms: AbstractSet[str]) -> bool:
    """Whether conditions learned from part of the requests predict the option of the others (cross-validation)."""
    predicted, correct = 0, 0
    for fold in range(_FOLDS):
        training, held_out = _split(requests, fold)
        rival_training, rival_held_out = _split(rival_requests, fold)
        words = set(terms(what_requests_mention(training, rival_training, option_terms).removeprefix(MENTIONS)))
        hits, false_alarms = (
            sum(bool(words & set(terms(request))) for request in group) for group in (held_out, rival_held_out)
        )
        predicted, correct = predicted + hits + false_alarms, correct + hits
    return correct >= _PRECISION * predicted and correct >= _HALF * len(requests)


def _split(requests: Sequence[str], fold: int) -> tuple[list[str], list[str]]:
    """The requests outside the fold with this number, and those inside it."""
    inside = [request for index, request in enumerate(requests) if index % _FOLDS == fold]
    return [request for index, request in enumerate(requests) if index % _FOLDS != fold], inside


def _choice_policy(
    goal_class: GoalClass | None, point: str, options: Sequence[Option], profile: CompilerProfile
) -> ArtifactDraft:
    """The policy for a point of the work, for one goal class or, if it is None, for all."""
    best, phrase = options[0], _point_phrase(point)
    task = class_name(goal_class, profile) if goal_class is not None else ""
    and_task = f" and the task is to {task}" if task else ""
    branches = _branches(options)
    rivals = listed([choice.name for choice in options[1:]], "or")
    scope = subjects([choice.name for choice in options])[:MOST_SCOPE_WORDS]
    choices = listed([choice.name for choice in options], "or") if branches else f"{best.name} rather than {rivals}"
    short_condition = f"When {phrase}" if point else "First step"
    full_condition = short_condition + (and_task if point else f" to {task}" if task else "")
    heading = f"{full_condition}: {choices}"
    other_choices = [choice for choice in options if all(choice is not branch for _, branch in branches)]
    content = {
        "condition": phrase + and_task,
        "recommendation": _recommendation(branches) if branches else _option_instruction(best, best.seen),
        "alternatives": [
            _alternative(instruction(choice.name), choice)
            for choice in other_choices[:_MOST_OPTIONS]
            if choice is not best
        ],
        "outcomes": [_outcome(choice) for choice in options[:_MOST_OPTIONS]],
        "scope": scope,
    }
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"choice:{goal_class.name if goal_class is not None else '*'}:{point}",
        title=title(heading if len(heading) <= LONGEST_TITLE else f"{short_condition}: {best.name}"),
        summary=f"{full_condition}: {_advice(options, branches)}.",
        content=content,
        seen=best.worked if branches else best.seen,
        source_events=evidence(
            ([event_id, *trail(session, ())] for option in options for session, _, event_id in option.choices),
            profile.max_evidence,
        ),
        tags=tags(["decision", *scope]),
        qualifiers=(f"to {task}",) if task else (),
        metadata={"origin": "choices", "tools": [choice.name for choice in options]},
    )


def _branch_sentences(branches: Iterable[tuple[str, str]]) -> str:
    """One sentence for each branch, which is a pair of condition and instruction.

    >>> _branch_sentences([("the request mentions staging", "apply"), ("the request mentions index", "psql")])
    'If the request mentions staging: apply. If it mentions index: psql'
    """
    sentences, previous = [], ""
    for condition, action_text in branches:
        same_form = previous.startswith(MENTIONS) and condition.startswith(MENTIONS)
        shortened = condition.replace(MENTIONS, "it mentions", 1) if same_form else condition
        sentences.append(f"If {shortened}: {action_text}")
        previous = condition
    return ". ".join(sentences)


def _recommendation(branches: Sequence[tuple[str, Option]]) -> str:
    """What to do under each condition; if the conditions name inputs, also what to do if the user has given several."""
    sentences = f"{_branch_sentences((when, _option_instruction(option, option.worked)) for when, option in branches)}."
    return (
        sentences
        if branches[0][0].startswith(MENTIONS)
        else sentences + _if_several([option for _, option in branches])
    )


def _if_several(options: Sequence[Option]) -> str:
    """What to do if several conditions hold; "" if no advice is possible.

    If all options nearly always work, any of them will do; otherwise one that works clearly more often is advised.
    """
    rates = {option.name: option.worked.success_rate for option in options}
    several, any_option = ("both", "either") if len(options) == 2 else ("several", "any of them")
    if min(rates.values()) >= _NEARLY_ALWAYS:
        return f" If {several} apply, {any_option} will do."
    best = min(rates, key=lambda name: (-rates[name], name))
    return f" If {several} apply, {best} works more often." if _works_better(options) else ""


def _works_better(options: Sequence[Option]) -> bool:
    """Whether the best of the options works clearly more often than the second best."""
    best, second = sorted((option.worked.success_rate for option in options), reverse=True)[:2]
    return best - second >= _CLEARLY_BETTER


def _option_instruction(option: Option, seen: Observations) -> str:
    """The instruction for an option, with how often it worked."""
    return noted(small(instruction(option.name)), _result_words(seen))


def _point_phrase(point: str) -> str:
    """The point of the work as a clause: "get_order is done"."""
    if not point:
        return "the work begins"
    return f"{point[:-1]} has failed" if point.endswith("!") else f"{point} is done"


def _advice(options: Sequence[Option], branches: Sequence[tuple[str, Option]]) -> str:
    """The advice: each option with its condition, or the best option with the reason."""
    if branches:
        return _branch_sentences((when, option.name) for when, option in branches)
    return f"{read_action(options[0].name).phrase} first; {_reason(options)}"


def _reason(options: Sequence[Option]) -> str:
    """The counts that support the first option, compared with those of at most two others."""
    judged = [rival for rival in options if rival.seen.count][:3]
    if not judged:
        return "how it went is not known so far"
    best, *rivals = judged
    rival_counts = listed([f"{rival.seen.successes} of {rival.seen.count} with {rival.name}" for rival in rivals])
    best_counts = f"it went well in {best.seen.successes} of {best.seen.count} sessions"
    return f"{best_counts}, against {rival_counts}" if rival_counts else best_counts


def _ranked(options: Sequence[Option]) -> list[Option]:
    return sorted(options, key=lambda option: (-option.seen.confidence, -option.count, option.name))


def _alternative(description: str, option: Option) -> dict[str, Any]:
    return {
        "description": description,
        "outcome": _result_words(option.worked),
        "chosen_count": option.count,
        "success_rate": option.worked.success_rate,
    }


def _outcome(option: Option) -> dict[str, Any]:
    """The outcome of an option; the event of its first choice serves as its source memory (HMX-A 4.3)."""
    return {
        "decision": option.name,
        "outcome": _result_words(option.worked),
        "positive": option.worked.success_rate >= _HALF,
        "source_memory_id": option.choices[0][2],
    }


def _result_words(seen: Observations) -> str:
    if not seen.count:
        return "outcome not known"
    return times(seen.successes, seen.count)
