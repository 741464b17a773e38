"""Which candidates may go in, and the reason of each that may not (HMX-C 8)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hmxgraph.recall.candidates import Candidate, Dropped, Ranked
from hmxgraph.recall.duplicates import Duplicates
from hmxgraph.recall.known import REMEMBERED, KnownConflict
from hmxgraph.recall.scoring import THRESHOLD

# The sections of rules.
RULES = frozenset({"core", "constraints"})
# Two sides this close in confidence are both shown.
UNDECIDED = 0.01


@dataclass(frozen=True, slots=True)
class Judgement:
    """The candidates that may go in, in order, and those that may not; ids of sides that contradict each other."""

    eligible: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...]
    disputed: tuple[str, ...] = ()


class Repeats:
    """What stands already: events and texts; asks of each further candidate whether it repeats one."""

    def __init__(self) -> None:
        self._texts = Duplicates()
        self._places: set[tuple[str, str]] = set()

    def reason(self, candidate: Candidate) -> str:
        """``duplicate`` for an event or a text that stands already, else nothing; hints and conflicts never repeat."""
        place = (candidate.source_type, candidate.source_id)
        if candidate.section in {"workflow", "conflicts"}:
            return ""
        if place in self._places or self._texts.repeats(candidate.content):
            return "duplicate"
        self._places.add(place)
        return ""


def judged(ranking: Sequence[Ranked], conflicts: Iterable[KnownConflict], repeats: Repeats) -> Judgement:
    """Every one of *ranking* as eligible or dropped; texts that could be read are compared with each other.

    *repeats* knows of all that is eligible afterwards.
    """
    losers, disputed = _contested(ranking, conflicts)
    eligible, dropped = [], []
    for ranked in sorted(ranking, key=lambda ranked: not _stands_first(ranked.candidate)):
        reason = _reason(ranked.candidate, losers) or repeats.reason(ranked.candidate)
        if reason:
            dropped.append(Dropped(ranked, reason))
        else:
            eligible.append(ranked)
    eligible.sort(key=_rank)
    return Judgement(tuple(eligible), tuple(dropped), tuple(sorted(disputed)))


def _stands_first(candidate: Candidate) -> bool:
    """Whether it is not dropped for the words by which it was laid down, or told to be remembered."""
    return candidate.section in RULES or candidate.origin == REMEMBERED


def _rank(ranked: Ranked) -> int:
    return ranked.rank


def _reason(candidate: Candidate, losers: set[str]) -> str:
    if candidate.verdict:
        return candidate.verdict
    if not candidate.exempt and candidate.score < THRESHOLD:
        return "low_relevance"
    return "conflict" if candidate.source_id in losers else ""


def _contested(ranking: Sequence[Ranked], conflicts: Iterable[KnownConflict]) -> tuple[set[str], set[str]]:
    """The losing sides of open conflicts between candidates, and the sides of those that are undecided.

    A side that has little to do with the question holds all the same.
    """
    holding = (ranked.candidate for ranked in ranking if ranked.candidate.verdict in {"", "low_relevance"})
    by_id = {candidate.source_id: candidate for candidate in holding}
    losers, disputed = set[str](), set[str]()
    for conflict in conflicts:
        sides = sorted((by_id[side] for side in conflict.sides if side in by_id), key=_standing, reverse=True)
        for side in sides[1:]:
            if sides[0].confidence - side.confidence <= UNDECIDED:
                disputed |= {sides[0].source_id, side.source_id}
            else:
                losers.add(side.source_id)
    return losers, disputed


def _standing(candidate: Candidate) -> tuple[float, int, int, str]:
    return candidate.confidence, candidate.evidence_count, candidate.time_us, candidate.source_id
