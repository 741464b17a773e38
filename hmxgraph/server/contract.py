"""The contract: the HTTP API that the Hippocortex SDK expects, with its requests and the wire format of results."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.lifecycle import ArtifactPage
from hmxgraph.protocol.packs import Entry
from hmxgraph.protocol.reports import CompileReport, Receipt
from hmxgraph.protocol.timestamps import iso
from hmxgraph.protocol.usage import COUNTERS, UsageHour
from hmxgraph.recall.pack import NOTICE, Pack

MOST_EVENTS = 1_000  # per batch
# The defaults of the contract for the budget of a pack and for the minimum confidence of its entries.
DEFAULT_TOKENS = 4_000
DEFAULT_CONFIDENCE = 0.3
NonEmptyText = Annotated[str, StringConstraints(min_length=1)]

# Requests. Unknown fields are ignored, because the SDK's own server does so, too.


class Request(BaseModel):
    """Base of the bodies and queries of requests; fields are spelled as on the wire."""

    model_config = ConfigDict(extra="ignore", populate_by_name=False, allow_inf_nan=False)


class CaptureRequest(Request):
    """One event of an agent."""

    type: NonEmptyText
    session_id: NonEmptyText | int = Field(alias="sessionId")
    payload: dict[str, Any]
    metadata: dict[str, Any] | None = None
    idempotency_key: NonEmptyText | None = Field(None, alias="idempotencyKey")


class CaptureBatchRequest(Request):
    """Several events; an invalid one does not affect the others."""

    events: list[Any] = Field(max_length=MOST_EVENTS)


class LearnOptions(Request):
    """Options without effect: the engine uses its own thresholds, and the answer has a warning for each that is set."""

    min_pattern_strength: float | None = Field(None, alias="minPatternStrength")
    artifact_types: list[str] | None = Field(None, alias="artifactTypes")


class LearnRequest(Request):
    """Which sessions to compile: changed ones, or all."""

    scope: Literal["incremental", "full"] = "incremental"
    options: LearnOptions | None = None


class SynthesizeOptions(Request):
    """The budget and the shape of an answer."""

    max_tokens: int | None = Field(None, alias="maxTokens", ge=1, le=1_000_000)
    min_confidence: float | None = Field(None, alias="minConfidence", ge=0, le=1)
    include_provenance: bool = Field(alias="includeProvenance", default=True)
    sections: list[Literal["procedures", "failures", "decisions", "facts", "causal", "context"]] | None = None


class SynthesizeRequest(Request):
    """A query: the next task or a question of an agent."""

    query: str = ""
    options: SynthesizeOptions | None = None
    max_tokens: int | None = Field(None, alias="maxTokens", ge=1, le=1_000_000)
    session_id: NonEmptyText | None = Field(None, alias="sessionId")
    agent_id: NonEmptyText | None = Field(None, alias="agentId")
    user_id: NonEmptyText | None = Field(None, alias="userId")


class ArtifactQuery(Request):
    """Which artifacts to list, in which order, and after which cursor."""

    type: str | None = None
    status: str | None = None
    sort: Literal["createdAt", "updatedAt", "confidence", "evidenceCount"] | None = None
    order: Literal["asc", "desc"] = "desc"
    limit: int = Field(50, ge=1, le=100)
    cursor: str | None = None


class MetricsQuery(Request):
    """The period of a usage report; the granularity is only echoed, since counts are by hour."""

    period: Literal["1h", "24h", "7d", "30d"] = "24h"
    granularity: Literal["minute", "hour", "day"] = "hour"


# The length in hours of each period.
HOURS = {"1h": 1, "24h": 24, "7d": 168, "30d": 720}
# The engine's name for each sort order of the contract.
ENGINE_SORTS = {"createdAt": "created", "updatedAt": "updated", "confidence": "confidence", "evidenceCount": "evidence"}

# Captures.

_STATUS_OF_RECEIPT = {"stored": "ingested", "duplicate": "duplicate", "skipped": "skipped", "rejected": "error"}


def capture_result(receipt: Receipt) -> dict[str, Any]:
    """The outcome of one event in the wire format.

    >>> capture_result(Receipt(0, "stored", ("e1",)))["status"]
    'ingested'
    """
    event_id = "" if receipt.status == "rejected" else receipt.event_id
    reason = "; ".join(filter(None, (receipt.reason, *receipt.warnings)))
    outcome = {"eventId": event_id, "jobId": event_id, "status": _STATUS_OF_RECEIPT[receipt.status]}
    return outcome | ({"reason": reason} if reason else {})


def batch_result(receipts: Sequence[Receipt]) -> dict[str, Any]:
    """The outcome of each event of a batch, in order, and counts; a skipped event is counted only in ``total``."""
    results = [capture_result(receipt) for receipt in receipts]
    counts = {name: sum(result["status"] == name for result in results) for name in ("ingested", "duplicate", "error")}
    summary = {
        "total": len(results),
        "ingested": counts["ingested"],
        "duplicates": counts["duplicate"],
        "errors": counts["error"],
    }
    return {"results": results, "summary": summary}


# Compilations.


def compile_result(report: CompileReport, run_id: str, warnings: Sequence[str]) -> dict[str, Any]:
    """The report of a compilation in the wire format; it has no fields for deprecated and skipped artifacts."""
    kinds = ("created", "updated", "unchanged")
    counts = {kind: sum(getattr(report, kind).values()) for kind in kinds}
    by_type: dict[str, int] = {}
    for kind in kinds:
        for artifact_type, number in getattr(report, kind).items():
            by_type[artifact_type] = by_type.get(artifact_type, 0) + number
    stats = {
        "memoriesProcessed": report.events,
        "patternsFound": sum(counts.values()),
        "compilationMs": round(sum(report.seconds.values()) * 1_000),
    }
    data: dict[str, Any] = {"runId": run_id, "status": "completed", "artifacts": {**counts, "byType": by_type}}
    return data | {"stats": stats} | ({"warnings": list(warnings)} if warnings else {})


# Packs. The contract has six sections; packs (HMX-C) have ten.

_SECTION_OF_TYPE = {
    "task_schema": "procedures",
    "strategy_template": "procedures",
    "failure_playbook": "failures",
    "decision_policy": "decisions",
    "causal_pattern": "causal",
}
_SECTION_OF_SOURCE = {"policy": "decisions", "memory": "facts", "entity": "facts", "relation": "facts"}
# For each section of the contract, the pack sections in which its entries may be.
_PACK_SECTIONS = {
    "procedures": ("procedures", "workflow"),
    "failures": ("procedures", "workflow"),
    "causal": ("procedures", "workflow"),
    "decisions": ("core", "constraints"),
    "facts": ("core", "goals", "facts", "graph_relations", "evidence"),
    "context": ("episodes", "evidence", "conflicts"),
}


def pack_sections(sections: Sequence[str]) -> list[str]:
    """The pack sections to request for *sections* of the contract, so that no budget is spent on any others.

    >>> pack_sections(["failures", "context"])
    ['procedures', 'workflow', 'episodes', 'evidence', 'conflicts']
    """
    return list(dict.fromkeys(section for name in sections for section in _PACK_SECTIONS[name]))


def section_of(entry: Entry, artifact_type: str | None) -> str:
    """The contract's section for an entry of a pack."""
    if entry.source_type == "artifact":
        return _SECTION_OF_TYPE.get(artifact_type or "", "procedures")
    return _SECTION_OF_SOURCE.get(entry.source_type, "context")


def pack_result(
    pack: Pack, types: Mapping[str, str], sections: Sequence[str] | None, *, provenance: bool = True
) -> dict[str, Any]:
    """A pack in the wire format; the content of an entry is its line in the pack's text, including its label.

    *types* are the types of artifacts by id; *sections* are the contract's sections to return (None: all).

    If the pack's text begins with the notice that explains labels, the notice becomes the first entry, because it
    counts towards the budget. It is left out if there are no other entries.
    """
    entries = []
    for entry, line in zip(pack.entries, pack.lines, strict=True):
        section = section_of(entry, types.get(entry.source_id))
        if sections is None or section in sections:
            fields = {"section": section, "content": line.removeprefix("- "), "confidence": entry.provenance.confidence}
            sources = [_source(entry, types.get(entry.source_id))] if provenance else []
            entries.append(fields | ({"provenance": sources} if sources else {}))
    if entries and pack.text.startswith(NOTICE):
        entries.insert(0, {"section": "context", "content": NOTICE, "confidence": 1.0})
    return {"packId": pack.pack_id, "entries": entries, "budget": _budget(pack, len(entries))}


def _source(entry: Entry, artifact_type: str | None) -> dict[str, Any]:
    source = {
        "sourceType": entry.source_type,
        "sourceId": entry.source_id,
        "evidenceCount": entry.provenance.evidence_count,
    }
    return source | ({"artifactType": artifact_type} if artifact_type else {})


def _budget(pack: Pack, included_count: int) -> dict[str, Any]:
    """The budget of a pack; ``compressionRatio`` is used / (used + dropped) tokens, as far as drops are listed."""
    used = pack.token_budget.used
    left_out = sum(drop.token_estimate for drop in pack.dropped_entries or ())
    return {
        "limit": pack.token_budget.total_budget,
        "used": used,
        "compressionRatio": round(used / (used + left_out), 4) if used else 0.0,
        "entriesIncluded": included_count,
        "entriesDropped": pack.token_budget.dropped_count,
    }


# Artifacts and usage.


def artifact_view(artifact: Artifact) -> dict[str, Any]:
    """An artifact in the wire format."""
    document = artifact.document()
    observed = document.get("observed_count")
    return {
        "id": artifact.artifact_id,
        "type": artifact.artifact_type,
        "status": artifact.status,
        "title": artifact.title,
        "content": document["content"],
        "confidence": artifact.confidence,
        "evidenceCount": len(artifact.source_events) if observed is None else observed,
        "createdAt": artifact.created_at,
        "updatedAt": document.get("updated_at") or artifact.created_at,
    }


def artifact_list(page: ArtifactPage) -> dict[str, Any]:
    """A page of artifacts in the wire format, with the cursor of the next page."""
    pagination = {"hasMore": page.cursor is not None, "cursor": page.cursor, "total": page.total or 0}
    return {"artifacts": [artifact_view(artifact) for artifact in page.artifacts], "pagination": pagination}


def usage_view(hours: Sequence[UsageHour], period: tuple[int, int], granularity: str) -> dict[str, Any]:
    """The usage in *period* (start and end in microseconds) in the wire format; hmxgraph has no quota."""
    sums = {name: sum(getattr(hour, name) for hour in hours) for name in COUNTERS}
    events = {name: sums[name] for name in ("ingested", "duplicates", "errors")}
    start, end = period
    return {
        "period": {"start": iso(start), "end": iso(end), "granularity": granularity},
        "usage": {
            "events": {"total": sum(events.values()), **events},
            "compilations": {"total": sums["compilations"]},
            "syntheses": {"total": sums["syntheses"]},
            "byHour": [hour.document() for hour in hours],
        },
        "quota": {"plan": "unlimited", "eventsUsed": events["ingested"], "eventsRemaining": None},
    }
