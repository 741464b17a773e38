"""The command ``hmxgraph pack``: print a context pack as text, table, JSON or HTML page."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.cli._terminal import (
    AsJson,
    AsOf,
    MaskSecretsChoice,
    Tenant,
    emit,
    err,
    explain_empty_pack,
    opened,
    out,
    short_id,
)
from hmxgraph.errors import NotFound
from hmxgraph.protocol.display import truncate_line
from hmxgraph.protocol.explanations import Explanation
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES, Entry
from hmxgraph.recall.pack import Pack
from hmxgraph.text.terms import DEFAULT_ENCODING, ENCODINGS

if TYPE_CHECKING:
    from hmxgraph.api._base import PackOptions

_Explain = Annotated[bool, typer.Option("--explain", help="Show the score of each entry and the reason for each drop.")]
_Html = Annotated[Path | None, typer.Option("--html", help="Also write a self-contained HTML page to this file.")]
_LONGEST_TITLE = 50  # characters
# Maximum number of dropped candidates whose text the HTML page shows.
_MOST_DROP_TEXTS = 30
# Source types of entries that were learned from events; the HTML page lists these events.
_LEARNED_TYPES = frozenset({"artifact", "memory", "policy"})
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
    user: Annotated[
        str | None, typer.Option("--user", help="User the pack is for; other users' memories are left out.")
    ] = None,
    scope: Annotated[list[str] | None, typer.Option("--scope", help="Scope of the work; can be repeated.")] = None,
    encoding: Annotated[
        str, typer.Option("--encoding", help=f"Encoding in which tokens are counted: {', '.join(ENCODINGS)}.")
    ] = DEFAULT_ENCODING,
    as_of: AsOf = None,
    mask_secrets: MaskSecretsChoice = None,
    explain: _Explain = False,
    html: _Html = None,
    as_json: AsJson = False,
) -> None:
    """Print the context pack for a query."""
    options: PackOptions = {"budget": budget, "strategy": strategy, "as_of": as_of, "session_id": session}
    options |= {"user_id": user, "scope": scope, "encoding": encoding}
    if section:
        options["sections"] = section
    with opened(tenant, mask_secrets=mask_secrets) as graph:
        result = graph.pack(query, **options)
        if html is not None:
            path = result.to_html(html, trails=trails(graph, result), drop_texts=drop_texts(graph, result))
            err.print(f"written: {path}", highlight=False, soft_wrap=True)
        hints = {"--explain shows why": explain, "--html writes a page": html is not None}
        unused = [hint for hint, is_used in hints.items() if not is_used]
        emit(result.document(), as_json, lambda: _show_pack(result, explain=explain, hints=unused))
        if not result.entries:
            explain_empty_pack(graph, result)


def trails(graph: KnowledgeGraph, pack: Pack) -> dict[str, list[dict[str, Any]]]:
    """The events behind each artifact, memory and policy in the pack, by the id of the artifact, memory or policy."""
    derived = {entry.source_id for entry in pack.entries if entry.source_type in _LEARNED_TYPES}
    return {
        source_id: [event.document() for event in graph.explain(source_id).trail()] for source_id in sorted(derived)
    }


def drop_texts(graph: KnowledgeGraph, pack: Pack) -> dict[str, str]:
    """The texts of the 30 best dropped candidates, by id."""
    drops = [drop.source_id for drop in pack.dropped_entries or ()][:_MOST_DROP_TEXTS]
    return {source_id: explanation.text for source_id, explanation in _explanations(graph, drops)}


def _explanations(graph: KnowledgeGraph, ids: Iterable[str]) -> Iterator[tuple[str, Explanation]]:
    """Each of *ids* with its explanation; ids that are no longer stored are left out."""
    for source_id in ids:
        with suppress(NotFound):
            yield source_id, graph.explain(source_id)


def _show_pack(pack: Pack, *, explain: bool, hints: Sequence[str]) -> None:
    """Print the pack's text, then its sources (with *explain*: a table of scores and drops), counts and *hints*."""
    if out.is_terminal:
        out.print(pack.text, highlight=False, soft_wrap=True)
    else:
        # A pipe gets the exact text, because only this has the stated number of tokens.
        sys.stdout.write(pack.text)
    if explain:
        out.print(pack.table())
    elif pack.entries:
        err.print(_sources(pack), style="dim", highlight=False, soft_wrap=True)
    budget = pack.token_budget
    entries = "1 entry" if len(pack.entries) == 1 else f"{len(pack.entries)} entries"
    counts = f"{budget.used} of {budget.total_budget} tokens, {entries}, {budget.dropped_count} dropped"
    err.print("; ".join([counts, *([", ".join(hints)] if hints else [])]), style="dim")


def _sources(pack: Pack) -> str:
    """A line for each entry that is not a past event, then the number of past events in each section."""
    events = Counter(entry.section for entry in pack.entries if entry.source_type == "episode")
    derived = [_source(entry) for entry in pack.entries if entry.source_type != "episode"]
    counts = [f"  {section:<15}  {count:>8}  {_past_events(count)}" for section, count in events.items()]
    return "\n".join(["", "From (evidence: hmxgraph explain ID):", *derived, *counts])


def _past_events(count: int) -> str:
    return "past event" if count == 1 else "past events"


def _source(entry: Entry) -> str:
    title = truncate_line(entry.content.partition("\n")[0], _LONGEST_TITLE)
    # Not a table, which could truncate the id; the user may want to pass it to hmxgraph explain.
    return f"  {entry.section:<15}  {short_id(entry.source_id)}  {title}"
