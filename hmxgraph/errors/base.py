"""What every error of hmxgraph is, and the faults that a refused document carries."""

from typing import NamedTuple


class Fault(NamedTuple):
    """One thing wrong with a document: where, by which clause, what was found and what would be right."""

    path: str
    clause: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected} ({self.clause})"


class HmxGraphError(Exception):
    """Base of all errors raised by hmxgraph."""
