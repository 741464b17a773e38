"""Clusters of related artifacts, and the selection of artifacts for a fingerprint (HMX-F 8)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hmxgraph.fingerprint.measures import mean, millionths, ranked
from hmxgraph.fingerprint.state import ExportedArtifact, Selection, Tier
from hmxgraph.fingerprint.summaries import CLUSTERS, SET_OF_TYPE
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.text.terms import terms

# Grouping: two items are related if they have similar tags, or share a tag and have similar titles; a group is a
# connected component of this relation.

Words = frozenset[str]


def _related_groups(tags: Sequence[Words], titles: Sequence[Words]) -> list[list[int]]:
    """The indices of all items, in groups; each group is ascending, and the groups are ordered by their first index.

    Two items are related if the Jaccard similarity of their tags is at least 0.5, or if they share a tag and the
    Jaccard similarity of their titles' words is at least 0.5. A chain of related items forms one group.

    >>> _related_groups([frozenset("ab"), frozenset("abc"), frozenset("x")], [frozenset()] * 3)
    [[0, 1], [2]]

    """
    group = np.arange(len(tags))
    by_tag, by_title = _Overlap(tags), _Overlap(titles)
    for index in range(len(tags)):
        tags_alike, tags_shared = by_tag.with_earlier(index)
        titles_alike, _ = by_title.with_earlier(index)
        related = np.flatnonzero(tags_alike | (tags_shared & titles_alike))
        if len(related):
            _join(group, index, related)
    members: dict[int, list[int]] = {}
    for index, number in enumerate(group.tolist()):
        members.setdefault(number, []).append(index)
    return list(members.values())


class _Overlap:
    """Counts the words that each set shares with each earlier set, using an inverted index.

    Call :meth:`with_earlier` for every set, in order: it also adds the set to the index.
    """

    def __init__(self, sets: Sequence[Words]) -> None:
        self._sizes = np.array([len(words) for words in sets], dtype=np.int32)
        # Only words that occur in several sets are indexed.
        frequency = Counter(word for words in sets for word in words)
        self._words = [sorted(word for word in words if frequency[word] > 1) for words in sets]
        self._sets_with = {word: np.empty(count, dtype=np.int64) for word, count in frequency.items() if count > 1}
        self._seen_counts: Counter[str] = Counter()

    def with_earlier(self, index: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each earlier set: whether its similarity is at least 0.5, and whether it shares any word."""
        shared = np.zeros(index, dtype=np.int32)
        for word in self._words[index]:
            shared[self._sets_with[word][: self._seen_counts[word]]] += 1
        self._add_to_index(index, self._words[index])
        # The same as shared / (size + other_size - shared) >= 1/2, without a division.
        alike = 3 * shared >= self._sizes[:index] + self._sizes[index]
        return alike & (shared > 0), shared > 0

    def _add_to_index(self, index: int, words: Iterable[str]) -> None:
        for word in words:
            self._sets_with[word][self._seen_counts[word]] = index
            self._seen_counts[word] += 1


def _join(group: NDArray[np.int64], index: int, related: NDArray[np.int64]) -> None:
    """Merge the groups of *index* and *related*, under the smallest group number."""
    present = np.zeros(len(group), dtype=bool)
    present[group[related]] = True
    present[group[index]] = True
    if np.count_nonzero(present) > 1:
        group[present[group]] = np.flatnonzero(present)[0]


# Clusters of artifacts (HMX-F 8, rule 2). Artifacts are ordered by weight: confidence times observations.

# Number of members, the heaviest ones, that the summary of a cluster lists.
_REPRESENTATIVES = 3


def clusters(artifacts: Sequence[ExportedArtifact]) -> list[tuple[ExportedArtifact, ...]]:
    """Clusters of related artifacts, members heaviest first, ordered by their heaviest member.

    An artifact that is related to no other is a cluster by itself. :func:`_related_groups` defines "related".
    """
    ordered = sorted(artifacts, key=lambda artifact: artifact.rank)
    tags = [frozenset(artifact.tags) for artifact in ordered]
    titles = [frozenset(terms(artifact.title)) for artifact in ordered]
    return [tuple(ordered[index] for index in indices) for indices in _related_groups(tags, titles)]


def cluster_summary(members: Sequence[ExportedArtifact]) -> dict[str, Any]:
    """The summary of a cluster; its id is derived from the contents of its members."""
    types = Counter(artifact.artifact_type for artifact in members)
    shared = frozenset(members[0].tags).intersection(*(artifact.tags for artifact in members))
    return {
        "cluster_id": "cluster-" + content_hash(sorted(artifact.content_hash for artifact in members))[:32],
        "label": members[0].title,
        "dominant_type": ranked(types, 1)[0],
        "member_count": len(members),
        "representative_ids": sorted(artifact.artifact_id for artifact in members[:_REPRESENTATIVES]),
        "shared_tags": sorted(shared),
        "avg_confidence": mean(artifact.confidence for artifact in members),
        "total_observations": sum(artifact.observed_count for artifact in members),
    }


def _cluster_weight(members: Iterable[ExportedArtifact]) -> float:
    """The sum of the weights of a cluster's artifacts."""
    return sum(artifact.weight for artifact in members)


# Selection (HMX-F 8): duplicates are removed, the heaviest artifacts and clusters are selected.


def select(artifacts: Iterable[ExportedArtifact], tier: Tier) -> Selection:
    """The *artifacts* and clusters selected for *tier*, independent of the order of *artifacts*."""
    distinct = collapsed(artifacts)
    groups = _listed_groups(clusters(distinct), tier)
    return Selection(
        sets=heaviest(distinct, tier.per_type),
        groups=groups[: tier.clusters],
        tag_weights=_tag_weights(distinct),
        totals=Counter(SET_OF_TYPE[artifact.artifact_type] for artifact in distinct if _has_set(artifact))
        | {CLUSTERS: len(groups)},
        artifact_count=len(distinct),
    )


def collapsed(artifacts: Iterable[ExportedArtifact]) -> list[ExportedArtifact]:
    """*artifacts* without duplicates, heaviest first; the heaviest of several with equal content is kept (rule 1)."""
    by_content: dict[str, ExportedArtifact] = {}
    for artifact in sorted(artifacts, key=lambda artifact: artifact.rank):
        by_content.setdefault(artifact.content_hash, artifact)
    return list(by_content.values())


def heaviest(artifacts: Iterable[ExportedArtifact], most: int) -> dict[str, list[ExportedArtifact]]:
    """The first *most* artifacts of each set of summaries (rule 3); *artifacts* are sorted heaviest first."""
    sets: dict[str, list[ExportedArtifact]] = {name: [] for name in SET_OF_TYPE.values()}
    for artifact in artifacts:
        members = sets.get(SET_OF_TYPE.get(artifact.artifact_type, ""))
        if members is not None and len(members) < most:
            members.append(artifact)
    return sets


def _listed_groups(groups: Iterable[Sequence[ExportedArtifact]], tier: Tier) -> list[Sequence[ExportedArtifact]]:
    """The clusters, heaviest first (rules 2 and 4).

    A cluster of one artifact is left out if a set of summaries can contain that artifact.
    """
    listed = [group for group in groups if len(group) > 1 or not tier.per_type or not _has_set(group[0])]
    return sorted(listed, key=lambda group: (-_cluster_weight(group), group[0].rank))


def _has_set(artifact: ExportedArtifact) -> bool:
    """Whether artifacts of this type have a set of summaries."""
    return artifact.artifact_type in SET_OF_TYPE


def _tag_weights(artifacts: Iterable[ExportedArtifact]) -> dict[str, float]:
    """For each tag, the sum of the weights of its artifacts, in millionths."""
    weights: dict[str, float] = {}
    for artifact in artifacts:
        for tag in artifact.tags:
            weights[tag] = weights.get(tag, 0) + millionths(artifact.weight)
    return weights
