"""Events gathered for one transaction."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.prepare import PreparedEvent
from hmxgraph.ingest.report import ConflictingEvent
from hmxgraph.ingest.sources.deliveries import Broken, Delivery

SIZE = 1_000
# Characters of content; a batch of huge events is written in several transactions.
WEIGHT = 8_000_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one transaction, each id once, sessions in key order, each session in its total order.

    ``repeats`` are those whose id came before in the same batch. ``receipts`` are to be acknowledged once
    it is stored.
    """

    events: tuple[PreparedEvent, ...]
    repeats: tuple[PreparedEvent, ...] = ()
    receipts: tuple[Any, ...] = ()
    part: int = 0


@dataclass(slots=True)
class Gathering:
    """A batch in the making."""

    size: int = SIZE
    part: int = 0
    _events: dict[str, PreparedEvent] = field(default_factory=dict)
    _repeats: list[PreparedEvent] = field(default_factory=list)
    _receipts: list[Any] = field(default_factory=list)
    _weight: int = 0

    def add(self, event: PreparedEvent) -> None:
        """Put *event* in, aside if its id is in already."""
        if self._events.setdefault(event.key, event) is not event:
            self._repeats.append(event)
        self._weight += len(event.properties["content"])

    def owe(self, receipt: Any) -> None:
        """Remember what must be acknowledged once the batch is stored."""
        if receipt is not None:
            self._receipts.append(receipt)

    @property
    def full(self) -> bool:
        """Whether the batch should be written now."""
        return len(self._events) + len(self._repeats) >= self.size or self._weight >= WEIGHT

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write and nothing to account for."""
        return not (self._events or self._receipts)

    def batch(self) -> Batch:
        """What was gathered; the gathering begins anew."""
        events = sorted(self._events.values(), key=lambda event: (event.session_key, event.order))
        made = Batch(tuple(events), tuple(self._repeats), tuple(self._receipts), self.part)
        self._events, self._repeats, self._receipts, self._weight = {}, [], [], 0
        return made


def conflict(event: PreparedEvent, stored_hash: str) -> ConflictingEvent:
    """*event* as one whose id is taken by another body."""
    source, line = event.place
    return ConflictingEvent(source, line, event.event.event_id, stored_hash, event.properties["event_hash"])


def batches(
    deliveries: Iterable[Delivery | Broken], intake: Intake, *, size: int = SIZE, parts: int = 1
) -> Iterator[Batch]:
    """Everything in *deliveries* that *intake* accepts, in batches of at most *size* events.

    With several *parts* all batches that hold events of one session belong to the same part.
    """
    gatherings = [Gathering(size, part) for part in range(parts)]
    for delivery in deliveries:
        event = intake.take(delivery)
        if event is None:
            continue
        gathering = gatherings[int(event.session_key[:8], 16) % parts]
        gathering.add(event)
        if gathering.full:
            yield gathering.batch()
    for gathering in gatherings:
        if not gathering.empty:
            yield gathering.batch()
