"""``hmxgraph schema``: the JSON Schemas of the documents, to print, pipe or save."""

from typing import Annotated

import typer
from rich.text import Text

from hmxgraph.cli.terminal.common import AsJson, emit, out
from hmxgraph.protocol.schemas import SCHEMA_NAMES
from hmxgraph.protocol.schemas import schema as schema_of


def schema(
    name: Annotated[str | None, typer.Argument(help="Which schema; without it, the names are listed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema (2020-12) of one kind of document, or list the kinds."""
    if name is None:
        emit(list(SCHEMA_NAMES), as_json, _list_names)
    else:
        found = schema_of(name)
        emit(found, as_json, lambda: out.print_json(data=found))


def _list_names() -> None:
    for name in SCHEMA_NAMES:
        out.print(Text.assemble((name, "bold"), f"  {schema_of(name)['title']}"))
