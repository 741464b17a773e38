"""Which entities of one event stand in which relation: a table of rules, and the few that text must confirm."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hmxgraph.extraction.values import Ref, Relation

MOST_RELATIONS = 12


class Rule(NamedTuple):
    """In events of *event_type*, each entity of type *source* stands in *relation_type* to each of type *target*.

    *failed* narrows it to events that tell of a failure; at most *most* relations come of one rule.
    """

    event_type: str
    source: str
    relation_type: str
    target: str
    confidence: float
    failed: bool = False
    most: int = 4


RULES: tuple[Rule, ...] = (
    Rule("tool_call", "agent", "uses", "tool", 1.0),
    Rule("tool_call", "tool", "runs", "command", 0.95),
    Rule("tool_call", "tool", "touches", "file", 0.9),
    Rule("tool_call", "tool", "touches", "url", 0.9),
    Rule("tool_result", "tool", "raises", "error_type", 0.9, failed=True),
    Rule("command_exec", "agent", "uses", "command", 1.0),
    Rule("command_exec", "command", "touches", "file", 0.9),
    Rule("command_exec", "command", "raises", "error_type", 0.9, failed=True),
    Rule("test_run", "agent", "uses", "command", 1.0),
    Rule("test_run", "command", "touches", "file", 0.9),
    Rule("test_run", "command", "raises", "error_type", 0.9, failed=True),
    Rule("file_edit", "agent", "touches", "file", 1.0),
    Rule("browser_action", "agent", "touches", "url", 1.0),
    Rule("browser_action", "host", "raises", "error_type", 0.9, failed=True),
    Rule("api_result", "agent", "touches", "url", 1.0),
    Rule("api_result", "host", "raises", "error_type", 0.9, failed=True),
    Rule("decision", "agent", "chooses", "concept", 0.9),
    Rule("error", "tool", "raises", "error_type", 1.0),
    Rule("error", "command", "raises", "error_type", 0.9),
)
_BY_TYPE = {
    event_type: tuple(rule for rule in RULES if rule.event_type == event_type)
    for event_type in {rule.event_type for rule in RULES}
}
# "Restarting the pod fixed the ImagePullBackOff": what was mended stands after the word, what mended it before.
MENDED = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|solv(?:e[sd]?|ing)|cur(?:e[sd]?|ing)|got rid of|gets rid of"
    r"|cleared)\b",
    re.IGNORECASE,
)
_MENDERS = ("tool", "command", "file", "symbol")


def structural(event_type: str, found: dict[str, list[Ref]], *, failed: bool) -> Iterator[Relation]:
    """The relations that the table gives for an event of this type, whose entities by type are *found*."""
    for rule in _BY_TYPE.get(event_type, ()):
        if rule.source in found and rule.target in found and (failed or not rule.failed):
            pairs = [(one, other) for one in found[rule.source] for other in found[rule.target]]
            for one, other in pairs[: rule.most]:
                yield Relation(one, rule.relation_type, other, rule.confidence)


def said(speaker: Ref, topics: Iterable[Ref]) -> Iterator[Relation]:
    """Each topic, said by the speaker of a message; the four first."""
    others = (topic for topic in topics if topic != speaker)
    for _, topic in zip(range(4), others, strict=False):
        yield Relation(topic, "said_by", speaker, 0.9)


def told_of(title: Ref, others: Iterable[Ref]) -> Iterator[Relation]:
    """What an observation about *title* mentions besides; the eight first."""
    rest = (other for other in others if other != title)
    for _, other in zip(range(8), rest, strict=False):
        yield Relation(title, "mentions_with", other, 0.6)


def mended(text: str, found: Iterable[tuple[Ref, str]], actors: Iterable[Ref]) -> Iterator[Relation]:
    """What fixes which error: entities before the verb, or those that act in the event, and the errors after it.

    *found* pairs entities of *text* with the name that stands there.

    >>> restart, error = Ref("command", "kubectl rollout"), Ref("error_type", "imagepullbackoff")
    >>> text = "kubectl rollout fixed the ImagePullBackOff"
    >>> found = [(restart, "kubectl rollout"), (error, "ImagePullBackOff")]
    >>> [relation.relation_type for relation in mended(text, found, [])]
    ['fixes']
    """
    verb = MENDED.search(text)
    if not verb:
        return
    lowered = text.lower()
    after = [ref for ref, name in found if ref.type == "error_type" and lowered.find(name.lower(), verb.end()) >= 0]
    before = [ref for ref, name in found if ref.type in _MENDERS and 0 <= lowered.find(name.lower()) < verb.start()]
    for ref in list(dict.fromkeys([*before, *actors]))[:2]:
        for error in after[:2]:
            yield Relation(ref, "fixes", error, 0.7)


def hosted(pairs: Iterable[tuple[Ref, Ref]]) -> Iterator[Relation]:
    """Each address on its host; the two first."""
    for _, (url, host) in zip(range(2), pairs, strict=False):
        yield Relation(url, "hosted_on", host, 1.0)
