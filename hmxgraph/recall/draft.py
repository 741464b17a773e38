"""A pack before it is filled: every candidate scored and ranked."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.episodes import SECTION, Episodes, separated
from hmxgraph.recall.guidance import NO_GUIDANCE, Guidance
from hmxgraph.recall.hints import Progress, progress
from hmxgraph.recall.knowledge import Appraisal, evidence_candidates, known_candidates
from hmxgraph.recall.known import Known
from hmxgraph.recall.pool import EventPool
from hmxgraph.recall.priors import NO_PRIORS, Priors, priors_of
from hmxgraph.recall.records import trust
from hmxgraph.recall.relevance import Ranking
from hmxgraph.recall.request import PackRequest
from hmxgraph.recall.scoring import THRESHOLD, Clock, clock
from hmxgraph.recall.standings import Standings
from hmxgraph.recall.walk import Neighbourhood
from hmxgraph.text.tokens import TokenCounter
from hmxgraph.text.validity import Validity, applies

# Somewhat more than fits is compared with each other, because repeats fall out.
MARGIN = 1.2
COMPARED_ALIKE = 2
COMPARED_BEYOND = 16
MOST_COMPARED = 1_500


@dataclass(frozen=True, slots=True)
class State:
    """The state that a pack answers from: whose, which version, as of when, how many events, search cut off or not.

    ``unsettled`` tells that others wrote while it was read, as often as it was begun again: it is of no one version.
    """

    tenant_id: str
    state_version: int
    as_of_us: int
    event_count: int
    truncated: bool = False
    unsettled: bool = False


@dataclass(frozen=True)
class Draft:
    """Everything that a pack is made of."""

    request: PackRequest
    state: State
    found: Ranking
    around: Neighbourhood
    known: Known
    count_tokens: TokenCounter
    guidance: Guidance = NO_GUIDANCE

    @cached_property
    def clock(self) -> Clock:
        """By which recency is told."""
        return clock(self.request, self.found.question, self.state.as_of_us)

    @cached_property
    def priors(self) -> Priors:
        """The priors of a fingerprint, where the strategy follows them."""
        return priors_of(self.request.priors) if self.request.strategy == "fingerprint_guided" else NO_PRIORS

    @cached_property
    def appraisal(self) -> Appraisal:
        """How knowledge is valued."""
        match = self.found.match
        weights = dict(zip(match.terms, match.weights.tolist(), strict=True))
        return Appraisal(self.found.question, weights, self.clock, self.priors, self.count_tokens, self.guidance)

    @cached_property
    def in_force(self) -> Known:
        """What is known and applies to the reader (HMX-A 6), and carries enough confidence.

        A conflict tells the words of its sides: it applies where all of them do.
        """
        least = self.request.min_confidence
        return replace(
            self.known,
            artifacts=tuple(
                each for each in self.known.artifacts if each.confidence >= least and self._applies(each.validity)
            ),
            memories=tuple(memory for memory in self.known.memories if memory.confidence >= least or memory.hard),
            entities=tuple(entity for entity in self.known.entities if entity.confidence >= least),
            relations=tuple(relation for relation in self.known.relations if relation.confidence >= least),
            conflicts=tuple(each for each in self.known.conflicts if all(map(self._applies, each.scopes))),
            records=tuple(record for record in self.known.records if trust(record) >= least),
        )

    @cached_property
    def ranking(self) -> Standings:
        """All candidates of the wanted sections, ranked."""
        wanted = frozenset(self.request.sections)
        return Standings(self._episodes(), [each for each in self._others() if each.section in wanted])

    @cached_property
    def progress(self) -> Progress | None:
        """The task schema that leads, else the best for the question, and how far the running session is in it."""
        schemas = {each.artifact_id: each for each in self.in_force.artifacts if each.artifact_type == "task_schema"}
        useful = [record.source_id for record in self._by_score if record.source_id in schemas and _useful(record)]
        best = self.guidance.lead if self.guidance.lead in useful else next(iter(useful), None)
        return progress(schemas[best], self.guidance.done, self.known.session) if best else None

    @property
    def entities(self) -> tuple[str, ...]:
        """The tenant's entities that the question names, and what else looks like a name in it."""
        known = [entity.name for entity in self.known.entities if self.appraisal.names(entity.name)]
        return tuple(dict.fromkeys([*sorted(known), *self.found.question.names]))

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

    @cached_property
    def _records(self) -> tuple[Candidate, ...]:
        return tuple(known_candidates(self.in_force, self.appraisal))

    @property
    def _by_score(self) -> list[Candidate]:
        return sorted(self._records, key=lambda record: record.order)

    def _others(self) -> Iterator[Candidate]:
        yield from self._records
        yield from self._evidence()
        yield from self._workflow()

    def _episodes(self) -> Episodes:
        """Events; one that tells what a task record tells stands back behind it, where that may go in."""
        if SECTION not in self.request.sections:
            return Episodes(EventPool(), np.zeros(0), self.clock)
        relevance = separated(self.found.relevance(self.around), self.found.assurance)
        wanted = frozenset(self.request.sections)
        told = {record.source_id for record in self._records if record.section in wanted and _useful(record)}
        retold = (event_id for each in self.in_force.records if each.record_id in told for event_id in each.told_by)
        return Episodes(self.found.pool, relevance, self.clock, frozenset(retold))

    def _evidence(self) -> Iterator[Candidate]:
        shown = self.found.pool.index if SECTION in self.request.sections else {}
        records: Mapping[str, Candidate] = {record.source_id: record for record in self._records}
        found = evidence_candidates(self.in_force, records, self.appraisal)
        yield from (candidate for candidate in found if candidate.source_id not in shown)

    def _workflow(self) -> Iterator[Candidate]:
        """The step to be taken next, where a schema fits the question and does not tell it by its beginning."""
        if self.progress is None or (step := self.progress.next_step) is None:
            return
        if not self.progress.current and "procedures" in self.request.sections:
            return
        schema = self.progress.schema
        record = next(record for record in self._records if record.source_id == schema.artifact_id)
        tools = ", ".join(str(tool) for tool in step.get("tools_used") or ())
        content = f"Next: {step.get('description', '')}" + (f" ({tools})" if tools else "")
        yield record._replace(section="workflow", content=content, tokens=self.count_tokens(content))

    def _applies(self, scope: Validity) -> bool:
        return applies(
            scope,
            tenant_id=self.state.tenant_id,
            moment_us=self.state.as_of_us,
            agent_id=self.request.agent_id,
        )


def _useful(record: Candidate) -> bool:
    return not record.verdict and record.score >= THRESHOLD
