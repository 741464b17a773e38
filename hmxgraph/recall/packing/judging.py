"""Which candidates may go in, and the reason of each that may not (HMX-C 8)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hmxgraph.recall.candidates import Candidate, Dropped, Ranked
from hmxgraph.recall.known.contest import Contest
from hmxgraph.recall.known.values import REMEMBERED
from hmxgraph.recall.packing.duplicates import Duplicates
from hmxgraph.recall.scoring import THRESHOLD

# The sections of rules.
RULES = frozenset({"core", "constraints"})


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


def judged(ranking: Sequence[Ranked], contest: Contest, repeats: Repeats) -> Judgement:
    """Every one of *ranking* as eligible or dropped; texts that could be read are compared with each other.

    *repeats* knows of all that is eligible afterwards.
    """
    eligible, dropped = [], []
    for ranked in sorted(ranking, key=lambda ranked: not _stands_first(ranked.candidate)):
        reason = _reason(ranked.candidate, contest.losers) or repeats.reason(ranked.candidate)
        if reason:
            dropped.append(Dropped(ranked, reason))
        else:
            eligible.append(ranked)
    eligible.sort(key=_rank)
    disputed = contest.disputed.intersection(ranked.candidate.source_id for ranked in ranking)
    return Judgement(tuple(eligible), tuple(dropped), tuple(sorted(disputed)))


def _stands_first(candidate: Candidate) -> bool:
    """Whether it is not dropped for the words by which it was laid down, or told to be remembered."""
    return candidate.section in RULES or candidate.origin == REMEMBERED


def _rank(ranked: Ranked) -> int:
    return ranked.rank


def _reason(candidate: Candidate, losers: Collection[str]) -> str:
    if candidate.verdict:
        return candidate.verdict
    if not candidate.exempt and candidate.score < THRESHOLD:
        return "low_relevance"
    return "conflict" if candidate.source_id in losers else ""
