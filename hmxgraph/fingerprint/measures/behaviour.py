"""How agents behave, counted session by session and added up (HMX-F 4)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hmxgraph.fingerprint.measures.incidents import Incident, incidents
from hmxgraph.fingerprint.measures.observed import ObservedEvent, is_call, is_result
from hmxgraph.fingerprint.numbers import millionths, most_frequent
from hmxgraph.protocol.outcomes import WORK

TELLING = ("decision", "error", "feedback", "tool_call", "tool_result", *sorted(WORK))
# What is counted, and how: what was counted otherwise is counted anew.
RULES = 1
# A session keeps this many names of each kind; more would make the largest session decide the size of the sum.
NAMES_PER_SESSION = 256


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
    results = [event.success for event in events if is_result(event) and event.success is not None]
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


def _recovery(met: Sequence[Incident]) -> dict[str, Any]:
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
    return most_frequent(Counter(name for name in names if name), NAMES_PER_SESSION)
