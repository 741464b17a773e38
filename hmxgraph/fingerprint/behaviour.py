"""Behaviour of agents, counted session by session (HMX-F 4)."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hmxgraph.fingerprint.measures import millionths, most_frequent
from hmxgraph.protocol.events import WORK, went_well

# An event as far as behaviour is read from it.


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


def _is_result(event: ObservedEvent) -> bool:
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


# What went wrong in a session, and how long it took until it went right.

UNNAMED = "ToolFailure"


@dataclass(frozen=True, slots=True)
class _Incident:
    """One error: its type, its tool where one is known, and the time until the recovery (None: never)."""

    error_type: str
    tool: str
    time_us: int
    recovery_us: int | None


def incidents(events: Sequence[ObservedEvent]) -> tuple[_Incident, ...]:
    """The errors of a session in order; the failed result and the error event of one call are one incident.

    An incident is over when the same tool succeeds later in the session, or any tool where the error names none.
    """
    found: dict[str, tuple[int, ObservedEvent]] = {}
    for position, event in enumerate(events):
        if not _is_error(event):
            continue
        first, known = found.get(event.call, (position, event))
        found[event.call] = (first, event if event.event_type == "error" and event.error_type else known)
    tools = {event.event_id: event.tool for event in events if is_call(event)}
    successes = _successes(events)
    return tuple(
        _incident(events[first], error, tools.get(error.call) or events[first].tool, first, successes)
        for first, error in found.values()
    )


def _incident(
    began: ObservedEvent, error: ObservedEvent, tool: str, position: int, successes: dict[str, list[tuple[int, int]]]
) -> _Incident:
    later = successes.get(tool, [])
    after = bisect_right(later, position, key=lambda success: success[0])
    recovery_us = max(later[after][1] - began.time_us, 0) if after < len(later) else None
    return _Incident(error.error_type or UNNAMED, tool, began.time_us, recovery_us)


def _successes(events: Sequence[ObservedEvent]) -> dict[str, list[tuple[int, int]]]:
    """Position and time of the successful results of each tool, and of all tools under the empty name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for position, event in enumerate(events):
        if _is_result(event) and event.success:
            for tool in {event.tool, ""}:
                found.setdefault(tool, []).append((position, event.time_us))
    return found


def _is_error(event: ObservedEvent) -> bool:
    return event.event_type == "error" or (_is_result(event) and event.success is False)


# How agents behave, counted session by session and added up (HMX-F 4).

TELLING = ("decision", "error", "feedback", "tool_call", "tool_result", *sorted(WORK))
# What is counted, and how: what was counted otherwise is counted anew.
RULES = 1
# A session keeps this many names of each kind; more would make the largest session decide the size of the sum.
_NAMES_PER_SESSION = 256


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Counts over one session or many; adding is all that is needed to combine them.

    The three about sessions themselves are left at zero where the sessions' own nodes tell them.
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
        """Plain JSON values; what is zero or empty is left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items() if value}


def total(parts: Iterable[Behaviour]) -> Behaviour:
    """All *parts* together, in whatever order they come.

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
    """What the agent of one session did; *events* in the session's order, those of other types may be missing."""
    calls = [event for event in events if is_call(event)]
    results = [event.success for event in events if _is_result(event) and event.success is not None]
    decisions = [event for event in events if event.event_type == "decision"]
    rated = [event.confidence for event in decisions if event.confidence is not None]
    met = incidents(events)
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
        **_recovery(met),
    )


def _recovery(met: Sequence[_Incident]) -> dict[str, Any]:
    recovered = [incident.recovery_us for incident in met if incident.recovery_us is not None]
    return {
        "errors": len(met),
        "error_types": _counts(incident.error_type for incident in met),
        "errors_recovered": len(recovered),
        "recovery_us": sum(recovered),
    }


def _corrected(events: Sequence[ObservedEvent]) -> set[str]:
    """The decisions on which a later correction bears: the last one made when the corrected event happened."""
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
