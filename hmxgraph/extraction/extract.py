"""Entities, relations and memories of one event."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import orjson

from hmxgraph.errors import InvalidTime
from hmxgraph.extraction import _directives, _fact_rules, _facts, _preferences
from hmxgraph.extraction._directive_values import without_values
from hmxgraph.extraction._directives import Withdrawal, withdrawal_in
from hmxgraph.extraction._facts import Fact, facts
from hmxgraph.extraction._preferences import Preference, preference
from hmxgraph.extraction.entities import MentionCollector, read
from hmxgraph.extraction.language import (
    BASE_VERBS,
    BY_HAND,
    LONGEST_TALK,
    NAME,
    NOT_THE_USER,
    UNKNOWN,
    Extraction,
    MemoryDraft,
    MemoryKind,
    Mention,
    Ref,
    Terms,
    Voice,
    cues,
    named_user,
    plain_signs,
    sentences,
    session_owner,
    speaking_user,
    user_id_of,
    user_key,
    voice_of,
)
from hmxgraph.protocol.events import MEMORY_EVENT, Event, origin_of
from hmxgraph.protocol.timestamps import microseconds
from hmxgraph.protocol.trust import DEFAULT_TRUST, OWN_SOURCES, TrustPolicy
from hmxgraph.text.comparison import claim, stance
from hmxgraph.text.lines import PARTS, label_of, speaking_source
from hmxgraph.text.terms import signs, words

# Memory drafts from matched rules. The slot of a draft is the question that it answers: a later answer in the same slot
# supersedes or contradicts it.

_ATTITUDES = frozenset({"likes", "dislikes"})
# Words for the speaker, but not the "I" of "I/O".
_OF_ONESELF = re.compile(r"\b(?:me|my|mine|myself|I)\b(?!/)")


def policy_draft(
    text: str, confidence: float, method: str, *, hard: bool = False, speaker: str = UNKNOWN
) -> MemoryDraft:
    """Draft *text* as a policy. A rule, its opposite and the same rule with another value share a slot.

    A rule that a known *speaker* gives about themselves carries their name and does not affect other people's rules.

    >>> policy_draft("Never phone me", 0.9, "directive", speaker="Ann").text
    'Ann: Never phone me'
    >>> policy_draft("Never push to main", 0.9, "directive", speaker="Ann").text
    'Never push to main'
    >>> drafts = [policy_draft(f"Answer in {language}", 0.9, "directive") for language in ("German", "English")]
    >>> drafts[0].slot == drafts[1].slot, drafts[0].answer, drafts[1].answer
    (True, 'demands german', 'demands english')
    """
    person = _person_ruled_about(text, speaker)
    against = stance(text).against
    topic, values = _policy_topic(text, demanded=not against)
    return MemoryDraft(
        "policy",
        f"{person}: {text}" if person else text,
        confidence,
        method,
        predicate="forbids" if against else "demands",
        object=values,
        hard=hard,
        slot=_policy_slot(topic, person),
    )


def _person_ruled_about(text: str, speaker: str) -> str:
    """The known speaker of a rule about themselves; empty for other rules."""
    return speaker if speaker != UNKNOWN and _OF_ONESELF.search(text) else ""


def _policy_slot(topic: str, person: str) -> str:
    return "\0".join(filter(None, ("policy", topic, plain(person)))) if topic else ""


def _policy_topic(text: str, *, demanded: bool) -> tuple[str, str]:
    """The topic of a rule (empty if it has only stop words), and the values that it sets, such as a language."""
    text, values = without_values(text, demanded=demanded)
    about = stance(text).subject
    return " ".join(filter(None, (*sorted(about), signs(text)))) if about else "", values


# The predicates of withdrawals.
WITHDRAWING = frozenset({"allows", "waives", "lifts"})


def withdrawal_draft(withdrawn: Withdrawal, method: str, *, speaker: str = UNKNOWN) -> MemoryDraft:
    """Draft a withdrawal as a policy: a new answer in the slot of the rule that it withdraws.

    It ``allows`` what was forbidden, ``waives`` what was demanded, or ``lifts`` a rule without saying which it was.
    """
    draft = policy_draft(withdrawn.matter, withdrawn.confidence, method)
    # After verbs like "skip" the sense is reversed: "you may skip the review" waives the review, "you no longer have to
    # skip the review" allows it.
    need_not = withdrawn.need_not != (draft.predicate == "forbids")
    predicate = "lifts" if withdrawn.forgotten else "waives" if need_not else "allows"
    topic, values = _policy_topic(withdrawn.matter, demanded=predicate != "allows")
    slot = _policy_slot(topic, _person_ruled_about(withdrawn.matter, speaker))
    return draft._replace(text=withdrawn.text, predicate=predicate, object=values, slot=slot)


def _preference_draft(liking: Preference, text: str, subject: str, method: str) -> MemoryDraft:
    """Draft a preference of *subject*.

    These pairs share a slot: liking and disliking a thing, the two sides of a choice, and two times of day preferred
    for the same thing.
    """
    about, name = (liking.object, "attitude") if liking.predicate in _ATTITUDES else (" ".join(liking.choice), "choice")
    if liking.timed:
        about, name = liking.timed, "time"
    topic = plain(about)
    slot = f"{plain(subject)}\0{name}\0{topic}" if topic else ""
    return MemoryDraft(
        "preference",
        text,
        liking.confidence,
        method,
        subject,
        liking.predicate,
        liking.object,
        slot=slot,
        implied=liking.timed,
    )


def fact_draft(fact: Fact, speaker: str, method: str) -> MemoryDraft | None:
    """Draft a fact about its subject or the speaker, whom ``{subject}`` stands for ("{subject}'s wife").

    None if the object is the subject itself, and for an id or address of an unknown speaker.
    """
    unknown = not fact.subject and speaker == UNKNOWN
    subject = fact.subject.replace("{subject}", speaker) or speaker
    person = speaker if fact.subject.startswith("{subject}") else subject
    if subject == fact.object or (fact.identifying and unknown and fact.predicate != "name"):
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
        slot=_fact_slot(fact, subject),
        about=() if person == UNKNOWN else (Ref("person", plain(person)),),
        personal=not fact.subject or fact.subject.startswith("{subject}"),
    )


def _fact_slot(fact: Fact, subject: str) -> str:
    """The slot of a fact that has one value at a time or can be denied; empty for other facts."""
    question = fact.predicate if fact.single else plain(fact.denial_key)
    return f"{plain(subject)}\0{question}" if question else ""


def plain(subject: str) -> str:
    """*subject* in the normal form used in slots."""
    return " ".join(words(subject))


# Goals: the first request of a session, and explicitly stated aims.

# "Hi there, thanks again! "
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|thanks|ok|okay|so|yes|sure|please|well"
    r"|dear)\b(?: there| again| everyone| team| all)?[\s,.!-]*)+",
    re.IGNORECASE,
)
_VERB = r"(?P<verb>[a-z][a-z-]+)"
# Forms of requests. The group ``verb`` is the first word of what is wanted: "cancel" in "I want to cancel my order",
# "trouble" in "I'm having trouble with the printer".
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
# Requests that do not say what is wanted, matched from the verb on: "help me with this", "a few questions".
_UNSPECIFIC = re.compile(
    r"(?:(?:help|assist|do|know|ask|see|look|talk|speak|be|get|let|start|have|hear|explain)\b(?: (?:me|you|us|with"
    r"|that|this|it|out|to|into|please|somebody|someone|a human|an agent|a few|some|questions?|something|things?))*"
    r"|(?:with |in )?(?:that|this|it|something|an?|my|the|some|(?:a )?(?:couple(?: of)?|few)|two|three)? ?"
    r"(?:issues?|problems?|things?|questions?|requests?|trouble|changes?)?)\W*$",
    re.IGNORECASE,
)
# Words that refer to another sentence, or to something shown.
_POINTING = re.compile(r"\b(?:that|this|it|them|those|these|there|here|above|below|same)\b", re.IGNORECASE)
# "This year" refers to no other sentence.
_THIS_TIME = re.compile(r"\bthis (?:year|month|week|weekend|quarter|spring|summer|autumn|fall|winter)\b", re.IGNORECASE)
# Questions about whether something holds or is wanted, which request nothing.
_ASKS_WHETHER = re.compile(
    r"(?:do|does|did|should|shall|is|are|was|were|has|have|must|may|might)(?:n't)?"
    r" (?:i|we|you|they|he|she|it|there|the)\b.*\?",
    re.IGNORECASE | re.DOTALL,
)
# A leading base verb that is a noun or adverb in this sentence: "Work was fine", "Back from Lisbon", "Review of the
# cart", "Release 1.4 crashed", "Deploy to staging failed".
_NO_VERB = re.compile(
    r"back (?!up\b)|(?!think|dispose|speak|beware|approve)[a-z-]+ of "
    r"|[a-z-]+ (?:[a-z-]+s? )??(?<!who )(?<!what )(?<!which )(?<!that )(?<!it )(?<!this )(?<!there )"
    r"(?:was|were|is|are|has|had|isn't|wasn't|went|came|told|looks?|seems?|arrived|changed)\b"
    r"|[a-z-]+ (?:(?:from|in|on|to|for|at) (?:(?:the|our|my) )?[^\s,]+ |(?=[^\s,]*\d)[^\s,]+ )?"
    r"(?:(?:was|is|has|had|did|does|isn't|didn't|doesn't|timed|times|keeps|takes|took|returns) "
    r"|(?:failed|fails|broke|breaks|crashed|crashes|hangs|hung|stopped)\b)",
    re.IGNORECASE,
)
# "My goal is to run a marathon", "we're saving up for a house", "I want to learn Spanish".
_AIM = re.compile(
    r"(?<![\w'])(?P<text>(?:[Mm]y (?:main |biggest |ultimate |long-term |next |current )?(?:goal|aim|dream|plan"
    r"|objective)(?: (?:right now|this year|for \w+(?: \w+)?))? is (?:to|that)"
    r"|(?:I(?:'m| am)|[Ww]e(?:'re| are)) (?:currently |now |actually |also )?(?:planning|aiming|training|saving up"
    r"|preparing|studying) (?:to|for|towards?)"
    r"|I (?:plan|aim|intend|hope|want) to(?= (?:become|learn|open|start|launch|run|write|finish|publish|build|visit"
    r"|travel|create|improve|earn|lose|quit|teach|volunteer|set up)\b)) (?P<object>[^.!?;]+))"
)
# The start of another clause.
_AIM_END = re.compile(r"\s-+\s|,? (?:but|because|so|'cause|which)\b|, (?:and|so|it)\b")
# In characters: shorter objects say too little.
_SHORTEST_AIM = 8
# Every stated aim contains one of these words.
_AIM_CUES = frozenset(
    """
    goal aim aiming dream planning plan objective training saving preparing studying intend hope want
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)


class Goal(NamedTuple):
    """A goal in its original words: the sentence or clause, and in ``object`` what is wanted."""

    text: str
    object: str
    confidence: float


def request(sentence: str) -> Goal | None:
    """Return the request that *sentence* makes of an agent, if it says what is wanted.

    >>> request("Hi there! I'd like to change my flight reservation.").text
    "I'd like to change my flight reservation."
    >>> request("Can you help me with that?"), request("Do we want to move to Postgres?"), request("Hello!")
    (None, None, None)
    """
    greeting = _GREETING.match(sentence)
    core = sentence[greeting.end() :] if greeting else sentence
    # A colon near the start or at the end introduces something else: a heading, a quotation, a list.
    if not 3 <= core.count(" ") + 1 <= 50 or ":" in core[:25] or core.endswith(":") or _ASKS_WHETHER.match(core):
        return None
    first = re.split(r"[\s,]", core, maxsplit=1)[0].lower()
    if first in BASE_VERBS and not core.endswith("?") and not _NO_VERB.match(core):
        return _goal(core, core, 0.7)
    for pattern in _REQUESTS:
        match = pattern.search(core)
        if match:
            return _goal(core, core[match.start("verb") :], 0.75)
    return None


def aim(sentence: str) -> Goal | None:
    """Return the speaker's aim that *sentence* states, if any.

    >>> aim("My goal is to give kids a loving home.").object
    'give kids a loving home'
    >>> aim("My goal is to run a marathon this year.").object
    'run a marathon this year'
    """
    match = _AIM.search(sentence)
    if not match or sentence.endswith("?"):
        return None
    about = _AIM_END.split(match["object"], maxsplit=1)[0].strip(" ,")
    if (
        len(about) < _SHORTEST_AIM
        or re.match(r"(?:it|that|this|them|for (?:it|that)|on (?:it|that|this))\b", about)
        or _POINTING.search(_THIS_TIME.sub("", about))
    ):
        return None
    text = sentence[match.start("text") : match.start("object") + len(about)]
    return Goal(f"{text}.", about, 0.7)


def _goal(core: str, wanted: str, confidence: float) -> Goal | None:
    """*core* as a goal; None if *wanted*, its part from the verb on, does not say what is wanted."""
    if _UNSPECIFIC.match(wanted) or wanted.count(" ") < 1:
        return None
    if _POINTING.search(" ".join(wanted.split()[:4])) or re.search(r"\b(?:this|that|it)\W*$", wanted):
        return None
    return Goal(core[:1].upper() + core[1:], wanted.strip(" .!?"), confidence)


# Authority: whether the words of an event may take effect, and for whom.

_Level: TypeAlias = Literal["operator", "user", "none"]


class _Authority(NamedTuple):
    """The effect that the words of an event may have.

    At level ``operator`` they hold for the tenant, at level ``user`` for the user, at level ``none`` they only propose.
    ``origin`` identifies the source when independent support is counted; it is empty for anonymous speakers. ``owner``
    is the user (or the session of an unnamed user) whom memories are bound to; only level ``user`` has one.
    """

    level: _Level
    origin: str
    owner: str = ""


# The authority of a caller of `remember`.
_OPERATOR = _Authority("operator", "")


def _authority_of(event: Event, voice: Voice, trust: TrustPolicy) -> _Authority:
    """The authority of *event*, spoken by *voice*, under the tenant's *trust*.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, metadata={"user_id": "Ann"},
    ...     content={"role": "user", "text": "I prefer tea."}, source="user")
    >>> _authority_of(event, Voice("", "user", "Ann"), TrustPolicy())
    _Authority(level='user', origin='user:ann', owner='ann')
    """
    source = event.source or ""
    role = event.content.get("role")
    label = label_of(event.event_type, source, role if isinstance(role, str) else "")
    name = speaking_user(event) or ""
    outside = bool(label) or origin_of(event.metadata) in NOT_THE_USER
    if trust.distrusts(source) or (outside and not trust.trusts(source)):
        return _Authority("none", _outside(source, label))
    if trust.trusts(source) or _speaks_for_operator(event, voice):
        return _Authority("operator", source)
    if voice.part in {"system", "none"} or not _speaks_as_user(event, name):
        return _Authority("none", _outside(source, label))
    speaker = name or _named_source(event)
    if trust.single_user and not named_user(event) and not _named_source(event):
        return _Authority("operator", source)
    return _Authority("user", f"user:{speaker}" if speaker else "", name or session_owner(event.session_id))


def _speaks_for_operator(event: Event, voice: Voice) -> bool:
    """Whether a system message comes from the conversation itself, or a state change from the operator."""
    if voice.part == "system":
        return _is_own(event)
    return event.event_type == "state_change" and PARTS.get((event.source or "").lower()) == "system"


def _speaks_as_user(event: Event, name: str) -> bool:
    """Whether words in the user role come from a user, not a document or unknown party; feedback must name its user."""
    if event.event_type == "feedback":
        return bool(name)
    if _is_own(event):
        return True
    source = event.source or ""
    return user_key(source) in {name, user_key(user_id_of(event) or "")} or speaking_source(event) is not None


def _is_own(event: Event) -> bool:
    """Whether the source is absent, the agent, a part of the conversation or a channel that only its users write to."""
    source = event.source or ""
    return not source or source.lower() in OWN_SOURCES or source == event.agent_id


def _named_source(event: Event) -> str:
    """The key of the person whom the source names; empty if it names no person, or if the person is the agent."""
    name = speaking_source(event)
    return "" if name is None or _is_own(event) else user_key(name)


# What precedes the host in an address: "https://bob@".
_ADDRESS_START = re.compile(r"(?:web:|https?:|//|www\.|[^/@\s]*@)+", re.IGNORECASE)
# What follows the host in an address: a port, path, query or fragment.
_HOST_END = re.compile(r"[/?#:\s]")
_TOOL_LABEL = "tool"


def _outside(source: str, label: str) -> str:
    """The origin of text from outside, for counting independent origins; *label* is the label that packs give it.

    The origin of a web page is the last two parts of its host name. All tools are one origin, because one page can
    reach an agent through several of them. Any other origin is the source, or *label* if there is no source.

    >>> _outside("https://www.shop.example/a?b", "web"), _outside("web:eu.shop.example", "web")
    ('web:shop.example', 'web:shop.example')
    >>> _outside("mcp:notes", "tool"), _outside("Wiki:security", "")
    ('tool', 'wiki:security')
    """
    name = source.strip().lower()
    if label == _TOOL_LABEL:
        return _TOOL_LABEL
    if label != "web":
        return name or label
    host = _HOST_END.split(_ADDRESS_START.sub("", name, count=1), maxsplit=1)[0]
    return f"web:{'.'.join(host.split('.')[-2:])}"


def _bound(draft: MemoryDraft, owner: str) -> MemoryDraft:
    """*draft* bound to *owner*, with a slot for this owner alone, so that it never contradicts the words of others."""
    return draft._replace(owner=owner, slot=f"{owner}\0{draft.slot}" if draft.slot else "")


def _placed(draft: MemoryDraft, authority: _Authority) -> Iterator[MemoryDraft]:
    """Yield *draft* as the memories that *authority* permits.

    A draft of the operator takes effect. A user's is bound to the user; if it is a rule, or a fact about neither the
    user nor somebody close to them, it is also proposed for the tenant. A draft without authority is only proposed.
    Aliases, pins and replacements are kept only for the operator.
    """
    if authority.level == "operator":
        # Unnamed users of different sessions are different people: the name of one must not supersede another's.
        unnamed = draft.subject == UNKNOWN and draft.predicate == NAME
        yield draft._replace(slot="") if unnamed else draft
        return
    draft = draft._replace(terms=Terms(draft.terms.scopes, expires_us=draft.terms.expires_us))
    proposal = draft._replace(unproven=True, slot="", hard=False, origin=authority.origin)
    if authority.level == "none":
        yield proposal
        return
    yield _bound(draft, authority.owner)
    if draft.kind == "policy" or (draft.kind == "fact" and not draft.personal):
        yield proposal


# Explicit memories: `remember` records an event of its own type, so these memories have evidence like all others.

EVENT_TYPE = MEMORY_EVENT
KINDS: tuple[str, ...] = get_args(MemoryKind)
# "The X is NAME or NUMBER" has one value at a time, as has "Ann's X is ..."; "the X is ADJECTIVE" is one of many
# properties.
_IS = re.compile(
    r"(?:(?:[Tt]he|[Oo]ur) (?=[a-zA-Z])|(?=[A-Z][\w-]*'s ))(?P<subject>[\w'][\w' -]{1,60}?)"
    r" (?:is|are)(?: now| currently| still)?"
    r" (?P<object>(?:in |at |on )?(?!The |A |An )[A-Z0-9`\"$\u20ac\u00a3][^,;!?]{0,60}?)[.!]?"
)


def remembered(content: Mapping[str, Any]) -> Iterator[MemoryDraft]:
    """Yield the memory that an ``x-hmxgraph-memory`` event asks for; nothing without a known kind and a text.

    >>> [draft.hard for draft in remembered({"kind": "policy", "text": "Always verify rollout", "hard": True})]
    [True]
    """
    kind, text, user_id = content.get("kind"), content.get("text"), content.get("user_id")
    if kind in KINDS and isinstance(text, str) and text.strip():
        terms = _terms(content)
        memory = draft(cast("MemoryKind", kind), text.strip(), hard=content.get("hard") is True)._replace(terms=terms)
        # Each scope has its own answer to the same question.
        slot = "\0".join((memory.slot, *terms.scopes)) if memory.slot else ""
        memory = memory._replace(slot=slot)
        yield _bound(memory, user_key(user_id)) if isinstance(user_id, str) and user_id else memory


def _terms(content: Mapping[str, Any]) -> Terms:
    """The terms in the content of an ``x-hmxgraph-memory`` event; values of the wrong type are ignored.

    >>> _terms({"scope": ["code"], "expires": "1970-01-01T00:00:01Z", "pinned": "yes"})
    Terms(scopes=('code',), aliases=(), pinned=False, expires_us=1000000, supersedes='')
    """
    supersedes = content.get("supersedes")
    return Terms(
        _strings(content.get("scope")),
        _strings(content.get("aliases")),
        content.get("pinned") is True,
        _moment(content.get("expires")),
        supersedes if isinstance(supersedes, str) else "",
    )


def _moment(value: Any) -> int | None:
    """The time in microseconds since 1970; None if *value* is no valid time."""
    try:
        return microseconds(value) if isinstance(value, str) else None
    except InvalidTime:
        return None


def _strings(value: Any) -> tuple[str, ...]:
    """The distinct texts in a list, sorted, without blank ones; empty if *value* is no list."""
    names = value if isinstance(value, list) else ()
    return tuple(sorted({name for name in names if isinstance(name, str) and name.strip()}))


def draft(kind: MemoryKind, text: str, *, hard: bool = False) -> MemoryDraft:
    """Draft *text* as a memory of *kind*, keeping its words; subject and slot are parsed where a rule matches.

    A memory with a slot supersedes earlier memories that answer the same question.

    >>> draft("fact", "Caroline lives in Boston").object
    'Boston'
    """
    return _parsed(kind, text, hard=hard)._replace(text=text, confidence=1.0)


def _parsed(kind: MemoryKind, text: str, *, hard: bool) -> MemoryDraft:
    """Draft *text* with the subject, object and slot that the rules for *kind* find."""
    withdrawn = withdrawal_in(text) if kind == "policy" else None
    if withdrawn:
        return withdrawal_draft(withdrawn, BY_HAND)._replace(hard=hard)
    if kind == "policy":
        return policy_draft(text, 1.0, BY_HAND, hard=hard)
    liking = preference(text) if kind == "preference" else None
    if liking:
        return _preference_draft(liking, text, UNKNOWN, BY_HAND)
    if kind == "fact":
        drafts = list(filter(None, (fact_draft(fact, UNKNOWN, BY_HAND) for fact in facts(text))))
        return _merged(drafts) if drafts else _unparsed_fact(text)
    return MemoryDraft(kind, text, 1.0, BY_HAND)


def _merged(drafts: Sequence[MemoryDraft]) -> MemoryDraft:
    """Merge the facts of one text: the first one, with all objects that share its predicate.

    >>> draft("fact", "I'm allergic to nuts and latex").object
    'nuts and latex'
    """
    first = drafts[0]
    objects = [draft.object for draft in drafts if draft.predicate == first.predicate]
    return first if len(objects) == 1 else first._replace(object=" and ".join(objects), slot="")


def _unparsed_fact(text: str) -> MemoryDraft:
    """Draft a fact that no rule matched.

    "The X is NAME or NUMBER" gets a slot in which a later value supersedes it. In the slot of any other statement with
    a topic (see :func:`~hmxgraph.text.comparison.claim`), another amount or a denial contradicts it.

    >>> _unparsed_fact("The release manager is Carla").slot == _unparsed_fact("Our release manager is now Dan.").slot
    True
    >>> _unparsed_fact("The API is versioned").slot == _unparsed_fact("The API is not versioned").slot
    True
    """
    match = _IS.fullmatch(text)
    if match is None:
        topic = claim(text).topic
        return MemoryDraft("fact", text, 1.0, BY_HAND, slot=f"{topic}\0claim" if topic else "")
    subject = match["subject"]
    return MemoryDraft("fact", text, 1.0, BY_HAND, subject, "is", match["object"], slot=f"{plain(subject)}\0is")


# Memories of an event: directives, preferences, stated facts, aims, state changes.
#
# A family of rules is tried only on texts with one of its cues: words without which none of its rules can match.
# Exceptions: requests, and directives in system prompts.

# Maximum number of distinct memories per event.
_MAX_MEMORIES = 8
# The first request is in the first or second event of a session: a greeting may come before it.
_OPENING_EVENTS = 2
# The first request is searched for in this many sentences of such an event.
_OPENING_SENTENCES = 6
# In characters: shorter texts state nothing.
_SHORTEST_TEXT = 6


class _Families(NamedTuple):
    """For each family of rules, whether it is worth trying on a text."""

    directives: bool
    withdrawals: bool
    preferences: bool
    facts: bool
    aims: bool


def memories(
    event: Event,
    voice: Voice,
    collector: MentionCollector,
    trust: TrustPolicy = DEFAULT_TRUST,
    *,
    by_hand: bool = False,
) -> tuple[MemoryDraft, ...]:
    """At most eight distinct memories of *event*, spoken by *voice*; *trust* decides which are only proposed.

    A user's memory that is also proposed for the tenant occurs twice. With *by_hand* all take effect, because a caller
    of `remember` speaks for the tenant. The event type alone does not prove such a call, since any source can send it.
    """
    if event.event_type == "state_change":
        drafts = _state_change(event, collector)
    elif event.event_type == EVENT_TYPE:
        drafts = remembered(event.content)
    else:
        drafts = _of_text(event, voice)
    distinct = tuple(dict.fromkeys(drafts))[:_MAX_MEMORIES]
    if not distinct:
        return ()
    authority = _OPERATOR if by_hand else _authority_of(event, voice, trust)
    return tuple(memory for draft in distinct for memory in _placed(draft, authority))


def _of_text(event: Event, voice: Voice) -> Iterator[MemoryDraft]:
    """Yield the memories in a message or feedback comment by a user, system prompt or peer."""
    text = event.content.get("comment" if event.event_type == "feedback" else "text")
    if voice.part in {"user", "system", "peer"} and isinstance(text, str) and len(text) >= _SHORTEST_TEXT:
        said_by = "" if voice.subject == UNKNOWN else voice.subject
        for draft in _spoken(event, plain_signs(text), voice):
            yield draft._replace(said_by=said_by)


def _opens_session(event: Event) -> bool:
    """Whether a message is among the first of its session: by its number, or because its importer says so."""
    return event.sequence < _OPENING_EVENTS or event.metadata.get("opening") is True


def _spoken(event: Event, text: str, voice: Voice) -> Iterator[MemoryDraft]:
    """Yield the first request, if *event* opens the session, and the memories of each sentence in *text*."""
    # Without marks of bold type, which would hide cues; sentences() drops them too.
    families = _families(text.lower().replace("**", ""), voice)
    opens = voice.part == "user" and event.event_type == "message" and _opens_session(event)
    if not opens and not any(families):
        return
    spoken = sentences(text)
    if opens:
        yield from _request(spoken)
    fact_subject = _fact_subject(spoken, voice) if families.facts else voice.subject
    for sentence in spoken:
        yield from _of_sentence(sentence, voice, families, fact_subject)


def _fact_subject(spoken: list[str], voice: Voice) -> str:
    """The subject of first-person facts: the speaker, or the only name that an unnamed user states in the text."""
    if voice.subject != UNKNOWN:
        return voice.subject
    stated_facts = (fact for sentence in spoken for fact in _facts.facts(sentence))
    names = {fact.object for fact in stated_facts if fact.predicate == "name" and not fact.subject}
    return names.pop() if len(names) == 1 else voice.subject


def _families(lowered: str, voice: Voice) -> _Families:
    """The families whose cues a text contains. A conversation among peers gives no rules; a system prompt, only rules.

    Directives in a system prompt need no cue.
    """
    cue_words = cues(lowered)
    person = voice.part != "system"
    may_direct = voice.part != "peer"
    return _Families(
        may_direct and (not person or _directives.may_contain_directive(lowered[:LONGEST_TALK])),
        may_direct and not cue_words.isdisjoint(_directives.CUES),
        person and (not cue_words.isdisjoint(_preferences.CUES) or _states_liking(lowered, cue_words)),
        person and (not cue_words.isdisjoint(_fact_rules.CUES) or _states_fact(lowered, cue_words)),
        person and not cue_words.isdisjoint(_AIM_CUES),
    )


def _states_liking(lowered: str, cue_words: frozenset[str]) -> bool:
    return not cue_words.isdisjoint(_preferences.COMMON) and bool(_preferences.OF_ONESELF.search(lowered))


def _states_fact(lowered: str, cue_words: frozenset[str]) -> bool:
    if "my" in cue_words and _fact_rules.OWN_KIN_OR_ID.search(lowered):
        return True
    return any(phrase in lowered for phrase in (*_fact_rules.PHRASES, *_facts.WISHES))


def _of_sentence(sentence: str, voice: Voice, families: _Families, fact_subject: str) -> Iterator[MemoryDraft]:
    """Yield the memories of a sentence; *fact_subject* is the subject of its first-person facts and rules."""
    withdrawn = _directives.withdrawal_in(sentence) if families.withdrawals else None
    if withdrawn:
        yield withdrawal_draft(withdrawn, "directive", speaker=fact_subject)
    directive = (
        _directives.directive_in(sentence, system=voice.part == "system")
        if families.directives and not withdrawn
        else None
    )
    if directive:
        yield policy_draft(directive.text, directive.confidence, "directive", hard=directive.hard, speaker=fact_subject)
    liking = _preferences.preference(sentence) if families.preferences else None
    if liking:
        yield _preference_draft(liking, _attributed(liking.text, voice), voice.subject, "preference")
    stated_facts = list(_facts.facts(sentence)) if families.facts else []
    for fact in stated_facts:
        # "My name is Ann" is about the unnamed user; other facts are then about Ann.
        draft = fact_draft(fact, voice.subject if fact.predicate == "name" else fact_subject, "statement")
        if draft:
            yield draft
    goal = aim(sentence) if families.aims else None
    if goal:
        text = _attributed(goal.text, voice)
        yield MemoryDraft("goal", text, goal.confidence, "statement", voice.subject, "aims at", goal.object)
    is_wish = families.facts and voice.part == "user" and not (withdrawn or directive or liking or stated_facts or goal)
    statement = _facts.noted(sentence) if is_wish else ""
    if statement:
        yield _noted(statement, voice)


def _noted(statement: str, voice: Voice) -> MemoryDraft:
    """Draft a fact that a user asks to remember and that no other rule finds."""
    personal = bool(_OF_ONESELF.search(statement))
    draft = _unparsed_fact(_attributed(statement, voice) if personal else statement)
    return draft._replace(confidence=0.75, extraction_method="statement", personal=personal)


def _attributed(text: str, voice: Voice) -> str:
    return text if voice.subject in {"", UNKNOWN} else f"{voice.subject}: {text}"


def _request(spoken: list[str]) -> Iterator[MemoryDraft]:
    """Yield the first request among the sentences, if any, as a goal."""
    for sentence in spoken[:_OPENING_SENTENCES]:
        # A standing rule is not a goal: "Always run the tests before you push".
        goal = None if _directives.directive_in(sentence) else request(sentence)
        if goal:
            yield MemoryDraft("goal", goal.text, goal.confidence, "first_request", UNKNOWN, "wants", goal.object)
            return


def _state_change(event: Event, collector: MentionCollector) -> Iterator[MemoryDraft]:
    """Yield the fact that a state change reports, and add its subject to the mentions."""
    change = _facts.change(event.content)
    if change:
        ref = collector.add("concept", change.subject, 0.9)
        yield MemoryDraft(
            "fact",
            change.text,
            0.95,
            "state_change",
            change.subject,
            change.predicate,
            change.object,
            slot=f"{plain(change.subject)}\0{change.predicate.lower()}",
            about=(ref,) if ref else (),
        )


# The whole extraction of one event.

# Maximum number of entities linked to one memory.
_MAX_ABOUT = 8


def extract(event: Event, trust: TrustPolicy = DEFAULT_TRUST, *, by_hand: bool = False) -> Extraction:
    """Extract the entities that *event* mentions, their relations, and its memories.

    *by_hand* marks an event recorded by `remember`. The result depends on the arguments alone: at most 32 mentions, 36
    relations, 8 memories and 8 proposals, in a fixed order.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=4, metadata={}, source="user",
    ...     content={"role": "user", "text": "Always verify the rollout of deploy/cart.yaml."})
    >>> [mention.name for mention in extract(event).mentions]
    ['deploy/cart.yaml']
    >>> extract(event).memories[0].kind, extract(event).memories[0].text
    ('policy', 'Always verify the rollout of deploy/cart.yaml.')
    """
    if event.event_type == "tool_result":
        return _of_result(_Result(event))
    return _extracted(event, trust, by_hand=by_hand)


class _Result:
    """The key of a tool result in the cache: its source, tags and content without the call id.

    Extraction reads nothing else of a result. The key carries its event until the extraction has been computed.
    """

    __slots__ = ("_digest", "event")

    def __init__(self, event: Event) -> None:
        self.event: Event | None = event
        content = event.content
        if isinstance(content.get("call_id"), str):
            content = {**content, "call_id": ""}
        self._digest = sha256(orjson.dumps([event.source, event.tags, content])).digest()

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Result) and self._digest == other._digest


@lru_cache(maxsize=1_024)
def _of_result(result: _Result) -> Extraction:
    """The extraction from a result, which gives no memories; cached because agents repeat lookups."""
    event, result.event = result.event, None  # the cache keeps the key, and must not keep the event
    assert event is not None
    return _extracted(event, DEFAULT_TRUST, by_hand=False)


def _extracted(event: Event, trust: TrustPolicy, *, by_hand: bool) -> Extraction:
    """The whole extraction of one event, computed anew."""
    voice = voice_of(event)
    collector, relations = read(event, voice)
    drafts = memories(event, voice, collector, trust, by_hand=by_hand)
    mentions = collector.mentions()
    linked = [_linked(draft, mentions) for draft in drafts]
    return Extraction(
        mentions,
        collector.resolve_relations(relations),
        tuple(draft for draft in linked if not draft.unproven),
        tuple(draft for draft in linked if draft.unproven),
    )


def _linked(draft: MemoryDraft, mentions: tuple[Mention, ...]) -> MemoryDraft:
    """*draft*, linked to the entities that its text names."""
    refs = [mention.ref for mention in mentions if mention.name in draft.text]
    return draft._replace(about=tuple(sorted({*draft.about, *refs}))[:_MAX_ABOUT]) if refs else draft
