"""What an event gives to remember: directives, preferences, stated facts, aims, state changes.

Each source of memories is looked at only where the text has one of its cues.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hmxgraph.extraction.entities.gathering import Gathering
from hmxgraph.extraction.memories import changes, directives, fact_rules, facts, goals, permissions, preferences
from hmxgraph.extraction.memories.drafts import fact_draft, lifted_draft, plain, policy_draft, preference_draft
from hmxgraph.extraction.memories.remembering import EVENT_TYPE, remembered
from hmxgraph.extraction.phrases import cues
from hmxgraph.extraction.sentences import LONGEST_TALK, plain_signs, sentences
from hmxgraph.extraction.values import MemoryDraft
from hmxgraph.extraction.voice import UNKNOWN, Voice
from hmxgraph.protocol.events import Event

MOST_MEMORIES = 8
# A first request stands at the start of a session, at most after a greeting.
FIRST_TURNS = 2


class Looked(NamedTuple):
    """What a text is worth looking through for."""

    orders: bool
    lifts: bool
    likes: bool
    tells: bool
    aims: bool


def memories(event: Event, voice: Voice, gathered: Gathering) -> tuple[MemoryDraft, ...]:
    """What *event* gives to remember, said by *voice*; at most eight, each once, in the order of its text."""
    if event.event_type == "state_change":
        return tuple(_changed(event, gathered))
    if event.event_type == EVENT_TYPE:
        return tuple(remembered(event.content))
    if voice.part not in {"user", "system", "peer"}:
        return ()
    text = event.content.get("comment" if event.event_type == "feedback" else "text")
    if not isinstance(text, str) or len(text) < 6:
        return ()
    said_by = "" if voice.subject == UNKNOWN else voice.subject
    found = (draft._replace(said_by=said_by) for draft in _said(event, plain_signs(text), voice))
    return tuple(dict.fromkeys(found))[:MOST_MEMORIES]


def _said(event: Event, text: str, voice: Voice) -> Iterator[MemoryDraft]:
    looked = _worth(text.lower(), voice)
    opens = voice.part == "user" and event.event_type == "message" and event.sequence < FIRST_TURNS
    if not opens and not any(looked):
        return
    found = sentences(text)
    if opens:
        yield from _request(found)
    teller = _introduced(found, voice) if looked.tells else voice.subject
    for sentence in found:
        yield from _of_sentence(sentence, voice, looked, teller)


def _introduced(found: list[str], voice: Voice) -> str:
    """Who tells facts: an unnamed user goes by the one name that the same text introduces him by."""
    if voice.subject != UNKNOWN:
        return voice.subject
    told = (fact for sentence in found for fact in facts.facts(sentence))
    names = {fact.object for fact in told if fact.predicate == "name" and not fact.subject}
    return names.pop() if len(names) == 1 else voice.subject


def _worth(lowered: str, voice: Voice) -> Looked:
    """An agent's own words, or those of people among each other, are no orders; a system prompt is nobody's self."""
    said = cues(lowered)
    person = voice.part != "system"
    bids = voice.part != "peer"
    return Looked(
        bids and (not person or directives.may_order(lowered[:LONGEST_TALK])),
        bids and not said.isdisjoint(permissions.CUES),
        person and (not said.isdisjoint(preferences.CUES) or _likes(lowered, said)),
        person and (not said.isdisjoint(fact_rules.CUES) or _tells(lowered, said)),
        person and not said.isdisjoint(goals.CUES),
    )


def _likes(lowered: str, said: frozenset[str]) -> bool:
    return not said.isdisjoint(preferences.COMMON) and bool(preferences.OF_ONESELF.search(lowered))


def _tells(lowered: str, said: frozenset[str]) -> bool:
    if "my" in said and fact_rules.OWN.search(lowered):
        return True
    return any(phrase in lowered for phrase in fact_rules.PHRASES)


def _of_sentence(sentence: str, voice: Voice, looked: Looked, teller: str) -> Iterator[MemoryDraft]:
    back = permissions.lifted(sentence) if looked.lifts else None
    if back:
        yield lifted_draft(back, "directive")
    order = directives.order(sentence, system=voice.part == "system") if looked.orders and not back else None
    if order:
        yield policy_draft(order.text, order.confidence, "directive", hard=order.hard, speaker=teller)
    like = preferences.preference(sentence) if looked.likes else None
    if like:
        yield preference_draft(like, _attributed(like.text, voice), voice.subject, "preference")
    for fact in facts.facts(sentence) if looked.tells else ():
        draft = fact_draft(fact, voice.subject if fact.predicate == "name" else teller, "statement")
        if draft:
            yield draft
    goal = goals.aim(sentence) if looked.aims else None
    if goal:
        text = _attributed(goal.text, voice)
        yield MemoryDraft("goal", text, goal.confidence, "statement", voice.subject, "aims at", goal.object)


def _attributed(text: str, voice: Voice) -> str:
    return text if voice.subject in {"", UNKNOWN} else f"{voice.subject}: {text}"


def _request(found: list[str]) -> Iterator[MemoryDraft]:
    for sentence in found[:6]:
        goal = goals.request(sentence)
        if goal:
            yield MemoryDraft("goal", goal.text, goal.confidence, "first_request", UNKNOWN, "wants", goal.object)
            return


def _changed(event: Event, gathered: Gathering) -> Iterator[MemoryDraft]:
    told = changes.change(event.content)
    if told:
        ref = gathered.add("concept", told.subject, 0.9)
        yield MemoryDraft(
            "fact",
            told.text,
            0.95,
            "state_change",
            told.subject,
            told.predicate,
            told.object,
            slot=f"{plain(told.subject)}\0{told.predicate.lower()}",
            about=(ref,) if ref else (),
        )
