"""``hmxgraph artifact`` and ``hmxgraph conflict``."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from hmxgraph.cli._terminal import AsJson, AsOf, Tenant, emit, opened, out, tell_why_nothing
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.lifecycle import ArtifactPage, Conflict, Recorded
from hmxgraph.text.artifacts import render_artifact

# ``hmxgraph artifact``: list, show, chain, record, supersede, transition.

app = typer.Typer(no_args_is_help=True, help="Artifacts: what was learned, its versions and its status.")

_ArtifactId = Annotated[str, typer.Argument(help="Id of the artifact.")]
File = Annotated[Path, typer.Argument(help="JSON document of the artifact; - reads standard input.")]
_LEARNT = "nothing of any status fits; hmxgraph compile learns artifacts from the events of sessions"
_STYLES = {"active": "green", "draft": "yellow", "superseded": "dim", "deprecated": "red", "archived": "dim"}


@app.command("list")
def list_artifacts(
    status: Annotated[str, typer.Option(help="draft, active, superseded, deprecated, archived, or any.")] = "active",
    artifact_type: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeat it for several.")] = None,
    text: Annotated[str | None, typer.Option(help="Only with all these words.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only what applies to this agent.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Artifacts on a page.")] = 50,
    after: Annotated[str | None, typer.Option(help="Cursor of the page before.")] = None,
    as_of: AsOf = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List artifacts, newest first."""
    wanted = None if status == "any" else status
    with opened(tenant) as graph:
        page = graph.artifacts(
            status=wanted,
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
            tell_why_nothing(graph, "--status any lists those that hold no longer, too" if wanted else _LEARNT)


@app.command()
def show(artifact_id: _ArtifactId, as_of: AsOf = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show one artifact as agents read it."""
    with opened(tenant) as graph:
        artifact = graph.artifact(artifact_id, as_of=as_of)
        emit(artifact.document(), as_json, lambda: _show(artifact))


@app.command()
def chain(artifact_id: _ArtifactId, as_of: AsOf = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """List all versions of an artifact, oldest first."""
    with opened(tenant) as graph:
        found = graph.chain(artifact_id, as_of=as_of)
        emit(found.document(), as_json, lambda: out.print(_table(found.versions)))


@app.command()
def record(
    files: Annotated[list[Path], typer.Argument(help="JSON documents, one each, or .ndjson; - reads standard input.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Record artifacts; what is known already is not recorded twice."""
    with opened(tenant) as graph:
        done = [graph.record_artifact(Artifact.parse(document)) for file in files for document in _documents(file)]
        emit([one.document() for one in done], as_json, lambda: _show_recorded(done))


@app.command()
def supersede(old_id: _ArtifactId, file: File, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Put a new artifact in the place of an active one."""
    with opened(tenant) as graph:
        done = graph.supersede(old_id, Artifact.parse(_read(file)))
        emit(done.document(), as_json, lambda: _show_recorded([done]))


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
        artifact = graph.transition(artifact_id, status, reason=reason)
        emit(artifact.document(), as_json, lambda: out.print(_table([artifact])))


def _documents(file: Path) -> Iterator[bytes]:
    data = _read(file)
    if file.suffix == ".ndjson":
        yield from (line for line in data.splitlines() if line.strip())
    else:
        yield data


def _read(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error


def _show_page(page: ArtifactPage) -> None:
    out.print(_table(page.artifacts) if page.artifacts else "no artifact fits")
    if page.cursor:
        out.print(f"more: --after {page.cursor}", highlight=False)


def _show(artifact: Artifact) -> None:
    out.print(_table([artifact]))
    document = artifact.document()
    text = render_artifact(artifact.artifact_type, artifact.title, artifact.summary, document["content"])
    out.print(text, highlight=False)
    evidence = f"rests on {len(artifact.source_events)} events and {len(artifact.source_memory_ids)} memories"
    out.print(f"\n{evidence}; hmxgraph explain {artifact.artifact_id} shows them", style="dim", highlight=False)


def _show_recorded(done: Iterable[Recorded]) -> None:
    for one in done:
        line = f"{one.outcome} {one.artifact_id} (version {one.artifact.version})"
        line += f", supersedes {one.superseded_id}" if one.superseded_id else ""
        line += f", opens conflicts {', '.join(one.conflicts)}" if one.conflicts else ""
        out.print(line, highlight=False)


def _table(artifacts: Iterable[Artifact]) -> Table:
    table = Table("id", "type", "title", "version", "status", "confidence", "created", pad_edge=False)
    for one in artifacts:
        status = Text(one.status, style=_STYLES.get(one.status, ""))
        cells = (Text(one.artifact_id), Text(one.artifact_type), Text(one.title), str(one.version))
        table.add_row(*cells, status, f"{one.confidence:.2f}", one.created_at[:16])
    return table


# ``hmxgraph conflict``: list and resolve what cannot all hold.

conflict_app = typer.Typer(no_args_is_help=True, help="Conflicts: records that cannot all hold.")


@conflict_app.command("list")
def list_conflicts(
    status: Annotated[str, typer.Option(help="open, resolved, or any.")] = "open",
    as_of: AsOf = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List conflicts, newest first, with their sides."""
    with opened(tenant) as graph:
        found = graph.conflicts(status=None if status == "any" else status, as_of=as_of)
        emit([one.document() for one in found], as_json, lambda: _show_conflict(found))


@conflict_app.command()
def resolve(
    conflict_id: Annotated[str, typer.Argument(help="Id of the conflict.")],
    keep: Annotated[str | None, typer.Option(help="Id of the side that holds; the others are retired.")] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="They hold together after all.")] = False,
    reason: Annotated[str, typer.Option(help="Why; kept with the conflict.")] = "",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Resolve a conflict: keep one side, or all of them. No side is deleted."""
    if (keep is None) is not keep_all:
        raise typer.BadParameter("say which side holds: --keep ID, or --keep-all")
    with opened(tenant) as graph:
        found = graph.resolve(conflict_id, keep=keep, reason=reason)
        emit(found.document(), as_json, lambda: _show_conflict([found]))


def _show_conflict(found: Sequence[Conflict]) -> None:
    if not found:
        out.print("no conflict")
    for conflict in found:
        out.print(_conflict_table(conflict))


def _conflict_table(conflict: Conflict) -> Table:
    ending = f", {conflict.resolution or 'resolved'}" if conflict.status == "resolved" else ""
    title = Text(f"{conflict.conflict_id}  {conflict.status}{ending}\n{conflict.reason}")
    table = Table("side", "kind", "status", "confidence", "text", title=title, title_justify="left")
    for side in conflict.sides:
        confidence = "" if side.confidence is None else f"{side.confidence:.2f}"
        kept = " (kept)" if side.side_id == conflict.kept_id else ""
        table.add_row(Text(side.side_id + kept), side.kind, side.status, confidence, Text(side.text))
    return table
