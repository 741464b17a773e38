"""What a fingerprint is made from: everything a tenant has learned, as plain values (HMX-F 11, input requirements)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmxgraph.fingerprint.measures.behaviour import Behaviour
from hmxgraph.fingerprint.measures.digest import MeasuredDigest


class PrivateName(NamedTuple):
    """The name of an entity whose type may not be told, to be replaced by its type."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class KnownArtifact:
    """One active artifact, as far as it is looked at before it is chosen."""

    artifact_id: str
    artifact_type: str
    title: str
    content_hash: str
    confidence: float
    observed_count: int
    success_rate: float
    tags: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """What decides who stays where not all can: confidence times observations (HMX-F 8, rule 3)."""
        return self.confidence * self.observed_count

    @property
    def rank(self) -> tuple[float, float, str]:
        """A total order, heaviest first."""
        return (-self.weight, -self.confidence, self.artifact_id)


@dataclass(frozen=True, slots=True)
class MemoryCount:
    """Memories of one status, kind and extraction method: how many, and sums over them."""

    status: str
    kind: str
    extraction_method: str
    count: int
    confidence_millionths: int
    observations: int


@dataclass(frozen=True, slots=True)
class ServedPack:
    """A context pack that its reader reported on: tokens by section, sources used, and what it was worth."""

    pack_id: str
    signal: str
    budget: int
    section_tokens: Mapping[str, int]
    artifact_ids: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Who is told about: the heaviest artifacts of each set, and groups of related ones, heaviest first."""

    sets: Mapping[str, Sequence[KnownArtifact]]
    groups: Sequence[Sequence[KnownArtifact]]
    totals: Mapping[str, int]
    tag_weights: Mapping[str, float]
    artifact_count: int

    @property
    def artifact_ids(self) -> list[str]:
        """The ids of the artifacts whose contents or titles will be told."""
        chosen = {artifact.artifact_id for members in self.sets.values() for artifact in members}
        return sorted(chosen | {group[0].artifact_id for group in self.groups})


@dataclass(frozen=True, slots=True)
class Known:
    """A tenant's learned state at one moment; ``contents`` are those of the artifacts selected, by artifact_id."""

    tenant_id: str
    as_of_us: int
    selection: Selection
    contents: Mapping[str, Mapping[str, Any]]
    digest: MeasuredDigest
    behaviour: Behaviour
    memories: tuple[MemoryCount, ...] = ()
    served: tuple[ServedPack, ...] = ()
    compiler_state: Mapping[str, Any] | None = None
    event_count: int = 0
    private_names: tuple[PrivateName, ...] = ()
