"""What an imported fingerprint says about which memory served well (HMX-F 7); advice, never an order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Priors:
    """Context priors in force; empty ones change nothing."""

    section_weights: Mapping[str, float] = field(default_factory=dict)
    preferred_sections: frozenset[str] = frozenset()
    artifact_ids: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    suppressed: frozenset[str] = frozenset()

    def salience(self, artifact_id: str, tags: tuple[str, ...], otherwise: float) -> float:
        """1 for what the priors put first, 0 for what they suppress, else *otherwise*."""
        if not self.suppressed.isdisjoint(tags):
            return 0.0
        return 1.0 if artifact_id in self.artifact_ids or not self.tags.isdisjoint(tags) else otherwise

    def weight(self, section: str) -> float:
        """By how much the share of *section* is multiplied."""
        weight = self.section_weights.get(section, 1.0)
        return weight * (1.5 if section in self.preferred_sections else 1.0)


NO_PRIORS = Priors()
_NAMES = ("preferred_sections", "priority_artifact_ids", "priority_tags", "suppressed_tags")
# No advice weighs as much; far beyond it shares of a budget are no numbers any more.
_MOST_WEIGHT = 1e9


def priors_of(document: Mapping[str, Any] | None) -> Priors:
    """The priors in the ``context_priors`` of a fingerprint; what is missing or of another form is left out.

    >>> priors_of({"section_weights": {"procedures": 2.0}, "suppressed_tags": ["old"]}).weight("procedures")
    2.0

    """
    if not isinstance(document, Mapping):
        return NO_PRIORS
    named = (_names(document.get(name)) for name in _NAMES)
    return Priors(_weights(document.get("section_weights")), *named)


def _weights(given: Any) -> dict[str, float]:
    weights = given.items() if isinstance(given, Mapping) else ()
    return {name: float(value) for name, value in sorted(filter(_is_weight, weights))}


def _is_weight(part: tuple[Any, Any]) -> bool:
    name, value = part
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(name, str) and number and 0 <= value <= _MOST_WEIGHT


def _names(given: Any) -> frozenset[str]:
    names = given if isinstance(given, list | tuple | set | frozenset) else ()
    return frozenset(name for name in names if isinstance(name, str))
