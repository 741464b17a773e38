"""Events for tests."""

from hmxgraph.ingest.prepare import PreparedEvent, prepare
from hmxgraph.protocol.events import Event

BASE = {
    "hmx_version": "HMX-1.0",
    "event_id": "e0",
    "event_type": "message",
    "agent_id": "agent-1",
    "tenant_id": "acme",
    "session_id": "s1",
    "timestamp": "2026-03-14T03:00:00.000Z",
    "sequence": 0,
    "content": {"role": "user", "text": "Deploy the staging environment"},
    "metadata": {},
}


def document(**fields) -> dict:
    """A sound event document with *fields* in place of the usual ones."""
    return {**BASE, **fields}


def event(**fields) -> Event:
    """The same as an event."""
    return Event.parse(document(**fields))


def prepared(**fields) -> PreparedEvent:
    """The same ready to be written; a token is a blank-separated word."""
    return prepare(event(**fields), words)


def words(text: str) -> int:
    """A token counter that needs no ranks."""
    return len(text.split())
