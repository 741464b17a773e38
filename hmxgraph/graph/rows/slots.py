"""Questions that have one answer at a time: stored answers and new tellings as one chain of memories."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.extraction.memories.timeline import Dispute, Kept, Span, ends, settle
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.conflicts import Side, conflict_row
from hmxgraph.graph.rows.memories import Maker, Stated, memory_row
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import stable_id

CONTRADICTION = "contradicting_facts"


@dataclass(slots=True)
class Chained:
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

    maker: Maker
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
        row = memory_row(self.maker, self.memory_id(span), found)
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
            row = memory_row(self.maker, memory_id, [one])
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


def by_slot(stored: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of ``memories/slots`` by the question they answer."""
    found: dict[str, list[Row]] = {}
    for row in stored:
        found.setdefault(row["slot_key"], []).append(row)
    return found


def chained(maker: Maker, given: Sequence[Stated], stored: Sequence[Row]) -> Chained:
    """What *given* makes of the chains whose *stored* answers are rows of ``memories/slots``."""
    rows = Chained()
    asked: dict[str, list[Stated]] = {}
    for one in given:
        asked.setdefault(slot_key(maker.tenancy, one.draft.slot), []).append(one)
    known = by_slot(stored)
    for key in sorted(asked):
        said = {(one.event_key, one.draft.answer): one for one in reversed(asked[key])}
        slot = _Slot(maker, key, {row["key"]: row for row in known.get(key, ())}, said)
        _answer(slot, rows)
    return rows


def redrawn(key: str, stored: Sequence[Row]) -> list[Row]:
    """The rows that draw a chain anew from what is stored of it."""
    spans = [_span(row) for row in stored]
    places = _places(spans, key, {row["key"]: row for row in stored})
    return [_untold(span) | place for span, place in zip(spans, places, strict=True)]


def _answer(slot: _Slot, rows: Chained) -> None:
    timeline = settle(map(_span, slot.stored.values()), (one.told for one in slot.said.values()))
    spans = timeline.spans
    slot.named(spans)
    rows.parts += slot.parts(spans)
    for at, place in enumerate(_places(spans, slot.key, slot.stored)):
        if any(span.told or span.origin for span in spans[max(0, at - 1) : at + 2]):
            known = rows.stored if spans[at].key in slot.stored or spans[at].origin else rows.new
            known.append(slot.row(spans[at]) | place)
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
