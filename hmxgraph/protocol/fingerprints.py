"""HMX-F fingerprints and their envelopes: learned memory that can travel, with the hashes that prove it whole."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import canonical_bytes, content_hash, sha256_hex
from hmxgraph.protocol.document import Document
from hmxgraph.protocol.fingerprint_parts import (
    ArtifactSummaries,
    BehavioralPatterns,
    CompilerState,
    ContextPriors,
    GraphDigest,
    SemanticSummary,
    Signature,
)
from hmxgraph.protocol.validation import KB, Limits, Specification, Structure, size_fault

FINGERPRINT_VERSION = 1
ENVELOPE_VERSION = 1
ENVELOPE_FORMAT = "hmx-fingerprint"
TIERS = ("full", "compact", "minimal")
TIER_BYTES: Mapping[str, int] = MappingProxyType({"full": 100 * KB, "compact": 50 * KB, "minimal": 10 * KB})
TIER_SUMMARIES: Mapping[str, int] = MappingProxyType({"full": 100, "compact": 20, "minimal": 0})
CONTENT_SECTIONS = (
    "artifact_summaries",
    "behavioral_patterns",
    "graph_digest",
    "semantic_summary",
    "context_priors",
)
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
    """One HMX-F fingerprint; fields are the wire's, optional ones None when absent.

    From ``fingerprint_version`` 2 on, fields that this version does not know are kept and warned of (HMX-F 13).

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
        """Whether ``fingerprint_hash`` is the hash of the content (HMX-F 10)."""
        return self.fingerprint_hash == fingerprint_hash(self.document())

    @property
    def warnings(self) -> tuple[str, ...]:
        """A hash that is not the content's, fields that this version does not know (HMX-F 13)."""
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
    """A fingerprint on its way (HMX-F 10); ``fingerprint`` is the plain document, so that its bytes can be proved.

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
        """Whether ``integrity_hash`` is the hash of the whole fingerprint (HMX-F 10)."""
        return self.integrity_hash == integrity_hash(self.fingerprint)

    def signed_bytes(self) -> bytes:
        """What a signature covers: the canonical envelope without ``signature``."""
        return canonical_bytes({name: value for name, value in self.document().items() if name != "signature"})

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        """The faults of a fingerprint of our own version; others are for migration to judge (HMX-F 13)."""
        del sound
        inner = document.get("fingerprint")
        if isinstance(inner, Mapping) and inner.get("fingerprint_version") == FINGERPRINT_VERSION:
            for fault in Fingerprint.faults(inner):
                yield fault._replace(path="$.fingerprint" + fault.path.removeprefix("$"))


def fingerprint_hash(document: Mapping[str, Any]) -> str:
    """The hash of what a fingerprint knows: not of ids, tenant, times, tags and metadata.

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
