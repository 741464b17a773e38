"""The command ``hmxgraph demo``: load sample events, and show a pack and what memory changes about a failure."""

import os
from typing import Annotated

import typer
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from hmxgraph import engine
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.cli._terminal import AsJson, emit, opened, out
from hmxgraph.cli.compiling import show_notes
from hmxgraph.demo import FAILURE, FAILURE_QUESTION, QUESTION, TENANT, events_file
from hmxgraph.fingerprint.measures import MeasuredDigest
from hmxgraph.protocol.display import truncate_line
from hmxgraph.protocol.reports import CompileReport, IngestReport
from hmxgraph.recall.pack import Pack

# Unlike in other commands, HMXGRAPH_TENANT is ignored, so that the sample events do not get into a real tenant.
_DemoTenant = Annotated[str, typer.Option("--tenant", "-t", help="Tenant that receives the sample events.")]
# Maximum width of the output in columns.
_MOST_COLUMNS = 80
# Maximum number of learned artifacts whose titles are printed.
_MOST_TITLES = 5
# Number of events shown before the failure, and from the failure on; this includes the failed call and the retry.
_EVENTS_BEFORE, _EVENTS_AFTER = 2, 5


def demo(tenant: _DemoTenant = TENANT, as_json: AsJson = False) -> None:
    """Load sample events, compile them, and print a context pack and what memory changes.

    --json prints the reports, both packs and the digest of the graph.
    """
    with opened(tenant) as graph:
        report, compiled = graph.ingest(events_file(), rehome=True), graph.compile()
        pack, digest = graph.pack(QUESTION, budget=256), graph.digest()
        advice = graph.pack(FAILURE_QUESTION, budget=160, sections=("procedures",))
        failure = _failure(graph)
    document = {
        "ingest": report.document(),
        "compile": compiled.document(),
        "pack": pack.document(),
        "advice": advice.document(),
        "digest": digest.document(),
        "browser": browser_uri(),
    }

    def show() -> None:
        _show_learning(report, compiled)
        _show_pack(f"Context pack for: {QUESTION}", pack)
        out.print(_graph_line(digest))
        out.print(Rule("The same failure, before and after"), width=min(out.width, _MOST_COLUMNS))
        _show_before(failure)
        _show_pack(f"After: {FAILURE_QUESTION}", advice)
        out.print(f"Neo4j Browser: {document['browser']}   (login: hmxgraph browser)")
        out.print(f"Next: hmxgraph pack 'a question' --tenant {tenant} --explain, or your own: hmxgraph ingest PATH")

    emit(document, as_json, show)


def browser_uri() -> str:
    """The address of Neo4j Browser on the local server; for a remote server, a note that it serves its own."""
    server = None if os.environ.get("HMXGRAPH_URI") else engine.status().server
    return server.browser_uri if server else "served by the Neo4j at HMXGRAPH_URI"


def _failure(graph: KnowledgeGraph) -> list[str]:
    """A line for each event around the failure in a sample session, without results of tools."""
    errors = [row for row in graph.query("explore/error_events") if FAILURE in (row["text"] or "")]
    if not errors:  # forgotten events are not ingested again
        return []
    session = errors[-1]["session_id"]
    story = graph.query("explore/session_story", session_id=session).rows
    failure_index = next(index for index, row in enumerate(story) if FAILURE in (row["text"] or ""))
    excerpt = story[max(failure_index - _EVENTS_BEFORE, 0) : failure_index + _EVENTS_AFTER]
    return [f"{row['timestamp'][:10]}  {row['text']}" for row in excerpt if row["event_type"] != "tool_result"]


def _show_learning(report: IngestReport, compiled: CompileReport) -> None:
    counts = f"{report.accepted} accepted, {report.duplicates} duplicates, {len(report.rejected)} rejected"
    out.print(Text.assemble(("events", "bold"), f"   {counts}, in {compiled.sessions} sessions"))
    changes = [change for change in compiled.changes if change.action not in {"unchanged", "skipped"}]
    for number, change in enumerate(changes[:_MOST_TITLES]):
        line = Text.assemble(("learned" if number == 0 else "       ", "bold"), f"  {change.title}")
        out.print(line, no_wrap=True, overflow="ellipsis", width=min(out.width, _MOST_COLUMNS))
    if len(changes) > _MOST_TITLES:
        command = f"hmxgraph artifact list --status any --tenant {compiled.tenant_id}"
        out.print(f"         ... and {len(changes) - _MOST_TITLES} more: {command}", soft_wrap=True, highlight=False)
    show_notes(compiled)


def _show_pack(title: str, pack: Pack) -> None:
    out.print(Panel(Text(pack.text.rstrip()), title=title, border_style="green", width=min(out.width, _MOST_COLUMNS)))


def _graph_line(digest: MeasuredDigest) -> Text:
    hubs = ", ".join(hub.name for hub in digest.top_connected_entities[:3])
    counts = f"   {digest.entity_count} entities, {digest.relation_count} relations; most connected: {hubs}"
    return Text.assemble(("graph", "bold"), counts)


def _show_before(failure: list[str]) -> None:
    out.print("Before: the agent had to work it out", style="bold")
    for line in failure:
        out.print(f"  {truncate_line(line, _MOST_COLUMNS - 4)}", highlight=False)
