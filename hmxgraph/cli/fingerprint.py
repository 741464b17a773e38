"""``hmxgraph fingerprint``: export, check, import, show and compare."""

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
from hmxgraph.cli._terminal import ACTIVATE, AsJson, Tenant, emit, err, opened, out
from hmxgraph.errors import FingerprintRefused
from hmxgraph.fingerprint.diff import diff as compare
from hmxgraph.fingerprint.signing import SigningKey, parse_signature
from hmxgraph.fingerprint.verify import MOST_BYTES, Verdict, verify
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.fingerprints import Envelope, Signature

# The files of the fingerprint commands: envelopes, detached signatures, keys.

_STANDARD_INPUT = Path("-")


def _read_envelope(file: Path) -> bytes:
    """The bytes of an envelope, and never more than an envelope can have.

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


def _read_signature(envelope: Path, given: Path | None) -> Signature | None:
    """The detached signature at *given*, else beside the envelope where there is one.

    Raises:
        FingerprintRefused: the file cannot be read.
        SignatureMismatch: it holds no signature.

    """
    file = given or Path(f"{envelope}.sig")
    if given is None and not file.is_file():
        return None
    return parse_signature(_bytes(file))


def _read_key(file: Path) -> SigningKey:
    """The private key in a file.

    Raises:
        FingerprintRefused: the file cannot be read or holds no Ed25519 key.

    """
    return SigningKey.of_pem(_bytes(file))


def _trusted_key(given: str) -> str:
    """A public key in hexadecimal, given as such or as the file that holds it."""
    file = Path(given)
    return _bytes(file).decode("ascii", "replace").strip() if file.suffix == ".pub" else given


def _write_files(file: Path, envelope: Envelope, key: SigningKey | None) -> bytes:
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


def _key_files(file: Path, key: SigningKey) -> tuple[Path, Path]:
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


# ``hmxgraph fingerprint``: learned memory exported, checked, imported, shown and compared.

app = typer.Typer(no_args_is_help=True, help="Learned memory in a portable file: export, verify, import, compare.")

_EnvelopeFile = Annotated[Path, typer.Argument(metavar="FILE", help="An envelope; - for standard input.")]
_SignatureFile = Annotated[
    Path | None, typer.Option("--signature", "-s", help="Its detached signature; FILE.sig where that exists.")
]
_Trusted = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        envvar="HMXGRAPH_TRUSTED_KEYS",
        help="A public key (hexadecimal, or a .pub file) that must have signed.",
    ),
]
At = Annotated[str | None, typer.Option("--at", help="Judge expiry at this time instead of now (ISO 8601).")]
_DRAFTS = "Drafts stay out of packs until events of this tenant bear out all that they say, or you say so:"


@app.command()
def export(
    file: Annotated[Path | None, typer.Option("--out", "-o", help="Write here instead of standard output.")] = None,
    tier: Annotated[str, typer.Option(help="full (100 KB), compact (50 KB) or minimal (10 KB).")] = "full",
    key: Annotated[
        Path | None, typer.Option(help="Sign with this private key; the signature goes to FILE.sig.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="The agent that this memory belongs to.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag for the fingerprint; repeat it for several.")] = None,
    expires: Annotated[str | None, typer.Option(help="Stale after this time (ISO 8601 with offset).")] = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Write what was learned into an envelope: no events; secrets and private names are masked by rules."""
    if key is not None and file is None:
        raise typer.BadParameter("a signature needs a file to stand beside: add --out FILE", param_hint="--key")
    signing = _read_key(key) if key else None
    with opened(tenant) as graph:
        envelope = graph.export_fingerprint(tier=tier, agent_id=agent, tags=tag or (), expires_at=expires)
    if file is None:
        typer.echo(envelope.to_json())
        return
    written = _write_files(file, envelope, signing)
    verdict = verify(envelope)
    document = verdict.document() | {"file": str(file), "bytes": len(written)}
    emit(document, as_json, lambda: out.print(export_table(verdict, file, len(written), signing)))


@app.command(name="verify")
def verify_file(
    file: _EnvelopeFile,
    signature: _SignatureFile = None,
    trust: _Trusted = None,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Check hashes, signature, version and structure; the error names the first check that fails."""
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
    """Add what another memory learned as drafts; importing the same file twice changes nothing."""
    data, found = _read_envelope(file), _read_signature(file, signature)
    trusted = [_trusted_key(key) for key in trust or ()]
    with opened(tenant) as graph:
        report = graph.import_fingerprint(data, signature=found, trusted_keys=trusted, at=at)
    emit(report.document(), as_json, lambda: out.print(import_table(report)))
    if report.created_ids:
        err.print(f"{_DRAFTS} {ACTIVATE}", style="dim", highlight=False, soft_wrap=True)


@app.command(name="take-back")
def take_back(
    import_id: Annotated[str, typer.Argument(help="The id of the import, or of its fingerprint.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Take one import back out: what nothing else supports is deprecated, its priors hold no longer."""
    with opened(tenant) as graph:
        gone = graph.take_back_import(import_id)
    told = f"{len(gone.deprecated_ids)} deprecated, {len(gone.kept_ids)} kept for other evidence"
    emit(gone.document(), as_json, lambda: out.print(told))


@app.command()
def show(file: _EnvelopeFile, as_json: AsJson = False) -> None:
    """What an envelope tells, once it is checked."""
    verdict = _verdict(file, None, None, None)
    document = verdict.fingerprint.document()
    emit(document, as_json, lambda: _print_all(fingerprint_tables(verdict)))


@app.command()
def diff(before: _EnvelopeFile, after: _EnvelopeFile, as_json: AsJson = False) -> None:
    """What was learned between two envelopes: summaries side by side, then the numbers that moved."""
    first, second = (_verdict(file, None, None, None).fingerprint for file in (before, after))
    found = compare(first, second)
    emit(found.document(), as_json, lambda: _print_all(diff_tables(found)))


@app.command()
def keygen(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The private key; the public one goes to FILE.pub.")],
    as_json: AsJson = False,
) -> None:
    """Make a key pair for signing envelopes; give FILE.pub to those who import them."""
    key = SigningKey(secrets.token_bytes(32))
    private, public = _key_files(file, key)
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
