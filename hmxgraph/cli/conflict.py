"""``hmxgraph conflict``: list and resolve what cannot all hold."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from hmxgraph.cli.terminal.common import AsJson, AsOf, Tenant, emit, opened, out
from hmxgraph.graph.rows.conflicts import Conflict

app = typer.Typer(no_args_is_help=True, help="Conflicts: records that cannot all hold.")


@app.command("list")
def list_conflicts(
    status: Annotated[str, typer.Option(help="open, resolved, or any.")] = "open",
    as_of: AsOf = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List conflicts, newest first, with their sides."""
    with opened(tenant) as graph:
        found = graph.conflicts(status=None if status == "any" else status, as_of=as_of)
        emit([one.document() for one in found], as_json, lambda: _show(found))


@app.command()
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
        emit(found.document(), as_json, lambda: _show([found]))


def _show(found: Sequence[Conflict]) -> None:
    if not found:
        out.print("no conflict")
    for conflict in found:
        out.print(_table(conflict))


def _table(conflict: Conflict) -> Table:
    ending = f", {conflict.resolution or 'resolved'}" if conflict.status == "resolved" else ""
    title = Text(f"{conflict.conflict_id}  {conflict.status}{ending}\n{conflict.reason}")
    table = Table("side", "kind", "status", "confidence", "text", title=title, title_justify="left")
    for side in conflict.sides:
        confidence = "" if side.confidence is None else f"{side.confidence:.2f}"
        kept = " (kept)" if side.side_id == conflict.kept_id else ""
        table.add_row(Text(side.side_id + kept), side.kind, side.status, confidence, Text(side.text))
    return table
