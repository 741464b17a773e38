"""What every command shares: the tenant and JSON options, an open graph, and output for people or scripts."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import orjson
import typer

from hmxgraph.cli.terminal.controls import Visibly, escaped
from hmxgraph.cli.terminal.rows import Lines, Whole
from hmxgraph.knowledge import KnowledgeGraph, connect

# Ids, titles and commands hold brackets and colons: what is printed is text as it stands, styled by Text and style=.
out = Lines(markup=False, emoji=False)
err = Lines(stderr=True, markup=False, emoji=False)
for _console in (out, err):
    _console.push_render_hook(Whole(_console))
    _console.push_render_hook(Visibly())

Tenant = Annotated[str, typer.Option("--tenant", "-t", envvar="HMXGRAPH_TENANT", help="Whose memory.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Answer as of this time (ISO 8601 with offset).")]


@contextmanager
def opened(tenant: str) -> Iterator[KnowledgeGraph]:
    """The tenant's graph; a local server is fetched and started on demand, with its progress on stderr."""
    with connect(tenant_id=tenant, progress=err.is_terminal) as graph:
        yield graph


def emit(document: Any, as_json: bool, show: Callable[[], object]) -> None:
    """Print *document* as one line of JSON, or call *show*, which prints it for people."""
    if as_json:
        sys.stdout.write(escaped(orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()) + "\n")
    else:
        show()
