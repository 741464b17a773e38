"""Knowledge scored for a question: candidates, the outcome of open conflicts between them, and the next step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hmxgraph.recall._asked_actions import (
    actions_asked,
    actions_in_trouble,
    actions_named,
    actions_suspected,
    changes_of_policies,
    remedies,
    warning,
)
from hmxgraph.recall.candidates import Candidate, State, recency_decay
from hmxgraph.recall.knowledge import (
    NO_GUIDANCE,
    NO_PRIORS,
    STATE_CHANGE,
    Guidance,
    Known,
    KnownArtifact,
    KnownConflict,
    Progress,
    Related,
    priors_of,
    progress,
    recovery_steps,
)
from hmxgraph.recall.known_candidates import Appraisal, best_rule, general_words, known_candidates, repeated, trust
from hmxgraph.recall.pack import line_of, tokens_of
from hmxgraph.recall.pool import match_words, rarity
from hmxgraph.recall.question import PackRequest
from hmxgraph.recall.relations import Vicinity, relation_candidates
from hmxgraph.recall.relevance import Ranking
from hmxgraph.text.artifacts import Validity, applies
from hmxgraph.text.lines import DISPUTED
from hmxgraph.text.terms import TokenCounter, nearest_term, terms

# Open conflicts between candidates: which side is dropped, and which are marked as disputed.

# Maximum difference in confidence at which a conflict is undecided, so that both sides are shown.
_UNDECIDED = 0.01


@dataclass(frozen=True, slots=True)
class Contest:
    """The ids of the sides that lose a conflict, and of the sides of undecided conflicts."""

    losers: frozenset[str] = frozenset()
    disputed: frozenset[str] = frozenset()


def contested(candidates: Iterable[Candidate], conflicts: Iterable[KnownConflict]) -> Contest:
    """Resolve *conflicts* among those *candidates* that are not already dropped (``verdict``).

    The side with the highest confidence wins, and the others lose. Sides whose confidence is within ``_UNDECIDED`` of
    the highest do not lose: they and the winner are disputed.
    """
    by_id = {candidate.source_id: candidate for candidate in candidates if not candidate.verdict}
    losers, disputed = set[str](), set[str]()
    for conflict in conflicts:
        sides = sorted((by_id[side] for side in conflict.sides if side in by_id), key=_conflict_strength, reverse=True)
        for side in sides[1:]:
            # Rounded, because 0.9 - 0.89 exceeds 0.01 in binary floating point.
            if round(sides[0].confidence - side.confidence, 9) <= _UNDECIDED:
                disputed |= {sides[0].source_id, side.source_id}
            else:
                losers.add(side.source_id)
    return Contest(frozenset(losers), frozenset(disputed))


def _conflict_strength(candidate: Candidate) -> tuple[float, int, int, str]:
    return candidate.confidence, candidate.evidence_count, candidate.time_us, candidate.source_id


# Knowledge is scored while Neo4j still searches the neighbourhood of the best events. Only the ranking of events before
# the walk is therefore available here.

# Source types of memories, which may have been extracted from outside text.
_MEMORIES = frozenset({"memory", "policy"})


@dataclass(frozen=True, slots=True)
class Appraised:
    """The knowledge in force, and the candidates made from it.

    - ``progress``: how far the running session has got in a task schema that the pack may include: the schema that the
      compiler's model predicts (``guidance.lead``) or, if it is not among them, the best-ranked one.
    - ``remedy``: the best playbook that may be included for the failure that the session just hit, or that the question
      reports.
    """

    appraisal: Appraisal
    in_force: Known
    candidates: tuple[Candidate, ...]
    contest: Contest
    progress: Progress | None = None
    remedy: KnownArtifact | None = None

    def of_sections(self, sections: frozenset[str]) -> Iterator[Candidate]:
        """Return the candidates of these *sections*."""
        return (candidate for candidate in self.candidates if candidate.section in sections)

    @property
    def useful(self) -> Iterator[Candidate]:
        """The candidates that may be included."""
        return (candidate for candidate in self.candidates if candidate.useful)


def appraised(
    request: PackRequest,
    state: State,
    by_words: Ranking,
    known: Known,
    count_tokens: TokenCounter,
    guidance: Guidance = NO_GUIDANCE,
) -> Appraised:
    """Appraise *known* for *request*; *by_words* is the ranking of events before their neighbourhood is searched.

    Terms are weighted by their rarity among the events and among the artifacts and memories in force.
    """
    in_force = _in_force(request, state, known)
    question = by_words.question
    remedy_ids = remedies(question, in_force.artifacts, guidance.failure)
    about = actions_in_trouble(question, in_force.artifacts)
    suspected = actions_suspected(question, in_force.artifacts)
    named = actions_named(question, in_force.artifacts)
    asked = actions_asked(question, in_force.artifacts)
    doubtful = asked & changes_of_policies(in_force.artifacts)
    guidance = replace(guidance, remedies=remedy_ids, troubled=question.troubled, about=about, suspected=suspected)
    guidance = replace(guidance, named=named, asked=asked, doubtful=doubtful)
    guidance = replace(guidance, error_terms=frozenset(by_words.error.terms))
    # Without events, or without terms in the question, the match cannot be judged, and its assurance counts as full.
    assurance = by_words.assurance_of_work if by_words.event_count and question.terms else 1.0
    guidance = replace(guidance, assurance=assurance)
    guidance = replace(guidance, warning=warning(question, in_force.artifacts, guidance))
    appraisal = _appraisal(request, state, by_words, _Vocabulary.of(in_force), (count_tokens, guidance))
    appraisal = replace(
        appraisal,
        general_words=general_words(in_force.artifacts),
        best_rule=best_rule(in_force.artifacts, appraisal),
    )
    labelled = tuple(_labelled(_without_repeated(known_candidates(in_force, appraisal), in_force, guidance), in_force))
    contest = contested(labelled, in_force.conflicts)
    candidates = tuple(with_tokens(_with_dispute(candidate, contest), count_tokens) for candidate in labelled)
    reached = _progress(in_force, candidates, guidance)
    remedy = _remedy(in_force, candidates, guidance)
    step = (with_tokens(candidate, count_tokens) for candidate in _next_step(request, reached, remedy, candidates))
    return Appraised(appraisal, in_force, (*candidates, *step), contest, reached, remedy)


# Words that occur in most facts and preferences, so that they hardly distinguish between them.
_PLAIN_WORDS = frozenset(terms("use want need prefer like"))
# Factor on the weight of these words.
_PLAIN_WEIGHT = 0.5
# Rarity is computed as if there were at least this many texts, because fewer texts say little about it.
_FEW_TEXTS = 10


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The number of artifacts and memories that contain each term, and their total number."""

    frequency: Mapping[str, int]
    size: int

    @classmethod
    def of(cls, known: Known) -> "_Vocabulary":
        texts = [artifact.words for artifact in known.artifacts] + [memory.words for memory in known.memories]
        return cls(Counter(term for text in texts for term in set(text.split())), len(texts))

    def weights(self, by_words: Ranking, question_terms: Sequence[str]) -> dict[str, float]:
        """Return the weight of each term by its rarity among events and knowledge together."""
        pool = by_words.pool
        event_match = match_words(question_terms, pool, by_words.event_count)
        counts = (event_match.counts >= 1).sum(axis=1) + np.array(
            [self.frequency.get(term, 0) for term in question_terms]
        )
        # Count an unseen term as seen once.
        counts, size = np.maximum(counts, 1), max(max(by_words.event_count, len(pool)) + self.size, _FEW_TEXTS)
        factors = np.array([_PLAIN_WEIGHT if term in _PLAIN_WORDS else 1.0 for term in question_terms])
        return dict(zip(question_terms, (factors * event_match.factors * rarity(counts, size)).tolist(), strict=True))

    def corrections(self, by_words: Ranking) -> dict[str, str]:
        """Return a correction for each term of the question that occurs in neither the events nor the knowledge.

        A correction is a term of the knowledge that is one typo away. Terms without a correction are left out.
        """
        question_terms = by_words.question.terms
        counts = by_words.pool.occurrences.counts(question_terms)
        in_events = {term for term, per_event in zip(question_terms, counts, strict=True) if per_event.any()}
        unknown = (term for term in question_terms if term not in in_events and term not in self.frequency)
        nearest = {term: near for term in unknown if (near := nearest_term(term, self.frequency))}
        return dict(sorted(nearest.items()))


def _appraisal(
    request: PackRequest,
    state: State,
    by_words: Ranking,
    vocabulary: _Vocabulary,
    counter_and_guidance: tuple[TokenCounter, Guidance],
) -> Appraisal:
    question = by_words.question.corrected(vocabulary.corrections(by_words))
    # Not by_words.terms: they lack the names of speakers, which matter in the text of knowledge.
    weights = vocabulary.weights(by_words, question.terms)
    priors = priors_of(request.priors) if request.strategy == "fingerprint_guided" else NO_PRIORS
    decay = recency_decay(request, question, state.as_of_us)
    clauses = () if by_words.takes_whole else question.clauses
    return Appraisal(question, weights, decay, priors, *counter_and_guidance, clauses=clauses)


def _in_force(request: PackRequest, state: State, known: Known) -> Known:
    """Return the knowledge with enough confidence; artifacts and conflicts must also be valid here (HMX-A 6).

    Hard rules and conflicts need no minimum confidence. A conflict quotes its sides, so it applies only if all
    artifacts among them apply.
    """
    least = request.min_confidence

    def is_valid_here(scope: Validity) -> bool:
        return applies(scope, tenant_id=state.tenant_id, moment_us=state.as_of_us, agent_id=request.agent_id)

    return replace(
        known,
        artifacts=tuple(
            artifact
            for artifact in known.artifacts
            if artifact.confidence >= least and is_valid_here(artifact.validity)
        ),
        memories=tuple(memory for memory in known.memories if memory.confidence >= least or memory.hard),
        entities=tuple(entity for entity in known.entities if entity.confidence >= least),
        conflicts=tuple(conflict for conflict in known.conflicts if all(map(is_valid_here, conflict.scopes))),
        records=tuple(record for record in known.records if trust(record) >= least),
    )


def _without_repeated(candidates: Iterable[Candidate], in_force: Known, guidance: Guidance) -> Iterator[Candidate]:
    """Yield the candidates; artifacts that repeat another one get the verdict "duplicate"."""
    known = list(candidates)
    repeating = repeated(in_force.artifacts, known, guidance.lead)
    return (
        candidate._replace(verdict="duplicate") if candidate.source_id in repeating else candidate
        for candidate in known
    )


def _labelled(candidates: Iterator[Candidate], in_force: Known) -> Iterator[Candidate]:
    """Yield the candidates; a memory whose latest event is from an outside source gets that event's label.

    A fact from a ``state_change`` event is labelled "data" if its event was not fetched, because its source is unknown.
    """
    labels = {evidence.record_id: evidence.label for evidence in in_force.evidence}
    for candidate in candidates:
        default = "data" if candidate.origin == STATE_CHANGE else ""
        label = labels.get(candidate.source_id, default) if candidate.source_type in _MEMORIES else ""
        yield candidate._replace(label=label) if label else candidate


def _with_dispute(candidate: Candidate, contest: Contest) -> Candidate:
    """Label *candidate* as disputed if it is a side of an undecided conflict."""
    if candidate.source_id not in contest.disputed:
        return candidate
    return candidate._replace(label=f"{candidate.label}, {DISPUTED}" if candidate.label else DISPUTED)


def with_tokens(candidate: Candidate, count_tokens: TokenCounter) -> Candidate:
    """Return *candidate* with the token count of its rendered line if it may be included, otherwise unchanged."""
    if not candidate.useful:
        return candidate
    return candidate._replace(tokens=tokens_of(line_of(candidate), count_tokens))


def _progress(in_force: Known, candidates: tuple[Candidate, ...], guidance: Guidance) -> Progress | None:
    schemas = {
        artifact.artifact_id: artifact for artifact in in_force.artifacts if artifact.artifact_type == "task_schema"
    }
    useful = {
        candidate.source_id: candidate
        for candidate in candidates
        if candidate.source_id in schemas and candidate.useful
    }
    if not useful:
        return None
    best = min(useful.values(), key=lambda candidate: (candidate.source_id != guidance.lead, candidate.order))
    return progress(schemas[best.source_id], guidance.done, in_force.session)


def _remedy(in_force: Known, candidates: tuple[Candidate, ...], guidance: Guidance) -> KnownArtifact | None:
    playbooks = {artifact.artifact_id: artifact for artifact in in_force.artifacts if guidance.answers(artifact)}
    useful = (candidate for candidate in candidates if candidate.source_id in playbooks and candidate.useful)
    best = min(useful, key=lambda candidate: candidate.order, default=None)
    return None if best is None else playbooks[best.source_id]


def _next_step(
    request: PackRequest, reached: Progress | None, remedy: KnownArtifact | None, candidates: tuple[Candidate, ...]
) -> Iterator[Candidate]:
    """Yield the next step for the workflow section, unless the procedures section begins with it.

    If a playbook answers a failure, its first step is shown instead of the next step of the procedure.
    """
    shows_procedures = "procedures" in request.sections
    if remedy is not None and (steps := recovery_steps(remedy)):
        yield from () if shows_procedures else _step_candidate(remedy, steps[0], candidates)
    elif reached is not None and (step := reached.next_step) is not None and (reached.current or not shows_procedures):
        tools = f" ({', '.join(step.tools)})" if step.tools else ""
        yield from _step_candidate(reached.schema, f"{step.description}{tools}", candidates)


def _step_candidate(artifact: KnownArtifact, step: str, candidates: tuple[Candidate, ...]) -> Iterator[Candidate]:
    procedure = next(candidate for candidate in candidates if candidate.source_id == artifact.artifact_id)
    yield procedure._replace(section="workflow", content=f"Next: {step}")


def with_relations(knowledge: Appraised, related: Related, vicinity: Vicinity) -> Appraised:
    """Return *knowledge* with the *related* relations, which are fetched last, and their candidates."""
    conflicts = knowledge.in_force.conflicts
    sides = {side for conflict in conflicts for side in conflict.sides}
    candidates = tuple(relation_candidates(related, vicinity, knowledge.appraisal, sides))
    contest = contested(candidates, conflicts)
    counted = (
        with_tokens(_with_dispute(candidate, contest), knowledge.appraisal.count_tokens) for candidate in candidates
    )
    return replace(
        knowledge,
        in_force=replace(knowledge.in_force, related=related),
        candidates=(*knowledge.candidates, *counted),
        contest=Contest(knowledge.contest.losers | contest.losers, knowledge.contest.disputed | contest.disputed),
    )
