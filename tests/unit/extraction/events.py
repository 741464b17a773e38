"""Events for the tests; fields that a test does not set have plain values."""

from hmxgraph.protocol.events import Event


def event(event_type="message", content=None, **fields):
    """An event with *content*; every other field has a plain value."""
    given = {
        "hmx_version": "HMX-1.0",
        "event_id": "evt-1",
        "event_type": event_type,
        "agent_id": "agent-1",
        "tenant_id": "acme",
        "session_id": "session-1",
        "timestamp": "2026-03-14T03:00:00.000Z",
        "sequence": 9,
        "content": content or {},
        "metadata": {},
        **fields,
    }
    return Event(**given)


def said(text, role="user", **fields):
    """Return a message."""
    return event("message", {"role": role, "text": text}, **{"source": role, **fields})


def by_person(text, name="Caroline", **fields):
    """Return a message of a conversation between people, each recorded as an agent."""
    return said(text, source=name, agent_id=name, **fields)
