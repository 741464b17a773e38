"""Who is told about in a fingerprint (HMX-F 8): one of each content, the heaviest, groups of related ones."""

from collections import Counter
from collections.abc import Iterable, Sequence

from hmxgraph.fingerprint.clusters import cluster_weight, clusters
from hmxgraph.fingerprint.known import KnownArtifact, Selection
from hmxgraph.fingerprint.numbers import millionths
from hmxgraph.fingerprint.options import Tier
from hmxgraph.fingerprint.summaries import CLUSTERS, SET_OF_TYPE


def select(artifacts: Iterable[KnownArtifact], tier: Tier) -> Selection:
    """The choice among *artifacts* that *tier* leaves; it depends on them alone, not on their order."""
    distinct = collapsed(artifacts)
    groups = told_groups(clusters(distinct), tier)
    return Selection(
        sets=heaviest(distinct, tier.per_type),
        groups=groups[: tier.clusters],
        tag_weights=_tag_weights(distinct),
        totals=Counter(SET_OF_TYPE[one.artifact_type] for one in distinct if _has_set(one)) | {CLUSTERS: len(groups)},
        artifact_count=len(distinct),
    )


def collapsed(artifacts: Iterable[KnownArtifact]) -> list[KnownArtifact]:
    """One artifact of each content, the heaviest, heaviest first (rule 1)."""
    kept: dict[str, KnownArtifact] = {}
    for artifact in sorted(artifacts, key=lambda artifact: artifact.rank):
        kept.setdefault(artifact.content_hash, artifact)
    return list(kept.values())


def heaviest(artifacts: Iterable[KnownArtifact], most: int) -> dict[str, list[KnownArtifact]]:
    """For each set its *most* heaviest artifacts (rule 3); *artifacts* come heaviest first."""
    sets: dict[str, list[KnownArtifact]] = {name: [] for name in SET_OF_TYPE.values()}
    for artifact in artifacts:
        chosen = sets.get(SET_OF_TYPE.get(artifact.artifact_type, ""))
        if chosen is not None and len(chosen) < most:
            chosen.append(artifact)
    return sets


def told_groups(groups: Iterable[Sequence[KnownArtifact]], tier: Tier) -> list[Sequence[KnownArtifact]]:
    """The heaviest groups; one artifact is a group only where no set can carry it (rules 2 and 4)."""
    told = [group for group in groups if len(group) > 1 or not tier.per_type or not _has_set(group[0])]
    return sorted(told, key=lambda group: (-cluster_weight(group), group[0].rank))


def _has_set(artifact: KnownArtifact) -> bool:
    return artifact.artifact_type in SET_OF_TYPE


def _tag_weights(artifacts: Iterable[KnownArtifact]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for artifact in artifacts:
        for tag in artifact.tags:
            weights[tag] = weights.get(tag, 0) + millionths(artifact.weight)
    return weights
