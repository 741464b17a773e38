"""The sections of an HMX-F fingerprint."""

from hmxgraph.protocol.document import Part


class PolicySummary(Part):
    """A decision policy, compressed (HMX-F 3)."""

    artifact_id: str
    condition: str
    recommendation: str
    scope: tuple[str, ...]
    confidence: float
    outcome_count: int
    tags: tuple[str, ...]


class TaskSchemaSummary(Part):
    """A task schema, compressed (HMX-F 3)."""

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
    """A failure playbook, compressed (HMX-F 3)."""

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
    """Several related artifacts as one (HMX-F 3)."""

    cluster_id: str
    label: str
    dominant_type: str
    member_count: int
    representative_ids: tuple[str, ...]
    shared_tags: tuple[str, ...]
    avg_confidence: float
    total_observations: int


class ArtifactSummaries(Part):
    """Compressed artifact knowledge by type (HMX-F 3)."""

    policy_set: tuple[PolicySummary, ...]
    task_schema_set: tuple[TaskSchemaSummary, ...]
    playbook_set: tuple[PlaybookSummary, ...]
    cluster_summaries: tuple[ClusterSummary, ...]


class ToolUsage(Part):
    """Which tools are called, how often, how well (HMX-F 4)."""

    total_calls: int
    tool_frequency: dict[str, int]
    avg_success_rate: float
    preferred_tools: tuple[str, ...]


class DecisionPatterns(Part):
    """How the agent decides (HMX-F 4)."""

    total_decisions: int
    avg_confidence: float
    correction_rate: float
    top_decision_domains: tuple[str, ...]


class ErrorPatterns(Part):
    """What fails and how it is recovered (HMX-F 4)."""

    total_errors: int
    recovery_rate: float
    common_error_types: dict[str, int]
    avg_recovery_time_ms: float


class SessionPatterns(Part):
    """How long sessions are (HMX-F 4)."""

    avg_session_length: float
    avg_events_per_session: float
    total_sessions: int


class BehavioralPatterns(Part):
    """What the agent is seen to do (HMX-F 4)."""

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
    """The shape of the knowledge graph without its entities (HMX-F 5)."""

    entity_count: int
    relation_count: int
    entity_type_distribution: dict[str, int]
    relation_type_distribution: dict[str, int]
    avg_entity_confidence: float
    avg_relation_weight: float
    top_connected_entities: tuple[ConnectedEntity, ...]
    max_depth: int


# What a semantic memory can be (HMX-F 6).
MEMORY_STATUSES = ("promoted", "tentative", "deprecated", "contradicted")


class SemanticSummary(Part):
    """Counts over the semantic memory (HMX-F 6)."""

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
    """One parameter that the compiler has moved (HMX-F 9)."""

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
    """Who vouches for an envelope: Ed25519 over the canonical envelope without ``signature``, in hexadecimal."""

    algorithm: str
    public_key: str
    value: str
