"""The compiler's parameters in use, how often they changed, and their form in a fingerprint."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json

_SCHEMA_VERSION = 1
# By parameter name: current_value, adaptation_count and frozen of each parameter that ever differed from the baseline.
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

    def next(self, asked: CompilerProfile, imported: _Adaptations, fingerprint_id: str) -> "LastRun":
        """The state after a compilation with the caller's profile and the current import."""
        return LastRun(adapted(self.adaptations, in_use(asked, imported), imported), fingerprint_id)

    def current_state(self, imported: _Adaptations, fingerprint_id: str) -> dict[str, Any]:
        """The compiler state of a fingerprint, including an import added or removed since."""
        if fingerprint_id == self.fingerprint_id:
            return compiler_state(self.adaptations)
        values = (
            {}
            if self.fingerprint_id
            else {name: adaptation["current_value"] for name, adaptation in self.adaptations.items()}
        )
        own = {name: value for name, value in values.items() if name not in imported}
        return compiler_state(self.next(DEFAULT_PROFILE.adapted(own), imported, fingerprint_id).adaptations)


def in_use(asked: CompilerProfile, imported: _Adaptations) -> CompilerProfile:
    """The profile of a compilation: the caller's values, else those of an imported fingerprint (HMX-F 12).

    >>> imported = {"max_causes": {"current_value": 50.0}, "min_support": {"current_value": 3.0}}
    >>> found = in_use(CompilerProfile(max_causes=9), imported)
    >>> found.max_causes, found.min_support
    (9, 3)

    """
    own, usual = asked.parameters(), DEFAULT_PROFILE.parameters()
    given = {name: float(parameter["current_value"]) for name, parameter in imported.items()}
    return asked.adapted({name: value for name, value in given.items() if own.get(name) == usual.get(name)})


def adapted(before: _Adaptations, profile: CompilerProfile, imported: _Adaptations) -> dict[str, dict[str, Any]]:
    """The adaptations after a compilation with *profile*, starting from *before*.

    An imported value keeps its own count; any other changed value increments the count.

    >>> first = adapted({}, CompilerProfile(min_support=3), {})
    >>> adapted(first, CompilerProfile(min_support=4), {})
    {'min_support': {'current_value': 4.0, 'adaptation_count': 2, 'frozen': False}}

    """
    adaptations = {}
    for name, usual in sorted(DEFAULT_PROFILE.parameters().items()):
        value = float(profile.parameters()[name])
        previous = _last(name, value, before, imported)
        changed = value != float(previous.get("current_value", usual))
        count = int(previous.get("adaptation_count", 0)) + changed
        if count:
            frozen = bool(previous.get("frozen", False))
            adaptations[name] = {"current_value": value, "adaptation_count": count, "frozen": frozen}
    return adaptations


def compiler_state(adaptations: _Adaptations, baseline: CompilerProfile = DEFAULT_PROFILE) -> dict[str, Any]:
    """The parameters that differ from *baseline*, in the form of HMX-F 9.

    >>> state = compiler_state(adapted({}, CompilerProfile(min_support=3), {}))
    >>> [(one["parameter"], one["delta"]) for one in state["adapted_parameters"]]
    [('min_support', 1.0)]

    """
    before = baseline.parameters()
    changed = [
        {
            "parameter": name,
            "current_value": float(adaptation["current_value"]),
            "baseline_value": float(before[name]),
            "delta": round(float(adaptation["current_value"]) - float(before[name]), 9),
            "adaptation_count": int(adaptation["adaptation_count"]),
            "frozen": bool(adaptation["frozen"]),
        }
        for name, adaptation in sorted(adaptations.items())
        if adaptation["current_value"] != before[name]
    ]
    return {
        "total_parameters": len(before),
        "adapted_parameter_count": len(changed),
        "global_freeze": False,
        "adapted_parameters": changed,
        "adaptive_schema_version": _SCHEMA_VERSION,
    }


def _last(name: str, value: float, before: _Adaptations, imported: _Adaptations) -> Mapping[str, Any]:
    brought = imported.get(name, {})
    return brought if brought.get("current_value") == value else before.get(name, {})
