"""All candidates of a pack in their order."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from hmxgraph.recall.candidates import Candidate, Ranked
from hmxgraph.recall.ranking.episodes import Episodes, Sketch


class Standings:
    """Who stands where, 1 for the first: every event of *episodes* and all the *others* by ``Candidate.order``."""

    def __init__(self, episodes: Episodes, others: Sequence[Candidate]) -> None:
        self._episodes = episodes
        self._others = others
        orders = [*chain(episodes.orders(), (other.order for other in others))]
        self._numbers = sorted(range(len(orders)), key=orders.__getitem__)
        self._made: dict[int, Ranked] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Ranked]:
        return map(self.at, range(1, len(self) + 1))

    def at(self, rank: int) -> Ranked:
        """The candidate with that *rank*."""
        found = self._made.get(rank)
        if found is None:
            found = self._made[rank] = Ranked(rank, self._candidate(self._numbers[rank - 1]))
        return found

    def in_sight(self, reached: Collection[str]) -> Iterator[Ranked]:
        """Those that are no mere events, and the events that are in reach, by id."""
        events, ids = len(self._episodes), self._episodes.pool.event_id
        for rank, number in enumerate(self._numbers, start=1):
            if number >= events or ids[number] in reached:
                yield self.at(rank)

    def beyond(self, reached: Collection[str], least: float) -> Iterator[tuple[int, int]]:
        """Rank and tokens of the events that are not in reach and have at least that score, best first."""
        events, pool, scores = len(self._episodes), self._episodes.pool, self._episodes.scores
        for rank, number in enumerate(self._numbers, start=1):
            if number < events and pool.event_id[number] not in reached:
                if scores[number] < least:
                    return
                yield rank, pool.tokens[number]

    def sketches(self) -> Iterator[Sketch]:
        """The events, best first."""
        events = len(self._episodes)
        return (self._episodes.sketch(number) for number in self._numbers if number < events)

    @property
    def source_types(self) -> frozenset[str]:
        """The kinds of sources among them."""
        return frozenset(other.source_type for other in self._others) | (
            frozenset({"episode"}) if len(self._episodes) else frozenset()
        )

    def _candidate(self, number: int) -> Candidate:
        events = len(self._episodes)
        return self._episodes.candidate(number) if number < events else self._others[number - events]
