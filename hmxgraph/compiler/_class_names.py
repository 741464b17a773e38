"""The names of goal classes: a phrase that their requests share, else the purpose of their actions."""

from collections import Counter
from collections.abc import Sequence

from hmxgraph.compiler._verbs import is_action, kind_of, serves_any_purpose
from hmxgraph.compiler._vocabulary import OBJECT_VERBS, REQUEST_VERBS, TROUBLES
from hmxgraph.compiler._wording import (
    asked_to,
    asks_for_change,
    common_complaint,
    common_phrase,
    common_topics,
    goal_phrase,
    link_between,
    looked_up_subjects,
)
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.terms import most_first, words

# Shares of sessions, requests or examples; maximum changes in a name, and words considered as its noun.
_HALF, _OFTEN = 0.5, 0.3
_MOST_CHANGES = 3
_MOST_TOPICS = 6


def class_name(goal_class: GoalClass, profile: CompilerProfile) -> str:
    """The name of a class: the phrase shared by its requests, else the purpose of its actions.

    If many changes are usual, only those of nearly all examples count. If none is usual, or if one is a general-purpose
    program, the words of the requests name the class where possible. A class without changes is named by what its
    sessions look up.
    """
    requests = [example.request for example in goal_class.examples if example.request]
    for phrase in (common_complaint, common_phrase):
        if name := phrase(requests, profile.title_share):
            return name
    if not any(is_action(name) for name, _ in goal_class.steps):
        return _answer(goal_class)
    changes = {name: share for name, share in goal_class.steps if is_action(name)}
    often = [name for name in changes if changes[name] >= _HALF]
    usual = [name for name in often if len(often) <= _MOST_CHANGES or changes[name] >= profile.required_share]
    usual = (usual or most_first(changes))[:_MOST_CHANGES]
    if (not often or any(map(serves_any_purpose, usual))) and (name := _request_name(requests)):
        return name
    return goal_phrase(usual, conjunction(usual, goal_class.examples))


def conjunction(actions: Sequence[str], sessions: Sequence[SessionSummary]) -> str:
    """The word that joins these actions: "and" if most sessions took all of them without failing, else "or"."""
    actions_by_session = [{step.action for step in session.steps if step.ok is not False} for session in sessions]
    return "and" if sum(names.issuperset(actions) for names in actions_by_session) > _HALF * len(sessions) else "or"


def _answer(goal_class: GoalClass) -> str:
    """The name of a class without changes, such as "answer a question about the order".

    It says "decline or hand over" if many sessions were handed over, "answer or decline" if many asked for a change.
    """
    names = [name for name, _ in goal_class.steps]
    about = looked_up_subjects(names)
    if about and is_handed_over(goal_class):
        return f"decline or hand over requests about {about}"
    if about and change_is_asked_for(goal_class):
        return f"answer or decline requests about {about}"
    return goal_phrase(names)


def _request_name(requests: Sequence[str]) -> str:
    """A name made of the verb that many requests share and a topic of at least half of them.

    "" if either is missing, or if few requests use the topic as the object of the verb or after a preposition.

    >>> _request_name(["Please deploy catalog to staging", "Deploy search to staging now"])
    'deploy to staging'
    >>> _request_name(["Please add an export to the report page", "Add a switch to the settings page"])
    'add something to the page'
    >>> _request_name(["Please upgrade the numpy dependency", "Could you upgrade the old pydantic dependency"])
    'upgrade the dependency'
    """
    verbs = Counter(word for request in requests for word in set(words(request)) & REQUEST_VERBS)
    often = (word for word in most_first(verbs) if verbs[word] >= _OFTEN * len(requests))
    verb = next((word for word in often if asked_to(word, requests)), "")
    topics = common_topics(requests, _HALF, _MOST_TOPICS)
    nouns = [word for word in topics if word != verb and word not in REQUEST_VERBS | TROUBLES]
    if not verb or not nouns:
        return ""
    pairs = Counter(
        (noun, link)
        for request in requests
        for noun in nouns
        if (link := link_between(verb, noun, request)) is not None
    )
    (noun, link), count = max(
        pairs.items(), key=lambda pair: (pair[1], _earliness(pair[0][0], requests), pair[0]), default=(("", ""), 0)
    )
    target = f"something {link}" if verb in OBJECT_VERBS and link != "the" else link
    return f"{verb} {target} {noun}" if count >= _OFTEN * len(requests) else ""


def _earliness(noun: str, requests: Sequence[str]) -> int:
    """The negated sum of the positions of *noun* in the requests: the topic of a request tends to come first."""
    places = [(request.lower().find(noun), len(request)) for request in requests]
    return -sum(place if place >= 0 else length for place, length in places)


def change_is_asked_for(goal_class: GoalClass) -> bool:
    """Whether a fair share of the class's sessions request a change."""
    return sum(map(asks_for_change, goal_class.requests)) > _OFTEN * len(goal_class.members)


def is_handed_over(goal_class: GoalClass) -> bool:
    """Whether a fair share of the class's sessions were handed over."""
    handed_over = (any(kind_of(action) == "handover" for action in member.actions) for member in goal_class.members)
    return sum(handed_over) > _OFTEN * len(goal_class.members)
