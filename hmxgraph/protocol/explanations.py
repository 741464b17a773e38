"""Explanations: a record with its evidence and conflicts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.protocol.display import HtmlTable
from hmxgraph.protocol.lifecycle import Conflict


@dataclass(frozen=True, slots=True)
class Evidence:
    """One event of a trail; an erased event keeps its place and loses its text. ``source`` is who wrote it."""

    event_id: str
    session_id: str
    agent_id: str
    event_type: str
    timestamp: str
    text: str
    erased: bool
    source: str = ""

    def document(self) -> dict[str, Any]:
        """The event as a JSON-able dict."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Explanation(HtmlTable):
    """A record, its properties (``facts``), and its trail of evidence.

    ``events`` are its direct evidence in order of time, ``rests_on`` the records that it was derived from,
    ``supports`` the records derived from it, and ``missing`` the ids of evidence that is not stored.
    """

    kind: str
    record_id: str
    text: str
    status: str
    facts: Mapping[str, Any]
    events: tuple[Evidence, ...] = ()
    rests_on: tuple["Explanation", ...] = ()
    supports: tuple[Mapping[str, Any], ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    missing: tuple[str, ...] = field(default=())

    def trail(self) -> Iterator[Evidence]:
        """Every event that supports this record, direct evidence first, without repetitions."""
        seen: set[str] = set()
        for event in (*self.events, *(event for part in self.rests_on for event in part.trail())):
            if event.event_id not in seen:
                seen.add(event.event_id)
                yield event

    def document(self) -> dict[str, Any]:
        """The explanation as a JSON-able dict."""
        return {
            "kind": self.kind,
            "record_id": self.record_id,
            "text": self.text,
            "status": self.status,
            "facts": dict(self.facts),
            "events": [event.document() for event in self.events],
            "rests_on": [part.document() for part in self.rests_on],
            "supports": [dict(dependent) for dependent in self.supports],
            "conflicts": [conflict.document() for conflict in self.conflicts],
            "missing": list(self.missing),
        }
