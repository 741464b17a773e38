"""Artifacts and conflicts: recorded, superseded, moved, read as of any time."""

from collections.abc import Mapping
from typing import Any, Unpack

from hmxgraph.api._base import Face, Moment, WantedArtifacts, artifact_filter, as_artifact, as_us
from hmxgraph.graph import artifacts, conflicts, lifecycle
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.lifecycle import ArtifactPage, Chain, Conflict, Recorded


class Artifacts(Face):
    """The part of the front door that keeps HMX-A artifacts and what contradicts them."""

    def record_artifact(self, artifact: Artifact | Mapping[str, Any], *, at: Moment | None = None) -> Recorded:
        """What became of *artifact*: created, unchanged (known id, same core), or duplicate (same type and content).

        It counts as recorded at *at*, else at its ``created_at``; earlier as-of reads do not see it (HMX-A 2, 8).

        Raises:
            InvalidDocument: it breaks HMX-A; every fault is listed.
            ImmutableArtifact: the id is taken by an artifact with another core.

        """
        return self._perform(lifecycle.record_artifact(self._tenancy, as_artifact(artifact), at_us=as_us(at)))

    def artifact(self, artifact_id: str, *, as_of: Moment | None = None) -> Artifact:
        """The artifact with this id, whatever its status.

        Raises:
            NotFound: there is none, or there was none by *as_of*.

        """
        return self._perform(artifacts.artifact(self._tenancy, artifact_id, as_of_us=as_us(as_of)))

    def artifacts(
        self,
        *,
        as_of: Moment | None = None,
        after: str | None = None,
        limit: int = 50,
        **wanted: Unpack[WantedArtifacts],
    ) -> ArtifactPage:
        """A page of artifacts, newest first, active ones unless ``status`` says otherwise (None: all).

        Filters: ``status``, ``artifact_type``, ``tags`` (all of them), ``text`` (all its words), ``compiled_by``;
        ``agent_id`` and ``situation`` say who asks and about what, for the validity scope (HMX-A 6). *after* is the
        ``cursor`` of the page before.

        Raises:
            UnknownChoice: no such status.
            InvalidRequest: *limit* is no size of a page.
            NotFound: *after* is no cursor.

        """
        page = artifacts.artifacts(
            self._tenancy, artifact_filter(wanted), as_of_us=as_us(as_of), after=after, limit=limit
        )
        return self._perform(page)

    def chain(self, artifact_id: str, *, as_of: Moment | None = None) -> Chain:
        """All versions of the artifact's supersession chain recorded by *as_of*, oldest first (HMX-A 7).

        Raises:
            NotFound: there is no such artifact, or there was none by then.

        """
        return self._perform(artifacts.chain(self._tenancy, artifact_id, as_of_us=as_us(as_of)))

    def supersede(self, old_id: str, artifact: Artifact | Mapping[str, Any], *, at: Moment | None = None) -> Recorded:
        """*artifact* put in the place of the active head *old_id*: status, edge and next version at once (HMX-A 7).

        Raises:
            NotFound: there is no artifact *old_id*.
            AlreadySuperseded: somebody else's successor stands there; it names the winner.
            SupersessionCycle: *artifact* is *old_id* itself or part of its history.
            SuccessorMismatch: another type, tenant or version.

        """
        successor = as_artifact(artifact)
        return self._perform(lifecycle.supersede(self._tenancy, old_id, successor, at_us=as_us(at)))

    def transition(self, artifact_id: str, status: str, *, reason: str = "", at: Moment | None = None) -> Artifact:
        """The artifact with its new status: one of the five legal changes (HMX-A 5), kept with *reason*.

        Raises:
            NotFound: there is no such artifact.
            InvalidTransition: the change is not legal; it lists those that are.

        """
        return self._perform(lifecycle.transition(self._tenancy, artifact_id, status, reason=reason, at_us=as_us(at)))

    def conflicts(self, *, status: str | None = "open", as_of: Moment | None = None) -> tuple[Conflict, ...]:
        """Records that cannot all hold, newest first: open ones, resolved ones, or both (None).

        Raises:
            UnknownChoice: there is no such state.

        """
        return self._perform(conflicts.conflicts(self._tenancy, status=status, as_of_us=as_us(as_of)))

    def resolve(self, conflict_id: str, *, keep: str | None, reason: str = "", at: Moment | None = None) -> Conflict:
        """The conflict, resolved: *keep* names the side that holds, None says that all do; nothing is deleted.

        Raises:
            NotFound: there is no such conflict, or no such side.
            ConflictClosed: it was resolved before, with another outcome.

        """
        return self._perform(conflicts.resolve(self._tenancy, conflict_id, keep=keep, reason=reason, at_us=as_us(at)))
