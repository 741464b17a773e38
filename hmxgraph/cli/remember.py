"""``hmxgraph remember``: keep a fact, preference, policy or goal in the words given."""

from typing import Annotated

import typer
from rich.text import Text

from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, opened, out
from hmxgraph.graph.rows.memories import Memory


def remember(
    text: Annotated[str, typer.Argument(help="What to remember, in a sentence.")],
    kind: Annotated[str, typer.Option("--kind", "-k", help="fact, preference, policy or goal.")] = "fact",
    hard: Annotated[bool, typer.Option("--hard", help="A policy without exception: part of every pack.")] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Remember a fact, preference, policy or goal; the same words again are one more observation."""
    with opened(tenant) as graph:
        memory = graph.remember(text, kind=kind, hard=hard)
        emit(memory.document(), as_json, lambda: out.print(told(memory)))


def told(memory: Memory) -> Text:
    """One line on a memory: what kind it is, what it says, how sure it is and how often it was observed."""
    seen = "once" if memory.observation_count == 1 else f"{memory.observation_count} times"
    kind = f"hard {memory.kind}" if memory.hard else memory.kind
    return Text.assemble(
        (f"{kind} ", "bold"), memory.text, (f"  {memory.status}, observed {seen}, {memory.memory_id}", "dim")
    )
