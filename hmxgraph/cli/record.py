"""The commands ``hmxgraph record``: create records and replies, read and search them, and list them by kind."""

import sys
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
    json_lines,
    merged_fields,
    records_table,
    search,
    show_library,
    show_receipt,
    show_receipts,
)
from hmxgraph.cli._terminal import AsJson, Tenant, emit, full_id, opened, out
from hmxgraph.protocol.record_results import Grounding
from hmxgraph.protocol.records import ARTIFACT_KINDS

app = typer.Typer(no_args_is_help=True, help="Task records: reviews, verifications and decisions.")

_CREATABLE = ", ".join(kind for kind in ARTIFACT_KINDS if kind != "digest")
_ReplyTo = Annotated[str, typer.Argument(help="Id of the record to reply to.")]


@app.command()
def create(
    kind: Annotated[
        str, typer.Argument(help=f"{_CREATABLE}; or - to read records from stdin, one JSON object per line.")
    ],
    task_id: Annotated[
        str | None, typer.Option("--task", help="Id of the record's task; not needed for a reply.")
    ] = None,
    summary: Summary = "",
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Create a record of any kind but digest.

    Records from stdin are stored in one transaction, all or none; each names its artifact_kind, and the options are
    defaults for all.
    """
    lines = json_lines(sys.stdin) if kind == "-" else None
    with opened(tenant) as graph:
        fields = fields_of(assignments, summary=summary or None, agent_id=agent)
        fields = merged_fields(fields, task_id=task_id and full_id(graph, task_id), at=at)
        if lines is None:
            receipt = graph.records.create(kind, **fields)
            emit(receipt.document(), as_json, lambda: show_receipt(receipt))
        else:
            receipts = graph.records.create_all(lines, **fields)
            emit([entry.document() for entry in receipts], as_json, lambda: show_receipts(receipts))


@app.command()
def review(
    reply_to: _ReplyTo,
    summary: Summary,
    supports: Supports = None,
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Review a record."""
    with opened(tenant) as graph:
        reply_to = full_id(graph, reply_to)
        fields = fields_of(assignments, agent_id=agent)
        receipt = graph.records.review(
            reply_to, **merged_fields(fields, summary=summary, supports_claim=supports, at=at)
        )
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def revision(
    reply_to: _ReplyTo,
    summary: Summary,
    supersedes: Annotated[bool, typer.Option("--supersedes", help="Replace the record with this revision.")] = False,
    supports: Supports = None,
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Revise a record."""
    with opened(tenant) as graph:
        reply_to = full_id(graph, reply_to)
        fields = fields_of(assignments, agent_id=agent)
        receipt = graph.records.revision(
            reply_to,
            **merged_fields(fields, summary=summary, supports_claim=supports, supersedes=supersedes, at=at),
        )
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def verification(
    reply_to: _ReplyTo,
    summary: Summary,
    supports: Annotated[bool, typer.Option("--supports/--rejects", help="Countersign the claim, or reject it.")],
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Countersign a record, or reject it."""
    with opened(tenant) as graph:
        reply_to = full_id(graph, reply_to)
        fields = fields_of(assignments, agent_id=agent)
        receipt = graph.records.verification(
            reply_to, **merged_fields(fields, summary=summary, supports_claim=supports, at=at)
        )
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def decision(
    summary: Summary,
    task_id: Annotated[str | None, typer.Option("--task", help="Id of the task.")] = None,
    reply_to: Annotated[str | None, typer.Option("--reply-to", help="Id of the record to reply to.")] = None,
    why: Annotated[str | None, typer.Option(help="The reason.")] = None,
    supports: Supports = None,
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Record a decision."""
    with opened(tenant) as graph:
        reply_to_id = reply_to and full_id(graph, reply_to)
        details = {"why_chosen": why, "reply_to_artifact_id": reply_to_id, "supports_claim": supports}
        fields = fields_of(assignments, agent_id=agent, **details)
        receipt = graph.records.decision(
            task_id and full_id(graph, task_id), **merged_fields(fields, summary=summary, at=at)
        )
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def get(
    artifact_id: Annotated[str, typer.Argument(help="Id of the record.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show a record with its current trust tier."""
    with opened(tenant) as graph:
        view = graph.records.get(full_id(graph, artifact_id))
        emit(view.document(), as_json, lambda: out.print(records_table([view])))


app.command()(search)


@app.command()
def thread(
    thread_id: Annotated[str, typer.Argument(help="Id of the thread; a task's own thread has the task's id.")],
    visible_only: Annotated[
        bool, typer.Option("--shown", help="Leave out hidden records, such as superseded ones.")
    ] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List a thread, oldest first."""
    with opened(tenant) as graph:
        views = graph.records.list_thread(full_id(graph, thread_id), include_hidden=not visible_only)
        emit([view.document() for view in views], as_json, lambda: out.print(records_table(views)))


@app.command()
def related(
    claim: Annotated[str, typer.Argument(help="A statement, or the id of a record.")],
    project: Project = None,
    limit: Limit = 20,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show how well a claim is grounded, with supporting and conflicting records."""
    with opened(tenant) as graph:
        grounding = graph.records.find_related(full_id(graph, claim), project_id=project, limit=limit)
        emit(grounding.document(), as_json, lambda: _show_grounding(grounding))


@app.command()
def failures(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List failures."""
    with opened(tenant) as graph:
        library = graph.records.find_failures(query, project_id=project, limit=limit)
        emit(library.document(), as_json, lambda: show_library(library))


@app.command()
def decisions(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List decisions."""
    with opened(tenant) as graph:
        library = graph.records.find_decisions(query, project_id=project, limit=limit)
        emit(library.document(), as_json, lambda: show_library(library))


@app.command("evidence")
def list_evidence(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List evidence."""
    with opened(tenant) as graph:
        library = graph.records.find_evidence(query, project_id=project, limit=limit)
        emit(library.document(), as_json, lambda: show_library(library))


@app.command()
def highlights(
    query: Query = "", project: Project = None, limit: Limit = 20, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List successes."""
    with opened(tenant) as graph:
        library = graph.records.find_highlights(query, project_id=project, limit=limit)
        emit(library.document(), as_json, lambda: show_library(library))


def _show_grounding(grounding: Grounding) -> None:
    out.print(f"grounding: {grounding.grounding_status}")
    for name in ("supporting", "conflicting", "hints"):
        if hits := getattr(grounding, name):
            listed_hits = [hit.compacted() for hit in hits] if name == "hints" else hits
            out.print(f"{name}:", hits_table(listed_hits))
