"""Convert a verified fingerprint to the records that its import adds.

These are drafts, context priors, compiler parameters and an event that logs the import.

An import only adds records (HMX-F 12). Each policy, task schema and playbook becomes a draft with four fifths of its
confidence. A draft becomes active once local evidence or an operator confirms it. Its id is derived from the import and
the content, so that importing again after a withdrawal creates new drafts.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.fingerprint._texts import LONGEST_TITLE
from hmxgraph.fingerprint.summaries import COUNTS, PLAYBOOKS, POLICIES, TASKS, policy_title
from hmxgraph.fingerprint.verify import Verdict
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.canonical import content_hash, stable_id
from hmxgraph.protocol.display import truncate
from hmxgraph.protocol.events import HMX_VERSION, Event
from hmxgraph.protocol.timestamps import iso

EVENT_TYPE = "x-hmxgraph-fingerprint_import"
_AGENT = "hmxgraph"
# Prefix of the ids of sessions that log an import.
LOGGING_SESSIONS = "fingerprint-import-"
# Factor for the confidence of an imported summary.
_TRUST = 0.8
# The salience of the import event: low, because the event itself does not help with any task.
_SALIENCE = 0.1
# Maximum number of tags of an artifact (HMX-A 12).
_MOST_TAGS = 64
Summary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Restoration:
    """The records that an import adds to a tenant."""

    import_id: str
    verdict: Verdict
    event: Event
    artifacts: tuple[Artifact, ...]
    context_priors: Mapping[str, Any]
    compiler_parameters: Mapping[str, Mapping[str, Any]]


def restoration(verdict: Verdict, tenant_id: str, at_us: int, generation: int = 0) -> Restoration:
    """The records that importing *verdict*'s fingerprint into *tenant_id* at *at_us* adds.

    *generation* is the number of earlier imports of this envelope that were withdrawn. It enters all ids, so that a new
    import gets new ones.
    """
    suffix = (str(generation),) if generation else ()
    import_id = stable_id(tenant_id, "fingerprint-import", verdict.envelope.integrity_hash, *suffix)
    summaries = verdict.fingerprint.document()["artifact_summaries"]
    drafts = [
        (str(summary["artifact_id"]), _draft(set_name, summary, tenant_id, import_id, iso(at_us)))
        for set_name in _CONTENTS
        for summary in summaries[set_name]
    ]
    distinct = {artifact.artifact_id: artifact for _, artifact in drafts}
    return Restoration(
        import_id,
        verdict,
        _event(verdict, tenant_id, import_id, iso(at_us), len(distinct)),
        tuple(distinct[artifact_id] for artifact_id in sorted(distinct)),
        _priors(verdict, drafts),
        _parameters(verdict),
    )


def with_stored_priorities(restored: Restoration, known_ids: Mapping[str, str]) -> Restoration:
    """*restored*, with stored artifacts instead of equal drafts as its priority artifacts.

    *known_ids* maps the id of a draft to the id of the stored artifact that equals it.
    """
    draft_ids = restored.context_priors["priority_artifact_ids"]
    ids = list(dict.fromkeys(known_ids.get(artifact_id, artifact_id) for artifact_id in draft_ids))
    return replace(restored, context_priors={**restored.context_priors, "priority_artifact_ids": ids})


def _event(verdict: Verdict, tenant_id: str, import_id: str, timestamp: str, drafts: int) -> Event:
    """The event that logs the import, in a separate session, so that it can be forgotten by itself (HMX-F 12)."""
    fingerprint = verdict.fingerprint
    return Event(
        hmx_version=HMX_VERSION,
        event_id=import_id,
        event_type=EVENT_TYPE,
        agent_id=_AGENT,
        tenant_id=tenant_id,
        session_id=LOGGING_SESSIONS + import_id,
        timestamp=timestamp,
        sequence=0,
        # Ids belong in the metadata: in the content they would be extracted as entities that the event mentions.
        content={"compression_tier": fingerprint.compression_tier or "full", "artifact_drafts": drafts},
        metadata={
            "fingerprint_id": fingerprint.fingerprint_id,
            "fingerprint_hash": fingerprint.fingerprint_hash,
            "integrity_hash": verdict.envelope.integrity_hash,
            "source_tenant_id": fingerprint.tenant_id,
            "signed_by": verdict.signed_by or "",
            "warnings": list(verdict.warnings),
        },
        salience=_SALIENCE,
        source=_AGENT,
    )


def _draft(set_name: str, summary: Summary, tenant_id: str, import_id: str, created_at: str) -> Artifact:
    artifact_type, make_content = _CONTENTS[set_name]
    content = make_content(summary)
    fields: dict[str, Any] = {
        "hmx_version": HMX_VERSION,
        "artifact_id": stable_id(tenant_id, "imported", import_id, artifact_type, content_hash(content)),
        "artifact_type": artifact_type,
        "title": _title(set_name, summary),
        "summary": "",
        "content": content,
        "confidence": round(summary["confidence"] * _TRUST, 6),
        "status": "draft",
        "source_events": [import_id],
        "source_memory_ids": [],
        "version": 1,
        "created_at": created_at,
        "content_hash": content_hash(content),
        "metadata": {"imported": {"artifact_id": summary["artifact_id"], "confidence": summary["confidence"]}},
        "tenant_id": tenant_id,
        "tags": list(summary["tags"])[:_MOST_TAGS],
        "observed_count": summary[COUNTS[set_name]],
    }
    rate = {"success_rate": summary["success_rate"]} if "success_rate" in summary else {}
    return Artifact.parse(fields | rate)


def _title(set_name: str, summary: Summary) -> str:
    """The title in *summary*; for a policy, whose summary has none (HMX-F 3), a title derived from its condition."""
    if set_name == POLICIES and summary["condition"]:
        return policy_title(summary["condition"])
    return truncate((set_name != POLICIES and summary["title"]) or "Imported knowledge", LONGEST_TITLE)


def _policy(summary: Summary) -> dict[str, Any]:
    return {
        "condition": summary["condition"],
        "recommendation": summary["recommendation"],
        "alternatives": [],
        "outcomes": [],
        "scope": list(summary["scope"]),
    }


def _task_schema(summary: Summary) -> dict[str, Any]:
    steps = [
        {"order": order, "description": step, "tools_used": [], "optional": False}
        for order, step in enumerate(summary["steps"], start=1)
    ]
    return {
        "steps": steps,
        "preconditions": list(summary["preconditions"]),
        "postconditions": list(summary["postconditions"]),
        "tools_used": list(summary["tools_used"]),
        "estimated_complexity": summary["complexity"],
    }


def _playbook(summary: Summary) -> dict[str, Any]:
    return {
        "failure_pattern": summary["failure_pattern"],
        "trigger_conditions": list(summary["trigger_conditions"]),
        "symptoms": [],
        "recovery_steps": list(summary["recovery_steps"]),
        "prevention_strategies": list(summary["prevention_strategies"]),
        "severity": summary["severity"],
    }


# For each set, the type of its artifacts, and the function that makes their content from a summary.
_CONTENTS: Mapping[str, tuple[str, Callable[[Summary], dict[str, Any]]]] = {
    POLICIES: ("decision_policy", _policy),
    TASKS: ("task_schema", _task_schema),
    PLAYBOOKS: ("failure_playbook", _playbook),
}


def _priors(verdict: Verdict, drafts: Sequence[tuple[str, Artifact]]) -> dict[str, Any]:
    """The exporter's priors; each priority artifact is replaced by its draft, or dropped if there is none."""
    priors = verdict.fingerprint.document()["context_priors"]
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for exported_id, artifact in drafts:
        ids[exported_id].append(artifact.artifact_id)
    draft_ids = [draft_id for exported_id in priors["priority_artifact_ids"] for draft_id in ids.get(exported_id, ())]
    return {**priors, "priority_artifact_ids": list(dict.fromkeys(draft_ids))}


def _parameters(verdict: Verdict) -> dict[str, Mapping[str, Any]]:
    """The parameters of the exporter's compiler; a frozen parameter is used but not adapted further (HMX-F 9)."""
    state = verdict.fingerprint.document().get("compiler_state") or {}
    all_frozen = bool(state.get("global_freeze"))
    return {
        adapted["parameter"]: {
            "current_value": adapted["current_value"],
            "adaptation_count": adapted["adaptation_count"],
            "frozen": adapted["frozen"] or all_frozen,
        }
        for adapted in sorted(state.get("adapted_parameters", ()), key=lambda adapted: str(adapted["parameter"]))
    }
