"""Reports of ingestion, recording, forgetting, compilation, verification, fingerprint imports and backups."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from hmxgraph.errors import Fault, InvalidRequest
from hmxgraph.protocol.display import HtmlTable
from hmxgraph.protocol.timestamps import iso

# The outcome of each ingested line and event.


@dataclass(frozen=True, slots=True)
class Rejection:
    """A rejected line: its source and number, its event id if it has one, and all its faults.

    Line 0 stands for a whole source that could not be read, or could not be read to its end.
    """

    source: str
    line: int
    event_id: str
    faults: tuple[Fault, ...]

    def document(self) -> dict[str, Any]:
        """The rejection as a JSON-able dict."""
        faults = [fault._asdict() for fault in self.faults]
        return {"source": self.source, "line": self.line, "event_id": self.event_id, "faults": faults}


@dataclass(frozen=True, slots=True)
class ConflictingEvent:
    """An event that was not stored: an earlier event with other content has its id."""

    source: str
    line: int
    event_id: str
    stored_hash: str
    given_hash: str

    def document(self) -> dict[str, Any]:
        """The conflict as a JSON-able dict."""
        return {name: getattr(self, name) for name in ("source", "line", "event_id", "stored_hash", "given_hash")}


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The outcome of every line of one source: ``lines == with_events + part_of + sum(skipped) + rejected``.

    ``format`` is the recognised format. ``events`` counts the events made from its lines, ``part_of`` the lines that
    complete or repeat an event of another line, ``skipped`` the lines that hold nothing to store, by reason.
    ``left_out`` counts, by reason, content dropped from lines that did become events.
    """

    source: str
    format: str
    lines: int = 0
    with_events: int = 0
    events: int = 0
    part_of: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    rejected: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class IngestReport(HtmlTable):
    """The outcome of an ingestion: of every line and of every event made from the lines.

    ``sources`` counts the lines of each source. Each event made from these lines is counted once: in ``accepted``,
    ``duplicates``, ``conflicts`` (an earlier event with other content has its id) or ``rejected_count``, which also
    counts rejected lines. ``rejected`` and ``conflicting`` list the first 10,000 rejections and conflicts. ``late``
    counts events stored after later events of their session, ``rehomed`` events that named another tenant and were
    moved to this one, ``sessions`` the sessions with new events.
    """

    tenant_id: str
    accepted: int = 0
    duplicates: int = 0
    conflicts: int = 0
    rejected: tuple[Rejection, ...] = ()
    rejected_count: int = 0
    late: int = 0
    rehomed: int = 0
    sessions: int = 0
    warnings: tuple[str, ...] = ()
    conflicting: tuple[ConflictingEvent, ...] = ()
    seconds: float = 0.0
    sources: tuple[SourceReport, ...] = ()

    @property
    def lines(self) -> int:
        """All lines read, except blank ones."""
        if self.sources:
            return sum(source.lines for source in self.sources)
        return self.accepted + self.duplicates + self.conflicts + self.rejected_count

    @property
    def part_of(self) -> int:
        """Lines that complete or repeat an event of another line."""
        return sum(source.part_of for source in self.sources)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Lines that hold nothing to store, counted by reason, the most frequent first."""
        return _totals(source.skipped for source in self.sources)

    @property
    def left_out(self) -> Mapping[str, int]:
        """Content dropped from lines that did become events, counted by reason, the most frequent first."""
        return _totals(source.left_out for source in self.sources)

    @property
    def rate(self) -> float:
        """Accepted events per second; 0.0 if no time was measured."""
        return self.accepted / self.seconds if self.seconds else 0.0

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        counts = ("tenant_id", "lines", "accepted", "duplicates", "conflicts", "rejected_count", "late")
        return {name: getattr(self, name) for name in counts} | {
            "rehomed": self.rehomed,
            "sessions": self.sessions,
            "part_of": self.part_of,
            "skipped": dict(self.skipped),
            "left_out": dict(self.left_out),
            "sources": [source.document() for source in self.sources],
            "rejected": [rejection.document() for rejection in self.rejected],
            "conflicting": [conflict.document() for conflict in self.conflicting],
            "warnings": list(self.warnings),
            "seconds": round(self.seconds, 3),
            "rate": round(self.rate, 1),
        }


def _totals(counts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for source_counts in counts:
        total.update(source_counts)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


class BatchReceipt(NamedTuple):
    """The outcome of one batch: the numbers of new events (``accepted``), of late ones among them, and of duplicates.

    ``sessions`` are the keys of the sessions with new events. ``refused`` are the events that were rejected when they
    were compared with stored ones, each with its document.
    """

    sessions: tuple[str, ...] = ()
    accepted: int = 0
    late: int = 0
    duplicates: int = 0
    conflicting: tuple[ConflictingEvent, ...] = ()
    warnings: tuple[str, ...] = ()
    refused: tuple[tuple[Rejection, Mapping[str, Any]], ...] = ()


# Maximum number of distinct warnings per call. Each warning quotes its event, so their number must be limited to keep
# memory use constant.
_MOST_WARNINGS = 500
_OTHER_WARNINGS = "further warnings"
# Maximum number of rejections, and of conflicts, that a report lists; the rest are only counted. The file of rejected
# lines (``rejects``) gets all of them.
MOST_NAMED = 10_000


@dataclass(slots=True)
class Tally:
    """The running totals of an ingestion: it counts receipts, rejections, warnings and lines as they arrive."""

    tenant_id: str
    rejected: list[Rejection] = field(default_factory=list)
    rejected_count: int = 0
    rehomed: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _warnings: Counter[str] = field(default_factory=Counter)
    _conflicting: list[ConflictingEvent] = field(default_factory=list)
    _sessions: set[bytes] = field(default_factory=set)
    _sources: dict[str, "SourceTally"] = field(default_factory=dict)

    def source(self, name: str, title: str) -> "SourceTally":
        """The tally of the source *name*; *title* is the name of its format."""
        return self._sources.setdefault(name, SourceTally(name, title))

    def reject(self, rejection: Rejection, *, line: bool = True) -> None:
        """Count *rejection*; with *line*, the whole line is rejected and no longer counts as a line with events."""
        self.rejected_count += 1
        if len(self.rejected) < MOST_NAMED:
            self.rejected.append(rejection)
        source = self._sources.get(rejection.source)
        if line and source:
            source.with_events -= 1
            source.rejected += 1

    def warn(self, warnings: Iterable[str]) -> None:
        """Count each of *warnings*; beyond 500 distinct texts, new ones are counted together."""
        for warning in warnings:
            is_listed = warning in self._warnings or len(self._warnings) < _MOST_WARNINGS
            self._warnings[warning if is_listed else _OTHER_WARNINGS] += 1

    def add(self, receipt: BatchReceipt) -> None:
        """Count the outcome of one batch."""
        self._counts.update(accepted=receipt.accepted, late=receipt.late, duplicates=receipt.duplicates)
        self._counts["conflicts"] += len(receipt.conflicting)
        self._conflicting.extend(receipt.conflicting[: MOST_NAMED - len(self._conflicting)])
        self.warn(receipt.warnings)
        # Only the first eight bytes of each session's key are kept, to save memory in long runs.
        self._sessions.update(bytes.fromhex(key[:16]) for key in receipt.sessions)

    @property
    def settled(self) -> int:
        """The number of events and rejected lines whose outcome is known so far."""
        return sum(self._counts[name] for name in ("accepted", "duplicates", "conflicts")) + self.rejected_count

    def report(self, seconds: float = 0.0) -> IngestReport:
        """The report so far."""
        return IngestReport(
            tenant_id=self.tenant_id,
            accepted=self._counts["accepted"],
            duplicates=self._counts["duplicates"],
            conflicts=self._counts["conflicts"],
            rejected=tuple(self.rejected),
            rejected_count=self.rejected_count,
            late=self._counts["late"],
            rehomed=self.rehomed,
            sessions=len(self._sessions),
            warnings=tuple(_with_count(text, count) for text, count in sorted(self._warnings.items())),
            conflicting=tuple(self._conflicting),
            seconds=seconds,
            sources=tuple(source.report() for source in self._sources.values()),
        )


@dataclass(slots=True)
class SourceTally:
    """Counts the lines of one source as they are read."""

    source: str
    format: str
    lines: int = 0
    with_events: int = 0
    events: int = 0
    part_of: int = 0
    rejected: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def report(self) -> SourceReport:
        """The counts so far."""
        counts = {name: getattr(self, name) for name in ("lines", "with_events", "events", "part_of", "rejected")}
        return SourceReport(
            self.source, self.format, **counts, skipped=dict(self.skipped), left_out=dict(self.left_out)
        )


def _with_count(text: str, count: int) -> str:
    return text if count == 1 else f"{text} ({count} times)"


# The outcome of each recorded message or event.

ReceiptStatus: TypeAlias = Literal["stored", "duplicate", "skipped", "rejected"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of one recorded item; ``position`` counts the items of the call from 0.

    ``event_ids`` are the ids of the events made from the item: a message with two tool calls becomes three events.
    ``reason`` says why an item was skipped or rejected.
    """

    position: int
    status: ReceiptStatus
    event_ids: tuple[str, ...] = ()
    reason: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def event_id(self) -> str:
        """The id of the first event of the item, empty if there is none."""
        return self.event_ids[0] if self.event_ids else ""

    def document(self) -> dict[str, Any]:
        """The receipt as JSON values."""
        return {**asdict(self), "event_ids": list(self.event_ids), "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class RecordReport(HtmlTable):
    """One receipt for each item given to ``record``, in order; ``format`` is their recognised format."""

    tenant_id: str
    session_id: str
    format: str
    receipts: tuple[Receipt, ...] = ()

    @property
    def stored(self) -> int:
        """Items that became new events."""
        return self._count("stored")

    @property
    def duplicates(self) -> int:
        """Items that were stored before."""
        return self._count("duplicate")

    @property
    def rejected(self) -> tuple[Receipt, ...]:
        """The receipts of rejected items."""
        return tuple(receipt for receipt in self.receipts if receipt.status == "rejected")

    def _count(self, status: ReceiptStatus) -> int:
        return sum(receipt.status == status for receipt in self.receipts)

    def document(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "tenant_id": self.tenant_id,
            "session_id": self.session_id,
            "format": self.format,
            "stored": self.stored,
            "duplicates": self.duplicates,
            "receipts": [receipt.document() for receipt in self.receipts],
        }


# Forgetting: the criteria, and the proof that events were forgotten.

FORGET_CRITERIA = (
    "event_id",
    "session_id",
    "agent_id",
    "user_id",
    "source",
    "fingerprint",
    "before",
    "older_than",
    "expired",
)


@dataclass(frozen=True, slots=True)
class ForgetCriteria:
    """Criteria for the events to forget: an event must meet all that are set, and at least one is required.

    ``user_id`` selects events whose metadata names that user, and what was remembered for the user; ``fingerprint``
    selects the event that logs an import, and withdraws the import. ``before_us`` selects events before that instant,
    ``older_than_us`` events of a greater age, ``expired`` events whose ttl has expired.

    ``now_us`` is not a criterion: ages and ttls are measured at the tenant's logical time (that of its latest event)
    or at ``now_us``, whichever is later.
    """

    event_ids: tuple[str, ...] | None = None
    session_id: str | None = None
    agent_id: str | None = None
    source: str | None = None
    user_id: str | None = None
    fingerprint: str | None = None
    before_us: int | None = None
    older_than_us: int | None = None
    expired: bool = False
    now_us: int | None = None

    def __post_init__(self) -> None:
        if not self.criteria:
            raise InvalidRequest(
                "forget", "without a criterion", "a selection of events", f"give one of {', '.join(FORGET_CRITERIA)}"
            )

    @property
    def criteria(self) -> dict[str, Any]:
        """The criteria that are set, by name."""
        criteria = {name: value for name, value in asdict(self).items() if value is not None and value is not False}
        return criteria if criteria.keys() - {"now_us"} else {}


class AheadEvent(NamedTuple):
    """An event that is dated further in the future than the tolerance allows."""

    event_id: str
    session_id: str
    timestamp: str


@dataclass(frozen=True, slots=True)
class ClockReport:
    """The tenant's logical time before and after a repair, and up to 1,000 events dated too far in the future."""

    tenant_id: str
    dry_run: bool
    before: str | None
    after: str | None
    ahead: tuple[AheadEvent, ...] = ()

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        names = ("tenant_id", "dry_run", "before", "after")
        return {name: getattr(self, name) for name in names} | {"ahead": [event._asdict() for event in self.ahead]}


class ErasedEvent(NamedTuple):
    """The id and hash of an erased event, which stay stored."""

    event_id: str
    event_hash: str


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten, or in a dry run would be.

    - ``events`` lost their content, and so did the task records that they reported (``records``).
    - ``artifacts``, ``memories``, ``relations`` and ``entities`` lost their last evidence and are deprecated. Artifacts
      compiled from a session that lost an event are deprecated, too, whatever evidence remains: they keep id and hash,
      and the next compilation learns again from the remaining events.
    - ``sessions`` is the number of sessions that the events belong to.
    - ``remaining`` is the number of selected events that still have content; 0 proves that everything was erased.
    - ``shared_sessions`` are sessions of the forgotten user that also contain answers, tool calls or messages of other
      users. These may repeat what the user said, and were not erased. Nothing but this report can list these sessions,
      because an erased event no longer names its user.
    """

    tenant_id: str
    criteria: dict[str, Any]
    dry_run: bool
    events: tuple[ErasedEvent, ...] = ()
    sessions: int = 0
    shared_sessions: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    remaining: int = 0

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        return asdict(self) | {"events": [event._asdict() for event in self.events]}


# Compilation.


@dataclass(frozen=True, slots=True)
class ReportedChange:
    """One change of an artifact, with its reason."""

    action: str
    artifact_type: str
    artifact_id: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompileReport(HtmlTable):
    """The outcome of a compilation: numbers of changes by artifact type, and seconds by stage.

    - ``changes`` lists the changes, without the artifacts that stayed the same.
    - ``sessions`` is the number of sessions learned from; ``older`` says whether older ones were left out (see
      ``max_sessions`` of :class:`CompilerProfile`).
    - ``summarised`` is the number of sessions that this run read, ``events`` the number of their events.
    - ``without_outcome`` is the number of ``sessions`` whose outcome is unknown, ``shortened`` the number of
      ``sessions`` that are so long that steps in the middle were skipped.
    - ``near_duplicates`` is the number of learned patterns that were left out because a similar one was kept.
    - ``no_material`` holds sentences that say what could not be learned or stays a draft, and why.
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
    skipped: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[ReportedChange, ...] = ()
    near_duplicates: int = 0
    without_outcome: int = 0
    no_material: tuple[str, ...] = ()
    shortened: int = 0
    older: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether any artifact was changed, or in a dry run would be."""
        return any(change.action not in {"unchanged", "skipped"} for change in self.changes)

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        return {
            "tenant_id": self.tenant_id,
            "profile": self.profile,
            "as_of": None if self.as_of_us is None else iso(self.as_of_us),
            "sessions": self.sessions,
            "older": self.older,
            "summarised": self.summarised,
            "events": self.events,
            "full": self.full,
            "dry_run": self.dry_run,
            **{name: dict(getattr(self, name)) for name in COUNT_FIELDS},
            "changes": [asdict(change) for change in self.changes],
            "near_duplicates": self.near_duplicates,
            "without_outcome": self.without_outcome,
            "no_material": list(self.no_material),
            "shortened": self.shortened,
            "seconds": dict(self.seconds),
        }


# The fields of a compilation report that count artifacts by type.
COUNT_FIELDS = ("created", "updated", "unchanged", "deprecated", "skipped")


# Verification.

Level: TypeAlias = Literal["wrong", "missing"]


class Finding(NamedTuple):
    """One inconsistency found by a check.

    Level ``wrong``: stored data contradicts itself in a hash, a counter, a chain or a link. Level ``missing``: a record
    names something that is not stored or not linked. That can be legitimate, if the evidence arrived later or never.
    """

    check: str
    kind: str
    record_id: str
    actual: str
    expected: str
    level: Level = "wrong"


@dataclass(frozen=True, slots=True)
class VerifyReport(HtmlTable):
    """The number of ``checked`` records of each kind, and all findings; verification repairs nothing."""

    tenant_id: str
    checked: Mapping[str, int]
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings of level ``wrong``."""
        return tuple(finding for finding in self.findings if finding.level == "wrong")

    @property
    def missing(self) -> tuple[Finding, ...]:
        """The findings of level ``missing``."""
        return tuple(finding for finding in self.findings if finding.level == "missing")

    @property
    def ok(self) -> bool:
        """Whether no finding is ``wrong``."""
        return not self.wrong

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        return {
            "tenant_id": self.tenant_id,
            "ok": self.ok,
            "checked": dict(self.checked),
            "findings": [finding._asdict() for finding in self.findings],
        }


# Reports on fingerprints.


@dataclass(frozen=True, slots=True)
class ImportReport(HtmlTable):
    """The outcome of importing an envelope.

    ``outcome`` is ``imported`` (drafts were stored) or ``unchanged`` (it was imported before; nothing was written).
    ``created_ids`` are the new drafts, ``known_ids`` the artifacts of the envelope that were stored before with the
    same content: if the import is unchanged, all of them.
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
class WithdrawnImport:
    """A withdrawn import: the artifacts that were deprecated with it, and those kept because of other evidence."""

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


# Backups.


@dataclass(frozen=True, slots=True)
class BackupReport(HtmlTable):
    """A tenant's backup: its file and ``size`` in bytes, its counts, and the hash of the graph digest (HMX-F 5)."""

    tenant_id: str
    path: str
    nodes: int
    relationships: int
    size: int
    digest: str

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RestoreReport(HtmlTable):
    """The outcome of a restore.

    ``same_digest`` says whether the restored graph has the digest of the backup; None if the backup was restored under
    another tenant, which changes the digest.
    """

    tenant_id: str
    path: str
    nodes: int
    relationships: int
    digest: str
    same_digest: bool | None
    verified: VerifyReport

    @property
    def ok(self) -> bool:
        """Whether the digest, if comparable, is unchanged and no finding is ``wrong``."""
        return self.same_digest is not False and self.verified.ok

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "verified"}
        return fields | {"ok": self.ok, "verified": self.verified.document()}
