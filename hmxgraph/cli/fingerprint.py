"""The commands ``hmxgraph fingerprint``: export, verify, import, withdraw, show and compare fingerprints, make keys.

A fingerprint is learned memory in a portable file. The file contains an *envelope*: the fingerprint and its hashes. The
signature is in a separate file.
"""

import os
import secrets
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hmxgraph.api._base import as_us
from hmxgraph.cli._fingerprint_tables import diff_tables, export_table, fingerprint_tables, import_table, verdict_table
from hmxgraph.cli._terminal import ACTIVATE, AsJson, Tenant, emit, err, full_id, opened, out
from hmxgraph.errors import FingerprintRefused
from hmxgraph.fingerprint.diff import diff as compare
from hmxgraph.fingerprint.signing import SigningKey, parse_signature
from hmxgraph.fingerprint.verify import MOST_BYTES, Verdict, verify
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.fingerprints import Envelope, Signature

# Reading and writing files: envelopes, detached signatures and keys.

_STANDARD_INPUT = Path("-")


def _read_envelope(file: Path) -> bytes:
    """The bytes of an envelope; of a file that is too large, one byte more than the limit, so that `verify` refuses it.

    Raises:
        FingerprintRefused: the file cannot be read.

    """
    try:
        if file == _STANDARD_INPUT:
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with file.open("rb") as source:
            return source.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(file, error) from error


def _read_signature(envelope: Path, path: Path | None) -> Signature | None:
    """The detached signature at *path*; without *path*, that in ``FILE.sig`` next to the envelope, None if missing.

    Raises:
        FingerprintRefused: the file cannot be read.
        SignatureMismatch: the file is not a signature.

    """
    file = path or Path(f"{envelope}.sig")
    if path is None and not file.is_file():
        return None
    return parse_signature(_bytes(file))


def _read_key(file: Path) -> SigningKey:
    """The private key in *file*.

    Raises:
        FingerprintRefused: the file cannot be read or is not an Ed25519 key.

    """
    return SigningKey.of_pem(_bytes(file))


def _trusted_key(key_or_path: str) -> str:
    """A public key in hexadecimal, given as such or as the path of a ``.pub`` file."""
    file = Path(key_or_path)
    return _bytes(file).decode("ascii", "replace").strip() if file.suffix == ".pub" else key_or_path


def _write_files(file: Path, envelope: Envelope, key: SigningKey | None) -> bytes:
    """Write *envelope* to *file* and return its bytes; with *key*, write its signature to ``FILE.sig``.

    Without a key, an older ``FILE.sig`` is removed, because it would not match the new file.
    """
    data = envelope.to_json().encode()
    signature_file = Path(f"{file}.sig")
    try:
        _replace(file, data)
        signature_file.unlink(missing_ok=True)
        if key is not None:
            _replace(signature_file, f"{canonical_text(key.sign(envelope).model_dump())}\n".encode())
    except OSError as error:
        raise FingerprintRefused("file", f"{file}: {error.strerror}", "choose another --out") from error
    return data


def _replace(file: Path, data: bytes) -> None:
    """Replace the contents of *file* with *data* atomically; a special file such as a pipe is written directly."""
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    target = file.resolve()
    partial = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        partial.write_bytes(data)
        if target.exists():
            shutil.copymode(target, partial)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _write_key_files(file: Path, key: SigningKey) -> tuple[Path, Path]:
    """Write the private key (readable by its owner only) and the public key, and return both paths.

    Raises:
        FingerprintRefused: a file already exists or cannot be written; in that case, neither file is created.

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
    """Write *data* to a *file* that must not exist yet; an incomplete file is removed."""
    created = False
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as target:
            created = True
            target.write(data)
    except FileExistsError as error:
        raise FingerprintRefused("file", f"{file} exists", "a key is never overwritten: choose another name") from error
    except OSError as error:
        if created:
            file.unlink(missing_ok=True)
        raise FingerprintRefused("file", f"{file}: {error.strerror}", "choose another name") from error


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: OSError) -> FingerprintRefused:
    return FingerprintRefused("file", f"{file}: {error.strerror}", "check the path")


# The commands.

app = typer.Typer(no_args_is_help=True, help="Learned memory in a portable file: export, verify, import, diff.")

_EnvelopeFile = Annotated[Path, typer.Argument(metavar="FILE", help="File of an envelope; - for standard input.")]
_SignatureFile = Annotated[
    Path | None,
    typer.Option("--signature", "-s", help="File of the detached signature; default: FILE.sig, if it exists."),
]
_Trusted = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        envvar="HMXGRAPH_TRUSTED_KEYS",
        help="Require a signature by this public key (hexadecimal, or a .pub file); can be repeated.",
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", help="Judge expiry at this time (ISO 8601); default: now (import: the tenant's logical time)."
    ),
]
_DRAFTS = "Drafts stay out of packs until your own events confirm every step, or you activate them:"


@app.command()
def export(
    file: Annotated[Path | None, typer.Option("--out", "-o", help="Output file; default: standard output.")] = None,
    tier: Annotated[str, typer.Option(help="full (100 KB), compact (50 KB) or minimal (10 KB).")] = "full",
    key: Annotated[
        Path | None, typer.Option(help="Sign with this private key; the signature goes to FILE.sig.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="The agent that this memory belongs to.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag for the fingerprint; can be repeated.")] = None,
    expires: Annotated[str | None, typer.Option(help="Expires at this time (ISO 8601 with offset).")] = None,
    allow_list: Annotated[
        bool,
        typer.Option(
            "--allow-list",
            help="Keep only tool names, the compiler's wording, stop words, short numbers, words from several users.",
        ),
    ] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Export learned memory as an envelope, without events; rules mask secrets and private names."""
    if key is not None and file is None:
        raise typer.BadParameter("a signature is written next to the envelope: add --out FILE", param_hint="--key")
    signing_key = _read_key(key) if key else None
    with opened(tenant) as graph:
        envelope = graph.export_fingerprint(
            tier=tier, agent_id=agent, tags=tag or (), expires_at=expires, allow_list=allow_list
        )
    if file is None:
        typer.echo(envelope.to_json())
        return
    data = _write_files(file, envelope, signing_key)
    verdict = verify(envelope)
    document = verdict.document() | {"file": str(file), "bytes": len(data)}
    emit(document, as_json, lambda: out.print(export_table(verdict, file, len(data), signing_key)))


@app.command(name="verify")
def verify_file(
    file: _EnvelopeFile,
    signature: _SignatureFile = None,
    trust: _Trusted = None,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Check hashes, signature, version and structure; the error names the first check that fails.

    A file has no tenant, so its expiry is judged by the current time. An import judges expiry by the tenant's logical
    time, which may differ; give both commands the same --at to get the same result.
    """
    verdict = _verdict(file, signature, trust, at)
    emit(verdict.document(), as_json, lambda: out.print(verdict_table(verdict)))


@app.command(name="import")
def import_file(
    file: _EnvelopeFile,
    signature: _SignatureFile = None,
    trust: _Trusted = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Import the artifacts of an envelope as drafts; a repeated import changes nothing unless it was withdrawn."""
    data, detached = _read_envelope(file), _read_signature(file, signature)
    trusted = [_trusted_key(key) for key in trust or ()]
    with opened(tenant) as graph:
        report = graph.import_fingerprint(data, signature=detached, trusted_keys=trusted, at=at)
    emit(report.document(), as_json, lambda: out.print(import_table(report)))
    if report.created_ids:
        err.print(f"{_DRAFTS} {ACTIVATE}", style="dim", highlight=False, soft_wrap=True)


@app.command(name="take-back")
def take_back(
    import_id: Annotated[str, typer.Argument(help="Id of the import, or of its fingerprint.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Withdraw an import: artifacts without other evidence are deprecated, and its priors no longer apply."""
    with opened(tenant) as graph:
        withdrawn = graph.take_back_import(full_id(graph, import_id))
    line = f"{len(withdrawn.deprecated_ids)} deprecated, {len(withdrawn.kept_ids)} kept because of other evidence"
    emit(withdrawn.document(), as_json, lambda: out.print(line))


@app.command()
def show(file: _EnvelopeFile, as_json: AsJson = False) -> None:
    """Verify an envelope and show its contents."""
    verdict = _verdict(file, None, None, None)
    document = verdict.fingerprint.document()
    emit(document, as_json, lambda: _print_all(fingerprint_tables(verdict)))


@app.command()
def diff(before: _EnvelopeFile, after: _EnvelopeFile, as_json: AsJson = False) -> None:
    """Compare two envelopes: changed summaries, then changed numbers."""
    first, second = (_verdict(file, None, None, None).fingerprint for file in (before, after))
    changes = compare(first, second)
    emit(changes.document(), as_json, lambda: _print_all(diff_tables(changes)))


@app.command()
def keygen(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File for the private key; the public key goes to FILE.pub.")
    ],
    as_json: AsJson = False,
) -> None:
    """Generate a key pair for signing envelopes; share FILE.pub with those who import them."""
    key = SigningKey(secrets.token_bytes(32))
    private, public = _write_key_files(file, key)
    document = {"private_key_file": str(private), "public_key_file": str(public), "public_key": key.public_key}
    emit(document, as_json, lambda: typer.echo(f"{private}: private key\n{public}: {key.public_key}"))


def _print_all(tables: Iterable[Table]) -> None:
    """Print *tables* one below the other."""
    for table in tables:
        out.print(table)


def _verdict(file: Path, signature: Path | None, trust: list[str] | None, at: str | None) -> Verdict:
    return verify(
        _read_envelope(file),
        signature=_read_signature(file, signature),
        trusted=[_trusted_key(key) for key in trust or ()],
        at_us=as_us(at or datetime.now(UTC)),
    )
