"""Events gathered for one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.prepare import PreparedEvent
from hmxgraph.ingest.sources import Arrival, Broken, Delivery, Lull
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.reports import ConflictingEvent

# Maximum number of events in a batch.
SIZE = 1_000
# A batch is full once its contents have this many characters, however few events it has.
WEIGHT = 8_000_000


class DeliveryGroup(NamedTuple):
    """A group of deliveries; whether they are the last, and whether the source pauses after them."""

    deliveries: Sequence[Delivery | Broken]
    last: bool = False
    lull: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """The events of one transaction, each id once, sorted by session key and then by position in the session.

    ``repeats`` are events whose id appeared earlier in the batch. ``receipts`` are acknowledged once the batch is
    stored. ``part`` is the number of the writer, the same for all batches of one session. ``extracted`` holds the
    extraction from each event, by event key. ``by_hand`` marks the events of ``remember`` calls, which take effect
    whatever their source.
    """

    events: tuple[PreparedEvent, ...]
    repeats: tuple[PreparedEvent, ...] = ()
    receipts: tuple[Any, ...] = ()
    part: int = 0
    extracted: Mapping[str, Any] | None = None
    by_hand: bool = False


@dataclass(slots=True)
class OpenBatch:
    """A batch being filled."""

    size: int = SIZE
    part: int = 0
    _events: dict[str, PreparedEvent] = field(default_factory=dict)
    _repeats: list[PreparedEvent] = field(default_factory=list)
    _receipts: list[Any] = field(default_factory=list)
    _weight: int = 0

    def add(self, event: PreparedEvent) -> None:
        """Add *event*; as a repeat if the batch has its id already."""
        if self._events.setdefault(event.key, event) is not event:
            self._repeats.append(event)
        self._weight += len(event.properties["content"])

    def owe(self, receipt: Any) -> None:
        """Keep a receipt to acknowledge once the batch is stored."""
        if receipt is not None:
            self._receipts.append(receipt)

    @property
    def full(self) -> bool:
        """Whether the batch should be written now."""
        return len(self._events) + len(self._repeats) >= self.size or self._weight >= WEIGHT

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write and nothing to acknowledge."""
        return not (self._events or self._receipts)

    def batch(self) -> Batch:
        """The events gathered so far; the next batch starts empty."""
        events = sorted(self._events.values(), key=lambda event: (event.session_key, event.order))
        batch = Batch(tuple(events), tuple(self._repeats), tuple(self._receipts), self.part)
        self._events, self._repeats, self._receipts, self._weight = {}, [], [], 0
        return batch


def conflict(event: PreparedEvent, stored_hash: str) -> ConflictingEvent:
    """The report that *event* has the id of a stored or earlier event with another body."""
    source, line = event.place
    return ConflictingEvent(source, line, event.event.event_id, stored_hash, event.properties["event_hash"])


def delivery_groups(arrivals: Iterable[Arrival], *, size: int = SIZE) -> Iterator[DeliveryGroup]:
    """*arrivals* in groups of *size*, not yet parsed; a group of large ones is smaller.

    The last group, and one before a pause, may be smaller or up to half larger. If the source raises or is interrupted,
    yield what was read, then re-raise.

    >>> [len(group.deliveries) for group in delivery_groups((Delivery(b"{}", line) for line in range(24)), size=10)]
    [10, 14]
    """
    group: list[Delivery | Broken] = []
    weight = 0
    try:
        for arrival in arrivals:
            if isinstance(arrival, Lull):
                yield DeliveryGroup(group, lull=True)
                group, weight = [], 0
                continue
            group.append(arrival)
            weight += _weight(arrival)
            if weight >= WEIGHT or len(group) >= size + _most_extra(size):
                yield DeliveryGroup(group[:size])
                group = group[size:]
                weight = sum(map(_weight, group))
    except (Exception, KeyboardInterrupt):
        yield DeliveryGroup(group, last=True)
        raise
    yield DeliveryGroup(group, last=True)


def _most_extra(size: int) -> int:
    """Maximum number of events beyond *size* in a last batch: another transaction for so few would cost more."""
    return size // 2


def _weight(delivery: Delivery | Broken) -> int:
    """The size of a payload: its bytes, or the characters of its text."""
    payload = delivery.payload if isinstance(delivery, Delivery) else b""
    if isinstance(payload, bytes | bytearray | str):
        return len(payload)
    try:
        return len(str(payload.content if isinstance(payload, Event) else payload))
    except (RecursionError, ValueError):
        # Nested too deeply for str(), or with numbers of too many digits: it will be stored as text or rejected.
        return 0


class BatchBuilder:
    """Sorts the events that *intake* accepts into batches of at most *size*; the last ones may be up to half larger.

    With several *parts*, the sessions are divided among them, and each part has its own batches.
    """

    def __init__(self, intake: Intake, *, size: int = SIZE, parts: int = 1) -> None:
        self._intake = intake
        self._most_extra = _most_extra(size)
        self._parts = [OpenBatch(size, part) for part in range(parts)]

    def take(self, group: DeliveryGroup) -> Iterator[Batch]:
        """The batches that *group* fills; after the last group, or in a lull, the unfilled batches too."""
        extra = self._most_extra if group.last else 0
        regular = max(0, len(group.deliveries) - extra)
        yield from self._take(group.deliveries[:regular])
        for open_batch in self._parts:
            open_batch.size += extra
        yield from self._take(group.deliveries[regular:])
        if group.last or group.lull:
            yield from (open_batch.batch() for open_batch in self._parts if not open_batch.empty)

    def _take(self, deliveries: Iterable[Delivery | Broken]) -> Iterator[Batch]:
        for delivery in deliveries:
            event = self._intake.take(delivery)
            if event is None:
                continue
            open_batch = self._parts[int(event.session_key[:8], 16) % len(self._parts)]
            open_batch.add(event)
            if open_batch.full:
                yield open_batch.batch()
