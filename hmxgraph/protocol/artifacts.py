"""HMX-A artifacts: compiled knowledge with evidence, versions and statuses; the steps of task schemas."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.document import KB, Document, Limits, Part, Specification, Structure, content_faults

# The artifact itself.

ArtifactType: TypeAlias = Literal[
    "task_schema", "failure_playbook", "decision_policy", "causal_pattern", "strategy_template"
]
ARTIFACT_TYPES: tuple[ArtifactType, ...] = get_args(ArtifactType)
STATUSES = ("draft", "active", "superseded", "deprecated", "archived")
# Statuses of artifacts that take effect or may still take effect.
LIVE_STATUSES = ("draft", "active")
# By status, the statuses that an artifact may change to (HMX-A 5).
LEGAL_TRANSITIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "draft": ("active", "deprecated"),
        "active": ("superseded", "deprecated", "archived"),
        "superseded": (),
        "deprecated": (),
        "archived": (),
    }
)
_SCOPE_STRUCTURE = Structure("validity-scope", {"": "HMX-A 6"})


class TimeRange(Part):
    """A period of validity; without ``start`` or ``end``, it is open on that side."""

    start: str | None = None
    end: str | None = None


class ValidityScope(Part):
    """Where an artifact applies (HMX-A 6); an empty scope means everywhere within its tenant."""

    tenant_ids: tuple[str, ...] | None = None
    agent_ids: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    time_range: TimeRange | None = None
    conditions: tuple[str, ...] | None = None


class Artifact(Document):
    """One version of an HMX-A artifact; fields are spelled as on the wire, absent optional ones are None.

    >>> artifact = Artifact(hmx_version="HMX-1.0", artifact_id="a1", artifact_type="decision_policy", title="Moving",
    ...     summary="", content={"condition": "big table", "recommendation": "go online"}, confidence=0.9,
    ...     status="active", source_events=["e1"], source_memory_ids=[], version=1,
    ...     created_at="2026-03-14T03:00:00Z", metadata={},
    ...     content_hash=content_hash({"recommendation": "go online", "condition": "big table"}))
    >>> artifact.hash_matches, artifact.document()["source_events"]
    (True, ['e1'])
    """

    SPECIFICATION: ClassVar[Specification] = Specification(
        kind="artifact",
        id_field="artifact_id",
        structure=Structure(
            "artifact",
            {
                "": "HMX-A 2.1",
                **dict.fromkeys(("tenant_id", "agent_id", "superseded_by", "supersedes", "tags"), "HMX-A 2.2"),
                **dict.fromkeys(("observed_count", "success_rate", "updated_at"), "HMX-A 2.2"),
                "artifact_type": "HMX-A 3",
                "status": "HMX-A 5",
                "validity_scope": "HMX-A 6",
                "content_hash": "HMX-A 8",
            },
            unknown="HMX-A 9",
        ),
        limits=Limits(
            "HMX-A 12",
            sizes={"": 512 * KB, "content": 256 * KB},
            lengths={"source_events": 10_000, "tags": 64},
            integers=("version", "observed_count"),
        ),
    )

    hmx_version: str
    artifact_id: str
    artifact_type: str
    title: str
    summary: str
    content: dict[str, Any]
    confidence: float
    status: str
    source_events: tuple[str, ...]
    source_memory_ids: tuple[str, ...]
    version: int
    created_at: str
    content_hash: str
    metadata: dict[str, Any]
    tenant_id: str | None = None
    agent_id: str | None = None
    superseded_by: str | None = None
    supersedes: str | None = None
    validity_scope: ValidityScope | None = None
    tags: tuple[str, ...] | None = None
    observed_count: int | None = None
    success_rate: float | None = None
    updated_at: str | None = None

    @property
    def hash_matches(self) -> bool:
        """Whether ``content_hash`` is the hash of ``content`` (HMX-A 8)."""
        return self.content_hash == content_hash(self.content)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A wrong content hash (HMX-A 8), and content that deviates from its type's schema (HMX-A 4)."""
        faults = content_faults("artifact", self.artifact_type, self.content)
        if not self.hash_matches:
            expected = content_hash(self.content)
            faults = (Fault("$.content_hash", "HMX-A 8", self.content_hash, expected), *faults)
        return tuple(map(str, faults))

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        yield from super()._further_faults(document, sound=sound)
        if isinstance(document.get("validity_scope"), Mapping):
            yield from _SCOPE_STRUCTURE.faults(document["validity_scope"], ("validity_scope",))
        yield from _lineage_faults(document)


def _lineage_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults in the links of an artifact to its predecessor and its successor (HMX-A 7)."""
    for name in ("supersedes", "superseded_by"):
        if name in document and document[name] == document.get("artifact_id"):
            yield Fault(f"$.{name}", "HMX-A 7", "the artifact itself", "another artifact")
    status = document.get("status")
    if "superseded_by" in document and isinstance(status, str) and status in LIVE_STATUSES:
        yield Fault("$.status", "HMX-A 7", repr(status), "superseded, since superseded_by names a successor")


# The steps of a task schema (HMX-A 4.1).
#
# The content of an artifact may deviate from the schema of its type, because anybody may have written it. A step that
# is not an object is skipped; a value of an unexpected type counts as missing.


class Step(NamedTuple):
    """One step of a task schema; ``order`` is the stated integer, else the position in the list, counted from 1."""

    order: int
    description: str
    tools: tuple[str, ...]
    optional: bool


def steps_of(content: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps of a task schema's *content*, sorted by ``order``; those with equal orders stay as listed.

    >>> [step.description for step in steps_of({"steps": [{"order": 2, "description": "Apply"}, "?", {"order": 1}]})]
    ['', 'Apply']

    """
    return tuple(sorted(_steps(content.get("steps")), key=lambda step: step.order))


def texts(value: Any) -> tuple[str, ...]:
    """The strings in a list or tuple; empty for any other value.

    >>> texts(["kubectl", 7]), texts("kubectl")
    (('kubectl',), ())

    """
    return tuple(part for part in value if isinstance(part, str)) if isinstance(value, list | tuple) else ()


def _steps(steps: Any) -> Iterator[Step]:
    for list_position, step in enumerate(steps if isinstance(steps, list | tuple) else (), start=1):
        if isinstance(step, Mapping):
            order, description = step.get("order"), step.get("description")
            yield Step(
                order if isinstance(order, int) and not isinstance(order, bool) else list_position,
                description if isinstance(description, str) else "",
                texts(step.get("tools_used")),
                step.get("optional") is True,
            )
