"""The events that may go into a pack, as columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hmxgraph.recall.arrays import Floats, Integers
from hmxgraph.recall.ranking.occurrences import Occurrences

# How far words reach to the turns around them.
REACH = 4
_APART = REACH + 1


@dataclass(frozen=True)
class EventPool:
    """Candidate events in a canonical order: by session, then as the session tells them.

    The fields are those of a row of ``graph.rows.recall_rows.pool_rows``, in this order. ``tokens`` are those of the
    line that a pack writes for it, ``label`` says whose words they are where they came from outside. The last field is
    the pool's: the ids of those events that have the ``REACH`` events before and after them here too.
    """

    event_id: tuple[str, ...] = ()
    session_id: tuple[str, ...] = ()
    speaker: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    sequence: tuple[int, ...] = ()
    time_us: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    salience: tuple[float, ...] = ()
    asks: tuple[bool, ...] = ()
    label: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    centres: frozenset[str] = field(default=frozenset(), kw_only=True)

    def __len__(self) -> int:
        return len(self.event_id)

    @classmethod
    def of(cls, *parts: Iterable[Sequence[Any]], centres: frozenset[str] = frozenset()) -> "EventPool":
        """The pool of all events in *parts*, each row with the fields in their order; one given twice counts once."""
        rows = {row[0]: row for part in parts for row in part}
        ordered = sorted(rows.values(), key=_place)
        return cls(*zip(*ordered, strict=True), centres=centres) if ordered else cls()

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each event stands."""
        return {event_id: at for at, event_id in enumerate(self.event_id)}

    @cached_property
    def occurrences(self) -> Occurrences:
        """The search terms of the events."""
        return Occurrences(self.words)

    @cached_property
    def times(self) -> Integers:
        """UTC microseconds."""
        return np.array(self.time_us, dtype=np.int64)

    @cached_property
    def ages(self) -> Integers:
        """The rank of each event by time, 0 for the first; of one time in the pool's order."""
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[np.argsort(self.times, kind="stable")] = np.arange(len(self))
        return ranks

    @cached_property
    def talk(self) -> Floats:
        """1 for each event without a title, 0 for documents."""
        return np.array([not title for title in self.title], dtype=np.float64)

    @cached_property
    def lengths(self) -> Floats:
        """Tokens of each text."""
        return np.array(self.tokens, dtype=np.float64)

    @cached_property
    def questions(self) -> NDArray[np.bool_]:
        """Which events end in a question mark."""
        return np.array(self.asks, dtype=bool)

    @cached_property
    def sessions(self) -> Integers:
        """A number for each event's session."""
        numbers = {session: number for number, session in enumerate(dict.fromkeys(self.session_id))}
        return np.array([numbers[session] for session in self.session_id], dtype=np.int64)

    @cached_property
    def places(self) -> Integers:
        """Where each event stands among its session's; neighbours in it differ by one, strangers by more.

        Where no centre is near, neighbours are those whose sequence numbers follow upon each other.
        """
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        together = np.diff(self.sessions) == 0
        gaps = np.diff(np.array(self.sequence, dtype=np.int64))
        apart = np.where(gaps == 1, 1, np.clip(gaps, 2, _APART))
        steps = np.where(together, np.where(self._linked, 1, apart), _APART)
        return np.concatenate(([0], np.cumsum(steps)))

    @cached_property
    def _linked(self) -> NDArray[np.bool_]:
        """For each event but the last, whether a centre tells that nothing comes between it and the next one.

        Sequence numbers may leave out any number, so that they alone do not tell it.
        """
        centres = np.fromiter(map(self.centres.__contains__, self.event_id), dtype=bool, count=len(self))
        linked = np.zeros(len(self) - 1, dtype=bool)
        for shift in range(1, min(REACH + 1, len(self))):
            together = self.sessions[shift:] == self.sessions[:-shift]
            linked[shift - 1 :] |= together & centres[:-shift]
            linked[: len(linked) - shift + 1] |= together & centres[shift:]
        return linked


def _place(row: Sequence[Any]) -> tuple[str, int, int, str]:
    """Session, then the total order of its events: sequence, time, id (HMX-E 7)."""
    return row[1], row[5], row[6], row[0]
