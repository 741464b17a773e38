"""The structure of a knowledge graph in numbers (HMX-F 5), from counts by type."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import Field

from hmxgraph.fingerprint.measures.depth import Depth
from hmxgraph.fingerprint.numbers import average
from hmxgraph.protocol.fingerprint_parts import ConnectedEntity, GraphDigest

Counts: TypeAlias = Sequence[Mapping[str, Any]]


class MeasuredDigest(GraphDigest):
    """A ``graph_digest`` that knows, beside the wire, whether its depth is a diameter or a lower bound."""

    max_depth_exact: bool = Field(default=True, exclude=True)

    def document(self) -> dict[str, Any]:
        """The wire form."""
        return self.model_dump(mode="json")


def digest_of(entities: Counts, relations: Counts, connected: Counts, depth: Depth) -> MeasuredDigest:
    """The digest of counts by type, hubs and depth; averages are exact to six decimals, whatever the order of rows.

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
