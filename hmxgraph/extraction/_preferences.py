"""Recognise stated preferences: a table of sentence forms ("I prefer ..."), and checks of the object that follows."""

import re
from typing import NamedTuple

from hmxgraph.extraction.language import is_attributed, is_retracted, one_of
from hmxgraph.text.terms import terms

# Adverbs between "I" and the verb: "I really like".
_ADVERBS = one_of(
    "really", "strongly", "always", "usually", "generally", "typically", "much", "still", "also", "actually",
    "definitely", "absolutely", "just", "totally", "simply", "truly", "honestly", "personally", "especially",
    "particularly", "mostly", "often", "normally", "do", "genuinely", "now", "currently",
)  # fmt: skip
_I = rf"(?<![\w'])[Ii] (?:{_ADVERBS} )*"


class PreferenceRule(NamedTuple):
    """A sentence form that states a preference; what is preferred is the group ``object`` or ``object2`` of *pattern*.

    ``examples`` are sentences of this form that state a preference. ``counterexamples`` state none and must be refused.
    """

    predicate: str
    pattern: re.Pattern[str]
    confidence: float
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()

    @property
    def may_be_wish(self) -> bool:
        """Whether the form often states a wish for the present case ("I'd prefer"), so that stricter checks apply."""
        return self.confidence < _SURE


# A form with at least this confidence states a lasting preference.
_SURE = 0.6

PREFERENCE_RULES: tuple[PreferenceRule, ...] = (
    PreferenceRule(
        "prefers",
        re.compile(rf"{_I}prefer (?P<object>.+)|[Mm]y (?:strong )?preference is (?:for )?(?!an? )(?P<object2>.+)"),
        0.85,
        (
            "I prefer short status reports with the command that was run.",
            "I usually prefer early flights",
            "I now prefer afternoons, my shifts changed.",
            "From now on I prefer evening appointments.",
        ),
        (
            "I prefer that one.",
            "I prefer it.",
            "I prefer flights within that time frame.",
            "Do you prefer tea?",
            "Which do I prefer",
        ),
    ),
    PreferenceRule(
        "prefers",
        re.compile(r"(?<![\w'])[Ii](?: would|'d)(?: really| much| strongly)? prefer (?P<object>.+)"),
        0.55,
        ("I'd prefer flights that depart after 8 am.",),
        ("I'd prefer that.", "I'd prefer to cancel the order instead.", "I'd prefer Option 1."),
    ),
    PreferenceRule(
        "likes",
        re.compile(
            rf"{_I}(?:love|like|enjoy|adore) (?P<object>.+)|[Ii](?:'m| am) (?:a |such a )?(?:big |huge |massive "
            rf"|real |true )?fan of (?P<object2>.+)"
        ),
        0.7,
        (
            "I love painting landscapes.",
            "I enjoy hiking in the mountains",
            "I really like action movies.",
            "I'm a huge fan of Harry Potter.",
        ),
        (
            "I love it!",
            "I love your idea",
            "I like how you put it",
            "I love this painting.",
            "I like that.",
            "I love you",
            "I'd love pizza",
        ),
    ),
    PreferenceRule(
        "dislikes",
        re.compile(
            rf"{_I}(?:hate|dislike|can'?t stand|cannot stand|don't (?:really |particularly )?(?:like|enjoy)"
            rf"|do not (?:like|enjoy)|no longer (?:like|love|enjoy)|detest) (?P<object>.+)"
        ),
        0.7,
        (
            "I hate early meetings.",
            "I cant stand early meetings.",
            "I don't like spicy food.",
            "I no longer enjoy long flights.",
        ),
        ("I hate that!", "I don't like it.", "I hate to say it"),
    ),
    PreferenceRule(
        "is passionate about",
        re.compile(
            rf"(?<![\w'])[Ii](?:'m| am|'ve been| have been) (?:{_ADVERBS} |so |very |super |pretty )*"
            r"(?:passionate about|keen on|crazy about|obsessed with) (?P<object>.+)"
        ),
        0.7,
        ("I'm passionate about teaching kids.", "I am really keen on counseling"),
        ("I'm passionate about it.", "He is keen on golf"),
    ),
)
# Every preference contains a word from CUES or COMMON; those in COMMON count only where OF_ONESELF matches.
CUES = frozenset(
    """
    prefer preference adore fan hate dislike passionate keen crazy obsessed detest
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
COMMON = frozenset({"love", "like", "enjoy", "stand"})
OF_ONESELF = re.compile(
    rf"\bi (?:{_ADVERBS} |can'?t |cannot |can not |don't |do not |no longer )*(?:love|like|enjoy|stand)\b"
)
# What ends the object: the end of the sentence, or the start of another clause.
_OBJECT_END = re.compile(
    r"[.!?;…]+(?:\s|$)|\s-+\s|--|,? (?:but|because|'cause|cause|since|so that|so|though|although|if|when|while|until"
    r"|whenever|even)\b|, (?:and|so|it|they|that|this|which|you|I|we|my|especially|you're|thanks)\b|\(|: | and (?:I"
    r"|it|we|he|she|they|you|also)\b"
)
# First words of objects that are too vague for a preference ("everything"), or that state none ("to say it").
_VAGUE_START = re.compile(
    r"(?:it|that|this|these|those|them|him|her|you|your|yours|u|us|one|ones|the|how|what|when|where|who|why|which"
    r"|both|either|all|everything|anything|something|nothing|every|each|any|some|to (?:cancel|do|start|see|hear|say"
    r"|think|know|be|go|get|return|keep|proceed|use|make|have|exchange|change|stick|pay|receive|try|book|not)|being"
    r"|seeing|hearing|having|knowing|looking|getting|talking|chatting|watching you|option|his|their|our|my|its|not"
    r"|as|a lot|for|very|too|so|at|about|in|on|if|with|from|and|or|but|more|most|better|just|flight|is|are"
    r"|was|makes?|gives?|brings?|has)\b",
    re.IGNORECASE,
)
# Trailing words of degree or time that do not belong to the object.
_TRAILING_ADVERBS = re.compile(
    r"(?:,? (?:too|as well|also|so much|very much|a lot|more than anything|in general|now|these days|any ?more"
    r"|any longer))+$",
    re.IGNORECASE,
)
# Between the two sides of a choice: "tea over coffee".
_OVER = re.compile(r" (?:over|rather than|instead of|to) ")
# An infinitive: "to cancel". Such an object is accepted only after "prefer".
_INFINITIVE = re.compile(r"to [a-z]+")
# Words that refer to something said or shown before: "tea like that".
_DEICTIC = re.compile(
    r"\bthat(?: one| way|\W*$)|\b(?:at|by|for|from|in|of|on|to|with|within) that\b"
    r"|\b(?:this|these|those|it|them|there|here|you|your|instead|same|ones?|above)\b",
    re.IGNORECASE,
)
# How the text before a statement ends if the statement opens a clause: with punctuation, a conjunction, or a word such
# as "honestly".
_CLAUSE_START = re.compile(
    r"(?:^|[,;:-]|\b(?:and|but|that's why|why|because|'?cause|since|that|so|know|think|guess|say|how much|honestly"
    r"|yeah|well|also|plus|though|as|where|of course|now|from now on|these days|nowadays|lately))\s*[\"'(]?$",
    re.IGNORECASE,
)
# Words before a statement, in the same clause, which show that it is imagined or no longer true: "if", "used to".
_HYPOTHETICAL = re.compile(
    r"\b(?:if|wish|would|could|might|imagine|whether|used to|when I was|did|didn't|as much as)\b[^,]*$",
    re.IGNORECASE,
)
# "I think I like ..." is still a preference.
_I_THINK = re.compile(r"\bI(?: do| just| still|'ve always| have always)? (?:think|guess|feel|say|believe|thought)\b")
# A part of the day. "After 9 am" and "before 5 pm" are left out, because both can hold at once.
_PART_OF_DAY = re.compile(
    r"\b(?:(?:early|late) )?(?:morning|afternoon|evening|night)s?\b"
    r"|\b(?:before|until|by) (?:noon\b|\d{1,2}(?::\d\d)? ?a\.?m\b|(?:0?\d|1[01]):\d\d\b(?! ?p\.?m))"
    r"|\bafter (?:noon\b|\d{1,2}(?::\d\d)? ?p\.?m\b|(?:1[2-9]|2\d):\d\d\b)",
    re.IGNORECASE,
)
# "Tea in the morning" is about tea, and leaves other times open.
_OCCASION = re.compile(r"\b(?:in the|at|on|every)$", re.IGNORECASE)
# Words that do not say what a preferred time is for: "slot" in "I prefer a morning slot". "Flights" would say it.
_UNSPECIFIC = frozenset(terms("appointment slot time booking date rather than have get"))
# Maximum length of an object, in characters: longer ones are stories.
_LONGEST_OBJECT = 120


class Preference(NamedTuple):
    """A stated preference: predicate, object, text and confidence."""

    predicate: str
    object: str
    text: str
    confidence: float

    @property
    def choice(self) -> tuple[str, ...]:
        """The two alternatives, such as tea and coffee in "tea over coffee", in lower case and alphabetical order.

        Empty for infinitives ("to fly rather than to drive"), and unless the object names exactly two.

        >>> preference("I prefer tea over coffee").choice == preference("I prefer coffee over tea now.").choice
        True
        """
        compares = self.predicate == "prefers" and not self.object.startswith("to ")
        parts = _OVER.split(self.object) if compares else []
        return tuple(sorted(part.lower() for part in parts)) if len(parts) == 2 else ()

    @property
    def timed(self) -> str:
        """The key of a preferred part of the day: "flight by time of day", or "appointment ..." if nothing is named.

        Empty if the preference names no part of the day, or names it only as an occasion ("tea in the morning").

        >>> preference("I prefer appointments before 10 am").timed == preference("I now prefer afternoons.").timed
        True
        >>> preference("I prefer morning flights").timed, preference("I prefer tea in the morning").timed
        ('flight by time of day', '')
        """
        part = _PART_OF_DAY.search(self.object) if self.predicate == "prefers" else None
        if part is None:
            return ""
        kind = [term for term in terms(_PART_OF_DAY.sub(" ", self.object)) if term not in _UNSPECIFIC]
        is_occasion = kind and _OCCASION.search(self.object[: part.start()].rstrip())
        return "" if is_occasion else f"{' '.join(kind) or 'appointment'} by time of day"


def preference(sentence: str) -> Preference | None:
    """Return the lasting preference of the speaker that *sentence* states, if any.

    Skip preferences with a vague object ("I love it"), and wishes for the present case ("I'd prefer to cancel").

    >>> preference("I really like action movies, you know.").object
    'action movies'
    >>> preference("I love it!"), preference("Do you like tea?")
    (None, None)
    >>> preference("I love love!").text
    'I love love.'
    """
    if sentence.endswith("?") or sentence.count(" ") > 45:  # longer sentences tell a story
        return None
    for rule in PREFERENCE_RULES:
        match = rule.pattern.search(sentence)
        if match and _stands_alone(sentence[: match.start()], rule):
            object_text = _object(match, rule)
            end = sentence.find(object_text, _object_start(match)) + len(object_text)
            if not object_text or is_retracted(sentence, end):
                return None
            return Preference(rule.predicate, object_text, f"{sentence[match.start() : end].strip()}.", rule.confidence)
    return None


def _stands_alone(before: str, rule: PreferenceRule) -> bool:
    """Whether the words before the statement leave it the speaker's own and unconditional.

    A form that may be a wish is accepted only at the beginning of a sentence.
    """
    if not before:
        return True
    if rule.predicate == "prefers" and (rule.may_be_wish or re.search(r"\bif\b", before, re.IGNORECASE)):
        return False
    if is_attributed(_I_THINK.sub("", before)) or _HYPOTHETICAL.search(before):
        return False
    return bool(_CLAUSE_START.search(before))


def _object_start(match: re.Match[str]) -> int:
    """The index at which the object starts. A search for its text could match the verb, as in "I love love"."""
    return max(match.start(name) for name in ("object", "object2") if name in match.re.groupindex)


def _object(match: re.Match[str], rule: PreferenceRule) -> str:
    """The object without the words after it; empty if it does not name a kind of thing, an activity or a person.

    If the form may be a wish, the object must have several words, not start with "a" or "an", and not contain "the" or
    "my".
    """
    groups = match.groupdict()
    rest = groups["object"] or groups.get("object2") or ""
    object_text = _TRAILING_ADVERBS.sub("", _OBJECT_END.split(rest, maxsplit=1)[0].strip(" ,.!\"'"))
    if not 3 <= len(object_text) <= _LONGEST_OBJECT or _VAGUE_START.match(object_text):
        return ""
    if rule.may_be_wish and re.search(r"\b(?:the|my)\b|^an? |^\S+$", object_text):
        return ""
    if _DEICTIC.search(object_text) or (_INFINITIVE.match(object_text) and rule.predicate != "prefers"):
        return ""
    return object_text if rule.predicate == "prefers" or _is_lasting_object(object_text) else ""


def _is_lasting_object(object_text: str) -> bool:
    """Whether *object_text* looks like an activity, a kind of thing or a name: "hiking", but not "a good day"."""
    words = object_text.split()
    return (
        words[0].endswith("ing")
        or words[-1].endswith("s")
        or any(word.endswith("s") for word in words[:3])
        or words[0][:1].isupper()
        or len(words) <= 2
    )
