"""Asynchronous twin of ``knowledge.plain.records``."""

from typing import Unpack

from hmxgraph.api._base import DecisionFields, Moment, RecordFields, StepFields
from hmxgraph.api.awaitable.shared_work import AsyncSharedWork
from hmxgraph.graph import record_digests, records
from hmxgraph.protocol.record_results import Library, RecordView, Related, Written


class AsyncRecords(AsyncSharedWork):
    """Reviews, revisions, verifications, decisions: replies that make a record trusted, or take its trust away."""

    async def create(
        self,
        artifact_kind: str,
        *,
        task_id: str | None = None,
        at: Moment | None = None,
        **fields: Unpack[RecordFields],
    ) -> Written:
        """A record of any of the eleven kinds, under the rules of its kind; a reply needs no task_id.

        Raises:
            UnknownChoice: no such kind, and no task that a record could be of.
            InvalidDocument: the fields are no record; every fault is listed.
            TaskError: the record is impossible as its task stands, or says too little.

        """
        given = {**fields, "task_id": task_id}
        return await self._perform(self._recording(artifact_kind, at, given))

    async def review(
        self,
        reply_to: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """A review of the record *reply_to*; with ``supports_claim=True`` another agent's name under it.

        Raises:
            TaskError: no summary, or no such record.

        """
        said = {"summary": summary, "supports_claim": supports_claim}
        given = {**fields, **said, "reply_to_artifact_id": reply_to}
        return await self._perform(self._recording("review", at, given))

    async def revision(
        self,
        reply_to: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        supersedes: bool = False,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """A revision of the record *reply_to*; with *supersedes* it takes its place, and the old one is hidden.

        Raises:
            TaskError: no summary, no such record, another one took its place before, or what another agent said of a
                record was to be superseded: only its author takes that back.

        """
        relation = {"relation_kind": "supersedes"} if supersedes else {}
        said = {"summary": summary, "supports_claim": supports_claim}
        given = {**fields, **relation, **said, "reply_to_artifact_id": reply_to}
        return await self._perform(self._recording("revision", at, given))

    async def verification(
        self,
        reply_to: str,
        *,
        summary: str = "",
        supports_claim: bool | None = None,
        at: Moment | None = None,
        **fields: Unpack[StepFields],
    ) -> Written:
        """The record *reply_to* countersigned (*supports_claim*) or rejected; only another agent's word counts.

        Raises:
            TaskError: no summary, no verdict, one that verification_status contradicts, or no such record.

        """
        status = None if supports_claim is None else "verified" if supports_claim else "rejected"
        said = {"supports_claim": supports_claim, "reply_to_artifact_id": reply_to, "summary": summary}
        given = {"verification_status": status, **fields, **said}
        return await self._perform(self._recording("verification", at, given))

    async def decision(
        self,
        task_id: str | None = None,
        *,
        summary: str = "",
        at: Moment | None = None,
        **fields: Unpack[DecisionFields],
    ) -> Written:
        """A decision in a task, or, with ``reply_to_artifact_id``, about a record.

        Raises:
            TaskError: no summary, or neither task nor record.

        """
        given = {**fields, "task_id": task_id, "summary": summary}
        return await self._perform(self._recording("decision", at, given))

    async def get(self, artifact_id: str) -> RecordView:
        """The record with its trust tier, promotion state and who verified or rejected it, as of now.

        Raises:
            NotFound: there is none.

        """
        return await self._perform(records.record(self._tenancy, artifact_id))

    async def list_thread(self, thread_id: str, *, include_hidden: bool = True) -> tuple[RecordView, ...]:
        """A thread's records, oldest first (a task's own thread has the task's id)."""
        return await self._perform(records.thread(self._tenancy, thread_id, include_hidden=include_hidden))

    async def find_related(self, claim: str, *, project_id: str | None = None, limit: int = 20) -> Related:
        """What *claim* (a statement, or a record's id) rests on: supporting and conflicting records, grounding_status.

        ``verified``, ``grounded``, ``contested``, ``contradicted``, ``hint_only`` or ``ungrounded``; digests are hints.

        Raises:
            NotFound: *claim* is empty.
            InvalidRequest: a claim or project that is no text, or a limit outside 1..500.

        """
        return await self._perform(
            record_digests.find_related(self._tenancy, claim, project_id=project_id, limit=limit)
        )

    async def find_failures(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """What failed, newest or best match first, with the failure library and compiled playbooks."""
        found = record_digests.library(self._tenancy, "failure_library", query, project_id=project_id, limit=limit)
        return await self._perform(found)

    async def find_decisions(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """What was decided, with the decision library and compiled decision policies."""
        found = record_digests.library(self._tenancy, "decision_library", query, project_id=project_id, limit=limit)
        return await self._perform(found)

    async def find_evidence(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """What was found out, with the evidence library and compiled causal patterns."""
        found = record_digests.library(self._tenancy, "evidence_library", query, project_id=project_id, limit=limit)
        return await self._perform(found)

    async def find_highlights(self, query: str = "", *, project_id: str | None = None, limit: int = 20) -> Library:
        """What worked and was validated, with the highlight library and compiled strategies."""
        found = record_digests.library(self._tenancy, "highlight_library", query, project_id=project_id, limit=limit)
        return await self._perform(found)
