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

# Shares of sessions, requests or examples.
_HALF, _OFTEN = 0.5, 0.3
# Maximum changes named, and maximum words considered as the noun of a name.
_MOST_CHANGES = 3
_MOST_TOPICS = 6


def class_name(goal_class: GoalClass, profile: CompilerProfile) -> str:
    """The name of a class: the phrase shared by its requests, else the purpose of its actions.

    If many changes are usual, only those of nearly all examples are named. If none is usual, or if one is a
    general-purpose program, the class is named after words of its requests where possible. A class without changes is
    named after what its sessions look up.
    """
    requests = [example.request for example in goal_class.examples if example.request]
    for find_phrase in (common_complaint, common_phrase):
        if name := find_phrase(requests, profile.title_share):
            return name
    if not any(is_action(name) for name, _ in goal_class.steps):
        return _name_without_changes(goal_class)
    changes = {name: share for name, share in goal_class.steps if is_action(name)}
    usual = [name for name in changes if changes[name] >= _HALF]
    named = [name for name in usual if len(usual) <= _MOST_CHANGES or changes[name] >= profile.required_share]
    named = (named or most_first(changes))[:_MOST_CHANGES]
    if (not usual or any(map(serves_any_purpose, named))) and (name := _request_name(requests)):
        return name
    return goal_phrase(named, conjunction(named, goal_class.examples))


def conjunction(actions: Sequence[str], sessions: Sequence[SessionSummary]) -> str:
    """The word that joins these actions: "and" if most sessions took all of them without failing, else "or"."""
    actions_by_session = [{step.action for step in session.steps if step.ok is not False} for session in sessions]
    return "and" if sum(names.issuperset(actions) for names in actions_by_session) > _HALF * len(sessions) else "or"


def _name_without_changes(goal_class: GoalClass) -> str:
    """The name of a class without changes, such as "answer a question about the order".

    It begins with "decline or hand over" if many sessions were handed over, with "answer or decline" if many requests
    ask for a change.
    """
    names = [name for name, _ in goal_class.steps]
    subjects = looked_up_subjects(names)
    if subjects and is_handed_over(goal_class):
        return f"decline or hand over requests about {subjects}"
    if subjects and change_is_asked_for(goal_class):
        return f"answer or decline requests about {subjects}"
    return goal_phrase(names)


def _request_name(requests: Sequence[str]) -> str:
    """A name made of a verb that many requests share and a noun that at least half of them mention.

    "" if either is missing, or if few requests use the noun as the object of the verb or after a preposition.

    >>> _request_name(["Please deploy catalog to staging", "Deploy search to staging now"])
    'deploy to staging'
    >>> _request_name(["Please add an export to the report page", "Add a switch to the settings page"])
    'add something to the page'
    >>> _request_name(["Please upgrade the numpy dependency", "Could you upgrade the old pydantic dependency"])
    'upgrade the dependency'
    """
    verb_counts = Counter(word for request in requests for word in set(words(request)) & REQUEST_VERBS)
    shared_verbs = (word for word in most_first(verb_counts) if verb_counts[word] >= _OFTEN * len(requests))
    verb = next((word for word in shared_verbs if asked_to(word, requests)), "")
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
    """The negated sum of the positions of *noun* in the requests; the topic of a request tends to come first."""
    positions = [(request.lower().find(noun), len(request)) for request in requests]
    return -sum(position if position >= 0 else length for position, length in positions)


def change_is_asked_for(goal_class: GoalClass) -> bool:
    """Whether many sessions of the class request a change."""
    return sum(map(asks_for_change, goal_class.requests)) > _OFTEN * len(goal_class.members)


def is_handed_over(goal_class: GoalClass) -> bool:
    """Whether many sessions of the class were handed over."""
    handed_over = (any(kind_of(action) == "handover" for action in member.actions) for member in goal_class.members)
    return sum(handed_over) > _OFTEN * len(goal_class.members)
