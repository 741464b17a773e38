"""Explanations: a stored object with its evidence and conflicts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from hmxgraph.protocol.display import HtmlTable, html_table, truncate_line
from hmxgraph.protocol.lifecycle import Conflict

_LONGEST_EVENT_TEXT = 200  # characters


@dataclass(frozen=True, slots=True)
class Evidence:
    """One event that is evidence, without its text if it was erased; ``source`` is the event's ``source`` field."""

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
    """A stored object of any kind (an artifact, memory, event, ...), its properties (``facts``), and its evidence.

    - ``events``: its direct evidence in order of time; for a memory the first 100 events, for an entity or a relation
      the newest 20, for an event the event itself.
    - ``rests_on``: for an artifact, the memories that it was derived from; for a conflict, its sides.
    - ``supports``: for an event, the memories and artifacts that have it as evidence.
    - ``conflicts``: the conflicts in which the object is a side.
    - ``missing``: for an artifact, the ids of its events and memories that are not stored.
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
    missing: tuple[str, ...] = ()

    def trail(self) -> Iterator[Evidence]:
        """The events of this explanation and of those in ``rests_on``, without repetitions."""
        yielded_ids: set[str] = set()
        for event in (*self.events, *(event for part in self.rests_on for event in part.trail())):
            if event.event_id not in yielded_ids:
                yielded_ids.add(event.event_id)
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

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.kind)}</b>, {escape(self.status)}" if self.status else f"<b>{escape(self.kind)}</b>"
        text = f"<pre style='white-space:pre-wrap'>{escape(self.text)}</pre>"
        events = [
            {
                "time": event.timestamp[:16].replace("T", " "),
                "session": event.session_id,
                "event": event.event_type,
                "text": "(erased)" if event.erased else truncate_line(event.text, _LONGEST_EVENT_TEXT),
            }
            for event in self.events
        ]
        sources = "".join(f"<li>{part._repr_html_()}</li>" for part in self.rests_on)
        basis = f"rests on<ul>{sources}</ul>" if sources else ""
        evidence = f"evidence: {len(events)} events<br>{html_table(events)}" if events else ""
        missing = f"not stored: {escape(', '.join(self.missing))}" if self.missing else ""
        conflicts = "".join(f"<div>conflict: {escape(part.reason)} ({part.status})</div>" for part in self.conflicts)
        return f"{head}{text}{evidence}{basis}{conflicts}{missing}"
