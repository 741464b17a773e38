"""Questions that have one answer at a time: stored answers and new tellings as one chain of memories."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hmxgraph.extraction.timeline import Dispute, Span, ends, settle
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.conflicts import Side, conflict_row
from hmxgraph.graph.rows.memories import Maker, Stated, memory_row
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import stable_id

CONTRADICTION = "contradicting_facts"


@dataclass(slots=True)
class Chained:
    """Rows of ``memories/record`` for chains and for what is disputed, and rows of ``conflicts/open``."""

    stored: list[Row] = field(default_factory=list)
    new: list[Row] = field(default_factory=list)
    disputed: list[Row] = field(default_factory=list)
    conflicts: list[Row] = field(default_factory=list)

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
        """Give new spans the keys of the memories they will be."""
        for span in spans:
            if not span.key:
                span.key = self.maker.tenancy.node_key(self.memory_id(span))

    def memory_id(self, span: Span) -> str:
        if span.key in self.stored:
            return str(self.stored[span.key]["memory_id"])
        return self._id(span.answer, span.told[0].event_key)

    def row(self, span: Span) -> Row:
        found = [self.said[told.event_key, told.answer] for told in span.told]
        if not found:
            return _untold(span)
        row = memory_row(self.maker, self.memory_id(span), found)
        return row | {"properties": row["properties"] | {"slot_key": self.key}}

    def text(self, span: Span) -> str:
        if span.key in self.stored:
            return str(self.stored[span.key]["text"])
        return self.said[span.told[0].event_key, span.answer].draft.text

    def disputes(self, found: Iterable[Dispute]) -> Iterator[tuple[Row, Row]]:
        """For each contradiction the memory that is not in the chain, and the conflict."""
        for span, told in found:
            one = self.said[told.event_key, told.answer]
            memory_id = self._id(told.answer, "disputed", span.key)
            row = memory_row(self.maker, memory_id, [one])
            sides = [
                Side("memory", self.memory_id(span), self.text(span), span.key),
                Side("memory", memory_id, one.draft.text, row["key"]),
            ]
            yield row, self._conflict(sides, one)

    def _conflict(self, sides: Sequence[Side], one: Stated) -> Row:
        about = f"{one.draft.subject}: {one.draft.predicate}" if one.draft.subject else one.draft.kind
        reason = f"told differently of the same time ({about})"
        maker = self.maker
        return conflict_row(maker.tenancy, CONTRADICTION, sides, reason, one.time_us, maker.count_tokens)

    def _id(self, *parts: str) -> str:
        return stable_id(self.maker.tenancy.tenant_id, "memory", self.key, *parts)


def slot_key(tenancy: Tenancy, slot: str) -> str:
    """The key of a question."""
    return tenancy.node_key("slot", slot)


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
    return [_untold(span) | place for span, place in zip(spans, _places(spans, key), strict=True)]


def _answer(slot: _Slot, rows: Chained) -> None:
    timeline = settle(map(_span, slot.stored.values()), (one.told for one in slot.said.values()))
    spans = timeline.spans
    slot.named(spans)
    for at, place in enumerate(_places(spans, slot.key)):
        if any(span.told for span in spans[max(0, at - 1) : at + 2]):
            part = rows.stored if spans[at].key in slot.stored else rows.new
            part.append(slot.row(spans[at]) | place)
    for row, conflict in slot.disputes(timeline.disputes):
        rows.disputed.append(row)
        rows.conflicts.append(conflict)


def _span(row: Row) -> Span:
    return Span(row["answer"], row["first_us"], row["last_us"], row["said_by"], row["key"], hard=row["hard"])


def _places(spans: Sequence[Span], key: str) -> list[Row]:
    """For each span its place: when it ceased to hold, what it supersedes, whether it is the one that holds."""
    older = [None, *(span.key for span in spans[:-1])]
    return [
        {"ends_us": end_us, "supersedes_key": before, "head_key": key if end_us is None else None, "chained": True}
        for end_us, before in zip(ends(spans), older, strict=True)
    ]


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
