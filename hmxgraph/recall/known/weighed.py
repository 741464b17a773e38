"""What is known, weighed by a question: made before anybody knows what lies around the best events.

The server looks for these meanwhile, so that the weighing takes no time of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hmxgraph.recall.asking.request import PackRequest
from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.known.appraisal import Appraisal
from hmxgraph.recall.known.candidates import known_candidates
from hmxgraph.recall.known.contest import Contest, contested
from hmxgraph.recall.known.guidance import NO_GUIDANCE, Guidance
from hmxgraph.recall.known.hints import Progress, progress, recovery_steps
from hmxgraph.recall.known.priors import NO_PRIORS, priors_of
from hmxgraph.recall.known.records import trust
from hmxgraph.recall.known.values import STATE_CHANGE, Known, KnownArtifact
from hmxgraph.recall.ranking.field import match_words
from hmxgraph.recall.ranking.relevance import Ranking
from hmxgraph.recall.rendering.render import line_of, tokens_of
from hmxgraph.recall.scoring import THRESHOLD, clock
from hmxgraph.recall.state import State
from hmxgraph.text.lines import DISPUTED
from hmxgraph.text.tokens import TokenCounter
from hmxgraph.text.validity import Validity, applies

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
