"""All parameters of the compiler."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class CompilerProfile:
    """All thresholds of a compilation; artifacts name the profile that produced them.

    Shares and rates lie in [0, 1]; counts are sessions unless a name says otherwise.

    >>> CompilerProfile().min_support
    2
    """

    name: str = "hmxgraph-compiler-1"

    # Limits of a session summary.
    max_steps: int = 400
    max_failures: int = 100
    max_decisions: int = 100
    words_per_text: int = 64
    request_chars: int = 400
    known_values: int = 400
    remembered_messages: int = 12

    # Requirements on artifacts.
    min_support: int = 2
    max_evidence: int = 300
    confidence_step: float = 0.05
    contradicted_below: float = 0.1
    contradicted_after: int = 8
    near_duplicate: float = 0.92

    # Goal classes and their procedures.
    lookup_share: float = 0.6
    action_share: float = 0.25
    check_share: float = 0.35
    scratch_share: float = 0.95
    required_share: float = 0.8
    goal_lookup: float = 0.65
    goal_action: float = 0.25
    merge_requests: float = 0.6
    merge_actions: float = 0.5
    unite_steps: float = 0.6
    failed_session_weight: float = 0.5
    goal_penalty: float = 2.0
    neighbours: int = 20
    neighbour_power: float = 4.0
    neighbour_weight: float = 0.4
    exemplars: int = 1500
    title_share: float = 0.6
    low_complexity: int = 3
    high_complexity: int = 7

    # Failures, choices, causes, strategies.
    recovery_steps: int = 3
    severe_rise: float = 0.15
    choice_share: float = 0.15
    choice_support: int = 3
    max_policies: int = 60
    cause_support: int = 4
    cause_strength: float = 0.15
    cause_significance: float = 2.33
    max_causes: int = 60
    phase_share: float = 0.3
    strategy_likeness: float = 0.3

    # Next-step habits.
    habit_positions: int = 4000
    habit_features: int = 1200
    habit_sessions: int = 2
    habit_penalty: float = 1.5
    habit_rounds: int = 20
    habit_bare_weight: float = 0.3

    def adapted(self, parameters: Mapping[str, float]) -> "CompilerProfile":
        """The profile with these parameters replaced, as an imported fingerprint requests (HMX-F 12).

        Unknown names and unworkable values are ignored; integers stay integers; the support is never lowered below two
        sessions.

        >>> CompilerProfile().adapted({"min_support": 3.0, "unheard_of": 1.0}).min_support
        3
        """
        numbers = self.parameters()
        given: dict[str, Any] = {
            name: type(numbers[name])(parameters[name])
            for name in sorted(parameters)
            if name in numbers and _is_workable(parameters[name], numbers[name])
        }
        return replace(self, **{**given, "min_support": max(2, given.get("min_support", self.min_support))})

    def parameters(self) -> dict[str, float]:
        """Every number of the profile by its name."""
        return {name: value for name, value in asdict(self).items() if isinstance(value, int | float)}

    def document(self) -> dict[str, Any]:
        """The profile as plain JSON values."""
        return asdict(self)


def _is_workable(value: float, usual: float) -> bool:
    # Imported values may not push a share above 1 or make a compilation run forever.
    most = 1.0 if isinstance(usual, float) and usual < 1 else 10 * usual
    return (0.0 if isinstance(usual, float) else 1) <= value <= most


DEFAULT_PROFILE = CompilerProfile()
