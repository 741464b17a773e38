"""Memories in the graph: written with the events that give them, chained by question, listed, forgotten."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from hmxgraph.errors import NotFound, UnknownChoice
from hmxgraph.extraction.extract import KINDS, extract
from hmxgraph.extraction.language import BY_HAND, Extraction, MemoryDraft
from hmxgraph.extraction.timeline import Dispute, Kept, Span, Told, ends, settle
from hmxgraph.graph._conflict_rows import Side, conflict_row
from hmxgraph.graph._entities import Extracted, entity_key
from hmxgraph.graph._paging import check_limit, cursor, place
from hmxgraph.graph.artifacts import ALWAYS
from hmxgraph.graph.plan import Plan, Procedure, Row, bind, read
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.ingest.prepare import event_document
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import MEMORY_STATUSES
from hmxgraph.protocol.memories import Memory
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter, counter, search_text, wording

# Memories as rows of a batch, and stored ones as values.


# A memory as sure as this is promoted; below, it is tentative until it was observed again.
SURE = 0.7
_TRIPLE = ("subject", "predicate", "object")
_WORDS = frozenset({"text", "search_text", "token_count", *_TRIPLE})


class _Maker(NamedTuple):
    """What memories are made with: whose they are, how long a text is in tokens, by which tokenizer."""

    tenancy: Tenancy
    count_tokens: TokenCounter
    tokenizer: str


class Stated(NamedTuple):
    """A memory as one event gives it."""

    event_key: str
    time_us: int
    draft: MemoryDraft

    @property
    def told(self) -> Told:
        """The same as an answer to the question of its slot."""
        return Told(self.time_us, self.event_key, self.draft.answer, self.draft.said_by, self.draft.laid_down)


class Identity(NamedTuple):
    """What makes a memory that stands for itself the one it is: its kind and its wording."""

    kind: str
    wording: str


def stated(batch: Sequence[Extracted]) -> list[Stated]:
    """The memories that *batch* gives, in the order of time."""
    found = [Stated(key, time_us, draft) for key, time_us, extraction in batch for draft in extraction.memories]
    return sorted(found, key=lambda one: (one.time_us, one.event_key))


def _by_identity(given: Sequence[Stated]) -> dict[Identity, list[Stated]]:
    """Memories that stand for themselves, by what they say: said in the same words again, it is the same memory."""
    found: dict[Identity, list[Stated]] = {}
    for one in given:
        found.setdefault(_identity_of(one.draft), []).append(one)
    return found


def _last_told_by_hand(said: Sequence[Stated]) -> int | None:
    """When somebody last wanted it to be remembered; None where nobody did."""
    return max((one.time_us for one in said if one.draft.extraction_method == BY_HAND), default=None)


def _standing_id(tenancy: Tenancy, identity: Identity, generation: int = 0) -> str:
    """The id of a memory that stands for itself; of another one in its words after so many were taken out by hand."""
    again = (str(generation),) if generation else ()
    return stable_id(tenancy.tenant_id, "memory", *identity, *again)


def _memory_row(maker: _Maker, memory_id: str, said: Sequence[Stated]) -> Row:
    """What ``memories/record`` writes for a memory that *said*, in order of time, give; it is in no chain."""
    key = maker.tenancy.node_key(memory_id)
    first_us, last_us = said[0].time_us, said[-1].time_us
    methods = [one.draft.extraction_method for one in said]
    properties = _properties(maker, said[0].draft) | {
        "key": key,
        "memory_id": memory_id,
        "surest": max(one.draft.confidence for one in said),
        "hard": True if any(one.draft.hard for one in said) else None,
        "extraction_method": BY_HAND if BY_HAND in methods else methods[0],
        "first_us": first_us,
        "last_us": last_us,
    }
    refs = sorted({ref for one in said for ref in one.draft.about})
    return {
        "key": key,
        "properties": {name: value for name, value in properties.items() if value not in {None, ""}},
        "event_keys": sorted({one.event_key for one in said}),
        "entity_keys": sorted({entity_key(maker.tenancy, *ref) for ref in refs}),
        "first_us": first_us,
        "last_us": last_us,
        "ends_us": None,
        "chained": False,
    }


def _reworded(maker: _Maker, memory: Row, told: Extraction) -> Row | None:
    """What ``memories/reword`` writes for a stored memory as *told* words it; None where nothing is to change."""
    for draft in told.memories:
        if _tells(draft, memory):
            if draft.text == memory["text"]:
                return None
            words = {name: value or None for name, value in _properties(maker, draft).items() if name in _WORDS}
            return {"key": memory["key"], "words": words}
    return None


def _tells(draft: MemoryDraft, memory: Row) -> bool:
    """Whether *draft* is the same as a stored memory, in whatever words."""
    if memory["answer"]:
        return bool(draft.kind == memory["kind"] and draft.answer == memory["answer"])
    stored = _identity(memory["kind"], memory["text"], *(memory[name] or "" for name in _TRIPLE))
    return not draft.slot and _identity_of(draft) == stored


def _identity_of(draft: MemoryDraft) -> Identity:
    return _identity(draft.kind, draft.text, draft.subject, draft.predicate, draft.object)


def _identity(kind: str, text: str, subject: str, predicate: str, value: str) -> Identity:
    """A fact about something is told by that, whatever its words."""
    return Identity(kind, wording(f"{subject} {predicate} {value}" if kind == "fact" and value else text))


def _properties(maker: _Maker, draft: MemoryDraft) -> dict[str, Any]:
    return {
        "tenant_id": maker.tenancy.tenant_id,
        "kind": draft.kind,
        "text": draft.text,
        "search_text": search_text(draft.text) or draft.text.lower(),
        "scope": maker.tenancy.scope,
        "token_count": maker.count_tokens(draft.text),
        "tokenizer": maker.tokenizer,
        "extraction_method": draft.extraction_method,
        "subject": draft.subject,
        "predicate": draft.predicate,
        "object": draft.object,
        "answer": draft.answer if draft.slot else "",
        "said_by": draft.said_by,
        "status": "tentative",
        "observation_count": 0,
    }


def _stored_memory(
    properties: Row, *, event_ids: Sequence[str] = (), observations: int | None = None, as_of: bool = False
) -> Memory:
    """The memory of a node; *as_of* says that it held at the time asked for, whatever became of it later."""
    end_us = None if as_of else properties.get("valid_to_us")
    return Memory(
        properties["memory_id"],
        properties["kind"],
        properties["text"],
        held_status(properties) if as_of else properties["status"],
        properties["confidence"],
        properties["observation_count"] if observations is None else observations,
        properties["extraction_method"],
        iso(properties["first_us"]),
        iso(properties["last_us"]),
        iso(properties["valid_from_us"]),
        None if end_us is None else iso(end_us),
        subject=properties.get("subject"),
        predicate=properties.get("predicate"),
        object=properties.get("object"),
        said_by=properties.get("said_by"),
        hard=properties.get("hard", False),
        event_ids=tuple(event_ids),
    )


def held_status(memory: Row) -> str:
    """The status of a memory while it held, whatever became of it later."""
    if memory["status"] not in {"deprecated", "contradicted"}:
        return str(memory["status"])
    return "promoted" if memory["confidence"] >= SURE else "tentative"


# Questions that have one answer at a time: stored answers and new tellings as one chain of memories.

CONTRADICTION = "contradicting_facts"


@dataclass(slots=True)
class _Chained:
    """Rows of ``memories/record`` for chains and for what is disputed, of ``conflicts/open`` and ``memories/part``."""

    stored: list[Row] = field(default_factory=list)
    new: list[Row] = field(default_factory=list)
    disputed: list[Row] = field(default_factory=list)
    conflicts: list[Row] = field(default_factory=list)
    parts: list[Row] = field(default_factory=list)

    @property
    def links(self) -> list[Row]:
        """Every memory with a place in a chain: stored ones in key order, then new ones, older before newer."""
        return [*sorted(self.stored, key=lambda row: str(row["key"])), *self.new]


@dataclass(frozen=True, slots=True)
class _Slot:
    """One question: its stored answers by key, what is said now by event and answer."""

    maker: _Maker
    key: str
    stored: Mapping[str, Row]
    said: Mapping[tuple[str, str], Stated]

    def named(self, spans: Iterable[Span]) -> None:
        """Give new spans the keys of the memories they will be; of two parts the one that began it stays the memory."""
        kept = {span.key: span for span in spans if span.key}
        for span in spans:
            key = span.key or self.maker.tenancy.node_key(self._id(span.answer, span.began))
            if not span.key and key in kept:
                earlier = kept[key]
                earlier.key = self.maker.tenancy.node_key(self._id(earlier.answer, earlier.began))
            span.key = key

    def memory_id(self, span: Span) -> str:
        if span.key in self.stored:
            return str(self.stored[span.key]["memory_id"])
        return self._id(span.answer, span.began)

    def parts(self, spans: Sequence[Span]) -> Iterator[Row]:
        """The rows that part stored memories: the new memory, and what of the stored one is told by it."""
        for span in spans:
            if span.origin and span.origin != span.key:
                yield {
                    "key": span.key,
                    "memory_id": self.memory_id(span),
                    "origin_key": span.origin,
                    "event_keys": [one.event_key for one in span.kept],
                    "times": [span.kept[0].time_us, span.kept[-1].time_us],
                    "rest": _rest(span, spans),
                }

    def row(self, span: Span) -> Row:
        found = [self.said[told.event_key, told.answer] for told in span.told]
        if not found:
            return _untold(span)
        row = _memory_row(self.maker, self.memory_id(span), found)
        return row | {"properties": row["properties"] | {"slot_key": self.key}}

    def text(self, span: Span) -> str:
        if span.key in self.stored:
            return str(self.stored[span.key]["text"])
        if span.origin:
            return str(self.stored[span.origin]["text"])
        return self.said[span.told[0].event_key, span.answer].draft.text

    def disputes(self, found: Iterable[Dispute], spans: Sequence[Span]) -> Iterator[tuple[Row, Row]]:
        """For each contradiction the memory that is not in the chain, and the conflict; both over where the span is."""
        ended = {id(span): end_us for span, end_us in zip(spans, ends(spans), strict=True)}
        for span, told in found:
            one = self.said[told.event_key, told.answer]
            memory_id = self._id(told.answer, "disputed", span.key)
            row = _memory_row(self.maker, memory_id, [one])
            sides = [
                Side("memory", self.memory_id(span), self.text(span), span.key),
                Side("memory", memory_id, one.draft.text, row["key"]),
            ]
            end_us = ended[id(span)]
            yield row | {"ends_us": end_us}, self._conflict(sides, one, end_us)

    def _conflict(self, sides: Sequence[Side], one: Stated, end_us: int | None) -> Row:
        about = f"{one.draft.subject}: {one.draft.predicate}" if one.draft.subject else one.draft.kind
        reason = f"told differently of the same time ({about})"
        maker = self.maker
        row = conflict_row(maker.tenancy, CONTRADICTION, sides, reason, one.time_us, maker.count_tokens)
        return row if end_us is None else row | {"properties": row["properties"] | _over(one.time_us, end_us)}

    def _id(self, *parts: str) -> str:
        return stable_id(self.maker.tenancy.tenant_id, "memory", self.key, *parts)


def slot_key(tenancy: Tenancy, slot: str) -> str:
    """The key of a question."""
    return tenancy.node_key("slot", slot)


def told_now(tenancy: Tenancy, given: Sequence[Stated]) -> dict[str, list[list[Any]]]:
    """When which answer is told now, by the key of the question."""
    found: dict[str, list[list[Any]]] = {}
    for one in given:
        found.setdefault(slot_key(tenancy, one.draft.slot), []).append([one.time_us, one.draft.answer])
    return found


def _by_slot(stored: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of ``memories/slots`` by the question they answer."""
    found: dict[str, list[Row]] = {}
    for row in stored:
        found.setdefault(row["slot_key"], []).append(row)
    return found


def chained(maker: _Maker, given: Sequence[Stated], stored: Sequence[Row]) -> _Chained:
    """What *given* makes of the chains whose *stored* answers are rows of ``memories/slots``."""
    rows = _Chained()
    asked: dict[str, list[Stated]] = {}
    for one in given:
        asked.setdefault(slot_key(maker.tenancy, one.draft.slot), []).append(one)
    known = _by_slot(stored)
    for key in sorted(asked):
        said = {(one.event_key, one.draft.answer): one for one in reversed(asked[key])}
        slot = _Slot(maker, key, {row["key"]: row for row in known.get(key, ())}, said)
        _answer(slot, rows)
    return rows


def _redrawn(key: str, stored: Sequence[Row]) -> list[Row]:
    """The rows that draw a chain anew from what is stored of it."""
    spans = [_span(row) for row in stored]
    places = _places(spans, key, {row["key"]: row for row in stored})
    return [_untold(span) | place for span, place in zip(spans, places, strict=True)]


def _answer(slot: _Slot, rows: _Chained) -> None:
    timeline = settle(map(_span, slot.stored.values()), (one.told for one in slot.said.values()))
    spans = timeline.spans
    slot.named(spans)
    rows.parts += slot.parts(spans)
    for at, standing in enumerate(_places(spans, slot.key, slot.stored)):
        if any(span.told or span.origin for span in spans[max(0, at - 1) : at + 2]):
            known = rows.stored if spans[at].key in slot.stored or spans[at].origin else rows.new
            known.append(slot.row(spans[at]) | standing)
    for row, conflict in slot.disputes(timeline.disputes, spans):
        rows.disputed.append(row)
        rows.conflicts.append(conflict)


def _span(row: Row) -> Span:
    told = [Kept(time_us, event_key) for time_us, event_key in row["tellings"]]
    kept = tuple(told or [Kept(row["first_us"], ""), Kept(row["last_us"], "")])
    return Span(row["answer"], row["first_us"], row["last_us"], row["said_by"], row["key"], hard=row["hard"], kept=kept)


def _rest(part: Span, spans: Sequence[Span]) -> list[int]:
    """Between which times the stored memory that *part* leaves goes on."""
    return next([span.first_us, span.last_us] for span in spans if span.key == part.origin)


def _over(told_us: int, end_us: int) -> Row:
    """The properties of a conflict about what had ended before it was seen."""
    return {
        "status": "resolved",
        "resolved_us": max(told_us, end_us),
        "resolution": "a later answer took the place of both",
    }


def _places(spans: Sequence[Span], key: str, stored: Mapping[str, Row]) -> list[Row]:
    """For each span its place: when it ceased to hold, what it supersedes, whether it is the one that holds."""
    return [
        {
            "ends_us": end_us,
            "supersedes_key": _superseded(span, before, stored),
            "head_key": key if end_us is None else None,
            "chained": True,
        }
        for span, before, end_us in zip(spans, (None, *spans), ends(spans), strict=False)
    ]


def _superseded(span: Span, before: Span | None, stored: Mapping[str, Row]) -> str | None:
    """The key of what *span* took the place of: by hand of something else, or in the chain of the one before it."""
    if by_hand := stored.get(span.key, {}).get("in_place_of"):
        return str(by_hand)
    replaced = before is None or stored.get(before.key, {}).get("replaced", False)
    return None if before is None or replaced else before.key


def _untold(span: Span) -> Row:
    """The row of a stored memory of which nothing new was said."""
    return {
        "key": span.key,
        "properties": {"text": "", "search_text": "", "surest": 0.0},
        "event_keys": [],
        "entity_keys": [],
        "first_us": span.first_us,
        "last_us": span.last_us,
    }


# Memories: written with the events that give them, listed, forgotten with their evidence.


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
    maker = _Maker(tenancy, count_tokens, tokenizer)
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
    maker = _Maker(tenancy, counter(), DEFAULT_ENCODING)
    told = [(row["memory"], extract(Event.parse(event_document(row["event"])))) for row in rows]
    words = [_reworded(maker, memory, extraction) for memory, extraction in told]
    if found := [row for row in words if row is not None]:
        yield bind("memories/reword", tenant_id=tenancy.tenant_id, batch={"memories": found})


def redraw(tenancy: Tenancy, slots: Sequence[str]) -> Plan[None]:
    """Draw the chains of these questions anew from the answers that have a place in them."""
    if slots:
        stored = yield bind("memories/slots", tenant_id=tenancy.tenant_id, batch={"slot_keys": list(slots), "told": {}})
        yield from _record(
            tenancy, [row for key, rows in sorted(_by_slot(stored).items()) for row in _redrawn(key, rows)]
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
        _stored_memory(
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
    return _stored_memory(rows[0]["memory"], event_ids=rows[0]["event_ids"])


def _chained(maker: _Maker, given: Sequence[Stated]) -> Plan[_Chained]:
    if not given:
        return _Chained()
    told = told_now(maker.tenancy, given)
    batch = {"slot_keys": sorted(told), "told": told}
    rows = yield bind("memories/slots", tenant_id=maker.tenancy.tenant_id, batch=batch)
    return chained(maker, given, rows)


def _standing(maker: _Maker, given: Sequence[Stated]) -> Plan[list[Row]]:
    """The rows of memories that stand for themselves; what was taken out and is told by hand again comes anew."""
    tenancy, said = maker.tenancy, _by_identity(given)
    generations = dict.fromkeys(said, 0)
    asked = {identity: at_us for identity, told in said.items() if (at_us := _last_told_by_hand(told)) is not None}
    while asked:
        by_key = {tenancy.node_key(_standing_id(tenancy, one, generations[one])): one for one in asked}
        rows = yield bind("memories/taken_out", tenant_id=tenancy.tenant_id, batch={"keys": sorted(by_key)})
        over = [one for row in rows if row["taken_out_us"] <= asked[one := by_key[row["key"]]]]
        asked = {one: asked[one] for one in over}
        generations |= {one: generations[one] + 1 for one in over}
    found = {_standing_id(tenancy, one, generations[one]): told for one, told in said.items()}
    return [_memory_row(maker, memory_id, found[memory_id]) for memory_id in sorted(found)]


def _record(tenancy: Tenancy, rows: list[Row]) -> Plan[None]:
    yield bind("memories/record", tenant_id=tenancy.tenant_id, batch={"memories": rows}, sure=SURE)


def _page(tenancy: Tenancy, asked: Row) -> Plan[list[Row]]:
    rows = yield bind("memories/list", tenant_id=tenancy.tenant_id, **asked)
    return rows


def _choose(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise UnknownChoice(name, value, choices)
