"""Verify envelopes (fingerprints with hashes and signature): the first failing check is reported (HMX-F 10, 13)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hmxgraph.errors import (
    FingerprintRefused,
    HashMismatch,
    InvalidDocument,
    InvalidTime,
    MalformedJson,
    UnsupportedVersion,
)
from hmxgraph.fingerprint._migration import computed_hash, migrated, readable, stated_hash, version_of
from hmxgraph.fingerprint.signing import COPIED, check_signature
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.fingerprints import (
    ENVELOPE_FORMAT,
    ENVELOPE_VERSION,
    FINGERPRINT_VERSION,
    Envelope,
    Fingerprint,
    Signature,
    integrity_hash,
)
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import REPRESENTABLE, is_representable, microseconds

# About ten times the limit of the largest tier, to allow for indentation and larger limits in later versions.
MOST_BYTES = 1024 * 1024
EnvelopeSource: TypeAlias = bytes | bytearray | str | Mapping[str, Any] | Envelope
_GET_AGAIN = "get the file again from its sender"
_GIVE_ENVELOPE = "give a file that hmxgraph fingerprint export wrote"
# Exported envelopes begin with this field, so that even a truncated file is recognised as an envelope.
_ENVELOPE_FIELD = b"envelope_version"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verified envelope and its fingerprint, converted to this version."""

    envelope: Envelope
    fingerprint: Fingerprint
    signed_by: str | None
    expired: bool
    migration_steps: tuple[str, ...]
    warnings: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The verdict as a dict for JSON."""
        return {
            "verdict": "expired" if self.expired else "verified",
            "fingerprint_id": self.fingerprint.fingerprint_id,
            "fingerprint_hash": self.fingerprint.fingerprint_hash,
            "integrity_hash": self.envelope.integrity_hash,
            "tenant_id": self.fingerprint.tenant_id,
            "compression_tier": self.fingerprint.compression_tier,
            "created_at": self.fingerprint.created_at,
            "expires_at": self.fingerprint.expires_at,
            "exported_by": self.envelope.exported_by,
            "signed_by": self.signed_by,
            "migration_steps": list(self.migration_steps),
            "warnings": list(self.warnings),
        }


def verify(
    source: EnvelopeSource, *, signature: Signature | None = None, trusted: Iterable[str] = (), at_us: int | None = None
) -> Verdict:
    """The verdict on *source*, an envelope as text or document; the first failing check raises.

    The checks, in order: size and JSON (of a text), format, versions, both hashes (HMX-F 10), structure of the
    envelope, the copies of its fields in the metadata, signature, structure of the migrated fingerprint, all times.

    *signature* is a detached signature; if it is None, the signature in the envelope is checked. *trusted* lists the
    public keys to accept; if it is empty, any key is accepted, and so is an unsigned envelope. *at_us* is the time at
    which the fingerprint may have expired; without it, expiry is not checked.

    Raises:
        FingerprintRefused: the failed check is size, json, format, structure or envelope (a field was changed).
        UnsupportedVersion: hmx_version, envelope_version or fingerprint_version is not supported.
        HashMismatch: fingerprint_hash or integrity_hash does not match.
        SignatureMismatch: the signature is wrong, or keys are trusted and it is missing or made with another key.

    """
    document = _document(source)
    fingerprint_document = _fingerprint_in(document)
    _check_versions(document, fingerprint_document)
    _check_hashes(document, fingerprint_document)
    envelope = _structured(Envelope, document)
    _check_copied_fields(envelope)
    signed_by = check_signature(envelope, signature or envelope.signature, trusted)
    readable_document, steps, warnings = _in_this_version(fingerprint_document)
    fingerprint = _structured(Fingerprint, readable_document)
    _check_times(envelope, fingerprint)
    verdict = Verdict(envelope, fingerprint, signed_by, expired=False, migration_steps=steps, warnings=warnings)
    return with_expiry(verdict, at_us)


def with_expiry(verdict: Verdict, at_us: int | None) -> Verdict:
    """*verdict*, marked as expired and with a warning if its fingerprint expired before *at_us*."""
    expires_at = verdict.fingerprint.expires_at
    if verdict.expired or at_us is None or expires_at is None or microseconds(expires_at) >= at_us:
        return verdict
    return replace(verdict, expired=True, warnings=(*verdict.warnings, f"expired at {expires_at}"))


def _document(source: EnvelopeSource) -> Mapping[str, Any]:
    """The envelope as a JSON object; a text of more than `MOST_BYTES` is refused unparsed."""
    if isinstance(source, Envelope):
        return source.document()
    if isinstance(source, Mapping):
        return source
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    if len(data) > MOST_BYTES:
        raise FingerprintRefused("size", f"{len(data)} bytes, more than {MOST_BYTES}", _GIVE_ENVELOPE)
    try:
        document = parse_json(source)
    except MalformedJson as error:
        if _ENVELOPE_FIELD in data:
            raise FingerprintRefused("json", str(error), _GET_AGAIN) from error
        raise FingerprintRefused("json", f"this is no fingerprint ({error})", _GIVE_ENVELOPE) from error
    if not isinstance(document, Mapping):
        raise FingerprintRefused("format", "this is no fingerprint (not a JSON object)", _GIVE_ENVELOPE)
    return document


def _fingerprint_in(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fingerprint in an envelope, not yet migrated to this version."""
    if document.get("format") != ENVELOPE_FORMAT:
        format_fault = f"this is no fingerprint (format {document.get('format')!r} instead of {ENVELOPE_FORMAT!r})"
        raise FingerprintRefused("format", format_fault, "a fingerprint travels in an envelope (HMX-F 10)")
    fingerprint_document = document.get("fingerprint")
    if not isinstance(fingerprint_document, Mapping):
        raise FingerprintRefused("structure", "there is no object 'fingerprint' (HMX-F 10)", _GET_AGAIN)
    return fingerprint_document


def _check_versions(document: Mapping[str, Any], fingerprint_document: Mapping[str, Any]) -> None:
    if document.get("envelope_version") != ENVELOPE_VERSION:
        raise UnsupportedVersion("envelope_version", repr(document.get("envelope_version")), str(ENVELOPE_VERSION))
    for hmx_version in (
        document.get("hmx_version"),
        fingerprint_document.get("hmx_version", fingerprint_document.get("hmxVersion")),
    ):
        if hmx_version != HMX_VERSION:
            raise UnsupportedVersion("hmx_version", repr(hmx_version), HMX_VERSION)
    version = version_of(fingerprint_document)
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise UnsupportedVersion("fingerprint_version", repr(version), f"0 to {FINGERPRINT_VERSION}, and newer ones")


def _check_hashes(document: Mapping[str, Any], fingerprint_document: Mapping[str, Any]) -> None:
    hashes = {
        "fingerprint_hash": (stated_hash(fingerprint_document), computed_hash),
        "integrity_hash": (document.get("integrity_hash"), integrity_hash),
    }
    for name, (stated, compute) in hashes.items():
        if not isinstance(stated, str):
            raise FingerprintRefused("structure", f"there is no {name!r} (HMX-F 10)", _GET_AGAIN)
        if stated != (computed := _computed(compute, fingerprint_document)):
            raise HashMismatch(name, stated, computed)


def _computed(compute: Any, fingerprint_document: Mapping[str, Any]) -> str:
    try:
        return str(compute(fingerprint_document))
    except ValueError as error:
        raise FingerprintRefused("json", f"it has no canonical form: {error}", _GET_AGAIN) from error


def _check_copied_fields(envelope: Envelope) -> None:
    """Compare the envelope's own fields with their copies in the metadata, which the integrity hash covers."""
    metadata = envelope.fingerprint.get("metadata")
    copied = metadata.get("envelope") if isinstance(metadata, Mapping) else None
    if not isinstance(copied, Mapping):
        return
    for name in COPIED:
        if name in copied and copied[name] != getattr(envelope, name):
            raise FingerprintRefused("envelope", f"{name} was changed after the export", _GET_AGAIN)


def _check_times(envelope: Envelope, fingerprint: Fingerprint) -> None:
    """Refuse times outside the years 1 to 9999 in UTC: an offset can move a valid date-time just beyond them."""
    times = {name: getattr(fingerprint, name) for name in ("created_at", "expires_at")}
    for name, time in {**times, "exported_at": envelope.exported_at}.items():
        if time is not None and not _is_representable_time(time):
            raise FingerprintRefused("structure", f"{name} {time!r} is not {REPRESENTABLE}", _GET_AGAIN)


def _is_representable_time(time: str) -> bool:
    try:
        return is_representable(microseconds(time))
    except InvalidTime:
        return False


def _in_this_version(
    fingerprint_document: Mapping[str, Any],
) -> tuple[Mapping[str, Any], tuple[str, ...], tuple[str, ...]]:
    """The fingerprint in this version, the names of the migration steps, and warnings."""
    version = version_of(fingerprint_document)
    if version > FINGERPRINT_VERSION:
        document, warnings = readable(fingerprint_document)
        return document, (), warnings
    migration = migrated(fingerprint_document)
    steps = migration.steps
    return (
        migration.document,
        steps,
        (f"fingerprint_version {version} was migrated: {', '.join(steps)}",) if steps else (),
    )


def _structured(kind: Any, document: Mapping[str, Any]) -> Any:
    try:
        return kind.parse(document)
    except InvalidDocument as error:
        raise FingerprintRefused("structure", str(error), _GET_AGAIN) from error
