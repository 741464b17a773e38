"""An event as far as behaviour is read from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.protocol.outcomes import WORK, went_well


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """The few facts of an event that behaviour is counted from; empty or None where the event does not tell.

    ``call`` is what belongs together: a call, its result, the error that befell it. Work that tells its end itself is
    call and result in one; where it names no tool, its kind does.
    """

    event_id: str
    event_type: str
    time_us: int
    call: str = ""
    tool: str = ""
    success: bool | None = None
    error_type: str = ""
    confidence: float | None = None
    signal: str = ""
    target: str = ""
    tags: tuple[str, ...] = ()


def observed(row: Mapping[str, Any], content: Mapping[str, Any]) -> ObservedEvent:
    """The facts of one event: *row* has its envelope's fields, *content* its content (HMX-E 4).

    Contents are not validated against their type (HMX-E 4: SHOULD), so a fact of another type than expected is none.

    >>> observed({"event_id": "e", "event_type": "tool_call", "time_us": 0}, {"tool_name": "exec"}).tool
    'exec'

    """
    work = row["event_type"] in WORK
    tool = _text(content.get("tool_name")) or _after_tool(row.get("source") or "")
    return ObservedEvent(
        row["event_id"],
        row["event_type"],
        row["time_us"],
        call=row["event_id"] if work else row.get("correlation_id") or row["event_id"],
        tool=tool or (row["event_type"] if work else ""),
        success=went_well(row["event_type"], content),
        error_type=_text(content.get("error_type")),
        confidence=_share(content.get("confidence")),
        signal=_text(content.get("signal")),
        target=_text(content.get("target_event_id")),
        tags=tuple(row.get("tags") or ()),
    )


def is_call(event: ObservedEvent) -> bool:
    """Whether something was called for or done."""
    return event.event_type == "tool_call" or event.event_type in WORK


def is_result(event: ObservedEvent) -> bool:
    """Whether the end of something may be told."""
    return event.event_type == "tool_result" or event.event_type in WORK


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return min(max(float(value), 0.0), 1.0)


def _after_tool(source: str) -> str:
    return source.removeprefix("tool:") if source.startswith("tool:") else ""
