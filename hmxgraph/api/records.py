"""``graph.records``: reviews, revisions, verifications and decisions on task records, and libraries of records."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from hmxgraph.api._base import DecisionFields, Moment, RecordFields, StepFields, check_arguments, named_items
from hmxgraph.api.tasks import SharedWork, submission
from hmxgraph.errors import naming
from hmxgraph.graph import record_digests, record_grounding, records
from hmxgraph.graph.records import write_all
from hmxgraph.protocol.record_results import Grounding, Library, RecordReceipt, RecordView


class Records(SharedWork):
    """Reviews, revisions, verifications and decisions, from which the trust in a record is derived.

    A verdict counts only if both it and the record name their agents, and these differ; of each agent, only the latest
    verdict counts. A reply to a digest or to an erased record raises `TaskError`, and so does a ``supports_claim`` that
    contradicts ``verification_status``.

    The methods that find records return the best match of *query* first. Without a query, they return verified evidence
    and verified highlights first, then the newest records. A query that is not text, or a limit outside 1..500, raises
    `InvalidRequest`.

    Example::

        task = graph.tasks.start("Find the leak", agent_id="ana")
        leak = graph.tasks.add_evidence(task.task_id, summary="The buffer is never freed", agent_id="ana")
        graph.records.verification(leak.artifact_id, summary="Reproduced", supports_claim=True, agent_id="bo")
        assert graph.records.get(leak.artifact_id).trust_tier == "verified_record"

    """

    def create(
        self,
        artifact_kind: str,
        *,
        task_id: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[RecordFields],
    ) -> RecordReceipt:
        """Create a record of any kind but ``digest``, by the rules of that kind; a reply needs no *task_id*.

        Raises:
            UnknownChoice: there is no such kind, and *task_id* is missing.
            InvalidDocument: the kind (with a *task_id*) or a field violates the envelope; every fault is listed.
            InvalidRequest: an unknown field, or one that callers cannot set, such as ``tenant_id``.
            TaskError: the task's existing records rule out this record, or a required field is missing.

        """
        return self._store_record(artifact_kind, at, {**fields, "task_id": task_id})

    def create_all(
        self,
        records: Iterable[Mapping[str, Any]],
        *,
        task_id: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[RecordFields],
    ) -> tuple[RecordReceipt, ...]:
        """Create several records in one transaction, all or none, and return their receipts in the same order.

        Each record is a mapping of the arguments of :meth:`create`, such as ``{"artifact_kind": "evidence", "summary":
        "..."}``; *task_id*, *at* and *fields* are defaults for all records. A record may build on those before it: with
        a *task_id*, one call can start that task, run commands in it and finish it.

        Raises:
            UnknownChoice, InvalidDocument, InvalidRequest, TaskError: as ``create`` does; the error names the record,
                such as ``records[2]``.

        """
        common = {"task_id": task_id, "at": at, **fields}
        defaults = {name: value for name, value in common.items() if value is not None}
        submissions = []
        for name, arguments in named_items("records", records, defaults):
            with naming(name):
                check_arguments(type(self).create, (), arguments)
                kind, moment = arguments.pop("artifact_kind"), arguments.pop("at", None)
                submissions.append(submission(kind, moment, arguments, name))
        return self._perform(write_all(self._tenancy, submissions))

    def review(
        self,
        reply_to: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Review the record *reply_to*; with ``supports_claim=True``, a review by another agent countersigns it.

        Raises:
            TaskError: no summary, or no such record.

        """
        reply = {"summary": summary, "supports_claim": supports_claim, "reply_to_artifact_id": reply_to}
        return self._store_record("review", at, {**fields, **reply})

    def revision(
        self,
        reply_to: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        supersedes: bool = False,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Revise the record *reply_to*; with *supersedes* the revision replaces that record, which becomes hidden.

        Raises:
            TaskError: there is no summary or no such record, the record was superseded before, or it is the verdict of
                another agent, which only that agent may supersede.

        """
        relation = {"relation_kind": "supersedes"} if supersedes else {}
        reply = {"summary": summary, "supports_claim": supports_claim, "reply_to_artifact_id": reply_to}
        return self._store_record("revision", at, {**fields, **relation, **reply})

    def verification(
        self,
        reply_to: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> RecordReceipt:
        """Countersign the record *reply_to* (``supports_claim=True``) or reject it (False).

        A verdict on one's own record does not count.

        Raises:
            TaskError: no summary, no verdict, a verdict that contradicts verification_status, or no such record.

        """
        status = None if supports_claim is None else "verified" if supports_claim else "rejected"
        reply = {"supports_claim": supports_claim, "reply_to_artifact_id": reply_to, "summary": summary}
        return self._store_record("verification", at, {"verification_status": status, **fields, **reply})

    def decision(
        self,
        task_id: str | None = None,
        *,
        summary: str = "",
        at: Moment | None = None,
        **fields: Unpack[DecisionFields],
    ) -> RecordReceipt:
        """Record a decision in a task or, with ``reply_to_artifact_id``, about a record.

        Raises:
            TaskError: no summary, or neither a task nor a record to reply to.

        """
        return self._store_record("decision", at, {**fields, "task_id": task_id, "summary": summary})

    def get(self, artifact_id: str) -> RecordView:
        """The record with its current trust tier, promotion state, and the replies that verified or rejected it.

        Raises:
            NotFound: there is no such record.

        """
        return self._perform(records.record_view(self._tenancy, artifact_id))

    def list_thread(self, thread_id: str, *, include_hidden: bool = True) -> tuple[RecordView, ...]:
        """The records of a thread, oldest first, at most 10,000, without digests; a task's thread has the task's id.

        With *include_hidden*, superseded and erased records are included.
        """
        return self._perform(records.thread(self._tenancy, thread_id, include_hidden=include_hidden))

    def find_related(self, claim: str, *, project_id: str | None = None, limit: int = 20) -> Grounding:
        """Records that support or contradict *claim* (a statement, or the id of a record), and its grounding_status.

        The status is ``verified``, ``grounded``, ``contested``, ``contradicted``, ``hint_only`` or ``ungrounded``.
        Evidence, the ends of runs and tasks, decisions, reviews, verifications and revisions count. Goals, hypotheses,
        questions and plans do not, except plans stated in decisions. Superseded and rejected records do not count at
        all; digests and records without an agent are only hints. *limit* applies to each of the three lists: the
        supporting records, the conflicting records and the hints.

        Raises:
            NotFound: *claim* is empty.
            InvalidRequest: *claim* or *project_id* is not text, or *limit* is outside 1..500.

        """
        return self._perform(record_grounding.find_related(self._tenancy, claim, project_id=project_id, limit=limit))

    def find_failures(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """Failures, with the digest of the failure library and compiled playbooks."""
        procedure = record_digests.library(self._tenancy, "failure_library", query, project_id=project_id, limit=limit)
        return self._perform(procedure)

    def find_decisions(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """Decisions, with the digest of the decision library and compiled decision policies."""
        procedure = record_digests.library(self._tenancy, "decision_library", query, project_id=project_id, limit=limit)
        return self._perform(procedure)

    def find_evidence(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """Evidence, with the digest of the evidence library and compiled causal patterns."""
        procedure = record_digests.library(self._tenancy, "evidence_library", query, project_id=project_id, limit=limit)
        return self._perform(procedure)

    def find_highlights(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """Validated successes, with the digest of the highlight library and compiled strategies."""
        role = "highlight_library"
        return self._perform(record_digests.library(self._tenancy, role, query, project_id=project_id, limit=limit))
