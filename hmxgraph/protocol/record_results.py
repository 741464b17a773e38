"""Results of the operations on task records: receipts, views, search hits, libraries, resumes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from hmxgraph.protocol.display import short_text
from hmxgraph.protocol.records import TaskRecord

# Receipts, views and search hits.


@dataclass(frozen=True, slots=True)
class Projection:
    """A searchable text of a record."""

    kind: str
    text: str

    def document(self) -> dict[str, Any]:
        """The projection as a JSON-able dict."""
        return {"kind": self.kind, "text": self.text}


@dataclass(frozen=True, slots=True)
class RecordReceipt:
    """The outcome of writing a record: its id, the id of its task, its searchable texts, and the events that report it.

    ``created`` is False if an identical record was stored before.
    """

    task_id: str
    artifact_id: str
    projections: tuple[Projection, ...]
    event_ids: tuple[str, ...] = ()
    created: bool = True

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {
            "task_id": self.task_id,
            "artifact_id": self.artifact_id,
            "projections": [projection.document() for projection in self.projections],
            "event_ids": list(self.event_ids),
            "created": self.created,
        }


@dataclass(frozen=True, slots=True)
class RecordView:
    """A stored record with its current trust, derived from its replies.

    ``verified_by`` and ``rejected_by`` are the ids of replies by other agents; only the latest verdict of each agent
    counts. ``stale`` marks a digest (a summary of records) that is out of date, because there are newer records.
    """

    record: TaskRecord
    trust_tier: str
    promotion_state: str
    projections: tuple[Projection, ...]
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
        """The text of the record's first projection; empty if it has none."""
        return self.projections[0].text if self.projections else ""

    def document(self) -> dict[str, Any]:
        """The view as a JSON-able dict."""
        lists = {"verified_by": list(self.verified_by), "rejected_by": list(self.rejected_by)}
        return self.trust() | lists | {"artifact": self.record.document()}

    def trust(self) -> dict[str, Any]:
        """The record's ids, kind, trust and visibility, which are all that a compact result shows."""
        values = {
            "artifact_id": self.record.artifact_id,
            "task_id": self.record.task_id,
            "artifact_kind": self.record.artifact_kind,
            "trust_tier": self.trust_tier,
            "promotion_state": self.promotion_state,
            "superseded_by": self.superseded_by,
            "hidden_reason": self.hidden_reason,
            "stale": self.stale,
        }
        return {name: value for name, value in values.items() if value not in (None, False)}


@dataclass(frozen=True, slots=True)
class ProjectScope:
    """A project of a tenant, to which a search for records is limited."""

    tenant_id: str
    project_id: str

    def document(self) -> dict[str, Any]:
        """The scope as a JSON-able dict."""
        return {"tenant_id": self.tenant_id, "project_id": self.project_id}


@dataclass(frozen=True, slots=True)
class Hit:
    """A search hit: a record, its score, and the projection (searchable text) that matched best.

    A compact hit has a short ``matched_text``, and its document leaves the record out. ``expanded_siblings`` are
    records of the same project with the same ``event:`` tag. ``origin`` is the scope that the hit comes from, if the
    search covered several.
    """

    view: RecordView
    score: float
    matched_kind: str
    matched_text: str
    expanded_siblings: tuple[dict[str, Any], ...] = ()
    compact: bool = False
    origin: ProjectScope | None = None

    @property
    def artifact_id(self) -> str:
        """The record's id."""
        return self.view.artifact_id

    @property
    def trust_tier(self) -> str:
        """The record's trust tier."""
        return self.view.trust_tier

    def document(self) -> dict[str, Any]:
        """The hit as a JSON-able dict, without the record if the hit is compact."""
        document = self.view.trust() | {
            "score": self.score,
            "matched_kind": self.matched_kind,
            "matched_text": self.matched_text,
        }
        if self.origin is not None:
            document["origin"] = self.origin.document()
        if self.expanded_siblings:
            document["expanded_siblings"] = [dict(sibling) for sibling in self.expanded_siblings]
        return document if self.compact else document | {"artifact": self.view.record.document()}

    def compacted(self) -> "Hit":
        """The same hit as a compact one, its siblings reduced to id and short text."""
        siblings = tuple(
            {"artifact_id": sibling["artifact_id"], "text": short_text(sibling["text"])}
            for sibling in self.expanded_siblings
        )
        return replace(self, matched_text=short_text(self.matched_text), expanded_siblings=siblings, compact=True)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, or newest first if no words were searched; ``omitted`` counts hits beyond the token budget.

    Aliases are former names of the searched project: ``scope_expansion`` lists all scopes that a search with aliases
    covered, with the number of hits from each.
    """

    hits: tuple[Hit, ...]
    mode: str = "generic"
    omitted: int = 0
    token_estimate: int | None = None
    scope_expansion: tuple[tuple[ProjectScope, int], ...] = ()

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def document(self) -> dict[str, Any]:
        """The result as a JSON-able dict."""
        document: dict[str, Any] = {
            "mode": self.mode,
            "hits": [hit.document() for hit in self.hits],
            "omitted": self.omitted,
        }
        if self.scope_expansion:
            document["scope_expansion"] = [scope.document() | {"hits": count} for scope, count in self.scope_expansion]
        return document if self.token_estimate is None else document | {"token_estimate": self.token_estimate}


@dataclass(frozen=True, slots=True)
class TaskView:
    """The current state of a task, with its runs and its latest 10,000 records (without digests), both oldest first."""

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
class TaskEntry:
    """A task on the board.

    ``assignee`` is the agent that holds the task or, if the task is finished, the agent that held it at the end. It is
    None if nobody has claimed the task since it was last released or reopened, or if the claim had expired.
    """

    task_id: str
    status: str
    goal: str
    project_id: str | None = None
    assignee: str | None = None
    lease_until: str | None = None
    record_count: int = 0
    started_at: str | None = None
    updated_at: str | None = None

    def document(self) -> dict[str, Any]:
        """The entry as a JSON-able dict."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Library:
    """The entries of one library (failures, decisions, ...), their digest (summary), and related active artifacts."""

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
            "artifacts": [dict(artifact) for artifact in self.artifacts],
        }


@dataclass(frozen=True, slots=True)
class Grounding:
    """How well a claim is grounded: the records that support it, those that contradict it, and hints.

    Digests, and records that name no agent, can only be hints.
    """

    grounding_status: str
    supporting: tuple[Hit, ...]
    conflicting: tuple[Hit, ...]
    hints: tuple[Hit, ...] = ()

    def document(self) -> dict[str, Any]:
        """The grounding as a JSON-able dict."""
        return {
            "grounding_status": self.grounding_status,
            "supporting": [hit.document() for hit in self.supporting],
            "conflicting": [hit.document() for hit in self.conflicting],
            "hints": [hit.document() for hit in self.hints],
        }


# What the next agent needs to continue a task.


@dataclass(frozen=True, slots=True)
class Account:
    """A task as its records describe it; no text occurs twice, except in ``recent_runs``.

    Lists are oldest first, except for ``recent_runs``, which are newest first. ``open`` begins with the holder of the
    task, or with the reason why the task was reopened, and ends with the outputs that are still expected.
    """

    goal: str = ""
    status: str = "open"
    summary: str = ""
    motivation: str = ""
    hypothesis: str = ""
    scientific_question: str = ""
    method_summary: str = ""
    blockers: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    followups: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    validation: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    what_worked: tuple[str, ...] = ()
    what_failed: tuple[str, ...] = ()
    uncertainty: tuple[str, ...] = ()
    recent_runs: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()

    def lines(self, names: Iterable[str], most: int | None = None) -> Iterator[str]:
        """The fields *names* as lines, each after its title; with *most*, only the last *most* entries of each list.

        >>> list(Account(hypothesis="It leaks", decisions=("Use valgrind",)).lines(["hypothesis", "decisions"]))
        ['Hypothesis: It leaks', 'Decided: Use valgrind']
        """
        for name in names:
            value = getattr(self, name)
            texts = (value,) if isinstance(value, str) and value else value or ()
            yield from (f"{TITLES[name]}: {text}" for text in (texts if most is None else texts[-most:]))


# The title of each field that ``Account.lines`` can show, in the order of ``Resume.text``.
TITLES = {
    "motivation": "Why",
    "hypothesis": "Hypothesis",
    "scientific_question": "Question",
    "method_summary": "Method",
    "blockers": "Blocked",
    "open": "Open",
    "followups": "Next",
    "decisions": "Decided",
    "evidence": "Evidence",
    "validation": "Validated",
    "rejected": "Rejected",
    "what_worked": "Worked",
    "what_failed": "Failed",
    "uncertainty": "Uncertain",
    "recent_runs": "Run",
    "tools": "Tool",
    "parameters": "Parameters",
    "inputs": "Input",
    "outputs": "Output",
    "datasets": "Data",
}


@dataclass(frozen=True, slots=True)
class Resume(Account):
    """What an agent needs to resume a task: its account, and the ids of the records behind the account.

    ``sources`` are the ids of all records summarised here, ``verified`` the ids of the verified ones. ``digest`` is the
    record that stores the account; it is only a hint, the sources are authoritative.
    """

    task_id: str = ""
    sources: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()
    digest: RecordView | None = None
    source_updated_at_ms: int | None = None

    @property
    def text(self) -> str:
        """The account as text for the next agent's prompt."""
        head = f"{self.goal or self.task_id} [{self.status}]"
        return "\n".join([f"{head}: {self.summary}" if self.summary else head, *self.lines(TITLES)])

    def document(self) -> dict[str, Any]:
        """The resume as a JSON-able dict."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "digest"}
        json_values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return json_values | {"digest": self.digest.document() if self.digest else None}
