"""What is done with memories by hand, as events: without them a memory would have no evidence."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hmxgraph.protocol.events import HMX_VERSION, Event
from hmxgraph.protocol.timestamps import iso

# All that is done to memories by hand stands in one session.
SESSION = "memory-operations"


class Doing(NamedTuple):
    """Who does something with memories, when, and under which event id."""

    agent_id: str
    at_us: int
    event_id: str


def memory_event(tenant_id: str, doing: Doing, sequence: int, event_type: str, content: Mapping[str, Any]) -> Event:
    """The event that tells of *doing* something.

    >>> memory_event("acme", Doing("ana", 0, "e1"), 3, "feedback", {"signal": "positive"}).sequence
    3
    """
    return Event(
        hmx_version=HMX_VERSION,
        event_id=doing.event_id,
        event_type=event_type,
        agent_id=doing.agent_id,
        tenant_id=tenant_id,
        session_id=SESSION,
        timestamp=iso(doing.at_us),
        sequence=sequence,
        content=dict(content),
        metadata={},
    )


def added(kind: str, text: str, *, hard: bool) -> dict[str, Any]:
    """The content of the event that adds a memory."""
    return {"kind": kind, "text": text, "hard": hard}


def judged(memory_id: str, signal: str, comment: str, target_event_id: str | None) -> dict[str, Any]:
    """The content of feedback about a memory."""
    target = {} if target_event_id is None else {"target_event_id": target_event_id}
    return {"signal": signal, "comment": comment, "memory_id": memory_id} | target


def outcome(memory_ids: tuple[str, ...], result: str, summary: str) -> dict[str, Any]:
    """The content of what came of work that used memories."""
    return {"outcome": result, "text": summary or f"outcome: {result}", "memory_ids": list(memory_ids)}
