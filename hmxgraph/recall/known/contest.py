"""Open conflicts between candidates: which side gives way, and which are told as disputed (DESIGN 6)."""

from collections.abc import Iterable
from dataclasses import dataclass

from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.known.values import KnownConflict

# Two sides this close in confidence are both shown.
UNDECIDED = 0.01
# A side that has little to do with the question holds all the same.
_HOLDING = frozenset({"", "low_relevance"})


@dataclass(frozen=True, slots=True)
class Contest:
    """The ids of the sides that give way, and of those between which nothing decides."""

    losers: frozenset[str] = frozenset()
    disputed: frozenset[str] = frozenset()


def contested(candidates: Iterable[Candidate], conflicts: Iterable[KnownConflict]) -> Contest:
    """What *conflicts* do to *candidates*: of two sides that hold, the less sure one gives way."""
    by_id = {candidate.source_id: candidate for candidate in candidates if candidate.verdict in _HOLDING}
    losers, disputed = set[str](), set[str]()
    for conflict in conflicts:
        sides = sorted((by_id[side] for side in conflict.sides if side in by_id), key=_standing, reverse=True)
        for side in sides[1:]:
            # 0.9 and 0.89 are 0.01 apart, though not as binary fractions.
            if round(sides[0].confidence - side.confidence, 9) <= UNDECIDED:
                disputed |= {sides[0].source_id, side.source_id}
            else:
                losers.add(side.source_id)
    return Contest(frozenset(losers), frozenset(disputed))


def _standing(candidate: Candidate) -> tuple[float, int, int, str]:
    return candidate.confidence, candidate.evidence_count, candidate.time_us, candidate.source_id
