"""Behaviour as a fingerprint tells it (HMX-F 4)."""

from collections.abc import Mapping
from typing import Any

from hmxgraph.fingerprint.measures.behaviour import Behaviour
from hmxgraph.fingerprint.numbers import average, most_frequent, ranked, ratio
from hmxgraph.fingerprint.options import ExportOptions
from hmxgraph.fingerprint.texts import Disclosure

PREFERRED = 5
_MILLISECOND, _SECOND = 1_000, 1_000_000


def behavioral_patterns(
    behaviour: Behaviour, options: ExportOptions, disclosure: Disclosure, most: int
) -> dict[str, Any]:
    """Averages and the *most* frequent names; sessions are measured in seconds, recoveries in milliseconds."""
    tools = _told(behaviour.tools, disclosure, allowed=options.tells("tool"))
    errors = _told(behaviour.error_types, disclosure, allowed=options.tells("error_type"))
    domains = _told(behaviour.decision_domains, disclosure, allowed=options.tells("tag"))
    return {
        "tool_usage": {
            "total_calls": behaviour.tool_calls,
            "tool_frequency": most_frequent(tools, most),
            "avg_success_rate": ratio(behaviour.tool_successes, behaviour.tool_results),
            "preferred_tools": ranked(tools, PREFERRED),
        },
        "decision_patterns": {
            "total_decisions": behaviour.decisions,
            "avg_confidence": average(behaviour.decision_confidence_millionths, behaviour.decisions_rated),
            "correction_rate": ratio(behaviour.decisions_corrected, behaviour.decisions),
            "top_decision_domains": ranked(domains, PREFERRED),
        },
        "error_patterns": {
            "total_errors": behaviour.errors,
            "recovery_rate": ratio(behaviour.errors_recovered, behaviour.errors),
            "common_error_types": most_frequent(errors, most),
            "avg_recovery_time_ms": ratio(behaviour.recovery_us, behaviour.errors_recovered * _MILLISECOND),
        },
        "session_patterns": {
            "avg_session_length": ratio(behaviour.session_us, behaviour.sessions * _SECOND),
            "avg_events_per_session": ratio(behaviour.session_events, behaviour.sessions),
            "total_sessions": behaviour.sessions,
        },
    }


def _told(counts: Mapping[str, int] | None, disclosure: Disclosure, *, allowed: bool) -> dict[str, int]:
    return disclosure.names(counts or {}) if allowed else {}
