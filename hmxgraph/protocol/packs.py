"""HMX-C context packs: knowledge for an agent's prompt within a hard token budget; every dropped entry has a reason."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import canonical_bytes, sha256_hex
from hmxgraph.protocol.document import KB, Document, Limits, Part, Specification, Structure

# The sections of a pack, each with the source types that the specification names for it (HMX-C 3.1).
SECTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "core": ("policy", "entity"),
        "goals": ("memory", "artifact"),
        "facts": ("memory", "entity"),
        "episodes": ("episode",),
        "procedures": ("artifact", "memory"),
        "graph_relations": ("relation", "entity"),
        "conflicts": ("conflict",),
        "evidence": ("memory", "episode"),
        "workflow": ("artifact",),
        "constraints": ("artifact", "policy"),
    }
)
# The sections in the order in which a pack shows them.
SECTION_PRIORITY = (
    "core",
    "constraints",
    "goals",
    "procedures",
    "facts",
    "episodes",
    "graph_relations",
    "workflow",
    "conflicts",
    "evidence",
)
# The values of ``source_type``, ``assembly_strategy`` and ``drop_reason`` (HMX-C 3.2, 5, 8).
SOURCE_TYPES = ("episode", "memory", "relation", "conflict", "policy", "entity", "artifact")
STRATEGIES = ("ranked", "recency_biased", "breadth_first", "depth_first", "fingerprint_guided")
DROP_REASONS = ("budget_exceeded", "low_relevance", "duplicate", "deprecated", "conflict", "provenance_failed")
# Size limits (HMX-C 12).
MAX_ENTRIES = 500
MAX_DROPPED = 100
MAX_NEXT_STEPS = 10
MAX_CONSTRAINTS = 20
MAX_PACK_BYTES = 256 * KB
# Upper bound of the bytes that the fields ``pack_hash`` and ``assembly_duration_ms`` add to the text of a pack.
UNHASHED_BYTES = 160


class Provenance(Part):
    """Where an entry comes from and how well it is supported (HMX-C 3).

    ``origin`` says where the knowledge comes from, for example ``episodic`` (an event), ``graph`` (an entity or a
    relation), the extraction method of a memory, or the agent that compiled an artifact. If the text comes from an
    outside source, the kind of that source follows after a colon: ``episodic:web``.
    """

    origin: str
    confidence: float
    evidence_count: int


class Entry(Part):
    """One piece of knowledge in a pack (HMX-C 3); text from outside begins with its label, such as ``[web]``."""

    section: str
    content: str
    source_id: str
    source_type: str
    relevance_score: float
    token_estimate: int
    rank: int
    provenance: Provenance


class SectionBudget(Part):
    """Tokens allotted to a section and used by it (HMX-C 4)."""

    budget: int
    used: int


class TokenBudget(Part):
    """Tokens allotted to the pack and used by it (HMX-C 4)."""

    total_budget: int
    used: int
    remaining: int
    truncated: bool
    section_budgets: dict[str, SectionBudget]
    dropped_count: int


class RankingWeights(Part):
    """The weights of the four components of a relevance score (HMX-C 5)."""

    relevance: float
    recency: float
    provenance: float
    salience: float


class QueryClassification(Part):
    """How the query was classified (HMX-C 5); ``time_ref`` may be null on the wire."""

    NULLABLE: ClassVar[frozenset[str]] = frozenset({"time_ref"})

    intent: str
    keywords: tuple[str, ...]
    entities: tuple[str, ...]
    time_ref: str | None = None


class AssemblyMetadata(Part):
    """How the pack was assembled (HMX-C 5)."""

    assembly_strategy: str
    ranking_weights: RankingWeights
    retrieval_sources: tuple[str, ...]
    candidate_count: int
    included_count: int
    assembly_duration_ms: float
    query_classification: QueryClassification


class NextStep(Part):
    """A suggested next step (HMX-C 6)."""

    description: str
    artifact_id: str | None = None
    confidence: float | None = None
    tools: tuple[str, ...] | None = None


class WorkflowHints(Part):
    """Hints about the next steps (HMX-C 6)."""

    suggested_next_steps: tuple[NextStep, ...] | None = None
    active_task_schema: str | None = None
    current_step: int | None = None
    total_steps: int | None = None
    blockers: tuple[str, ...] | None = None


class DecisionConstraint(Part):
    """A policy that the agent must observe; a hard rule if ``override_allowed`` is false (HMX-C 7)."""

    artifact_id: str
    condition: str
    constraint: str
    confidence: float
    override_allowed: bool


class DroppedEntry(Part):
    """A candidate that was left out of the pack, and the reason (HMX-C 8)."""

    source_id: str
    source_type: str
    section: str
    relevance_score: float
    token_estimate: int
    drop_reason: str
    rank: int


class ContextPack(Document):
    """One HMX-C context pack; fields are spelled as on the wire, absent optional ones are None.

    >>> [fault.path for fault in ContextPack.faults({"hmx_version": "HMX-1.0", "pack_id": "p", "entries": []})]
    ['$.query_context', '$.token_budget', '$.assembly_metadata', '$.created_at', '$.metadata']
    """

    SPECIFICATION: ClassVar[Specification] = Specification(
        kind="context pack",
        id_field="pack_id",
        structure=Structure(
            "context-pack",
            {
                "": "HMX-C 2.1",
                **dict.fromkeys(("tenant_id", "agent_id", "session_id", "fingerprint_priors", "tags"), "HMX-C 2.2"),
                "entries": "HMX-C 3",
                "entries.section": "HMX-C 3.1",
                "entries.source_type": "HMX-C 3.2",
                "token_budget": "HMX-C 4",
                "assembly_metadata": "HMX-C 5",
                "workflow_hints": "HMX-C 6",
                "decision_constraints": "HMX-C 7",
                "dropped_entries": "HMX-C 8",
            },
            unknown="HMX-C 2",
            lengths="HMX-C 12",
        ),
        limits=Limits("HMX-C 12", sizes={"": MAX_PACK_BYTES}),
    )

    hmx_version: str
    pack_id: str
    query_context: str
    entries: tuple[Entry, ...]
    token_budget: TokenBudget
    assembly_metadata: AssemblyMetadata
    created_at: str
    metadata: dict[str, Any]
    tenant_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    workflow_hints: WorkflowHints | None = None
    decision_constraints: tuple[DecisionConstraint, ...] | None = None
    dropped_entries: tuple[DroppedEntry, ...] | None = None
    fingerprint_priors: dict[str, Any] | None = None
    tags: tuple[str, ...] | None = None

    @classmethod
    def _passes_quick_checks(cls, document: Mapping[str, Any], most_bytes: int) -> bool:
        return most_bytes <= MAX_PACK_BYTES and not any(_budget_faults(document))

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        yield from super()._further_faults(document, sound=sound)
        if sound:
            yield from _budget_faults(document)


def pack_hash(document: Mapping[str, Any]) -> str:
    """The hash of a pack, taken over everything but its assembly duration and the hash itself.

    >>> fast = {"metadata": {}, "assembly_metadata": {"assembly_duration_ms": 1, "included_count": 0}}
    >>> slow = {"metadata": {"pack_hash": "0"}, "assembly_metadata": {"assembly_duration_ms": 9, "included_count": 0}}
    >>> pack_hash(fast) == pack_hash(slow)
    True
    """
    return sha256_hex(hashed_bytes(document))


def hashed_bytes(document: Mapping[str, Any]) -> bytes:
    """The canonical text that :func:`pack_hash` hashes; the whole pack is at most ``UNHASHED_BYTES`` longer."""
    volatile = {"metadata": "pack_hash", "assembly_metadata": "assembly_duration_ms"}
    hashed = {
        part: {name: value for name, value in document[part].items() if name != volatile_field}
        for part, volatile_field in volatile.items()
    }
    return canonical_bytes({**document, **hashed})


def _budget_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults if the stated usage, or the sum of the entries' estimates, exceeds the token budget (HMX-C 4)."""
    budget = document["token_budget"]
    expected = f"at most {budget['total_budget']} tokens, the hard limit"
    if budget["used"] > budget["total_budget"]:
        yield Fault("$.token_budget.used", "HMX-C 4", f"{budget['used']} tokens", expected)
    estimated = sum(entry["token_estimate"] for entry in document["entries"])
    if estimated > budget["total_budget"]:
        yield Fault("$.entries", "HMX-C 4", f"{estimated} tokens in all entries", expected)
