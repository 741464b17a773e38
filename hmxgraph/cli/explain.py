"""``hmxgraph explain``: what a record rests on, down to the text of events."""

from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, opened, out
from hmxgraph.graph.rows.explanations import Evidence, Explanation


def explain(
    record_id: Annotated[str, typer.Argument(help="Id of an artifact, memory, event or conflict; a pack's source_id.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show what a record rests on, through memories, down to the text of events."""
    with opened(tenant) as graph:
        found = graph.explain(record_id)
        emit(found.document(), as_json, lambda: out.print(_tree(found)))


def _tree(found: Explanation) -> Tree:
    tree = Tree(Text.assemble((f"{found.kind} {found.record_id}", "bold"), f"  {found.status}\n{found.text}"))
    facts = tree.add("known of it")
    for name, value in found.facts.items():
        if value not in ([], ""):
            facts.add(Text(f"{name.replace('_', ' ')}: {_shown(value)}"))
    for event in found.events:
        tree.add(_line(event))
    for part in found.rests_on:
        tree.children.append(_tree(part))
    for user in found.supports:
        tree.add(Text(f"supports {user['kind']} {user['record_id']} ({user['status']}): {user['text']}"))
    for conflict in found.conflicts:
        tree.add(Text(f"conflict {conflict.conflict_id} ({conflict.status}): {conflict.reason}", style="red"))
    for name in found.missing:
        tree.add(Text(f"{name}: not stored", style="yellow"))
    return tree


def _shown(value: Any) -> str:
    """A fact in words: histories and lists entry by entry."""
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part)
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _line(event: Evidence) -> Text:
    text = "(erased)" if event.erased else event.text
    return Text.assemble((f"{event.timestamp} {event.event_type} {event.event_id}", "cyan"), f"\n{text}")
