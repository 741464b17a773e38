"""``hmxgraph demo``: from events to a context pack in one command."""

import os
from typing import Annotated, Any

import typer
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from hmxgraph import engine
from hmxgraph.cli._terminal import AsJson, emit, opened, out
from hmxgraph.cli.compiling import show_report
from hmxgraph.cli.explore import show_digest
from hmxgraph.demo import QUESTION, TENANT, events_file
from hmxgraph.recall.pack import Pack

# Ignores HMXGRAPH_TENANT, to keep the sample events out of a real tenant's memory.
_DemoTenant = Annotated[str, typer.Option("--tenant", "-t", help="Tenant that receives the sample events.")]
_WIDTH = 80


def demo(tenant: _DemoTenant = TENANT, as_json: AsJson = False) -> None:
    """Load sample events, compile them, and print a context pack and the graph's digest.

    The pack is shown with its scores and drops.
    """
    with opened(tenant) as graph:
        report, compiled = graph.ingest(events_file()), graph.compile()
        pack, digest = graph.pack(QUESTION, budget=1024), graph.digest()
    document = {
        "ingest": report.document(),
        "compile": compiled.document(),
        "pack": pack.document(),
        "digest": digest.document(),
        "browser": browser_uri(),
    }

    def show() -> None:
        _show_counts(document)
        show_report(compiled)
        _show_pack(pack)
        out.print(Rule("Digest of the graph"), width=min(out.width, _WIDTH))
        show_digest(digest)
        out.print(f"\nNeo4j Browser: {document['browser']}   (login: hmxgraph browser)")
        out.print(f"Next: hmxgraph query --tenant {tenant}   hmxgraph pack 'a question' --tenant {tenant} --explain")

    emit(document, as_json, show)


def browser_uri() -> str:
    """The address of Neo4j Browser on the local server, or a note that a remote server serves it."""
    server = None if os.environ.get("HMXGRAPH_URI") else engine.status().server
    return server.browser_uri if server else "served by the Neo4j at HMXGRAPH_URI"


def _show_counts(document: dict[str, Any]) -> None:
    ingest = document["ingest"]
    counts = f"{ingest['accepted']} accepted, {ingest['duplicates']} duplicates, {len(ingest['rejected'])} rejected"
    out.print(Text.assemble(("events", "bold"), f"   {counts}"))


def _show_pack(pack: Pack) -> None:
    out.print(
        Panel(
            Text(pack.text),
            title=f"Context pack for: {QUESTION}",
            border_style="green",
            width=min(out.width, _WIDTH),
        )
    )
    out.print(pack.table())
