"""Maintenance (memd calls it a dream): digests to retire and to refresh; usefulness, visibility, trust of memories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hmxgraph.records.digests import DigestName

# What maintenance does and reports; the same state gives the same answer.

# Actions that memd knows but hmxgraph does not perform, each with the reason.
BLOCKED = (
    {
        "action": "rewrite_storage",
        "reason": "the database reclaims space by itself",
    },
)


@dataclass(frozen=True, slots=True)
class DigestState:
    """The facts about a digest on which its maintenance depends."""

    key: str
    artifact_id: str
    name: DigestName
    stale: bool
    source_updated_at_ms: int


@dataclass(frozen=True, slots=True)
class Dream:
    """The maintenance that is due: digests to retire and to refresh, and findings that are only reported."""

    retire: tuple[DigestState, ...]
    refresh: tuple[DigestName, ...]
    reported: tuple[Mapping[str, Any], ...]

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.retire or self.refresh)

    def actions(self) -> list[dict[str, Any]]:
        """The actions as documents, in order."""
        retired = [{"action": "retire_duplicate_digest", "artifact_id": digest.artifact_id} for digest in self.retire]
        return retired + [{"action": "refresh_digest", "digest_key": name.digest_key} for name in self.refresh]


def dream(tenant_id: str, digests: Sequence[DigestState], reported: Iterable[Mapping[str, Any]]) -> Dream:
    """The maintenance that is due for these digests.

    Of several digests with one name, the engine's own is kept, or else the newest; the others are retired. A kept
    digest that is stale is refreshed.

    >>> name = DigestName("failure_library", "*")
    >>> copies = [DigestState(key, key, name, False, updated_ms) for key, updated_ms in (("a", 5), ("b", 9))]
    >>> [digest.artifact_id for digest in dream("acme", copies, ()).retire]
    ['a']
    """
    ordered = sorted(digests, key=lambda digest: (digest.name, digest.key))
    groups = [(name, list(group)) for name, group in groupby(ordered, key=lambda digest: digest.name)]
    retire = [digest for name, group in groups for digest in _duplicates(tenant_id, name, group)]
    retired_keys = {digest.key for digest in retire}
    stale = sorted({digest.name for digest in ordered if digest.stale and digest.key not in retired_keys})
    return Dream(tuple(retire), tuple(stale), tuple(reported))


def _duplicates(tenant_id: str, name: DigestName, group: Sequence[DigestState]) -> list[DigestState]:
    own_id = name.artifact_id(tenant_id)
    best = max(group, key=lambda digest: (digest.artifact_id == own_id, digest.source_updated_at_ms, digest.key))
    return [digest for digest in group if digest is not best]


# The usefulness of a memory, from feedback and outcomes, and its effect on the rank.

# Evidence from feedback and outcomes: (for, against) the memory.
SIGNALS = {"positive": (1, 0), "negative": (0, 1), "correction": (0, 1)}
OUTCOMES = {"success": (1, 0), "failure": (0, 1), "mixed": (1, 1)}


def _usefulness(useful: int, useless: int) -> float:
    """The probability that a memory helps, by the rule of succession: 0.5 without evidence.

    >>> _usefulness(0, 0), _usefulness(2, 0)
    (0.5, 0.75)
    """
    return (useful + 1) / (useful + useless + 2)


def weighed(score: float, useful: int, useless: int) -> float:
    """*score* raised or lowered by usefulness, by at most a quarter.

    >>> weighed(0.8, 0, 0), weighed(0.8, 0, 98)
    (0.8, 0.604)
    """
    return round(score * (0.75 + 0.5 * _usefulness(useful, useless)), 6)


def hidden_reason(status: str, *, superseded: bool, deleted: bool, ended: bool, started: bool = True) -> str | None:
    """Why a memory is hidden; None if it is visible: its validity has *started* and not *ended*, whatever its status.

    >>> hidden_reason("deprecated", superseded=True, deleted=False, ended=True)
    'superseded'
    >>> hidden_reason("deprecated", superseded=True, deleted=False, ended=False)
    >>> hidden_reason("promoted", superseded=False, deleted=False, ended=False, started=False)
    'later'
    """
    if not started:
        return "later"
    if not ended:
        return None
    if deleted:
        return "deleted"
    if superseded:
        return "superseded"
    return status if status in {"contradicted", "deprecated"} else "expired"


def grounded_tier(tiers: list[str]) -> str:
    """The trust tier of a memory: the best tier of the records with the same evidence, or ``semantic_candidate``.

    >>> grounded_tier([]), grounded_tier(["canonical_record", "verified_record"])
    ('semantic_candidate', 'verified_record')
    """
    for tier in ("verified_record", "canonical_record", "compiled_digest_hint"):
        if tier in tiers:
            return tier
    return "semantic_candidate"
