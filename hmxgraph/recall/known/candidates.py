"""What is known as candidates: each in its section, weighed like everything else (HMX-C 3.1, 3.2)."""

from collections.abc import Iterable, Iterator

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.known.appraisal import LEAST_SHARE, Appraisal
from hmxgraph.recall.known.guidance import WAYS
from hmxgraph.recall.known.records import record_candidates
from hmxgraph.recall.known.values import (
    FIRST_REQUEST,
    REMEMBERED,
    Evidence,
    Known,
    KnownArtifact,
    KnownConflict,
    KnownEntity,
    KnownMemory,
    KnownRelation,
)
from hmxgraph.recall.ranking.episodes import EPISODIC
from hmxgraph.recall.scoring import support
from hmxgraph.text.lines import told
from hmxgraph.text.terms import search_text

# How useful a kind of record is to an agent, where nothing else says it.
_MEMORY_SALIENCE = {"policy": 0.9, "preference": 0.8, "goal": 0.7, "fact": 0.6}
_ARTIFACT_SALIENCE = 0.8
_ENTITY_SALIENCE = 0.5
_MERE_NAMES = frozenset({"concept", "tag"})
EVIDENCE = "evidence"
_SECTIONS = {"policy": "constraints", "goal": "goals"}
# A relation of which the question names both ends matters more than one of which it names one.
_PARTLY_NAMED = 0.5
# A question about what was, or is, wants no procedure unless it asks for that very one.
ASKED_FOR = 0.5
# How relevant a rule is to any work, and how many are that without a word in common with it.
STANDING = 0.4
MOST_STANDING = 5
# A request that nothing came of for so long is no goal any more.
OPEN_DAYS = 7


def known_candidates(known: Known, appraisal: Appraisal) -> Iterator[Candidate]:
    """A candidate for each thing known, but for evidence, which depends on what else goes in."""
    yield from (_artifact(artifact, appraisal) for artifact in known.artifacts)
    standing = _standing(known.memories) if appraisal.question.works else frozenset[str]()
    yield from (_memory(memory, appraisal, stands=memory.memory_id in standing) for memory in known.memories)
    yield from (_entity(entity, appraisal) for entity in known.entities if _tells(entity, appraisal))
    yield from (_relation(relation, appraisal) for relation in known.relations)
    yield from (_conflict(conflict, appraisal) for conflict in known.conflicts)
    yield from record_candidates(known.records, appraisal)


def evidence_candidates(known: Known, records: Iterable[Candidate], appraisal: Appraisal) -> Iterator[Candidate]:
    """The latest event behind each of *records*, as relevant as the record itself; each event once."""
    by_id = {record.source_id: record for record in records}
    met: set[str] = set()
    for evidence in known.evidence:
        record = by_id.get(evidence.record_id)
        if record is not None and not record.verdict and evidence.event_id not in met:
            met.add(evidence.event_id)
            yield _evidence(evidence, record, appraisal)


def _artifact(artifact: KnownArtifact, appraisal: Appraisal) -> Candidate:
    leads = appraisal.guidance.leads(artifact)
    fitting = appraisal.guidance.fitting(artifact.artifact_type, artifact.actions)
    relevance = 1.0 if leads else appraisal.share(artifact.words) * fitting
    components = appraisal.components(
        relevance,
        artifact.confirmed_us or artifact.created_us,
        support(artifact.confidence, artifact.observed_count),
        appraisal.priors.salience(artifact.artifact_id, artifact.tags, _ARTIFACT_SALIENCE),
    )
    return Candidate(
        section="constraints" if artifact.artifact_type == "decision_policy" else "procedures",
        source_type="artifact",
        source_id=artifact.artifact_id,
        tokens=artifact.tokens,
        score=components.score,
        components=components,
        content=artifact.text,
        origin=artifact.agent_id or "compiler",
        confidence=artifact.confidence,
        evidence_count=artifact.observed_count,
        time_us=artifact.created_us,
        verdict=_verdict(held=artifact.status != "deprecated", sound=artifact.sound)
        or appraisal.verdict(relevance, _least(artifact.artifact_type, appraisal)),
    )


def _least(artifact_type: str, appraisal: Appraisal) -> float:
    """The relevance that an artifact needs: beside the procedure that leads, another one has to be asked for."""
    rivals = appraisal.guidance.lead is not None and artifact_type in WAYS
    return ASKED_FOR if rivals or not appraisal.question.works else LEAST_SHARE


def _standing(memories: Iterable[KnownMemory]) -> frozenset[str]:
    """The best founded rules: they hold for whatever is done, in whatever words."""
    rules = [memory for memory in memories if memory.kind == "policy" and memory.held and not memory.hard]
    best = sorted(rules, key=lambda rule: (-rule.confidence, -rule.observations, -rule.last_us, rule.memory_id))
    return frozenset(rule.memory_id for rule in best[:MOST_STANDING])


def _memory(memory: KnownMemory, appraisal: Appraisal, *, stands: bool) -> Candidate:
    rule = memory.kind == "policy" and memory.hard
    own = memory.kind == "goal" and memory.here
    relevance = 1.0 if own else max(appraisal.share(memory.words), STANDING if stands else 0.0)
    components = appraisal.components(
        relevance,
        memory.last_us,
        _trust(memory),
        _MEMORY_SALIENCE.get(memory.kind, _ENTITY_SALIENCE),
    )
    return Candidate(
        section="core" if rule else _SECTIONS.get(memory.kind, "facts"),
        source_type="policy" if memory.kind == "policy" else "memory",
        source_id=memory.memory_id,
        tokens=memory.tokens,
        score=components.score,
        components=components,
        content=memory.text,
        origin=memory.method or "semantic",
        confidence=memory.confidence,
        evidence_count=memory.observations,
        time_us=memory.last_us,
        verdict=_verdict(held=memory.held and not _over(memory, appraisal.now_us), sound=memory.sound)
        or ("" if rule else appraisal.verdict(relevance)),
        exempt=rule,
    )


def _trust(memory: KnownMemory) -> float:
    """How far a memory can be trusted: one told by hand is inferred from nothing, and needs no second observation."""
    return memory.confidence if memory.method == REMEMBERED else support(memory.confidence, memory.observations)


def _over(memory: KnownMemory, now_us: int) -> bool:
    """Whether a request is no goal any more: its session came to an end, or nothing was heard of it for days."""
    if memory.method != FIRST_REQUEST or memory.here:
        return False
    return not memory.open or now_us - memory.last_us > OPEN_DAYS * DAY_US


def _verdict(*, held: bool, sound: bool) -> str:
    if not sound:
        return "provenance_failed"
    return "" if held else "deprecated"


def _tells(entity: KnownEntity, appraisal: Appraisal) -> bool:
    """Whether the question names the entity, and its type tells anything beyond the name."""
    return entity.type not in _MERE_NAMES and appraisal.names(entity.name)


def _entity(entity: KnownEntity, appraisal: Appraisal) -> Candidate:
    times = "once" if entity.mentions == 1 else f"{entity.mentions} times"
    components = appraisal.components(
        appraisal.share(search_text(entity.name)),
        entity.last_us,
        support(entity.confidence, entity.mentions),
        _ENTITY_SALIENCE,
    )
    candidate = Candidate(
        "graph_relations", "entity", entity.entity_id, 0, components.score, components, origin="graph"
    )
    return _told(candidate, f"{entity.name} ({entity.type}), mentioned {times}", appraisal)._replace(
        confidence=entity.confidence, evidence_count=entity.mentions, time_us=entity.last_us
    )


def _relation(relation: KnownRelation, appraisal: Appraisal) -> Candidate:
    content = f"{relation.source} {relation.relation_type.replace('_', ' ')} {relation.target}"
    both = appraisal.names(relation.source) and appraisal.names(relation.target)
    named = both or appraisal.names(relation.source) or appraisal.names(relation.target)
    relevance = appraisal.share(search_text(content)) * (1.0 if both else _PARTLY_NAMED) if named else 0.0
    components = appraisal.components(
        relevance,
        relation.last_us,
        support(relation.confidence, relation.evidence_count),
        relation.weight,
    )
    candidate = Candidate(
        "graph_relations", "relation", relation.relation_id, 0, components.score, components, origin="graph"
    )
    return _told(candidate, content, appraisal)._replace(
        confidence=relation.confidence,
        evidence_count=relation.evidence_count,
        time_us=relation.last_us,
        verdict=appraisal.verdict(relevance),
    )


def _conflict(conflict: KnownConflict, appraisal: Appraisal) -> Candidate:
    relevance = appraisal.share(search_text(conflict.text))
    components = appraisal.components(relevance, conflict.detected_us, 1.0, _ARTIFACT_SALIENCE)
    candidate = Candidate(
        "conflicts", "conflict", conflict.conflict_id, 0, components.score, components, origin="conflicts"
    )
    return _told(candidate, conflict.text, appraisal)._replace(
        evidence_count=len(conflict.sides), time_us=conflict.detected_us, verdict=appraisal.verdict(relevance)
    )


def _told(candidate: Candidate, content: str, appraisal: Appraisal) -> Candidate:
    return candidate._replace(content=content, tokens=appraisal.count_tokens(content))


def _evidence(evidence: Evidence, record: Candidate, appraisal: Appraisal) -> Candidate:
    components = appraisal.components(record.components.relevance, evidence.time_us, 1.0, evidence.salience)
    return Candidate(
        section=EVIDENCE,
        source_type="episode",
        source_id=evidence.event_id,
        tokens=evidence.tokens,
        score=components.score,
        components=components,
        content=told(evidence.text, evidence.speaker),
        origin=EPISODIC,
        time_us=evidence.time_us,
        session_id=evidence.session_id,
        speaker=evidence.speaker,
        label=evidence.label,
    )
