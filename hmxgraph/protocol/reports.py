"""Reports: what became of ingested lines, forgotten events, compilations, verifications and imports."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from hmxgraph.errors import Fault, InvalidRequest
from hmxgraph.protocol.showing import Shown
from hmxgraph.protocol.timestamps import iso

# What became of each line: accepted, known already, in conflict, rejected with all its faults.


@dataclass(frozen=True, slots=True)
class Rejection:
    """A line that is no event: where it stood, the id it gave if any, and everything wrong with it."""

    source: str
    line: int
    event_id: str
    faults: tuple[Fault, ...]

    def document(self) -> dict[str, Any]:
        """The same as JSON values."""
        faults = [fault._asdict() for fault in self.faults]
        return {"source": self.source, "line": self.line, "event_id": self.event_id, "faults": faults}


@dataclass(frozen=True, slots=True)
class ConflictingEvent:
    """An event whose id is taken by one with another body; the stored one stays."""

    source: str
    line: int
    event_id: str
    stored_hash: str
    given_hash: str

    def document(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {name: getattr(self, name) for name in ("source", "line", "event_id", "stored_hash", "given_hash")}


@dataclass(frozen=True, slots=True)
class IngestReport(Shown):
    """Every line accounted for: ``lines == accepted + duplicates + conflicts + len(rejected)``.

    ``conflicts`` counts ids that came with another body (``conflicting`` names them); ``late`` events were stored after
    later ones of their session; ``rehomed`` ones named another tenant; ``rate`` is accepted events a second.
    """

    tenant_id: str
    accepted: int = 0
    duplicates: int = 0
    conflicts: int = 0
    rejected: tuple[Rejection, ...] = ()
    late: int = 0
    rehomed: int = 0
    sessions: int = 0
    warnings: tuple[str, ...] = ()
    conflicting: tuple[ConflictingEvent, ...] = ()
    seconds: float = 0.0

    @property
    def lines(self) -> int:
        """All lines read, blank ones left out."""
        return self.accepted + self.duplicates + self.conflicts + len(self.rejected)

    @property
    def rate(self) -> float:
        """Accepted events a second; 0.0 where no time was taken."""
        return self.accepted / self.seconds if self.seconds else 0.0

    def document(self) -> dict[str, Any]:
        """The whole report as JSON values."""
        counts = ("tenant_id", "lines", "accepted", "duplicates", "conflicts", "late", "rehomed", "sessions")
        return {name: getattr(self, name) for name in counts} | {
            "rejected": [rejection.document() for rejection in self.rejected],
            "conflicting": [conflict.document() for conflict in self.conflicting],
            "warnings": list(self.warnings),
            "seconds": round(self.seconds, 3),
            "rate": round(self.rate, 1),
        }


class Receipt(NamedTuple):
    """What became of one batch: session keys touched, events stored, late ones, duplicates, conflicts, warnings."""

    sessions: tuple[str, ...] = ()
    accepted: int = 0
    late: int = 0
    duplicates: int = 0
    conflicting: tuple[ConflictingEvent, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts receipts and rejections as they come; becomes the report at the end."""

    tenant_id: str
    rejected: list[Rejection] = field(default_factory=list)
    rehomed: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _warnings: Counter[str] = field(default_factory=Counter)
    _conflicting: list[ConflictingEvent] = field(default_factory=list)
    _sessions: set[bytes] = field(default_factory=set)

    def warn(self, warnings: Iterable[str]) -> None:
        """Count each of *warnings*."""
        self._warnings.update(warnings)

    def add(self, receipt: Receipt) -> None:
        """Count what became of one batch."""
        self._counts.update(accepted=receipt.accepted, late=receipt.late, duplicates=receipt.duplicates)
        self._conflicting.extend(receipt.conflicting)
        self.warn(receipt.warnings)
        # Eight bytes a session keep the memory of a long run flat.
        self._sessions.update(bytes.fromhex(key[:16]) for key in receipt.sessions)

    @property
    def settled(self) -> int:
        """Lines that are accounted for so far."""
        return self._counts["accepted"] + self._counts["duplicates"] + len(self._conflicting) + len(self.rejected)

    def report(self, seconds: float = 0.0) -> IngestReport:
        """The report so far."""
        return IngestReport(
            tenant_id=self.tenant_id,
            accepted=self._counts["accepted"],
            duplicates=self._counts["duplicates"],
            conflicts=len(self._conflicting),
            rejected=tuple(self.rejected),
            late=self._counts["late"],
            rehomed=self.rehomed,
            sessions=len(self._sessions),
            warnings=tuple(_counted(text, count) for text, count in sorted(self._warnings.items())),
            conflicting=tuple(self._conflicting),
            seconds=seconds,
        )


def _counted(text: str, count: int) -> str:
    return text if count == 1 else f"{text} ({count} times)"


# What is to be forgotten, and the proof that it was.

CHOICES = ("event_id", "session_id", "agent_id", "source", "before", "older_than", "expired")


@dataclass(frozen=True, slots=True)
class Forgettable:
    """Which events: those that meet every criterion given; at least one must be.

    ``before_us`` chooses events older than that instant, ``older_than_us`` those that much older than the tenant's
    logical now, ``expired`` those whose ttl has run out by then.
    """

    event_ids: tuple[str, ...] | None = None
    session_id: str | None = None
    agent_id: str | None = None
    source: str | None = None
    before_us: int | None = None
    older_than_us: int | None = None
    expired: bool = False

    def __post_init__(self) -> None:
        if not self.criteria:
            raise InvalidRequest(
                "forget", "without a criterion", "choice of events", f"give one of {', '.join(CHOICES)}"
            )

    @property
    def criteria(self) -> dict[str, Any]:
        """The criteria given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None and value is not False}


class Erased(NamedTuple):
    """An event that keeps its id and hash and nothing else."""

    event_id: str
    event_hash: str


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten, or in a dry run what would be.

    ``events`` keep id and hash, and so do ``records``, the task records that they told. ``artifacts``, ``memories``,
    ``relations`` and ``entities`` lost their last evidence with them and are deprecated. So are the artifacts compiled
    from sessions that lost an event, whatever evidence is left: they keep id and hash, and the next compilation learns
    anew from what is left. ``remaining`` counts chosen events that still hold content: 0 proves a forget.
    """

    tenant_id: str
    criteria: dict[str, Any]
    dry_run: bool
    events: tuple[Erased, ...] = ()
    sessions: int = 0
    records: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    remaining: int = 0

    def document(self) -> dict[str, Any]:
        """The report as JSON values."""
        return asdict(self) | {"events": [event._asdict() for event in self.events]}


# Values of compiler.report.


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


# What a verification found: how much was looked at, and what is not as it must be.

Level: TypeAlias = Literal["wrong", "missing"]


class Finding(NamedTuple):
    """One thing that is not as it must be.

    ``wrong`` contradicts what was recorded: a hash, a counter, a chain, a link. ``missing`` is named by a record and
    not stored or not linked, which may be so from the beginning: evidence that never arrived, or arrived later.
    """

    check: str
    kind: str
    record_id: str
    found: str
    expected: str
    level: Level = "wrong"


@dataclass(frozen=True, slots=True)
class VerifyReport(Shown):
    """What was looked at (``checked``: how many records of each kind) and everything found; nothing was mended."""

    tenant_id: str
    checked: Mapping[str, int]
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What contradicts what was recorded."""
        return tuple(finding for finding in self.findings if finding.level == "wrong")

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What is named and not there."""
        return tuple(finding for finding in self.findings if finding.level == "missing")

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        return {
            "tenant_id": self.tenant_id,
            "ok": self.ok,
            "checked": dict(self.checked),
            "findings": [finding._asdict() for finding in self.findings],
        }


# Values of graph.rows.fingerprints.


@dataclass(frozen=True, slots=True)
class ImportReport(Shown):
    """What became of an envelope given to be imported.

    ``imported``: its drafts are stored now. ``unchanged``: it was imported before, nothing was written. ``known_ids``
    are artifacts that said the same already.
    """

    outcome: str
    import_id: str
    fingerprint_id: str
    created_ids: tuple[str, ...] = ()
    known_ids: tuple[str, ...] = ()
    conflict_ids: tuple[str, ...] = ()
    expired: bool = False
    signed_by: str | None = None
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class TakenBack:
    """An import that was taken back: the artifacts deprecated with it, and those that other evidence still holds."""

    import_id: str
    fingerprint_id: str
    deprecated_ids: tuple[str, ...]
    kept_ids: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {
            "import_id": self.import_id,
            "fingerprint_id": self.fingerprint_id,
            "deprecated_ids": list(self.deprecated_ids),
            "kept_ids": list(self.kept_ids),
        }
