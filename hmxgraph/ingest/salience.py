"""How much an event matters where it does not say itself (DESIGN 6)."""

from hashlib import sha256

from hmxgraph.protocol.events import Event
from hmxgraph.protocol.outcomes import went_well

_BY_TYPE = {"error": 0.9, "feedback": 0.85, "decision": 0.8, "tool_call": 0.8, "tool_result": 0.6}
_OTHERS = 0.5
_FAILED = 0.85
_NEW = 0.1
_REPEAT = 0.2


def base_salience(event: Event) -> float:
    """The salience of the event's type: what failed and messages of users stand out.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, metadata={}, content={"role": "user"})
    >>> base_salience(event)
    0.7
    """
    content = event.content
    if event.event_type == "message" and content.get("role") == "user":
        return 0.7
    least = _FAILED if went_well(event.event_type, content) is False else 0.0
    return max(_BY_TYPE.get(event.event_type, _OTHERS), least)


def adjusted(base: float, *, new: bool, repeat: bool) -> float:
    """*base* raised for a signature that the tenant never had, lowered for an exact repeat in its session.

    >>> adjusted(0.8, new=False, repeat=True)
    0.6
    """
    moved = base + (_NEW if new else 0.0) - (_REPEAT if repeat else 0.0)
    return round(min(1.0, max(0.0, moved)), 2)


def signature(event: Event) -> str:
    """What kind of thing happened: the type, and a hash of its tool, error type or role.

    The tenant keeps its signatures when events are forgotten, so they must not spell what an event said.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="tool_call", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, metadata={}, content={"tool_name": "gh"})
    >>> signature(event)
    'tool_call:fb2b7fce09401614'
    """
    content = event.content
    names = (content.get(name) for name in ("tool_name", "error_type", "signal", "role"))
    name = next((name for name in names if isinstance(name, str) and name), "")
    failed = ":failed" if went_well(event.event_type, content) is False else ""
    return f"{event.event_type}:{sha256(name.encode()).hexdigest()[:16]}{failed}"[:200]


def mark(event_type: str, text: str) -> int:
    """A number by which an exact repeat is recognised: the same type with the same readable text.

    >>> mark("tool_call", "gh(pr=1)") == mark("tool_call", "gh(pr=1)") != mark("tool_call", "gh(pr=2)")
    True
    """
    digest = sha256(f"{event_type}\0{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
