"""Behaviour of agents, counted session by session (HMX-F 4)."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hmxgraph.fingerprint.measures import millionths, most_frequent
from hmxgraph.protocol.events import WORK, went_well

# Reading events.


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """The properties of an event from which behaviour is counted; empty or None if the event lacks them.

    ``call`` is an id that a call, its result and its error share. An action that reports its own result, such as a
    ``command_exec``, is both call and result; if it names no tool, its event type counts as the tool.
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
    """The properties of an event: *row* has its top-level fields, *content* its content (HMX-E 4).

    Contents are not validated against their type (HMX-E 4: SHOULD), so values of an unexpected type are ignored.

    >>> observed({"event_id": "e", "event_type": "tool_call", "time_us": 0}, {"tool_name": "exec"}).tool
    'exec'

    """
    is_action = row["event_type"] in WORK
    tool = _text(content.get("tool_name")) or _tool_in(row.get("source") or "")
    return ObservedEvent(
        row["event_id"],
        row["event_type"],
        row["time_us"],
        call=row["event_id"] if is_action else row.get("correlation_id") or row["event_id"],
        tool=tool or (row["event_type"] if is_action else ""),
        success=went_well(row["event_type"], content),
        error_type=_text(content.get("error_type")),
        confidence=_confidence(content.get("confidence")),
        signal=_text(content.get("signal")),
        target=_text(content.get("target_event_id")),
        tags=tuple(row.get("tags") or ()),
    )


def is_call(event: ObservedEvent) -> bool:
    """Whether the event is a call, or an action that reports its own result."""
    return event.event_type == "tool_call" or event.event_type in WORK


def _is_result(event: ObservedEvent) -> bool:
    """Whether the event is a result, or an action that reports its own result."""
    return event.event_type == "tool_result" or event.event_type in WORK


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _confidence(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return min(max(float(value), 0.0), 1.0)


def _tool_in(source: str) -> str:
    return source.removeprefix("tool:") if source.startswith("tool:") else ""


# Errors of a session, and the time until recovery.

# The type of an error that names no type.
UNNAMED = "ToolFailure"


@dataclass(frozen=True, slots=True)
class _Incident:
    """An error: its type, its tool if known, its time, and the time until recovery (None if there was none)."""

    error_type: str
    tool: str
    time_us: int
    recovery_us: int | None


def incidents(events: Sequence[ObservedEvent]) -> tuple[_Incident, ...]:
    """The errors of a session in order; the failed result and the error event of one call are one incident.

    A session recovers from an incident when the same tool succeeds later; if the tool is unknown, when any tool does.
    """
    by_call: dict[str, tuple[int, ObservedEvent]] = {}
    for position, event in enumerate(events):
        if not _is_error(event):
            continue
        first, earlier = by_call.get(event.call, (position, event))
        by_call[event.call] = (first, event if event.event_type == "error" and event.error_type else earlier)
    tools = {event.event_id: event.tool for event in events if is_call(event)}
    successes = _successes(events)
    return tuple(
        _incident(events[first], error, tools.get(error.call) or events[first].tool, first, successes)
        for first, error in by_call.values()
    )


def _incident(
    first_event: ObservedEvent,
    error: ObservedEvent,
    tool: str,
    position: int,
    successes: dict[str, list[tuple[int, int]]],
) -> _Incident:
    """The incident that begins with *first_event* at *position*; *error* is the event that names its type, if any."""
    later = successes.get(tool, [])
    after = bisect_right(later, position, key=lambda success: success[0])
    recovery_us = max(later[after][1] - first_event.time_us, 0) if after < len(later) else None
    return _Incident(error.error_type or UNNAMED, tool, first_event.time_us, recovery_us)


def _successes(events: Sequence[ObservedEvent]) -> dict[str, list[tuple[int, int]]]:
    """Position and time of each successful result, by tool; under the empty name, those of all tools."""
    successes: dict[str, list[tuple[int, int]]] = {}
    for position, event in enumerate(events):
        if _is_result(event) and event.success:
            for tool in {event.tool, ""}:
                successes.setdefault(tool, []).append((position, event.time_us))
    return successes


def _is_error(event: ObservedEvent) -> bool:
    return event.event_type == "error" or (_is_result(event) and event.success is False)


# Behaviour, counted by session and added up (HMX-F 4).

# Event types from which behaviour is counted.
COUNTED_EVENT_TYPES = ("decision", "error", "feedback", "tool_call", "tool_result", *sorted(WORK))
# Version of the counting rules: stored counts of another version are computed again.
RULES = 1
# Maximum number of tools, of error types and of decision domains counted per session.
_NAMES_PER_SESSION = 256


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Counts over one or more sessions, combined by addition.

    ``sessions``, ``session_events`` and ``session_us`` are zero in the counts of a single session: their totals are
    read from the session nodes. ``tools``, ``decision_domains`` and ``error_types`` are counts by name.
    """

    sessions: int = 0
    session_events: int = 0
    session_us: int = 0
    tool_calls: int = 0
    tools: Mapping[str, int] | None = None
    tool_results: int = 0
    tool_successes: int = 0
    decisions: int = 0
    decisions_rated: int = 0
    decision_confidence_millionths: int = 0
    decisions_corrected: int = 0
    decision_domains: Mapping[str, int] | None = None
    errors: int = 0
    error_types: Mapping[str, int] | None = None
    errors_recovered: int = 0
    recovery_us: int = 0

    def document(self) -> dict[str, Any]:
        """The counts as a dict for JSON, without zeros and empty maps."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items() if value}


def total(parts: Iterable[Behaviour]) -> Behaviour:
    """The sum of *parts*, independent of their order.

    >>> total([Behaviour(tool_calls=1, tools={"a": 1}), Behaviour(tool_calls=2, tools={"a": 2})]).tools
    {'a': 3}

    """
    added: dict[str, Any] = {}
    for part in parts:
        for name, value in part.document().items():
            if isinstance(value, dict):
                added.setdefault(name, Counter()).update(value)
            else:
                added[name] = added.get(name, 0) + value
    ordered: dict[str, Any] = {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value for name, value in added.items()
    }
    return Behaviour(**ordered)


def session_behaviour(events: Sequence[ObservedEvent]) -> Behaviour:
    """The behaviour of the agent in one session; *events* are its events of `COUNTED_EVENT_TYPES`, in order."""
    calls = [event for event in events if is_call(event)]
    results = [event.success for event in events if _is_result(event) and event.success is not None]
    decisions = [event for event in events if event.event_type == "decision"]
    rated = [event.confidence for event in decisions if event.confidence is not None]
    errors = incidents(events)
    return Behaviour(
        tool_calls=len(calls),
        tools=_counts(event.tool for event in calls),
        tool_results=len(results),
        tool_successes=sum(results),
        decisions=len(decisions),
        decisions_rated=len(rated),
        decision_confidence_millionths=sum(map(millionths, rated)),
        decisions_corrected=len(_corrected(events)),
        decision_domains=_counts(tag for event in decisions for tag in event.tags),
        **_recovery(errors),
    )


def _recovery(errors: Sequence[_Incident]) -> dict[str, Any]:
    recovered = [incident.recovery_us for incident in errors if incident.recovery_us is not None]
    return {
        "errors": len(errors),
        "error_types": _counts(incident.error_type for incident in errors),
        "errors_recovered": len(recovered),
        "recovery_us": sum(recovered),
    }


def _corrected(events: Sequence[ObservedEvent]) -> set[str]:
    """The ids of the corrected decisions.

    A correction concerns the last decision before (or at) the event that it names. If it names no event, it concerns
    the last decision before the correction.
    """
    decision_at: dict[str, str] = {}
    current, corrected = "", set()
    for event in events:
        if event.event_type == "decision":
            current = event.event_id
        decision_at[event.event_id] = current
        if event.event_type == "feedback" and event.signal == "correction":
            corrected.add(decision_at.get(event.target or event.event_id, ""))
    return corrected - {""}


def _counts(names: Iterable[str]) -> dict[str, int]:
    return most_frequent(Counter(name for name in names if name), _NAMES_PER_SESSION)
