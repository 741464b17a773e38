"""A reorder window: hold the events of a stream briefly, to store them in order (HMX-E 7)."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from hmxgraph.ingest.prepare import PreparedEvent
from hmxgraph.protocol.events import Position

# Maximum number of seconds for which an event is held.
SECONDS = 5.0
# Maximum number of events held; beyond it, the oldest leave early.
MOST = 20_000
# Maximum number of sessions whose next sequence number is remembered.
SESSIONS = 100_000


class Held(NamedTuple):
    """A waiting event: its position, the number of its arrival, and the receipt to acknowledge once it is stored."""

    order: Position
    arrival: int
    event: PreparedEvent
    receipt: Any


@dataclass(slots=True)
class ReorderWindow:
    """Holds each event until it continues its session without a gap, or *seconds* after it was received.

    If more than *most* events are held, the oldest leave earlier. Times are seconds of any monotonic clock. Events that
    arrive too late are still stored.
    """

    seconds: float = SECONDS
    most: int = MOST
    # By session: a heap of its waiting events.
    _sessions: dict[str, list[Held]] = field(default_factory=dict)
    # By session: the sequence number that continues it without a gap.
    _expected: dict[str, int] = field(default_factory=dict)
    # When each event must leave, with its session and position, in order of arrival. Some events have already left.
    _arrivals: deque[tuple[float, str, Position]] = field(default_factory=deque)
    _numbers: Iterator[int] = field(default_factory=count)
    _held: int = 0

    def add(self, event: PreparedEvent, receipt: Any, now: float) -> Iterator[Held]:
        """Hold *event*, received *now*; yields the events that may leave."""
        key = event.session_key
        heappush(self._sessions.setdefault(key, []), Held(event.order, next(self._numbers), event, receipt))
        self._arrivals.append((now + self.seconds, key, event.order))
        self._held += 1
        yield from self._leave(key, None)
        while self._held > self.most:
            _, oldest, order = self._arrivals.popleft()
            yield from self._leave(oldest, order)

    def release(self, now: float) -> Iterator[Held]:
        """The events that have waited long enough.

        With each, the events before it in its session, and those that follow it without a gap.
        """
        while self._arrivals and self._arrivals[0][0] <= now:
            _, key, order = self._arrivals.popleft()
            yield from self._leave(key, order)

    def flush(self) -> Iterator[Held]:
        """All events still held."""
        while self._arrivals:
            _, key, order = self._arrivals.popleft()
            yield from self._leave(key, order)

    def wait(self, now: float) -> float | None:
        """Seconds until the next event must leave; None if none is held."""
        while self._arrivals and self._is_released(*self._arrivals[0][1:]):
            self._arrivals.popleft()
        return max(0.0, self._arrivals[0][0] - now) if self._arrivals else None

    def _is_released(self, key: str, order: Position) -> bool:
        waiting = self._sessions.get(key)
        return not waiting or order < waiting[0].order

    def _leave(self, key: str, last: Position | None) -> Iterator[Held]:
        """The events of a session up to *last*, and those that follow without a gap."""
        waiting = self._sessions.get(key, [])
        expected = self._expected.pop(key, 0)
        # The first part of an order is the sequence number.
        while waiting and (waiting[0].order[0] <= expected or (last is not None and waiting[0].order <= last)):
            held = heappop(waiting)
            expected = max(expected, held.order[0] + 1)
            self._held -= 1
            yield held
        self._remember(key, expected)
        if not waiting:
            self._sessions.pop(key, None)

    def _remember(self, key: str, expected: int) -> None:
        self._expected[key] = expected
        if len(self._expected) > SESSIONS:
            self._expected.pop(next(iter(self._expected)))
