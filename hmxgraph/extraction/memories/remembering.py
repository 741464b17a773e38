"""Memories given by hand: an event of a type of our own says what to remember, so that they have evidence too."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast, get_args

from hmxgraph.extraction.memories.drafts import fact_draft, lifted_draft, plain, policy_draft, preference_draft
from hmxgraph.extraction.memories.facts import facts
from hmxgraph.extraction.memories.permissions import lifted
from hmxgraph.extraction.memories.preferences import preference
from hmxgraph.extraction.values import BY_HAND, MemoryDraft, MemoryKind
from hmxgraph.extraction.voice import UNKNOWN

EVENT_TYPE = "x-hmxgraph-memory"
KINDS: tuple[str, ...] = get_args(MemoryKind)
# What is told by a name or a number is one at a time; by an adjective, one of many things that can be said of it.
_IS = re.compile(
    r"(?:(?:[Tt]he|[Oo]ur) (?=[a-zA-Z])|(?=[A-Z][\w-]*'s ))(?P<subject>[\w'][\w' -]{1,60}?)"
    r" (?:is|are)(?: now| currently| still)?"
    r" (?P<object>(?:in |at |on )?(?!The |A |An )[A-Z0-9`\"$\u20ac\u00a3][^,;!?]{0,60}?)[.!]?"
)


def remembered(content: Mapping[str, Any]) -> Iterator[MemoryDraft]:
    """The memory that an event of type ``x-hmxgraph-memory`` asks for; none where kind or text are missing.

    >>> [draft.hard for draft in remembered({"kind": "policy", "text": "Always verify rollout", "hard": True})]
    [True]
    """
    kind, text = content.get("kind"), content.get("text")
    if kind in KINDS and isinstance(text, str) and text.strip():
        yield draft(cast("MemoryKind", kind), text.strip(), hard=content.get("hard") is True)


def draft(kind: MemoryKind, text: str, *, hard: bool = False) -> MemoryDraft:
    """*text* as a memory of *kind* in its own words; what it says of whom is read from it where the rules can.

    So it meets, and takes the place of, what was said before about the same.

    >>> draft("fact", "Caroline lives in Boston").object
    'Boston'
    """
    return _read(kind, text, hard=hard)._replace(text=text, confidence=1.0)


def _read(kind: MemoryKind, text: str, *, hard: bool) -> MemoryDraft:
    back = lifted(text) if kind == "policy" else None
    if back:
        return lifted_draft(back, BY_HAND)._replace(hard=hard)
    if kind == "policy":
        return policy_draft(text, 1.0, BY_HAND, hard=hard)
    liked = preference(text) if kind == "preference" else None
    if liked:
        return preference_draft(liked, text, UNKNOWN, BY_HAND)
    if kind == "fact":
        told = list(filter(None, (fact_draft(fact, UNKNOWN, BY_HAND) for fact in facts(text))))
        return _together(told) if told else _matter(text)
    return MemoryDraft(kind, text, 1.0, BY_HAND)


def _together(told: Sequence[MemoryDraft]) -> MemoryDraft:
    """What one text tells: its first fact; where that is told of several things, of all of them, and of none alone.

    >>> draft("fact", "I'm allergic to nuts and latex").object
    'nuts and latex'
    """
    first = told[0]
    of_each = [one.object for one in told if one.predicate == first.predicate]
    return first if len(of_each) == 1 else first._replace(object=" and ".join(of_each), slot="")


def _matter(text: str) -> MemoryDraft:
    """A fact in words of its own; where it says who, how many or where something is, that is one at a time.

    >>> _matter("The release manager is Carla").slot == _matter("Our release manager is now Dan.").slot != ""
    True
    >>> _matter("The API is versioned").slot
    ''
    """
    found = _IS.fullmatch(text)
    if found is None:
        return MemoryDraft("fact", text, 1.0, BY_HAND)
    subject = found["subject"]
    return MemoryDraft("fact", text, 1.0, BY_HAND, subject, "is", found["object"], slot=f"{plain(subject)}\0is")
