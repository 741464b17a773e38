"""What went wrong in a session, and how long it took until it went right."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from hmxgraph.fingerprint.measures.observed import ObservedEvent, is_call, is_result

UNNAMED = "ToolFailure"


@dataclass(frozen=True, slots=True)
class Incident:
    """One error: its type, its tool where one is known, and the time until the recovery (None: never)."""

    error_type: str
    tool: str
    time_us: int
    recovery_us: int | None


def incidents(events: Sequence[ObservedEvent]) -> tuple[Incident, ...]:
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
) -> Incident:
    later = successes.get(tool, [])
    after = bisect_right(later, position, key=lambda success: success[0])
    recovery_us = max(later[after][1] - began.time_us, 0) if after < len(later) else None
    return Incident(error.error_type or UNNAMED, tool, began.time_us, recovery_us)


def _successes(events: Sequence[ObservedEvent]) -> dict[str, list[tuple[int, int]]]:
    """Position and time of the successful results of each tool, and of all tools under the empty name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for position, event in enumerate(events):
        if is_result(event) and event.success:
            for tool in {event.tool, ""}:
                found.setdefault(tool, []).append((position, event.time_us))
    return found


def _is_error(event: ObservedEvent) -> bool:
    return event.event_type == "error" or (is_result(event) and event.success is False)
