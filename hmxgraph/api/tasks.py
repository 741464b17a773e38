"""``graph.tasks``: tasks from start to finish, with their runs and evidence."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from hmxgraph.api._base import Face, Moment, RecordSearch, StepFields, generated_fields, new_record, search_request
from hmxgraph.graph import record_digests, record_search, records
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Procedure
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.parsing import checked_list
from hmxgraph.protocol.record_results import RecordReceipt, Resume, SearchResult, TaskView

# Shared by ``graph.tasks`` and ``graph.records``: creating and searching records.


class SharedWork(Face):
    """Base of tasks and records: both are stored as task records."""

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def _recording(self, kind: str, at: Moment | None, fields: Mapping[str, Any]) -> Procedure[RecordReceipt]:
        """The procedure that stores a record of *kind*; missing ids and times are generated here."""
        return records.write_fields(self._tenancy, new_record(kind, at, fields), generated_fields(kind, at, fields))

    def search(
        self,
        query: str = "",
        *,
        mode: str = "generic",
        limit: int = 20,
        include_hidden: bool = False,
        **options: Unpack[RecordSearch],
    ) -> SearchResult:
        """Task records that match all exact filters, best match of *query* first (newest first without a query).

        ``compact`` reduces hits to ids, trust and a short text; ``token_budget`` returns as many compact hits as fit;
        ``expand_event_siblings`` adds records with the same ``event:`` tag. *include_hidden* adds superseded and
        retired records, with their ``hidden_reason``.

        Raises:
            UnknownChoice: an unknown filter or mode.

        """
        request = search_request(query, options, mode=mode, limit=limit, include_hidden=include_hidden)
        return self._perform(record_search.search(self._tenancy, request))


# ``graph.tasks``.


class Tasks(SharedWork):
    """Tasks, their runs and evidence; each write returns task_id, artifact_id and the projections.

    Every step takes the further fields of the envelope by name, ``at`` (default: now) and ``artifact_id`` (default: a
    fresh id). Repeating a step with the same artifact_id writes nothing and returns the same receipt.
    """

    def start(
        self, goal: str = "", *, task_id: str | None = None, at: Moment | None = None, **fields: Unpack[StepFields]
    ) -> RecordReceipt:
        """Start a task, under a fresh id unless *task_id* is given; ``parent_task_id`` makes it a subtask.

        Raises:
            TaskError: no goal, or the task was started before.

        """
        return self._perform(self._recording("task_start", at, {**fields, "goal": goal, "task_id": task_id}))

    def progress(
        self,
        task_id: str,
        *,
        summary: str = "",
        next_step: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Record a checkpoint: what was done, and the next step (kept as the first follow-up).

        Raises:
            TaskError: no summary or next step, or the task is not open.
            InvalidRequest: follow-ups that are not a list.

        """
        steps = ([next_step] if next_step else []) + checked_list("followups", fields.get("followups"))
        checkpoint = {**fields, "task_id": task_id, "summary": summary, "followups": steps or None}
        return self._perform(self._recording("task_progress", at, checkpoint))

    def run_start(
        self,
        task_id: str,
        *,
        command: str = "",
        why_chosen: str = "",
        inputs: Sequence[str] = (),
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Start a run; the artifact_id of the receipt is the run's id.

        Raises:
            TaskError: no command, reason or inputs, or the task is not open.
            InvalidRequest: inputs that are not a list.

        """
        run = {"task_id": task_id, "command": command, "why_chosen": why_chosen}
        return self._perform(
            self._recording("run_start", at, {**fields, **run, "inputs": checked_list("inputs", inputs)})
        )

    def run_finish(
        self,
        task_id: str,
        *,
        run_id: str | None = None,
        status: str = "",
        summary: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Finish the run *run_id*, or the only open one; ``status='failed'`` makes it a failure to learn from.

        Raises:
            TaskError: no status, or ``open``; no such run, no open run, or several open runs and no *run_id*.

        """
        outcome = {"reply_to_artifact_id": run_id, "status": status, "summary": summary, "task_id": task_id}
        return self._perform(self._recording("run_finish", at, {**fields, **outcome}))

    def add_evidence(
        self,
        task_id: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Record a concrete result; ``supports_claim`` and ``evidence_kind`` say what it is evidence for.

        Raises:
            TaskError: no summary, or the task is unknown or finished.

        """
        evidence = {"task_id": task_id, "summary": summary, "supports_claim": supports_claim}
        return self._perform(self._recording("evidence", at, {**fields, **evidence}))

    def finish(
        self,
        task_id: str,
        *,
        status: str = "completed",
        summary: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Finish a task, with what worked, what failed, validation, uncertainty, follow-ups; open runs are abandoned.

        Raises:
            TaskError: the task is unknown or finished, or the status is ``open``.

        """
        outcome = {"task_id": task_id, "status": status, "summary": summary}
        return self._perform(self._recording("task_finish", at, {**fields, **outcome}))

    def get(self, task_id: str) -> TaskView:
        """The task with its runs and records, oldest first.

        Raises:
            NotFound: there is no such task.

        """
        return self._perform(record_digests.task(self._tenancy, task_id))

    def resume(self, task_id: str) -> Resume:
        """What the next agent needs: goal and why, what was decided and seen, what failed, what is open, what is next.

        Every text appears once; ``.text`` is the whole for a prompt. What another agent's verification rejected is
        under ``rejected`` only. Blockers end with the next checkpoint or end that does not repeat them, or with another
        run of the agent who was blocked.

        Raises:
            NotFound: there is no such task.

        """
        return self._perform(record_digests.resume(self._tenancy, task_id))
