"""Find the entities that an event mentions and the relations between them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hmxgraph.extraction._entity_forms import FIXED_TYPES, NAMING_FIELDS, commands, forms, host_of, leaves
from hmxgraph.extraction._entity_records import Link, Thing, records
from hmxgraph.extraction._entity_spans import spans
from hmxgraph.extraction.language import Mention, Ref, Relation, Role, Voice
from hmxgraph.protocol.events import MEMORY_EVENT, WORK, Event, went_well
from hmxgraph.text.comparison import REQUESTED
from hmxgraph.text.masking import SECRETS, mask_secrets, masked_fields
from hmxgraph.text.terms import words

# Normalisation of names, the same for texts, titles and questions.

# Types whose names people spell in many ways. For other types, only case and a leading "#" or "./" are ignored.
_FREELY_SPELT = frozenset({"concept", "person"}) | NAMING_FIELDS
# Types that may be guessed for the same name, most specific last: a capitalised word may turn out to be a person or an
# id, a symbol in backticks a tool. A type from a record (order, service) is more specific than any of these.
FAMILIES = {"name": ("concept", "person", "id"), "tool": ("symbol", "tool")}
TYPES = tuple(sorted(FIXED_TYPES))
# Types whose names may be ordinary words. Names of all other types count as private data, and so may concepts, which
# can be names of persons.
COMMON_TYPES = ("command", "concept", "error_type", "symbol", "tag", "tool", *sorted(NAMING_FIELDS))
# Maximum length of a name, in characters.
LONGEST_NAME = 200
_FAMILY = {member: name for name, members in FAMILIES.items() for member in members}
_RANK = {member: rank for members in FAMILIES.values() for rank, member in enumerate(members)}
# The rank of a type that the data states, such as the type of a record. It is higher than that of any guessed type.
GIVEN = 3
_ARTICLES = frozenset({"the", "a", "an"})
# A title with a disambiguation: "Lilu (mythology)", "Hunt Valley, Maryland".
_QUALIFIED = re.compile(r"^(?P<bare>[^(]*[^(\s])\s*\([^()]*\)$|^(?P<place>[^,]+), (?:[^,]+)$")


def family(entity_type: str) -> str:
    """The part of an entity's key that stands for its type; types that may be confused share one family.

    >>> family("person"), family("order"), family("symbol"), family("file")
    ('name', 'name', 'tool', 'file')
    """
    return _FAMILY.get(entity_type, entity_type if entity_type in FIXED_TYPES else "name")


def more_specific(first: str, second: str) -> str:
    """The more specific of two types of one family; if the data states both, the one with fewer words.

    >>> more_specific("concept", "person"), more_specific("tool", "symbol"), more_specific("new_item", "item")
    ('person', 'tool', 'item')
    """
    return min(first, second, key=precedence)


def precedence(entity_type: str) -> tuple[int, int, str]:
    """The sorting key of the types of one family, most specific first; the query ``events/record`` sorts the same."""
    return -_RANK.get(entity_type, GIVEN), entity_type.count("_"), entity_type


def normalise(entity_type: str, name: str) -> str:
    """The normal form shared by all spellings of a name; empty if *name* cannot be a name.

    >>> normalise("concept", "The Beatles'"), normalise("person", "  Zoë  O'Neal's ")
    ('beatles', 'zoe o neal')
    >>> normalise("tool", "Get_Order"), normalise("file", "./src/App.py"), normalise("order", "#W2378156")
    ('get_order', 'src/app.py', 'w2378156')
    """
    if entity_type in _FREELY_SPELT:
        return _plain(name)
    trimmed = name.strip()
    if entity_type == "file":
        trimmed = trimmed.removeprefix("./")
    elif entity_type in {"id", "tag"} or entity_type not in FIXED_TYPES:
        trimmed = trimmed.lstrip("#")
    return trimmed.lower()[:LONGEST_NAME]


def bare(title: str) -> str:
    """*title* without its disambiguation; empty if it has none.

    >>> bare("Lilu (mythology)"), bare("Hunt Valley, Maryland"), bare("Metallica")
    ('Lilu', 'Hunt Valley', '')
    """
    match = _QUALIFIED.match(title)
    return (match["bare"] or match["place"]) if match else ""


@lru_cache(maxsize=50_000)
def _plain(name: str) -> str:
    parts = words(name.replace("&", " and ") if "&" in name else name)
    if len(parts) > 1 and parts[0] in _ARTICLES:
        del parts[0]
    return " ".join(parts)[:LONGEST_NAME]


# Relations between the entities of one event: a table of rules, and a few relations that need evidence in a text.

# Maximum number of relations outside records per event.
_MAX_RELATIONS = 12
# Maximum number of relations in records per event: an order may list its items, their products and names.
_MAX_RECORD_RELATIONS = 24
# Confidence of relations in the results of calls and in other records.
_RECORDED = 0.95


class RelationRule(NamedTuple):
    """In events of *event_type*, *relation_type* links each entity of type *source* to each of type *target*.

    *failed* limits the rule to failed events; *most* is the maximum number of relations that one event gets from it.
    """

    event_type: str
    source: str
    relation_type: str
    target: str
    confidence: float
    failed: bool = False
    most: int = 4


RELATION_RULES: tuple[RelationRule, ...] = (
    RelationRule("tool_call", "agent", "uses", "tool", 1.0),
    RelationRule("tool_call", "tool", "runs", "command", 0.95),
    RelationRule("tool_call", "tool", "touches", "file", 0.9),
    RelationRule("tool_call", "tool", "touches", "url", 0.9),
    RelationRule("tool_result", "tool", "raises", "error_type", 0.9, failed=True),
    RelationRule("command_exec", "agent", "uses", "command", 1.0),
    RelationRule("command_exec", "command", "touches", "file", 0.9),
    RelationRule("command_exec", "command", "raises", "error_type", 0.9, failed=True),
    RelationRule("test_run", "agent", "uses", "command", 1.0),
    RelationRule("test_run", "command", "touches", "file", 0.9),
    RelationRule("test_run", "command", "raises", "error_type", 0.9, failed=True),
    RelationRule("file_edit", "agent", "touches", "file", 1.0),
    RelationRule("browser_action", "agent", "touches", "url", 1.0),
    RelationRule("browser_action", "host", "raises", "error_type", 0.9, failed=True),
    RelationRule("api_result", "agent", "touches", "url", 1.0),
    RelationRule("api_result", "host", "raises", "error_type", 0.9, failed=True),
    RelationRule("decision", "agent", "chooses", "concept", 0.9),
    RelationRule("error", "tool", "raises", "error_type", 1.0),
    RelationRule("error", "command", "raises", "error_type", 0.9),
)
_BY_TYPE = {
    event_type: tuple(rule for rule in RELATION_RULES if rule.event_type == event_type)
    for event_type in {rule.event_type for rule in RELATION_RULES}
}
# "Restarting the pod fixed the ImagePullBackOff": the error follows the verb, the fix precedes it.
_FIXED = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|solv(?:e[sd]?|ing)|cur(?:e[sd]?|ing)|got rid of|gets rid of"
    r"|cleared)\b",
    re.IGNORECASE,
)
# Types of entities that can fix an error.
_FIXERS = ("tool", "command", "file", "symbol")


def structural(event_type: str, entities: dict[str, list[Ref]], *, failed: bool) -> Iterator[Relation]:
    """Yield the relations that `RELATION_RULES` states for an event of this type with these *entities*, by type."""
    for rule in _BY_TYPE.get(event_type, ()):
        if rule.source in entities and rule.target in entities and (failed or not rule.failed):
            pairs = [(source, target) for source in entities[rule.source] for target in entities[rule.target]]
            for source, target in pairs[: rule.most]:
                yield Relation(source, rule.relation_type, target, rule.confidence)


def said_by(speaker: Ref, topics: Iterable[Ref]) -> Iterator[Relation]:
    """Link the first four topics of a message to its speaker."""
    other_topics = (topic for topic in topics if topic != speaker)
    for _, topic in zip(range(4), other_topics, strict=False):
        yield Relation(topic, "said_by", speaker, 0.9)


def mentioned_with(title: Ref, entities: Iterable[Ref]) -> Iterator[Relation]:
    """Link the topic in an event's title to the first eight other *entities*."""
    other_entities = (other for other in entities if other != title)
    for _, other in zip(range(8), other_entities, strict=False):
        yield Relation(title, "mentions_with", other, 0.6)


def fixes(text: str, entities: Iterable[tuple[Ref, str]], actors: Iterable[Ref]) -> Iterator[Relation]:
    """Link at most two fixes to at most two errors, if *text* says that something "fixed" or "resolved" an error.

    Fixes are the entities named before that verb, then the *actors* of the event; errors are named after the verb.
    *entities* are those of *text*, each with its name; case does not matter.

    >>> restart, error = Ref("command", "kubectl rollout"), Ref("error_type", "imagepullbackoff")
    >>> text = "kubectl rollout fixed the ImagePullBackOff"
    >>> entities = [(restart, "kubectl rollout"), (error, "ImagePullBackOff")]
    >>> [(relation.source.type, relation.relation_type, relation.target.type) for relation in fixes(text, entities, [])]
    [('command', 'fixes', 'error_type')]
    """
    verb = _FIXED.search(text)
    if not verb:
        return
    lowered = text.lower()
    errors = [ref for ref, name in entities if ref.type == "error_type" and lowered.find(name.lower(), verb.end()) >= 0]
    fixers = [ref for ref, name in entities if ref.type in _FIXERS and 0 <= lowered.find(name.lower()) < verb.start()]
    for fixer in list(dict.fromkeys([*fixers, *actors]))[:2]:
        for error in errors[:2]:
            yield Relation(fixer, "fixes", error, 0.7)


def _host_relations(pairs: Iterable[tuple[Ref, Ref]]) -> Iterator[Relation]:
    """Link the first two URLs to their hosts."""
    for _, (url, host) in zip(range(2), pairs, strict=False):
        yield Relation(url, "hosted_on", host, 1.0)


# Collecting mentions: one per name, up to a limit per event.

# Maximum number of mentions per event.
_MAX_MENTIONS = 32
# Maximum number of further spellings per mention.
_MAX_ALIASES = 4
# The roles of mentions, weakest first.
_ROLES: tuple[Role, ...] = ("", "tag", "speaker", "title")


class MentionCollector:
    """Collects the mentions of one event, one for each family and normalised name; *room* is their maximum number."""

    __slots__ = ("_by_key", "room")

    def __init__(self, room: int = _MAX_MENTIONS) -> None:
        self._by_key: dict[tuple[str, str], Mention] = {}
        self.room = room

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, entity_type: str, name: str, confidence: float = 1.0, role: Role = "") -> Ref | None:
        """Count one mention of *name* and return its entity.

        Return None if it is not a name, or if it is new and no room is left.
        """
        normalised = normalise(entity_type, name)
        key = (family(entity_type), normalised)
        known = self._by_key.get(key)
        if known is not None:
            merged = _merged(known, entity_type, name, confidence, role)
            self._by_key[key] = merged
            return Ref(merged.type, normalised)
        if not normalised or len(self._by_key) >= self.room:
            return None
        self._by_key[key] = Mention(entity_type, name.strip()[:LONGEST_NAME], normalised, 1, role, confidence)
        return Ref(entity_type, normalised)

    def add_title(self, entity_type: str, title: str) -> Ref | None:
        """Count *title* as the topic of the event; also its form without a disambiguation, with *title* as an alias."""
        ref = self.add(entity_type, title, 1.0, "title")
        short = bare(title) if entity_type == "concept" else ""
        if short and self.add("concept", short, 0.9, "title"):
            self._add_alias(("name", normalise("concept", short)), title)
        return ref

    def ref(self, entity_type: str, name: str) -> Ref:
        """The entity called *name*, under the most specific type found for it so far."""
        normalised = normalise(entity_type, name)
        known = self._by_key.get((family(entity_type), normalised))
        return known.ref if known else Ref(entity_type, normalised)

    def by_type(self) -> dict[str, list[Ref]]:
        """The entities collected so far, in order, grouped by type."""
        refs: dict[str, list[Ref]] = {}
        for mention in self._by_key.values():
            refs.setdefault(mention.type, []).append(mention.ref)
        return refs

    def of_type(self, *types: str) -> list[Ref]:
        """The entities of these types collected so far, in order."""
        return [mention.ref for mention in self._by_key.values() if mention.type in types]

    def mentions(self) -> tuple[Mention, ...]:
        """All mentions, ordered by type and name."""
        return tuple(sorted(self._by_key.values()))

    def resolve_relations(self, relations: Iterable[Relation]) -> tuple[Relation, ...]:
        """The first 36 distinct *relations* between two mentioned entities, under their most specific types, sorted."""
        resolved: dict[Relation, None] = {}
        for source, relation_type, target, confidence in relations:
            ends = (self._resolved(source), self._resolved(target))
            if ends[0] and ends[1] and ends[0] != ends[1]:
                resolved[Relation(ends[0], relation_type, ends[1], confidence)] = None
        return tuple(sorted(list(resolved)[: _MAX_RELATIONS + _MAX_RECORD_RELATIONS]))

    def _resolved(self, ref: Ref) -> Ref | None:
        mention = self._by_key.get((family(ref.type), ref.normalised))
        return mention.ref if mention else None

    def _add_alias(self, key: tuple[str, str], name: str) -> None:
        mention, spelling = self._by_key[key], name.strip()[:LONGEST_NAME]
        if spelling not in (mention.name, *mention.aliases):
            self._by_key[key] = mention._replace(aliases=(*mention.aliases, spelling)[:_MAX_ALIASES])


def _merged(known: Mention, entity_type: str, name: str, confidence: float, role: Role) -> Mention:
    """*known* with one more mention, which may add a spelling, a more specific type or a stronger role."""
    spelling = name.strip()[:LONGEST_NAME]
    aliases = (
        known.aliases
        if spelling == known.name or spelling in known.aliases
        else (*known.aliases, spelling)[:_MAX_ALIASES]
    )
    return Mention(
        more_specific(known.type, entity_type),
        known.name,
        known.normalised,
        known.times + 1,
        _stronger(known.role, role),
        max(known.confidence, confidence),
        aliases,
    )


def _stronger(first: Role, second: Role) -> Role:
    return first if _ROLES.index(first) >= _ROLES.index(second) else second


# Reading one event.

# Maximum number of mentions per result of a call: results contain far more names than recall needs.
_MAX_RESULT_MENTIONS = 16
# If the records of an event refer to each other, the limit is raised to this many mentions while they are read.
_MAX_RECORD_MENTIONS = 24
# In that case, names outside the records may then add this many mentions.
_MAX_FURTHER_MENTIONS = 8
# Types of events that mention their agent.
_ACTIONS = WORK | {"tool_call", "decision"}
_STRUCTURED = frozenset({"tool_call", "tool_result", "command_exec", "file_edit", "test_run", "api_result"})
_RESULTS = frozenset({"tool_result", "api_result"})
_TALK = frozenset({"message", "feedback"})
# Fields that are searched for names in running text, unless the event is structured.
_PROSE = frozenset({"text", "reasoning", "question", "summary", "description", "comment"})
# Number of characters read of each running text or command line in the fields of an event.
_LONGEST_FIELD = 2_000
# Number of characters in which secrets are masked: more than are read, because a secret may start before the end of the
# part that is read and continue after it.
_MASKED_FIELD = 2_500
# Number of characters of a chosen option that serve as the name of a concept.
_LONGEST_OPTION = 80


def read(event: Event, voice: Voice) -> tuple[MentionCollector, list[Relation]]:
    """Collect the mentions of *event* and the relations between them; secrets never become names."""
    event = _without_secrets(event)
    collector = MentionCollector(_MAX_RESULT_MENTIONS if event.event_type in _RESULTS else _MAX_MENTIONS)
    if event.event_type in _ACTIONS:
        collector.add("agent", event.agent_id)
    if event.event_type in _TALK:
        return collector, _read_talk(event, voice, collector)
    return collector, _read_other_event(event, collector)


# The replacement of a secret. No pattern of names matches it, except inside an address (user:***@host).
_HIDDEN = "***"
# The marks of masked secrets. A secret that was masked before it was stored has a hash in its mark: "[token 1f2e]".
_MASKED = re.compile("|".join(sorted({rf"{re.escape(rule.mark[:-1])}(?: [0-9a-f]{{4}})?\]" for rule in SECRETS})))


def _without_secrets(event: Event) -> Event:
    """*event* with asterisks instead of the secrets in the parts of its content that are read."""
    content = masked_fields(event.content, _hidden_in_field if event.event_type in _STRUCTURED else _hidden)
    return event if content == event.content else event.model_copy(update={"content": content})


def _hidden(text: str) -> str:
    masked = mask_secrets(text, personal=False)
    return _MASKED.sub(_HIDDEN, masked) if "[" in masked else masked


def _hidden_in_field(text: str) -> str:
    """*text* with the secrets masked in its beginning only, because masking a whole long output would be slow.

    The masked part is padded to its old length, so that no unmasked text moves into the part that is read.
    """
    if len(text) <= _MASKED_FIELD:
        return _hidden(text)
    return f"{_hidden(text[:_MASKED_FIELD]):{_MASKED_FIELD}}{text[_MASKED_FIELD:]}"


def names_in(text: str) -> tuple[Mention, ...]:
    """The names in a free text, such as a question, normalised like those of events.

    >>> [(mention.type, mention.normalised) for mention in names_in("When did Lilu call get_weather in app.py?")]
    [('concept', 'lilu'), ('file', 'app.py')]
    """
    collector = MentionCollector()
    _add_names(text, collector)
    return collector.mentions()


def _read_talk(event: Event, voice: Voice, collector: MentionCollector) -> list[Relation]:
    """Collect the mentions in a message or in feedback, and return the relations between them."""
    relations: list[Relation] = []
    speaker = collector.add("person", voice.name, 1.0, "speaker") if voice.name else None
    text = event.content.get("comment" if event.event_type == "feedback" else "text")
    if isinstance(text, str) and text:
        relations.extend(_add_names(text, collector, listing=voice.part == "assistant"))
    if event.content.get("attachments"):
        relations.extend(_add_fields({"attachments": event.content["attachments"]}, collector))
    if speaker:
        relations.extend(said_by(speaker, collector.of_type("concept", "person")))
    _add_tags(event, collector)
    return relations


def _read_other_event(event: Event, collector: MentionCollector) -> list[Relation]:
    """Collect the mentions in an event other than talk, and return the relations between them."""
    content = _searched_content(event)
    title = content.get("title")
    subject = collector.add_title(_title_type(title), title) if isinstance(title, str) and title else None
    _add_actor(event, collector)
    record_relations, recorded_names = _add_records(event, collector)
    relations = _add_fields(content, collector, recorded_names)
    for name in sorted(_PROSE & content.keys()) if event.event_type not in _STRUCTURED else ():
        if isinstance(content[name], str):
            _add_spans(content[name], collector, titled=subject is not None)
    if event.event_type == "decision" and isinstance(content.get("chosen_option"), str):
        collector.add("concept", content["chosen_option"][:_LONGEST_OPTION], 0.9)
    if subject:
        relations.extend(mentioned_with(subject, collector.of_type("concept", "person")))
    relations.extend(_rule_relations(event, collector))
    _add_tags(event, collector)
    return [*relations[:_MAX_RELATIONS], *record_relations]


def _searched_content(event: Event) -> Mapping[str, Any]:
    """The content of *event* in which names are searched for: all but the id of a superseded memory."""
    if event.event_type != MEMORY_EVENT:
        return event.content
    return {name: value for name, value in event.content.items() if name != "supersedes"}


def _add_records(event: Event, collector: MentionCollector) -> tuple[list[Relation], frozenset[str]]:
    """Add the things that the records of *event* identify.

    Return the relations between them, and the names of all things, including those that did not fit into the limit.
    """
    content = _searched_content(event)
    tool = content.get("tool_name")
    part = {"tool_call": "arguments", "tool_result": "result"}.get(event.event_type)
    hint = tool if part and isinstance(tool, str) else event.event_type
    items = list(records({part: content.get(part)} if part else content, hint))
    links = [item for item in items if isinstance(item, Link)]
    room = collector.room
    collector.room = max(room, _MAX_RECORD_MENTIONS) if links else room
    added_things = {item for item in items if isinstance(item, Thing) and collector.add(item.type, item.name, 0.95)}
    collector.room = max(room, min(len(collector) + _MAX_FURTHER_MENTIONS, _MAX_MENTIONS)) if links else room
    confidence = REQUESTED if part == "arguments" else _RECORDED
    relations = [_linked(link, confidence, collector) for link in links if {link.source, link.target} <= added_things]
    return relations[:_MAX_RECORD_RELATIONS], frozenset(item.name for item in items if isinstance(item, Thing))


def _linked(link: Link, confidence: float, collector: MentionCollector) -> Relation:
    source, target = collector.ref(*link.source), collector.ref(*link.target)
    return Relation(source, link.relation_type, target, confidence)


def _add_actor(event: Event, collector: MentionCollector) -> None:
    """Add the tool or command that the source names: ``tool:kubectl``."""
    kind, colon, name = (event.source or "").partition(":")
    if colon and kind in {"tool", "command"}:
        collector.add(kind, name)


def _rule_relations(event: Event, collector: MentionCollector) -> list[Relation]:
    """The relations that `RELATION_RULES` states for *event*, and the fixes that its text reports."""
    content = event.content
    entities = collector.by_type()
    if event.event_type == "decision":
        option = content.get("chosen_option")
        entities["concept"] = [collector.ref("concept", option[:_LONGEST_OPTION])] if isinstance(option, str) else []
    relations = list(structural(event.event_type, entities, failed=went_well(event.event_type, content) is False))
    if "error_type" in entities:
        text = content.get("change") or content.get("summary") or content.get("message")
        actors = [ref for kind in ("file", "command", "tool") for ref in entities.get(kind, ())]
        errors = [(ref, ref.normalised) for ref in entities["error_type"]]
        relations.extend(fixes(text, errors, actors) if isinstance(text, str) else ())
    return relations


def _title_type(title: str) -> str:
    """The type of the entity in an event's title: a file, URL or host by its form, else a concept."""
    form = next(forms(title), None)
    return form.type if form and form.name == title and form.type in {"file", "url", "host"} else "concept"


def _add_names(text: str, collector: MentionCollector, *, listing: bool = False) -> list[Relation]:
    """Add all names in a running text; return the relations between them."""
    relations, entities = _add_forms(text, collector)
    _add_spans(text, collector, listing=listing)
    if any(ref.type == "error_type" for ref, _ in entities):
        relations.extend(fixes(text, entities, ()))
    return relations


def _add_spans(text: str, collector: MentionCollector, *, titled: bool = False, listing: bool = False) -> None:
    for span in spans(text, titled=titled, listing=listing):
        collector.add("person" if span.person else "concept", span.name, span.confidence)


def _add_forms(text: str, collector: MentionCollector) -> tuple[list[Relation], list[tuple[Ref, str]]]:
    """Add the names recognised by form; return the relations between them, and the entities with their names."""
    entities: list[tuple[Ref, str]] = []
    hosts: list[tuple[Ref, Ref]] = []
    for form in forms(text):
        ref = collector.add(form.type, form.name, form.confidence)
        if ref:
            entities.append((ref, form.name))
            hosts.extend(_url_and_host(ref, form.name, collector))
    return list(_host_relations(hosts)), entities


def _url_and_host(url: Ref, name: str, collector: MentionCollector) -> Iterable[tuple[Ref, Ref]]:
    host = collector.add("host", host_of(name)) if url.type == "url" else None
    return [(url, host)] if host else []


def _add_fields(
    content: Mapping[str, Any], collector: MentionCollector, recorded: frozenset[str] = frozenset()
) -> list[Relation]:
    """Add the names in *content* that records did not identify already; return the relations between them."""
    relations: list[Relation] = []
    for leaf in leaves(content):
        if leaf.value in recorded:
            continue
        if leaf.type == "text":
            relations.extend(_add_forms(leaf.value[:_LONGEST_FIELD], collector)[0])
        elif leaf.type == "command":
            for command in commands(leaf.value):
                collector.add("command", command, 0.95)
            relations.extend(_add_forms(leaf.value[:_LONGEST_FIELD], collector)[0])
        elif leaf.type == "url":
            ref = collector.add("url", leaf.value)
            relations.extend(
                _host_relations(_url_and_host(ref, leaf.value, collector) if ref and "://" in leaf.value else [])
            )
        else:
            collector.add(leaf.type, leaf.value, 0.95)
    return relations


def _add_tags(event: Event, collector: MentionCollector) -> None:
    for tag in event.tags or ():
        collector.add("tag", tag, 1.0, "tag")
