"""The semantic memory in numbers (HMX-F 6)."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hmxgraph.fingerprint.known import MemoryCount
from hmxgraph.fingerprint.numbers import average, most_frequent, ratio
from hmxgraph.protocol.fingerprint_parts import MEMORY_STATUSES

_MOST_KINDS = 32


def semantic_summary(memories: Iterable[MemoryCount]) -> dict[str, Any]:
    """Counts by status; distributions and averages over the promoted memories, as in the specification's example.

    >>> semantic_summary([MemoryCount("promoted", "fact", "directive", 2, 1_500_000, 3)])["avg_promoted_confidence"]
    0.75

    """
    counted = Counter[str]()
    kinds, methods = Counter[str](), Counter[str]()
    confidence = observations = 0
    for memory in memories:
        counted[memory.status] += memory.count
        if memory.status == "promoted":
            kinds[memory.kind] += memory.count
            methods[memory.extraction_method] += memory.count
            confidence += memory.confidence_millionths
            observations += memory.observations
    return {f"{status}_count": counted[status] for status in MEMORY_STATUSES} | {
        "type_distribution": most_frequent(kinds, _MOST_KINDS),
        "extraction_method_distribution": most_frequent(methods, _MOST_KINDS),
        "avg_promoted_confidence": average(confidence, counted["promoted"]),
        "avg_observation_count": ratio(observations, counted["promoted"]),
    }
