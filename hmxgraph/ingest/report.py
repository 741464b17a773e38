"""What became of each line: accepted, known already, in conflict, rejected with all its faults."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hmxgraph.errors import Fault
from hmxgraph.protocol.showing import Shown


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
