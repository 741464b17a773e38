"""What a compilation did, or would do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.compiler.reconcile import Change
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES
from hmxgraph.protocol.showing import Shown
from hmxgraph.protocol.timestamps import iso


@dataclass(frozen=True, slots=True)
class ReportedChange:
    """One artifact that changed, in a few words."""

    deed: str
    artifact_type: str
    artifact_id: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompileReport(Shown):
    """What changed, by type; sessions read anew and in all; seconds by stage, as measured by the caller's clock.

    ``without_outcome`` counts the sessions of which nobody can tell how they ended, ``shortened`` those so long that
    the middle of their steps was left out.
    """

    tenant_id: str
    profile: str
    as_of_us: int | None
    sessions: int
    summarised: int
    events: int
    full: bool
    dry_run: bool
    created: Mapping[str, int] = field(default_factory=dict)
    updated: Mapping[str, int] = field(default_factory=dict)
    unchanged: Mapping[str, int] = field(default_factory=dict)
    deprecated: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[ReportedChange, ...] = ()
    near_duplicates: int = 0
    without_outcome: int = 0
    shortened: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether anything was, or would be, written to artifacts."""
        return any(change.deed not in {"unchanged", "left"} for change in self.changes)

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "tenant_id": self.tenant_id,
            "profile": self.profile,
            "as_of": None if self.as_of_us is None else iso(self.as_of_us),
            "sessions": self.sessions,
            "summarised": self.summarised,
            "events": self.events,
            "full": self.full,
            "dry_run": self.dry_run,
            **{name: dict(getattr(self, name)) for name in _COUNTED},
            "changes": [
                {
                    "deed": one.deed,
                    "artifact_type": one.artifact_type,
                    "artifact_id": one.artifact_id,
                    "title": one.title,
                    "reason": one.reason,
                }
                for one in self.changes
            ],
            "near_duplicates": self.near_duplicates,
            "without_outcome": self.without_outcome,
            "shortened": self.shortened,
            "seconds": dict(self.seconds),
        }


_COUNTED = ("created", "updated", "unchanged", "deprecated", "left")
# A draft that became active and a head that gained evidence are updates of what was there.
_FIELD = {"activated": "updated", "counted": "updated"}


def counts(changes: Sequence[Change]) -> dict[str, dict[str, int]]:
    """For each kind of change how many artifacts of each type it befell; types without any are left out."""
    found: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
    for change in changes:
        found[_FIELD.get(change.deed, change.deed)][change.artifact_type] += 1
    return {name: {kind: found[name][kind] for kind in ARTIFACT_TYPES if found[name][kind]} for name in _COUNTED}


def reported(changes: Sequence[Change]) -> tuple[ReportedChange, ...]:
    """The changes that somebody might want to read: all but what stayed as it was."""
    return tuple(
        ReportedChange(change.deed, change.artifact_type, _id(change), change.title, change.reason)
        for change in changes
        if change.deed != "unchanged"
    )


def _id(change: Change) -> str:
    if change.artifact is not None:
        return str(change.artifact.artifact_id)
    return change.head.artifact_id if change.head is not None else ""
