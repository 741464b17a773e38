"""HMX-F fingerprints and their envelopes: learned memory in a form that can be moved between systems."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import canonical_bytes, content_hash, sha256_hex
from hmxgraph.protocol.document import KB, Document, Limits, Part, Specification, Structure, size_fault

# The sections of an HMX-F fingerprint.


class PolicySummary(Part):
    """Summary of a decision policy (HMX-F 3)."""

    artifact_id: str
    condition: str
    recommendation: str
    scope: tuple[str, ...]
    confidence: float
    outcome_count: int
    tags: tuple[str, ...]


class TaskSchemaSummary(Part):
    """Summary of a task schema (HMX-F 3)."""

    artifact_id: str
    title: str
    steps: tuple[str, ...]
    tools_used: tuple[str, ...]
    preconditions: tuple[str, ...]
    postconditions: tuple[str, ...]
    complexity: str
    success_rate: float
    observed_count: int
    confidence: float
    tags: tuple[str, ...]


class PlaybookSummary(Part):
    """Summary of a failure playbook (HMX-F 3)."""

    artifact_id: str
    title: str
    failure_pattern: str
    trigger_conditions: tuple[str, ...]
    recovery_steps: tuple[str, ...]
    prevention_strategies: tuple[str, ...]
    severity: str
    occurrence_count: int
    confidence: float
    tags: tuple[str, ...]


class ClusterSummary(Part):
    """Summary of a cluster of related artifacts (HMX-F 3)."""

    cluster_id: str
    label: str
    dominant_type: str
    member_count: int
    representative_ids: tuple[str, ...]
    shared_tags: tuple[str, ...]
    avg_confidence: float
    total_observations: int


class ArtifactSummaries(Part):
    """Artifact summaries by type (HMX-F 3)."""

    policy_set: tuple[PolicySummary, ...]
    task_schema_set: tuple[TaskSchemaSummary, ...]
    playbook_set: tuple[PlaybookSummary, ...]
    cluster_summaries: tuple[ClusterSummary, ...]


class ToolUsage(Part):
    """Tool calls: counts and success rates (HMX-F 4)."""

    total_calls: int
    tool_frequency: dict[str, int]
    avg_success_rate: float
    preferred_tools: tuple[str, ...]


class DecisionPatterns(Part):
    """Decisions: counts, confidence and corrections (HMX-F 4)."""

    total_decisions: int
    avg_confidence: float
    correction_rate: float
    top_decision_domains: tuple[str, ...]


class ErrorPatterns(Part):
    """Errors: counts by type, and how often and how fast they were recovered from (HMX-F 4)."""

    total_errors: int
    recovery_rate: float
    common_error_types: dict[str, int]
    avg_recovery_time_ms: float


class SessionPatterns(Part):
    """Sessions: count, average length in seconds and average number of events (HMX-F 4)."""

    avg_session_length: float
    avg_events_per_session: float
    total_sessions: int


class BehavioralPatterns(Part):
    """Observed behaviour of the agent (HMX-F 4)."""

    tool_usage: ToolUsage
    decision_patterns: DecisionPatterns
    error_patterns: ErrorPatterns
    session_patterns: SessionPatterns


class ConnectedEntity(Part):
    """A hub of the graph (HMX-F 5)."""

    name: str
    type: str
    connection_count: int


class GraphDigest(Part):
    """The shape of the knowledge graph (HMX-F 5). Only its hubs, the most connected entities, are named."""

    entity_count: int
    relation_count: int
    entity_type_distribution: dict[str, int]
    relation_type_distribution: dict[str, int]
    avg_entity_confidence: float
    avg_relation_weight: float
    top_connected_entities: tuple[ConnectedEntity, ...]
    max_depth: int


# The statuses of a semantic memory (HMX-F 6).
MEMORY_STATUSES = ("promoted", "tentative", "deprecated", "contradicted")


class SemanticSummary(Part):
    """Counts and averages over the semantic memories (HMX-F 6)."""

    promoted_count: int
    tentative_count: int
    deprecated_count: int
    contradicted_count: int
    type_distribution: dict[str, int]
    extraction_method_distribution: dict[str, int]
    avg_promoted_confidence: float
    avg_observation_count: float


class ContextPriors(Part):
    """Hints for assembling packs from this fingerprint (HMX-F 7)."""

    preferred_sections: tuple[str, ...]
    section_weights: dict[str, float]
    default_token_budget: int
    priority_artifact_ids: tuple[str, ...]
    priority_tags: tuple[str, ...]
    suppressed_tags: tuple[str, ...]


class AdaptedParameter(Part):
    """One parameter that the compiler has adapted (HMX-F 9)."""

    parameter: str
    current_value: float
    baseline_value: float
    delta: float
    adaptation_count: int
    frozen: bool


class CompilerState(Part):
    """The compiler's parameters (HMX-F 9)."""

    total_parameters: int
    adapted_parameter_count: int
    global_freeze: bool
    adapted_parameters: tuple[AdaptedParameter, ...]
    adaptive_schema_version: int


class Signature(Part):
    """The signature of an envelope: Ed25519 over its canonical form without ``signature``, in hexadecimal."""

    algorithm: str
    public_key: str
    value: str


# The fingerprint, its envelope, and the two hashes that prove their integrity.

FINGERPRINT_VERSION = 1
ENVELOPE_VERSION = 1
ENVELOPE_FORMAT = "hmx-fingerprint"
TIERS = ("full", "compact", "minimal")
# By compression tier: the maximum size of a fingerprint in bytes, and the maximum number of artifact summaries of each
# type (HMX-F 8, 15).
TIER_BYTES: Mapping[str, int] = MappingProxyType({"full": 100 * KB, "compact": 50 * KB, "minimal": 10 * KB})
TIER_SUMMARIES: Mapping[str, int] = MappingProxyType({"full": 100, "compact": 20, "minimal": 0})
CONTENT_SECTIONS = (
    "artifact_summaries",
    "behavioral_patterns",
    "graph_digest",
    "semantic_summary",
    "context_priors",
)
# The fields that ``fingerprint_hash`` covers (HMX-F 10).
HASHED_FIELDS = (
    "hmx_version",
    "fingerprint_version",
    *CONTENT_SECTIONS,
    "compression_tier",
    "source_event_count",
    "source_artifact_count",
    "compiler_state",
)


class Fingerprint(Document):
    """One HMX-F fingerprint; fields are spelled as on the wire, absent optional ones are None.

    From ``fingerprint_version`` 2 on, unknown fields are accepted and kept, with a warning (HMX-F 13).

    >>> str(Fingerprint.faults({"fingerprint_version": 0})[-1])
    '$.fingerprint_version: found 0, expected an integer from 1 to 9007199254740991 (HMX-F 13)'
    """

    SPECIFICATION: ClassVar[Specification] = Specification(
        kind="fingerprint",
        id_field="fingerprint_id",
        structure=Structure(
            "fingerprint",
            {
                "": "HMX-F 2.1",
                **dict.fromkeys(("agent_id", "source_event_count", "source_artifact_count"), "HMX-F 2.2"),
                **dict.fromkeys(("tags", "expires_at"), "HMX-F 2.2"),
                "artifact_summaries": "HMX-F 3",
                "behavioral_patterns": "HMX-F 4",
                "graph_digest": "HMX-F 5",
                "semantic_summary": "HMX-F 6",
                "context_priors": "HMX-F 7",
                "compression_tier": "HMX-F 8",
                "compiler_state": "HMX-F 9",
                "fingerprint_version": "HMX-F 13",
            },
            unknown="HMX-F 2",
            lengths="HMX-F 15",
        ),
        limits=Limits("HMX-F 15"),
    )

    hmx_version: str
    fingerprint_id: str
    fingerprint_version: int
    tenant_id: str
    created_at: str
    artifact_summaries: ArtifactSummaries
    behavioral_patterns: BehavioralPatterns
    graph_digest: GraphDigest
    semantic_summary: SemanticSummary
    context_priors: ContextPriors
    fingerprint_hash: str
    metadata: dict[str, Any]
    agent_id: str | None = None
    compression_tier: str | None = None
    source_event_count: int | None = None
    source_artifact_count: int | None = None
    compiler_state: CompilerState | None = None
    tags: tuple[str, ...] | None = None
    expires_at: str | None = None

    @property
    def hash_matches(self) -> bool:
        """Whether ``fingerprint_hash`` matches the content (HMX-F 10)."""
        return self.fingerprint_hash == fingerprint_hash(self.document())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Unknown top-level fields (HMX-F 13), and a hash that does not match the content (HMX-F 10)."""
        document = self.document()
        unknown = sorted(set(document) - set(Fingerprint.model_fields))
        expected = f"the fields of fingerprint_version {FINGERPRINT_VERSION}"
        faults = [Fault(f"$.{name}", "HMX-F 13", "an unknown field", expected) for name in unknown]
        if self.fingerprint_hash != (computed := fingerprint_hash(document)):
            faults.append(Fault("$.fingerprint_hash", "HMX-F 10", self.fingerprint_hash, computed))
        return tuple(map(str, faults))

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        if sound:
            yield from size_fault(document, "", TIER_BYTES[document.get("compression_tier", "full")], "HMX-F 15")


class Envelope(Document):
    """A fingerprint in transit (HMX-F 10).

    ``fingerprint`` stays a plain dict, because its hash must be verifiable even if this release does not know its
    version.

    >>> later = {"fingerprint_version": 7, "hmx_version": "HMX-1.0"}
    >>> envelope = Envelope(format="hmx-fingerprint", envelope_version=1, hmx_version="HMX-1.0", fingerprint=later,
    ...     exported_at="2026-03-14T03:00:00Z", exported_by="acme", integrity_hash=integrity_hash(later))
    >>> envelope.hash_matches
    True
    """

    SPECIFICATION: ClassVar[Specification] = Specification(
        kind="fingerprint envelope",
        id_field="integrity_hash",
        structure=Structure(
            "fingerprint-envelope", {"": "HMX-F 10", "signature": "HMX-F 10, extension"}, unknown="HMX-F 10"
        ),
        limits=Limits("HMX-F 15"),
    )

    format: str
    envelope_version: int
    hmx_version: str
    fingerprint: dict[str, Any]
    exported_at: str
    integrity_hash: str
    exported_by: str
    signature: Signature | None = None

    @property
    def hash_matches(self) -> bool:
        """Whether ``integrity_hash`` matches the whole fingerprint (HMX-F 10)."""
        return self.integrity_hash == integrity_hash(self.fingerprint)

    def signed_bytes(self) -> bytes:
        """The bytes that a signature covers: the canonical envelope without ``signature``."""
        return canonical_bytes({name: value for name, value in self.document().items() if name != "signature"})

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        """The faults of the fingerprint inside, if it has this release's version; others are not checked (HMX-F 13)."""
        del sound
        inner = document.get("fingerprint")
        if isinstance(inner, Mapping) and inner.get("fingerprint_version") == FINGERPRINT_VERSION:
            for fault in Fingerprint.faults(inner):
                yield fault._replace(path="$.fingerprint" + fault.path.removeprefix("$"))


def fingerprint_hash(document: Mapping[str, Any]) -> str:
    """The hash of a fingerprint's content (``HASHED_FIELDS``): all but its ids, tenant, times, tags and metadata.

    >>> fingerprint_hash({"hmx_version": "HMX-1.0", "tenant_id": "a"}) == fingerprint_hash({"hmx_version": "HMX-1.0"})
    True
    """
    return content_hash({name: document[name] for name in HASHED_FIELDS if name in document})


def integrity_hash(document: Mapping[str, Any]) -> str:
    """The hash of a whole fingerprint (HMX-F 10).

    >>> integrity_hash({})[:16]
    '44136fa355b3678a'
    """
    return sha256_hex(canonical_bytes(document))
