"""Who said a message, as far as the event tells."""

from hmxgraph.protocol.events import Event
from hmxgraph.text.speakers import named_speaker, speaking_source


def speaker(event: Event) -> str | None:
    """The speaker of a message: named in content or metadata, else a source spelled like a name, else the role.

    In a conversation of several people each message names its person as source. The words of a pack are labelled with
    whatever the event tells, so with ``Customer`` or ``Slack`` too: a reader learns more from it than from nothing.
    Extraction, which tells facts about whoever speaks, takes those for nobody's names.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="Caroline", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="Caroline",
    ...     content={"role": "user", "text": "Hey Mel!"})
    >>> speaker(event)
    'Caroline'
    """
    if event.event_type != "message":
        return None
    return named_speaker(event) or speaking_source(event) or _role(event)


def _role(event: Event) -> str | None:
    role = event.content.get("role")
    return role if isinstance(role, str) and role else None
