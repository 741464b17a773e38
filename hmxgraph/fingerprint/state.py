"""The input of fingerprint generation: export options, tier limits and the learned state (HMX-F 8, 11, 15)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmxgraph.errors import UnknownChoice
from hmxgraph.fingerprint.behaviour import Behaviour
from hmxgraph.fingerprint.measures import MeasuredDigest
from hmxgraph.protocol.document import KB
from hmxgraph.protocol.fingerprints import TIER_BYTES, TIER_SUMMARIES

# Export options and tier limits (HMX-F 8 and 15).

# Entities of these types are exported by name; others are only counted.
PUBLIC_TYPES = ("command", "error_type", "tag", "tool")


@dataclass(frozen=True, slots=True)
class Tier:
    """The limits of one compression tier.

    ``most_bytes`` limits the whole envelope in canonical UTF-8, ``per_type`` each set of summaries, ``clusters`` the
    clusters, ``entry_bytes`` one summary, ``names`` each map of names, ``hubs`` the connected entities, and ``tags``
    each list of tags in the context priors.
    """

    name: str
    most_bytes: int
    per_type: int
    clusters: int
    entry_bytes: int
    names: int
    hubs: int
    tags: int


# The numbers below are the limits clusters, entry_bytes, names, hubs and tags of each tier.
TIERS = {
    name: Tier(name, TIER_BYTES[name], TIER_SUMMARIES[name], *limits)
    for name, limits in {
        "full": (100, 8 * KB, 100, 10, 64),
        "compact": (40, 4 * KB, 20, 0, 32),
        "minimal": (40, KB, 5, 0, 8),
    }.items()
}


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export.

    With *allow_list*, every word of an exported text is replaced except tool names, stop words, numbers of up to three
    digits, words that the compiler itself adds, and words that occur in sessions of several users.
    """

    tier: str = "full"
    agent_id: str | None = None
    public_types: tuple[str, ...] = PUBLIC_TYPES
    tags: tuple[str, ...] = ()
    expires_us: int | None = None
    exported_by: str = "hmxgraph"
    allow_list: bool = False

    @property
    def limits(self) -> Tier:
        """The limits of the chosen tier.

        Raises:
            UnknownChoice: no such tier (HMX-F 8).

        >>> ExportOptions(tier="compact").limits.per_type
        20

        """
        if self.tier not in TIERS:
            raise UnknownChoice("compression tier", self.tier, tuple(TIERS))
        return TIERS[self.tier]

    def discloses(self, entity_type: str) -> bool:
        """Whether names of entities of this type may be exported."""
        return entity_type in self.public_types and (entity_type == "tool" or not self.allow_list)


# The learned state of a tenant (HMX-F 11, input requirements).


class PrivateName(NamedTuple):
    """The name of a private entity, to be replaced by its type."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class ExportedArtifact:
    """The properties of an active artifact, without its content, that selection and summaries need."""

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
        """The weight in the selection: confidence times observations (HMX-F 8, rule 3)."""
        return self.confidence * self.observed_count

    @property
    def rank(self) -> tuple[float, float, str]:
        """The sort key, heaviest first; no two artifacts have the same key."""
        return (-self.weight, -self.confidence, self.artifact_id)


@dataclass(frozen=True, slots=True)
class MemoryCount:
    """The number of memories with one status, kind and extraction method, and the sums of their other figures."""

    status: str
    kind: str
    extraction_method: str
    count: int
    confidence_millionths: int
    observations: int


@dataclass(frozen=True, slots=True)
class ServedPack:
    """A context pack with feedback: the signal, the budget, tokens by section, and the artifacts and tags in it."""

    pack_id: str
    signal: str
    budget: int
    section_tokens: Mapping[str, int]
    artifact_ids: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected artifacts of each set, and the clusters, heaviest first.

    ``totals`` counts the candidates for each set and for the clusters, ``artifact_count`` all distinct artifacts.
    ``tag_weights`` maps each tag to the sum of the weights of its artifacts, in millionths.
    """

    sets: Mapping[str, Sequence[ExportedArtifact]]
    groups: Sequence[Sequence[ExportedArtifact]]
    totals: Mapping[str, int]
    tag_weights: Mapping[str, float]
    artifact_count: int

    @property
    def artifact_ids(self) -> list[str]:
        """The ids of the artifacts whose contents or titles are exported."""
        chosen = {artifact.artifact_id for members in self.sets.values() for artifact in members}
        return sorted(chosen | {group[0].artifact_id for group in self.groups})


@dataclass(frozen=True, slots=True)
class LearnedState:
    """A tenant's learned state at one time.

    ``contents`` holds the contents of the selected artifacts, by artifact_id; ``served`` the packs with feedback;
    ``common_terms`` the words from sessions of several users, which an allow list may keep.
    """

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
    common_terms: frozenset[str] = frozenset()
