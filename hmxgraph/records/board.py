"""The task board: agents claim tasks for the time of a lease, release them, and reopen finished ones.

Each of these steps is a checkpoint (``task_progress``) with the ``artifact_role`` claim, release or reopen, so that it
is stored, ordered and erased like all other records of the task.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.timestamps import iso
from hmxgraph.records.trust import OPEN, agent_key

# Default length of a claim, and the longest, in seconds.
LEASE = 3_600
_LONGEST_LEASE = 30 * 86_400
_US_PER_SECOND = 1_000_000


class BoardTask(Protocol):
    """The state of a task that the board depends on."""

    @property
    def task_id(self) -> str:
        """The task's id."""
        ...

    @property
    def status(self) -> str | None:
        """Its status."""
        ...

    @property
    def finished(self) -> bool:
        """Whether it is finished, and not reopened since."""
        ...

    @property
    def assignee(self) -> str | None:
        """Who claimed it last; None without a claim, after a release or reopening, or if it was finished unclaimed."""
        ...

    @property
    def lease_until_us(self) -> int | None:
        """When that claim ends, in microseconds since 1970; None without a claim, or once the task is finished."""
        ...


def lease_of(record: TaskRecord) -> int:
    """The length of a claim in seconds.

    Raises:
        TaskError: it is not a whole number from 1 second to 30 days.

    """
    seconds = record.parameters.get("lease_seconds") if isinstance(record.parameters, Mapping) else None
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 1 <= seconds <= _LONGEST_LEASE:
        reason = f"a lease of {seconds!r:.40} is not a whole number of seconds from 1 to {_LONGEST_LEASE}"
        raise TaskError("claim", reason, "give the seconds (lease=3600)")
    return seconds


def check_board_fields(record: TaskRecord) -> None:
    """Refuse a claim or release without an agent, a claim without a valid lease, and a reopening without a reason.

    Raises:
        TaskError: what is missing or wrong, and the way out.

    """
    role = record.artifact_role or ""
    if role != "reopen" and agent_key(record.agent_id) is None:
        raise TaskError(
            role,
            "agent_id is missing: a claim or release names the agent that holds the task",
            "name the agent (agent_id=...)",
        )
    if role == "claim":
        lease_of(record)
    if role == "reopen" and not (record.summary or "").strip():
        raise TaskError(role, "summary is missing: a finished task is reopened for a reason", "give it (summary=...)")


def check_board_step(record: TaskRecord, task: BoardTask) -> None:
    """Refuse a claim, release or reopening that the state of the task does not allow.

    Raises:
        TaskError: another agent holds the task, nobody holds it (release), or it is finished (for reopen: it is not).

    """
    role, name = record.artifact_role or "", f"task {task.task_id!r}"
    if role == "reopen":
        if not task.finished:
            raise TaskError(role, f"{name} is not finished", "claim it (tasks.claim), or just work on it")
        return
    if task.finished:
        raise TaskError(role, f"{name} is finished ({task.status})", "reopen it first (tasks.reopen)")
    holder = holder_at(task, record.created_us)
    if role == "release" and holder is None:
        raise TaskError(role, f"nobody holds {name}", "there is nothing to release")
    if holder is not None and agent_key(holder) != agent_key(record.agent_id):
        reason = f"{name} is held by {holder!r:.60} until {iso(task.lease_until_us or 0)}"
        raise TaskError(role, reason, "wait for the end of the lease, ask for a release, or choose another task")


def holder_at(task: BoardTask, at_us: int) -> str | None:
    """Who holds the unfinished *task* at a time: whoever claimed it last, until the lease is over; or None."""
    lapsed = task.lease_until_us is not None and task.lease_until_us <= at_us
    return None if lapsed else task.assignee


def board_changes(record: TaskRecord) -> dict[str, Any]:
    """The properties of the task that a board step changes; None removes a property."""
    if record.artifact_role == "claim":
        until_us = record.created_us + lease_of(record) * _US_PER_SECOND
        holder = {"assignee": record.agent_id, "assignee_key": agent_key(record.agent_id), "lease_until_us": until_us}
        return {**holder, "status": OPEN}
    no_holder = {"assignee": None, "assignee_key": None, "lease_until_us": None}
    return {**no_holder, "status": OPEN} | ({"finished_us": None} if record.artifact_role == "reopen" else {})
