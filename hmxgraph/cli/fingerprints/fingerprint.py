"""``hmxgraph fingerprint``: learned memory exported, checked, imported, shown and compared."""

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hmxgraph.cli.fingerprints.files import (
    key_files,
    read_envelope,
    read_key,
    read_signature,
    trusted_key,
    write_files,
)
from hmxgraph.cli.fingerprints.tables import (
    diff_tables,
    export_table,
    fingerprint_tables,
    import_table,
    verdict_table,
)
from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, err, opened, out
from hmxgraph.cli.terminal.nothing import ACTIVATE
from hmxgraph.fingerprint.diff import diff as compare
from hmxgraph.fingerprint.signing import SigningKey
from hmxgraph.fingerprint.verify import Verdict, verify
from hmxgraph.knowledge.moments import as_us

app = typer.Typer(no_args_is_help=True, help="Learned memory in a portable file: export, verify, import, compare.")

EnvelopeFile = Annotated[Path, typer.Argument(metavar="FILE", help="An envelope; - for standard input.")]
SignatureFile = Annotated[
    Path | None, typer.Option("--signature", "-s", help="Its detached signature; FILE.sig where that exists.")
]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        envvar="HMXGRAPH_TRUSTED_KEYS",
        help="A public key (hexadecimal, or a .pub file) that must have signed.",
    ),
]
At = Annotated[str | None, typer.Option("--at", help="Judge expiry at this time instead of now (ISO 8601).")]
DRAFTS = "Drafts stay out of packs until events of this tenant bear out all that they say, or you say so:"


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
    signing = read_key(key) if key else None
    with opened(tenant) as graph:
        envelope = graph.export_fingerprint(tier=tier, agent_id=agent, tags=tag or (), expires_at=expires)
    if file is None:
        typer.echo(envelope.to_json())
        return
    written = write_files(file, envelope, signing)
    verdict = verify(envelope)
    document = verdict.document() | {"file": str(file), "bytes": len(written)}
    emit(document, as_json, lambda: out.print(export_table(verdict, file, len(written), signing)))


@app.command(name="verify")
def verify_file(
    file: EnvelopeFile, signature: SignatureFile = None, trust: Trusted = None, at: At = None, as_json: AsJson = False
) -> None:
    """Check hashes, signature, version and structure; the error names the first check that fails."""
    verdict = _verdict(file, signature, trust, at)
    emit(verdict.document(), as_json, lambda: out.print(verdict_table(verdict)))


@app.command(name="import")
def import_file(
    file: EnvelopeFile,
    signature: SignatureFile = None,
    trust: Trusted = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Add what another memory learned as drafts; importing the same file twice changes nothing."""
    data, found = read_envelope(file), read_signature(file, signature)
    trusted = [trusted_key(key) for key in trust or ()]
    with opened(tenant) as graph:
        report = graph.import_fingerprint(data, signature=found, trusted_keys=trusted, at=at)
    emit(report.document(), as_json, lambda: out.print(import_table(report)))
    if report.created_ids:
        err.print(f"{DRAFTS} {ACTIVATE}", style="dim", highlight=False, soft_wrap=True)


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
def show(file: EnvelopeFile, as_json: AsJson = False) -> None:
    """What an envelope tells, once it is checked."""
    verdict = _verdict(file, None, None, None)
    document = verdict.fingerprint.document()
    emit(document, as_json, lambda: print_all(fingerprint_tables(verdict)))


@app.command()
def diff(before: EnvelopeFile, after: EnvelopeFile, as_json: AsJson = False) -> None:
    """What was learned between two envelopes: summaries side by side, then the numbers that moved."""
    first, second = (_verdict(file, None, None, None).fingerprint for file in (before, after))
    found = compare(first, second)
    emit(found.document(), as_json, lambda: print_all(diff_tables(found)))


@app.command()
def keygen(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The private key; the public one goes to FILE.pub.")],
    as_json: AsJson = False,
) -> None:
    """Make a key pair for signing envelopes; give FILE.pub to those who import them."""
    key = SigningKey(secrets.token_bytes(32))
    private, public = key_files(file, key)
    document = {"private_key_file": str(private), "public_key_file": str(public), "public_key": key.public_key}
    emit(document, as_json, lambda: typer.echo(f"{private}: private key\n{public}: {key.public_key}"))


def print_all(tables: Iterable[Table]) -> None:
    """Print *tables* one below the other."""
    for table in tables:
        out.print(table)


def _verdict(file: Path, signature: Path | None, trust: list[str] | None, at: str | None) -> Verdict:
    return verify(
        read_envelope(file),
        signature=read_signature(file, signature),
        trusted=[trusted_key(key) for key in trust or ()],
        at_us=as_us(at or datetime.now(UTC)),
    )
