"""Rows of ``cypher/recall`` as what recall ranks."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.conflicts import relation_id
from hmxgraph.graph.rows.packs.guidance import answered_failure, guiding_actions
from hmxgraph.graph.rows.packs.running_session import happened
from hmxgraph.graph.rows.recall_rows import pool_rows
from hmxgraph.protocol.canonical import sha256_hex
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.procedures import texts
from hmxgraph.recall.known.briefing import brief
from hmxgraph.recall.known.values import (
    Evidence,
    Known,
    KnownArtifact,
    KnownConflict,
    KnownEntity,
    KnownMemory,
    KnownRecord,
    KnownRelation,
    RunningSession,
)
from hmxgraph.tasks.events import event_ids_of
from hmxgraph.tasks.trust import Reply, rejected, tier, verdicts
from hmxgraph.text.artifacts import render_artifact
from hmxgraph.text.validity import Validity

# Statuses under which an artifact is looked at: what is shown, and what is named as left out (HMX-A 5).
_SEEN = frozenset({"active", "deprecated"})
_BRIEFS_KEPT = 1_024


def known(row: Row, tenant_id: str, as_of_us: int) -> Known:
    """What ``recall/knowledge`` answered, as of *as_of_us*."""
    records = [_record(values, tenant_id, as_of_us) for values in row["task_records"]]
    artifacts = [_artifact(values, as_of_us) for values in row["artifacts"]]
    return Known(
        tuple(sorted((each for each in artifacts if each.status in _SEEN), key=lambda each: each.artifact_id)),
        tuple(sorted((_memory(values, as_of_us) for values in row["memories"]), key=lambda each: each.memory_id)),
        tuple(sorted((KnownEntity(*_entity(values)) for values in row["entities"]), key=lambda each: each.entity_id)),
        tuple(sorted((_relation(values) for values in row["relations"]), key=lambda each: each.relation_id)),
        tuple(sorted((_conflict(values) for values in row["conflicts"]), key=lambda each: each.conflict_id)),
        tuple(sorted(_evidence(row["evidence"], as_of_us), key=lambda each: (each.record_id, each.event_id))),
        RunningSession(tuple(happened(row["session"])), row["session_events"]),
        tuple(sorted(records, key=lambda each: each.record_id)),
    )


def _evidence(found: Sequence[Sequence[str]], as_of_us: int) -> Iterator[Evidence]:
    records, events, texts = zip(*found, strict=True) if found else ((), (), ())
    for event_id, session_id, speaker, _, _, _, time_us, tokens, salience, _, label, record_id, text in pool_rows(
        as_of_us, events, records, texts
    ):
        yield Evidence(record_id, event_id, session_id, time_us, tokens, salience, speaker, text, label)


def _artifact(values: Row, as_of_us: int) -> KnownArtifact:
    counted = max(bisect_right(values["count_times"], as_of_us) - 1, 0)
    observed, rate = values["observed_counts"][counted], values["success_rates"][counted]
    evidence = max(values["source_events"], 1)
    conditions = _conditions(values["validity_scope"])
    told = _brief(values["artifact_type"], values["title"], values["text"], values["content"])
    return KnownArtifact(
        artifact_id=values["artifact_id"],
        artifact_type=values["artifact_type"],
        title=values["title"],
        text=f"{told}\nOnly where: {'; '.join(conditions)}" if conditions else told,
        tokens=values["token_count"],
        words=values["search_text"],
        status=values["status_values"][bisect_right(values["status_times"], as_of_us) - 1],
        confidence=values["confidence"],
        created_us=values["created_us"],
        content=parse_json(values["content"]),
        observed_count=observed if observed > 0 else evidence,
        success_rate=rate if rate >= 0 else None,
        tags=tuple(values["tags"] or ()),
        agent_id=values["agent_id"],
        validity=_validity(values),
        conditions=conditions,
        sound=_genuine(values) and _evidence_left(values),
        actions=guiding_actions(values["metadata"], values["content"]),
        failure=answered_failure(values["metadata"]),
        confirmed_us=max(values["count_times"][counted], values["created_us"]),
    )


def _genuine(values: Row) -> bool:
    """Whether content and text are those that were recorded."""
    if sha256_hex(values["content"].encode()) != values["content_hash"]:
        return False
    recorded = _text(values["artifact_type"], values["title"], values["summary"], values["content"])
    return bool(values["text"] == recorded)


@lru_cache(maxsize=_BRIEFS_KEPT)
def _text(artifact_type: str, title: str, summary: str, content: str) -> str:
    return render_artifact(artifact_type, title, summary, parse_json(content))


@lru_cache(maxsize=_BRIEFS_KEPT)
def _brief(artifact_type: str, title: str, text: str, content: str) -> str:
    return brief(artifact_type, title, text, parse_json(content))


def _conditions(scope: str | None) -> tuple[str, ...]:
    """The conditions of a validity scope (HMX-A 6): words that no rule can decide, so that the reader is told them."""
    return texts(parse_json(scope).get("conditions")) if scope else ()


def _validity(values: Row) -> Validity:
    return Validity(
        tenants=_listed(values["valid_tenants"]),
        agents=_listed(values["valid_agents"]),
        tags=_listed(values["valid_tags"]),
        from_us=values["valid_from_us"],
        to_us=values["valid_to_us"],
    )


def _listed(names: list[str] | None) -> tuple[str, ...] | None:
    return tuple(names) if names else None


def _evidence_left(values: Row) -> bool:
    """Whether some event stands behind a record, or none was ever linked to it."""
    return bool(values["alive"] or not values["linked"])


def _memory(values: Row, as_of_us: int) -> KnownMemory:
    begins, ends = values["valid_from_us"], values["valid_to_us"]
    return KnownMemory(
        memory_id=values["memory_id"],
        kind=values["kind"],
        text=values["text"] or "",
        tokens=values["token_count"] or 0,
        words=values["search_text"] or "",
        confidence=values["confidence"],
        observations=values["observation_count"] or 1,
        last_us=min(values["last_us"], as_of_us),
        method=values["extraction_method"] or "",
        hard=bool(values["hard"]),
        held=(begins is None or begins <= as_of_us) and (ends is None or as_of_us < ends),
        sound=_evidence_left(values),
        here=values["here"],
        open=values["open"],
    )


def _record(values: Row, tenant_id: str, as_of_us: int) -> KnownRecord:
    replies = [Reply(**reply) for reply in values["replies"]]
    kind, agent_id, record_id = values["artifact_kind"], values["agent_id"], values["artifact_id"]
    return KnownRecord(
        record_id=record_id,
        section=values["pack_section"],
        text=values["text"],
        words=values["search_text"],
        created_us=values["created_us"],
        session_id=values["session_id"] or f"task:{values['task_id']}",
        agent_id=agent_id,
        trust_tier=tier(kind, agent_id, replies),
        rejected=rejected(agent_id, replies),
        countersigned=sum(word.countersigns for word in verdicts(agent_id, replies)),
        held=values["hidden_us"] is None or values["hidden_us"] > as_of_us,
        told_by=frozenset(event_ids_of(tenant_id, record_id)),
    )


def _entity(values: Sequence[Any]) -> tuple[str, str, str, int, float, int]:
    key, name, entity_type, mentions, confidence, last_us = values
    return key, name, entity_type, mentions or 1, 1.0 if confidence is None else confidence, last_us or 0


def _relation(values: Sequence[Any]) -> KnownRelation:
    source, relation_type, target, source_key, target_key, weight, confidence, evidence, last_us = values
    own_id = relation_id(source_key, relation_type, target_key)
    return KnownRelation(
        own_id, source, relation_type, target, weight or 0.0, confidence or 0.0, evidence or 1, last_us or 0
    )


def _conflict(values: Row) -> KnownConflict:
    text = values["text"] or values["reason"] or ""
    return KnownConflict(
        values["conflict_id"],
        values["reason"] or "",
        text,
        values["token_count"] or 0,
        values["detected_us"],
        tuple(sorted(values["sides"])),
        tuple(_validity(scope) for scope in values["scopes"]),
    )
