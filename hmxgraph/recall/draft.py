"""A pack before it is filled: knowledge weighed by the question, every candidate scored and ranked."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from hmxgraph.recall.candidates import (
    SECTION,
    THRESHOLD,
    Candidate,
    Clock,
    Episodes,
    Ranked,
    Sketch,
    State,
    clock,
    read_on,
    separated,
    timely,
)
from hmxgraph.recall.knowledge import (
    NO_GUIDANCE,
    NO_PRIORS,
    REMEMBERED,
    STATE_CHANGE,
    Guidance,
    Known,
    KnownArtifact,
    KnownConflict,
    Progress,
    priors_of,
    progress,
    recovery_steps,
)
from hmxgraph.recall.known_candidates import EVIDENCE, Appraisal, evidence_candidates, known_candidates, trust
from hmxgraph.recall.pack import line_of, tokens_of
from hmxgraph.recall.pool import EventPool, Floats, match_words
from hmxgraph.recall.question import PackRequest
from hmxgraph.recall.relevance import Ranking
from hmxgraph.recall.walk import Neighbourhood
from hmxgraph.text.artifacts import Validity, applies
from hmxgraph.text.lines import DISPUTED
from hmxgraph.text.terms import TokenCounter

# Open conflicts between candidates: which side gives way, and which are told as disputed (DESIGN 6).

# Two sides this close in confidence are both shown.
_UNDECIDED = 0.01
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
            if round(sides[0].confidence - side.confidence, 9) <= _UNDECIDED:
                disputed |= {sides[0].source_id, side.source_id}
            else:
                losers.add(side.source_id)
    return Contest(frozenset(losers), frozenset(disputed))


def _standing(candidate: Candidate) -> tuple[float, int, int, str]:
    return candidate.confidence, candidate.evidence_count, candidate.time_us, candidate.source_id


# What is known, weighed by a question: made before anybody knows what lies around the best events.
#
# The server looks for these meanwhile, so that the weighing takes no time of its own.

# The kinds of sources that may be told by events of tools and the web.
_MEMORIES = frozenset({"memory", "policy"})


@dataclass(frozen=True, slots=True)
class Weighed:
    """What of the known is in force, and the candidates made of it.

    ``progress`` is how far the running session is in the task schema that leads, else in the best one for the question;
    ``remedy`` the playbook for the failure that it stands before.
    """

    appraisal: Appraisal
    in_force: Known
    candidates: tuple[Candidate, ...]
    contest: Contest
    progress: Progress | None = None
    remedy: KnownArtifact | None = None

    def of_sections(self, wanted: frozenset[str]) -> Iterator[Candidate]:
        """The candidates of the *wanted* sections."""
        return (each for each in self.candidates if each.section in wanted)

    @property
    def useful(self) -> Iterator[Candidate]:
        """Those that nothing speaks against."""
        return filter(_useful, self.candidates)


def weighed(
    request: PackRequest,
    state: State,
    by_words: Ranking,
    known: Known,
    count_tokens: TokenCounter,
    guidance: Guidance = NO_GUIDANCE,
) -> Weighed:
    """*known* as *request* weighs it, by how rare its words are among the events *by_words*."""
    appraisal = _appraisal(request, state, by_words, count_tokens, guidance)
    in_force = _in_force(request, state, known)
    labelled = tuple(_labelled(known_candidates(in_force, appraisal), in_force))
    contest = contested(labelled, in_force.conflicts)
    found = tuple(_counted(_marked(each, contest), count_tokens) for each in labelled)
    reached = _progress(in_force, found, guidance)
    remedy = _remedy(in_force, found, guidance)
    step = (_counted(each, count_tokens) for each in _next_step(request, reached, remedy, found))
    return Weighed(appraisal, in_force, (*found, *step), contest, reached, remedy)


def _appraisal(
    request: PackRequest, state: State, by_words: Ranking, count_tokens: TokenCounter, guidance: Guidance
) -> Appraisal:
    # Of who speaks an event tells by itself; knowledge tells of whom it is by the name in it.
    match = match_words(by_words.question.terms, by_words.pool, by_words.event_count)
    priors = priors_of(request.priors) if request.strategy == "fingerprint_guided" else NO_PRIORS
    time = clock(request, by_words.question, state.as_of_us)
    return Appraisal(by_words.question, match.worth, time, priors, count_tokens, guidance)


def _in_force(request: PackRequest, state: State, known: Known) -> Known:
    """What applies to the reader (HMX-A 6) and carries enough confidence.

    A conflict tells the words of its sides: it applies where all of them do.
    """
    least = request.min_confidence

    def here(scope: Validity) -> bool:
        return applies(scope, tenant_id=state.tenant_id, moment_us=state.as_of_us, agent_id=request.agent_id)

    return replace(
        known,
        artifacts=tuple(each for each in known.artifacts if each.confidence >= least and here(each.validity)),
        memories=tuple(memory for memory in known.memories if memory.confidence >= least or memory.hard),
        entities=tuple(entity for entity in known.entities if entity.confidence >= least),
        relations=tuple(relation for relation in known.relations if relation.confidence >= least),
        conflicts=tuple(each for each in known.conflicts if all(map(here, each.scopes))),
        records=tuple(record for record in known.records if trust(record) >= least),
    )


def _labelled(candidates: Iterator[Candidate], in_force: Known) -> Iterator[Candidate]:
    """Memories of what tools and the web told, with the label of the event that told it last.

    A change of state that too many events tell for any to be looked at may be of anyone.
    """
    labels = {evidence.record_id: evidence.label for evidence in in_force.evidence}
    for each in candidates:
        unknown = "data" if each.origin == STATE_CHANGE else ""
        label = labels.get(each.source_id, unknown) if each.source_type in _MEMORIES else ""
        yield each._replace(label=label) if label else each


def _marked(candidate: Candidate, contest: Contest) -> Candidate:
    """*candidate*, where it contradicts another and nothing decides between them, with a label that says so."""
    if candidate.source_id not in contest.disputed:
        return candidate
    return candidate._replace(label=f"{candidate.label}, {DISPUTED}" if candidate.label else DISPUTED)


def _counted(candidate: Candidate, count_tokens: TokenCounter) -> Candidate:
    """*candidate* with the tokens that it takes as written, where it may go in; else those of its text are enough."""
    if not _useful(candidate):
        return candidate
    return candidate._replace(tokens=tokens_of(line_of(candidate), count_tokens))


def _useful(candidate: Candidate) -> bool:
    return not candidate.verdict and (candidate.exempt or candidate.score >= THRESHOLD)


def _progress(in_force: Known, found: tuple[Candidate, ...], guidance: Guidance) -> Progress | None:
    schemas = {each.artifact_id: each for each in in_force.artifacts if each.artifact_type == "task_schema"}
    useful = {each.source_id: each for each in found if each.source_id in schemas and _useful(each)}
    if not useful:
        return None
    best = min(useful.values(), key=lambda each: (each.source_id != guidance.lead, each.order))
    return progress(schemas[best.source_id], guidance.done, in_force.session)


def _remedy(in_force: Known, found: tuple[Candidate, ...], guidance: Guidance) -> KnownArtifact | None:
    playbooks = {each.artifact_id: each for each in in_force.artifacts if guidance.answers(each)}
    useful = (each for each in found if each.source_id in playbooks and _useful(each))
    best = min(useful, key=lambda each: each.order, default=None)
    return None if best is None else playbooks[best.source_id]


def _next_step(
    request: PackRequest, reached: Progress | None, remedy: KnownArtifact | None, found: tuple[Candidate, ...]
) -> Iterator[Candidate]:
    """The step to be taken next, where what tells it does not stand among the procedures, or tells it amid others.

    Where something failed, what a playbook says of it comes first: what the procedure says then has to wait.
    """
    among = "procedures" in request.sections
    if remedy is not None and (told := recovery_steps(remedy)):
        yield from () if among else _told_next(remedy, told[0], found)
    elif reached is not None and (step := reached.next_step) is not None and (reached.current or not among):
        tools = f" ({', '.join(step.tools)})" if step.tools else ""
        yield from _told_next(reached.schema, f"{step.description}{tools}", found)


def _told_next(by: KnownArtifact, step: str, found: tuple[Candidate, ...]) -> Iterator[Candidate]:
    of = next(each for each in found if each.source_id == by.artifact_id)
    yield of._replace(section="workflow", content=f"Next: {step}")


# All candidates of a pack in their order.


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


# A pack before it is filled: every candidate scored and ranked.

# Somewhat more than fits is compared with each other, because repeats fall out.
_MARGIN = 1.2
_COMPARED_ALIKE = 2
_COMPARED_BEYOND = 16
_MOST_COMPARED = 1_500


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
            if (tokens > _MARGIN * self.request.budget and len(ids) >= _COMPARED_BEYOND) or len(ids) >= _MOST_COMPARED:
                break
            shape = (event.words, event.tokens)
            alike[shape] += 1
            if alike[shape] <= _COMPARED_ALIKE:
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
