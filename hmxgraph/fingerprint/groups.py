"""Groups of related artifacts, and which artifacts a fingerprint contains (HMX-F 8; DESIGN 6)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hmxgraph.fingerprint.measures import mean, millionths, ranked
from hmxgraph.fingerprint.state import KnownArtifact, Selection, Tier
from hmxgraph.fingerprint.summaries import CLUSTERS, SET_OF_TYPE
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.text.terms import terms

# Groups of related things: connected by tags that are half the same, or by a tag and a title half the same.

Words = frozenset[str]


def _related_groups(tags: Sequence[Words], titles: Sequence[Words]) -> list[list[int]]:
    """The places of all things as groups, each ascending, in the order of their first places.

    Two are related when the Jaccard similarity of their tags is at least 0.5, or when they share a tag and that of
    their titles' words is at least 0.5 (DESIGN 6). Relatedness is carried on: a chain is one group.

    >>> _related_groups([frozenset("ab"), frozenset("abc"), frozenset("x")], [frozenset()] * 3)
    [[0, 1], [2]]

    """
    group = np.arange(len(tags))
    by_tag, by_title = _Overlap(tags), _Overlap(titles)
    for place in range(len(tags)):
        tags_alike, tags_shared = by_tag.with_earlier(place)
        titles_alike, _ = by_title.with_earlier(place)
        related = np.flatnonzero(tags_alike | (tags_shared & titles_alike))
        if len(related):
            _join(group, place, related)
    found: dict[int, list[int]] = {}
    for place, number in enumerate(group.tolist()):
        found.setdefault(number, []).append(place)
    return list(found.values())


class _Overlap:
    """How many words each set shares with those before it, by the places in which each word occurs."""

    def __init__(self, sets: Sequence[Words]) -> None:
        self._sizes = np.array([len(words) for words in sets], dtype=np.int32)
        # A word that occurs once is shared with nobody.
        frequency = Counter(word for words in sets for word in words)
        self._words = [sorted(word for word in words if frequency[word] > 1) for words in sets]
        self._places = {word: np.empty(count, dtype=np.int64) for word, count in frequency.items() if count > 1}
        self._seen: Counter[str] = Counter()

    def with_earlier(self, place: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each earlier set: whether it is at least half the same, and whether it shares anything at all."""
        shared = np.zeros(place, dtype=np.int32)
        for word in self._words[place]:
            shared[self._places[word][: self._seen[word]]] += 1
        self._note(place, self._words[place])
        # shared / (a + b - shared) >= 1/2, without a division
        alike = 3 * shared >= self._sizes[:place] + self._sizes[place]
        return alike & (shared > 0), shared > 0

    def _note(self, place: int, words: Iterable[str]) -> None:
        for word in words:
            self._places[word][self._seen[word]] = place
            self._seen[word] += 1


def _join(group: NDArray[np.int64], place: int, related: NDArray[np.int64]) -> None:
    """Give *place*, the *related* and their groups the smallest of their numbers."""
    present = np.zeros(len(group), dtype=bool)
    present[group[related]] = True
    present[group[place]] = True
    if np.count_nonzero(present) > 1:
        group[present[group]] = np.flatnonzero(present)[0]


# Related artifacts as groups: shared tags, similar titles (HMX-F 8, rule 2; DESIGN 6).

_REPRESENTATIVES = 3


def clusters(artifacts: Sequence[KnownArtifact]) -> list[tuple[KnownArtifact, ...]]:
    """The connected groups of related artifacts, each heaviest first, the groups by their heaviest member.

    Two artifacts are related when the Jaccard similarity of their tags is at least 0.5, or when they share a tag and
    that of their titles' words is. Relatedness is carried on: a chain of related artifacts is one group.
    """
    ordered = sorted(artifacts, key=lambda artifact: artifact.rank)
    tags = [frozenset(artifact.tags) for artifact in ordered]
    titles = [frozenset(terms(artifact.title)) for artifact in ordered]
    return [tuple(ordered[place] for place in places) for places in _related_groups(tags, titles)]


def cluster_summary(members: Sequence[KnownArtifact]) -> dict[str, Any]:
    """What a fingerprint tells of a group; its id follows from the contents of its members alone."""
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


def _cluster_weight(members: Iterable[KnownArtifact]) -> float:
    """What decides which groups stay where not all can."""
    return sum(artifact.weight for artifact in members)


# Who is told about in a fingerprint (HMX-F 8): one of each content, the heaviest, groups of related ones.


def select(artifacts: Iterable[KnownArtifact], tier: Tier) -> Selection:
    """The choice among *artifacts* that *tier* leaves; it depends on them alone, not on their order."""
    distinct = collapsed(artifacts)
    groups = _told_groups(clusters(distinct), tier)
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


def _told_groups(groups: Iterable[Sequence[KnownArtifact]], tier: Tier) -> list[Sequence[KnownArtifact]]:
    """The heaviest groups; one artifact is a group only where no set can carry it (rules 2 and 4)."""
    told = [group for group in groups if len(group) > 1 or not tier.per_type or not _has_set(group[0])]
    return sorted(told, key=lambda group: (-_cluster_weight(group), group[0].rank))


def _has_set(artifact: KnownArtifact) -> bool:
    return artifact.artifact_type in SET_OF_TYPE


def _tag_weights(artifacts: Iterable[KnownArtifact]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for artifact in artifacts:
        for tag in artifact.tags:
            weights[tag] = weights.get(tag, 0) + millionths(artifact.weight)
    return weights
