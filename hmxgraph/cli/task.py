"""The commands ``hmxgraph task``: record the steps of a task, list, claim and reopen tasks, show and search them."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from hmxgraph.cli._fields import (
    Agent,
    At,
    Limit,
    Project,
    Set,
    Summary,
    fields_of,
    merged_fields,
    records_table,
    search,
    show_mapping,
    show_receipt,
)
from hmxgraph.cli._terminal import AsJson, Tenant, emit, full_id, opened, out, short_id
from hmxgraph.protocol.record_results import TaskEntry, TaskView
from hmxgraph.records.board import LEASE

app = typer.Typer(no_args_is_help=True, help="Tasks: shared work with its runs and evidence.")

_TaskId = Annotated[str, typer.Argument(help="Id of the task.")]
Status = Annotated[str, typer.Option(help="How it ended, in a word of your choice: completed, failed, crashed, ...")]


@app.command()
def start(
    goal: Annotated[str, typer.Argument(help="Goal of the task.")],
    task_id: Annotated[str | None, typer.Option("--task-id", help="Id of the task; default: a new one.")] = None,
    agent: Agent = None,
    project: Project = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Start a task."""
    with opened(tenant) as graph:
        fields = fields_of(assignments, agent_id=agent, project_id=project)
        receipt = graph.tasks.start(goal, **merged_fields(fields, task_id=task_id, at=at))
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def progress(
    task_id: _TaskId,
    summary: Summary,
    next_step: Annotated[str, typer.Option("--next", help="The next step.")],
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Report a checkpoint and the next step."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        fields = fields_of(assignments, agent_id=agent)
        receipt = graph.tasks.progress(task_id, **merged_fields(fields, summary=summary, next_step=next_step, at=at))
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command("run-start")
def run_start(
    task_id: _TaskId,
    command: Annotated[str, typer.Option(help="The command that is run.")],
    why: Annotated[str, typer.Option(help="Why it was chosen.")],
    inputs: Annotated[list[str], typer.Option("--input", help="An input; can be repeated.")],
    tool: Annotated[str | None, typer.Option(help="The tool that is run.")] = None,
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Start a run; prints the run's id."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        fields = fields_of(assignments, agent_id=agent, tool_name=tool)
        receipt = graph.tasks.run_start(
            task_id, **merged_fields(fields, command=command, why_chosen=why, inputs=inputs, at=at)
        )
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command("run-finish")
def run_finish(
    task_id: _TaskId,
    status: Status,
    run_id: Annotated[str | None, typer.Option("--run", help="Id of the run; default: the only open one.")] = None,
    summary: Summary = "",
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Finish a run."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        fields = fields_of(assignments, agent_id=agent, summary=summary or None)
        receipt = graph.tasks.run_finish(task_id, **merged_fields(fields, run_id=run_id, status=status, at=at))
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def evidence(
    task_id: _TaskId,
    summary: Summary,
    supports: Annotated[
        bool | None, typer.Option("--supports/--opposes", help="Whether the result supports the claim.")
    ] = None,
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Add a concrete result."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        fields = fields_of(assignments, agent_id=agent)
        receipt = graph.tasks.add_evidence(
            task_id, **merged_fields(fields, summary=summary, supports_claim=supports, at=at)
        )
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def finish(
    task_id: _TaskId,
    status: Status = "completed",
    summary: Summary = "",
    worked: Annotated[list[str] | None, typer.Option(help="What worked; can be repeated.")] = None,
    failed: Annotated[list[str] | None, typer.Option(help="What failed; can be repeated.")] = None,
    agent: Agent = None,
    at: At = None,
    assignments: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Finish a task."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        fields = fields_of(assignments, agent_id=agent, what_worked=worked, what_failed=failed)
        receipt = graph.tasks.finish(task_id, **merged_fields(fields, status=status, summary=summary or None, at=at))
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def get(task_id: _TaskId, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a task with its runs and records."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        view = graph.tasks.get(task_id)
        emit(view.document(), as_json, lambda: _show(view))


@app.command("list")
def list_tasks(
    project: Project = None,
    status: Annotated[str | None, typer.Option(help="Only this status: open, completed, failed, ...")] = None,
    assignee: Annotated[str | None, typer.Option(help="Only tasks claimed by this agent.")] = None,
    limit: Limit = 100,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List tasks with their holders, the last changed first."""
    with opened(tenant) as graph:
        entries = graph.tasks.list(project_id=project, status=status, assignee=assignee, limit=limit)
        emit([entry.document() for entry in entries], as_json, lambda: out.print(_board(entries)))


@app.command()
def claim(
    task_id: _TaskId,
    agent: Agent = None,
    lease: Annotated[int, typer.Option(min=1, help="Seconds that the claim lasts.")] = LEASE,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Claim a task for a limited time; repeat it to extend the claim."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        receipt = graph.tasks.claim(task_id, agent_id=agent or "", lease=lease, at=at)
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def release(
    task_id: _TaskId, agent: Agent = None, at: At = None, tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """Release a claimed task."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        receipt = graph.tasks.release(task_id, agent_id=agent or "", at=at)
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


@app.command()
def reopen(
    task_id: _TaskId,
    summary: Summary,
    agent: Agent = None,
    at: At = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Reopen a finished task; the summary is the reason."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        receipt = graph.tasks.reopen(task_id, summary=summary, at=at, **fields_of(None, agent_id=agent))
        emit(receipt.document(), as_json, lambda: show_receipt(receipt))


app.command()(search)


@app.command()
def resume(task_id: _TaskId, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Summarise a task for the agent that continues it."""
    with opened(tenant) as graph:
        task_id = full_id(graph, task_id)
        resumed = graph.tasks.resume(task_id)
        emit(resumed.document(), as_json, lambda: out.print(resumed.text, highlight=False, markup=False))


def _board(entries: Sequence[TaskEntry]) -> Table:
    table = Table("task", "status", "project", "held by", "until", "goal")
    for entry in entries:
        holder = (entry.assignee or "", entry.lease_until or "")
        table.add_row(short_id(entry.task_id), entry.status, entry.project_id or "", *holder, entry.goal)
    if not entries:
        table.caption = "no task matches"
    return table


def _show(view: TaskView) -> None:
    show_mapping({"task": view.task_id, "status": view.status, **view.properties})
    runs = Table("run", "status", "command")
    for run in view.runs:
        runs.add_row(run["run_id"], run["status"], run.get("command", ""))
    out.print(runs, records_table(view.records))
