"""Suggestions for a running session: likely next tools, recovery steps and matching artifacts."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, pairwise
from math import fsum
from typing import Any

from hmxgraph.compiler._next_after_failure import as_the_error_asks
from hmxgraph.compiler._routines import ROUTINE
from hmxgraph.compiler._verbs import instruction, is_action, read_action, serves_any_purpose
from hmxgraph.compiler._vocabulary import informative_words
from hmxgraph.compiler.compilation import Model
from hmxgraph.compiler.failures import failure_key
from hmxgraph.compiler.goal_classes import expected, fit
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Situation
from hmxgraph.protocol.artifacts import steps_of, texts
from hmxgraph.protocol.suggestions import SuggestedStep, SuggestedTool, Suggestion
from hmxgraph.text.terms import terms, words

# Maximum tools suggested, and maximum expected changes for which steps are suggested without a task schema.
_MOST_TOOLS, _MOST_CHANGES = 10, 3
# Weight of the recoveries of playbooks in the probabilities of the next tools.
_PLAYBOOK_SHARE = 0.15
# Number of tries after which a tool that never worked is ruled out.
_TRIED_OFTEN = 2
_HALF = 0.5
# A session's own habit is an action that followed the same actions earlier in the session. It needs at least this many
# earlier occurrences to weigh as much as the model.
_OWN_HABIT = 5
# Maximum recent actions from which an own habit predicts the next one. Of 673 next actions in coding sessions, 50.2 %
# were predicted with up to two recent actions, 50.5 % with up to three.
_LONGEST_HABIT = 3
# An announcement is the agent's message right before an action. If the similarities of earlier announcements to the
# current one add up to this number, they weigh as much as one earlier occurrence of an own habit.
_OWN_ANNOUNCEMENT = 0.04
# Values of ``Situation.since`` that mean that the agent's message came last; "both" if it answers a user's message.
_ANNOUNCING = frozenset({"assistant", "both"})
# If all words of an action's name were announced, its probability is multiplied by one plus this gain, before all
# probabilities are scaled to one. The smoothing is added first, so that the factor can raise a probability of 0.
_ANNOUNCEMENT_GAIN, _SMOOTHING = 12.0, 0.002
# Probability from which the model is sure of a change, and the probability given to a change that the request names.
_SURE, _NAMED = 0.5, 1.0
# If the model is sure of a change: factors on the odds of named changes and of others, and the minimum probability
# of a named one.
_IF_NAMED, _IF_NOT_NAMED, _LEAST_NAMED = 2.7, 0.6, 0.01
# Stands for the index of a step's last call if the step was not taken.
_NOT_TAKEN = -1
# Words after which the object of a verb begins: "returning an item".
_BEFORE_OBJECTS = frozenset(words("a all an any both each every my one our some that the these this those two"))
# The words of an action's name.
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


@dataclass(frozen=True, slots=True)
class Guide:
    """The fields of an active artifact that suggestions need."""

    artifact_id: str
    artifact_type: str
    title: str
    content: Mapping[str, Any]
    metadata: Mapping[str, Any]
    confidence: float
    observed_count: int = 0


def suggest(
    running: SessionSummary, model: Model, guides: Sequence[Guide], profile: CompilerProfile = DEFAULT_PROFILE
) -> Suggestion:
    """The next tools and steps for the session *running*, from the tenant's model and its active artifacts."""
    ordered = sorted(guides, key=lambda guide: guide.artifact_id)
    chances = predicted_actions(running.request, running.actions, model)
    # Leave out routines: they end a piece of work, and the request does not show when a piece of work ends.
    candidates = [guide for guide in ordered if guide.metadata.get("origin") != ROUTINE]
    schema = fitting_schema(chances, running.actions, candidates, profile)
    playbooks = _playbooks(running, ordered)
    # Suggest no tool for a request unlike any before, even if some action is usual in all sessions.
    is_unfamiliar = not chances and bool(informative_words(running.request))
    chances_next = {} if is_unfamiliar else _chances_next(model, running)
    recoveries = {playbook.artifact_id: list(_recoveries(playbook, _failed_action(running))) for playbook in playbooks}
    tools = _tools(chances_next, chain.from_iterable(recoveries.values()))
    supporting = _supporting_artifacts(schema, recoveries, ordered)
    ahead: dict[str, Any] = (
        _ahead(schema, running.actions) if schema else {"steps": _usual_steps(chances, running.actions, model, profile)}
    )
    return Suggestion(
        tools=tuple(
            SuggestedTool(name, chance, tuple(supporting.get(name, ()))) for name, chance in tools[:_MOST_TOOLS]
        ),
        recovery=tuple(step for guide in playbooks for step in texts(guide.content.get("recovery_steps"))),
        **ahead,
    )


def predicted_actions(request: str, actions: Iterable[str], model: Model) -> dict[str, float]:
    """For each action, the probability that a session with this request takes it; 1 for the *actions* taken already.

    Actions unrelated to the request and to the actions taken are omitted, even if they are usual. If the model is sure
    of no change, the changes that the request names replace those that the model predicts. If it is sure of one, the
    odds of named changes are raised and those of other changes lowered.
    """
    taken_actions = tuple(actions)
    related = model.goals.related_actions(request, taken_actions)
    chances = model.goals.chances(request) if request and related else {}
    related_chances = {name: chance for name, chance in chances.items() if name in related}
    named_changes = (
        frozenset(_named_changes(request, related_chances, model.goals.actions)) if related_chances else frozenset()
    )
    adapted_chances = _with_named_changes(named_changes, related_chances) if named_changes else related_chances
    return adapted_chances | dict.fromkeys(taken_actions, 1.0)


def _with_named_changes(named: AbstractSet[str], chances: Mapping[str, float]) -> dict[str, float]:
    """*chances*, adapted to the changes *named* in the request as :func:`predicted_actions` describes."""
    others = {name: chance for name, chance in chances.items() if not is_action(name)}
    changes = {name: chance for name, chance in chances.items() if is_action(name)}
    if all(chance < _SURE for chance in changes.values()):
        return others | dict.fromkeys(named, _NAMED)
    changes |= {name: max(changes.get(name, 0.0), _LEAST_NAMED) for name in named}
    factors = {name: _IF_NAMED if name in named else _IF_NOT_NAMED for name in changes}
    return others | {name: _times_odds(chance, factors[name]) for name, chance in changes.items()}


def _times_odds(chance: float, factor: float) -> float:
    """The probability whose odds are those of *chance* times *factor*.

    >>> _times_odds(0.5, 3.0)
    0.75
    """
    return factor * chance / (1 - chance + factor * chance)


def _named_changes(request: str, chances: Mapping[str, float], actions: Iterable[str]) -> Iterator[str]:
    """Yield, for each verb of the request that begins the name of a change, the change that shares most words with it.

    Of several changes with the same verb, the most probable of those that share the most words is taken.
    """
    request_words, request_terms = words(request), set(terms(request))
    # "Help with returning an item" asks for a return; "the item that I returned" and "my booking" do not ask for a
    # change.
    gerunds = (word for word, after in pairwise(request_words) if word.endswith("ing") and after in _BEFORE_OBJECTS)
    verbs = {*request_words, *terms(" ".join(gerunds))}
    by_verb: defaultdict[str, list[str]] = defaultdict(list)
    for name in filter(is_action, sorted(actions)):
        verb = read_action(name).verb
        if not verbs.isdisjoint({verb, *terms(verb)}) and verb in words(name.replace("_", " ")):
            by_verb[verb].append(name)
    for changes in by_verb.values():
        yield max(
            changes,
            key=lambda name: (
                len(request_terms.intersection(terms(read_action(name).subject))),
                chances.get(name, 0.0),
            ),
        )


def fitting_schema(
    chances: Mapping[str, float], done: Iterable[str], guides: Iterable[Guide], profile: CompilerProfile
) -> Guide | None:
    """The task schema that fits these *chances* best; None if none fits.

    A schema fits if all its actions are expected, or if its changes are exactly the expected ones. If all expected
    actions were *done* already, it fits if it has any action in *chances*.
    """
    likely = expected(chances, profile)
    all_done = likely.issubset(done)
    schemas = [
        guide
        for guide in guides
        if guide.artifact_type == "task_schema"
        and (
            not chances.keys().isdisjoint(_goal_actions(guide))
            if all_done
            else _is_expected(_goal_actions(guide), likely)
        )
    ]
    return max(
        schemas,
        key=lambda guide: (fit(_goal_actions(guide), chances, profile), guide.observed_count, guide.artifact_id),
        default=None,
    )


def _is_expected(actions: Iterable[str], likely: frozenset[str]) -> bool:
    """Whether all *actions* of a schema are likely, or its changes are exactly the likely ones."""
    changes = set(filter(is_action, actions))
    return likely.issuperset(actions) or (bool(changes) and changes == set(filter(is_action, likely)))


def _goal_actions(guide: Guide) -> list[str]:
    """The actions by which a task schema is recognised."""
    return list(texts(guide.metadata.get("goal_actions")) or texts(guide.content.get("tools_used")))


def _playbooks(running: SessionSummary, guides: Sequence[Guide]) -> list[Guide]:
    """The playbooks for the latest failure, if the session has not taken an action since."""
    if not running.ahead.failure:
        return []
    key = failure_key(running.ahead.failure)
    return [
        guide
        for guide in guides
        if guide.artifact_type == "failure_playbook"
        and key in {guide.metadata.get("failure_key"), *texts(guide.metadata.get("failure_keys"))}
    ]


def _chances_next(model: Model, running: SessionSummary) -> dict[str, float]:
    """The probabilities of the next actions: by the model, the session's own habits, its last message and an error."""
    return as_the_error_asks(_as_announced(_with_own_habits(model, running), running), running, model.inputs)


def _with_own_habits(model: Model, running: SessionSummary) -> dict[str, float]:
    """The model's probabilities mixed with the session's own habits.

    The habits are the actions that earlier followed the same one, two or three last actions, and those announced in
    similar words. Their weight grows with their number and shrinks with the number of sessions that the model knows.
    """
    chances, actions = dict(model.habits.chances(running)), running.actions
    prior = max(_OWN_HABIT, len(model.goals.exemplars))
    for length in range(1, _LONGEST_HABIT + 1):
        recent = tuple(actions[-length:])
        starts = [start for start in range(len(actions) - length) if tuple(actions[start : start + length]) == recent]
        chances = _mixed(chances, Counter(actions[start + length] for start in starts), prior)
    return _mixed(chances, _similar_announcements(running), _OWN_ANNOUNCEMENT * prior)


def _similar_announcements(running: SessionSummary) -> dict[str, float]:
    """For each action, how similar its earlier announcements are to the current one.

    The similarity is the sum of squared Jaccard indexes of their terms.
    """
    latest, similarities = _announcement(running.ahead), defaultdict[str, float](float)
    for step in running.steps if latest else ():
        earlier = _announcement(step.situation)
        similarities[step.action] += (len(latest & earlier) / len(latest | earlier)) ** 2
    return {action: similarity for action, similarity in similarities.items() if similarity}


def _announcement(situation: Situation) -> frozenset[str]:
    """The search terms of the agent's last message, if nothing came after it; else empty."""
    return frozenset(situation.said.split()) if situation.since in _ANNOUNCING else frozenset()


def _mixed(chances: Mapping[str, float], votes: Mapping[str, float], prior: float) -> dict[str, float]:
    """The *chances* mixed with *votes*; the votes have half of the weight if their sum is *prior*."""
    total = fsum(votes.values())
    votes_share = total / (total + prior)
    return {
        name: (1 - votes_share) * chances.get(name, 0.0)
        + (votes_share * votes.get(name, 0.0) / total if total else 0.0)
        for name in sorted(chances.keys() | votes.keys())
    }


def _as_announced(chances: Mapping[str, float], running: SessionSummary) -> dict[str, float]:
    """The probabilities, raised for actions whose names share words with the current announcement."""
    message_words = _announcement(running.ahead)
    if not message_words:
        return dict(chances)
    raised = {
        name: (chance + _SMOOTHING) * (1 + _ANNOUNCEMENT_GAIN * _overlap(name, message_words))
        for name, chance in chances.items()
    }
    total = sum(raised.values()) or 1.0
    return {name: chance / total for name, chance in raised.items()}


def _overlap(action: str, message_words: AbstractSet[str]) -> float:
    """The share of the words of an action's name that are in *message_words*."""
    name_words = set(terms(" ".join(_WORDS.findall(action)).lower()))
    return len(name_words & message_words) / len(name_words) if name_words else 0.0


def _tools(chances: Mapping[str, float], recoveries: Iterable[tuple[str, int, int]]) -> list[tuple[str, float]]:
    """Every tool with its probability, highest first.

    After a failure, the *recoveries* that worked, given as (tool, tries, successes), are mixed in. If one of them
    usually worked, the probabilities of those that worked less than half of the time are multiplied by their estimated
    success rate. Tools that were tried repeatedly and never worked get the probability 0.
    """
    worked_counts: defaultdict[str, int] = defaultdict(int)
    tried_counts: defaultdict[str, int] = defaultdict(int)
    for tool, tried, helped in recoveries:
        tried_counts[tool] += tried
        worked_counts[tool] += helped
    never_worked = {tool for tool, tried in tried_counts.items() if tried >= _TRIED_OFTEN and not worked_counts[tool]}
    total = sum(worked_counts.values())
    if total:
        share = _PLAYBOOK_SHARE if chances else 1.0
        chances = {
            name: (1 - share) * chances.get(name, 0.0) + share * worked_counts[name] / total
            for name in sorted(chances.keys() | worked_counts.keys())
        }
        rates = {name: worked_counts[name] / tried_counts[name] for name in tried_counts if tried_counts[name]}
        one_usually_worked = any(rate >= _HALF for rate in rates.values())
        # Estimated by the rule of succession, because a single failure does not show that a tool never works.
        estimated_rates = {
            name: (worked_counts[name] + 1) / (tried_counts[name] + 2)
            for name, rate in rates.items()
            if one_usually_worked and rate < _HALF
        }
        chances = {name: chance * estimated_rates.get(name, 1.0) for name, chance in chances.items()}
    final = {name: 0.0 if name in never_worked else chance for name, chance in chances.items()}
    return sorted(((name, round(chance, 4)) for name, chance in final.items()), key=lambda pair: (-pair[1], pair[0]))


def _supporting_artifacts(
    schema: Guide | None, recoveries_by_playbook: Mapping[str, Sequence[tuple[str, int, int]]], guides: Sequence[Guide]
) -> dict[str, list[str]]:
    """For each tool, the ids of the artifacts that recommend it: the schema, playbooks and policies.

    *recoveries_by_playbook* holds the recoveries of each playbook, by its id.
    """
    supporting: defaultdict[str, list[str]] = defaultdict(list)
    if schema is not None:
        for tool in texts(schema.content.get("tools_used")):
            supporting[tool].append(schema.artifact_id)
    for artifact_id, recoveries in recoveries_by_playbook.items():
        for tool in (tool for tool, _, worked in recoveries if worked):
            supporting[tool].append(artifact_id)
    for guide in guides:
        if guide.artifact_type == "decision_policy":
            for tool in texts(guide.metadata.get("tools"))[:1]:  # The first tool is the recommended one.
                supporting[tool].append(guide.artifact_id)
    return supporting


def _failed_action(running: SessionSummary) -> str:
    """The action that failed last; "" if it is not known."""
    failed = running.failures[-1].step if running.failures else -1
    return running.steps[failed].action if failed >= 0 else ""


def _recoveries(playbook: Guide, failed: str) -> Iterator[tuple[str, int, int]]:
    """Yield (tool, tries, successes) for each tool tried after the failure, from the metadata of *playbook*.

    Recoveries recorded for another action than the *failed* one are left out.
    """
    recoveries = playbook.metadata.get("recoveries")
    for recovery in recoveries if isinstance(recoveries, list) else ():
        match recovery:
            case {"tool": str(tool), "used": int(used), "helped": int(helped)}:
                if recovery.get("after", failed) == failed:
                    yield tool, used, helped


def _reached(steps: Sequence[tuple[int, Sequence[str]]], actions: Sequence[str]) -> int:
    """The number of the last step taken; 0 if none was. *steps* are given as (number, tools).

    A step whose tools all occur in earlier steps, such as a final check, counts only if one of its tools was called
    after the last call of the nearest earlier step with other tools.
    """
    last_calls = {action: index for index, action in enumerate(actions)}
    # The last call of each earlier step, with the tools of that step.
    earlier_steps = list[tuple[Sequence[str], int]]()
    reached, known_tools = 0, set[str]()
    for number, tools in steps:
        last_call = max((last_calls[tool] for tool in tools if tool in last_calls), default=_NOT_TAKEN)
        if known_tools.issuperset(tools):
            with_other_tools = (
                index for step_tools, index in reversed(earlier_steps) if set(step_tools).difference(tools)
            )
            other_call = next(with_other_tools, _NOT_TAKEN)
            last_call = last_call if _NOT_TAKEN < other_call < last_call else _NOT_TAKEN
        if last_call != _NOT_TAKEN:
            reached = number
        known_tools.update(tools)
        earlier_steps.append((tools, last_call))
    return reached


def _ahead(schema: Guide, actions: Sequence[str]) -> dict[str, Any]:
    """The fields of a suggestion that follow from *schema*: the progress of the session and the remaining steps."""
    steps = steps_of(schema.content)
    current = _reached([(step.order, step.tools) for step in steps], actions)
    return {
        "artifact_id": schema.artifact_id,
        "title": schema.title,
        "confidence": schema.confidence,
        "current_step": current,
        "total_steps": len(steps),
        "steps": tuple(SuggestedStep(*step, schema.artifact_id) for step in steps if step.order > current),
    }


def _usual_steps(
    chances: Mapping[str, float], done: Sequence[str], model: Model, profile: CompilerProfile
) -> tuple[SuggestedStep, ...]:
    """The remaining steps if no schema fits: the expected actions in the order in which sessions usually took them.

    Empty if many changes or general-purpose programs are expected: sessions tried these one after another, so their
    order is not a procedure.
    """
    likely = expected(chances, profile)
    if sum(map(is_action, likely)) > _MOST_CHANGES or any(map(serves_any_purpose, likely)):
        return ()
    return tuple(
        SuggestedStep(order, instruction(action), (action,), optional=chances[action] < _HALF, artifact_id=None)
        for order, action in enumerate(model.goals.in_order(likely.difference(done)), start=1)
    )
