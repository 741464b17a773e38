"""What a verification found: how much was looked at, and what is not as it must be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.showing import Shown

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
