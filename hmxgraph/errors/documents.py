"""Documents and sources that cannot be accepted, and files that cannot be written."""

from hmxgraph.errors.base import Fault, HmxGraphError


class DocumentError(HmxGraphError, ValueError):
    """A document could not be accepted."""


class MalformedJson(DocumentError):
    """Text that is not strict JSON (RFC 8259, I-JSON numbers, no duplicate keys)."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason, position)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f" at byte {self.position}"
        return f"not strict JSON{place}: {self.reason}"


class NotCanonical(DocumentError):
    """A value without a canonical form (RFC 8785): NaN, infinity, lone surrogate, integer beyond 2^53-1, no JSON."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no canonical JSON for this value: {self.reason}"


class InvalidDocument(DocumentError):
    """A document that breaks its specification, with all faults at once."""

    def __init__(self, kind: str, document_id: str, faults: tuple[Fault, ...]) -> None:
        super().__init__(kind, document_id, faults)
        self.kind = kind
        self.document_id = document_id
        self.faults = faults

    def __str__(self) -> str:
        name = f"{self.kind} {self.document_id!r}" if self.document_id else self.kind
        told = [str(fault) for fault in self.faults[:20]]
        if len(self.faults) > len(told):
            told.append(f"and {len(self.faults) - len(told)} more")
        return f"{name}: " + "; ".join(told)


class IngestRefused(HmxGraphError, ValueError):
    """A source that cannot be read, or the first bad line where the caller asked for strictness."""

    def __init__(self, source: str, reason: str, line: int | None = None) -> None:
        super().__init__(source, reason, line)
        self.source = source
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.reason}"


class NotWritten(HmxGraphError, OSError):
    """A file that a caller asked for and that cannot stand there."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} cannot be written ({self.reason}); choose another place"
