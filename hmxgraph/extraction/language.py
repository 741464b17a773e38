"""Types and helpers that all extraction rules share: results, sentences, verbs, patterns, speakers, hedges."""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.events import IMPORT, UNHEARD, Event, origin_of, speaks_for_user
from hmxgraph.protocol.trust import CHANNELS
from hmxgraph.text.comparison import claim
from hmxgraph.text.lines import PARTS, Part, label_of, named_speaker, speaking_source
from hmxgraph.text.terms import wording, words

# Results of extraction: plain tuples, because thousands are created per second.

MemoryKind: TypeAlias = Literal["fact", "preference", "policy", "goal"]
Role: TypeAlias = Literal["", "title", "speaker", "tag"]


class Ref(NamedTuple):
    """A reference to an entity: type and normalised name."""

    type: str
    normalised: str


class Mention(NamedTuple):
    """An entity that an event mentions.

    ``role`` says where: as the event's title, its speaker or a tag; empty for its text. ``confidence``, in [0, 1], is
    the confidence that this is a name at all.
    """

    type: str
    name: str
    normalised: str
    times: int = 1
    role: Role = ""
    confidence: float = 1.0
    aliases: tuple[str, ...] = ()

    @property
    def ref(self) -> Ref:
        """The entity's type and normalised name."""
        return Ref(self.type, self.normalised)


class Relation(NamedTuple):
    """A typed relation between two entities that the same event mentions."""

    source: Ref
    relation_type: str
    target: Ref
    confidence: float


# Extraction method of memories given explicitly through `remember`.
BY_HAND = "remembered"


class Terms(NamedTuple):
    """The options that a caller of `remember` gave with a memory.

    The memory holds in ``scopes`` (none: everywhere), and until ``expires_us``. ``aliases`` are further names by which
    a question finds it. A ``pinned`` memory is part of every pack. ``supersedes`` is the id of the memory it replaces.
    """

    scopes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    pinned: bool = False
    expires_us: int | None = None
    supersedes: str = ""


NO_TERMS = Terms()


class MemoryDraft(NamedTuple):
    """A memory before it is stored: a fact, preference, policy or goal.

    ``slot`` identifies a question that has one answer at a time, such as where Ann lives; another ``answer`` in the
    same slot supersedes or contradicts this one. The slot is empty if several answers can hold at once. ``said_by`` is
    the speaker; empty for unnamed users, system prompts, state changes and `remember`.

    ``owner`` is the user (or the session of an unnamed user) whom the memory is bound to; empty for the whole tenant.
    ``unproven`` marks a proposal by a source that cannot speak for the tenant. A proposal takes effect once enough
    independent sources have made it; ``origin`` identifies the source for that count. ``personal`` marks a fact about
    the speaker or somebody close to them. ``implied`` holds words by which a question finds the memory although its
    text lacks them: "I prefer afternoons" is about appointments.
    """

    kind: MemoryKind
    text: str
    confidence: float
    extraction_method: str
    subject: str = ""
    predicate: str = ""
    object: str = ""
    hard: bool = False
    slot: str = ""
    about: tuple[Ref, ...] = ()
    said_by: str = ""
    owner: str = ""
    unproven: bool = False
    origin: str = ""
    personal: bool = False
    implied: str = ""
    terms: Terms = NO_TERMS

    @property
    def answer(self) -> str:
        """The answer that the memory gives to the question of its slot."""
        if self.predicate:
            return wording(f"{self.predicate} {self.object}")
        stated = claim(self.text)
        return f"{stated.answer} {stated.topic}".strip()

    @property
    def voice(self) -> str:
        """Whose answer this is: a new answer in the same voice is a change of mind, in another voice a disagreement.

        In two cases the answer itself serves as the voice, so that a different answer is always a disagreement: the
        name of a user, and a plain statement ("the cluster has 5 nodes") that mentions no change.
        """
        is_user_name = self.predicate == NAME and self.owner
        is_plain = self.slot and not self.predicate and not self.terms.supersedes and not claim(self.text).renewed
        return self.answer if is_user_name or is_plain else self.said_by

    @property
    def is_hard_by_hand(self) -> bool:
        """Whether this is a hard rule given through `remember`; nothing that is said in a message replaces it."""
        return self.hard and self.extraction_method == BY_HAND


class Extraction(NamedTuple):
    """Everything found in one event; ``proposals`` are memories that its source has no authority to make effective."""

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    memories: tuple[MemoryDraft, ...] = ()
    proposals: tuple[MemoryDraft, ...] = ()

    @property
    def drafts(self) -> tuple[MemoryDraft, ...]:
        """Memories and proposals, as they are stored."""
        return (*self.memories, *self.proposals)


# Helpers for patterns.

_WORD = re.compile(r"[\w'-]+")
_PUNCTUATION = str.maketrans(dict.fromkeys('.,:;!?()[]{}"*_/', " "))


def one_of(*phrases: str) -> str:
    """A pattern that matches any of *phrases*, which are themselves patterns.

    >>> one_of("make sure", "be sure")
    '(?:make sure|be sure)'
    """
    return f"(?:{'|'.join(phrases)})"


def cues(text: str) -> frozenset[str]:
    """The words of a lower-case *text*, used to decide which rules are worth trying.

    >>> sorted(cues("don't go, i'd say: never!"))
    ["don't", 'go', "i'd", 'never', 'say']
    """
    if text.isascii():
        return frozenset(text.translate(_PUNCTUATION).split())
    return frozenset(_WORD.findall(text))


def pattern(*parts: str) -> re.Pattern[str]:
    """Compile the concatenated *parts*, ignoring case."""
    return re.compile("".join(parts), re.IGNORECASE)


# English base verbs that begin directives and requests.

BASE_VERBS = frozenset(
    """
    accept access add adjust alert allow analyse analyze announce answer apply approve archive arrange ask assign
    attach audit automate back backup bcc benchmark book borrow break bring build buy bypass calculate call cancel
    capture cc change charge check choose cite clarify clean clear clone close collect combine commit compare compile
    complete compose configure confirm connect consider consult contact continue convert cook copy correct cover
    create cross cut debug decide define delete deliver deploy describe design determine develop diagnose disable
    discuss display document double-check downgrade download draft draw drink drive drop eat edit email enable ensure
    enter escalate estimate evaluate examine exchange execute expand explain explore export expose extend extract feed
    fetch figure file fill filter find finish fix flag follow force format forward generate get give greet grip handle
    help hide hire hold identify implement import improve include increase index inform initialize insert inspect
    install integrate investigate invite invoke issue join keep label launch leave lend let lift limit link list load
    locate lock log look lower mail maintain make manage map mark measure mention merge migrate mock modify monitor
    mount move name notify obtain offer open optimise optimize order organise organize overwrite pass paste pause pay
    perform pick pin ping place plan plot post prefer prepare present preserve prevent print prioritize process
    produce profile prompt propose protect prove provide publish pull purchase push put query quote read rebase reboot
    rebuild recommend record recover redirect reduce refactor refer reformat refresh refund register reject release
    reload remind remove rename render rent reorder repair repeat replace reply report reproduce request require
    reroute reschedule research reserve reset resolve respond restart restore retrieve retry return reuse revert
    review revise revoke rewrite ride roll rotate round run sanitize save scale scan schedule search secure select
    sell send separate serve set share ship show sign simplify skip solve sort speak specify split squash stage start
    state stick stop store structure submit suggest summarise summarize support suspend swap sweep switch sync tag
    take teach tell terminate test touch track train transfer transform translate treat trigger trim troubleshoot try
    turn type undo uninstall unload unlock unsubscribe update upgrade upload use validate verify view visit visualise
    visualize wait walk warn wash watch wear work wrap write
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Words that show, directly after "always" or "do not", that the sentence is not a directive.
NOT_IMPERATIVE = frozenset(
    """
    a an the this that these those my your his her our their it he she we they i you been had was were is are am
    got went saw knew thought felt met heard made said told came took gave found left seen done gone too so very
    more less most as at in on up down out off over under for from to of with by about into than then there here
    where when who what why how and or but if because not no just quite really well good great nice happy sad
    fun easy hard available ready able best better worse enough ever even again would could should will can may
    might must did does didn't couldn't wouldn't hurts quit boring have wrong right sure fully end cool
    """.split()  # noqa: SIM905 - as above
)


# Splitting a text into sentences, without markup and quoted lines, and with ASCII quotes and dashes.

# Typographic characters and their ASCII forms: quotes, then dashes and spaces. Rules need to handle only ASCII.
QUOTES = (("\u2018", "'"), ("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"'))
_DASHES = (("\u2013", "-"), ("\u2014", "-"), ("\u2011", "-"), ("\u00a0", " "))
# Abbreviations before a name. Their full stop does not end a sentence.
ABBREVIATIONS = ("Dr", "Mr", "Mrs", "Ms", "St", "Mt", "Ft", "Lt", "Col", "Gen", "Rev", "Prof", "Sgt", "Capt")
_NOT_ABBREVIATED = "".join(rf"(?<!\b{word}\.)" for word in (*ABBREVIATIONS, "vs", "ext", "[A-Z]", r"e\.g", r"i\.e"))
# Between sentences: after punctuation (except that of "Dr.", "e.g." and initials), line ends, semicolons, dashes.
_SPLIT = re.compile(
    rf"(?<=[.!?\u2026]){_NOT_ABBREVIATED}[\")*]*\s+"
    r"|\n+|;\s+|\s+-+\s+(?=[A-Z])"
)
# Fenced code, quoted lines, bracketed notes, and markers such as ###STOP###.
_FENCED = re.compile(r"```.*?(?:```|\Z)|^>.*$|\[[^\]\n]{0,300}\]|###\w+###", re.DOTALL | re.MULTILINE)
# Program output pasted into a message: a traceback with its error, a frame with its line, a line with an error.
_PRINTED = re.compile(
    r"^[ \t]*Traceback \(most recent call last\):\n(?:[ \t]+\S.*\n|[ \t]*\n)*(?:\S.*)?$"
    r"|^[ \t]*(?:File \"[^\"\n]+\", line \d+\b.*|at \S.*[:(]\S*:\d+\)?)$(?:\n[ \t]{2,}\S.*$)*"
    r"|^[ \t]*(?:[A-Za-z_]\w*\.)*(?:\w*Error|\w+Exception)(?: code)?: .*$",
    re.MULTILINE,
)
# "- ", "2. ", "a) ".
_BULLET = re.compile(r"^(?:[-*\u2022>#\s]+|\(?\d{1,2}[.)]\s+|[a-z]\)\s+)+")
# Limits in characters. Longer texts are documents; only their beginning is read. Longer sentences are skipped.
LONGEST_TALK = 12_000
_LONGEST_SENTENCE = 300


def plain_signs(text: str, signs: tuple[tuple[str, str], ...] = (*QUOTES, *_DASHES)) -> str:
    r"""*text* with the characters in *signs* replaced; by default, typographic quotes, dashes and spaces by ASCII ones.

    >>> plain_signs("I\u2019d say \u201cyes\u201d \u2013 now")
    'I\'d say "yes" - now'
    """
    if not text.isascii():
        for sign, plain in signs:
            text = text.replace(sign, plain)
    return text


def sentences(text: str) -> list[str]:
    r"""The sentences of 3 to 300 characters in the first 12,000 characters of *text*.

    Fenced code, quoted lines, bracketed notes and printed errors are left out.

    >>> sentences("Hi! See Prof. No. [shares image]\n- **Always** test.\n```rm -rf```")
    ['Hi!', 'See Prof. No.', 'Always test.']
    >>> sentences('It fails:\nFile "a.py", line 3, in f\n  g()\nKeyError: the key must be set. Set it.\nWhy?')
    ['It fails:', 'Why?']
    """
    plain = text[:LONGEST_TALK]
    if "line " in plain or "rror" in plain or "xception" in plain or "at " in plain:
        plain = _PRINTED.sub("", plain)
    if "[" in plain or "`" in plain or ">" in plain or "#" in plain:
        plain = _FENCED.sub("\n", plain)
    if "**" in plain:
        plain = plain.replace("**", "")
    trimmed = (_BULLET.sub("", part).strip(' \t"*') for part in _SPLIT.split(plain))
    return [sentence for sentence in trimmed if 2 < len(sentence) <= _LONGEST_SENTENCE]


# The speaker of an event and their part in the conversation decide whether words can be a directive or a preference.

_NOT_PERSONS = CHANNELS | PARTS.keys()
# The subject of an unnamed speaker. It may be a different person in every session.
UNKNOWN = "the user"
# The form of a person's name in a fact: up to four words without the punctuation of a sentence or a heading.
_NAME_LIKE = re.compile(r"[^\s:;!?#<>\[\]{}|,]{1,80}(?: [^\s:;!?#<>\[\]{}|,]{1,40}){0,3}")
# The predicate of facts about somebody's name.
NAME = "name"


class Voice(NamedTuple):
    """The speaker of an event: name (empty if unknown), part in the conversation, and subject of first-person facts.

    The part ``peer`` is that of a person who is also the agent of the event, as in a recorded conversation between
    people. What peers tell each other to do is no directive for an agent.
    """

    name: str
    part: Part
    subject: str


def voice_of(event: Event) -> Voice:
    """The voice of a message or of a feedback comment; for other events, the part is ``none``.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="Caroline", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="Caroline",
    ...     content={"role": "user", "text": "Hey Mel!"})
    >>> voice_of(event)
    Voice(name='Caroline', part='peer', subject='Caroline')
    >>> voice_of(event.model_copy(update={"metadata": {"origin": "harness"}})).part
    'none'
    """
    if event.event_type == "feedback":
        return Voice("", "user", _subject(event, ""))
    if event.event_type != "message":
        return Voice("", "none", "")
    name = speaker_of(event) or ""
    part = PARTS.get(str(event.content.get("role", "user")).lower(), "none")
    if part in {"user", "system"} and not speaks_for_user(event.metadata):
        part = "none"
    if name and part == "user" and event.source == name == event.agent_id:
        part = "peer"
    return Voice(name, part, _subject(event, name) if part in {"user", "peer"} else "")


def speaker_of(event: Event) -> str | None:
    """The person named as speaker by the content, the metadata or the source; None if there is none.

    A source that is a role or a channel (``Customer``, ``Slack``) is not a person, although packs use it as a label.
    """
    if named := named_speaker(event):
        return named
    source = speaking_source(event)
    return None if source is None or source.lower() in _NOT_PERSONS else source


def _subject(event: Event, name: str) -> str:
    """The subject of the speaker's facts: *name*, else the user id, else "the user".

    A name or id that reads like a sentence is skipped.
    """
    names = (candidate for candidate in (name, user_id_of(event)) if candidate and _NAME_LIKE.fullmatch(candidate))
    return next(names, UNKNOWN)


def user_id_of(event: Event) -> str | None:
    """The user id in the metadata of *event*; None if it has none."""
    return _user_id_in(event.metadata)


def _user_id_in(metadata: Mapping[str, Any]) -> str | None:
    for field in ("user_id", "userId", "customer_id"):
        value = metadata.get(field)
        if isinstance(value, str) and value:
            return value
    return None


# The user whom an event names: memories and sessions are bound to users by these keys.

# Origins of messages that are not the user's words, whatever role the message has.
NOT_THE_USER = UNHEARD | {IMPORT}


def user_key(name: str) -> str:
    """The normal form of a user id or name, the same for all its spellings.

    >>> user_key("Emma_Kim_9957") == user_key("emma kim 9957")
    True
    """
    return " ".join(words(name)) or name.strip()


def session_owner(session_id: str) -> str:
    """The owner of what an unnamed user states: the session, since the user may be another one in the next session."""
    return f"session\0{session_id}"


def speaking_user(event: Event) -> str | None:
    """The key of the user who speaks in *event*: user id or name in its metadata, else the person who is its agent.

    In a conversation between people, each person is the agent of their own messages. Any other source may be a channel
    or a role ("Slack", "Customer") that many people share.
    """
    return user_key(named_user(event) or _person_as_agent(event)) or None


def named_user(event: Event) -> str:
    """The user id or user name in the metadata of *event*; empty if it has neither."""
    return user_in(event.metadata)


def user_in(metadata: Mapping[str, Any]) -> str:
    """The user id or user name in *metadata*; empty if it has neither."""
    name = metadata.get("user_name")
    return _user_id_in(metadata) or (name if isinstance(name, str) else "")


def _person_as_agent(event: Event) -> str:
    source = speaking_source(event) if event.event_type == "message" else None
    return source if source and source == event.agent_id and source[0].isupper() else ""


def user_of_session(event: Event) -> str | None:
    """The user to whom the session of a message belongs; None unless a named user wrote the message."""
    if event.event_type != "message" or origin_of(event.metadata) in NOT_THE_USER:
        return None
    name = speaking_user(event)
    role = event.content.get("role", "user")
    by_user = isinstance(role, str) and PARTS.get(role.lower()) == "user"
    return name if name and by_user and not label_of("message", event.source or "", role) else None


# The speaker's stance: a fact must not be hedged, attributed to others or retracted in the same sentence.

Attitude: TypeAlias = Literal["stated", "denied", "open"]

# Words before a statement, in the same sentence, that make it imagined, conditional or past: "when I was a nurse".
_IRREALIS = pattern(
    r"\b(?:if|wish|when i was|imagine|used to|as though|would|whether|pretend|suppose|until|before|unless|in case"
    r"|assuming|provided)\b[^.;]*$"
)
# Denials, searched for between subject and object.
_DENIAL = pattern(r"(?:\b(?:not|no longer|never)\b|n't\b)")
_DOUBTS = (
    "probably", "possibly", "perhaps", "maybe", "presumably", "supposedly", "allegedly", "apparently", "reportedly",
    "seemingly", "potentially", "likely",
)  # fmt: skip
# Words between subject and object that leave a statement open.
_HEDGE = pattern(rf"\b{one_of(*_DOUBTS)}\b|\b(?:hardly|barely|scarcely|almost|nearly|might|(?-i:may)|could|neither)\b")
# An indefinite object states nothing.
_INDEFINITE = pattern(
    rf"(?:{one_of(*_DOUBTS)}|not|never|(?:any|no|some|every)(?:thing|one|body)|no one|none|neither|either|any|whatever"
    r"|much|all|both)\b"
)
# A relation mentioned in passing is presupposed, not hedged: "I think my friend Ann knows".
_PRESUPPOSED = pattern(r"my\b(?!.*(?:\b(?:is|are|was|been)\b|'s\b|:))")
# Verbs of saying and thinking leave a statement open; "know", "notice" and "find out" assert it.
_SAYING = (
    "said", "says?", "saying", "thinks?", "thinking", "thought", "believe[sd]?", "claim(?:s|ed|ing)?", "assume[sd]?",
    "assuming", "suppose[sd]?", "suspect(?:s|ed)?", "doubt(?:s|ed)?", "guess(?:es|ed)?", "reckon(?:s|ed)?",
    "figure[sd]?", "hears?", "heard", "allege[sd]?", "insist(?:s|ed)?", "den(?:y|ies|ied)", "told", "tells?", "telling",
    "wonder(?:s|ed)?", "ask(?:s|ed)?", "writes?", "wrote", "state[sd]", "suggest(?:s|ed)?", "expect(?:s|ed)?",
    "dream(?:s|t|ed)?", "feels?", "felt", "seems?", "impl(?:y|ies|ied)", "joke[sd]?", "joking",
    "hope[sd]?", "hoping", "fear(?:s|ed)?", "lists?", "listed", "ruled out",
)  # fmt: skip
# Words in the clause before a statement that attribute or doubt it: "Tom says", "I'm not sure", "there is a rumour".
_CLAIM = pattern(
    rf"\b{one_of(*_SAYING)}\b|\b(?:not|n't|hardly) (?:so |quite |entirely |really )?"
    r"(?:that|true|sure|certain|convinced|clear|the case|like)\b|\b(?:almost|fairly|pretty|quite) (?:sure|certain)\b"
    r"|\b(?:rumou?r|impression|idea|unsure|untrue)\b"
)
# Speakers who report their own words assert them: "I told you that ...".
_SELF_QUOTE = pattern(
    r"\b(?:(?:i|we)(?:'ve|'d|'ll| have| had| will| can| must| did| do| should| want| wanted| like| need| needed| to"
    r"| already| just| also| once| again| only)*|let me(?: just| also)?)"
    r" (?:said|say|told|tell|mentioned|mention|wrote|stated|confirm)\b"
)
# Where a clause ends.
_CLAUSE = pattern(r"[.!?;:,]\s|\s-+\s|\b(?:but|because|since|so|although|though|yet|however|while|whereas)\b")
# Directly before a statement: its source, or a hedge.
_ATTRIBUTION = pattern(
    rf"(?:\b{one_of(*_SAYING)}(?: (?:me|us|you|him|her|them|people))?\s*[:,]?\s*[\"'(]*"
    rf"|\baccording to [^,;]*[,;]\s*|(?:^|[\s,;]){one_of(*_DOUBTS)}[,\s]*)$"
)
# After a statement: a retraction, such as "but that is wrong" or "not true any more".
_WRONG = one_of(
    "wrong", "mistakes?", "mistaken", "errors?", "false", "untrue", "incorrect", "inaccurate", "nonsense", "rubbish",
    "lies?", "jok(?:e|ing)", "kidding", "rumou?rs?", "misunderstanding", "mix-up", "typo", "outdated", "out of date",
)  # fmt: skip
_RETRACTION = pattern(
    r"\b(?:that|which|this|it|they|he|she)(?:'s|'re| is| are| was| were| turned out to be| has been)"
    rf"(?: (?:just|all|only|simply|plain|completely|totally|clearly|an?|the|their|his|her|my|your|old))* {_WRONG}\b"
    rf"|[,(-]\s*(?:just |only |no,? )?{_WRONG}\W*$"
    r"|(?:\b(?:but|though|although|yet|and|which)\b|[,(-])\s*(?:(?:in fact|actually|really|of course|no),? )?"
    r"(?:(?:i|we|that|this|it|he|she|which)\b)?"
    r"(?:'m|'s|'re|\s|\b(?:am|are|is|was|were|do|does|did|have|has|had)(?=\b|n't))*(?:\bnot|n't)"
    r"(?: (?:true|right|correct|accurate|so|the case|any ?more|any longer|really|actually|at all|anyway))*\W*$"
)
# After a statement: its source, or a hedge, such as "or so they say" or ", probably".
_LATE_ATTRIBUTION = pattern(
    rf"[\s\w]{{0,20}}[,(]\s*(?:or so|according to|{one_of(*_DOUBTS)}"
    r"|(?:i|we|he|she|they|people|[a-z]+) (?:think|guess|believe|suppose|say|claim|suspect|reckon)s?)\b"
)


# The occasion on which a statement may be needed: "In case you have to call: our contact is Ann".
_WHAT_FOR = pattern(r"^(?:and |also,? |just )?(?:in case|if) you [^:;.!?]{2,60}:")


def attitude_to(sentence: str, start: int, object_start: int, end: int) -> Attitude:
    """The speaker's stance on the statement from *start* to *end* in *sentence*; its object begins at *object_start*.

    ``open`` means that the speaker does not assert it: it is hedged, imagined, attributed to others or retracted.

    >>> attitude_to("I live in Oslo.", 0, 10, 14), attitude_to("I'm not allergic to nuts", 0, 20, 24)
    ('stated', 'denied')
    >>> attitude_to("Tom said I live in Oslo.", 9, 19, 23), attitude_to("I live in Oslo, but that is wrong.", 0, 10, 14)
    ('open', 'open')
    >>> attitude_to("In case you need it: I live in Oslo.", 21, 31, 35)
    'stated'
    """
    before, inside = sentence[:start], sentence[start:object_start]
    if (
        _IRREALIS.search(_WHAT_FOR.sub("", sentence[: start + 1]))
        or _HEDGE.search(inside)
        or _INDEFINITE.match(sentence, object_start)
    ):
        return "open"
    if not _PRESUPPOSED.match(inside) and (is_attributed(before) or _LATE_ATTRIBUTION.match(sentence, end)):
        return "open"
    if _DENIAL.search(inside):
        return "denied"
    return "open" if is_retracted(sentence, end) and not _PRESUPPOSED.match(inside) else "stated"


def is_attributed(before: str) -> bool:
    """Whether the words before a statement attribute it to somebody, doubt it or open a quotation."""
    without_self_quotes = _SELF_QUOTE.sub("", before)
    last_clause = _CLAUSE.split(without_self_quotes)[-1]
    return before.count('"') % 2 == 1 or bool(_CLAIM.search(last_clause) or _ATTRIBUTION.search(without_self_quotes))


def is_retracted(sentence: str, end: int) -> bool:
    """Whether the words after a statement that ends at *end* retract it.

    >>> is_retracted("I live in Oslo, but that is wrong.", 14), is_retracted("I live in Oslo, but I don't like it.", 14)
    (True, False)
    """
    return bool(_RETRACTION.search(sentence, end))
