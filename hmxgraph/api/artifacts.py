"""Artifacts and conflicts: record, supersede, transition, resolve, and read as of any time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from hmxgraph.api._base import ArtifactFilters, Face, Moment, artifact_filter, as_artifact, as_us
from hmxgraph.graph import artifacts, conflicts, lifecycle
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.lifecycle import ArtifactPage, ArtifactReceipt, Chain, Conflict, Sorting
from hmxgraph.protocol.parsing import checked_list


class Artifacts(Face):
    """HMX-A artifacts and the conflicts between them."""

    def record_artifact(self, artifact: Artifact | Mapping[str, Any], *, at: Moment | None = None) -> ArtifactReceipt:
        """Record *artifact* and return the outcome: created, unchanged or duplicate.

        Unchanged: an artifact with the same id and immutable fields is already stored. Duplicate: another draft or
        active artifact has the same type and content. The time of recording is the later of *at* and ``created_at``;
        reads as of an earlier time do not see the artifact (HMX-A 2, 8). An artifact with ``supersedes`` is recorded
        in the same way as by :meth:`supersede`.

        Raises:
            InvalidDocument: *artifact* violates HMX-A; every fault is listed.
            ImmutableArtifact: the id belongs to an artifact whose immutable fields differ.
            LifecycleError: *artifact* has ``supersedes``, and :meth:`supersede` refuses it.
            NotFound: the artifact that it ``supersedes`` is not stored.

        """
        return self._perform(lifecycle.record_artifact(self._tenancy, as_artifact(artifact), at_us=as_us(at)))

    def import_chain(
        self, versions: Iterable[Artifact | Mapping[str, Any]], *, at: Moment | None = None
    ) -> tuple[ArtifactReceipt, ...]:
        """Record all versions of a chain, such as one read from another graph; return their receipts, oldest first.

        *versions* may be in any order. Versions that are already stored are left as they are, so that a stored chain
        can be brought up to date.

        Raises:
            InvalidRequest: there are no versions, they do not follow each other from version 1, or the last one is
                superseded.
            InvalidDocument: a version violates HMX-A; every fault is listed.
            LifecycleError: a version contradicts what is stored, such as a stored version with another successor.

        """
        documents = [as_artifact(version) for version in versions]
        return self._perform(lifecycle.import_chain(self._tenancy, documents, at_us=as_us(at)))

    def artifact(self, artifact_id: str, *, as_of: Moment | None = None) -> Artifact:
        """The artifact with this id, whatever its status.

        Raises:
            NotFound: there is none, or none was recorded by *as_of*.

        """
        return self._perform(artifacts.artifact(self._tenancy, artifact_id, as_of_us=as_us(as_of)))

    def artifacts(
        self,
        *,
        as_of: Moment | None = None,
        after: str | None = None,
        limit: int = 50,
        sort: str | None = None,
        order: str = "desc",
        total: bool = False,
        **filters: Unpack[ArtifactFilters],
    ) -> ArtifactPage:
        """A page of artifacts, by default the newest first; only active ones unless ``status`` is given (None: all).

        *sort* is ``"created"``, ``"updated"``, ``"confidence"`` or ``"evidence"``, *order* ``"desc"`` or ``"asc"``.
        With *total*, the page also has the number of all artifacts that match.

        Filters: ``status``, ``artifact_type``, ``tags`` (all of them), ``text`` (all its words), ``compiled_by``;
        ``agent_id`` and ``situation`` (tags) are matched against the validity scope (HMX-A 6). *after* is the
        ``cursor`` of the previous page.

        Raises:
            UnknownChoice: no such status, artifact type, sort or order.
            InvalidRequest: a filter is unknown, *tags* or *situation* is not a list, or *limit* is not a valid page
                size.
            NotFound: *after* is not a cursor of this sort.

        """
        criteria, sorting = artifact_filter(filters), Sorting(sort, order, total)
        page = artifacts.artifacts(
            self._tenancy, criteria, as_of_us=as_us(as_of), after=after, limit=limit, sorting=sorting
        )
        return self._perform(page)

    def artifact_types(self, artifact_ids: Sequence[str]) -> dict[str, str]:
        """The type of each artifact by its id, in one read; ids of anything else are left out.

        Raises:
            InvalidRequest: *artifact_ids* is not a list of ids.

        """
        return self._perform(artifacts.artifact_types(self._tenancy, checked_list("artifact_ids", artifact_ids)))

    def chain(self, artifact_id: str, *, as_of: Moment | None = None) -> Chain:
        """All versions of the artifact's supersession chain recorded by *as_of*, oldest first (HMX-A 7).

        Raises:
            NotFound: there is no such artifact, or none was recorded by then.

        """
        return self._perform(artifacts.chain(self._tenancy, artifact_id, as_of_us=as_us(as_of)))

    def supersede(
        self, old_id: str, artifact: Artifact | Mapping[str, Any], *, at: Moment | None = None
    ) -> ArtifactReceipt:
        """Replace the active artifact *old_id* with *artifact*, its next version, atomically (HMX-A 7).

        A draft is only a proposal: *old_id* stays active until the draft is activated.

        Raises:
            NotFound: there is no artifact *old_id*.
            AlreadySuperseded: *old_id* has another successor; the error names it.
            SupersessionCycle: *artifact* is *old_id* itself or an older version of it.
            InvalidTransition: *old_id* is not active.
            SuccessorMismatch: the type, tenant, predecessor, version or status of *artifact* does not fit.
            InvalidDocument: *artifact* violates HMX-A; every fault is listed.
            ImmutableArtifact: the id of *artifact* belongs to an artifact whose immutable fields differ.
            DuplicateArtifact: another draft or active artifact has its type and content.

        """
        successor = as_artifact(artifact)
        return self._perform(lifecycle.supersede(self._tenancy, old_id, successor, at_us=as_us(at)))

    def transition(self, artifact_id: str, status: str, *, reason: str = "", at: Moment | None = None) -> Artifact:
        """Change the status of an artifact, by one of the five legal transitions (HMX-A 5), and store the *reason*.

        Raises:
            NotFound: there is no such artifact.
            InvalidTransition: the transition is not legal (the error lists the legal ones), or *artifact_id* is a draft
                successor whose predecessor is no longer active.
            SuccessorNeeded: *status* is ``"superseded"``, which an active artifact becomes only through a successor.
            AlreadySuperseded: *artifact_id* is a draft successor whose predecessor has another successor.

        """
        return self._perform(lifecycle.transition(self._tenancy, artifact_id, status, reason=reason, at_us=as_us(at)))

    def conflicts(
        self,
        *,
        status: str | None = "open",
        as_of: Moment | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> tuple[Conflict, ...]:
        """Conflicts, newest first; *status* is ``"open"``, ``"resolved"``, or None for both.

        *limit* is the maximum number (default: all). *after* is the id of the last conflict of the previous page.

        Raises:
            UnknownChoice: no such status.
            InvalidRequest: *limit* is not a valid page size.
            NotFound: no conflict has the id *after*.

        """
        page = conflicts.conflicts(self._tenancy, status=status, as_of_us=as_us(as_of), limit=limit, after=after)
        return self._perform(page)

    def resolve(self, conflict_id: str, *, keep: str | None, reason: str = "", at: Moment | None = None) -> Conflict:
        """Resolve a conflict: *keep* is the id of the side that holds, or None to keep every side; nothing is deleted.

        Raises:
            NotFound: there is no such conflict, or no such side.
            ConflictClosed: the conflict was resolved before with another outcome or reason.

        """
        return self._perform(conflicts.resolve(self._tenancy, conflict_id, keep=keep, reason=reason, at_us=as_us(at)))
