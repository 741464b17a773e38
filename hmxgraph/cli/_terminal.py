"""What all commands share: common options, opening a graph, output, and explanations of empty results."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from hmxgraph.cli._console import err, escaped, out
from hmxgraph.protocol.trust import DEFAULT_TRUST, MASK_SECRETS, TrustPolicy

if TYPE_CHECKING:
    from hmxgraph.api.graph import KnowledgeGraph
    from hmxgraph.protocol.packs import ContextPack

__all__ = [
    "ACTIVATE",
    "AsJson",
    "AsOf",
    "MaskSecretsChoice",
    "Rehome",
    "SingleUser",
    "Tenant",
    "confirmed",
    "emit",
    "err",
    "explain_empty_pack",
    "explain_empty_result",
    "full_id",
    "json_line",
    "mention_drafts",
    "opened",
    "out",
    "short_id",
    "using_open_graphs",
]

Tenant = Annotated[str, typer.Option("--tenant", "-t", envvar="HMXGRAPH_TENANT", help="Tenant whose memory to use.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")]
SingleUser = Annotated[
    bool,
    typer.Option(
        "--single-user",
        envvar="HMXGRAPH_SINGLE_USER",
        help="The tenant belongs to one person: statements of unnamed users apply beyond their session.",
    ),
]
Rehome = Annotated[bool, typer.Option("--rehome", help="Store events that name another tenant under this one.")]
MaskSecretsChoice = Annotated[
    str | None,
    typer.Option(
        "--mask-secrets",
        envvar="HMXGRAPH_MASK_SECRETS",
        help=f"Where keys, tokens and passwords are masked: {', '.join(MASK_SECRETS)} (default: packs).",
    ),
]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Answer as of this time (ISO 8601 with offset).")]


@contextmanager
def opened(
    tenant: str, trust: TrustPolicy = DEFAULT_TRUST, mask_secrets: str | None = None, embed: str | None = None
) -> "Iterator[KnowledgeGraph]":
    """The tenant's graph; a local server is downloaded and started if necessary, with progress on stderr.

    Inside :func:`using_open_graphs`, it is a graph that is already open, unless the command sets an option that needs a
    separate connection.
    """
    from hmxgraph.api.graph import connect  # noqa: PLC0415 - commands without a graph do not need the driver
    from hmxgraph.cli._commands import timeout_of_command  # noqa: PLC0415 - imports no command

    timeout, graph_of = timeout_of_command(), _shared_graphs.get()
    if graph_of is not None and trust == DEFAULT_TRUST and timeout is None and mask_secrets is None and embed is None:
        yield graph_of(tenant)
        return
    options: Any = {"trust": trust, "mask_secrets": mask_secrets, "timeout": timeout, "embed": embed}
    with connect(tenant_id=tenant, progress=True, **options) as graph:
        yield graph


_shared_graphs: "ContextVar[Callable[[str], KnowledgeGraph] | None]" = ContextVar("shared", default=None)


@contextmanager
def using_open_graphs(graph_of: "Callable[[str], KnowledgeGraph]") -> Iterator[None]:
    """Let commands in the block use open graphs, which *graph_of* returns by tenant, instead of connecting."""
    token = _shared_graphs.set(graph_of)
    try:
        yield
    finally:
        _shared_graphs.reset(token)


def emit(document: Any, as_json: bool, show: Callable[[], object]) -> None:
    """Print *document* as one line of JSON, or call *show* to print it for people."""
    if as_json:
        sys.stdout.write(json_line(document))
    else:
        show()


def json_line(document: Any) -> str:
    r"""*document* as a line of JSON; bytes in file names that are not UTF-8 become text such as ``\xff``."""
    try:
        text = orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        text = _with_hex_bytes(json.dumps(document, ensure_ascii=False, sort_keys=True))
    return escaped(text) + "\n"


def _with_hex_bytes(text: str) -> str:
    r"""JSON *text* with hexadecimal escapes for bytes that were not UTF-8, which Python represents as surrogates.

    >>> _with_hex_bytes('"a\udcff"')
    '"a\\\\xff"'
    """
    return "".join(
        f"\\\\x{ord(character) - 0xDC00:02x}" if "\udc80" <= character <= "\udcff" else character for character in text
    )


def confirmed(question: str) -> bool:
    """Ask *question* on stderr; return whether the user answers yes.

    Raises:
        typer.BadParameter: the user cannot answer; the message states how to skip the question.

    """
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        raise typer.BadParameter("no answer, so nothing was done; use --yes to skip the question") from None


# Tables show only the first eight characters of ids that hmxgraph generates. `full_id` finds the whole id again.

# A UUID such as c83e661f-0a30-5d01-961e-1a2988040a7a, and a beginning of one with at least eight characters.
_GENERATED_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT_ID = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,27}")


def short_id(record_id: str) -> str:
    """The first eight characters of a UUID, such as the ids that hmxgraph generates; other ids stay whole.

    >>> short_id("c83e661f-0a30-5d01-961e-1a2988040a7a"), short_id("deploy-000-retry")
    ('c83e661f', 'deploy-000-retry')
    """
    return record_id[:8] if _GENERATED_ID.fullmatch(record_id) else record_id


def full_id(graph: "KnowledgeGraph", prefix: str) -> str:
    """The id that begins with *prefix*; *prefix* itself if no id does, or if it cannot be the beginning of a UUID.

    Raises:
        typer.BadParameter: several ids begin with *prefix*, and none of them equals it.

    """
    if not _SHORT_ID.fullmatch(prefix):
        return prefix
    ids = sorted({str(row["id"]) for row in graph.query("explore/ids", prefix=prefix)})
    if prefix in ids or not ids:
        return prefix
    if len(ids) > 1:
        raise typer.BadParameter(f"more than one id begins with {prefix}: {', '.join(ids)}")
    return ids[0]


# One line on stderr explains why a result is empty, and what to do.

# More drafts than this are not counted: "more than 100 drafts".
MOST_DRAFTS = 100
ACTIVATE = (
    "list them with hmxgraph artifact list --status draft, activate one with hmxgraph artifact transition ID active"
)


def explain_empty_result(graph: "KnowledgeGraph", otherwise: str, *, omits_drafts: bool = True) -> None:
    """Print why a result is empty: it omits drafts, or there are no events; if neither applies, print *otherwise*."""
    drafts = _drafts(graph) if omits_drafts else ""
    _print_hint("; ".join(filter(None, (drafts, _no_events(graph)))) or otherwise)


def mention_drafts(graph: "KnowledgeGraph") -> None:
    """If there are drafts, print how many, because lists of active artifacts omit them."""
    if drafts := _drafts(graph):
        _print_hint(drafts)


def explain_empty_pack(graph: "KnowledgeGraph", pack: "ContextPack") -> None:
    """Print why *pack* is empty: the budget, a tenant without active knowledge, or the query."""
    if sizes := [drop.token_estimate for drop in pack.dropped_entries or () if drop.drop_reason == "budget_exceeded"]:
        smallest = f"the smallest entry takes {min(sizes)} tokens, plus a few for its heading"
        _print_hint(f"nothing fits in {pack.token_budget.total_budget} tokens; {smallest}")
    else:
        explain_empty_result(graph, "nothing relevant to the query was found; --explain shows what was dropped")


def _drafts(graph: "KnowledgeGraph") -> str:
    page = graph.artifacts(status="draft", limit=MOST_DRAFTS)
    count = len(page)
    if not count:
        return ""
    number = f"more than {MOST_DRAFTS} drafts" if page.cursor else "1 draft" if count == 1 else f"{count} drafts"
    return f"{number} not active yet: {ACTIVATE}"


def _no_events(graph: "KnowledgeGraph") -> str:
    if graph.health()["event_count"]:
        return ""
    return f"tenant {graph.tenant_id!r} has no events: add some with hmxgraph ingest, or choose another with --tenant"


def _print_hint(text: str) -> None:
    err.print(text, style="yellow", highlight=False, soft_wrap=True)
