"""Arguments and results of the operations on artifacts: receipts, filters, pages, chains, conflicts."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.display import HtmlTable, html_table

# Recording and listing artifacts, and their supersession chains.


@dataclass(frozen=True, slots=True)
class ArtifactReceipt(HtmlTable):
    """The outcome of recording an artifact.

    - ``outcome`` is ``created`` (the artifact was stored), ``unchanged`` (it was stored before with the same immutable
      fields) or ``duplicate`` (another draft or active artifact has the same type and content; nothing was written).
    - ``artifact`` is the stored artifact; for a duplicate, the other one.
    - ``superseded_id`` is the id of the artifact that the recorded one replaced.
    - ``conflicts`` are the ids of the conflicts that the recorded artifact opened.
    - ``ignored`` names the mutable fields in which an unchanged or duplicate document differs from the stored one. To
      change the status, use `transition`; counts change with new evidence.
    """

    artifact: Artifact
    outcome: Literal["created", "unchanged", "duplicate"]
    superseded_id: str | None = None
    conflicts: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def artifact_id(self) -> str:
        """The id of the stored artifact."""
        return self.artifact.artifact_id

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {
            "outcome": self.outcome,
            "artifact": self.artifact.document(),
            "superseded_id": self.superseded_id,
            "conflicts": list(self.conflicts),
            "ignored": list(self.ignored),
        }


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    """Which artifacts to list; a field that is None or empty excludes nothing.

    ``agent_id`` and ``situation`` (tags) are matched against the validity scope (HMX-A 6); ``compiled_by`` is the
    artifact's own ``agent_id``. All ``tags`` and all words of ``text`` must match.
    """

    status: str | None = "active"
    artifact_type: str | None = None
    tags: tuple[str, ...] = ()
    text: str | None = None
    agent_id: str | None = None
    situation: tuple[str, ...] = ()
    compiled_by: str | None = None


ORDERS = ("asc", "desc")
SORTS = ("created", "updated", "confidence", "evidence")


@dataclass(frozen=True, slots=True)
class Sorting:
    """How to sort a listing of artifacts, and whether to count all that match (``total``).

    Without ``sort``, the last recorded artifacts come first, or the first created ones with ``order="asc"``. The sort
    ``evidence`` uses the number of observations or, if that is not recorded, the number of source events.
    """

    sort: str | None = None
    order: str = "desc"
    total: bool = False


@dataclass(frozen=True, slots=True)
class ArtifactPage:
    """One page of artifacts, and the cursor of the next page (None on the last); ``total`` only if requested.

    >>> page = ArtifactPage((), None)
    >>> [artifact.title for artifact in page], len(page)
    ([], 0)

    """

    artifacts: tuple[Artifact, ...]
    cursor: str | None
    total: int | None = None

    def __len__(self) -> int:
        return len(self.artifacts)

    def __iter__(self) -> Iterator[Artifact]:
        return iter(self.artifacts)

    def document(self) -> dict[str, Any]:
        """The page as a JSON-able dict."""
        page = {"artifacts": [artifact.document() for artifact in self.artifacts], "cursor": self.cursor}
        return page if self.total is None else page | {"total": self.total}


@dataclass(frozen=True, slots=True)
class Chain(HtmlTable):
    """The supersession chain of an artifact: its versions recorded by the requested time, oldest first (HMX-A 7)."""

    artifact_id: str
    versions: tuple[Artifact, ...]

    @property
    def head(self) -> Artifact:
        """The newest version."""
        return self.versions[-1]

    @property
    def active(self) -> Artifact | None:
        """The active version, or None."""
        return next((version for version in self.versions if version.status == "active"), None)

    @property
    def older(self) -> tuple[Artifact, ...]:
        """The versions before the requested one, oldest first."""
        return self.versions[: self._index]

    @property
    def newer(self) -> tuple[Artifact, ...]:
        """The versions after the requested one, oldest first."""
        return self.versions[self._index + 1 :]

    def __len__(self) -> int:
        return len(self.versions)

    def __iter__(self) -> Iterator[Artifact]:
        return iter(self.versions)

    def document(self) -> dict[str, Any]:
        """The chain as a JSON-able dict."""
        return {"artifact_id": self.artifact_id, "versions": [version.document() for version in self.versions]}

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.head.title)}</b>: {len(self)} {'version' if len(self) == 1 else 'versions'}"
        return f"{head}<br>{html_table([self._version_row(version) for version in self.versions])}"

    def _version_row(self, version: Artifact) -> dict[str, Any]:
        """One row of the table that a notebook shows."""
        return {
            "": "requested" if version.artifact_id == self.artifact_id else "",
            "version": version.version,
            "status": version.status,
            "since": version.created_at[:10],
            "confidence": version.confidence,
            "summary": version.summary or version.title,
        }

    @property
    def _index(self) -> int:
        return next(index for index, version in enumerate(self.versions) if version.artifact_id == self.artifact_id)


# Conflicts and their sides.

SideKind: TypeAlias = Literal["artifact", "memory", "relation"]


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One record of a conflict, with its status as of the requested time."""

    kind: SideKind
    side_id: str
    text: str
    status: str
    confidence: float | None

    def document(self) -> dict[str, Any]:
        """The side as a JSON-able dict."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two or more records that cannot all be true.

    For a resolved conflict, ``kept_id`` is the side that was kept (None if every side was kept, or if no side holds any
    longer), and ``resolution`` is the reason.
    """

    conflict_id: str
    kind: str
    status: str
    reason: str
    text: str
    detected_at: str
    sides: tuple[ConflictSide, ...]
    resolved_at: str | None = None
    kept_id: str | None = None
    resolution: str | None = None

    def document(self) -> dict[str, Any]:
        """The conflict as a JSON-able dict."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "sides"}
        return fields | {"sides": [side.document() for side in self.sides]}
