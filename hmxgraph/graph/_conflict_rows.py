"""Convert conflicts to nodes and back: records that cannot all be true, and how each conflict was resolved."""

from collections.abc import Sequence
from typing import NamedTuple

from hmxgraph.graph.plan import Row, Tenancy
from hmxgraph.protocol.canonical import canonical_text, stable_id
from hmxgraph.protocol.lifecycle import Conflict, ConflictSide, SideKind
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter


class RelationKeys(NamedTuple):
    """A relation between two entities, identified by its type and their keys."""

    source_key: str
    relation_type: str
    target_key: str


class Side(NamedTuple):
    """One side of a new conflict: kind, id and text of a record, and its node key or, for a relation, its keys."""

    kind: SideKind
    side_id: str
    text: str
    key: str = ""
    relation: RelationKeys | None = None


def relation_id(source_key: str, relation_type: str, target_key: str) -> str:
    """A relation's id in conflicts and packs: its type between the first 16 characters of both keys.

    >>> relation_id("0a" * 32, "uses", "0b" * 32)
    '0a0a0a0a0a0a0a0a:uses:0b0b0b0b0b0b0b0b'

    """
    return f"{source_key[:16]}:{relation_type}:{target_key[:16]}"


# A time in microseconds, later than any on the wire. Sorting by the time left until then puts the newest first.
_END_US = 10**18


def conflict_place(detected_us: int, conflict_id: str = "") -> str:
    """The sort key of a conflict within its tenant: newest first, then by id.

    >>> places = [conflict_place(1, "a"), conflict_place(2, "c"), conflict_place(2, "b"), conflict_place(2)]
    >>> [place.partition("/")[2] for place in sorted(places)]
    ['', 'b', 'c', 'a']

    """
    return f"{_END_US - detected_us:019d}/{conflict_id}"


def conflict_row(
    tenancy: Tenancy, kind: str, sides: Sequence[Side], reason: str, at_us: int, count_tokens: TokenCounter
) -> Row:
    """The row for ``conflicts/open``; the id is a hash of kind and sides, so the same conflict is opened only once."""
    ordered = sorted(sides, key=lambda side: side.side_id)
    conflict_id = stable_id(tenancy.tenant_id, "conflict", kind, *(side.side_id for side in ordered))
    text = "\n".join([f"Conflict: {reason}", *(f"- {side.text}" for side in ordered)])
    relations = [side.relation for side in ordered if side.relation]
    key = tenancy.node_key(conflict_id)
    properties = {
        "key": key,
        "tenant_id": tenancy.tenant_id,
        "conflict_id": conflict_id,
        "kind": kind,
        "status": "open",
        "reason": reason,
        "text": text,
        "token_count": count_tokens(text),
        "tokenizer": DEFAULT_ENCODING,
        "detected_us": at_us,
        "place": conflict_place(at_us, conflict_id),
        "relations": [canonical_text(list(relation)) for relation in relations],
        "relation_texts": [side.text for side in ordered if side.relation],
    }
    return {
        "key": key,
        "properties": properties,
        "artifact_keys": [side.key for side in ordered if side.kind == "artifact"],
        "memory_keys": [side.key for side in ordered if side.kind == "memory"],
        "entity_keys": sorted({end for relation in relations for end in (relation.source_key, relation.target_key)}),
    }


def stored_conflict(properties: Row, sides: Sequence[Row], as_of_us: int) -> Conflict:
    """The conflict of a node as of *as_of_us*, with its sides.

    Memories have no status history: as sides, they have their present status.
    """
    resolved_us = properties.get("resolved_us")
    resolved = resolved_us is not None and resolved_us <= as_of_us
    stored_sides = [_side(side, as_of_us) for side in sides if side["label"] in {"Artifact", "Memory"}]
    stored_sides += [
        ConflictSide("relation", relation_id(*relation), text, "", None)
        for relation, text in zip(contested_relations(properties), properties.get("relation_texts", ()), strict=True)
    ]
    return Conflict(
        properties["conflict_id"],
        properties["kind"],
        "resolved" if resolved else "open",
        properties["reason"],
        properties["text"],
        iso(properties["detected_us"]),
        tuple(sorted(stored_sides, key=lambda side: side.side_id)),
        iso(resolved_us) if resolved_us is not None and resolved else None,
        properties.get("kept_id") if resolved else None,
        properties.get("resolution") if resolved else None,
    )


def contested_relations(properties: Row) -> list[RelationKeys]:
    """The relations of a conflict that exclude each other."""
    return [RelationKeys(*parse_json(text)) for text in properties.get("relations", ())]


def _side(side: Row, as_of_us: int) -> ConflictSide:
    times, values = side["status_times"], side["status_values"]
    past = [value for time_us, value in zip(times or (), values or (), strict=True) if time_us <= as_of_us]
    status = past[-1] if past else side["status"]
    kind: SideKind = "artifact" if side["label"] == "Artifact" else "memory"
    return ConflictSide(kind, side["side_id"], side["text"], status, side["confidence"])
