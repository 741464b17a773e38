"""Where new events go in their session's chain, so that NEXT always follows the total order (HMX-E 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

from hmxgraph.ingest.prepare import PreparedEvent
from hmxgraph.protocol.order import Position


class End(NamedTuple):
    """The first or last event of a stored chain: its place in the order and its key."""

    order: Position
    key: str


class Ends(NamedTuple):
    """A stored chain, known by its two ends."""

    head: End
    tail: End


class Neighbours(NamedTuple):
    """The stored events between which a late one belongs."""

    before: str
    after: str


@dataclass(slots=True)
class Weave:
    """What a batch does to the chains: pairs of keys to be linked and pairs to be parted."""

    linked: list[tuple[str, str]] = field(default_factory=list)
    parted: list[tuple[str, str]] = field(default_factory=list)

    def add(self, events: Sequence[PreparedEvent], ends: Ends | None, neighbours: Mapping[str, Neighbours]) -> None:
        """Weave the sorted new *events* of one session into its chain; late ones need their *neighbours*."""
        if ends is None:
            self._run(events)
            return
        self._run([event for event in events if event.order < ends.head.order], after=ends.head.key)
        self._run([event for event in events if event.order > ends.tail.order], before=ends.tail.key)
        for (before, after), late in groupby(amid(events, ends), key=lambda event: neighbours[event.key]):
            self._run(list(late), before=before, after=after)
            self.parted.append((before, after))

    def _run(self, events: Sequence[PreparedEvent], *, before: str | None = None, after: str | None = None) -> None:
        if not events:
            return
        keys = [event.key for event in events]
        self.linked.extend(pairwise(([before] if before else []) + keys + ([after] if after else [])))


def amid(events: Sequence[PreparedEvent], ends: Ends) -> list[PreparedEvent]:
    """Those of *events* that belong neither before the chain nor after it."""
    return [event for event in events if ends.head.order < event.order < ends.tail.order]
