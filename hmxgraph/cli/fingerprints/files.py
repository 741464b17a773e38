"""The files of the fingerprint commands: envelopes, detached signatures, keys."""

import os
import secrets
import shutil
import sys
from pathlib import Path

from hmxgraph.errors import FingerprintRefused
from hmxgraph.fingerprint.signing import SigningKey, parse_signature
from hmxgraph.fingerprint.verify import MOST_BYTES
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.fingerprint_parts import Signature
from hmxgraph.protocol.fingerprints import Envelope

STANDARD_INPUT = Path("-")


def read_envelope(file: Path) -> bytes:
    """The bytes of an envelope, and never more than an envelope can have.

    Raises:
        FingerprintRefused: the file cannot be read.

    """
    try:
        if file == STANDARD_INPUT:
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with file.open("rb") as source:
            return source.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(file, error) from error


def read_signature(envelope: Path, given: Path | None) -> Signature | None:
    """The detached signature at *given*, else beside the envelope where there is one.

    Raises:
        FingerprintRefused: the file cannot be read.
        SignatureMismatch: it holds no signature.

    """
    file = given or Path(f"{envelope}.sig")
    if given is None and not file.is_file():
        return None
    return parse_signature(_bytes(file))


def read_key(file: Path) -> SigningKey:
    """The private key in a file.

    Raises:
        FingerprintRefused: the file cannot be read or holds no Ed25519 key.

    """
    return SigningKey.of_pem(_bytes(file))


def trusted_key(given: str) -> str:
    """A public key in hexadecimal, given as such or as the file that holds it."""
    file = Path(given)
    return _bytes(file).decode("ascii", "replace").strip() if file.suffix == ".pub" else given


def write_files(file: Path, envelope: Envelope, key: SigningKey | None) -> bytes:
    """The bytes of *envelope*, written to *file*; with a key its signature to ``FILE.sig``, else none is left there."""
    data = envelope.to_json().encode()
    beside = Path(f"{file}.sig")
    try:
        _put(file, data)
        beside.unlink(missing_ok=True)
        if key is not None:
            _put(beside, f"{canonical_text(key.sign(envelope).model_dump())}\n".encode())
    except OSError as error:
        raise FingerprintRefused("file", f"{file}: {error.strerror}", "choose another --out") from error
    return data


def _put(file: Path, data: bytes) -> None:
    """Put *data* in the place of *file*, whole or not at all; what is no plain file, such as a pipe, is written to."""
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    target = file.resolve()
    aside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        aside.write_bytes(data)
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def key_files(file: Path, key: SigningKey) -> tuple[Path, Path]:
    """The two files that now hold the private key (readable by its owner only) and the public one.

    Raises:
        FingerprintRefused: one of them exists already, or cannot be written; then none is left.

    """
    public = Path(f"{file}.pub")
    _new_file(file, key.pem(), 0o600)
    try:
        _new_file(public, f"{key.public_key}\n".encode("ascii"), 0o666)
    except FingerprintRefused:
        file.unlink()
        raise
    return file, public


def _new_file(file: Path, data: bytes, mode: int) -> None:
    """Write *data* to a *file* that was not there before; half of it is not left."""
    made = False
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as target:
            made = True
            target.write(data)
    except FileExistsError as error:
        raise FingerprintRefused("file", f"{file} exists", "a key is never overwritten: choose another name") from error
    except OSError as error:
        if made:
            file.unlink(missing_ok=True)
        raise FingerprintRefused("file", f"{file}: {error.strerror}", "choose another name") from error


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: OSError) -> FingerprintRefused:
    return FingerprintRefused("file", f"{file}: {error.strerror}", "check the path")
