"""Entities, their mentions and relations: written with the events that speak of them, forgotten with them."""

from collections.abc import Sequence
from typing import NamedTuple

from hmxgraph.graph.plan import Plan
from hmxgraph.graph.rows.entities import RANKS, Extracted, entity_rows, relation_rows
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy


def link(tenancy: Tenancy, batch: Sequence[Extracted]) -> Plan[None]:
    """Merge what *batch* mentions, and relate it; part of the transaction that stores its events.

    To be called once per newly stored event: replays are kept out by the events, not here.
    """
    entities = entity_rows(tenancy, batch)
    if entities:
        yield bind(
            "entities/record",
            tenant_id=tenancy.tenant_id,
            batch={
                "event_keys": [one.event_key for one in batch],
                "entities": entities,
                "relations": relation_rows(tenancy, batch),
                "ranks": RANKS,
            },
        )


class Forgotten(NamedTuple):
    """What lost its last evidence: keys of entities, ids of relations."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]


def forget(tenancy: Tenancy, event_keys: Sequence[str], at_us: int) -> Plan[Forgotten]:
    """Take away the mentions of these events, count down what they were evidence for, and tell what has none left."""
    rows = yield bind(
        "entities/forget", tenant_id=tenancy.tenant_id, batch={"event_keys": sorted(event_keys)}, at_us=at_us
    )
    return Forgotten(tuple(sorted(rows[0]["entities"])), tuple(sorted(rows[0]["relations"])))
