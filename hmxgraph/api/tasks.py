"""``graph.tasks``: the life of a task, step by step."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from hmxgraph.api._base import Face, Moment, RecordSearch, StepFields, drafted, made_up, searched
from hmxgraph.graph import record_digests, record_search, records
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Procedure
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.parsing import checked_texts
from hmxgraph.protocol.record_results import Resume, SearchResult, TaskView, Written

# What ``graph.tasks`` and ``graph.records`` have in common: one store of records, and one search over it.


class SharedWork(Face):
    """The records of a tenant: a task is told by records, and records are about tasks."""

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def _recording(self, kind: str, at: Moment | None, given: Mapping[str, Any]) -> Procedure[Written]:
        """How the record of *kind* that *given* describes is stored; what is left open is filled in here."""
        return records.write_fields(self._tenancy, drafted(kind, at, given), made_up(kind, at, given))

    def search(
        self,
        query: str = "",
        *,
        mode: str = "generic",
        limit: int = 20,
        include_hidden: bool = False,
        **wanted: Unpack[RecordSearch],
    ) -> SearchResult:
        """Task records that all exact filters hold for, best match of *query* first (newest first without words).

        ``compact`` leaves ids, trust and a short text; ``token_budget`` as many compact hits as it holds;
        ``expand_event_siblings`` adds what carries the same ``event:`` tag. Superseded and
        retired records come only with *include_hidden*, with their ``hidden_reason``.

        Raises:
            UnknownChoice: an unknown filter or mode.

        """
        asked = searched(query, wanted, mode=mode, limit=limit, include_hidden=include_hidden)
        return self._perform(record_search.search(self._tenancy, asked))


# ``graph.tasks``: the life of a task, step by step, and what is known about it.


class Tasks(SharedWork):
    """Tasks, their runs and evidence; each write returns task_id, artifact_id and the projections made.

    Every step takes the envelope's further fields by name, ``at`` (else now) and ``artifact_id`` (else a fresh one);
    the same record given again is answered as before, with its time or without.
    """

    def start(
        self, goal: str = "", *, task_id: str | None = None, at: Moment | None = None, **fields: Unpack[StepFields]
    ) -> Written:
        """The task begun, under a fresh id unless *task_id* gives one; ``parent_task_id`` makes it part of another.

        Raises:
            TaskError: no goal, or the task was started before.

        """
        given = {**fields, "goal": goal, "task_id": task_id}
        return self._perform(self._recording("task_start", at, given))

    def progress(
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
        return self._perform(self._recording("task_progress", at, given))

    def run_start(
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
        return self._perform(self._recording("run_start", at, given))

    def run_finish(
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
        return self._perform(self._recording("run_finish", at, given))

    def add_evidence(
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
        return self._perform(self._recording("evidence", at, given))

    def finish(
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
        return self._perform(self._recording("task_finish", at, given))

    def get(self, task_id: str) -> TaskView:
        """The task with its runs and records, oldest first.

        Raises:
            NotFound: there is no such task.

        """
        return self._perform(record_digests.task(self._tenancy, task_id))

    def resume(self, task_id: str) -> Resume:
        """What the next agent needs: summary, blockers, worked, failed, validation, follow-ups, runs, sources.

        Raises:
            NotFound: there is no such task.

        """
        return self._perform(record_digests.resume(self._tenancy, task_id))
