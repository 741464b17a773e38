"""A pack before it is filled: every candidate scored and ranked."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np

from hmxgraph.recall.arrays import Floats
from hmxgraph.recall.asking.request import PackRequest
from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.known.candidates import EVIDENCE, evidence_candidates
from hmxgraph.recall.known.values import REMEMBERED
from hmxgraph.recall.known.weighed import Weighed
from hmxgraph.recall.packing.standings import Standings
from hmxgraph.recall.ranking.episodes import SECTION, Episodes, separated, timely
from hmxgraph.recall.ranking.pool import EventPool
from hmxgraph.recall.ranking.reading_on import read_on
from hmxgraph.recall.ranking.relevance import Ranking
from hmxgraph.recall.ranking.walk import Neighbourhood
from hmxgraph.recall.scoring import THRESHOLD, Clock
from hmxgraph.recall.state import State

# Somewhat more than fits is compared with each other, because repeats fall out.
MARGIN = 1.2
COMPARED_ALIKE = 2
COMPARED_BEYOND = 16
MOST_COMPARED = 1_500


@dataclass(frozen=True)
class Draft:
    """Everything that a pack is made of; ``whole`` are the texts of events of which the pool has the beginning."""

    request: PackRequest
    state: State
    found: Ranking
    around: Neighbourhood
    weighed: Weighed
    whole: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def ranking(self) -> Standings:
        """All candidates of the wanted sections, ranked."""
        wanted = frozenset(self.request.sections)
        others = [*self.weighed.of_sections(wanted), *(self._evidence() if EVIDENCE in wanted else ())]
        return Standings(self._episodes(wanted), others)

    @property
    def entities(self) -> tuple[str, ...]:
        """The tenant's entities that the question names, and what else looks like a name in it."""
        entities, appraisal = self.weighed.in_force.entities, self.weighed.appraisal
        known = sorted(entity.name for entity in entities if appraisal.names(entity.name))
        return tuple(dict.fromkeys([*known, *self.found.question.names]))

    def in_reach(self) -> frozenset[str]:
        """The ids of the events that may go in: the best, somewhat more of them than fill the budget.

        Of those with the same search terms and length, which mostly say the same, two are looked at.
        """
        ids: list[str] = []
        tokens = 0
        alike = Counter[tuple[str, int]]()
        for event in self.ranking.sketches():
            if event.score < THRESHOLD:
                break
            if (tokens > MARGIN * self.request.budget and len(ids) >= COMPARED_BEYOND) or len(ids) >= MOST_COMPARED:
                break
            shape = (event.words, event.tokens)
            alike[shape] += 1
            if alike[shape] <= COMPARED_ALIKE:
                ids.append(event.event_id)
            if alike[shape] == 1:
                tokens += event.tokens
        return frozenset(ids)

    def _episodes(self, wanted: frozenset[str]) -> Episodes:
        """The events, ranked."""
        time = self.weighed.appraisal.clock
        if SECTION not in wanted:
            return Episodes(EventPool(), np.zeros(0), time)
        relevance = self.found.relevance(self.around)
        pool = read_on(self.found.pool, self.whole, self.found.match.worth, self.weighed.appraisal.count_tokens)
        verdicts = dict(chain(self._retold(wanted), self._outdated()))
        return Episodes(
            pool, separated(relevance, self.found.assurance), time, verdicts, self._timely(time, pool, relevance)
        )

    def _timely(self, time: Clock, pool: EventPool, relevance: Floats) -> Floats | float:
        """How far its time speaks for each event: fully in the running session, and where the question is of a time."""
        if time.moment is not None or self.request.strategy == "recency_biased":
            return 1.0
        running = np.array([session_id == self.request.session_id for session_id in pool.session_id], dtype=np.bool_)
        matters = np.maximum(np.maximum(relevance, self.found.words), self.found.match.share)
        return np.where(running, 1.0, timely(matters, self.found.assurance))

    def _retold(self, wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
        """An event that tells what a task record tells stands back behind it, where that may go in."""
        told = {each.source_id for each in self.weighed.useful if each.section in wanted}
        for record in self.weighed.in_force.records:
            if record.record_id in told:
                yield from ((event_id, "duplicate") for event_id in record.told_by)

    def _outdated(self) -> Iterator[tuple[str, str]]:
        """What somebody wanted to be remembered, and took back by another word, stands as it was told no more."""
        known = self.weighed.in_force
        over = {each.memory_id for each in known.memories if each.method == REMEMBERED and not each.held}
        return ((evidence.event_id, "deprecated") for evidence in known.evidence if evidence.record_id in over)

    def _evidence(self) -> Iterator[Candidate]:
        """The events behind what is known, but for those that stand for themselves."""
        shown = self.found.pool.index if SECTION in self.request.sections else {}
        found = evidence_candidates(self.weighed.in_force, self.weighed.candidates, self.weighed.appraisal)
        return (candidate for candidate in found if candidate.source_id not in shown)
