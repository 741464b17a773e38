"""Related artifacts as groups: shared tags, similar titles (HMX-F 8, rule 2; DESIGN 6)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from hmxgraph.fingerprint.known import KnownArtifact
from hmxgraph.fingerprint.likeness import related_groups
from hmxgraph.fingerprint.numbers import mean, ranked
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.text.terms import terms

REPRESENTATIVES = 3


def clusters(artifacts: Sequence[KnownArtifact]) -> list[tuple[KnownArtifact, ...]]:
    """The connected groups of related artifacts, each heaviest first, the groups by their heaviest member.

    Two artifacts are related when the Jaccard similarity of their tags is at least 0.5, or when they share a tag and
    that of their titles' words is. Relatedness is carried on: a chain of related artifacts is one group.
    """
    ordered = sorted(artifacts, key=lambda artifact: artifact.rank)
    tags = [frozenset(artifact.tags) for artifact in ordered]
    titles = [frozenset(terms(artifact.title)) for artifact in ordered]
    return [tuple(ordered[place] for place in places) for places in related_groups(tags, titles)]


def cluster_summary(members: Sequence[KnownArtifact]) -> dict[str, Any]:
    """What a fingerprint tells of a group; its id follows from the contents of its members alone."""
    types = Counter(artifact.artifact_type for artifact in members)
    shared = frozenset(members[0].tags).intersection(*(artifact.tags for artifact in members))
    return {
        "cluster_id": "cluster-" + content_hash(sorted(artifact.content_hash for artifact in members))[:32],
        "label": members[0].title,
        "dominant_type": ranked(types, 1)[0],
        "member_count": len(members),
        "representative_ids": sorted(artifact.artifact_id for artifact in members[:REPRESENTATIVES]),
        "shared_tags": sorted(shared),
        "avg_confidence": mean(artifact.confidence for artifact in members),
        "total_observations": sum(artifact.observed_count for artifact in members),
    }


def cluster_weight(members: Iterable[KnownArtifact]) -> float:
    """What decides which groups stay where not all can."""
    return sum(artifact.weight for artifact in members)
