"""Entities in the graph: mentions and relations, written with their events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hmxgraph.extraction.entities import FAMILIES, family, more_specific
from hmxgraph.extraction.language import Extraction, Mention, Ref, Relation
from hmxgraph.graph.plan import Plan, Row, Tenancy, bind
from hmxgraph.text.terms import search_text

# Extractions of a batch of events as rows, one per entity and one per relation.

# Maximum number of aliases of an entity: with its name that makes nine, as in events/record.
_MOST_ALIASES = 8
# If a name has two types of one family, the type with the higher rank is more specific and is kept. Types that are not
# listed here, which come from field names, rank above all of these.
_RANKS = {entity_type: rank for members in FAMILIES.values() for rank, entity_type in enumerate(members)}


class EventExtraction(NamedTuple):
    """The extraction from one event, with the event's key and time."""

    event_key: str
    time_us: int
    extraction: Extraction


def entity_key(tenancy: Tenancy, entity_type: str, normalised: str) -> str:
    """The key of the entity with this normalised name; types of one family share it.

    >>> acme = Tenancy.of("acme")
    >>> entity_key(acme, "person", "caroline") == entity_key(acme, "concept", "caroline")
    True
    """
    return tenancy.node_key(family(entity_type), normalised)


def entity_properties(tenancy: Tenancy, entity_type: str, name: str, normalised: str) -> dict[str, Any]:
    """The properties of a new entity, except its times."""
    return {
        "key": entity_key(tenancy, entity_type, normalised),
        "tenant_id": tenancy.tenant_id,
        "type": entity_type,
        "name": name,
        "normalised": normalised,
        "aliases": [],
        "mention_count": 0,
        "confidence": 1.0,
        "status": "active",
        "search_text": search_text(name) or normalised,
        "scope": tenancy.scope,
    }


@dataclass(slots=True)
class _Entity:
    """One entity of a batch, while its mentions are gathered."""

    mention: Mention
    names: set[str] = field(default_factory=set)
    confidence: float = 0.0
    events: list[list[Any]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def add(self, mention: Mention) -> None:
        if mention.type != self.mention.type and more_specific(mention.type, self.mention.type) == mention.type:
            self.mention = mention
        self.names.update((mention.name, *mention.aliases))
        self.confidence = max(self.confidence, mention.confidence)


def _entity_rows(tenancy: Tenancy, batch: Sequence[EventExtraction]) -> list[Row]:
    """The rows of ``events/record`` for entities, sorted by key.

    An event is listed as its position in the batch, number of mentions, role, and marks of the relations for which it
    is evidence (see `evidence_mark`).
    """
    entities: dict[str, _Entity] = {}
    for position, (_, time_us, extraction) in enumerate(batch):
        marks = _relation_marks(tenancy, extraction.relations)
        for mention in extraction.mentions:
            key = entity_key(tenancy, mention.type, mention.normalised)
            entity = entities.setdefault(key, _Entity(mention))
            entity.add(mention)
            entity.events.append([position, mention.times, mention.role or None, marks.get(key)])
            entity.times.append(time_us)
    return [_entity_row(tenancy, entities[key]) for key in sorted(entities)]


def _relation_rows(tenancy: Tenancy, batch: Sequence[EventExtraction]) -> list[Row]:
    """The rows of ``events/record`` for relations, sorted by key; ``evidence`` counts the events that support each."""
    relations: dict[tuple[str, str, str], Row] = {}
    for _, time_us, extraction in batch:
        for relation in extraction.relations:
            triple = (_key(tenancy, relation.source), relation.relation_type, _key(tenancy, relation.target))
            row = relations.get(triple)
            if row is None:
                row = relations[triple] = _relation_row(triple, time_us)
            row["confidence"] = max(row["confidence"], relation.confidence)
            row["evidence"] += 1
            row["first_us"], row["last_us"] = min(row["first_us"], time_us), max(row["last_us"], time_us)
    return [relations[triple] for triple in sorted(relations)]


def evidence_mark(relation_type: str, target_key: str) -> str:
    """The mark of a mention whose event is evidence for a relation; 64 bits of *target_key* identify the target.

    >>> evidence_mark("uses", "0123456789abcdef0123456789abcdef")
    'uses>0123456789abcdef'
    """
    return f"{relation_type}>{target_key[:16]}"


def _relation_marks(tenancy: Tenancy, relations: Iterable[Relation]) -> dict[str, list[str]]:
    """The marks of the relations that one event is evidence for, by the key of the source entity."""
    marks: dict[str, list[str]] = {}
    for relation in relations:
        mark = evidence_mark(relation.relation_type, _key(tenancy, relation.target))
        marks.setdefault(_key(tenancy, relation.source), []).append(mark)
    return marks


def _key(tenancy: Tenancy, ref: Ref) -> str:
    return entity_key(tenancy, ref.type, ref.normalised)


def _entity_row(tenancy: Tenancy, entity: _Entity) -> Row:
    mention, times, names = entity.mention, entity.times, sorted(entity.names)
    properties = entity_properties(tenancy, mention.type, names[0], mention.normalised) | {
        "aliases": names[1 : 1 + _MOST_ALIASES],
        "confidence": entity.confidence,
        "first_us": min(times),
        "last_us": max(times),
    }
    return {
        "key": properties["key"],
        "properties": properties,
        "names": names,
        "events": entity.events,
        "first_us": properties["first_us"],
        "last_us": properties["last_us"],
    }


def _relation_row(triple: tuple[str, str, str], time_us: int) -> Row:
    return {
        "source_key": triple[0],
        "relation_type": triple[1],
        "target_key": triple[2],
        "confidence": 0.0,
        "evidence": 0,
        "first_us": time_us,
        "last_us": time_us,
    }


# Entities, their mentions and relations: written and forgotten together with their events.


def entity_rows(tenancy: Tenancy, batch: Sequence[EventExtraction]) -> Row:
    """The rows of ``events/record`` for the entities and relations mentioned in *batch*.

    Events are referred to by their position in *batch*. Pass each event once, and none from which entities were stored
    before: duplicates are not filtered out here.
    """
    return {
        "entities": _entity_rows(tenancy, batch),
        "relations": _relation_rows(tenancy, batch),
        "ranks": _RANKS,
    }


class Forgotten(NamedTuple):
    """Entities (by key) and relations (as ``source_key.type.target_key``) that lost their last evidence."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]


def forget(tenancy: Tenancy, event_keys: Sequence[str], at_us: int) -> Plan[Forgotten]:
    """Remove the mentions of these events, decrement evidence counts, and return what lost its last evidence.

    Open conflicts about such a relation are resolved at *at_us*.
    """
    rows = yield bind(
        "entities/forget", tenant_id=tenancy.tenant_id, batch={"event_keys": sorted(event_keys)}, at_us=at_us
    )
    return Forgotten(tuple(sorted(rows[0]["entities"])), tuple(sorted(rows[0]["relations"])))
