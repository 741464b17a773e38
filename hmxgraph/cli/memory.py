"""The commands ``hmxgraph memory``: search, add, show, hide, replace, judge, measure and maintain memories."""

from typing import Annotated

import typer
from rich.table import Table

from hmxgraph.cli._fields import (
    Agent,
    At,
    Budget,
    Compact,
    Hard,
    Hidden,
    Limit,
    Mode,
    Project,
    Siblings,
    Tags,
    show_all,
    show_mapping,
)
from hmxgraph.cli._terminal import AsJson, AsOf, Tenant, emit, full_id, opened, out, short_id
from hmxgraph.protocol.memories import DreamReport, MemoryResult

app = typer.Typer(no_args_is_help=True, help="Semantic memories: add, search, supersede, delete, dream.")

_MemoryId = Annotated[str, typer.Argument(help="Id of the memory.")]
Kind = Annotated[str, typer.Option(help="fact, preference, policy or goal.")]
Text = Annotated[str, typer.Argument(help="What to remember.")]


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words to look for.")],
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    project: Project = None,
    mode: Mode = "generic",
    limit: Limit = 20,
    hidden: Hidden = False,
    compact: Compact = False,
    budget: Budget = None,
    siblings: Siblings = False,
    as_of: AsOf = None,
    user: Annotated[str | None, typer.Option(help="Include memories limited to this user.")] = None,
    session: Annotated[str | None, typer.Option(help="Include memories limited to the users of this session.")] = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Search current memories."""
    with opened(tenant) as graph:
        result = graph.memory.search(
            query,
            kind=kind,
            project_id=project,
            mode=mode,
            limit=limit,
            include_hidden=hidden,
            compact=compact,
            token_budget=budget,
            expand_event_siblings=siblings,
            as_of=as_of,
            user_id=user,
            session_id=session,
        )
        emit(result.document(), as_json, lambda: _show(result))


@app.command()
def add(
    text: Text,
    kind: Kind = "fact",
    project: Project = None,
    tag: Tags = None,
    hard: Hard = False,
    user: Annotated[str | None, typer.Option(help="For this user alone.")] = None,
    expires: Annotated[str | None, typer.Option(help="Hide it from this time on (ISO 8601 with offset).")] = None,
    agent: Agent = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Add a memory."""
    with opened(tenant) as graph:
        view = graph.memory.add(
            text,
            kind=kind,
            agent_id=agent,
            at=at,
            project_id=project,
            user_id=user,
            tags=tag or (),
            hard=hard,
            expires=expires,
        )
        emit(view.document(), as_json, lambda: show_mapping(view.trust() | {"text": view.text}))


@app.command()
def get(memory_id: _MemoryId, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a memory with its trust and evidence."""
    with opened(tenant) as graph:
        view = graph.memory.get(full_id(graph, memory_id))
        emit(view.document(), as_json, lambda: show_mapping(view.document()))


@app.command()
def delete(
    memory_id: _MemoryId,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Hide a memory permanently."""
    with opened(tenant) as graph:
        view = graph.memory.delete(full_id(graph, memory_id), reason=reason, at=at)
        emit(view.document(), as_json, lambda: show_mapping(view.trust()))


@app.command()
def supersede(
    memory_id: _MemoryId,
    text: Text,
    kind: Kind = "fact",
    project: Project = None,
    tag: Tags = None,
    hard: Hard = False,
    agent: Agent = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Replace a memory with a new one."""
    with opened(tenant) as graph:
        old_id = full_id(graph, memory_id)
        view = graph.memory.supersede(
            old_id, text, kind=kind, agent_id=agent, at=at, project_id=project, tags=tag or (), hard=hard
        )
        emit(view.document(), as_json, lambda: show_mapping(view.trust() | {"text": view.text}))


@app.command()
def feedback(
    memory_id: _MemoryId,
    signal: Annotated[str, typer.Argument(help="positive, negative or correction.")],
    comment: Annotated[str, typer.Option(help="A comment.")] = "",
    agent: Agent = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Judge a memory."""
    with opened(tenant) as graph:
        view = graph.memory.feedback(full_id(graph, memory_id), signal, comment=comment, agent_id=agent, at=at)
        emit(view.document(), as_json, lambda: show_mapping(view.trust()))


@app.command()
def outcome(
    result: Annotated[str, typer.Argument(help="success, failure or mixed.")],
    memory_ids: Annotated[list[str], typer.Argument(help="Ids of the memories that were used.")],
    summary: Annotated[str, typer.Option("--summary", "-s", help="A summary of the outcome.")] = "",
    agent: Agent = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Record the outcome of work that used memories."""
    with opened(tenant) as graph:
        used = [full_id(graph, memory_id) for memory_id in memory_ids]
        memories = graph.memory.record_outcome(used, result, summary=summary, agent_id=agent, at=at)
        emit(memories.document(), as_json, lambda: show_all(view.trust() for view in memories))


@app.command()
def stats(project: Project = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Count memories and records."""
    with opened(tenant) as graph:
        figures = graph.memory.stats(project_id=project).document()
        emit(figures, as_json, lambda: show_mapping(figures))


@app.command()
def health(
    project: Project = None,
    examples: Annotated[bool, typer.Option("--examples", help="List the duplicates.")] = False,
    duplicate_limit: Annotated[
        int, typer.Option("--duplicate-limit", min=0, help="Maximum number of duplicates shown.")
    ] = 10,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show duplicates, index coverage and sizes."""
    with opened(tenant) as graph:
        figures = graph.memory.health(
            project_id=project, include_examples=examples, duplicate_limit=duplicate_limit
        ).document()
        emit(figures, as_json, lambda: show_mapping(figures))


@app.command()
def metrics(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show the number of events and the indexes that are not online.

    Each process counts the cost of its own operations, so those figures are empty here; programs
    read theirs with graph.memory.metrics().
    """
    with opened(tenant) as graph:
        figures = graph.memory.metrics().document()
        emit(figures, as_json, lambda: show_mapping(figures))


@app.command()
def compact(
    project: Project = None,
    mode: Annotated[list[str] | None, typer.Option(help="Only this digest; can be repeated.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Also rebuild digests that are not stale.")] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Refresh digests, the stored summaries of task records."""
    with opened(tenant) as graph:
        report = graph.memory.compact(project_id=project, digest_modes=mode, force_digest_rebuild=force).document()
        keys = [digest["artifact"]["digest_key"] for digest in report["digests"]]
        emit(report, as_json, lambda: show_mapping({"fresh": keys}))


@app.command()
def dream(
    project: Project = None,
    apply: Annotated[bool, typer.Option("--apply", help="Apply the plan instead of only printing it.")] = False,
    agent: Agent = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Plan the maintenance of digests, or carry it out; duplicate and expired memories are only reported."""
    with opened(tenant) as graph:
        report = graph.memory.dream(project_id=project, dry_run=not apply, agent_id=agent or "hmxgraph", at=at)
        emit(report.document(), as_json, lambda: _show_dream(report))


def _show(result: MemoryResult) -> None:
    table = Table("score", "trust", "kind", "memory", "text", "hidden")
    for hit in result:
        view = hit.view
        table.add_row(
            f"{hit.score:.3f}", view.trust_tier, view.kind, short_id(view.memory_id), hit.text, view.hidden_reason or ""
        )
    out.print(table)


def _show_dream(report: DreamReport) -> None:
    heading = "planned" if report.dry_run else "done"
    show_mapping(
        {
            heading: [" ".join(str(part) for part in action.values()) for action in report.actions] or ["nothing"],
            "reported only": [f"{finding['finding']}: {', '.join(finding['ids'])}" for finding in report.reported],
            "report": report.report_id,
        }
    )
