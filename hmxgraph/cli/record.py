"""``hmxgraph record``: create, review, revision, verification, decision, get, search, thread, related, libraries."""

from typing import Annotated

import typer

from hmxgraph.cli._fields import (
    Agent,
    At,
    Limit,
    Project,
    Query,
    Set,
    Summary,
    Supports,
    fields_of,
    hits_table,
    records_table,
    search,
    show_library,
    show_written,
)
from hmxgraph.cli._terminal import AsJson, Tenant, emit, opened, out
from hmxgraph.protocol.record_results import Related
from hmxgraph.protocol.records import ARTIFACT_KINDS

app = typer.Typer(no_args_is_help=True, help="Records: what agents say about each other's work.")

_ReplyTo = Annotated[str, typer.Argument(help="Id of the record it is about.")]


@app.command()
def create(
    kind: Annotated[str, typer.Argument(help=f"{', '.join(ARTIFACT_KINDS)}.")],
    task_id: Annotated[str | None, typer.Option("--task", help="Its task; a reply needs none.")] = None,
    summary: Summary = "",
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Create a record of any kind."""
    with opened(tenant) as graph:
        fields = fields_of(more, summary=summary or None, agent_id=agent)
        written = graph.records.create(kind, task_id=task_id, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def review(
    reply_to: _ReplyTo,
    summary: Summary,
    supports: Supports = None,
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Review a record."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent)
        written = graph.records.review(reply_to, summary=summary, supports_claim=supports, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def revision(
    reply_to: _ReplyTo,
    summary: Summary,
    supersedes: Annotated[bool, typer.Option("--supersedes", help="Take the record's place.")] = False,
    supports: Supports = None,
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Revise a record."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent)
        written = graph.records.revision(
            reply_to, summary=summary, supports_claim=supports, supersedes=supersedes, at=at, **fields
        )
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def verification(
    reply_to: _ReplyTo,
    summary: Summary,
    supports: Annotated[bool, typer.Option("--supports/--rejects", help="Countersign the claim, or reject it.")],
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Countersign a record, or reject it."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent)
        written = graph.records.verification(reply_to, summary=summary, supports_claim=supports, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def decision(
    summary: Summary,
    task_id: Annotated[str | None, typer.Option("--task", help="The task it is taken in.")] = None,
    reply_to: Annotated[str | None, typer.Option("--reply-to", help="The record it is about.")] = None,
    why: Annotated[str | None, typer.Option(help="The reason.")] = None,
    supports: Supports = None,
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Record a decision."""
    with opened(tenant) as graph:
        said = {"why_chosen": why, "reply_to_artifact_id": reply_to, "supports_claim": supports}
        fields = fields_of(more, agent_id=agent, **said)
        written = graph.records.decision(task_id, summary=summary, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def get(
    artifact_id: Annotated[str, typer.Argument(help="Id of the record.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show a record with the trust it has now."""
    with opened(tenant) as graph:
        found = graph.records.get(artifact_id)
        emit(found.document(), as_json, lambda: out.print(records_table([found])))


app.command()(search)


@app.command()
def thread(
    thread_id: Annotated[str, typer.Argument(help="Id of the thread; a task's own has its id.")],
    shown: Annotated[bool, typer.Option("--shown", help="Leave out what was superseded or retired.")] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List a thread, oldest first."""
    with opened(tenant) as graph:
        found = graph.records.list_thread(thread_id, include_hidden=not shown)
        emit([view.document() for view in found], as_json, lambda: out.print(records_table(found)))


@app.command()
def related(
    claim: Annotated[str, typer.Argument(help="A statement, or the id of a record.")],
    project: Project = None,
    limit: Limit = 20,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Tell what a claim rests on and what speaks against it."""
    with opened(tenant) as graph:
        found = graph.records.find_related(claim, project_id=project, limit=limit)
        emit(found.document(), as_json, lambda: _show_related(found))


@app.command()
def failures(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List what failed."""
    with opened(tenant) as graph:
        found = graph.records.find_failures(query, project_id=project, limit=limit)
        emit(found.document(), as_json, lambda: show_library(found))


@app.command()
def decisions(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List what was decided."""
    with opened(tenant) as graph:
        found = graph.records.find_decisions(query, project_id=project, limit=limit)
        emit(found.document(), as_json, lambda: show_library(found))


@app.command("evidence")
def list_evidence(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List what was found out."""
    with opened(tenant) as graph:
        found = graph.records.find_evidence(query, project_id=project, limit=limit)
        emit(found.document(), as_json, lambda: show_library(found))


@app.command()
def highlights(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List what worked."""
    with opened(tenant) as graph:
        found = graph.records.find_highlights(query, project_id=project, limit=limit)
        emit(found.document(), as_json, lambda: show_library(found))


def _show_related(found: Related) -> None:
    out.print(f"grounding: {found.grounding_status}")
    for name, hits in (("supporting", found.supporting), ("conflicting", found.conflicting), ("hints", found.hints)):
        if hits:
            out.print(f"{name}:", hits_table(hits))
