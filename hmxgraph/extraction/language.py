"""Common ground of the extraction rules: sentences, verbs, patterns, the speaker, and the values found."""

import re
from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.events import Event
from hmxgraph.text.lines import named_speaker, speaking_source
from hmxgraph.text.terms import wording

# What extraction finds in one event: plain tuples, because thousands of them are made a second.

MemoryKind: TypeAlias = Literal["fact", "preference", "policy", "goal"]
Role: TypeAlias = Literal["", "title", "speaker", "tag"]


class Ref(NamedTuple):
    """An entity as others name it: type and normalised name."""

    type: str
    normalised: str


class Mention(NamedTuple):
    """An entity that an event speaks of.

    ``role`` says how: as its own title, as its speaker, as a tag, or (empty) in passing. ``confidence`` is how sure it
    is that this is a name at all, in [0, 1].
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


# How a memory came to be known that somebody wanted to be remembered.
BY_HAND = "remembered"


class MemoryDraft(NamedTuple):
    """Something worth keeping: a stated fact, a preference, a policy or a goal.

    ``slot`` names the question that has one answer at a time, such as subject and predicate; in one slot another
    ``answer`` supersedes or contradicts. Empty where several answers can hold at once. ``said_by`` is the person whose
    words these are; empty for whoever may decide: a system, or the one user.
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

    @property
    def answer(self) -> str:
        """What distinguishes this memory from others of its slot."""
        return wording(f"{self.predicate} {self.object}")

    @property
    def laid_down(self) -> bool:
        """Whether somebody laid it down by hand as a rule without exception: nothing said by the way replaces it."""
        return self.hard and self.extraction_method == BY_HAND


class Extraction(NamedTuple):
    """Everything found in one event."""

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    memories: tuple[MemoryDraft, ...] = ()


# Patterns built from lists of phrases.

_WORD = re.compile(r"[\w'-]+")
_PUNCTUATION = str.maketrans(dict.fromkeys('.,:;!?()[]{}"*_/', " "))


def one_of(*phrases: str) -> str:
    """A pattern for any of *phrases*, which are patterns themselves.

    >>> one_of("make sure", "be sure")
    '(?:make sure|be sure)'
    """
    return f"(?:{'|'.join(phrases)})"


def cues(text: str) -> frozenset[str]:
    """The words of a lower-case *text* by which rules decide whether to look at it at all.

    >>> sorted(cues("don't go, i'd say: never!"))
    ["don't", 'go', "i'd", 'never', 'say']
    """
    if text.isascii():
        return frozenset(text.translate(_PUNCTUATION).split())
    return frozenset(_WORD.findall(text))


def pattern(*parts: str) -> re.Pattern[str]:
    """The parts as one pattern that does not mind capitals."""
    return re.compile("".join(parts), re.IGNORECASE)


# English verbs in their plain form, as orders and requests begin with them.

BASE_VERBS = frozenset(
    """
    accept access add adjust alert allow analyse analyze announce answer apply approve archive arrange ask
    assign attach audit automate back backup bcc benchmark book break build buy bypass calculate call cancel capture cc
    change charge check choose cite clarify clean clear clone close collect combine commit compare compile
    complete compose configure confirm connect consider consult contact continue convert copy correct cover
    create cut debug decide define delete deliver deploy describe design determine develop diagnose disable
    discuss display document double-check download downgrade draft draw drop edit email enable ensure enter
    escalate estimate evaluate examine exchange execute expand explain explore export expose extend extract
    fetch figure file fill filter find finish fix flag follow force format forward generate get give handle help
    hide hold identify implement import improve include increase index inform initialize insert inspect install
    integrate investigate invite invoke issue join keep label launch leave let limit link list load locate lock
    log look lower mail maintain make manage map mark measure mention merge migrate mock modify monitor mount
    move name notify obtain offer open optimise optimize order organise organize overwrite pass paste pause pay
    perform pick pin ping place plan plot post prefer prepare present preserve prevent print prioritize process produce
    profile prompt propose protect provide prove publish pull purchase push put query quote read rebase reboot
    rebuild recommend record recover redirect reduce refactor refer refund reformat refresh register reject
    release reload remind remove rename render reorder repair repeat replace reply report reproduce request
    require reroute research reschedule reserve reset resolve respond restart restore retrieve retry return
    reuse revert review revise revoke rewrite roll rotate round run sanitize save scale scan schedule search
    secure select send separate serve set share ship show sign simplify skip solve sort speak specify split
    squash stage start state stick stop store structure submit suggest summarise summarize support suspend swap
    switch sync tag take tell terminate test track train transfer transform translate treat trigger trim
    troubleshoot try turn type undo uninstall unlock unsubscribe update upgrade upload use validate verify view
    visualise visualize wait walk warn watch work wrap write
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# What follows "always" and "never" where they give no order.
NOT_ORDERED = frozenset(
    """
    a an the this that these those my your his her our their it he she we they i you been had was were is are am
    got went saw knew thought felt met heard made said told came took gave found left seen done gone too so very
    more less most as at in on up down out off over under for from to of with by about into than then there here
    where when who what why how and or but if because not no just quite really well good great nice happy sad
    fun easy hard available ready able best better worse enough ever even again would could should will can may
    might must did does didn't couldn't wouldn't hurts quit boring have wrong right sure fully end cool
    """.split()  # noqa: SIM905 - as above
)


# Sentences of talk, without what is only markup, quotation or decoration, in plain quotes and dashes.

# Typewriter signs for typographic ones, so that no rule has to know both; quotes, then dashes and blanks.
QUOTES = (("\u2018", "'"), ("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"'))
_DASHES = (("\u2013", "-"), ("\u2014", "-"), ("\u2011", "-"), ("\u00a0", " "))
_SPLIT = re.compile(
    r"(?<=[.!?\u2026])(?<!\b[A-Z]\.)(?<!\b(?:Dr|Mr|Ms|St|vs)\.)(?<!\bMrs\.)(?<!e\.g\.)(?<!i\.e\.)[\")*]*\s+"
    r"|\n+|;\s+|\s+-+\s+(?=[A-Z])"
)
_FENCED = re.compile(r"```.*?(?:```|\Z)|^>.*$|\[[^\]\n]{0,300}\]|###\w+###", re.DOTALL | re.MULTILINE)
_BULLET = re.compile(r"^(?:[-*\u2022>#\s]+|\(?\d{1,2}[.)]\s+|[a-z]\)\s+)+")
# Characters. What is longer is a document, and its beginning is read.
LONGEST_TALK = 12_000
_LONGEST_SENTENCE = 300


def plain_signs(text: str, signs: tuple[tuple[str, str], ...] = (*QUOTES, *_DASHES)) -> str:
    r"""*text* with straight quotes and simple dashes.

    >>> plain_signs("I\u2019d say \u201cyes\u201d \u2013 now")
    'I\'d say "yes" - now'
    """
    if not text.isascii():
        for sign, plain in signs:
            text = text.replace(sign, plain)
    return text


def sentences(text: str) -> list[str]:
    r"""The sentences of *text* of at most 300 characters; code, quoted lines and bracketed notes are left out.

    >>> sentences("Hi! See Dr. No. [shares image]\n- **Always** test.\n```rm -rf```")
    ['Hi!', 'See Dr. No.', 'Always test.']
    """
    plain = text[:LONGEST_TALK]
    if "[" in plain or "`" in plain or ">" in plain or "#" in plain:
        plain = _FENCED.sub("\n", plain)
    if "**" in plain:
        plain = plain.replace("**", "")
    found = (_BULLET.sub("", part).strip(' \t"*') for part in _SPLIT.split(plain))
    return [sentence for sentence in found if 2 < len(sentence) <= _LONGEST_SENTENCE]


# Who speaks in an event, and to whom: what decides whether words are a directive, a preference or just talk.

Part: TypeAlias = Literal["user", "assistant", "system", "peer", "none"]
_PARTS: dict[str, Part] = {
    **dict.fromkeys(("user", "human", "customer", "client"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer", "operator"), "system"),
}
_CHANNELS = frozenset(
    {"slack", "teams", "discord", "telegram", "whatsapp", "email", "web", "cli", "api", "sms", "phone", "chat"}
)
_NOBODY = _CHANNELS | _PARTS.keys()
# Who speaks, where nothing says who it is. Several people may be meant in the sessions of one tenant.
UNKNOWN = "the user"


class Voice(NamedTuple):
    """Whose words these are: the name (empty where unknown), the part in the talk, and who facts are told about.

    A *peer* is a named person whose words an agent records as its own, as in a conversation of people: nobody is given
    orders there.
    """

    name: str
    part: Part
    subject: str


def voice_of(event: Event) -> Voice:
    """The voice of a message or of the comment of a feedback.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="Caroline", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="Caroline",
    ...     content={"role": "user", "text": "Hey Mel!"})
    >>> voice_of(event)
    Voice(name='Caroline', part='peer', subject='Caroline')
    """
    if event.event_type == "feedback":
        return Voice("", "user", _subject(event, ""))
    if event.event_type != "message":
        return Voice("", "none", "")
    name = speaker_of(event) or ""
    part = _PARTS.get(str(event.content.get("role", "user")).lower(), "none")
    if name and part == "user" and event.source == name == event.agent_id:
        part = "peer"
    return Voice(name, part, _subject(event, name) if part in {"user", "peer"} else "")


def speaker_of(event: Event) -> str | None:
    """The person who speaks, where the event names one: in content or metadata, else as its source.

    Facts are told about persons only: a source that is a part in the talk or a channel (``Customer``, ``Slack``) is
    nobody here, though a pack labels words with it.
    """
    if named := named_speaker(event):
        return named
    source = speaking_source(event)
    return None if source is None or source.lower() in _NOBODY else source


def _subject(event: Event, name: str) -> str:
    """What the speaker is called in stored facts: by name, by user id, or just as the user."""
    for field in ("user_id", "userId", "customer_id"):
        value = event.metadata.get(field)
        if not name and isinstance(value, str) and value:
            return value
    return name or UNKNOWN


# Whether who speaks stands by a statement: not doubted, not somebody else's claim, not taken back in one breath.

Standing: TypeAlias = Literal["stated", "denied", "open"]

_UNREAL = pattern(
    r"\b(?:if|wish|when i was|imagine|used to|as though|would|whether|pretend|suppose|until|before|unless|in case"
    r"|assuming|provided)\b[^.;]*$"
)
# Inside a statement, before what it is about.
_DENIAL = pattern(r"(?:\b(?:not|no longer|never)\b|n't\b)")
_DOUBTS = (
    "probably", "possibly", "perhaps", "maybe", "presumably", "supposedly", "allegedly", "apparently", "reportedly",
    "seemingly", "potentially", "likely",
)  # fmt: skip
_HEDGE = pattern(rf"\b{one_of(*_DOUBTS)}\b|\b(?:hardly|barely|scarcely|almost|nearly|might|(?-i:may)|could|neither)\b")
# In the place of what something is about a pronoun, or no name for it yet: nothing is told.
_NOTHING = pattern(
    rf"(?:{one_of(*_DOUBTS)}|not|never|(?:any|no|some|every)(?:thing|one|body)|no one|none|neither|either|any|whatever"
    r"|much|all|both)\b"
)
# Who is named in passing is taken for granted: "I think my friend Ann knows".
_IN_PASSING = pattern(r"my\b(?!.*(?:\b(?:is|are|was|been)\b|'s\b|:))")
# Saying and thinking make nothing true; to know, to notice or to find out does.
_SAYING = (
    "said", "says?", "saying", "thinks?", "thinking", "thought", "believe[sd]?", "claim(?:s|ed|ing)?", "assume[sd]?",
    "assuming", "suppose[sd]?", "suspect(?:s|ed)?", "doubt(?:s|ed)?", "guess(?:es|ed)?", "reckon(?:s|ed)?",
    "figure[sd]?", "hears?", "heard", "allege[sd]?", "insist(?:s|ed)?", "den(?:y|ies|ied)", "told", "tells?", "telling",
    "wonder(?:s|ed)?", "ask(?:s|ed)?", "writes?", "wrote", "state[sd]", "suggest(?:s|ed)?", "expect(?:s|ed)?",
    "dream(?:s|t|ed)?", "feels?", "felt", "seems?", "impl(?:y|ies|ied)", "joke[sd]?", "joking",
    "hope[sd]?", "hoping", "fear(?:s|ed)?", "lists?", "listed", "ruled out",
)  # fmt: skip
_CLAIM = pattern(
    rf"\b{one_of(*_SAYING)}\b|\b(?:not|n't|hardly) (?:so |quite |entirely |really )?"
    r"(?:that|true|sure|certain|convinced|clear|the case|like)\b|\b(?:almost|fairly|pretty|quite) (?:sure|certain)\b"
    r"|\b(?:rumou?r|impression|idea|unsure|untrue)\b"
)
# One's own word is good for it.
_OWN_WORD = pattern(
    r"\b(?:(?:i|we)(?:'ve|'d|'ll| have| had| will| can| must| did| do| should| want| wanted| like| need| needed| to"
    r"| already| just| also| once| again| only)*|let me(?: just| also)?)"
    r" (?:said|say|told|tell|mentioned|mention|wrote|stated|confirm)\b"
)
_CLAUSE = pattern(r"[.!?;:,]\s|\s-+\s|\b(?:but|because|since|so|although|though|yet|however|while|whereas)\b")
# Right in front of a statement, whatever parts them: who said it, or that nobody knows.
_SOURCE = pattern(
    rf"(?:\b{one_of(*_SAYING)}(?: (?:me|us|you|him|her|them|people))?\s*[:,]?\s*[\"'(]*"
    rf"|\baccording to [^,;]*[,;]\s*|(?:^|[\s,;]){one_of(*_DOUBTS)}[,\s]*)$"
)
# What follows a statement and takes it back, and what leaves it to others.
_WRONG = one_of(
    "wrong", "mistakes?", "mistaken", "errors?", "false", "untrue", "incorrect", "inaccurate", "nonsense", "rubbish",
    "lies?", "jok(?:e|ing)", "kidding", "rumou?rs?", "misunderstanding", "mix-up", "typo", "outdated", "out of date",
)  # fmt: skip
_TAKEN_BACK = pattern(
    r"\b(?:that|which|this|it|they|he|she)(?:'s|'re| is| are| was| were| turned out to be| has been)"
    rf"(?: (?:just|all|only|simply|plain|completely|totally|clearly|an?|the|their|his|her|my|your|old))* {_WRONG}\b"
    rf"|[,(-]\s*(?:just |only |no,? )?{_WRONG}\W*$"
    r"|(?:\b(?:but|though|although|yet|and|which)\b|[,(-])\s*(?:(?:in fact|actually|really|of course|no),? )?"
    r"(?:(?:i|we|that|this|it|he|she|which)\b)?"
    r"(?:'m|'s|'re|\s|\b(?:am|are|is|was|were|do|does|did|have|has|had)(?=\b|n't))*(?:\bnot|n't)"
    r"(?: (?:true|right|correct|accurate|so|the case|any ?more|any longer|really|actually|at all|anyway))*\W*$"
)
_LEFT_OPEN = pattern(
    rf"[\s\w]{{0,20}}[,(]\s*(?:or so|according to|{one_of(*_DOUBTS)}"
    r"|(?:i|we|he|she|they|people|[a-z]+) (?:think|guess|believe|suppose|say|claim|suspect|reckon)s?)\b"
)


def standing(sentence: str, start: int, about: int, end: int) -> Standing:
    """How who says *sentence* stands to the statement in it from *start* to *end*; what it is about begins at *about*.

    It is ``open`` where the words do not decide: doubted, imagined, told of by others, taken back.

    >>> standing("I live in Oslo.", 0, 10, 14), standing("I'm not allergic to nuts", 0, 20, 24)
    ('stated', 'denied')
    >>> standing("Tom said I live in Oslo.", 9, 19, 23), standing("I live in Oslo, but that is wrong.", 0, 10, 14)
    ('open', 'open')
    """
    before, inside = sentence[:start], sentence[start:about]
    if _UNREAL.search(sentence[: start + 1]) or _HEDGE.search(inside) or _NOTHING.match(sentence, about):
        return "open"
    if not _IN_PASSING.match(inside) and (claimed(before) or _LEFT_OPEN.match(sentence, end)):
        return "open"
    if _DENIAL.search(inside):
        return "denied"
    return "open" if taken_back(sentence, end) and not _IN_PASSING.match(inside) else "stated"


def claimed(before: str) -> bool:
    """Whether what stands before a statement makes it what somebody says or thinks, or the words of a quotation."""
    told = _OWN_WORD.sub("", before)
    return before.count('"') % 2 == 1 or bool(_CLAIM.search(_CLAUSE.split(told)[-1]) or _SOURCE.search(told))


def taken_back(sentence: str, end: int) -> bool:
    """Whether what follows a statement that ends at *end* says that it is not so.

    >>> taken_back("I live in Oslo, but that is wrong.", 14), taken_back("I live in Oslo, but I don't like it.", 14)
    (True, False)
    """
    return bool(_TAKEN_BACK.search(sentence, end))
