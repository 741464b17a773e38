"""What maintenance would do, and what it only reports: a plan over facts; the same memory gives the same plan."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hmxgraph.tasks.digest_names import DigestName

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
