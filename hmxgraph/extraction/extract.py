"""Extract the entities, relations and memories of one event, and decide which memories may take effect."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import orjson

from hmxgraph.errors import InvalidTime
from hmxgraph.extraction import _directives, _fact_rules, _facts, _house_rules, _preferences
from hmxgraph.extraction._directives import Withdrawal, withdrawal_in, without_values
from hmxgraph.extraction._entity_spans import CAPITALS
from hmxgraph.extraction._fact_rules import PRICED
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

# Memory drafts from matched rules. The slot of a draft identifies the question that it answers, such as where Ann
# lives: a later answer in the same slot supersedes or contradicts it.

_ATTITUDES = frozenset({"likes", "dislikes"})
# The speaker's words for themselves, but not the "I" of "I/O".
_FIRST_PERSON = re.compile(r"\b(?:me|my|mine|myself|I)\b(?!/)")


def policy_draft(
    text: str, confidence: float, method: str, *, hard: bool = False, speaker: str = UNKNOWN
) -> MemoryDraft:
    """Draft *text* as a policy.

    A rule, its opposite, and the same rule with another value (another language, say) share a slot. A rule about its
    *speaker* ("never phone me") carries the speaker's name and has a slot of its own for each speaker.

    >>> policy_draft("Never phone me", 0.9, "directive", speaker="Ann").text
    'Ann: Never phone me'
    >>> policy_draft("Never push to main", 0.9, "directive", speaker="Ann").text
    'Never push to main'
    >>> drafts = [policy_draft(f"Answer in {language}", 0.9, "directive") for language in ("German", "English")]
    >>> drafts[0].slot == drafts[1].slot, drafts[0].answer, drafts[1].answer
    (True, 'demands german', 'demands english')
    """
    person = _speaker_if_concerned(text, speaker)
    is_ban = stance(text).against
    topic, values = _policy_topic(text, demanded=not is_ban)
    return MemoryDraft(
        "policy",
        f"{person}: {text}" if person else text,
        confidence,
        method,
        predicate="forbids" if is_ban else "demands",
        object=values,
        hard=hard,
        slot=_policy_slot(topic, person),
    )


def _speaker_if_concerned(text: str, speaker: str) -> str:
    """*speaker* if known and if the rule *text* is about them ("never phone me"); otherwise empty."""
    return speaker if speaker != UNKNOWN and _FIRST_PERSON.search(text) else ""


def _policy_slot(topic: str, person: str) -> str:
    return "\0".join(filter(None, ("policy", topic, plain(person)))) if topic else ""


def _policy_topic(text: str, *, demanded: bool) -> tuple[str, str]:
    """The topic of the rule *text* and the values that it sets, such as a language.

    The topic is empty if the rule consists of stop words only.
    """
    text, values = without_values(text, demanded=demanded)
    topic_terms = stance(text).subject
    return " ".join(filter(None, (*sorted(topic_terms), signs(text)))) if topic_terms else "", values


# The predicates of withdrawals: see `withdrawal_draft`.
WITHDRAWING = frozenset({"allows", "waives", "lifts"})


def withdrawal_draft(withdrawn: Withdrawal, method: str, *, speaker: str = UNKNOWN) -> MemoryDraft:
    """Draft a withdrawal as a policy: a new answer in the slot of the rule that it withdraws.

    It ``allows`` what was forbidden, ``waives`` what was demanded, or ``lifts`` a rule without saying whether that
    rule demanded or forbade something.
    """
    draft = policy_draft(withdrawn.matter, withdrawn.confidence, method)
    # After verbs like "skip" the sense is reversed: "you may skip the review" waives the review, "you no longer have to
    # skip the review" allows it.
    need_not = withdrawn.need_not != (draft.predicate == "forbids")
    predicate = "lifts" if withdrawn.forgotten else "waives" if need_not else "allows"
    topic, values = _policy_topic(withdrawn.matter, demanded=predicate != "allows")
    slot = _policy_slot(topic, _speaker_if_concerned(withdrawn.matter, speaker))
    return draft._replace(text=withdrawn.text, predicate=predicate, object=values, slot=slot)


def _draft_preference(stated: Preference, text: str, subject: str, method: str) -> MemoryDraft:
    """Draft a preference of *subject*.

    These pairs share a slot: liking and disliking a thing, the two sides of a choice ("tea over coffee", "coffee over
    tea"), and two times of day preferred for the same thing.
    """
    question, topic = "choice", " ".join(stated.choice)
    if stated.timed:
        question, topic = "time", stated.timed
    elif stated.predicate in _ATTITUDES:
        question, topic = "attitude", stated.object
    topic = plain(topic)
    slot = f"{plain(subject)}\0{question}\0{topic}" if topic else ""
    return MemoryDraft(
        "preference",
        text,
        stated.confidence,
        method,
        subject,
        stated.predicate,
        stated.object,
        slot=slot,
        implied=stated.timed,
    )


def fact_draft(fact: Fact, speaker: str, method: str) -> MemoryDraft | None:
    """Draft a fact; in its subject and text, ``{subject}`` stands for the speaker ("{subject}'s wife").

    Return None if subject and object are the same, or if the fact is an id or address of an unknown speaker.
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
    """The slot of a fact that has one value at a time ("lives in"), or can be denied ("is allergic to"); else empty."""
    question = fact.predicate if fact.single else plain(fact.denial_key)
    return f"{plain(subject)}\0{question}" if question else ""


def plain(subject: str) -> str:
    """*subject* in the normal form used in slots."""
    return " ".join(words(subject))


# Goals: the first request of a session, and explicitly stated aims.

# Greetings before a request: "Hi there, thanks again! "
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
# Requests that do not say what is wanted: "help me with this", "a few questions". Matched against the words from the
# group ``verb`` on.
_UNSPECIFIC = re.compile(
    r"(?:(?:help|assist|do|know|ask|see|look|talk|speak|be|get|let|start|have|hear|explain)\b(?: (?:me|you|us|with"
    r"|that|this|it|out|to|into|please|somebody|someone|a human|an agent|a few|some|questions?|something|things?))*"
    r"|(?:with |in )?(?:that|this|it|something|an?|my|the|some|(?:a )?(?:couple(?: of)?|few)|two|three)? ?"
    r"(?:issues?|problems?|things?|questions?|requests?|trouble|changes?)?)\W*$",
    re.IGNORECASE,
)
# Words that refer to another sentence, or to something that the speaker shows.
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
_NOT_A_VERB = re.compile(
    r"back (?!up\b)|(?!think|dispose|speak|beware|approve)[a-z-]+ of "
    r"|[a-z-]+ (?:[a-z-]+s? )??(?<!who )(?<!what )(?<!which )(?<!that )(?<!it )(?<!this )(?<!there )"
    r"(?:was|were|is|are|has|had|isn't|wasn't|went|came|told|looks?|seems?|arrived|changed)\b"
    r"|[a-z-]+ (?:(?:from|in|on|to|for|at) (?:(?:the|our|my) )?[^\s,]+ |(?=[^\s,]*\d)[^\s,]+ )?"
    r"(?:(?:was|is|has|had|did|does|isn't|didn't|doesn't|timed|times|keeps|takes|took|returns) "
    r"|(?:failed|fails|broke|breaks|crashed|crashes|hangs|hung|stopped)\b)",
    re.IGNORECASE,
)
# Statements of an aim: "My goal is to run a marathon", "we're saving up for a house", "I want to learn Spanish".
_AIM = re.compile(
    r"(?<![\w'])(?P<text>(?:[Mm]y (?:main |biggest |ultimate |long-term |next |current )?(?:goal|aim|dream|plan"
    r"|objective)(?: (?:right now|this year|for \w+(?: \w+)?))? is (?:to|that)"
    r"|(?:I(?:'m| am)|[Ww]e(?:'re| are)) (?:currently |now |actually |also )?(?:planning|aiming|training|saving up"
    r"|preparing|studying) (?:to|for|towards?)"
    r"|I (?:plan|aim|intend|hope|want) to(?= (?:become|learn|open|start|launch|run|write|finish|publish|build|visit"
    r"|travel|create|improve|earn|lose|quit|teach|volunteer|set up)\b)) (?P<object>[^.!?;]+))"
)
# The start of another clause, which ends the aim.
_AIM_END = re.compile(r"\s-+\s|,? (?:but|because|so|'cause|which)\b|, (?:and|so|it)\b")
# Minimum length of what is aimed at, in characters: "run" or "learn" alone says too little.
_SHORTEST_AIM = 8
# Every stated aim contains one of these words.
_AIM_CUES = frozenset(
    """
    goal aim aiming dream planning plan objective training saving preparing studying intend hope want
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)


class Goal(NamedTuple):
    """A goal in its original words: ``text`` is the sentence or clause, ``object`` says what is wanted."""

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
    first_word = re.split(r"[\s,]", core, maxsplit=1)[0].lower()
    if first_word in BASE_VERBS and not core.endswith("?") and not _NOT_A_VERB.match(core):
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
    wanted = _AIM_END.split(match["object"], maxsplit=1)[0].strip(" ,")
    if (
        len(wanted) < _SHORTEST_AIM
        or re.match(r"(?:it|that|this|them|for (?:it|that)|on (?:it|that|this))\b", wanted)
        or _POINTING.search(_THIS_TIME.sub("", wanted))
    ):
        return None
    text = sentence[match.start("text") : match.start("object") + len(wanted)]
    return Goal(f"{text}.", wanted, 0.7)


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
    """How far the memories of an event may take effect.

    At level ``operator`` they hold for the whole tenant, at level ``user`` for one user; at level ``none`` they are
    only proposals. A proposal takes effect once enough independent sources have made it; ``origin`` identifies the
    source for that count, and is empty for anonymous speakers. ``owner`` is the user (or the session of an unnamed
    user) to whom memories at level ``user`` are bound; empty at the other levels.
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
        return _Authority("none", _outside_origin(source, label))
    if trust.trusts(source) or _speaks_for_operator(event, voice):
        return _Authority("operator", source)
    if voice.part in {"system", "none"} or not _speaks_as_user(event, name):
        return _Authority("none", _outside_origin(source, label))
    speaker = name or _named_source(event)
    if trust.single_user and not named_user(event) and not _named_source(event):
        return _Authority("operator", source)
    return _Authority("user", f"user:{speaker}" if speaker else "", name or session_owner(event.session_id))


def _speaks_for_operator(event: Event, voice: Voice) -> bool:
    """Whether *event* is a system message from one of the agent's own sources, or a state change by the operator."""
    if voice.part == "system":
        return _is_own(event)
    return event.event_type == "state_change" and PARTS.get((event.source or "").lower()) == "system"


def _speaks_as_user(event: Event, name: str) -> bool:
    """Whether words in the user role come from a user, and not from a document or an unknown source.

    Feedback counts only if it names its user.
    """
    if event.event_type == "feedback":
        return bool(name)
    if _is_own(event):
        return True
    source = event.source or ""
    return user_key(source) in {name, user_key(user_id_of(event) or "")} or speaking_source(event) is not None


def _is_own(event: Event) -> bool:
    """Whether *event* has no source, or its source is the agent, a role, or a channel that only users write to."""
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


def _outside_origin(source: str, label: str) -> str:
    """The origin of text from outside the conversation, for counting independent origins.

    *label* is how packs label the text: ``web``, ``tool``. The origin of a web page is the last two parts of its host
    name. All tools are one origin, because one page can reach an agent through several tools. Any other origin is the
    source, or *label* if there is no source.

    >>> _outside_origin("https://www.shop.example/a?b", "web"), _outside_origin("web:eu.shop.example", "web")
    ('web:shop.example', 'web:shop.example')
    >>> _outside_origin("mcp:notes", "tool"), _outside_origin("Wiki:security", "")
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
    """*draft* bound to *owner*, in a slot of this owner alone, so that it never contradicts what others say."""
    return draft._replace(owner=owner, slot=f"{owner}\0{draft.slot}" if draft.slot else "")


def _permitted(draft: MemoryDraft, authority: _Authority) -> Iterator[MemoryDraft]:
    """Yield *draft* as the memories that *authority* permits.

    The operator's draft takes effect. A user's draft is bound to that user; it is also proposed for the tenant if it
    is a rule, or a fact about neither the user nor somebody close to them. A draft without authority is only proposed.
    Only the operator's draft keeps its aliases, its pin, and the id of the memory that it supersedes.
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
# A statement of something that has one value at a time: "The release manager is Carla", "Ann's limit is 5". Not "the
# API is versioned", which is one property among many.
_IS = re.compile(
    r"(?:(?:[Tt]he|[Oo]ur) (?=[a-zA-Z])|(?=[A-Z][\w-]*'s ))(?P<subject>[\w'][\w' -]{1,60}?)"
    r" (?:is|are)(?: now| currently| still)?"
    r" (?P<object>(?:in |at |on )?(?!The |A |An )[A-Z0-9`\"$\u20ac\u00a3][^,;!?]{0,60}?)[.!]?"
)


def remembered(content: Mapping[str, Any]) -> Iterator[MemoryDraft]:
    """Yield the memory that an ``x-hmxgraph-memory`` event asks for; nothing unless it has a known kind and a text.

    >>> [draft.hard for draft in remembered({"kind": "policy", "text": "Always verify rollout", "hard": True})]
    [True]
    """
    kind, text, user_id = content.get("kind"), content.get("text"), content.get("user_id")
    if kind in KINDS and isinstance(text, str) and text.strip():
        terms = _terms(content)
        memory = draft(cast("MemoryKind", kind), text.strip(), hard=content.get("hard") is True)._replace(terms=terms)
        # The same question may have different answers in different scopes.
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
        _time_us(content.get("expires")),
        supersedes if isinstance(supersedes, str) else "",
    )


def _time_us(value: Any) -> int | None:
    """The time *value* in microseconds since 1970; None if it is not a valid time."""
    try:
        return microseconds(value) if isinstance(value, str) else None
    except InvalidTime:
        return None


def _strings(value: Any) -> tuple[str, ...]:
    """The distinct texts in a list, sorted, without blank ones; empty if *value* is not a list."""
    names = value if isinstance(value, list) else ()
    return tuple(sorted({name for name in names if isinstance(name, str) and name.strip()}))


def draft(kind: MemoryKind, text: str, *, hard: bool = False) -> MemoryDraft:
    """Draft *text* as a memory of *kind*, keeping its words; if a rule matches, the draft has a subject and a slot.

    >>> draft("fact", "Caroline lives in Boston").object
    'Boston'
    """
    return _parsed_draft(kind, text, hard=hard)._replace(text=text, confidence=1.0)


def _parsed_draft(kind: MemoryKind, text: str, *, hard: bool) -> MemoryDraft:
    """Draft *text* with the subject, object and slot that the rules for *kind* extract from it."""
    withdrawn = withdrawal_in(text) if kind == "policy" else None
    if withdrawn:
        return withdrawal_draft(withdrawn, BY_HAND)._replace(hard=hard)
    if kind == "policy":
        return policy_draft(text, 1.0, BY_HAND, hard=hard)
    liking = preference(text) if kind == "preference" else None
    if liking:
        return _draft_preference(liking, text, UNKNOWN, BY_HAND)
    if kind == "fact":
        # A price that somebody asks to remember is a claim: it contradicts another price of the same thing.
        stated = (fact for fact in facts(text) if fact.predicate not in PRICED)
        drafts = list(filter(None, (fact_draft(fact, UNKNOWN, BY_HAND) for fact in stated)))
        return _merged(drafts) if drafts else _unparsed_fact(text)
    return MemoryDraft(kind, text, 1.0, BY_HAND)


def _merged(drafts: Sequence[MemoryDraft]) -> MemoryDraft:
    """Merge the facts of one text into its first fact, which gets the objects of all facts with the same predicate.

    >>> draft("fact", "I'm allergic to nuts and latex").object
    'nuts and latex'
    """
    first = drafts[0]
    objects = [draft.object for draft in drafts if draft.predicate == first.predicate]
    return first if len(objects) == 1 else first._replace(object=" and ".join(objects), slot="")


def _unparsed_fact(text: str) -> MemoryDraft:
    """Draft a fact that no rule matched.

    A statement of one value at a time (`_IS`) gets a slot in which a later value supersedes it. Any other statement
    with a topic (see :func:`~hmxgraph.text.comparison.claim`) gets a slot in which a denial or another amount
    contradicts it.

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
# The cues of a family of rules are words without which none of its rules can match. To save time, a family is tried
# only on texts that contain one of its cues. Requests, and directives in system prompts, need no cue.

# Maximum number of distinct memories per event.
_MAX_MEMORIES = 8
# The first request is in the first or second event of a session: a greeting may come before it.
_OPENING_EVENTS = 2
# Number of sentences of such an event in which the first request is searched for.
_OPENING_SENTENCES = 6
# Minimum length of a searched text, in characters: a shorter one ("Yes.") states nothing.
_SHORTEST_TEXT = 6


class _Families(NamedTuple):
    """For each family of rules, whether a text may match one of its rules, so that it is worth trying."""

    directives: bool
    house_rules: bool
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

    A user's memory that is also proposed for the tenant occurs twice in the result. *by_hand* marks an event that
    `remember` recorded: its memories take effect, because the caller of `remember` speaks for the tenant. The event
    type alone does not prove such a call, since any source can send an event of that type.
    """
    if event.event_type == "state_change":
        drafts = _state_change(event, collector)
    elif event.event_type == EVENT_TYPE:
        drafts = remembered(event.content)
    else:
        drafts = _text_memories(event, voice)
    distinct = tuple(dict.fromkeys(drafts))[:_MAX_MEMORIES]
    if not distinct:
        return ()
    authority = _OPERATOR if by_hand else _authority_of(event, voice, trust)
    return tuple(memory for draft in distinct for memory in _permitted(draft, authority))


def _text_memories(event: Event, voice: Voice) -> Iterator[MemoryDraft]:
    """Yield the memories in a message or feedback comment by a user, system prompt or peer."""
    text = event.content.get("comment" if event.event_type == "feedback" else "text")
    if voice.part in {"user", "system", "peer"} and isinstance(text, str) and len(text) >= _SHORTEST_TEXT:
        said_by = "" if voice.subject == UNKNOWN else voice.subject
        for draft in _sentence_by_sentence(event, plain_signs(text), voice):
            yield draft._replace(said_by=said_by)


def _opens_session(event: Event) -> bool:
    """Whether a message is among the first of its session, by its sequence number or by a mark of its importer."""
    return event.sequence < _OPENING_EVENTS or event.metadata.get("opening") is True


def _sentence_by_sentence(event: Event, text: str, voice: Voice) -> Iterator[MemoryDraft]:
    """Yield the first request, if *event* opens the session, and the memories of each sentence in *text*."""
    # Drop Markdown's "**", which would hide cues; sentences() drops it too.
    families = _families(text.lower().replace("**", ""), voice)
    opens = voice.part == "user" and event.event_type == "message" and _opens_session(event)
    if not opens and not any(families):
        return
    text_sentences = sentences(text)
    if opens:
        yield from _first_request(text_sentences, families)
    fact_subject = _fact_subject(text_sentences, voice) if families.facts else voice.subject
    for previous, sentence in pairwise(["", *text_sentences]):
        yield from _sentence_memories(_with_antecedent(sentence, previous), voice, families, fact_subject)


# "You may book them again", and the name that begins the sentence before.
_ALLOWED_AGAIN = re.compile(r"(.*\b(?:may|can|allowed to)\b.*?) (?:them|him|her|it)\b(.*\b(?:again|once more)\b.*)")
_NAMED_FIRST = re.compile(rf"(?:The )?([{CAPITALS}][\w'&-]+(?: (?:& )?[{CAPITALS}][\w'&-]+)+)\b")


def _with_antecedent(sentence: str, previous: str) -> str:
    """*sentence*; if it allows something again, with the name before it in place of a pronoun.

    >>> _with_antecedent("You may book them again.", "Termo Rossi apologised to us.")
    'You may book Termo Rossi again.'
    """
    allowed, named = _ALLOWED_AGAIN.fullmatch(sentence), _NAMED_FIRST.match(previous)
    return f"{allowed[1]} {named[1]}{allowed[2]}" if allowed and named else sentence


def _fact_subject(text_sentences: list[str], voice: Voice) -> str:
    """The subject of first-person facts: the speaker, or the name that an unnamed user states if it states just one."""
    if voice.subject != UNKNOWN:
        return voice.subject
    stated_facts = (fact for sentence in text_sentences for fact in _facts.facts(sentence))
    names = {fact.object for fact in stated_facts if fact.predicate == "name" and not fact.subject}
    return names.pop() if len(names) == 1 else voice.subject


def _families(lowered: str, voice: Voice) -> _Families:
    """The families of rules that are worth trying on a text, given in lower case.

    A conversation between people (`Voice`) yields no directives or withdrawals. A system prompt yields nothing else,
    and its directives need no cue.
    """
    cue_words = cues(lowered)
    person = voice.part != "system"
    may_direct = voice.part != "peer"
    return _Families(
        may_direct and (not person or _directives.may_contain_directive(lowered[:LONGEST_TALK])),
        may_direct and bool(_house_rules.SIGNS.search(lowered[:LONGEST_TALK])),
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
    return any(phrase in lowered for phrase in (*_fact_rules.PHRASES, *_facts.WISHES, *_facts.ROUTINE_CUES))


def _sentence_memories(sentence: str, voice: Voice, families: _Families, fact_subject: str) -> Iterator[MemoryDraft]:
    """Yield the memories of a sentence; *fact_subject* is the subject of its first-person facts and rules."""
    withdrawn = _directives.withdrawal_in(sentence) if families.withdrawals else None
    if withdrawn:
        yield withdrawal_draft(withdrawn, "directive", speaker=fact_subject)
    directive = None if withdrawn else _rule_in(sentence, families, system=voice.part == "system")
    if directive:
        yield policy_draft(directive.text, directive.confidence, "directive", hard=directive.hard, speaker=fact_subject)
    liking = _preferences.preference(sentence) if families.preferences else None
    if liking:
        yield _draft_preference(liking, _attributed(liking.text, voice), voice.subject, "preference")
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
    is_unmatched = not (withdrawn or directive or liking or stated_facts or goal)
    may_state = is_unmatched and families.facts and voice.part == "user"
    statement = (_facts.noted(sentence) or _facts.routine(sentence)) if may_state else ""
    if statement:
        yield _noted(statement, voice)


def _rule_in(sentence: str, families: _Families, *, system: bool) -> _directives.Directive | None:
    """The directive in *sentence*, else the house rule."""
    directive = _directives.directive_in(sentence, system=system) if families.directives else None
    return directive or (_house_rules.house_rule_in(sentence) if families.house_rules else None)


def _noted(statement: str, voice: Voice) -> MemoryDraft:
    """Draft a statement to remember, or of what is regularly so, that no other rule matches."""
    personal = bool(_FIRST_PERSON.search(statement))
    draft = _unparsed_fact(_attributed(statement, voice) if personal else statement)
    return draft._replace(confidence=0.75, extraction_method="statement", personal=personal)


def _attributed(text: str, voice: Voice) -> str:
    return text if voice.subject in {"", UNKNOWN} else f"{voice.subject}: {text}"


def _first_request(text_sentences: list[str], families: _Families) -> Iterator[MemoryDraft]:
    """Yield the first request among the sentences, if any, as a goal."""
    for sentence in text_sentences[:_OPENING_SENTENCES]:
        # A standing rule is not a goal: "Always run the tests before you push".
        goal = None if _rule_in(sentence, families, system=False) else request(sentence)
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
        return _extraction_of_result(_ResultKey(event))
    return _compute_extraction(event, trust, by_hand=by_hand)


class _ResultKey:
    """The cache key of a tool result: its source, its tags, and its content without the call id.

    Extraction reads nothing else of a result. The key holds its event only until the extraction has been computed.
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
        return isinstance(other, _ResultKey) and self._digest == other._digest


@lru_cache(maxsize=1_024)
def _extraction_of_result(result: _ResultKey) -> Extraction:
    """The extraction from a tool result, cached because agents repeat lookups.

    No trust policy is needed, since a tool result yields no memories.
    """
    event, result.event = result.event, None  # the cache keeps the key and must not keep the event
    assert event is not None
    return _compute_extraction(event, DEFAULT_TRUST, by_hand=False)


def _compute_extraction(event: Event, trust: TrustPolicy, *, by_hand: bool) -> Extraction:
    """The whole extraction of one event, without the cache."""
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
