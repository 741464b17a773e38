"""What the operations on task records return."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.showing import shortened

# What the operations on task records give back.


@dataclass(frozen=True, slots=True)
class Projected:
    """A text under which a record is found."""

    kind: str
    text: str

    def document(self) -> dict[str, Any]:
        """The projection as a JSON-able dict."""
        return {"kind": self.kind, "text": self.text}


@dataclass(frozen=True, slots=True)
class Written:
    """What a step left behind: task, record, the event ids that tell it, and its projections.

    ``created`` is False where the very same record was stored before.
    """

    task_id: str
    artifact_id: str
    projections: tuple[Projected, ...]
    event_ids: tuple[str, ...] = ()
    created: bool = True

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {
            "task_id": self.task_id,
            "artifact_id": self.artifact_id,
            "projections": [part.document() for part in self.projections],
            "event_ids": list(self.event_ids),
            "created": self.created,
        }


@dataclass(frozen=True, slots=True)
class RecordView:
    """A stored record with the trust that it has now, derived from its replies."""

    record: TaskRecord
    trust_tier: str
    promotion_state: str
    projections: tuple[Projected, ...]
    verified_by: tuple[str, ...] = ()
    rejected_by: tuple[str, ...] = ()
    superseded_by: str | None = None
    hidden_reason: str | None = None
    stale: bool = False

    @property
    def artifact_id(self) -> str:
        """The record's id."""
        return self.record.artifact_id

    @property
    def artifact_kind(self) -> str:
        """The record's kind."""
        return self.record.artifact_kind

    @property
    def text(self) -> str:
        """Its main projection."""
        return self.projections[0].text if self.projections else ""

    def document(self) -> dict[str, Any]:
        """The view as a JSON-able dict."""
        lists = {"verified_by": list(self.verified_by), "rejected_by": list(self.rejected_by)}
        return self.trust() | lists | {"artifact": self.record.document()}

    def trust(self) -> dict[str, Any]:
        """Ids, trust and visibility: what every compact answer keeps."""
        kept = {
            "artifact_id": self.record.artifact_id,
            "task_id": self.record.task_id,
            "artifact_kind": self.record.artifact_kind,
            "trust_tier": self.trust_tier,
            "promotion_state": self.promotion_state,
            "superseded_by": self.superseded_by,
            "hidden_reason": self.hidden_reason,
            "stale": self.stale,
        }
        return {name: value for name, value in kept.items() if value not in (None, False)}


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a search found: its score, the projection that matched best, and what shaping left of it.

    A compact one has a short ``matched_text`` and leaves the record out when it is written.
    """

    view: RecordView
    score: float
    matched_kind: str
    matched_text: str
    expanded_siblings: tuple[dict[str, Any], ...] = ()
    compact: bool = False

    @property
    def artifact_id(self) -> str:
        """The record's id."""
        return self.view.artifact_id

    @property
    def trust_tier(self) -> str:
        """The record's trust tier."""
        return self.view.trust_tier

    def document(self) -> dict[str, Any]:
        """The hit as a JSON-able dict; compact ones keep ids, trust and a short text."""
        found = self.view.trust() | {
            "score": self.score,
            "matched_kind": self.matched_kind,
            "matched_text": self.matched_text,
        }
        if self.expanded_siblings:
            found["expanded_siblings"] = [dict(one) for one in self.expanded_siblings]
        return found if self.compact else found | {"artifact": self.view.record.document()}

    def compacted(self) -> "Hit":
        """The same hit with a short text and without the record."""
        siblings = tuple(
            {"artifact_id": one["artifact_id"], "text": shortened(one["text"])} for one in self.expanded_siblings
        )
        return replace(self, matched_text=shortened(self.matched_text), expanded_siblings=siblings, compact=True)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first; ``omitted`` counts those that a token budget left out."""

    hits: tuple[Hit, ...]
    mode: str = "generic"
    omitted: int = 0
    token_estimate: int | None = None

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def document(self) -> dict[str, Any]:
        """The result as a JSON-able dict."""
        found = {"mode": self.mode, "hits": [hit.document() for hit in self.hits], "omitted": self.omitted}
        return found if self.token_estimate is None else found | {"token_estimate": self.token_estimate}


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as it stands, with its runs and records, oldest first."""

    task_id: str
    status: str
    properties: dict[str, Any]
    runs: tuple[dict[str, Any], ...]
    records: tuple[RecordView, ...]
    parent_task_id: str | None = None

    def document(self) -> dict[str, Any]:
        """The task as a JSON-able dict."""
        return {
            "task_id": self.task_id,
            "status": self.status,
            **self.properties,
            "parent_task_id": self.parent_task_id,
            "runs": [dict(run) for run in self.runs],
            "records": [view.document() for view in self.records],
        }


@dataclass(frozen=True, slots=True)
class Library:
    """Records of one sort, beside the digest about them and the compiled artifacts that bear on them."""

    role: str
    records: tuple[RecordView, ...]
    digest: RecordView | None = None
    artifacts: tuple[dict[str, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[RecordView]:
        return iter(self.records)

    def document(self) -> dict[str, Any]:
        """The library as a JSON-able dict."""
        return {
            "role": self.role,
            "digest": self.digest.document() if self.digest else None,
            "records": [view.document() for view in self.records],
            "artifacts": [dict(one) for one in self.artifacts],
        }


@dataclass(frozen=True, slots=True)
class Related:
    """What a claim rests on: records that say the same, records that say otherwise, and how well it is grounded."""

    grounding_status: str
    supporting: tuple[Hit, ...]
    conflicting: tuple[Hit, ...]
    hints: tuple[Hit, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """The answer as a JSON-able dict."""
        return {
            "grounding_status": self.grounding_status,
            "supporting": [hit.document() for hit in self.supporting],
            "conflicting": [hit.document() for hit in self.conflicting],
            "hints": [hit.document() for hit in self.hints],
        }


# What the next agent needs to continue a task.


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a task stands: in words, with what blocks it, what to do next, and the records that say so.

    ``runs`` are the last ones in words, newest first; ``sources`` the ids of the records behind all of this, ``digest``
    the record that keeps it (a hint: trust the sources).
    """

    task_id: str
    status: str
    goal: str
    summary: str
    blockers: tuple[str, ...]
    what_worked: tuple[str, ...]
    what_failed: tuple[str, ...]
    validation: tuple[str, ...]
    followups: tuple[str, ...]
    recent_runs: tuple[str, ...]
    sources: tuple[str, ...]
    verified: tuple[str, ...]
    digest: RecordView | None
    source_updated_at_ms: int | None

    def document(self) -> dict[str, Any]:
        """The resume as a JSON-able dict."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "digest"}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
        return plain | {"digest": self.digest.document() if self.digest else None}
