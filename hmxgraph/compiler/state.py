"""The compiler's parameters: what a compilation goes by, how often that changed, and how a fingerprint tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json

_SCHEMA_VERSION = 1
# By name: current_value, adaptation_count and frozen of each parameter that is or was another than the baseline.
_Adaptations: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LastRun:
    """What the compiler last went by, and the fingerprint that had a say in it (empty: none)."""

    adaptations: _Adaptations
    fingerprint_id: str = ""

    @classmethod
    def parse(cls, text: str) -> "LastRun":
        """What :meth:`to_json` wrote."""
        document = parse_json(text)
        return cls(document["adaptations"], document["fingerprint_id"])

    def to_json(self) -> str:
        """As it is kept, canonical."""
        return canonical_text({"adaptations": self.adaptations, "fingerprint_id": self.fingerprint_id})

    def next(self, asked: CompilerProfile, imported: _Adaptations, fingerprint_id: str) -> "LastRun":
        """What follows once a compilation is asked for by its caller and by the import that holds."""
        return LastRun(adapted(self.adaptations, in_use(asked, imported), imported), fingerprint_id)

    def told(self, imported: _Adaptations, fingerprint_id: str) -> dict[str, Any]:
        """The compiler's state, which an import that came or went since has a say in."""
        if fingerprint_id == self.fingerprint_id:
            return compiler_state(self.adaptations)
        values = {} if self.fingerprint_id else {name: one["current_value"] for name, one in self.adaptations.items()}
        own = {name: value for name, value in values.items() if name not in imported}
        return compiler_state(self.next(DEFAULT_PROFILE.adapted(own), imported, fingerprint_id).adaptations)


def in_use(asked: CompilerProfile, imported: _Adaptations) -> CompilerProfile:
    """The profile of a compilation: what its caller asks for, else what an imported fingerprint does (HMX-F 12).

    >>> imported = {"max_causes": {"current_value": 50.0}, "min_support": {"current_value": 3.0}}
    >>> found = in_use(CompilerProfile(max_causes=9), imported)
    >>> found.max_causes, found.min_support
    (9, 3)

    """
    own, usual = asked.parameters(), DEFAULT_PROFILE.parameters()
    given = {name: float(one["current_value"]) for name, one in imported.items()}
    return asked.adapted({name: value for name, value in given.items() if own.get(name) == usual.get(name)})


def adapted(before: _Adaptations, profile: CompilerProfile, imported: _Adaptations) -> dict[str, dict[str, Any]]:
    """The adaptations once a compilation goes by *profile*, after *before*.

    A value that an import brought comes with its own count; any other that differs from the one before counts once
    more.

    >>> first = adapted({}, CompilerProfile(min_support=3), {})
    >>> adapted(first, CompilerProfile(min_support=4), {})
    {'min_support': {'current_value': 4.0, 'adaptation_count': 2, 'frozen': False}}

    """
    found = {}
    for name, usual in sorted(DEFAULT_PROFILE.parameters().items()):
        value = float(profile.parameters()[name])
        known = _last(name, value, before, imported)
        changed = value != float(known.get("current_value", usual))
        count = int(known.get("adaptation_count", 0)) + changed
        if count:
            frozen = bool(known.get("frozen", False))
            found[name] = {"current_value": value, "adaptation_count": count, "frozen": frozen}
    return found


def compiler_state(adaptations: _Adaptations, baseline: CompilerProfile = DEFAULT_PROFILE) -> dict[str, Any]:
    """The parameters that differ from *baseline*, as HMX-F 9 tells them.

    >>> state = compiler_state(adapted({}, CompilerProfile(min_support=3), {}))
    >>> [(one["parameter"], one["delta"]) for one in state["adapted_parameters"]]
    [('min_support', 1.0)]

    """
    before = baseline.parameters()
    told = [
        {
            "parameter": name,
            "current_value": float(one["current_value"]),
            "baseline_value": float(before[name]),
            "delta": round(float(one["current_value"]) - float(before[name]), 9),
            "adaptation_count": int(one["adaptation_count"]),
            "frozen": bool(one["frozen"]),
        }
        for name, one in sorted(adaptations.items())
        if one["current_value"] != before[name]
    ]
    return {
        "total_parameters": len(before),
        "adapted_parameter_count": len(told),
        "global_freeze": False,
        "adapted_parameters": told,
        "adaptive_schema_version": _SCHEMA_VERSION,
    }


def _last(name: str, value: float, before: _Adaptations, imported: _Adaptations) -> Mapping[str, Any]:
    brought = imported.get(name, {})
    return brought if brought.get("current_value") == value else before.get(name, {})
