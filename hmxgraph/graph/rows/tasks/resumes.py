"""A task as its next agent sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.tasks.results import RecordView, TaskView
from hmxgraph.protocol.timestamps import iso


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a task stands: in words, with what blocks it, what to do next, and the records that say so.

    ``runs`` are the last ones in words, newest first; ``sources`` the ids of the records behind all of this, ``digest``
    the record that keeps it (a hint: trust the sources).
    """

    task_id: str
    status: str
    goal: str
    summary: str
    blockers: tuple[str, ...]
    what_worked: tuple[str, ...]
    what_failed: tuple[str, ...]
    validation: tuple[str, ...]
    followups: tuple[str, ...]
    recent_runs: tuple[str, ...]
    sources: tuple[str, ...]
    verified: tuple[str, ...]
    digest: RecordView | None
    source_updated_at_ms: int | None

    def document(self) -> dict[str, Any]:
        """The resume as a JSON-able dict."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "digest"}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
        return plain | {"digest": self.digest.document() if self.digest else None}


def resume_of(task_id: str, digest: RecordView | None, told: Mapping[str, Any], found: Sequence[RecordView]) -> Resume:
    """The resume that the task's records tell, beside the digest that keeps it."""
    return Resume(
        task_id,
        told["status"],
        told["goal"] or "",
        told["summary"],
        tuple(told["blockers"]),
        tuple(told["what_worked"]),
        tuple(told["what_failed"]),
        tuple(told["validation"]),
        tuple(told["followups"]),
        tuple(told["outputs"]),
        tuple(view.artifact_id for view in found),
        tuple(view.artifact_id for view in found if view.trust_tier == "verified_record"),
        digest,
        digest.record.source_updated_at_ms if digest else None,
    )


def task_view(row: Row, records: Sequence[RecordView]) -> TaskView:
    """The task in a row of ``tasks/get``."""
    task = row["task"]
    shown = ("goal", "project_id", "thread_id", "agent_id", "record_count")
    properties = {name: task[name] for name in shown if name in task} | _times(task)
    runs = sorted(row["runs"], key=lambda run: (run["started_us"], run["run_id"]))
    return TaskView(
        task["task_id"],
        task["status"],
        properties,
        tuple(_run(run) for run in runs),
        tuple(records),
        row["parent_task_id"],
    )


def _run(run: Row) -> dict[str, Any]:
    shown = ("run_id", "status", "tool_name", "command", "agent_id")
    return {name: run[name] for name in shown if name in run} | _times(run)


def _times(node: Row) -> dict[str, str]:
    named = {"started_us": "started_at", "finished_us": "finished_at", "updated_us": "updated_at"}
    return {shown: iso(node[stored]) for stored, shown in named.items() if stored in node}
