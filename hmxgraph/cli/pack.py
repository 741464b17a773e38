"""``hmxgraph pack``: a context pack as text, table, JSON or HTML page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.cli._terminal import AsJson, AsOf, Tenant, emit, err, explain_empty_pack, opened, out
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES, Entry
from hmxgraph.recall.pack import Pack

if TYPE_CHECKING:
    from hmxgraph.api._base import PackOptions

_Explain = Annotated[bool, typer.Option("--explain", help="Show the score of each entry and the reason of each drop.")]
_Html = Annotated[Path | None, typer.Option("--html", help="Also write a self-contained HTML page to this file.")]
# Source types of entries whose evidence the HTML page lists.
_DERIVED = frozenset({"artifact", "memory", "policy"})
_Section = Annotated[
    list[str] | None,
    typer.Option("--section", help=f"Only this section; can be repeated: {', '.join(SECTION_PRIORITY)}."),
]
Strategy = Annotated[str, typer.Option("--strategy", help=f"Ranking strategy: {', '.join(STRATEGIES)}.")]


def pack(
    query: Annotated[str, typer.Argument(help="What the agent is about to do or wants to know.")],
    tenant: Tenant = "default",
    budget: Annotated[int, typer.Option("--budget", "-b", help="Hard limit in tokens.")] = 2048,
    strategy: Strategy = "ranked",
    section: _Section = None,
    session: Annotated[str | None, typer.Option("--session", help="Id of the running session.")] = None,
    as_of: AsOf = None,
    explain: _Explain = False,
    html: _Html = None,
    as_json: AsJson = False,
) -> None:
    """Print the context pack for a query."""
    options: PackOptions = {"budget": budget, "strategy": strategy, "as_of": as_of, "session_id": session}
    if section:
        options["sections"] = section
    with opened(tenant) as graph:
        result = graph.pack(query, **options)
        if html is not None:
            path = result.to_html(html, trails=trails(graph, result))
            err.print(f"written: {path}", highlight=False, soft_wrap=True)
        emit(result.document(), as_json, lambda: _show_pack(result, explain=explain))
        if not result.entries:
            explain_empty_pack(graph, result)


def trails(graph: KnowledgeGraph, pack: Pack) -> dict[str, list[dict[str, Any]]]:
    """The events behind each entry that is not itself an event."""
    derived = {entry.source_id for entry in pack.entries if entry.source_type in _DERIVED}
    return {name: [event.document() for event in graph.explain(name).trail()] for name in sorted(derived)}


def _show_pack(pack: Pack, *, explain: bool) -> None:
    """Print *pack* as the agent gets it, then the source of each entry, or with *explain* scores and drops."""
    if out.is_terminal:
        out.print(pack.text, highlight=False, soft_wrap=True)
    else:
        # Programs get the exact text, because the token count holds for it alone.
        sys.stdout.write(pack.text)
    if explain:
        out.print(pack.table())
    elif pack.entries:
        err.print(_sources(pack), style="dim", highlight=False, soft_wrap=True)
    budget = pack.token_budget
    counts = f"{len(pack.entries)} entries, {budget.dropped_count} dropped"
    hint = "--html writes a page" if explain else "--explain shows why, --html writes a page"
    err.print(f"{budget.used} of {budget.total_budget} tokens, {counts}; {hint}", style="dim")


def _sources(pack: Pack) -> str:
    """The source of each entry, in the order of the text; ``hmxgraph explain ID`` shows its evidence."""
    return "\n".join(["", "From:", *map(_source, pack.entries)])


def _source(entry: Entry) -> str:
    provenance = entry.provenance
    support = f"confidence {provenance.confidence:.2f}, evidence {provenance.evidence_count:,}"
    # Lines, not a table: a truncated id could not be passed to hmxgraph explain.
    return f"  {entry.section:<15}  {entry.source_type:<8}  {entry.source_id}  {support}"
