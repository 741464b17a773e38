"""What a task's record so far says, as far as the next step depends on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

OPEN = "open"
# Kinds that only the life of a task produces; the others are said about it, before or after its end.
STEPS = frozenset({"task_start", "task_progress", "run_start", "run_finish", "evidence", "task_finish"})


@dataclass(frozen=True, slots=True)
class Standing:
    """A task as it stands: its status, the run ids that are open, all of its run ids, project, goal, and runs' tools.

    ``status`` is None before the task's start, ``open`` during its life, else what its finish said.
    """

    task_id: str
    status: str | None = None
    open_runs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    project_id: str | None = None
    goal: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        """Whether there is such a task."""
        return self.status is not None

    @property
    def finished(self) -> bool:
        """Whether its end was recorded."""
        return self.status not in {None, OPEN}


@dataclass(frozen=True, slots=True)
class Parent:
    """The record that is replied to: what it is, whose, where, what it says of another, and what took its place."""

    artifact_id: str
    artifact_kind: str
    task_id: str
    thread_id: str | None = None
    project_id: str | None = None
    agent_id: str | None = None
    supports_claim: bool | None = None
    superseded_by: str | None = None
    erased: bool = False
