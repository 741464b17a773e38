"""The commands ``hmxgraph backup`` and ``hmxgraph restore``."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from hmxgraph import engine
from hmxgraph.cli._terminal import AsJson, Tenant, confirmed, emit, err, opened, out
from hmxgraph.protocol.reports import BackupReport, VerifyReport

_File = Annotated[
    Path, typer.Argument(help="FILE.ndjson or FILE.ndjson.gz: one tenant; FILE.dump: the whole local server.")
]
_TENANT_ENDINGS = (".ndjson", ".ndjson.gz")


def backup(file: _File, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Write all data of a tenant, or of the whole local server, to a file.

    A FILE.ndjson (or .ndjson.gz) holds one tenant without its API keys, and any server with the same schema can load
    it. A FILE.dump holds all tenants of the local server, which is stopped during the backup; for a remote server, use
    neo4j-admin there.
    """
    if _is_dump(file):
        size = engine.dump(file, progress=True)
        emit({"path": str(file), "size": size}, as_json, lambda: out.print(f"{file}: {size / 1e6:.1f} MB"))
        return
    with opened(tenant) as graph, _progress() as progress:
        report = graph.backup(file, progress=progress)
    emit(report.document(), as_json, lambda: out.print(_report_line(report), highlight=False))


def restore(
    file: _File,
    tenant: Tenant = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a .dump replaces everything.")] = False,
    as_json: AsJson = False,
) -> None:
    """Load a backup, then verify it; exits with 1 if anything is wrong.

    A FILE.ndjson goes into an empty tenant. A backup of the same tenant is restored exactly; from a backup of another
    tenant, events, recorded artifacts and tasks are stored, and memories, entities and compiled artifacts are derived
    from them again. A FILE.dump replaces everything that the local server holds, of all tenants, even if its store no
    longer opens; the command asks first.
    """
    if _is_dump(file):
        if not (yes or confirmed(f"Replace everything that the local server holds with {file}?")):
            raise typer.Exit(1)
        engine.load(file, progress=True)
        with opened(tenant) as graph:
            verified = graph.verify()
        emit({"path": str(file), "verified": verified.document()}, as_json, lambda: _show(file, tenant, verified))
        raise typer.Exit(0 if verified.ok else 1)
    with opened(tenant) as graph, _progress() as progress:
        report = graph.restore(file, progress=progress)
    emit(report.document(), as_json, lambda: _show(file, tenant, report.verified))
    raise typer.Exit(0 if report.ok else 1)


def _is_dump(file: Path) -> bool:
    """Whether *file* has the name of a dump (True) or of a tenant's backup (False).

    Raises:
        typer.BadParameter: it has neither, or it is a dump although HMXGRAPH_URI selects another server than the local
            one.

    """
    if file.name.endswith(_TENANT_ENDINGS):
        return False
    if file.suffix != ".dump":
        raise typer.BadParameter(f"{file.name} must end with .ndjson, .ndjson.gz (a tenant) or .dump (a local server)")
    if os.environ.get("HMXGRAPH_URI"):
        raise typer.BadParameter(
            "HMXGRAPH_URI names a remote server: use neo4j-admin database dump or load there, or a .ndjson"
        )
    return True


def _report_line(report: BackupReport) -> str:
    counts = f"{report.nodes:,} nodes, {report.relationships:,} relationships"
    return f"{report.path}: tenant {report.tenant_id}, {counts}, {report.size / 1e6:.1f} MB"


def _show(file: Path, tenant: str, verified: VerifyReport) -> None:
    counts = ", ".join(f"{count} {kind}" for kind, count in verified.checked.items() if count)
    verdict = "no inconsistencies" if verified.ok else f"{len(verified.wrong)} wrong: see hmxgraph verify"
    checked = f"checked {counts}; {verdict}" if counts else "empty; check other tenants with hmxgraph verify --tenant"
    out.print(f"{file} restored; tenant {tenant}: {checked}", highlight=False)


@contextmanager
def _progress() -> Iterator[Callable[[int], Any] | None]:
    """A callback that shows the number of nodes written or read so far; None if stderr is not a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} nodes"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda nodes: bar.update(task, completed=nodes)
