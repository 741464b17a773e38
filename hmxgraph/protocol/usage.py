"""Usage of a tenant by hour, and its stored compilations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.protocol.timestamps import iso

HOUR_US = 3_600_000_000
COUNTERS = ("ingested", "duplicates", "errors", "syntheses", "compilations")


@dataclass(frozen=True, slots=True)
class UsageHour:
    """What a server counted in one hour: events sent to the server, packs (``syntheses``) and compilations.

    Each event counts as ``ingested`` (newly stored), as one of the ``duplicates``, or as one of the ``errors``
    (rejected events).
    """

    hour_us: int
    ingested: int = 0
    duplicates: int = 0
    errors: int = 0
    syntheses: int = 0
    compilations: int = 0

    def document(self) -> dict[str, Any]:
        """The hour as a JSON-able dict."""
        return {"hour": iso(self.hour_us), **{name: getattr(self, name) for name in COUNTERS}}


@dataclass(frozen=True, slots=True)
class CompileRun:
    """A stored compilation: its id, its tenant, when it ended, and its report as a document."""

    run_id: str
    tenant_id: str
    finished_us: int
    report: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The run as a JSON-able dict."""
        return {
            "run_id": self.run_id,
            "tenant_id": self.tenant_id,
            "finished_at": iso(self.finished_us),
            "report": dict(self.report),
        }


def hour_of(time_us: int) -> int:
    """The start of the hour that contains *time_us*.

    >>> hour_of(HOUR_US + 5) == HOUR_US
    True
    """
    return time_us - time_us % HOUR_US
