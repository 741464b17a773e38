"""The commands ``hmxgraph artifact`` and ``hmxgraph conflict``: list, record, replace and judge learned artifacts."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hmxgraph.cli._terminal import (
    AsJson,
    AsOf,
    Tenant,
    emit,
    explain_empty_result,
    full_id,
    mention_drafts,
    opened,
    out,
    short_id,
)
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.lifecycle import ArtifactPage, ArtifactReceipt, Conflict
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.text.artifacts import render_artifact

# ``hmxgraph artifact``: list, show, chain, record, import-chain, supersede, transition.

app = typer.Typer(no_args_is_help=True, help="Artifacts: learned knowledge with versions and status.")

_ArtifactId = Annotated[str, typer.Argument(help="Id of the artifact.")]
File = Annotated[Path, typer.Argument(help="JSON document of the artifact; - reads standard input.")]
_NONE_OF_ANY_STATUS = "no artifact of any status matches; hmxgraph compile learns artifacts from events"
_STYLES = {"active": "green", "draft": "yellow", "superseded": "dim", "deprecated": "red", "archived": "dim"}


@app.command("list")
def list_artifacts(
    status: Annotated[str, typer.Option(help="draft, active, superseded, deprecated, archived, or any.")] = "active",
    artifact_type: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; can be repeated.")] = None,
    text: Annotated[str | None, typer.Option(help="Only with all these words.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only what applies to this agent.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Artifacts per page.")] = 50,
    after: Annotated[str | None, typer.Option(help="Cursor of the previous page.")] = None,
    as_of: AsOf = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List artifacts, newest first."""
    status_filter = None if status == "any" else status
    with opened(tenant) as graph:
        page = graph.artifacts(
            status=status_filter,
            artifact_type=artifact_type,
            tags=tag or (),
            text=text,
            agent_id=agent,
            after=after,
            limit=limit,
            as_of=as_of,
        )
        emit(page.document(), as_json, lambda: _show_page(page))
        if not page:
            hint = "--status any lists artifacts of every status"
            otherwise = hint if status_filter else _NONE_OF_ANY_STATUS
            explain_empty_result(graph, otherwise, omits_drafts=status_filter == "active")
        elif status_filter == "active" and not as_json:
            mention_drafts(graph)


@app.command()
def show(artifact_id: _ArtifactId, as_of: AsOf = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show an artifact: its content, its status and its evidence."""
    with opened(tenant) as graph:
        artifact = graph.artifact(full_id(graph, artifact_id), as_of=as_of)
        emit(artifact.document(), as_json, lambda: _show(artifact))


@app.command()
def chain(artifact_id: _ArtifactId, as_of: AsOf = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """List all versions of an artifact, oldest first."""
    with opened(tenant) as graph:
        versions = graph.chain(full_id(graph, artifact_id), as_of=as_of)
        emit(versions.document(), as_json, lambda: out.print(_versions(versions.versions)))


@app.command()
def record(
    files: Annotated[
        list[Path], typer.Argument(help="JSON documents, or .ndjson with one per line; - reads standard input.")
    ],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Record artifacts; duplicates are reported, not stored."""
    with opened(tenant) as graph:
        receipts = [graph.record_artifact(Artifact.parse(document)) for file in files for document in _documents(file)]
        emit([receipt.document() for receipt in receipts], as_json, lambda: _show_receipts(receipts))


@app.command("import-chain")
def import_chain(
    file: Annotated[Path, typer.Argument(help="Output of hmxgraph artifact chain ID --json; - reads stdin.")],
    rehome: Annotated[bool, typer.Option("--rehome", help="Record versions of another tenant under this one.")] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Record all versions of an artifact, such as those of another graph."""
    moved = {"tenant_id": tenant} if rehome else {}
    versions = [version | moved for version in _chain_in(file)]
    with opened(tenant) as graph:
        receipts = graph.import_chain(versions)
        emit([receipt.document() for receipt in receipts], as_json, lambda: _show_receipts(receipts))


@app.command()
def supersede(old_id: _ArtifactId, file: File, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Replace an active artifact with a new version."""
    with opened(tenant) as graph:
        receipt = graph.supersede(full_id(graph, old_id), Artifact.parse(_file_bytes(file)))
        emit(receipt.document(), as_json, lambda: _show_receipts([receipt]))


@app.command()
def transition(
    artifact_id: _ArtifactId,
    status: Annotated[str, typer.Argument(help="active, deprecated or archived.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the artifact's history.")] = "",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Change the status of an artifact."""
    with opened(tenant) as graph:
        artifact = graph.transition(full_id(graph, artifact_id), status, reason=reason)
        emit(artifact.document(), as_json, lambda: out.print(_table([artifact])))


def _documents(file: Path) -> Iterator[bytes]:
    data = _file_bytes(file)
    if file.suffix == ".ndjson":
        yield from (line for line in data.splitlines() if line.strip())
    else:
        yield data


def _chain_in(file: Path) -> list[dict[str, Any]]:
    document = parse_json(_file_bytes(file))
    versions = document.get("versions") if isinstance(document, dict) else None
    if not isinstance(versions, list) or not all(isinstance(version, dict) for version in versions):
        raise typer.BadParameter(f"{file} has no list of versions: write it with hmxgraph artifact chain ID --json")
    return versions


def _file_bytes(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error


def _show_page(page: ArtifactPage) -> None:
    out.print(_table(page.artifacts) if page.artifacts else "no artifacts")
    if page.cursor:
        out.print(f"more: --after {page.cursor}", highlight=False)


def _show(artifact: Artifact) -> None:
    out.print(_table([artifact]))
    document = artifact.document()
    text = render_artifact(artifact.artifact_type, artifact.title, artifact.summary, document["content"])
    out.print(text, highlight=False)
    evidence = f"derived from {len(artifact.source_events)} events and {len(artifact.source_memory_ids)} memories"
    out.print(
        f"\n{evidence}; hmxgraph explain {short_id(artifact.artifact_id)} shows them", style="dim", highlight=False
    )


def _show_receipts(receipts: Iterable[ArtifactReceipt]) -> None:
    for receipt in receipts:
        line = f"{receipt.outcome} {receipt.artifact_id} (version {receipt.artifact.version})"
        line += f", supersedes {receipt.superseded_id}" if receipt.superseded_id else ""
        line += f", opens conflicts {', '.join(receipt.conflicts)}" if receipt.conflicts else ""
        out.print(line, highlight=False)


def _table(artifacts: Iterable[Artifact]) -> Table:
    table = Table("id", "type", "title", "status", "confidence", pad_edge=False)
    for artifact in artifacts:
        names = (Text(short_id(artifact.artifact_id)), Text(artifact.artifact_type), Text(artifact.title))
        table.add_row(*names, _status(artifact), f"{artifact.confidence:.2f}")
    return table


def _versions(artifacts: Iterable[Artifact]) -> Table:
    table = Table("version", "id", "title", "status", "confidence", "created", pad_edge=False)
    for artifact in artifacts:
        names = (str(artifact.version), Text(short_id(artifact.artifact_id)), Text(artifact.title))
        table.add_row(*names, _status(artifact), f"{artifact.confidence:.2f}", artifact.created_at[:10])
    return table


def _status(artifact: Artifact) -> Text:
    return Text(artifact.status, style=_STYLES.get(artifact.status, ""))


# ``hmxgraph conflict``: list, resolve.

conflict_app = typer.Typer(no_args_is_help=True, help="Conflicts: records that cannot all be true.")


@conflict_app.command("list")
def list_conflicts(
    status: Annotated[str, typer.Option(help="open, resolved, or any.")] = "open",
    as_of: AsOf = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Maximum number; default: all.")] = None,
    after: Annotated[str | None, typer.Option(help="Id of the last conflict of the previous page.")] = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List conflicts, newest first, with their sides."""
    with opened(tenant) as graph:
        cursor = None if after is None else full_id(graph, after)
        status_filter = None if status == "any" else status
        conflicts = graph.conflicts(status=status_filter, as_of=as_of, limit=limit, after=cursor)
        emit([conflict.document() for conflict in conflicts], as_json, lambda: _show_conflicts(conflicts))


@conflict_app.command()
def resolve(
    conflict_id: Annotated[str, typer.Argument(help="Id of the conflict.")],
    keep: Annotated[str | None, typer.Option(help="Id of the side that holds; the others no longer do.")] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="All sides hold; there is no contradiction.")] = False,
    reason: Annotated[str, typer.Option(help="Why; kept with the conflict.")] = "",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Resolve a conflict: keep one side, or all of them. No side is deleted."""
    if (keep is None) is not keep_all:
        raise typer.BadParameter("choose which side holds: --keep ID, or --keep-all")
    with opened(tenant) as graph:
        kept_id = None if keep is None else full_id(graph, keep)
        conflict = graph.resolve(full_id(graph, conflict_id), keep=kept_id, reason=reason)
        emit(conflict.document(), as_json, lambda: _show_conflicts([conflict]))


def _show_conflicts(conflicts: Sequence[Conflict]) -> None:
    if not conflicts:
        out.print("no conflicts")
    for conflict in conflicts:
        out.print(_conflict_table(conflict))


def _conflict_table(conflict: Conflict) -> Table:
    ending = f", {conflict.resolution or 'resolved'}" if conflict.status == "resolved" else ""
    title = Text(f"{short_id(conflict.conflict_id)}  {conflict.status}{ending}\n{conflict.reason}")
    table = Table("side", "kind", "status", "confidence", "text", title=title, title_justify="left")
    for side in conflict.sides:
        confidence = "" if side.confidence is None else f"{side.confidence:.2f}"
        mark = " (kept)" if side.side_id == conflict.kept_id else ""
        table.add_row(Text(short_id(side.side_id) + mark), side.kind, side.status, confidence, Text(side.text))
    return table
