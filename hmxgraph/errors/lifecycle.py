"""Rules of the artifact lifecycle that were about to be broken (HMX-A 5, 7)."""

from hmxgraph.errors.base import HmxGraphError


class LifecycleError(HmxGraphError, ValueError):
    """A rule of the artifact lifecycle was about to be broken; nothing was written."""


class InvalidTransition(LifecycleError):
    """A status change that HMX-A 5 does not list."""

    def __init__(self, artifact_id: str, current: str, wanted: str, legal: tuple[str, ...]) -> None:
        super().__init__(artifact_id, current, wanted, legal)
        self.artifact_id = artifact_id
        self.current = current
        self.wanted = wanted
        self.legal = legal

    def __str__(self) -> str:
        way_out = (
            f"legal from {self.current!r}: {', '.join(self.legal)}" if self.legal else f"{self.current!r} is final"
        )
        return f"artifact {self.artifact_id!r} cannot go from {self.current!r} to {self.wanted!r} (HMX-A 5); {way_out}"


class SupersessionCycle(LifecycleError):
    """A supersession that would make an artifact its own ancestor (HMX-A 7)."""

    def __init__(self, old_id: str, new_id: str) -> None:
        super().__init__(old_id, new_id)
        self.old_id = old_id
        self.new_id = new_id

    def __str__(self) -> str:
        return f"{self.new_id!r} cannot supersede {self.old_id!r}: it is already part of its history (HMX-A 7)"


class AlreadySuperseded(LifecycleError):
    """The chain has gone on without you: names the artifact that now supersedes the old one."""

    def __init__(self, old_id: str, winner_id: str) -> None:
        super().__init__(old_id, winner_id)
        self.old_id = old_id
        self.winner_id = winner_id

    def __str__(self) -> str:
        return f"{self.old_id!r} is already superseded by {self.winner_id!r}; supersede that one instead (HMX-A 7)"


class SuccessorMismatch(LifecycleError):
    """A successor that does not continue its predecessor: other tenant, type, status or version."""

    def __init__(self, old_id: str, field: str, found: str, expected: str) -> None:
        super().__init__(old_id, field, found, expected)
        self.old_id = old_id
        self.field = field
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return f"successor of {self.old_id!r} has {self.field} {self.found}, expected {self.expected} (HMX-A 7)"


class SuccessorNeeded(LifecycleError):
    """Only a successor makes an artifact superseded: status, edge and next version at once (HMX-A 7)."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(artifact_id)
        self.artifact_id = artifact_id

    def __str__(self) -> str:
        return f"artifact {self.artifact_id!r} is superseded only by a successor (HMX-A 7); give one to supersede()"


class ImmutableArtifact(LifecycleError):
    """The id is taken by an artifact with another core; nothing was written."""

    def __init__(self, artifact_id: str, fields: tuple[str, ...]) -> None:
        super().__init__(artifact_id, fields)
        self.artifact_id = artifact_id
        self.fields = fields

    def __str__(self) -> str:
        found = ", ".join(self.fields)
        return f"artifact {self.artifact_id!r} is recorded with another {found} (HMX-A 1); supersede it under a new id"


class DuplicateArtifact(LifecycleError):
    """A successor whose type and content another draft or active artifact has already."""

    def __init__(self, artifact_id: str, twin_id: str) -> None:
        super().__init__(artifact_id, twin_id)
        self.artifact_id = artifact_id
        self.twin_id = twin_id

    def __str__(self) -> str:
        return f"artifact {self.artifact_id!r} says what {self.twin_id!r} says already (HMX-A 8); retire that one first"


class ConflictClosed(LifecycleError):
    """A conflict that was resolved before, and not like this."""

    def __init__(self, conflict_id: str, kept_id: str | None) -> None:
        super().__init__(conflict_id, kept_id)
        self.conflict_id = conflict_id
        self.kept_id = kept_id

    def __str__(self) -> str:
        outcome = f"keeping {self.kept_id!r}" if self.kept_id else "keeping every side"
        return f"conflict {self.conflict_id!r} is already resolved, {outcome}; record a successor of a side instead"
