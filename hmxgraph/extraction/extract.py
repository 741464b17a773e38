"""Everything worth keeping in one event: entities, relations and memories."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args

from hmxgraph.extraction import _directives, _fact_rules, _facts, _preferences
from hmxgraph.extraction._directives import Lifted, lifted
from hmxgraph.extraction._facts import Fact, facts
from hmxgraph.extraction._preferences import Preference, preference
from hmxgraph.extraction.entities import Gathering, read
from hmxgraph.extraction.language import (
    BASE_VERBS,
    BY_HAND,
    LONGEST_TALK,
    UNKNOWN,
    Extraction,
    MemoryDraft,
    MemoryKind,
    Mention,
    Ref,
    Voice,
    cues,
    plain_signs,
    sentences,
    voice_of,
)
from hmxgraph.protocol.events import Event
from hmxgraph.text.comparison import stance
from hmxgraph.text.terms import signs, words

# Memories from what the rules found: their words, whom they are about, and the question they answer.

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


def _preference_draft(found: Preference, text: str, subject: str, method: str) -> MemoryDraft:
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


# What somebody wants to reach: the first request of a session, and aims stated as such.

_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|thanks|ok|okay|so|yes|sure|please|well"
    r"|dear)\b(?: there| again| everyone| team| all)?[\s,.!-]*)+",
    re.IGNORECASE,
)
_VERB = r"(?P<verb>[a-z][a-z-]+)"
_REQUESTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:can|could|would|will) you (?:please |kindly )?(?:help me (?:to |with )?)?{_VERB}",
        rf"(?:i|we)(?: would|'d) (?:really )?like (?:you )?to {_VERB}",
        rf"(?:i|we)(?: really| just| urgently)? (?:want|need|have)(?: you)? to {_VERB}",
        rf"(?:i|we)(?:'m| am|'re| are) (?:trying|looking|hoping|calling|writing|reaching out|here) to {_VERB}",
        rf"(?:please )?help me (?:to |with )?{_VERB}",
        r"(?:i|we)(?: really)? need (?:some )?(?:help|assistance|support) (?:with |in )(?P<verb>[a-z]+)",
        (
            r"(?:i|we)(?:'m| am|'re| are| keep) (?:having|experiencing|running into|seeing|getting) "
            r"(?P<verb>(?:some |a lot of |an? |ongoing |serious |real )*(?:trouble|problem|issue|difficult|error))"
        ),
    )
)
_EMPTY = re.compile(
    r"(?:(?:help|assist|do|know|ask|see|look|talk|speak|be|get|let|start|have|hear|explain)\b(?: (?:me|you|us|with"
    r"|that|this|it|out|to|into|please|somebody|someone|a human|an agent|a few|some|questions?|something|things?))*"
    r"|(?:with |in )?(?:that|this|it|something|an?|my|the|some|(?:a )?(?:couple(?: of)?|few)|two|three)? ?"
    r"(?:issues?|problems?|things?|questions?|requests?|trouble|changes?)?)\W*$",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:that|this|it|them|those|these|there|here|above|below|same)\b", re.IGNORECASE)
# A verb in its plain form that is a noun here, as what follows it tells: "Work was fine", "Back from Lisbon".
_NO_VERB = re.compile(
    r"(?:[a-z-]+ (?:[a-z-]+s? )??(?<!who )(?<!what )(?<!which )(?<!that )(?<!it )(?<!this )(?<!there )"
    r"(?:was|were|is|are|has|had|isn't|wasn't|went|came|told|looks?|seems?|arrived|changed)\b"
    r"|back (?!up\b))",
    re.IGNORECASE,
)
_AIM = re.compile(
    r"(?<![\w'])(?P<text>(?:[Mm]y (?:main |biggest |ultimate |long-term |next |current )?(?:goal|aim|dream|plan"
    r"|objective)(?: (?:right now|this year|for \w+(?: \w+)?))? is (?:to|that)"
    r"|(?:I(?:'m| am)|[Ww]e(?:'re| are)) (?:currently |now |actually |also )?(?:planning|aiming|training|saving up"
    r"|preparing|studying) (?:to|for|towards?)"
    r"|I (?:plan|aim|intend|hope|want) to(?= (?:become|learn|open|start|launch|run|write|finish|publish|build|visit"
    r"|travel|create|improve|earn|lose|quit|teach|volunteer|set up)\b)) (?P<object>[^.!?;]+))"
)
# Words without one of which no aim is recognised.
CUES = frozenset(
    """
    goal aim aiming dream planning plan objective training saving preparing studying intend hope want
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)


class Goal(NamedTuple):
    """What is wanted, in the words it was said in."""

    text: str
    object: str
    confidence: float


def request(sentence: str) -> Goal | None:
    """The request that *sentence* makes of an agent, if it says what is wanted.

    >>> request("Hi there! I'd like to change my flight reservation.").text
    "I'd like to change my flight reservation."
    >>> request("Can you help me with that?"), request("Hello!")
    (None, None)
    """
    greeting = _GREETING.match(sentence)
    core = sentence[greeting.end() :] if greeting else sentence
    if not 3 <= core.count(" ") + 1 <= 50 or ":" in core[:25] or core.endswith(":"):
        return None
    first = re.split(r"[\s,]", core, maxsplit=1)[0].lower()
    if first in BASE_VERBS and not core.endswith("?") and not _NO_VERB.match(core):
        return _wanted(core, core, 0.7)
    for pattern in _REQUESTS:
        found = pattern.search(core)
        if found:
            return _wanted(core, core[found.start("verb") :], 0.75)
    return None


def aim(sentence: str) -> Goal | None:
    """The aim that *sentence* states about who speaks.

    >>> aim("My goal is to give kids a loving home.").object
    'give kids a loving home'
    """
    found = _AIM.search(sentence)
    if not found or sentence.endswith("?"):
        return None
    about = re.split(r"\s-+\s|,? (?:but|because|so|'cause|which)\b|, (?:and|so|it)\b| - ", found["object"], maxsplit=1)[
        0
    ].strip(" ,")
    if (
        len(about) < 8
        or re.match(r"(?:it|that|this|them|for (?:it|that)|on (?:it|that|this))\b", about)
        or _POINTING.search(about)
    ):
        return None
    text = sentence[found.start("text") : found.start("object") + len(about)]
    return Goal(f"{text}.", about, 0.7)


def _wanted(core: str, wanted: str, confidence: float) -> Goal | None:
    """*core* as a goal, unless it leaves open what is wanted."""
    if _EMPTY.match(wanted) or wanted.count(" ") < 1:
        return None
    if _POINTING.search(" ".join(wanted.split()[:4])) or re.search(r"\b(?:this|that|it)\W*$", wanted):
        return None
    return Goal(core[:1].upper() + core[1:], wanted.strip(" .!?"), confidence)


# Memories given by hand: an event of a type of our own says what to remember, so that they have evidence too.

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
        return _preference_draft(liked, text, UNKNOWN, BY_HAND)
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


# What an event gives to remember: directives, preferences, stated facts, aims, state changes.
#
# Each source of memories is looked at only where the text has one of its cues.

_MOST_MEMORIES = 8
# A first request stands at the start of a session, at most after a greeting.
_FIRST_TURNS = 2


class _Looked(NamedTuple):
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
    return tuple(dict.fromkeys(found))[:_MOST_MEMORIES]


def _said(event: Event, text: str, voice: Voice) -> Iterator[MemoryDraft]:
    looked = _worth(text.lower(), voice)
    opens = voice.part == "user" and event.event_type == "message" and event.sequence < _FIRST_TURNS
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
    told = (fact for sentence in found for fact in _facts.facts(sentence))
    names = {fact.object for fact in told if fact.predicate == "name" and not fact.subject}
    return names.pop() if len(names) == 1 else voice.subject


def _worth(lowered: str, voice: Voice) -> _Looked:
    """An agent's own words, or those of people among each other, are no orders; a system prompt is nobody's self."""
    said = cues(lowered)
    person = voice.part != "system"
    bids = voice.part != "peer"
    return _Looked(
        bids and (not person or _directives.may_order(lowered[:LONGEST_TALK])),
        bids and not said.isdisjoint(_directives.CUES),
        person and (not said.isdisjoint(_preferences.CUES) or _likes(lowered, said)),
        person and (not said.isdisjoint(_fact_rules.CUES) or _tells(lowered, said)),
        person and not said.isdisjoint(CUES),
    )


def _likes(lowered: str, said: frozenset[str]) -> bool:
    return not said.isdisjoint(_preferences.COMMON) and bool(_preferences.OF_ONESELF.search(lowered))


def _tells(lowered: str, said: frozenset[str]) -> bool:
    if "my" in said and _fact_rules.OWN.search(lowered):
        return True
    return any(phrase in lowered for phrase in _fact_rules.PHRASES)


def _of_sentence(sentence: str, voice: Voice, looked: _Looked, teller: str) -> Iterator[MemoryDraft]:
    back = _directives.lifted(sentence) if looked.lifts else None
    if back:
        yield lifted_draft(back, "directive")
    order = _directives.order(sentence, system=voice.part == "system") if looked.orders and not back else None
    if order:
        yield policy_draft(order.text, order.confidence, "directive", hard=order.hard, speaker=teller)
    like = _preferences.preference(sentence) if looked.likes else None
    if like:
        yield _preference_draft(like, _attributed(like.text, voice), voice.subject, "preference")
    for fact in _facts.facts(sentence) if looked.tells else ():
        draft = fact_draft(fact, voice.subject if fact.predicate == "name" else teller, "statement")
        if draft:
            yield draft
    goal = aim(sentence) if looked.aims else None
    if goal:
        text = _attributed(goal.text, voice)
        yield MemoryDraft("goal", text, goal.confidence, "statement", voice.subject, "aims at", goal.object)


def _attributed(text: str, voice: Voice) -> str:
    return text if voice.subject in {"", UNKNOWN} else f"{voice.subject}: {text}"


def _request(found: list[str]) -> Iterator[MemoryDraft]:
    for sentence in found[:6]:
        goal = request(sentence)
        if goal:
            yield MemoryDraft("goal", goal.text, goal.confidence, "first_request", UNKNOWN, "wants", goal.object)
            return


def _changed(event: Event, gathered: Gathering) -> Iterator[MemoryDraft]:
    told = _facts.change(event.content)
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


# Everything worth finding in one event.

# Entities that one memory is linked to.
_MOST_ABOUT = 8


def extract(event: Event) -> Extraction:
    """The entities that *event* mentions, their relations, and the memories it gives rise to.

    Depends on nothing but the event: at most 32 mentions (16 of a result), 12 relations and 8 memories, each in a fixed
    order.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=4, metadata={}, source="user",
    ...     content={"role": "user", "text": "Always verify the rollout of deploy/cart.yaml."})
    >>> [mention.name for mention in extract(event).mentions]
    ['deploy/cart.yaml']
    >>> extract(event).memories[0].kind, extract(event).memories[0].text
    ('policy', 'Always verify the rollout of deploy/cart.yaml.')
    """
    voice = voice_of(event)
    gathered, relations = read(event, voice)
    drafts = memories(event, voice, gathered)
    mentions = gathered.mentions()
    return Extraction(mentions, gathered.settled(relations), tuple(_about(draft, mentions) for draft in drafts))


def _about(draft: MemoryDraft, mentions: tuple[Mention, ...]) -> MemoryDraft:
    """*draft* with the entities that its text names."""
    named = [mention.ref for mention in mentions if mention.name in draft.text]
    return draft._replace(about=tuple(sorted({*draft.about, *named}))[:_MOST_ABOUT]) if named else draft
