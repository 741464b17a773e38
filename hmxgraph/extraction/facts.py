"""Stated facts as subject, predicate and object: a table of what people say about themselves and their systems.

Each rule is a sentence form that leaves little room for anything else. Objects that a name must fill are matched by
their capitals; questions, wishes and things past are passed over.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hmxgraph.extraction.fact_rules import RULES, Rule
from hmxgraph.extraction.phrases import cues
from hmxgraph.extraction.vocabulary import DATES


class Fact(NamedTuple):
    """A fact as stated: *subject* is empty where it is who speaks."""

    subject: str
    predicate: str
    object: str
    text: str
    confidence: float
    single: bool
    passing: bool


_UNREAL = re.compile(
    r"\b(?:if|wish|when i was|imagine|used to|as if|would|whether|pretend|suppose|until|before)\b[^.;]*$", re.IGNORECASE
)
_NO_SUBJECT = frozenset(
    """
    it that this there he she they we you i who what the which everything nothing something everyone someone
    here and but so yes no also then now usually maybe today tomorrow yesterday please thanks team
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
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
                fact = _fact(rule, found, sentence)
                if fact:
                    yield fact


def _fact(rule: Rule, found: re.Match[str], sentence: str) -> Fact | None:
    groups = found.groupdict()
    named = (groups.get("subject") or "").strip()
    if _UNREAL.search(sentence[: found.start() + 1]) or _first(named) in _NO_SUBJECT:
        return None
    about = _plain(groups.get("object") or groups.get("object2") or "")
    what = groups.get("what") or groups.get("what2") or ""
    if not about or (_first(about) in _NO_PLACE and rule.predicate in {"lives in", "comes from", "works for"}):
        return None
    article = "an" if about[0].lower() in "aeiou" else "a"
    telling = rule.telling.replace("{what}", what).replace("{a}", article).replace("{object}", about)
    predicate = rule.predicate.replace("{what}", what.lower())
    text = telling.replace("{subject}", named) if named else telling
    return Fact(named, predicate, about, text, rule.confidence, rule.single, rule.passing)


def _first(name: str) -> str:
    """The first word of *name*, without what is glued to it: "I" of "I've moved"."""
    return name.lower().split(" ", 1)[0].split("'", 1)[0]


def _plain(found: str) -> str:
    plain = found.strip(' ,.;:!?"')
    for ending in ("'s", " as well", " too"):
        plain = plain.removesuffix(ending)
    return plain
