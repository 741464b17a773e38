"""What every command shares: tenant and JSON options, an open graph, output, and why an answer is empty."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from hmxgraph.cli._console import err, escaped, out

if TYPE_CHECKING:
    from hmxgraph.api.graph import KnowledgeGraph
    from hmxgraph.protocol.packs import ContextPack

__all__ = ["AsJson", "AsOf", "Tenant", "emit", "err", "opened", "out", "tell_why_no_entry", "tell_why_nothing"]

Tenant = Annotated[str, typer.Option("--tenant", "-t", envvar="HMXGRAPH_TENANT", help="Whose memory.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Answer as of this time (ISO 8601 with offset).")]


@contextmanager
def opened(tenant: str) -> "Iterator[KnowledgeGraph]":
    """The tenant's graph; a local server is fetched and started on demand, with its progress on stderr."""
    from hmxgraph.api.graph import connect  # noqa: PLC0415 - commands without a graph need not import the driver

    with connect(tenant_id=tenant, progress=err.is_terminal) as graph:
        yield graph


def emit(document: Any, as_json: bool, show: Callable[[], object]) -> None:
    """Print *document* as one line of JSON, or call *show*, which prints it for people."""
    if as_json:
        sys.stdout.write(escaped(orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()) + "\n")
    else:
        show()


# Why an answer is empty, in one line on stderr, with what a reader can do about it.

MOST = 100
ACTIVATE = "hmxgraph artifact list --status draft shows them, hmxgraph artifact transition ID active puts one in force"


def tell_why_nothing(graph: "KnowledgeGraph", otherwise: str) -> None:
    """Print that the tenant has no events, and which drafts wait; where neither is so, what *otherwise* says."""
    _tell("; ".join(filter(None, (_waiting(graph), _no_events(graph)))) or otherwise)


def tell_why_no_entry(graph: "KnowledgeGraph", made: "ContextPack") -> None:
    """Print why *made* is empty: the budget, what is not there yet, or the question."""
    if sizes := [one.token_estimate for one in made.dropped_entries or () if one.drop_reason == "budget_exceeded"]:
        _tell(f"nothing fits in {made.token_budget.total_budget} tokens; {_smallest(min(sizes))}")
    else:
        tell_why_nothing(graph, "nothing that is known bears on the question; --explain tells what was left out")


def _smallest(tokens: int) -> str:
    return f"the smallest entry takes {tokens}, and its heading a few"


def _waiting(graph: "KnowledgeGraph") -> str:
    page = graph.artifacts(status="draft", limit=MOST)
    count = len(page)
    drafts = (
        f"more than {MOST} drafts wait" if page.cursor else "1 draft waits" if count == 1 else f"{count} drafts wait"
    )
    return f"{drafts}: {ACTIVATE}" if count else ""


def _no_events(graph: "KnowledgeGraph") -> str:
    if graph.health()["event_count"]:
        return ""
    return f"tenant {graph.tenant_id!r} has no events: feed some in with hmxgraph ingest, or name another with --tenant"


def _tell(text: str) -> None:
    err.print(text, style="yellow", highlight=False, soft_wrap=True)
