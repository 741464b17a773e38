"""``graph.tasks``: tasks from start to finish, with their runs and evidence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from hmxgraph.api._base import (
    BoardFields,
    Face,
    Moment,
    NamedArguments,
    RecordSearch,
    StepFields,
    check_arguments,
    generated_fields,
    named_items,
    new_record,
    now_us,
    search_request,
)
from hmxgraph.errors import naming
from hmxgraph.graph import record_digests, record_search, records
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.records import Submission
from hmxgraph.protocol.parsing import checked_list
from hmxgraph.protocol.record_results import RecordReceipt, Resume, SearchResult, TaskEntry, TaskView
from hmxgraph.records.board import LEASE

# Shared by ``graph.tasks`` and ``graph.records``: creating and searching records.


def submission(kind: str, at: Moment | None, fields: Mapping[str, Any], name: str = "") -> Submission:
    """A record of *kind* to be stored; missing ids and times are generated. Errors call it *name*, if given."""
    return Submission(new_record(kind, at, fields), generated_fields(kind, at, fields), name)


def checkpoint(task_id: str, summary: str = "", next_step: str | None = None, **fields: Any) -> dict[str, Any]:
    """The fields of a checkpoint; the next step is the first follow-up.

    >>> checkpoint("t", "Bisected", "Fix it", followups=["Test it"])
    {'followups': ['Fix it', 'Test it'], 'task_id': 't', 'summary': 'Bisected'}
    """
    steps = ([next_step] if next_step else []) + checked_list("followups", fields.get("followups"))
    return {**fields, "followups": steps or None, "task_id": task_id, "summary": summary}


class SharedWork(NamedArguments, Face):
    """Base of `Tasks` and `Records`: both write and search task records."""

    def __init__(self, tenancy: Tenancy, connection: Connection, *, own_database: bool = False) -> None:
        self._tenancy = tenancy
        self._connection = connection
        self._own_database = own_database

    def _store_record(self, kind: str, at: Moment | None, fields: Mapping[str, Any]) -> RecordReceipt:
        """Store a record of *kind*, and return its receipt."""
        receipts = self._perform(records.write_all(self._tenancy, [submission(kind, at, fields)]))
        return receipts[0]

    def search(
        self,
        query: str = "",
        *,
        mode: str = "generic",
        limit: int = 20,
        include_hidden: bool = False,
        aliases: Sequence[str | tuple[str, str]] = (),
        **options: Unpack[RecordSearch],
    ) -> SearchResult:
        """Task records that match all exact filters, best match of *query* first (newest first without a query).

        *mode* is the purpose of the search, such as ``find_failures``; ``generic`` stands for no particular purpose.
        Records that serve the purpose, and the digest that summarises them, rank higher; without a query, only these
        are found. ``compact`` reduces hits to ids, trust and a short text; ``token_budget`` returns as many compact
        hits as fit; ``expand_event_siblings`` adds to each hit up to eight records of its project with the same
        ``event:`` tag. *include_hidden* adds superseded and retired records, with their ``hidden_reason``.

        *aliases* are former names of the same project: names of projects of this tenant, or pairs of a tenant and a
        project. Their records are searched as well; ``scope_expansion`` of the result lists all projects searched, and
        ``origin`` of a hit names the project that it comes from. Only callers with a database connection of their own
        can name other tenants; a server does not allow that.

        Raises:
            UnknownChoice: an unknown mode.
            InvalidRequest: an unknown filter, an invalid limit, budget or filter value, aliases without ``project_id``,
                or an alias that names another tenant when each tenant has its own database.

        """
        request = search_request(query, options, mode=mode, limit=limit, include_hidden=include_hidden)
        scopes = record_search.project_scopes(
            self._tenancy, options.get("project_id"), aliases, own_database=self._own_database
        )
        return self._perform(record_search.search(self._tenancy, request, scopes))


# ``graph.tasks``.


class Tasks(SharedWork):
    """Tasks, their runs and evidence; each write returns task_id, artifact_id and the projections (searchable texts).

    Every step also takes ``at`` (default: now), ``artifact_id`` (default: a fresh id) and, by name, the optional fields
    of its record. Repeating a step with the same artifact_id writes nothing, and the receipt has ``created=False``. A
    different step with that artifact_id raises `TaskError`: a record never changes.

    Values that no record may have, such as a blank ``agent_id``, raise `TaskError`; values of the wrong type raise
    `InvalidDocument`.
    """

    def start(
        self, goal: str = "", *, task_id: str | None = None, at: Moment | None = None, **fields: Unpack[StepFields]
    ) -> RecordReceipt:
        """Start a task, under a fresh id unless *task_id* is given; ``parent_task_id`` makes it a subtask.

        Raises:
            TaskError: no goal, the task was started before, or it would be a part of itself.

        """
        return self._store_record("task_start", at, {**fields, "goal": goal, "task_id": task_id})

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
            TaskError: the summary or the next step is missing, or the task is not open.
            InvalidRequest: follow-ups that are not a list.

        """
        return self._store_record("task_progress", at, checkpoint(task_id, summary, next_step, **fields))

    def progress_all(
        self,
        checkpoints: Iterable[Mapping[str, Any]],
        *,
        task_id: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> tuple[RecordReceipt, ...]:
        """Record several checkpoints in one transaction, all or none, and return their receipts in the same order.

        Each checkpoint is a mapping of the arguments of :meth:`progress`; *task_id*, *at* and *fields* are defaults for
        all checkpoints. For records of several kinds, use ``graph.records.create_all``.

        Raises:
            TaskError, InvalidRequest: as ``progress`` does; the error names the checkpoint, such as ``checkpoints[2]``.

        """
        common = {"task_id": task_id, "at": at, **fields}
        defaults = {name: value for name, value in common.items() if value is not None}
        submissions = []
        for name, arguments in named_items("checkpoints", checkpoints, defaults):
            with naming(name):
                check_arguments(type(self).progress, (), arguments)
                moment = arguments.pop("at", None)
                submissions.append(submission("task_progress", moment, checkpoint(**arguments), name))
        return self._perform(records.write_all(self._tenancy, submissions))

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
            TaskError: the command, the reason or the inputs are missing, or the task is not open.
            InvalidRequest: inputs that are not a list.

        """
        run = {"task_id": task_id, "command": command, "why_chosen": why_chosen}
        return self._store_record("run_start", at, {**fields, **run, "inputs": checked_list("inputs", inputs)})

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
            TaskError: the status is missing or ``open``, *run_id* is not an open run, *run_id* is missing and there is
                not exactly one open run, or the task is unknown or finished.

        """
        outcome = {"reply_to_artifact_id": run_id, "status": status, "summary": summary, "task_id": task_id}
        return self._store_record("run_finish", at, {**fields, **outcome})

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
        return self._store_record("evidence", at, {**fields, **evidence})

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
        return self._store_record("task_finish", at, {**fields, **outcome})

    def claim(
        self,
        task_id: str,
        *,
        agent_id: str,
        lease: int = LEASE,
        at: Moment | None = None,
        **fields: Unpack[BoardFields],
    ) -> RecordReceipt:
        """Claim a task for *lease* seconds; if the same agent claims it again, the lease is extended.

        A claim keeps others from claiming the task, not from adding records to it.

        Raises:
            TaskError: another agent holds the task, it is finished or unknown, the agent is blank, or the lease is
                not 1 second to 30 days.

        """
        claim = {"summary": f"Claimed for {lease} s", "parameters": {"lease_seconds": lease}, "agent_id": agent_id}
        return self._store_record(
            "task_progress", at, {**fields, **claim, "task_id": task_id, "artifact_role": "claim"}
        )

    def release(
        self, task_id: str, *, agent_id: str, at: Moment | None = None, **fields: Unpack[BoardFields]
    ) -> RecordReceipt:
        """Release a claimed task.

        Raises:
            TaskError: nobody or another agent holds it, or it is finished or unknown.

        """
        release = {"summary": "Released", "agent_id": agent_id, "task_id": task_id, "artifact_role": "release"}
        return self._store_record("task_progress", at, {**fields, **release})

    def reopen(
        self,
        task_id: str,
        *,
        summary: str,
        agent_id: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[BoardFields],
    ) -> RecordReceipt:
        """Reopen a finished task, with *summary* as the reason; it is then unclaimed.

        Raises:
            TaskError: no reason, or the task is unknown or not finished.

        """
        reopening = {"summary": summary, "agent_id": agent_id, "task_id": task_id, "artifact_role": "reopen"}
        return self._store_record("task_progress", at, {**fields, **reopening})

    def list(
        self,
        *,
        project_id: str | None = None,
        status: str | None = None,
        assignee: str | None = None,
        at: Moment | None = None,
        limit: int = 100,
    ) -> tuple[TaskEntry, ...]:
        """Tasks, the last changed first, filtered by project, status and assignee; expired claims do not count.

        Leases are judged at *at* (default: now). Agents are compared regardless of case and white space. The saved
        query ``explore/task_board`` shows the same in a browser.

        Raises:
            InvalidRequest: a value that is not valid text, or a limit outside 1..500.

        """
        filters = {"project_id": project_id, "status": status, "assignee": assignee}
        return self._perform(record_digests.board(self._tenancy, filters, at_us=now_us(at), limit=limit))

    def get(self, task_id: str) -> TaskView:
        """The task with its runs and its latest 10,000 records, oldest first; digests are left out.

        Raises:
            NotFound: there is no such task.

        """
        return self._perform(record_digests.task(self._tenancy, task_id))

    def resume(self, task_id: str) -> Resume:
        """What the next agent needs: goal, reason, decisions, findings, failures, next steps.

        ``.text`` is the whole resume, for a prompt; apart from runs, it repeats no text. What another agent's
        verification rejected is listed under ``rejected`` only. A blocker is listed until a later checkpoint or the end
        of the task does not repeat it, or until the blocked agent starts or finishes a run.

        Raises:
            NotFound: there is no such task.

        """
        return self._perform(record_digests.resume(self._tenancy, task_id))
