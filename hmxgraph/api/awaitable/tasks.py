"""Asynchronous twin of ``knowledge.plain.tasks``."""

from collections.abc import Sequence
from typing import Unpack

from hmxgraph.api._base import Moment, StepFields
from hmxgraph.api.awaitable.shared_work import AsyncSharedWork
from hmxgraph.graph import record_digests
from hmxgraph.protocol.parsing import checked_texts
from hmxgraph.protocol.record_results import Resume, TaskView, Written


class AsyncTasks(AsyncSharedWork):
    """Tasks, their runs and evidence; each write returns task_id, artifact_id and the projections made.

    Every step takes the envelope's further fields by name, ``at`` (else now) and ``artifact_id`` (else a fresh one);
    the same record given again is answered as before, with its time or without.
    """

    async def start(
        self, goal: str = "", *, task_id: str | None = None, at: Moment | None = None, **fields: Unpack[StepFields]
    ) -> Written:
        """The task begun, under a fresh id unless *task_id* gives one; ``parent_task_id`` makes it part of another.

        Raises:
            TaskError: no goal, or the task was started before.

        """
        given = {**fields, "goal": goal, "task_id": task_id}
        return await self._perform(self._recording("task_start", at, given))

    async def progress(
        self,
        task_id: str,
        *,
        summary: str = "",
        next_step: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """A checkpoint: what was done, and the next step (kept as the first follow-up).

        Raises:
            TaskError: no summary or next step, or the task is not open.
            InvalidRequest: follow-ups that are no list.

        """
        steps = ([next_step] if next_step else []) + checked_texts("followups", fields.get("followups"))
        given = {**fields, "task_id": task_id, "summary": summary, "followups": steps or None}
        return await self._perform(self._recording("task_progress", at, given))

    async def run_start(
        self,
        task_id: str,
        *,
        command: str = "",
        why_chosen: str = "",
        inputs: Sequence[str] = (),
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """A run begun; its artifact_id is the run's id.

        Raises:
            TaskError: no command, reason or inputs, or the task is not open.
            InvalidRequest: inputs that are no list.

        """
        worked_on = checked_texts("inputs", inputs)
        given = {**fields, "task_id": task_id, "command": command, "why_chosen": why_chosen, "inputs": worked_on}
        return await self._perform(self._recording("run_start", at, given))

    async def run_finish(
        self,
        task_id: str,
        *,
        run_id: str | None = None,
        status: str = "",
        summary: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """A run ended: *run_id*, else the only one open; ``status='failed'`` makes it a failure to learn from.

        Raises:
            TaskError: no status, or ``open``; no such run, none open, or several and none named.

        """
        said = {"reply_to_artifact_id": run_id, "status": status, "summary": summary}
        given = {**fields, **said, "task_id": task_id}
        return await self._perform(self._recording("run_finish", at, given))

    async def add_evidence(
        self,
        task_id: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """A concrete result, worth citing; ``supports_claim`` and ``evidence_kind`` say for what.

        Raises:
            TaskError: no summary, or the task is unknown or finished.

        """
        given = {**fields, "task_id": task_id, "summary": summary, "supports_claim": supports_claim}
        return await self._perform(self._recording("evidence", at, given))

    async def finish(
        self,
        task_id: str,
        *,
        status: str = "completed",
        summary: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """The task ended, with what worked, what failed, validation, uncertainty, follow-ups; open runs are abandoned.

        Raises:
            TaskError: the task is unknown or finished, or the status is ``open``.

        """
        given = {**fields, "task_id": task_id, "status": status, "summary": summary}
        return await self._perform(self._recording("task_finish", at, given))

    async def get(self, task_id: str) -> TaskView:
        """The task with its runs and records, oldest first.

        Raises:
            NotFound: there is no such task.

        """
        return await self._perform(record_digests.task(self._tenancy, task_id))

    async def resume(self, task_id: str) -> Resume:
        """What the next agent needs: summary, blockers, worked, failed, validation, follow-ups, runs, sources.

        Raises:
            NotFound: there is no such task.

        """
        return await self._perform(record_digests.resume(self._tenancy, task_id))
