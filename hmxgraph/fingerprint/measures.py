"""The digest of the entity graph (HMX-F 5), and ratios and averages that are the same on every machine."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import Field

from hmxgraph.fingerprint.depth import Depth
from hmxgraph.protocol.fingerprints import ConnectedEntity, GraphDigest
from hmxgraph.text.terms import most_first

# Ratios and averages to six decimals; values are added as integers, so that the order of addition does not matter.

_MILLION = 1_000_000


def ratio(part: float, whole: float) -> float:
    """*part* / *whole* to six decimals; 0.0 if *whole* is zero.

    >>> ratio(2, 3), ratio(1, 0)
    (0.666667, 0.0)

    """
    return round(part / whole, 6) if whole else 0.0


def millionths(value: float) -> int:
    """*value* in millionths, rounded to an integer, so that sums do not depend on the order of addition."""
    return round(value * _MILLION)


def mean(values: Iterable[float]) -> float:
    """The mean to six decimals, independent of the order of *values*; 0.0 without values.

    >>> mean([0.25, 0.5])
    0.375

    """
    parts = [millionths(value) for value in values]
    return ratio(sum(parts), len(parts) * _MILLION)


def average(total_millionths: int, count: int) -> float:
    """The mean of *count* values from their sum in millionths, to six decimals; 0.0 if *count* is zero.

    >>> average(2_000_000, 3)
    0.666667

    """
    return ratio(total_millionths, count * _MILLION)


def most_frequent(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """The largest positive counts, up to *most* of them (ties by name), sorted by name.

    >>> most_frequent({"b": 2, "a": 1, "c": 2}, 2)
    {'b': 2, 'c': 2}

    """
    return {name: counts[name] for name in sorted(ranked(counts, most))}


def ranked(counts: Mapping[str, float], most: int) -> list[str]:
    """The names of the largest positive values, up to *most* of them, largest first, ties by name.

    >>> ranked({"b": 2, "a": 1, "c": 2}, 2)
    ['b', 'c']

    """
    return [name for name in most_first(counts) if counts[name] > 0][:most]


# The digest, from counts by type (HMX-F 5).

Rows: TypeAlias = Sequence[Mapping[str, Any]]


class MeasuredDigest(GraphDigest):
    """A ``graph_digest`` that knows whether its ``max_depth`` is exact or a lower bound; the wire form omits this."""

    max_depth_exact: bool = Field(default=True, exclude=True)

    def document(self) -> dict[str, Any]:
        """The wire form."""
        return self.model_dump(mode="json")


def digest_of(entities: Rows, relations: Rows, connected: Rows, depth: Depth) -> MeasuredDigest:
    """The digest, from counts by type, the best-connected entities and the depth; the order of rows does not matter.

    >>> row = {"type": "tool", "entity_count": 2, "confidence_millionths": 1_500_000}
    >>> digest_of([row], [], [], Depth(0, exact=True)).avg_entity_confidence
    0.75

    """
    entity_count = sum(row["entity_count"] for row in entities)
    relation_count = sum(row["relation_count"] for row in relations)
    return MeasuredDigest(
        entity_count=entity_count,
        relation_count=relation_count,
        entity_type_distribution={row["type"]: row["entity_count"] for row in entities},
        relation_type_distribution={row["relation_type"]: row["relation_count"] for row in relations},
        avg_entity_confidence=average(sum(row["confidence_millionths"] for row in entities), entity_count),
        avg_relation_weight=average(sum(row["weight_millionths"] for row in relations), relation_count),
        top_connected_entities=tuple(
            ConnectedEntity(name=row["name"], type=row["type"], connection_count=row["connection_count"])
            for row in connected
        ),
        max_depth=depth.value,
        max_depth_exact=depth.exact,
    )
