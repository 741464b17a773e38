"""Stated facts as subject, predicate and object: a table of what people say about themselves and their systems.

Each rule is a sentence form that leaves little room for anything else. Objects that a name must fill are matched by
their capitals; questions, wishes and things past are passed over.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from hmxgraph.extraction.entities.vocabulary import DATES
from hmxgraph.extraction.memories.assertion import standing
from hmxgraph.extraction.memories.fact_rule import Rule
from hmxgraph.extraction.memories.fact_rules import RULES
from hmxgraph.extraction.phrases import cues
from hmxgraph.extraction.verbs import BASE_VERBS


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
    for rule in RULES:
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
