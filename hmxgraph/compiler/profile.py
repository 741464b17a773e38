"""The parameters of the compiler: defaults, current values, and how often each changed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json


@dataclass(frozen=True, slots=True)
class CompilerProfile:
    """The adjustable parameters of a compilation; artifacts name the profile that produced them.

    >>> CompilerProfile().min_support
    2
    """

    name: str = "hmxgraph-compiler-1"

    max_sessions: int = 10_000  # sessions to learn from, the latest ones

    # Limits of a session summary.
    max_steps: int = 400
    max_failures: int = 100
    max_decisions: int = 100
    max_stated: int = 20  # rules that the agent told the user
    words_per_text: int = 64  # search terms kept of a text
    request_chars: int = 400  # characters kept of the request
    known_values: int = 400  # values of results remembered, to find where arguments come from
    remembered_messages: int = 12  # user messages remembered, for the same purpose

    # Requirements on artifacts.
    min_support: int = 2  # minimum sessions, and minimum known outcomes
    max_evidence: int = 300  # maximum event ids of an artifact
    confidence_step: float = 0.05  # minimum change of confidence for a new version
    contradicted_below: float = 0.1  # success rate below which advice is contradicted
    contradicted_after: int = 8  # minimum outcomes for it to be contradicted
    near_duplicate: float = 0.92  # minimum Jaccard index of the trigrams of duplicate drafts

    # Goal classes and their procedures.
    lookup_share: float = 0.6  # minimum share of the examples for a lookup to be a step
    action_share: float = 0.25  # minimum share of the examples for a change to be a step
    check_share: float = 0.35  # minimum share of the examples for a lookup after the last change to be a step
    scratch_share: float = 0.95  # minimum share of the examples for a thought or a handover to be a step
    min_cases: int = 3  # minimum independent cases that show a procedure or a policy
    required_share: float = 0.8  # minimum share of the examples for a step to be required
    goal_lookup: float = 0.65  # minimum probability for a lookup to be expected after a request
    goal_action: float = 0.25  # minimum probability for a change to be expected after a request
    merge_requests: float = 0.6  # minimum weighted Jaccard index of words for classes of similar actions to merge
    merge_actions: float = 0.5  # minimum Jaccard index for the actions of two classes to be similar
    unite_steps: float = 0.6  # minimum Jaccard index of steps for classes with the same changes to merge
    failed_session_weight: float = 0.5  # weight of sessions without success, when the request model is learned
    goal_penalty: float = 2.0  # L2 penalty on the weights of the request model
    neighbours: int = 20  # similar successful sessions that vote on the actions of a request
    neighbour_power: float = 4.0  # a vote is weighted by the similarity to this power
    neighbour_weight: float = 0.4  # weight of the votes; the request model has the rest
    exemplars: int = 1500  # sessions among which neighbours are found, the latest ones
    title_share: float = 0.6  # minimum share of the requests that contain a phrase for it to become the title
    low_complexity: int = 3  # at most this many steps, and at most twice as many actions
    high_complexity: int = 7  # more than this many steps, or more than twice as many actions

    # Failures, choices, causes, rules told to users, strategies.
    recovery_steps: int = 3  # maximum steps of a playbook
    severe_rise: float = 0.15  # a failure is severe if sessions with it fail more often by this share
    choice_share: float = 0.15  # minimum share of the choices at one point of the work for an option to count
    choice_support: int = 3  # minimum sessions that chose an option
    max_policies: int = 60  # policies learned from choices
    cause_support: int = 4  # minimum sessions with the cause, and without it
    cause_strength: float = 0.15  # minimum causal power
    cause_significance: float = 2.33  # minimum standard errors above chance
    max_causes: int = 60
    max_rules: int = 60  # the most frequent rules that agents told users
    phase_share: float = 0.3  # minimum share of sessions with a phase for it to be part of a strategy
    strategy_likeness: float = 0.3  # minimum Jaccard index of steps for classes to share a strategy

    # Next-step habits.
    habit_positions: int = 4000  # learn from the latest sessions that have this many steps together
    habit_features: int = 1200  # maximum features of the model
    habit_sessions: int = 2  # minimum sessions that share a feature
    habit_penalty: float = 1.5  # L2 penalty on the weights of the model
    habit_rounds: int = 20  # maximum rounds of the minimiser
    habit_bare_weight: float = 0.3  # weight of each position when it is learned a second time, without texts

    def adapted(self, parameters: Mapping[str, float]) -> "CompilerProfile":
        """The profile with these parameters replaced, as an imported fingerprint requests (HMX-F 12).

        Unknown names and out-of-range values are ignored; integers stay integers; an imported ``min_support`` is at
        least two.

        >>> CompilerProfile().adapted({"min_support": 3.0, "unheard_of": 1.0}).min_support
        3
        >>> CompilerProfile(min_support=1).adapted({"max_causes": 9.0}).min_support
        1
        """
        numbers = self.parameters()
        accepted: dict[str, Any] = {
            name: type(numbers[name])(parameters[name])
            for name in sorted(parameters)
            if name in numbers and _is_workable(parameters[name], numbers[name])
        }
        if "min_support" in accepted:
            accepted["min_support"] = max(2, accepted["min_support"])
        return replace(self, **accepted)

    def parameters(self) -> dict[str, float]:
        """Every number of the profile by its name."""
        return {name: value for name, value in asdict(self).items() if isinstance(value, int | float)}

    def document(self) -> dict[str, Any]:
        """The profile as plain JSON values."""
        return asdict(self)


def _is_workable(value: float, usual: float) -> bool:
    # Imported values may neither push a share above 1 nor make a compilation run for very long.
    most = 1.0 if isinstance(usual, float) and usual < 1 else 10 * usual
    return (0.0 if isinstance(usual, float) else 1) <= value <= most


DEFAULT_PROFILE = CompilerProfile()


# The parameters in use, how often each changed, and their form in a fingerprint.

_SCHEMA_VERSION = 1
# For each parameter that ever differed from the baseline: current_value, adaptation_count and frozen, by name.
_Adaptations: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LastRun:
    """The parameters of the last compilation, and the fingerprint that influenced them ("" if none)."""

    adaptations: _Adaptations
    fingerprint_id: str = ""

    @classmethod
    def parse(cls, text: str) -> "LastRun":
        """The value written by :meth:`to_json`."""
        document = parse_json(text)
        return cls(document["adaptations"], document["fingerprint_id"])

    def to_json(self) -> str:
        """The canonical text to store."""
        return canonical_text({"adaptations": self.adaptations, "fingerprint_id": self.fingerprint_id})

    def next(self, requested: CompilerProfile, imported: _Adaptations, fingerprint_id: str) -> "LastRun":
        """The state after a compilation with the caller's profile and the current import."""
        return LastRun(adaptations_after(self.adaptations, in_use(requested, imported), imported), fingerprint_id)

    def current_state(self, imported: _Adaptations, fingerprint_id: str) -> dict[str, Any]:
        """The compiler state of a fingerprint, updated if an import was added or withdrawn since the last run."""
        if fingerprint_id == self.fingerprint_id:
            return compiler_state(self.adaptations)
        values = (
            {}
            if self.fingerprint_id
            else {name: adaptation["current_value"] for name, adaptation in self.adaptations.items()}
        )
        own_values = {name: value for name, value in values.items() if name not in imported}
        return compiler_state(self.next(DEFAULT_PROFILE.adapted(own_values), imported, fingerprint_id).adaptations)


def in_use(requested: CompilerProfile, imported: _Adaptations) -> CompilerProfile:
    """The profile of a compilation (HMX-F 12).

    A value is the caller's if that differs from the default, else that of an imported fingerprint, else the default.

    >>> imported = {"max_causes": {"current_value": 50.0}, "min_support": {"current_value": 3.0}}
    >>> profile = in_use(CompilerProfile(max_causes=9), imported)
    >>> profile.max_causes, profile.min_support
    (9, 3)

    """
    requested_values, default_values = requested.parameters(), DEFAULT_PROFILE.parameters()
    values = {name: float(parameter["current_value"]) for name, parameter in imported.items()}
    return requested.adapted(
        {name: value for name, value in values.items() if requested_values.get(name) == default_values.get(name)}
    )


def adaptations_after(
    before: _Adaptations, profile: CompilerProfile, imported: _Adaptations
) -> dict[str, dict[str, Any]]:
    """The adaptations after a compilation with *profile*, starting from *before*.

    An imported value keeps its own count; any other changed value increments the count.

    >>> first = adaptations_after({}, CompilerProfile(min_support=3), {})
    >>> adaptations_after(first, CompilerProfile(min_support=4), {})
    {'min_support': {'current_value': 4.0, 'adaptation_count': 2, 'frozen': False}}

    """
    adaptations = {}
    for name, usual in sorted(DEFAULT_PROFILE.parameters().items()):
        value = float(profile.parameters()[name])
        previous = _previous(name, value, before, imported)
        changed = value != float(previous.get("current_value", usual))
        count = int(previous.get("adaptation_count", 0)) + changed
        if count:
            frozen = bool(previous.get("frozen", False))
            adaptations[name] = {"current_value": value, "adaptation_count": count, "frozen": frozen}
    return adaptations


def compiler_state(adaptations: _Adaptations) -> dict[str, Any]:
    """The parameters that differ from the default profile, in the form of HMX-F 9.

    >>> state = compiler_state(adaptations_after({}, CompilerProfile(min_support=3), {}))
    >>> [(entry["parameter"], entry["delta"]) for entry in state["adapted_parameters"]]
    [('min_support', 1.0)]

    """
    baseline_values = DEFAULT_PROFILE.parameters()
    changed = [
        {
            "parameter": name,
            "current_value": float(adaptation["current_value"]),
            "baseline_value": float(baseline_values[name]),
            "delta": round(float(adaptation["current_value"]) - float(baseline_values[name]), 9),
            "adaptation_count": int(adaptation["adaptation_count"]),
            "frozen": bool(adaptation["frozen"]),
        }
        for name, adaptation in sorted(adaptations.items())
        if adaptation["current_value"] != baseline_values[name]
    ]
    return {
        "total_parameters": len(baseline_values),
        "adapted_parameter_count": len(changed),
        "global_freeze": False,
        "adapted_parameters": changed,
        "adaptive_schema_version": _SCHEMA_VERSION,
    }


def _previous(name: str, value: float, before: _Adaptations, imported: _Adaptations) -> Mapping[str, Any]:
    imported_parameter = imported.get(name, {})
    return imported_parameter if imported_parameter.get("current_value") == value else before.get(name, {})
