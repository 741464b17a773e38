"""Memories from what the rules found: their words, whom they are about, and the question they answer."""

import re

from hmxgraph.extraction.memories.facts import Fact
from hmxgraph.extraction.memories.permissions import Lifted
from hmxgraph.extraction.memories.preferences import Preference
from hmxgraph.extraction.values import MemoryDraft, Ref
from hmxgraph.extraction.voice import UNKNOWN
from hmxgraph.text.opposition import stance
from hmxgraph.text.terms import signs, words

_ATTITUDES = frozenset({"likes", "dislikes"})
_OF_ONESELF = re.compile(r"\b(?:me|my|mine|myself|I)\b(?!/)")


def policy_draft(
    text: str, confidence: float, method: str, *, hard: bool = False, speaker: str = UNKNOWN
) -> MemoryDraft:
    """*text* as a policy: a later one that says the opposite about the same takes its place.

    What a known *speaker* wants for himself goes by his name, and leaves alone what others want for themselves.

    >>> policy_draft("Never phone me", 0.9, "directive", speaker="Ann").text
    'Ann: Never phone me'
    >>> policy_draft("Never push to main", 0.9, "directive", speaker="Ann").text
    'Never push to main'
    """
    whose = speaker if speaker != UNKNOWN and _OF_ONESELF.search(text) else ""
    about, against = stance(text)
    topic = " ".join(filter(None, (*sorted(about), signs(text)))) if about else ""
    own = f"\0{plain(whose)}" if whose else ""
    return MemoryDraft(
        "policy",
        f"{whose}: {text}" if whose else text,
        confidence,
        method,
        predicate="forbids" if against else "demands",
        hard=hard,
        slot=f"policy\0{topic}{own}" if topic else "",
    )


def lifted_draft(found: Lifted, method: str) -> MemoryDraft:
    """A rule taken back as a policy: another answer to the question that the rule answers."""
    draft = policy_draft(found.matter, found.confidence, method)
    need_not = found.need_not != (draft.predicate == "forbids")
    predicate = "lifts" if found.forgotten else "waives" if need_not else "allows"
    return draft._replace(text=found.text, predicate=predicate)


def preference_draft(found: Preference, text: str, subject: str, method: str) -> MemoryDraft:
    """A preference of *subject*: liking and disliking the same exclude each other, as do the two sides of a choice."""
    about, name = (found.object, "attitude") if found.predicate in _ATTITUDES else (" ".join(found.choice), "choice")
    topic = plain(about)
    slot = f"{plain(subject)}\0{name}\0{topic}" if topic else ""
    return MemoryDraft("preference", text, found.confidence, method, subject, found.predicate, found.object, slot=slot)


def fact_draft(fact: Fact, speaker: str, method: str) -> MemoryDraft | None:
    """A fact about its subject or who speaks; None for what only identifies somebody unknown."""
    unknown = not fact.subject and speaker == UNKNOWN
    subject = fact.subject.replace("{subject}", speaker) or speaker
    known = speaker if fact.subject.startswith("{subject}") else subject
    if subject == fact.object or (fact.passing and unknown and fact.predicate != "name"):
        return None
    text = fact.text.replace("{subject}", speaker)
    return MemoryDraft(
        "fact",
        f"{text[:1].upper()}{text[1:]}.",
        fact.confidence,
        method,
        subject,
        fact.predicate,
        fact.object,
        slot="" if fact.passing and unknown else _question(fact, subject),
        about=() if known == UNKNOWN else (Ref("person", plain(known)),),
    )


def _question(fact: Fact, subject: str) -> str:
    """The slot of a fact that is one at a time, or that may be so or not."""
    asked = fact.predicate if fact.single else plain(fact.matter)
    return f"{plain(subject)}\0{asked}" if asked else ""


def plain(subject: str) -> str:
    """*subject* as slots name it."""
    return " ".join(words(subject))
