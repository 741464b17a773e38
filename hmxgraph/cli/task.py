"""``hmxgraph task``: start, progress, run-start, run-finish, evidence, finish, get, search, resume."""

from typing import Annotated

import typer
from rich.table import Table

from hmxgraph.cli._fields import (
    Agent,
    At,
    Project,
    Set,
    Summary,
    fields_of,
    records_table,
    search,
    show_mapping,
    show_written,
)
from hmxgraph.cli._terminal import AsJson, Tenant, emit, opened, out
from hmxgraph.protocol.record_results import TaskView

app = typer.Typer(no_args_is_help=True, help="Tasks: shared work, step by step, with its runs and evidence.")

_TaskId = Annotated[str, typer.Argument(help="Id of the task.")]
Status = Annotated[str, typer.Option(help="How it ended: completed, failed, ...")]


@app.command()
def start(
    goal: Annotated[str, typer.Argument(help="What is to be reached.")],
    task_id: Annotated[str | None, typer.Option("--task-id", help="An id of your own; else a fresh one.")] = None,
    agent: Agent = None,
    project: Project = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Begin a task."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent, project_id=project)
        written = graph.tasks.start(goal, task_id=task_id, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def progress(
    task_id: _TaskId,
    summary: Summary,
    next_step: Annotated[str, typer.Option("--next", help="The next step.")],
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Report a checkpoint and the next step."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent)
        written = graph.tasks.progress(task_id, summary=summary, next_step=next_step, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command("run-start")
def run_start(
    task_id: _TaskId,
    command: Annotated[str, typer.Option(help="What is run.")],
    why: Annotated[str, typer.Option(help="Why it was chosen.")],
    inputs: Annotated[list[str], typer.Option("--input", help="An input; repeat it for several.")],
    tool: Annotated[str | None, typer.Option(help="The tool that runs.")] = None,
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Begin a run; the id printed is the run's."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent, tool_name=tool)
        written = graph.tasks.run_start(task_id, command=command, why_chosen=why, inputs=inputs, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command("run-finish")
def run_finish(
    task_id: _TaskId,
    status: Status,
    run_id: Annotated[str | None, typer.Option("--run", help="Which run; else the only one open.")] = None,
    summary: Summary = "",
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """End a run."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent)
        said = summary or None
        written = graph.tasks.run_finish(task_id, run_id=run_id, status=status, summary=said, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def evidence(
    task_id: _TaskId,
    summary: Summary,
    supports: Annotated[bool | None, typer.Option("--supports/--opposes", help="Whether it backs the claim.")] = None,
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Add a concrete result."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent)
        written = graph.tasks.add_evidence(task_id, summary=summary, supports_claim=supports, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def finish(
    task_id: _TaskId,
    status: Status = "completed",
    summary: Summary = "",
    worked: Annotated[list[str] | None, typer.Option(help="What worked; repeat it for several.")] = None,
    failed: Annotated[list[str] | None, typer.Option(help="What failed; repeat it for several.")] = None,
    agent: Agent = None,
    at: At = None,
    more: Set = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """End a task."""
    with opened(tenant) as graph:
        fields = fields_of(more, agent_id=agent, what_worked=worked, what_failed=failed)
        written = graph.tasks.finish(task_id, status=status, summary=summary or None, at=at, **fields)
        emit(written.document(), as_json, lambda: show_written(written))


@app.command()
def get(task_id: _TaskId, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a task with its runs and records."""
    with opened(tenant) as graph:
        found = graph.tasks.get(task_id)
        emit(found.document(), as_json, lambda: _show(found))


app.command()(search)


@app.command()
def resume(task_id: _TaskId, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Tell the next agent where a task stands."""
    with opened(tenant) as graph:
        found = graph.tasks.resume(task_id)
        shown = {name: value for name, value in found.document().items() if name != "digest" and value}
        emit(found.document(), as_json, lambda: show_mapping(shown))


def _show(found: TaskView) -> None:
    show_mapping({"task": found.task_id, "status": found.status, **found.properties})
    runs = Table("run", "status", "command")
    for run in found.runs:
        runs.add_row(run["run_id"], run["status"], run.get("command", ""))
    out.print(runs, records_table(found.records))
