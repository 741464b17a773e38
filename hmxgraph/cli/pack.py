"""``hmxgraph pack``: the right memory inside a budget, as text, table, JSON or page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.cli._terminal import AsJson, AsOf, Tenant, emit, err, opened, out, tell_why_no_entry
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES, Entry
from hmxgraph.recall.pack import Pack

if TYPE_CHECKING:
    from hmxgraph.api._base import WantedPack

_Explain = Annotated[bool, typer.Option("--explain", help="Why each entry is in and each drop is out.")]
_Html = Annotated[Path | None, typer.Option("--html", help="Also write a self-contained page to this file.")]
# Kinds of entries whose evidence the report unfolds.
_DERIVED = frozenset({"artifact", "memory", "policy"})
_Section = Annotated[
    list[str] | None,
    typer.Option("--section", help=f"Only this section; repeat it for several: {', '.join(SECTION_PRIORITY)}."),
]
Strategy = Annotated[str, typer.Option("--strategy", help=f"How to rank: {', '.join(STRATEGIES)}.")]


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
    wanted: WantedPack = {"budget": budget, "strategy": strategy, "as_of": as_of, "session_id": session}
    if section:
        wanted["sections"] = section
    with opened(tenant) as graph:
        made = graph.pack(query, **wanted)
        if html is not None:
            written = made.to_html(html, trails=trails(graph, made))
            err.print(f"written: {written}", highlight=False, soft_wrap=True)
        emit(made.document(), as_json, lambda: _show_pack(made, explain=explain))
        if not made.entries:
            tell_why_no_entry(graph, made)


def trails(graph: KnowledgeGraph, made: Pack) -> dict[str, list[dict[str, Any]]]:
    """The events behind each entry that is not an event itself."""
    derived = {entry.source_id for entry in made.entries if entry.source_type in _DERIVED}
    return {name: [event.document() for event in graph.explain(name).trail()] for name in sorted(derived)}


def _show_pack(made: Pack, *, explain: bool) -> None:
    """Print *made* as the agent gets it; beside it where each entry comes from, or if asked scores and drops."""
    if out.is_terminal:
        out.print(made.text, highlight=False, soft_wrap=True)
    else:
        # What is read by a program is the text to the byte: its tokens are within the budget.
        sys.stdout.write(made.text)
    if explain:
        out.print(made.table())
    elif made.entries:
        err.print(_sources(made), style="dim", highlight=False, soft_wrap=True)
    budget = made.token_budget
    counts = f"{len(made.entries)} entries, {budget.dropped_count} dropped"
    ways = "--html draws it" if explain else "--explain tells why, --html draws it"
    told = f"{budget.used} of {budget.total_budget} tokens, {counts}; {ways}"
    err.print(told, style="dim")


def _sources(made: Pack) -> str:
    """What each entry rests on, in the order of the text: ``hmxgraph explain ID`` follows it down to the events."""
    return "\n".join(["", "From:", *map(_source, made.entries)])


def _source(entry: Entry) -> str:
    seen = entry.provenance
    support = f"confidence {seen.confidence:.2f}, evidence {seen.evidence_count:,}"
    # Whole lines, no table: an id that was cut to fit a column could not be asked about.
    return f"  {entry.section:<15}  {entry.source_type:<8}  {entry.source_id}  {support}"
