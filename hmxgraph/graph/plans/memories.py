"""Memories: written with the events that give them, listed, forgotten with their evidence."""

from collections.abc import Sequence
from functools import partial

from hmxgraph.errors import NotFound, UnknownChoice
from hmxgraph.extraction import extract
from hmxgraph.extraction.memories.remembering import KINDS
from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.rows.artifacts import ALWAYS
from hmxgraph.graph.rows.checks.events import event_document
from hmxgraph.graph.rows.cursors import check_limit, cursor, place
from hmxgraph.graph.rows.entities import Extracted
from hmxgraph.graph.rows.memories import (
    SURE,
    Maker,
    Memory,
    Stated,
    by_identity,
    last_told_by_hand,
    memory_row,
    reworded,
    standing_id,
    stated,
    stored_memory,
)
from hmxgraph.graph.rows.slots import Chained, by_slot, chained, redrawn, told_now
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprint_parts import MEMORY_STATUSES
from hmxgraph.text.tokens import DEFAULT_ENCODING, TokenCounter, counter


def store(
    tenancy: Tenancy, batch: Sequence[Extracted], count_tokens: TokenCounter, tokenizer: str = DEFAULT_ENCODING
) -> Plan[None]:
    """Merge the memories that *batch* gives; part of the transaction that stores its events, after their entities.

    At most three statements, none where there is nothing to remember, and one more where a late answer parts another;
    for what is told by hand one more, and another for each time that it was taken out before.
    Of one question only the latest answer holds; what was told differently of the same time becomes a conflict.
    """
    given = stated(batch)
    if not given:
        return
    maker = Maker(tenancy, count_tokens, tokenizer)
    rows = yield from _chained(maker, [one for one in given if one.draft.slot])
    others = yield from _standing(maker, [one for one in given if not one.draft.slot])
    if rows.parts:
        yield bind("memories/part", tenant_id=tenancy.tenant_id, batch={"parts": rows.parts})
    yield from _record(tenancy, [*rows.links, *rows.disputed, *others])
    if rows.conflicts:
        yield bind("conflicts/open", tenant_id=tenancy.tenant_id, batch={"conflicts": rows.conflicts})


def forget(tenancy: Tenancy, event_keys: Sequence[str], at_us: int) -> Plan[list[str]]:
    """The ids of the memories that lost their last evidence with these events, which are marked as erased.

    They become blank and leave their chains: what they had superseded holds again. Those with evidence left take their
    words from that.
    """
    touched = yield bind(
        "memories/forget", tenant_id=tenancy.tenant_id, batch={"event_keys": sorted(event_keys)}, at_us=at_us
    )
    lost = [row for row in touched if row["lost"]]
    yield from redraw(tenancy, sorted({row["slot_key"] for row in lost if row["slot_key"]}))
    yield from _reword(tenancy, [row["key"] for row in touched if not row["lost"]])
    return [row["memory_id"] for row in lost]


def _reword(tenancy: Tenancy, keys: Sequence[str]) -> Plan[None]:
    """Let no memory keep the spelling of an erased event that others told in their own."""
    if not keys:
        return
    rows = yield bind("memories/retold", tenant_id=tenancy.tenant_id, batch={"keys": list(keys)})
    maker = Maker(tenancy, counter(), DEFAULT_ENCODING)
    told = [(row["memory"], extract(Event.parse(event_document(row["event"])))) for row in rows]
    words = [reworded(maker, memory, extraction) for memory, extraction in told]
    if found := [row for row in words if row is not None]:
        yield bind("memories/reword", tenant_id=tenancy.tenant_id, batch={"memories": found})


def redraw(tenancy: Tenancy, slots: Sequence[str]) -> Plan[None]:
    """Draw the chains of these questions anew from the answers that have a place in them."""
    if slots:
        stored = yield bind("memories/slots", tenant_id=tenancy.tenant_id, batch={"slot_keys": list(slots), "told": {}})
        yield from _record(
            tenancy, [row for key, rows in sorted(by_slot(stored).items()) for row in redrawn(key, rows)]
        )


def memory(tenancy: Tenancy, memory_id: str) -> Procedure[Memory]:
    """The memory with this id, and the ids of the events it rests on.

    Raises:
        NotFound: there is no such memory.

    """
    return (yield from read(partial(stored, tenancy, memory_id)))


def memories(
    tenancy: Tenancy,
    *,
    kind: str | None = None,
    status: str | None = None,
    subject: str | None = None,
    as_of_us: int | None = None,
    limit: int = 100,
    after: str | None = None,
) -> Procedure[tuple[tuple[Memory, ...], str | None]]:
    """A page of memories, newest first, and the cursor of the next page (None on the last).

    As of a time: those that held then, with as many observations as they had.

    Raises:
        UnknownChoice: there is no such kind or status.
        InvalidRequest: *limit* is no size of a page.
        NotFound: *after* is no cursor of a page before.

    """
    _choose("kind", kind, KINDS)
    _choose("status", status, MEMORY_STATUSES)
    check_limit(limit)
    after_us, after_id = place(after)
    asked = {"kind": kind, "status": status, "subject": subject, "as_of_us": as_of_us, "limit": limit + 1}
    until_us = min(time_us for time_us in (as_of_us, after_us, ALWAYS) if time_us is not None)
    asked |= {"until_us": until_us, "after_us": after_us, "after_id": after_id}
    rows: list[Row] = yield from read(partial(_page, tenancy, asked))
    found = tuple(
        stored_memory(
            row["memory"], event_ids=row["event_ids"], observations=row["observations"], as_of=as_of_us is not None
        )
        for row in rows[:limit]
    )
    last = rows[limit - 1]["memory"] if len(rows) > limit else None
    return found, cursor(last["first_us"], last["memory_id"]) if last else None


def stored(tenancy: Tenancy, memory_id: str) -> Plan[Memory]:
    """The memory with this id, as part of a transaction."""
    rows = yield bind("memories/get", tenant_id=tenancy.tenant_id, key=tenancy.node_key(memory_id))
    if not rows:
        raise NotFound("memory", memory_id, tenancy.tenant_id)
    return stored_memory(rows[0]["memory"], event_ids=rows[0]["event_ids"])


def _chained(maker: Maker, given: Sequence[Stated]) -> Plan[Chained]:
    if not given:
        return Chained()
    told = told_now(maker.tenancy, given)
    batch = {"slot_keys": sorted(told), "told": told}
    rows = yield bind("memories/slots", tenant_id=maker.tenancy.tenant_id, batch=batch)
    return chained(maker, given, rows)


def _standing(maker: Maker, given: Sequence[Stated]) -> Plan[list[Row]]:
    """The rows of memories that stand for themselves; what was taken out and is told by hand again comes anew."""
    tenancy, said = maker.tenancy, by_identity(given)
    generations = dict.fromkeys(said, 0)
    asked = {identity: at_us for identity, told in said.items() if (at_us := last_told_by_hand(told)) is not None}
    while asked:
        by_key = {tenancy.node_key(standing_id(tenancy, one, generations[one])): one for one in asked}
        rows = yield bind("memories/taken_out", tenant_id=tenancy.tenant_id, batch={"keys": sorted(by_key)})
        over = [one for row in rows if row["taken_out_us"] <= asked[one := by_key[row["key"]]]]
        asked = {one: asked[one] for one in over}
        generations |= {one: generations[one] + 1 for one in over}
    found = {standing_id(tenancy, one, generations[one]): told for one, told in said.items()}
    return [memory_row(maker, memory_id, found[memory_id]) for memory_id in sorted(found)]


def _record(tenancy: Tenancy, rows: list[Row]) -> Plan[None]:
    yield bind("memories/record", tenant_id=tenancy.tenant_id, batch={"memories": rows}, sure=SURE)


def _page(tenancy: Tenancy, asked: Row) -> Plan[list[Row]]:
    rows = yield bind("memories/list", tenant_id=tenancy.tenant_id, **asked)
    return rows


def _choose(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise UnknownChoice(name, value, choices)
