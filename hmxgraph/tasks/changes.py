"""What one record changes about its task and runs: plain values, written by the graph."""

from dataclasses import dataclass
from typing import Any

from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.standing import OPEN, Standing

ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Changes:
    """Properties that the task gets, and those of each of its runs that changes, by run id."""

    task: dict[str, Any]
    runs: dict[str, dict[str, Any]]


def changes(record: TaskRecord, standing: Standing) -> Changes:
    """What *record* changes about a task that stands like *standing*.

    >>> start = TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=1, goal="Find the leak")
    >>> changes(start, Standing("t")).task["status"]
    'open'
    """
    match record.artifact_kind:
        case "task_start":
            return Changes(_started(record), {})
        case "run_start":
            return Changes(_touched(record), {record.artifact_id: _run_started(record)})
        case "run_finish":
            run = {"status": record.status, "finished_us": record.created_us}
            return Changes(_touched(record), {record.reply_to_artifact_id or "": run})
        case "task_finish":
            ended = {"status": ABANDONED, "finished_us": record.created_us}
            finished = {"status": record.status, "finished_us": record.created_us}
            return Changes(_touched(record) | finished, dict.fromkeys(standing.open_runs, ended))
        case _:
            return Changes(_touched(record), {})


def _touched(record: TaskRecord) -> dict[str, Any]:
    return {"updated_us": record.created_us}


def _started(record: TaskRecord) -> dict[str, Any]:
    found = {
        "task_id": record.task_id,
        "goal": record.goal,
        "project_id": record.project_id,
        "thread_id": record.thread_id,
        "agent_id": record.agent_id,
        "status": OPEN,
        "started_us": record.created_us,
    }
    return _touched(record) | {name: value for name, value in found.items() if value is not None}


def _run_started(record: TaskRecord) -> dict[str, Any]:
    found = {
        "run_id": record.artifact_id,
        "task_id": record.task_id,
        "status": OPEN,
        "tool_name": record.tool_name,
        "command": record.command,
        "agent_id": record.agent_id,
        "started_us": record.created_us,
    }
    return {name: value for name, value in found.items() if value is not None}
