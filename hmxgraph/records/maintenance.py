"""Maintenance of semantic memory: the dream plan, and how useful a memory proved to be."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hmxgraph.records.digests import DigestName

# What maintenance would do, and what it only reports: a plan over facts; the same memory gives the same plan.

BLOCKED = (
    {
        "action": "rewrite_storage",
        "reason": "the database reclaims space by itself; nothing is rewritten behind its back",
    },
)


@dataclass(frozen=True, slots=True)
class DigestState:
    """A digest as maintenance sees it."""

    key: str
    artifact_id: str
    name: DigestName
    stale: bool
    source_updated_at_ms: int


@dataclass(frozen=True, slots=True)
class Dream:
    """A plan: digests to retire and to refresh (both safe), and what is only reported."""

    retire: tuple[DigestState, ...]
    refresh: tuple[DigestName, ...]
    reported: tuple[Mapping[str, Any], ...]

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.retire or self.refresh)

    def actions(self) -> list[dict[str, Any]]:
        """The safe actions in words, in order."""
        retired = [{"action": "retire_duplicate_digest", "artifact_id": one.artifact_id} for one in self.retire]
        return retired + [{"action": "refresh_digest", "digest_key": name.digest_key} for name in self.refresh]


def dream(tenant_id: str, digests: Sequence[DigestState], reported: Iterable[Mapping[str, Any]]) -> Dream:
    """The plan for these digests: of several with one name the engine's own stays, else the freshest.

    What is stale after that is refreshed.

    >>> name = DigestName("failure_library", "*")
    >>> copies = [DigestState(key, key, name, False, age) for key, age in (("a", 5), ("b", 9))]
    >>> [one.artifact_id for one in dream("acme", copies, ()).retire]
    ['a']
    """
    ordered = sorted(digests, key=lambda one: (one.name, one.key))
    groups = [(name, list(group)) for name, group in groupby(ordered, key=lambda one: one.name)]
    retire = [one for name, group in groups for one in _copies(tenant_id, name, group)]
    gone = {one.key for one in retire}
    stale = sorted({one.name for one in ordered if one.stale and one.key not in gone})
    return Dream(tuple(retire), tuple(stale), tuple(reported))


def _copies(tenant_id: str, name: DigestName, group: Sequence[DigestState]) -> list[DigestState]:
    own = name.artifact_id(tenant_id)
    best = max(group, key=lambda one: (one.artifact_id == own, one.source_updated_at_ms, one.key))
    return [one for one in group if one is not best]


# How useful a memory proved to be, from feedback and outcomes, and what that does to its rank.

# What feedback and outcomes count as: for the memory, or against it.
SIGNALS = {"positive": (1, 0), "negative": (0, 1), "correction": (0, 1)}
OUTCOMES = {"success": (1, 0), "failure": (0, 1), "mixed": (1, 1)}


def _usefulness(useful: int, useless: int) -> float:
    """The chance that a memory helps, by the rule of succession: 0.5 before anything is known.

    >>> _usefulness(0, 0), _usefulness(2, 0)
    (0.5, 0.75)
    """
    return (useful + 1) / (useful + useless + 2)


def weighed(score: float, useful: int, useless: int) -> float:
    """*score* raised or lowered by at most a quarter.

    >>> weighed(0.8, 0, 0), weighed(0.8, 0, 98)
    (0.8, 0.604)
    """
    return round(score * (0.75 + 0.5 * _usefulness(useful, useless)), 6)


def hidden_reason(status: str, *, superseded: bool, deleted: bool, over: bool, begun: bool = True) -> str | None:
    """Why a memory is not shown; None where it is. What ended it counts from when it was *over*.

    >>> hidden_reason("deprecated", superseded=True, deleted=False, over=True)
    'superseded'
    >>> hidden_reason("deprecated", superseded=True, deleted=False, over=False)
    >>> hidden_reason("promoted", superseded=False, deleted=False, over=False, begun=False)
    'later'
    """
    if not begun:
        return "later"
    if not over:
        return None
    if deleted:
        return "deleted"
    if superseded:
        return "superseded"
    return status if status in {"contradicted", "deprecated"} else "expired"


def grounded_tier(tiers: list[str]) -> str:
    """The trust tier of a memory: that of the best record that rests on the same events, else a mere candidate.

    >>> grounded_tier([]), grounded_tier(["canonical_record", "verified_record"])
    ('semantic_candidate', 'verified_record')
    """
    for tier in ("verified_record", "canonical_record", "compiled_digest_hint"):
        if tier in tiers:
            return tier
    return "semantic_candidate"
