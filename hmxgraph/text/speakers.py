"""Who speaks in an event, as far as it tells: the names that the making of packs and extraction judge further."""

import re

from hmxgraph.protocol.events import Event

_NAMED_IN = ("speaker", "user_name", "username", "author", "name")
_NAMES = frozenset(_NAMED_IN)
_PERSON = re.compile(r"[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,3}")


def named_speaker(event: Event) -> str | None:
    """The speaker whom content or metadata name; None where neither does.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={"user_name": " Ana "}, content={})
    >>> named_speaker(event)
    'Ana'
    """
    for part in (event.content, event.metadata):
        for field in _NAMED_IN if not _NAMES.isdisjoint(part) else ():
            value = part.get(field)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def speaking_source(event: Event) -> str | None:
    """The source of *event* where it is spelled like a name: capitalised, or the agent's own.

    Whether a person bears the name is not looked at: ``Caroline`` is one, ``Slack`` and ``Customer`` are spelled like
    one, components such as ``tool:gh`` are none.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="ana", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="ana", content={})
    >>> [speaking_source(event.model_copy(update={"source": name})) for name in ("ana", "Bo Li", "bo", "Tool:gh")]
    ['ana', 'Bo Li', None, None]
    """
    source = event.source
    if not source or not _PERSON.fullmatch(source):
        return None
    return source if source == event.agent_id or source[0].isupper() else None
