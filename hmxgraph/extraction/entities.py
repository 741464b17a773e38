"""Entities of an event and the relations between them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hmxgraph.extraction._entity_forms import commands, forms, host_of, leaves
from hmxgraph.extraction._entity_spans import spans
from hmxgraph.extraction.language import Mention, Ref, Relation, Role, Voice
from hmxgraph.protocol.events import WORK, Event, went_well
from hmxgraph.text.terms import words

# When two names are the same name: one normalisation for what texts, titles and questions call things.

# What is written by machines is told apart by every sign; only people write one name in many ways.
_EXACT = frozenset({"agent", "command", "email", "error_type", "file", "host", "id", "symbol", "tag", "tool", "url"})
# Types that one and the same name may seem to have, the surest last: a word in capitals may turn out to be a person or
# an id, a symbol in backticks a tool.
FAMILIES = {"name": ("concept", "person", "id"), "tool": ("symbol", "tool")}
TYPES = tuple(sorted(_EXACT | {"concept", "person"}))
LONGEST_NAME = 200
_FAMILY = {member: name for name, members in FAMILIES.items() for member in members}
_RANK = {member: rank for members in FAMILIES.values() for rank, member in enumerate(members)}
_ARTICLES = frozenset({"the", "a", "an"})
_QUALIFIED = re.compile(r"^(?P<bare>[^(]*[^(\s])\s*\([^()]*\)$|^(?P<place>[^,]+), (?:[^,]+)$")


def family(entity_type: str) -> str:
    """The part of an entity's key that stands for its type: one for all types that the same name may seem to have.

    >>> family("person"), family("concept"), family("symbol"), family("file")
    ('name', 'name', 'tool', 'file')
    """
    return _FAMILY.get(entity_type, entity_type)


def surest(one: str, other: str) -> str:
    """Of two types of one family, the one that says more.

    >>> surest("concept", "person"), surest("tool", "symbol")
    ('person', 'tool')
    """
    return max(one, other, key=lambda entity_type: _RANK.get(entity_type, 0))


def normalise(entity_type: str, name: str) -> str:
    """The form under which spellings of one name meet; empty for what is no name.

    >>> normalise("concept", "The Beatles'"), normalise("person", "  Zoë  O'Neal's ")
    ('beatles', 'zoe o neal')
    >>> normalise("tool", "Get_Order"), normalise("file", "./src/App.py"), normalise("id", "#W2378156")
    ('get_order', 'src/app.py', 'w2378156')
    """
    if entity_type not in _EXACT:
        return _plain(name)
    trimmed = name.strip()
    if entity_type in {"id", "tag"}:
        trimmed = trimmed.lstrip("#")
    elif entity_type == "file":
        trimmed = trimmed.removeprefix("./")
    return trimmed.lower()[:LONGEST_NAME]


def bare(title: str) -> str:
    """*title* without what only tells it from its namesakes; empty where there is nothing to take away.

    >>> bare("Lilu (mythology)"), bare("Hunt Valley, Maryland"), bare("Metallica")
    ('Lilu', 'Hunt Valley', '')
    """
    found = _QUALIFIED.match(title)
    return (found["bare"] or found["place"]) if found else ""


@lru_cache(maxsize=50_000)
def _plain(name: str) -> str:
    found = words(name.replace("&", " and ") if "&" in name else name)
    if len(found) > 1 and found[0] in _ARTICLES:
        del found[0]
    return " ".join(found)[:LONGEST_NAME]


# Which entities of one event stand in which relation: a table of rules, and the few that text must confirm.

_MOST_RELATIONS = 12


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


RELATION_RULES: tuple[Rule, ...] = (
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
    event_type: tuple(rule for rule in RELATION_RULES if rule.event_type == event_type)
    for event_type in {rule.event_type for rule in RELATION_RULES}
}
# "Restarting the pod fixed the ImagePullBackOff": what was mended stands after the word, what mended it before.
_MENDED = re.compile(
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
    verb = _MENDED.search(text)
    if not verb:
        return
    lowered = text.lower()
    after = [ref for ref, name in found if ref.type == "error_type" and lowered.find(name.lower(), verb.end()) >= 0]
    before = [ref for ref, name in found if ref.type in _MENDERS and 0 <= lowered.find(name.lower()) < verb.start()]
    for ref in list(dict.fromkeys([*before, *actors]))[:2]:
        for error in after[:2]:
            yield Relation(ref, "fixes", error, 0.7)


def _hosted(pairs: Iterable[tuple[Ref, Ref]]) -> Iterator[Relation]:
    """Each address on its host; the two first."""
    for _, (url, host) in zip(range(2), pairs, strict=False):
        yield Relation(url, "hosted_on", host, 1.0)


# Mentions as they are found: the same name counted once, and no more names an event than there is room for.

_MOST_MENTIONS = 32
_ROLES: tuple[Role, ...] = ("", "tag", "speaker", "title")


class Gathering:
    """Mentions of one event, keyed by family and normalised name."""

    __slots__ = ("_found", "_room")

    def __init__(self, room: int = _MOST_MENTIONS) -> None:
        self._found: dict[tuple[str, str], Mention] = {}
        self._room = room

    def add(self, entity_type: str, name: str, confidence: float = 1.0, role: Role = "") -> Ref | None:
        """Count *name* as mentioned once more; None where it is no name or there is no room for another."""
        normalised = normalise(entity_type, name)
        key = (family(entity_type), normalised)
        known = self._found.get(key)
        if known is not None:
            merged = _merged(known, entity_type, name, confidence, role)
            self._found[key] = merged
            return Ref(merged.type, normalised)
        if not normalised or len(self._found) >= self._room:
            return None
        self._found[key] = Mention(entity_type, name.strip()[:200], normalised, 1, role, confidence)
        return Ref(entity_type, normalised)

    def add_title(self, entity_type: str, title: str) -> Ref | None:
        """Count *title* as what the event is about; its bare form is the same subject by a shorter name."""
        ref = self.add(entity_type, title, 1.0, "title")
        short = bare(title) if entity_type == "concept" else ""
        if short and self.add("concept", short, 0.9, "title"):
            self._alias(("name", normalise("concept", short)), title)
        return ref

    def ref(self, entity_type: str, name: str) -> Ref:
        """The entity called *name*, with the type it turned out to have."""
        normalised = normalise(entity_type, name)
        known = self._found.get((family(entity_type), normalised))
        return known.ref if known else Ref(entity_type, normalised)

    def by_type(self) -> dict[str, list[Ref]]:
        """The entities found so far, in order, by type."""
        found: dict[str, list[Ref]] = {}
        for mention in self._found.values():
            found.setdefault(mention.type, []).append(mention.ref)
        return found

    def of_type(self, *types: str) -> list[Ref]:
        """The entities of these types, as found so far, in order."""
        return [mention.ref for mention in self._found.values() if mention.type in types]

    def mentions(self) -> tuple[Mention, ...]:
        """Everything found, by type and name."""
        return tuple(sorted(self._found.values()))

    def settled(self, relations: Iterable[Relation]) -> tuple[Relation, ...]:
        """*relations* between entities that are mentioned, under the types these turned out to have, each once."""
        found: dict[Relation, None] = {}
        for source, relation_type, target, confidence in relations:
            ends = (self._now(source), self._now(target))
            if ends[0] and ends[1] and ends[0] != ends[1]:
                found[Relation(ends[0], relation_type, ends[1], confidence)] = None
        return tuple(sorted(list(found)[:_MOST_RELATIONS]))

    def _now(self, ref: Ref) -> Ref | None:
        mention = self._found.get((family(ref.type), ref.normalised))
        return mention.ref if mention else None

    def _alias(self, key: tuple[str, str], name: str) -> None:
        mention = self._found[key]
        if name not in (mention.name, *mention.aliases):
            self._found[key] = mention._replace(aliases=(*mention.aliases, name))


def _merged(known: Mention, entity_type: str, name: str, confidence: float, role: Role) -> Mention:
    """*known* seen once more, perhaps spelt otherwise, of a surer type or in a weightier role."""
    spelt = name.strip()[:200]
    aliases = known.aliases if spelt == known.name or spelt in known.aliases else (*known.aliases, spelt)[:4]
    return Mention(
        surest(known.type, entity_type),
        known.name,
        known.normalised,
        known.times + 1,
        _weightier(known.role, role),
        max(known.confidence, confidence),
        aliases,
    )


def _weightier(one: Role, other: Role) -> Role:
    return one if _ROLES.index(one) >= _ROLES.index(other) else other


# From one event to the entities it mentions and how they relate.

# Results list what was asked for and much else; a few names are enough to find them by.
_MOST_RESULTS = 16
_ACTIONS = WORK | {"tool_call", "decision"}
_STRUCTURED = frozenset({"tool_call", "tool_result", "command_exec", "file_edit", "test_run", "api_result"})
_TALK = frozenset({"message", "feedback"})
_PROSE = frozenset({"text", "reasoning", "question", "summary", "description", "comment"})
# Characters of a string inside structured content that are looked through.
_LONGEST_FIELD = 2_000


def read(event: Event, voice: Voice) -> tuple[Gathering, list[Relation]]:
    """The mentions of *event* and the relations between them."""
    gathered = Gathering(_MOST_RESULTS if event.event_type in {"tool_result", "api_result"} else 32)
    if event.event_type in _ACTIONS:
        gathered.add("agent", event.agent_id)
    if event.event_type in _TALK:
        return gathered, _talk(event, voice, gathered)
    return gathered, _record(event, gathered)


def names_in(text: str) -> tuple[Mention, ...]:
    """The names that a free text speaks of, such as a question, under the normalisation that events are read with.

    >>> [(mention.type, mention.normalised) for mention in names_in("When did Lilu call get_weather in app.py?")]
    [('concept', 'lilu'), ('file', 'app.py')]
    """
    gathered = Gathering()
    _names(text, gathered)
    return gathered.mentions()


def _talk(event: Event, voice: Voice, gathered: Gathering) -> list[Relation]:
    relations: list[Relation] = []
    speaker = gathered.add("person", voice.name, 1.0, "speaker") if voice.name else None
    text = event.content.get("comment" if event.event_type == "feedback" else "text")
    if isinstance(text, str) and text:
        relations.extend(_names(text, gathered, listing=voice.part == "assistant"))
    if event.content.get("attachments"):
        relations.extend(_fields({"attachments": event.content["attachments"]}, gathered))
    if speaker:
        relations.extend(said(speaker, gathered.of_type("concept", "person")))
    _tags(event, gathered)
    return relations


def _record(event: Event, gathered: Gathering) -> list[Relation]:
    content = event.content
    title = content.get("title")
    subject = gathered.add_title(_title_type(title), title) if isinstance(title, str) and title else None
    _actor(event, gathered)
    relations = _fields(content, gathered)
    for name in sorted(_PROSE & content.keys()) if event.event_type not in _STRUCTURED else ():
        if isinstance(content[name], str):
            _spans(content[name], gathered, titled=subject is not None)
    if event.event_type == "decision" and isinstance(content.get("chosen_option"), str):
        gathered.add("concept", content["chosen_option"][:80], 0.9)
    if subject:
        relations.extend(told_of(subject, gathered.of_type("concept", "person")))
    relations.extend(_relations(event, gathered))
    _tags(event, gathered)
    return relations


def _actor(event: Event, gathered: Gathering) -> None:
    """What the source of the event names: ``tool:kubectl``."""
    kind, colon, name = (event.source or "").partition(":")
    if colon and kind in {"tool", "command"}:
        gathered.add(kind, name)


def _relations(event: Event, gathered: Gathering) -> list[Relation]:
    content = event.content
    found = gathered.by_type()
    if event.event_type == "decision":
        chosen = content.get("chosen_option")
        found["concept"] = [gathered.ref("concept", chosen[:80])] if isinstance(chosen, str) else []
    relations = list(structural(event.event_type, found, failed=went_well(event.event_type, content) is False))
    if "error_type" in found:
        text = content.get("change") or content.get("summary") or content.get("message")
        actors = [ref for kind in ("file", "command", "tool") for ref in found.get(kind, ())]
        errors = [(ref, ref.normalised) for ref in found["error_type"]]
        relations.extend(mended(text, errors, actors) if isinstance(text, str) else ())
    return relations


def _title_type(title: Any) -> str:
    form = next(forms(title), None) if isinstance(title, str) else None
    return form.type if form and form.name == title and form.type in {"file", "url", "host"} else "concept"


def _names(text: str, gathered: Gathering, *, listing: bool = False) -> list[Relation]:
    relations, found = _forms(text, gathered)
    _spans(text, gathered, listing=listing)
    if any(ref.type == "error_type" for ref, _ in found):
        relations.extend(mended(text, found, ()))
    return relations


def _spans(text: str, gathered: Gathering, *, titled: bool = False, listing: bool = False) -> None:
    for span in spans(text, titled=titled, listing=listing):
        gathered.add("person" if span.person else "concept", span.name, span.confidence)


def _forms(text: str, gathered: Gathering) -> tuple[list[Relation], list[tuple[Ref, str]]]:
    found: list[tuple[Ref, str]] = []
    hosts: list[tuple[Ref, Ref]] = []
    for form in forms(text):
        ref = gathered.add(form.type, form.name, form.confidence)
        if ref:
            found.append((ref, form.name))
            hosts.extend(_host(ref, form.name, gathered))
    return list(_hosted(hosts)), found


def _host(url: Ref, name: str, gathered: Gathering) -> Iterable[tuple[Ref, Ref]]:
    host = gathered.add("host", host_of(name)) if url.type == "url" else None
    return [(url, host)] if host else []


def _fields(content: Mapping[str, Any], gathered: Gathering) -> list[Relation]:
    relations: list[Relation] = []
    for leaf in leaves(content):
        if leaf.type == "text":
            relations.extend(_forms(leaf.value[:_LONGEST_FIELD], gathered)[0])
        elif leaf.type == "command":
            for command in commands(leaf.value):
                gathered.add("command", command, 0.95)
            relations.extend(_forms(leaf.value[:_LONGEST_FIELD], gathered)[0])
        elif leaf.type == "url":
            ref = gathered.add("url", leaf.value)
            relations.extend(_hosted(_host(ref, leaf.value, gathered) if ref and "://" in leaf.value else []))
        else:
            gathered.add(leaf.type, leaf.value, 0.95)
    return relations


def _tags(event: Event, gathered: Gathering) -> None:
    for tag in event.tags or ():
        gathered.add("tag", tag, 1.0, "tag")
