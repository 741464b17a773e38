"""Who speaks in an event, and to whom: what decides whether words are a directive, a preference or just talk."""

from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.events import Event
from hmxgraph.text.speakers import named_speaker, speaking_source

Part: TypeAlias = Literal["user", "assistant", "system", "peer", "none"]
_PARTS: dict[str, Part] = {
    **dict.fromkeys(("user", "human", "customer", "client"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer", "operator"), "system"),
}
_CHANNELS = frozenset(
    {"slack", "teams", "discord", "telegram", "whatsapp", "email", "web", "cli", "api", "sms", "phone", "chat"}
)
_NOBODY = _CHANNELS | _PARTS.keys()
# Who speaks, where nothing says who it is. Several people may be meant in the sessions of one tenant.
UNKNOWN = "the user"


class Voice(NamedTuple):
    """Whose words these are: the name (empty where unknown), the part in the talk, and who facts are told about.

    A *peer* is a named person whose words an agent records as its own, as in a conversation of people: nobody is given
    orders there.
    """

    name: str
    part: Part
    subject: str


def voice_of(event: Event) -> Voice:
    """The voice of a message or of the comment of a feedback.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="Caroline", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="Caroline",
    ...     content={"role": "user", "text": "Hey Mel!"})
    >>> voice_of(event)
    Voice(name='Caroline', part='peer', subject='Caroline')
    """
    if event.event_type == "feedback":
        return Voice("", "user", _subject(event, ""))
    if event.event_type != "message":
        return Voice("", "none", "")
    name = speaker_of(event) or ""
    part = _PARTS.get(str(event.content.get("role", "user")).lower(), "none")
    if name and part == "user" and event.source == name == event.agent_id:
        part = "peer"
    return Voice(name, part, _subject(event, name) if part in {"user", "peer"} else "")


def speaker_of(event: Event) -> str | None:
    """The person who speaks, where the event names one: in content or metadata, else as its source.

    Facts are told about persons only: a source that is a part in the talk or a channel (``Customer``, ``Slack``) is
    nobody here, though a pack labels words with it.
    """
    if named := named_speaker(event):
        return named
    source = speaking_source(event)
    return None if source is None or source.lower() in _NOBODY else source


def _subject(event: Event, name: str) -> str:
    """What the speaker is called in stored facts: by name, by user id, or just as the user."""
    for field in ("user_id", "userId", "customer_id"):
        value = event.metadata.get(field)
        if not name and isinstance(value, str) and value:
            return value
    return name or UNKNOWN
