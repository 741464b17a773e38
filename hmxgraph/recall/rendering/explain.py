"""Why each entry of a pack is in and each drop is out, as tables for a terminal."""

from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from hmxgraph.protocol.packs import ContextPack
from hmxgraph.text.shortening import cut

MOST_SHOWN = 90
MOST_DROPS = 15


def pack_table(pack: ContextPack) -> Table:
    """The pack as one table: entries with their scores, drops with their reasons."""
    whole = Table.grid(padding=(0, 0), expand=True)
    whole.add_row(Group(_entries(pack), _drops(pack)) if pack.dropped_entries else _entries(pack))
    return whole


def _entries(pack: ContextPack) -> Table:
    budget = pack.token_budget
    title = Text(f"{pack.query_context[:MOST_SHOWN]}  ({budget.used} of {budget.total_budget} tokens)")
    table = Table(
        "rank", "section", "score", "rel rec prov sal", "tokens", title=title, title_justify="left", expand=True
    )
    table.add_column("content", ratio=1, no_wrap=True, overflow="ellipsis")
    for entry in pack.entries:
        table.add_row(
            str(entry.rank),
            entry.section,
            f"{entry.relevance_score:.3f}",
            _components(pack, entry.source_id),
            str(entry.token_estimate),
            Text(_short(entry.content)),
        )
    return table


def _drops(pack: ContextPack) -> Table:
    shown = (pack.dropped_entries or ())[:MOST_DROPS]
    title = f"left out: {pack.token_budget.dropped_count}, the best {len(shown)} of them"
    table = Table("rank", "section", "score", "reason", "tokens", title=title, title_justify="left", expand=True)
    table.add_column("source", overflow="fold")
    for drop in shown:
        table.add_row(
            str(drop.rank),
            drop.section,
            f"{drop.relevance_score:.3f}",
            drop.drop_reason,
            str(drop.token_estimate),
            Text(drop.source_id),
        )
    return table


def _components(pack: ContextPack, source_id: str) -> str:
    parts: dict[str, Any] = pack.metadata.get("score_components", {}).get(source_id, {})
    return " ".join(
        f"{parts[name]:.2f}" for name in ("relevance", "recency", "provenance", "salience") if name in parts
    )


def _short(text: str) -> str:
    return cut(text.replace("\n", " / "), MOST_SHOWN)
