"""Minimal valid artifacts for tests."""

from hmxgraph.graph.artifacts import artifact_row
from hmxgraph.graph.plan import bind, bump, write
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.timestamps import iso

SECOND = 1_000_000
START = 1_773_457_200 * SECOND


def at(second):
    """The common start of the tests plus this number of seconds, in microseconds."""
    return START + second * SECOND


def schema(artifact_id, *, second=0, step="Apply the manifests", **fields):
    """A task schema with one step."""
    content = {"steps": [{"order": 1, "description": step, "tools_used": ["kubectl"], "optional": False}]}
    return made(artifact_id, "task_schema", content, second, fields)


def policy(artifact_id, recommendation, *, condition="table larger than 1 GB", second=0, **fields):
    """A decision policy."""
    content = {"condition": condition, "recommendation": recommendation}
    return made(artifact_id, "decision_policy", content, second, fields)


def pattern(artifact_id, cause, effect, *, second=0, **fields):
    """A causal pattern."""
    return made(artifact_id, "causal_pattern", {"cause": cause, "effect": effect, "strength": 0.8}, second, fields)


def made(artifact_id, artifact_type, content, second=0, fields=None):
    """An artifact of any type and content."""
    document = {
        "hmx_version": "HMX-1.0",
        "artifact_id": artifact_id,
        "artifact_type": artifact_type,
        "title": f"Title of {artifact_id}",
        "summary": "What it is about",
        "content": content,
        "confidence": 0.8,
        "status": "active",
        "source_events": [],
        "source_memory_ids": [],
        "version": 1,
        "created_at": iso(at(second)),
        "content_hash": content_hash(content),
        "metadata": {},
    }
    return Artifact.parse(document | (fields or {}))


def stored_at_once(connection, tenancy, artifacts):
    """Store artifacts as first versions, in one transaction."""
    rows = [artifact_row(tenancy, artifact, len) for artifact in artifacts]

    def plan():
        yield bind("artifacts/create", tenant_id=tenancy.tenant_id, artifacts=rows)
        yield from bump(tenancy, max(row["properties"]["status_times"][0] for row in rows))

    connection.perform(write(plan))
