"""``hmxgraph query``: saved queries as a table, JSON or CSV."""

import csv
import sys
from typing import Annotated, Any

import typer
from rich.table import Table

from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, opened, out
from hmxgraph.cli.terminal.nothing import tell_why_nothing
from hmxgraph.graph.catalogue import query as packaged
from hmxgraph.graph.catalogue import query_names
from hmxgraph.knowledge.results import QueryResult, told

FILLED_IN = {"tenant_id", "tenant_key", "scope"}


def query(
    name: Annotated[str | None, typer.Argument(help="A saved query; without one they are listed.")] = None,
    parameters: Annotated[list[str] | None, typer.Argument(help="Its parameters, as name=value.")] = None,
    tenant: Tenant = "default",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a saved query, or list them."""
    if name is None:
        listed = [_entry(saved) for saved in query_names("explore")]
        emit(listed, as_json, lambda: out.print(_listing(listed)))
        return
    full_name = name if "/" in name else f"explore/{name}"
    with opened(tenant) as graph:
        result = graph.query(full_name, **dict(_pair(text) for text in parameters or []))
        if not result:
            tell_why_nothing(graph, "nothing of what is stored fits the query")
    if as_csv:
        _write_csv(result)
    else:
        emit(result.document(), as_json, lambda: out.print(result.table()))


def _pair(text: str) -> tuple[str, str | list[str]]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not name=value")
    return name, value.split(",") if name.endswith("_ids") else value


def _entry(name: str) -> dict[str, Any]:
    saved = packaged(name)
    return {
        "name": name.removeprefix("explore/"),
        "title": saved.description.splitlines()[0],
        "parameters": sorted(saved.parameters - FILLED_IN),
    }


def _listing(entries: list[dict[str, Any]]) -> Table:
    table = Table("query", "shows", "parameters", title="Saved queries")
    for entry in entries:
        table.add_row(entry["name"], entry["title"], ", ".join(entry["parameters"]))
    return table


def _write_csv(result: QueryResult) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(result.columns)
    writer.writerows([told(row[column]) for column in result.columns] for row in result)
