"""HMX documents as the internal types they standardise."""

import pytest

from hmxgraph.conformance.kit import example
from hmxgraph.errors import InvalidDocument
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Fingerprint
from hmxgraph.protocol.mappings import (
    artifact_of_compiled,
    compiled_artifact,
    episode_trace,
    event_of_trace,
    fingerprint_of_memory,
    internal_pack,
    memory_fingerprint,
    pack_of_internal,
)
from hmxgraph.protocol.packs import ContextPack


def test_episode_trace_has_the_named_fields():
    """An event's fields are where HMX-E 10 puts them."""
    trace = episode_trace(Event.parse(example("event-error")))
    assert trace["id"] == "019e5a3b-7c4d-7000-8000-000000000003"
    assert (trace["eventType"], trace["sessionId"]) == ("error", "session-2026-03-14-001")
    assert (trace["payload"]["error_type"], trace["salienceScore"], trace["source"]) == (
        "KubectlError",
        0.9,
        "tool:kubectl",
    )
    assert (trace["metadata"]["exit_code"], trace["metadata"]["agentId"]) == (1, "agent-claude-001")
    assert set(trace) == {"id", "eventType", "sessionId", "timestamp", "payload", "salienceScore", "source", "metadata"}


def test_foreign_trace_becomes_an_event():
    """A trace that never was an event needs its missing fields as arguments, and the error names them."""
    trace = {
        "id": "e1",
        "eventType": "message",
        "sessionId": "s",
        "timestamp": "2026-03-14T03:00:00Z",
        "payload": {"role": "user", "text": "hi"},
        "provenanceRef": "mail:7",
        "metadata": {"agentId": "a", "hmx": "a word of their own"},
    }
    event = event_of_trace(trace, tenant_id="acme", sequence=4)
    assert (event.agent_id, event.tenant_id, event.sequence, event.provenance_ref) == ("a", "acme", 4, "mail:7")
    assert event.metadata == {"hmx": "a word of their own"}
    with pytest.raises(InvalidDocument, match="sequence"):
        event_of_trace(trace, tenant_id="acme")


def test_compiled_artifact_has_the_named_fields():
    """An artifact's content is flattened next to the common fields, in camelCase (HMX-A 11)."""
    compiled = compiled_artifact(Artifact.parse(example("artifact-task-schema")))
    assert (compiled["id"], compiled["type"]) == ("019e5a3b-8000-7000-8000-000000000001", "task_schema")
    assert (compiled["evidenceRefs"], compiled["sourceMemoryIds"]) == (
        ["evt-001", "evt-002", "evt-003"],
        ["mem-001", "mem-002"],
    )
    assert compiled["steps"][0]["toolsUsed"] == ["kubectl"]
    assert compiled["estimatedComplexity"] == "medium"
    assert "content" not in compiled


def test_foreign_compiled_artifact_becomes_an_artifact():
    """A CompiledArtifact gets version 1 and its content's hash; the rest must be given."""
    compiled = {
        "id": "c1",
        "type": "decision_policy",
        "title": "t",
        "summary": "s",
        "condition": "c",
        "recommendation": "r",
        "alternatives": [{"description": "d", "outcome": "o", "chosenCount": 1, "successRate": 0.5}],
        "confidence": 0.5,
        "status": "active",
        "evidenceRefs": ["e1"],
        "sourceMemoryIds": [],
        "metadata": {},
    }
    artifact = artifact_of_compiled(compiled, created_at="2026-03-14T03:00:00Z")
    assert artifact.content["alternatives"][0] == {
        "description": "d",
        "outcome": "o",
        "chosen_count": 1,
        "success_rate": 0.5,
    }
    assert (artifact.version, artifact.hash_matches) == (1, True)


def test_internal_pack_has_the_named_fields():
    """A pack is a ContextPack and the AssemblyResult with its dropped items (HMX-C 9)."""
    internal, assembly = internal_pack(ContextPack.parse(example("context-pack")))
    assert set(internal) == {"id", "queryContext", "entries", "tokenBudget", "createdAt", "metadata"}
    assert internal["entries"][0]["sourceType"] == "artifact"
    assert set(internal["tokenBudget"]["sectionBudgets"]) == {"procedures", "constraints", "episodes"}
    assert assembly["droppedItems"][0]["dropReason"] == "low_relevance"


def test_memory_fingerprint_keeps_data_as_it_is():
    """Field names are in camelCase; names of tools and types are data."""
    memory = memory_fingerprint(Fingerprint.parse(example("fingerprint")))
    assert memory["semanticSummary"]["promotedCount"] == 145
    assert memory["graphDigest"]["relationTypeDistribution"] == {"uses": 120, "related_to": 200}


@pytest.mark.parametrize("name", ["event-user-message", "event-tool-call", "event-error"])
def test_events_come_back(name):
    """An event is the same after the way through EpisodeTrace."""
    event = Event.parse(example(name))
    assert event_of_trace(episode_trace(event)) == event


@pytest.mark.parametrize("name", ["artifact-task-schema", "artifact-decision-policy"])
def test_artifacts_come_back(name):
    """An artifact is the same after the way through CompiledArtifact."""
    artifact = Artifact.parse(example(name))
    assert artifact_of_compiled(compiled_artifact(artifact)) == artifact


@pytest.mark.parametrize("name", ["context-pack", "context-pack-parts"])
def test_packs_come_back(name):
    """A pack is the same after the way through ContextPack and AssemblyResult."""
    pack = ContextPack.parse(example(name))
    assert pack_of_internal(*internal_pack(pack)) == pack


def test_fingerprints_come_back():
    """A fingerprint is the same after the way through MemoryFingerprint."""
    fingerprint = Fingerprint.parse(example("fingerprint"))
    assert fingerprint_of_memory(memory_fingerprint(fingerprint)) == fingerprint
