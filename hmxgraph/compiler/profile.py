"""The parameters of the compiler: their defaults, their current values, and how often each changed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json


@dataclass(frozen=True, slots=True)
class CompilerProfile:
    """The adjustable parameters of a compilation.

    A *share* is a fraction from 0 to 1. The *examples* of a goal class are the sessions from which its procedure is
    learned. Each artifact records the ``name`` of the profile that produced it.

    >>> CompilerProfile().min_support
    2
    """

    name: str = "hmxgraph-compiler-1"

    max_sessions: int = 10_000  # maximum sessions to learn from; the latest are used

    # Limits of a session summary.
    max_steps: int = 400
    max_failures: int = 100
    max_decisions: int = 100
    max_stated: int = 20  # rules that the agent told the user
    words_per_text: int = 64  # search terms kept of a text
    request_chars: int = 400  # characters kept of the request
    known_values: int = 400  # values remembered from results, to find where arguments come from
    remembered_messages: int = 12  # user messages remembered, to find where arguments come from

    # Requirements on artifacts.
    min_support: int = 2  # minimum sessions that show an artifact, and minimum known outcomes among them
    max_evidence: int = 300  # maximum event ids of an artifact
    confidence_step: float = 0.05  # minimum change of confidence for a new version
    contradicted_below: float = 0.1  # success rate below which advice is contradicted
    contradicted_after: int = 8  # minimum outcomes before advice can be contradicted
    near_duplicate: float = 0.92  # minimum Jaccard index of the trigrams of two drafts to count as duplicates

    # Goal classes and their procedures.
    lookup_share: float = 0.6  # minimum share of the examples for a lookup to be a step
    action_share: float = 0.25  # minimum share of the examples for a change to be a step
    check_share: float = 0.35  # minimum share of the examples for a lookup after the last change to be a step
    scratch_share: float = 0.95  # minimum share of the examples for a thought or a handover to be a step
    min_cases: int = 3  # minimum cases that show a procedure or a policy; all sessions about one order are one case
    required_share: float = 0.8  # minimum share of the examples for a step to be required
    goal_lookup: float = 0.65  # minimum probability for a lookup to be expected after a request
    goal_action: float = 0.25  # minimum probability for a change to be expected after a request
    merge_requests: float = 0.6  # minimum weighted Jaccard index of request words for similar classes to merge
    merge_actions: float = 0.5  # minimum Jaccard index of the actions of two classes to count as similar
    unite_steps: float = 0.6  # minimum Jaccard index of steps for classes with the same changes to merge
    failed_session_weight: float = 0.5  # weight of sessions not known to have succeeded in the request model
    goal_penalty: float = 2.0  # L2 penalty on the weights of the request model
    neighbours: int = 20  # similar successful sessions that vote on the actions of a request
    neighbour_power: float = 4.0  # a vote is weighted by the similarity to this power
    neighbour_weight: float = 0.4  # weight of the votes; the logistic model has the remaining weight
    exemplars: int = 1500  # maximum sessions among which neighbours are sought; the latest are used
    title_share: float = 0.6  # minimum share of the requests that contain a phrase for it to become the title
    low_complexity: int = 3  # at most this many steps, and at most twice as many actions
    high_complexity: int = 7  # more than this many steps, or more than twice as many actions

    # Failures, choices, causes, rules that agents told users, and strategies.
    recovery_steps: int = 3  # maximum steps of a playbook
    severe_rise: float = 0.15  # a failure is severe if the failing share of its sessions exceeds the usual by this
    choice_share: float = 0.15  # minimum share of the choices at one point of the work for an option to count
    choice_support: int = 3  # minimum sessions that chose an option
    max_policies: int = 60  # maximum policies learned from choices
    cause_support: int = 4  # minimum sessions with the cause, and without it
    cause_strength: float = 0.15  # minimum causal power
    cause_significance: float = 2.33  # minimum standard errors above chance (one-sided p of 0.01)
    max_causes: int = 60  # maximum causal patterns
    max_rules: int = 60  # maximum policies learned from rules that agents told users
    phase_share: float = 0.3  # minimum share of sessions with a phase for it to be part of a strategy
    strategy_likeness: float = 0.3  # minimum Jaccard index of steps for classes to share a strategy

    # The habit model, which predicts the next step of a session.
    habit_positions: int = 4000  # learn from the latest sessions that together have at least this many steps
    habit_features: int = 1200  # maximum features of the model
    habit_sessions: int = 2  # minimum sessions that share a feature
    habit_penalty: float = 1.5  # L2 penalty on the weights of the model
    habit_rounds: int = 20  # maximum rounds of the minimiser
    habit_bare_weight: float = 0.3  # every step is learned a second time without text features, with this weight

    def adapted(self, parameters: Mapping[str, float]) -> "CompilerProfile":
        """The profile with these parameters replaced, as an imported fingerprint requests (HMX-F 12).

        Unknown names and out-of-range values are ignored; integers stay integers. An imported ``min_support`` is raised
        to two, so that an import never makes a single session enough for an artifact.

        >>> CompilerProfile().adapted({"min_support": 3.0, "unheard_of": 1.0}).min_support
        3
        >>> CompilerProfile(min_support=1).adapted({"max_causes": 9.0}).min_support
        1
        """
        numbers = self.parameters()
        accepted: dict[str, Any] = {
            name: type(numbers[name])(parameters[name])
            for name in sorted(parameters)
            if name in numbers and _is_acceptable(parameters[name], numbers[name])
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


def _is_acceptable(imported: float, current: float) -> bool:
    # Imported values may neither push a share above 1 nor make a compilation run for very long.
    most = 1.0 if isinstance(current, float) and current < 1 else 10 * current
    return (0.0 if isinstance(current, float) else 1) <= imported <= most


DEFAULT_PROFILE = CompilerProfile()


# The parameters in use, how often each changed, and their form in a fingerprint (HMX-F 9). The baseline is the default
# profile.

_SCHEMA_VERSION = 1
# By parameter name: its current_value, adaptation_count and frozen. Parameters that never left the baseline are absent.
_Adaptations: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LastRun:
    """The parameters of the last compilation, and the imported fingerprint that changed some of them ("" if none)."""

    adaptations: _Adaptations
    fingerprint_id: str = ""

    @classmethod
    def parse(cls, text: str) -> "LastRun":
        """Read what :meth:`to_json` wrote."""
        document = parse_json(text)
        return cls(document["adaptations"], document["fingerprint_id"])

    def to_json(self) -> str:
        """The canonical text to store."""
        return canonical_text({"adaptations": self.adaptations, "fingerprint_id": self.fingerprint_id})

    def next(self, requested: CompilerProfile, imported: _Adaptations, fingerprint_id: str) -> "LastRun":
        """The state after a compilation with the profile that the caller *requested* and the current import."""
        return LastRun(adaptations_after(self.adaptations, in_use(requested, imported), imported), fingerprint_id)

    def current_state(self, imported: _Adaptations, fingerprint_id: str) -> dict[str, Any]:
        """The compiler state for a fingerprint that is exported now.

        If an import was added or withdrawn since the last compilation, the state is that of the next one.
        """
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

    A value that the caller set to something other than the default wins; then the imported value; then the default.

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

    A parameter in use with its imported value takes over the count of the import. For any other parameter, a change
    since the last compilation adds one to its count.

    >>> first = adaptations_after({}, CompilerProfile(min_support=3), {})
    >>> adaptations_after(first, CompilerProfile(min_support=4), {})
    {'min_support': {'current_value': 4.0, 'adaptation_count': 2, 'frozen': False}}

    """
    adaptations = {}
    for name, default in sorted(DEFAULT_PROFILE.parameters().items()):
        value = float(profile.parameters()[name])
        previous = _previous(name, value, before, imported)
        changed = value != float(previous.get("current_value", default))
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
