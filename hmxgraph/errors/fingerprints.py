"""Fingerprints that cannot be trusted (HMX-F 10, 13)."""

from hmxgraph.errors.base import HmxGraphError


class FingerprintError(HmxGraphError, ValueError):
    """A fingerprint that cannot be trusted; nothing was written."""


class FingerprintRefused(FingerprintError):
    """A check failed before or after the hashes: size, json, format, structure, key."""

    def __init__(self, check: str, reason: str, way_out: str = "nothing was written") -> None:
        super().__init__(check, reason, way_out)
        self.check = check
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"check {self.check!r} failed: {self.reason}; {self.way_out}"


class HashMismatch(FingerprintError):
    """A hash that does not match the bytes it covers."""

    def __init__(self, name: str, stated: str, computed: str) -> None:
        super().__init__(name, stated, computed)
        self.name = name
        self.stated = stated
        self.computed = computed

    def __str__(self) -> str:
        return (
            f"{self.name} does not match: stated {self.stated}, computed {self.computed}; ask for it again (HMX-F 10)"
        )


class SignatureMismatch(FingerprintError):
    """A signature that is missing, by a key that is not pinned, or wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"signature refused: {self.reason}"


class UnsupportedVersion(FingerprintError):
    """A protocol, envelope or document version that this release cannot read."""

    def __init__(self, field: str, found: str, supported: str) -> None:
        super().__init__(field, found, supported)
        self.field = field
        self.found = found
        self.supported = supported

    def __str__(self) -> str:
        return f"{self.field} {self.found} is not supported; this release reads {self.supported} (HMX-F 13)"
