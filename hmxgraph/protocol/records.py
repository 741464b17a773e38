"""memd task records, in which agents report their work on shared tasks."""

from typing import Any, ClassVar

from hmxgraph.errors import Fault
from hmxgraph.protocol.document import Document, Limits, Part, Specification, Structure
from hmxgraph.protocol.timestamps import microseconds

# Kinds of records.
ARTIFACT_KINDS = (
    "task_start",
    "task_progress",
    "run_start",
    "run_finish",
    "evidence",
    "review",
    "revision",
    "verification",
    "decision",
    "digest",
    "task_finish",
)
# Kinds of the searchable texts of a record.
PROJECTION_KINDS = (
    "task_goal",
    "task_summary",
    "run",
    "evidence",
    "decision",
    "digest",
    "worked",
    "failed",
    "validation",
)
# Roles of digests, the records that summarise other records.
DIGEST_ROLES = (
    "project_brief",
    "task_resume",
    "failure_library",
    "decision_library",
    "evidence_library",
    "highlight_library",
)
# Roles of ``task_progress`` records that move a task on the board.
BOARD_ROLES = ("claim", "release", "reopen")
# How far a record was processed, and how far it can be trusted; `hmxgraph.records.trust` derives both.
PROMOTION_STATES = ("raw", "summarized", "canonical", "verified")
TRUST_TIERS = ("semantic_candidate", "canonical_record", "compiled_digest_hint", "verified_record")
# The purposes of a search. All but "generic" prefer certain kinds of records, and have a digest that summarises them.
MODES = (
    "generic",
    "brief_project",
    "resume_task",
    "find_failures",
    "find_decisions",
    "find_evidence",
    "find_highlights",
)
# The exact filters of a search: fields of records, and of the datasets and entities that records name.
FILTERS = (
    "task_id",
    "artifact_kind",
    "status",
    "challenge_id",
    "thread_id",
    "reply_to_artifact_id",
    "artifact_role",
    "dataset_name",
    "dataset_version",
    "entity_name",
    "entity_type",
    "tool_name",
    "project_id",
    "agent_id",
    "session_id",
    "requested_action",
    "verification_status",
    "relation_kind",
)


class Contributor(Part):
    """Who contributed to a record, and what."""

    contributor_id: str
    display_name: str | None = None
    role: str | None = None
    contribution: str | None = None


class DatasetRef(Part):
    """A dataset that a record refers to."""

    name: str
    version: str | None = None
    description: str | None = None


class EntityRef(Part):
    """An entity that a record refers to."""

    name: str
    entity_type: str
    role: str | None = None


class RecordProvenance(Part):
    """Where a record comes from: a file, a commit or a tool call."""

    uri: str | None = None
    repo: str | None = None
    commit: str | None = None
    path: str | None = None
    tool_name: str | None = None
    tool_version: str | None = None
    tool_call_id: str | None = None


class TaskRecord(Document):
    """One canonical memd record; fields are spelled as on the wire, absent optional ones are None.

    Times are Unix milliseconds or date-time text; ``created_us`` and ``observed_us`` convert both.

    >>> record = TaskRecord(artifact_id="r1", artifact_kind="task_start", task_id="t1", tenant_id="acme",
    ...     timestamp_created=1773457200000, goal="Find the leak", blockers=["no access"])
    >>> record.created_us, record.document()["blockers"]
    (1773457200000000, ['no access'])
    """

    SPECIFICATION: ClassVar[Specification] = Specification(
        kind="task record",
        id_field="artifact_id",
        structure=Structure(
            "task-record",
            {"": "memd: Canonical Artifact Envelope", "artifact_role": "memd: Summary-First Digests"},
        ),
        limits=Limits("memd"),
    )

    artifact_id: str
    artifact_kind: str
    task_id: str
    tenant_id: str
    timestamp_created: int | str
    parent_task_id: str | None = None
    project_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    status: str | None = None
    artifact_role: str | None = None
    challenge_id: str | None = None
    thread_id: str | None = None
    reply_to_artifact_id: str | None = None
    relation_kind: str | None = None
    goal: str | None = None
    motivation: str | None = None
    hypothesis: str | None = None
    scientific_question: str | None = None
    method_summary: str | None = None
    summary: str | None = None
    evidence_kind: str | None = None
    supports_claim: bool | None = None
    blockers: tuple[str, ...] | None = None
    what_worked: tuple[str, ...] | None = None
    what_failed: tuple[str, ...] | None = None
    validation: tuple[str, ...] | None = None
    uncertainty: tuple[str, ...] | None = None
    followups: tuple[str, ...] | None = None
    expected_outputs: tuple[str, ...] | None = None
    related_artifact_ids: tuple[str, ...] | None = None
    contributors: tuple[Contributor, ...] | None = None
    dataset_refs: tuple[DatasetRef, ...] | None = None
    entity_refs: tuple[EntityRef, ...] | None = None
    tool_name: str | None = None
    tool_version: str | None = None
    command: str | None = None
    parameters: Any = None
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    metrics: Any = None
    why_chosen: str | None = None
    confidence: float | None = None
    requested_action: str | None = None
    verification_status: str | None = None
    promotion_state: str | None = None
    digest_key: str | None = None
    source_updated_at_ms: int | None = None
    compute_budget: Any = None
    cost_actual: Any = None
    data_access_level: str | None = None
    policy_tags: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    approval_state: str | None = None
    provenance: RecordProvenance | None = None
    timestamp_observed: int | str | None = None
    tags: tuple[str, ...] | None = None

    @property
    def created_us(self) -> int:
        """``timestamp_created`` in UTC microseconds since 1970."""
        return _us(self.timestamp_created)

    @property
    def observed_us(self) -> int | None:
        """``timestamp_observed`` in UTC microseconds since 1970, or None."""
        return None if self.timestamp_observed is None else _us(self.timestamp_observed)

    @property
    def is_move(self) -> bool:
        """Whether the record only moves its task on the board (claim, release, reopen)."""
        return self.artifact_kind == "task_progress" and self.artifact_role in BOARD_ROLES

    @property
    def warnings(self) -> tuple[str, ...]:
        """Fields that the envelope does not list."""
        unknown = sorted(set(self.document()) - set(TaskRecord.model_fields))
        clause = "memd: Canonical Artifact Envelope"
        return tuple(str(Fault(f"$.{name}", clause, "an unknown field", "a field of the envelope")) for name in unknown)


def _us(time: int | str) -> int:
    """The UTC microseconds of a *time* given in milliseconds or as date-time text, the two forms of the wire."""
    return microseconds(time) if isinstance(time, str) else time * 1000
