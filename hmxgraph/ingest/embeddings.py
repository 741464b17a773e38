"""Embeddings that events bring: all of a tenant have the dimension of the first, else they cannot be compared."""

from collections.abc import Iterable, Iterator

from hmxgraph.ingest.prepare import PreparedEvent


def first_dimension(events: Iterable[PreparedEvent]) -> int | None:
    """The dimension of the embedding that came first, None where no event has one that can be compared."""
    embedded = [event for event in events if "embedding_dimension" in event.properties]
    return min(embedded, key=lambda event: event.place).properties["embedding_dimension"] if embedded else None


def left_out(events: Iterable[PreparedEvent], dimension: int | None) -> Iterator[str]:
    """A warning for each embedding that nothing is found by: of another *dimension* than the tenant's, or all zero.

    It is kept, since the event's hash covers it.
    """
    for event in events:
        size = event.properties.get("embedding_dimension")
        if size is not None and size != dimension:
            yield f"an embedding of {size} numbers is left out of comparisons: those of this tenant have {dimension}"
        elif size is None and "embeddings" in event.properties:
            yield "an embedding without a direction, zero or beyond measure, is left out of comparisons"
