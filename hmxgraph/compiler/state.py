"""The compiler's parameters as a fingerprint tells them (HMX-F 9)."""

from collections.abc import Mapping
from typing import Any

from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile

SCHEMA_VERSION = 1


def compiler_state(
    profile: CompilerProfile, baseline: CompilerProfile = DEFAULT_PROFILE, adaptations: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """What of *profile* differs from *baseline*; *adaptations* counts how often each parameter was changed.

    >>> state = compiler_state(CompilerProfile(min_support=3))
    >>> [(one["parameter"], one["delta"]) for one in state["adapted_parameters"]]
    [('min_support', 1.0)]
    """
    counts = adaptations or {}
    current, before = profile.parameters(), baseline.parameters()
    adapted = [
        {
            "parameter": name,
            "current_value": float(current[name]),
            "baseline_value": float(before[name]),
            "delta": round(float(current[name]) - float(before[name]), 9),
            "adaptation_count": counts.get(name, 1),
            "frozen": False,
        }
        for name in sorted(current)
        if current[name] != before[name]
    ]
    return {
        "total_parameters": len(current),
        "adapted_parameter_count": len(adapted),
        "global_freeze": False,
        "adapted_parameters": adapted,
        "adaptive_schema_version": SCHEMA_VERSION,
    }
