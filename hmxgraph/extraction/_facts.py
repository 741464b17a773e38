"""Facts stated in sentences or recorded as state changes."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from hmxgraph.extraction._directives import points_at_hand
from hmxgraph.extraction._entity_spans import DATES, OPENERS
from hmxgraph.extraction._fact_rules import FACT_RULES, ITEM, FactRule
from hmxgraph.extraction.language import BASE_VERBS, NOT_IMPERATIVE, attitude_to, cues, pattern

# What people say about themselves, other people and their systems.


class Fact(NamedTuple):
    """A stated fact. An empty *subject* is the speaker; ``{subject}`` in *subject* or *text* stands for the speaker.

    ``single`` (one object at a time) and ``identifying`` (a name, id or address) are copied from the `FactRule`.
    ``denial_key`` is the same for a fact and its denial, and empty for facts that cannot be denied.
    """

    subject: str
    predicate: str
    object: str
    text: str
    confidence: float
    single: bool
    identifying: bool
    denial_key: str = ""


# Words that a subject cannot start with: "Maybe Ann is ...", "It is ...".
_NOT_SUBJECTS = frozenset(
    """
    it that this there he she they we you i who what the which everything nothing something everyone someone
    here and but so yes no also then now usually maybe today tomorrow yesterday please thanks team
    nobody somebody anyone anybody everybody none some most all any both people my your his her our their is
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Predicates whose object is a place or an employer.
_PLACE_PREDICATES = frozenset({"lives in", "comes from", "works for"})
# First words of capitalised objects that are neither places nor employers: "I'm from May on".
_NOT_PLACES = DATES | {"i", "the", "zip"}
# Between the items of a list.
_AND = re.compile(r",? (?:and|or) |, ")
_ARTICLE = re.compile(r"(?:an?|the) ")
# Words at the end of an object that are not part of it: "vegan too".
_ADVERBS_AT_END = re.compile(
    r"(?: (?:as well|too|now|after all|any ?more|any longer|at all|either|anyway|actually|really|in fact|though))+$"
)
# What a correction denies: "latex" in "I'm allergic to nickel, not latex" and in "Sorry, it's not latex, I'm allergic
# to nickel". The second form needs a word of correction such as "sorry", because it often speaks of something else
# ("it's not urgent, I'm allergic to nickel").
_DENIED_ITEMS = rf"(?:to )?(?P<items>{ITEM}(?:(?:, {ITEM})*,? (?:or|and) {ITEM})?)"
_DENIAL_AFTER = pattern(rf",?(?: -| and| but)? (?:not|rather than|instead of) {_DENIED_ITEMS}(?=[.,!;]|$| -)")
_DENIAL_BEFORE = pattern(
    rf"\b(?:it|that)(?:'s not| is not| isn't|'s no longer| was not| wasn't) {_DENIED_ITEMS},? (?:but )?$"
)
# Words of correction: "sorry", "actually", "I meant".
_CORRECTION_WORD = pattern(
    r"\b(?:correct(?:ion|ed|ing)?|sorry|wrong|mistaken?|mix(?:ed)?[- ]up|misspoke|actually|no(?=,)|oops|meant)\b"
)
# First words of denied phrases that are not objects ("not serious", "not always"), and the endings of such words ("not
# badly", "not life threatening").
_NOT_ITEMS = NOT_IMPERATIVE | OPENERS | {"true", "correct", "accurate", "serious", "severe", "urgent", "intolerant"}
_NOT_AN_ITEM = re.compile(r"[\w-]+ly\b|.*ing\b")


def facts(sentence: str) -> Iterator[Fact]:
    """Yield the facts that *sentence* states; none if it ends with a question mark.

    >>> [fact.text for fact in facts("I live in Denver, CO 80239.")]
    ['{subject} lives in Denver, CO']
    >>> [fact.text for fact in facts("I'm allergic to nickel, not latex.")]
    ['{subject} is allergic to nickel', '{subject} is not allergic to latex']
    """
    if sentence.endswith("?"):
        return
    words = cues(sentence.lower())
    for rule in FACT_RULES:
        if not words.isdisjoint(rule.cues):
            for match in rule.pattern.finditer(sentence):
                yield from _matched_facts(rule, match, sentence)


# "Remember that ", "FYI: ": the speaker asks the listener to remember the statement that follows. "Note that" and "keep
# in mind that" count only with "please", because without it they are often just phrases.
_WISH = pattern(
    r"(?:(?:and|also|ok|okay|so|btw|by the way),? )?"
    r"(?:(?:(?:please |kindly )?remember|(?:please|kindly) (?:note|(?:keep|bear) in mind))(?: that |: ?)"
    r"|(?:just )?(?:for your information|fyi)[,:]? (?:that )?)"
    r"(?P<statement>\S.*)"
)
# Cues of `noted`, in lower case.
WISHES = ("remember", "please note", "kindly note", "in mind", "for your information", "fyi")
# First words of a statement: names, numbers, determiners, plurals and the speaker. "Remember that trip?" has none.
_STATEMENT_START = re.compile(
    r"(?!(?i:\w+ly|this|sometimes|always|perhaps|unless|as|\w+ing)\b)"
    r"(?:[A-Z0-9]|(?:the|our|my|an?|all|every|each|no|both|most|we|i)\b|[a-z-]+s\b)"
)
# Maximum number of words: longer statements tell a story.
_LONGEST_STATEMENT = 30


def noted(sentence: str) -> str:
    """Return the statement that *sentence* asks to remember; empty if there is none, or if it needs a context.

    >>> noted("Please remember that GLS picks up at 15:00.")
    'GLS picks up at 15:00.'
    >>> noted("Remember that trip we took"), noted("FYI it is done."), noted("Note that I cancelled today.")
    ('', '', '')
    """
    wish = None if sentence.endswith("?") else _WISH.match(sentence)
    statement = wish["statement"] if wish else ""
    is_clear = 3 <= statement.count(" ") + 1 <= _LONGEST_STATEMENT and not points_at_hand(statement)
    if not is_clear or not _STATEMENT_START.match(statement) or _first_word(statement) in BASE_VERBS:
        return ""
    return f"{statement[:1].upper()}{statement[1:].rstrip(' .!')}."


# "on Fridays", "every morning", "daily": how often something is so.
_HOW_OFTEN = (
    r"(?:on (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weekends)|at weekends|daily"
    r"|(?:every|each) (?:other |second |third )?(?:day|morning|evening|afternoon|night|week|month|quarter|year|weekday"
    r"|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:first|last|\d{1,2}(?:st|nd|rd|th)) (?:day )?of (?:each|every|the) month)"
)
# Cues of `routine`, in lower case.
ROUTINE_CUES = ("days", "weekend", "daily", "every ", "each ", " month")
# A statement in the present tense about the speaker, or about a thing or person that it names.
_ROUTINE = re.compile(
    r"(?:(?:By the way|Btw|FYI|Also|And|So|Note),? )?"
    r"(?P<statement>(?:I(?:'m| am)?|we(?:'re| are)?|(?:the|our|my) [\w'-]+|[\w'-]+(?= (?:is|are|has|[a-z]{2,}s)\b))"
    rf"(?: (?:[^\s,;:!?]|:\d)+)*? {_HOW_OFTEN}(?: [^,;:!?]{{1,60}})?)(?P<more>,[^;:!?]{{1,100}})?",
    re.IGNORECASE,
)
# Words of other tenses, of doubt, of conditions and of failures, and verbs in the past: such a sentence is a story, a
# plan or a report of trouble.
_NO_ROUTINE = pattern(
    r"\b(?:was|were|did|had|went|used|would|will|might|may|could|should|must|if|when|unless|wish|hope|want|need|please"
    r"|fails?|failing|breaks?|crash(?:es)?|hangs?|flaky|error|bug|think|maybe|perhaps|probably|almost|next|last|this|that|it|until|feel|feels|can|going|plan|planning|try|trying"
    r"|thinking|got|came|saw|made|took|told|said|kept|ran|met|wrote|began|became|ate|drank"
    r"|(?<!is )(?<!are )(?<!'m )(?<!'re )[a-z]{2,}ed)\b(?!s)"
)
# In words.
_SHORTEST_ROUTINE, _LONGEST_ROUTINE = 4, 20


def routine(sentence: str) -> str:
    """Return the statement in *sentence* of what is regularly so; empty if there is none.

    >>> routine("The warehouse ships at 15:00 every day."), routine("I work from home on Fridays.")
    ('The warehouse ships at 15:00 every day.', 'I work from home on Fridays.')
    >>> routine("I went running every day."), routine("Remind me every Monday."), routine("It is closed on Mondays.")
    ('', '', '')
    >>> routine("The build fails every evening.")
    ''
    """
    match = _ROUTINE.fullmatch(sentence.rstrip(" .!"))
    statement = match["statement"].strip() if match else ""
    is_clear = _SHORTEST_ROUTINE <= statement.count(" ") + 1 <= _LONGEST_ROUTINE and not _NO_ROUTINE.search(statement)
    first = _first_word(statement)
    if not is_clear or first in BASE_VERBS or first in _NOT_SUBJECTS - {"i", "we", "my", "our", "the"}:
        return ""
    assert match is not None
    more = match["more"] or ""
    return f"{statement[:1].upper()}{statement[1:]}{'' if points_at_hand(more) else more}."


def _matched_facts(rule: FactRule, match: re.Match[str], sentence: str) -> Iterator[Fact]:
    """Yield the facts or denials that *match* of *rule* states.

    Yield nothing if the speaker does not assert the statement, or denies a fact whose rule is not deniable.
    """
    groups = match.groupdict()
    subject = _subject_of(rule, groups)
    object_group = "object" if groups.get("object") else "object2"
    attitude = attitude_to(sentence, match.start(), *match.span(object_group))
    if _first_word(subject) in _NOT_SUBJECTS or attitude == "open" or (attitude == "denied" and not rule.deniable):
        return
    template = rule.template.replace("{what}", what := groups.get("what") or groups.get("what2") or "")
    filled_rule = rule._replace(predicate=rule.predicate.replace("{what}", what.lower()), template=template)
    value = _trimmed(groups[object_group] or "")
    for item in _list_items(value) if rule.deniable else (value,):
        if item and not (_first_word(item) in _NOT_PLACES and rule.predicate in _PLACE_PREDICATES):
            yield _fact(filled_rule, subject, item, denied=attitude == "denied")
    if rule.deniable and attitude == "stated":
        opening = sentence[match.start() : match.start(object_group)]
        for item in _corrected_items(sentence, *match.span()):
            if rule.pattern.fullmatch(opening + item):
                yield _fact(filled_rule, subject, item, denied=True)


def _corrected_items(sentence: str, start: int, end: int) -> Iterator[str]:
    """The objects that a correction before or after the statement from *start* to *end* denies: ", not latex"."""
    denied = _DENIAL_AFTER.match(sentence, end)
    if not denied and _CORRECTION_WORD.search(sentence, 0, start):
        denied = _DENIAL_BEFORE.search(sentence[:start])
    for item in _list_items(_trimmed(denied["items"])) if denied else ():
        if _first_word(item) not in _NOT_ITEMS and not _NOT_AN_ITEM.match(item):
            yield item


def _fact(rule: FactRule, subject: str, value: str, *, denied: bool) -> Fact:
    """The fact, or its denial, that *rule* makes of *subject* and *value*."""
    predicate, template = rule.predicate, _agreeing(rule.template, subject)
    if denied:
        predicate, template = predicate.replace("is", "is not", 1), template.replace(" is ", " is not ", 1)
    article = "an" if value[0].lower() in "aeiou" else "a"
    text = template.replace("{a}", article).replace("{object}", value)
    denial_key = f"{rule.predicate} {_ARTICLE.sub('', value)}" if rule.deniable else ""
    text = text.replace("{subject}", subject) if subject else text
    return Fact(subject, predicate, value, text, rule.confidence, rule.single, rule.identifying, denial_key)


def _agreeing(template: str, subject: str) -> str:
    """*template* with the plural verb for hours, the only property in the plural: "the office hours are 9 to 17"."""
    return template.replace("} is ", "} are ", 1) if subject.endswith("hours") else template


def _subject_of(rule: FactRule, groups: Mapping[str, str | None]) -> str:
    """The subject of the fact, empty for the speaker.

    A property or role is put in lower case ("the release date") unless it contains a capital after its first letter.
    """
    if kin := groups.get("kin"):
        return f"{{subject}}'s {kin.lower()}"
    subject = (groups.get("subject") or "").strip()
    is_common_noun = rule.template.startswith("the ") and subject[1:].islower()
    return subject.lower() if is_common_noun else subject


def _list_items(listed: str) -> Iterator[str]:
    """The items of a list, up to the first that is another clause: "nuts and carry a pen" gives "nuts"."""
    return takewhile(lambda item: _first_word(item) not in BASE_VERBS, _AND.split(listed))


def _first_word(name: str) -> str:
    """The first word of *name* without a contraction: "i" for "I've moved"."""
    return name.lower().split(" ", 1)[0].split("'", 1)[0]


def _trimmed(value: str) -> str:
    return _ADVERBS_AT_END.sub("", value.strip(' ,.;:!?"')).removesuffix("'s")


# State changes as facts.

# Keys that producers use for the parts of a state change, most specific first.
_SUBJECTS = ("subject", "entity", "object", "resource", "component", "target", "service", "item", "node", "name", "id")
_FIELDS = ("field", "attribute", "property", "predicate", "key", "variable", "setting", "parameter", "what")
_OLD = ("from", "old", "old_value", "previous", "previous_value", "before", "from_state", "old_state")
_NEW = ("to", "new", "new_value", "current", "value", "after", "to_state", "new_state", "state", "status")
# Maximum length of a value, in characters: longer ones are texts, not states.
_LONGEST_VALUE = 120


class Change(NamedTuple):
    """*predicate* of *subject* is now *object*; *old* is the former value, empty if unknown."""

    subject: str
    predicate: str
    object: str
    old: str

    @property
    def text(self) -> str:
        """The change as a sentence."""
        was = f" (was {self.old})" if self.old else ""
        return f"{self.subject}: {self.predicate} is {self.object}{was}."


def change(content: Mapping[str, Any]) -> Change | None:
    """Return the state change described by *content*, if it names a subject or field and a new value.

    A change that names only a field gets the field as subject and "value" as predicate.

    >>> change({"subject": "staging cluster", "field": "version", "from": "1.29", "to": "1.30"}).text
    'staging cluster: version is 1.30 (was 1.29).'
    >>> change({"key": "deploy_region", "old": "eu-west-1", "new": "eu-north-1"}).subject
    'deploy_region'
    >>> change({"from": "planning", "to": "executing"}) is None
    True
    """
    subject, field = _first_value(content, _SUBJECTS), _first_value(content, _FIELDS)
    new = _first_value(content, _NEW)
    if not new or not (subject or field):
        return None
    if not subject:
        return Change(field, "value", new, _first_value(content, _OLD))
    return Change(subject, field or "state", new, _first_value(content, _OLD))


def _first_value(content: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first usable scalar under one of *names*, as text: neither blank nor longer than 120 characters."""
    for name in names:
        value = content.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float) and 0 < len(str(value).strip()) <= _LONGEST_VALUE:
            return str(value).strip()
    return ""
