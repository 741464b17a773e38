"""Sealing a fingerprint into an envelope, and detached Ed25519 signatures (HMX-F 11, RFC 8032)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from hmxgraph.errors import FingerprintRefused, SignatureMismatch
from hmxgraph.fingerprint.state import ExportOptions
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.fingerprints import (
    ENVELOPE_FORMAT,
    ENVELOPE_VERSION,
    Envelope,
    Signature,
    fingerprint_hash,
    integrity_hash,
)
from hmxgraph.protocol.parsing import parse_json

# Sealing, steps 9 and 10 of HMX-F 11: ids, both hashes, the envelope.

# Envelope fields that are copied into the fingerprint's metadata, because the integrity hash covers the fingerprint
# only.
COPIED = ("exported_at", "exported_by")


def sealed(document: Mapping[str, Any], options: ExportOptions) -> Envelope:
    """The envelope around the fingerprint *document*, with its id and its ``fingerprint_hash`` added.

    ``exported_at`` is the time of the exported state, not of the call, so that the same state gives the same bytes.
    """
    origin = {"exported_at": document["created_at"], "exported_by": options.exported_by}
    hashed = fingerprint_hash(document)
    fingerprint = {
        **document,
        "fingerprint_id": stable_id("fingerprint", document["tenant_id"], document["created_at"], hashed),
        "fingerprint_hash": hashed,
        "metadata": {**document["metadata"], "envelope": origin},
    }
    return Envelope(
        format=ENVELOPE_FORMAT,
        envelope_version=ENVELOPE_VERSION,
        hmx_version=HMX_VERSION,
        fingerprint=fingerprint,
        integrity_hash=integrity_hash(fingerprint),
        **origin,
    )


# Signatures: Ed25519 (RFC 8032) over the canonical bytes of the envelope.

_ALGORITHM = "Ed25519"
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key; its repr does not show it."""

    seed: bytes = field(repr=False)

    @classmethod
    def of_pem(cls, pem: bytes) -> "SigningKey":
        """The key in an unencrypted PKCS 8 file, as :meth:`pem` and ``openssl genpkey`` write it.

        Raises:
            FingerprintRefused: *pem* is not an unencrypted private key, or not an Ed25519 key.

        """
        way_out = "generate one with hmxgraph fingerprint keygen"
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise FingerprintRefused("key", "not an unencrypted PKCS 8 private key", way_out) from error
        if not isinstance(key, Ed25519PrivateKey):
            raise FingerprintRefused("key", "not an Ed25519 key", way_out)
        return cls(key.private_bytes_raw())

    @property
    def public_key(self) -> str:
        """The public key in hexadecimal, for importers to pin.

        >>> SigningKey(bytes(32)).public_key[:16]
        '3b6a27bcceb6a42d'

        """
        return self._key.public_key().public_bytes_raw().hex()

    def pem(self) -> bytes:
        """The key as the content of a PKCS 8 file, which only its owner should be able to read."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, envelope: Envelope) -> Signature:
        """The signature of the canonical bytes of *envelope* without its ``signature`` field."""
        value = self._key.sign(envelope.signed_bytes()).hex()
        return Signature(algorithm=_ALGORITHM, public_key=self.public_key, value=value)

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def parse_signature(data: bytes | str) -> Signature:
    """The signature in *data*, the content of a detached signature file.

    Raises:
        SignatureMismatch: *data* is not an Ed25519 signature.

    """
    try:
        signature = Signature(**parse_json(data))
        if signature.algorithm == _ALGORITHM and _hexadecimal(signature.public_key, _KEY_BYTES):
            return signature
    except (ValueError, TypeError) as error:
        raise SignatureMismatch("the file is not a signature; get it again from the exporter") from error
    raise SignatureMismatch(f"only {_ALGORITHM} signatures with a key of {_KEY_BYTES} bytes are supported")


def check_signature(envelope: Envelope, signature: Signature | None, trusted: Iterable[str]) -> str | None:
    """The public key that signed *envelope*; None if there is neither a signature nor a pinned key.

    Raises:
        SignatureMismatch: the signature is wrong, or keys are pinned and it is missing or made with another key.

    """
    pinned = frozenset(key.strip().lower() for key in trusted)
    if signature is None:
        if pinned:
            raise SignatureMismatch("keys are pinned but the envelope is not signed; ask its exporter to sign it")
        return None
    if pinned and signature.public_key not in pinned:
        raise SignatureMismatch(f"signed by {signature.public_key}, which is not pinned; pin it if you trust it")
    if not _is_valid(envelope.signed_bytes(), signature):
        raise SignatureMismatch("the signature does not match the envelope; get both files again from the exporter")
    return signature.public_key


def _is_valid(message: bytes, signature: Signature) -> bool:
    if not (_hexadecimal(signature.public_key, _KEY_BYTES) and _hexadecimal(signature.value, _SIGNATURE_BYTES)):
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        key.verify(bytes.fromhex(signature.value), message)
    except InvalidSignature:
        return False
    return True


def _hexadecimal(text: str, size: int) -> bool:
    """Whether *text* is *size* bytes in hexadecimal, in lower case."""
    return len(text) == 2 * size and all(character in "0123456789abcdef" for character in text)
