"""Whether who speaks stands by a statement: not doubted, not somebody else's claim, not taken back in one breath."""

from typing import Literal, TypeAlias

from hmxgraph.extraction.phrases import one_of, pattern

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
