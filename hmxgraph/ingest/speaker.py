"""Who said a message, as far as the event tells."""

import re

from hmxgraph.protocol.events import Event

_NAMED_IN = ("speaker", "user_name", "username", "author", "name")
_PERSON = re.compile(r"[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,3}")


def speaker(event: Event) -> str | None:
    """The speaker of a message: named in content or metadata, else a person as source, else the role.

    In a conversation of several people each message names its person as source; ``user``, ``assistant`` and
    components such as ``tool:gh`` are no persons.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="Caroline", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="Caroline",
    ...     content={"role": "user", "text": "Hey Mel!"})
    >>> speaker(event)
    'Caroline'
    """
    if event.event_type != "message":
        return None
    return _named(event) or _source(event) or _role(event)


def _named(event: Event) -> str | None:
    for part in (event.content, event.metadata):
        for name in _NAMED_IN:
            value = part.get(name)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def _source(event: Event) -> str | None:
    source = event.source
    if not source or not _PERSON.fullmatch(source):
        return None
    return source if source == event.agent_id or source[0].isupper() else None


def _role(event: Event) -> str | None:
    role = event.content.get("role")
    return role if isinstance(role, str) and role else None
