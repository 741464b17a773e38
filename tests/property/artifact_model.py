"""The artifact lifecycle reimplemented in plain Python, without a database: the oracle for the state machine.

Every change is an entry (time, kind, ...) in one log; the state at a time is found by replaying the entries up to
that time.
"""

from dataclasses import dataclass, field

from hmxgraph.errors import (
    AlreadySuperseded,
    ConflictClosed,
    DuplicateArtifact,
    InvalidTransition,
    SuccessorMismatch,
    SuccessorNeeded,
)

LEGAL = {("draft", "active"), ("draft", "deprecated"), ("active", "deprecated"), ("active", "archived")}
LIVE_STATUSES = {"draft", "active"}
SETTLED = "a side no longer holds"


@dataclass
class Version:
    """One artifact: what it says, its status, and since when."""

    said: tuple[str, ...]
    version: int
    supersedes: str | None
    status: str
    since: int
    evidence: frozenset = frozenset()
    superseded_by: str | None = None

    @property
    def question(self):
        """The condition of a policy; None for other types."""
        return self.said[1] if self.said[0] == "policy" else None


@dataclass
class Dispute:
    """A conflict between two artifacts."""

    sides: tuple[str, str]
    detected: int
    resolved: int | None = None
    kept: str | None = None
    why: str | None = None


@dataclass
class Model:
    """One tenant; *events* maps event ids to times."""

    events: dict[str, int]
    clock: int = field(init=False)
    versions: dict[str, Version] = field(default_factory=dict)
    disputes: dict[tuple[str, str], Dispute] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    log: list[tuple] = field(default_factory=list)

    def __post_init__(self):
        self.clock = self._latest()

    def record(self, name, said, status, time, evidence):
        """The outcome of recording: created, or duplicate if a live artifact says the same."""
        if status in LIVE_STATUSES and self.twin(said):
            return "duplicate"
        self._begin(name, Version(said, 1, None, status, time, evidence))
        return "created"

    def supersede(self, old_id, name, said, status, time, evidence):
        """The outcome of superseding, or the class of the expected error."""
        old = self.versions[old_id]
        if old.superseded_by:
            return AlreadySuperseded
        if old.status != "active":
            return InvalidTransition
        if self.twin(said) not in {None, old_id}:
            return DuplicateArtifact
        if old.said[0] != said[0]:
            return SuccessorMismatch
        if status == "draft":
            self._begin(name, Version(said, old.version + 1, old_id, status, time, evidence))
            return "created"
        time = max(time, old.since)
        old.superseded_by = name
        self._move(old_id, "superseded", time)
        self._settle(old_id, time)
        self._begin(name, Version(said, old.version + 1, old_id, status, time, evidence))
        return "created"

    def transition(self, name, status, time):
        """The new status, or the class of the expected error."""
        version = self.versions[name]
        if (version.status, status) == ("active", "superseded"):
            return SuccessorNeeded
        if (version.status, status) not in LEGAL:
            return InvalidTransition
        time = self.clock if time is None else time
        if status == "active" and version.supersedes:
            if refusal := self._replace(self.versions[version.supersedes], name, max(time, version.since)):
                return refusal
            time = max(time, self.versions[version.supersedes].since)
        at = self._move(name, status, time)
        self._settle(name, at)
        self._dispute(name)
        return status

    def resolve(self, sides, keep, why, time):
        """The outcome of resolving, or the class of the expected error."""
        dispute = self.disputes[sides]
        if dispute.resolved is not None:
            return "resolved" if (dispute.kept, dispute.why) == (keep, why) else ConflictClosed
        at = self._close(dispute, self.clock if time is None else time, keep, why)
        lost = [side for side in sides if keep is not None and side != keep]
        for side in lost:
            if self.versions[side].status in LIVE_STATUSES:
                self._move(side, "deprecated", at)
            self._settle(side, at)
        self.clock = max(self.clock, at)
        return "resolved"

    def forget(self, events):
        """The artifacts that lose their last evidence with *events*; live ones are deprecated.

        The clock goes back if one of these events determined it.
        """
        fresh = set(events) - self.erased
        held = any(self.events[event] >= self.clock for event in fresh)
        self.erased |= fresh
        lost = [
            name
            for name, version in sorted(self.versions.items())
            if version.status in LIVE_STATUSES and version.evidence & fresh and version.evidence <= self.erased
        ]
        now = self._latest() if held else self.clock
        for name in lost:
            self._move(name, "deprecated", now)
        for name in lost:
            self._settle(name, now)
        if held:
            self.clock = self._latest()
        return lost

    def twin(self, said):
        """A live artifact that says the same, if any."""
        living = (
            name for name, version in self.versions.items() if version.status in LIVE_STATUSES and version.said == said
        )
        return next(living, None)

    def artifacts_at(self, time):
        """Each artifact recorded by *time*, with its status and successor at that time, by replaying the log."""
        seen = {}
        for at, kind, name, *details in self.log:
            if at <= time and kind == "status":
                seen[name] = (details[0], self.versions[name].superseded_by if details[0] == "superseded" else None)
        return seen

    def disputes_at(self, time):
        """Each conflict detected by *time*, with its status and kept side at that time, by replaying the log."""
        seen = {}
        for at, kind, sides, *details in self.log:
            if at <= time and kind in {"opened", "closed"}:
                seen[sides] = tuple(details)
        return seen

    def _latest(self):
        event_times = [time for event, time in self.events.items() if event not in self.erased]
        decision_times = [
            dispute.resolved
            for dispute in self.disputes.values()
            if dispute.resolved is not None and dispute.why != SETTLED
        ]
        return max([*event_times, *decision_times, *(version.since for version in self.versions.values())], default=0)

    def _replace(self, old, name, time):
        """Replace the predecessor of a draft; return the class of the expected error if that is refused."""
        if old.superseded_by:
            return AlreadySuperseded
        if old.status != "active":
            return InvalidTransition
        old.superseded_by = name
        old_id = self.versions[name].supersedes
        self._settle(old_id, self._move(old_id, "superseded", time))
        return None

    def _begin(self, name, version):
        self.versions[name] = version
        self.clock = max(self.clock, version.since)
        self.log.append((version.since, "status", name, version.status))
        self._dispute(name)

    def _move(self, name, status, time):
        version = self.versions[name]
        version.status, version.since = status, max(time, version.since)
        self.clock = max(self.clock, version.since)
        self.log.append((version.since, "status", name, status))
        return version.since

    def _dispute(self, name):
        version = self.versions[name]
        if version.status != "active" or version.question is None:
            return
        for other_id, other in sorted(self.versions.items()):
            sides = tuple(sorted((name, other_id)))
            if (other.status, other.question) == ("active", version.question) and other.said[2] != version.said[2]:
                self._open(sides, max(version.since, other.since))

    def _open(self, sides, time):
        if sides not in self.disputes:
            self.disputes[sides] = Dispute(sides, time)
            self.log.append((time, "opened", sides, "open", None))

    def _settle(self, name, time):
        if self.versions[name].status in LIVE_STATUSES:
            return
        for dispute in self.disputes.values():
            if name in dispute.sides and dispute.resolved is None:
                left = [side for side in dispute.sides if self.versions[side].status in LIVE_STATUSES]
                self._close(dispute, time, left[0] if left else None, SETTLED)

    def _close(self, dispute, time, keep, why):
        dispute.resolved, dispute.kept, dispute.why = max(time, dispute.detected), keep, why
        self.log.append((dispute.resolved, "closed", dispute.sides, "resolved", keep))
        return dispute.resolved
