"""The total order of a session's events (HMX-E 7)."""

from typing import Protocol, TypeAlias

from hmxgraph.protocol.events import Event

Position: TypeAlias = tuple[int, int, str]

# Before the first event that a session can have.
BEFORE_ALL: Position = (-1, 0, "")


class _Placed(Protocol):
    @property
    def sequence(self) -> int: ...
    @property
    def time_us(self) -> int: ...
    @property
    def event_id(self) -> str: ...


def position(event: Event | _Placed) -> Position:
    """The place of *event* in its session: sequence, then time, then id; two events never share one."""
    return event.sequence, event.time_us, event.event_id
