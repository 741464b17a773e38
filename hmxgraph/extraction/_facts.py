"""Facts stated in sentences or recorded as state changes."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from hmxgraph.extraction._entity_spans import DATES
from hmxgraph.extraction._fact_rules import FACT_RULES, Rule
from hmxgraph.extraction.language import BASE_VERBS, cues, standing

# Stated facts as subject, predicate and object: a table of what people say about themselves and their systems.
#
# Each rule is a sentence form that leaves little room for anything else. Objects that a name must fill are matched by
# their capitals; questions, wishes and things past are passed over.


class Fact(NamedTuple):
    """A fact as stated: *subject* is empty where it is who speaks; of his kin it has ``{subject}`` in his place.

    ``matter`` names what may be so or not, where that is the question; else it is empty.
    """

    subject: str
    predicate: str
    object: str
    text: str
    confidence: float
    single: bool
    passing: bool
    matter: str = ""


_NO_SUBJECT = frozenset(
    """
    it that this there he she they we you i who what the which everything nothing something everyone someone
    here and but so yes no also then now usually maybe today tomorrow yesterday please thanks team
    nobody somebody anyone anybody everybody none some most all any both people my your his her our their is
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
_PLACED = frozenset({"lives in", "comes from", "works for"})
_AND = re.compile(r",? (?:and|or) |, ")
_ARTICLE = re.compile(r"(?:an?|the) ")
_EMPHASIS = re.compile(
    r"(?: (?:as well|too|now|after all|any ?more|any longer|at all|either|anyway|actually|really|in fact|though))+$"
)
_NO_PLACE = DATES | {"i", "the", "zip"}


def facts(sentence: str) -> Iterator[Fact]:
    """The facts that *sentence* states.

    >>> [fact.text for fact in facts("I live in Denver, CO 80239.")]
    ['{subject} lives in Denver, CO']
    """
    if sentence.endswith("?"):
        return
    words = cues(sentence.lower())
    for rule in FACT_RULES:
        if not words.isdisjoint(rule.cues):
            for found in rule.pattern.finditer(sentence):
                yield from _stated(rule, found, sentence)


def _stated(rule: Rule, found: re.Match[str], sentence: str) -> Iterator[Fact]:
    groups = found.groupdict()
    named = _named(rule, groups)
    part = "object" if groups.get("object") else "object2"
    stands = standing(sentence, found.start(), *found.span(part))
    if _first(named) in _NO_SUBJECT or stands == "open" or (stands == "denied" and not rule.deniable):
        return
    telling = rule.telling.replace("{what}", what := groups.get("what") or groups.get("what2") or "")
    made = rule._replace(predicate=rule.predicate.replace("{what}", what.lower()), telling=telling)
    told = _plain(groups[part] or "")
    for about in _each(told) if rule.deniable else (told,):
        if about and not (_first(about) in _NO_PLACE and rule.predicate in _PLACED):
            yield _fact(made, named, about, denied=stands == "denied")


def _fact(rule: Rule, named: str, about: str, *, denied: bool) -> Fact:
    predicate, telling = rule.predicate, rule.telling
    if denied:
        predicate, telling = predicate.replace("is", "is not", 1), telling.replace(" is ", " is not ", 1)
    article = "an" if about[0].lower() in "aeiou" else "a"
    text = telling.replace("{a}", article).replace("{object}", about)
    matter = f"{rule.predicate} {_ARTICLE.sub('', about)}" if rule.deniable else ""
    text = text.replace("{subject}", named) if named else text
    return Fact(named, predicate, about, text, rule.confidence, rule.single, rule.passing, matter)


def _named(rule: Rule, groups: Mapping[str, str | None]) -> str:
    """Whom or what the fact is about, empty for who speaks; a matter in small letters where it begins the sentence."""
    if kin := groups.get("kin"):
        return f"{{subject}}'s {kin.lower()}"
    named = (groups.get("subject") or "").strip()
    matter = rule.telling.startswith("the ") and named[1:].islower()
    return named.lower() if matter else named


def _each(listed: str) -> Iterator[str]:
    """What *listed* names one after the other, up to where another clause begins: "nuts and carry a pen"."""
    return takewhile(lambda one: _first(one) not in BASE_VERBS, _AND.split(listed))


def _first(name: str) -> str:
    """The first word of *name*, without what is glued to it: "I" of "I've moved"."""
    return name.lower().split(" ", 1)[0].split("'", 1)[0]


def _plain(found: str) -> str:
    return _EMPHASIS.sub("", found.strip(' ,.;:!?"')).removesuffix("'s")


# State changes as facts: what an event of this type, or any content with old and new value, says about its subject.

# The names under which producers send the parts of a state change, most telling first.
SUBJECTS = ("subject", "entity", "object", "resource", "component", "target", "service", "item", "node", "name", "id")
FIELDS = ("field", "attribute", "property", "predicate", "key", "variable", "setting", "parameter", "what")
_OLD = ("from", "old", "old_value", "previous", "previous_value", "before", "from_state", "old_state")
NEW = ("to", "new", "new_value", "current", "value", "after", "to_state", "new_state", "state", "status")
LONGEST = 120


class Change(NamedTuple):
    """*subject*'s *predicate* is now *object*; *old* is empty where it was not told."""

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
    """The change that the content of a state change tells, if it names a subject and its new value.

    >>> change({"subject": "staging cluster", "field": "version", "from": "1.29", "to": "1.30"}).text
    'staging cluster: version is 1.30 (was 1.29).'
    >>> change({"key": "deploy_region", "old": "eu-west-1", "new": "eu-north-1"}).subject
    'deploy_region'
    >>> change({"from": "planning", "to": "executing"}) is None
    True
    """
    subject, field = _first_value(content, SUBJECTS), _first_value(content, FIELDS)
    now = _first_value(content, NEW)
    if not now or not (subject or field):
        return None
    if not subject:
        return Change(field, "value", now, _first_value(content, _OLD))
    return Change(subject, field or "state", now, _first_value(content, _OLD))


def _first_value(content: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first plain value under one of *names*."""
    for name in names:
        value = content.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float) and 0 < len(str(value).strip()) <= LONGEST:
            return str(value).strip()
    return ""
