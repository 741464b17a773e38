"""Task records for tests."""

from typing import Any

from hmxgraph.protocol.records import TaskRecord


def made(artifact_kind: str = "evidence", artifact_id: str = "r1", **fields: Any) -> TaskRecord:
    """A record with as little as its kind needs."""
    given = {"task_id": "t1", "tenant_id": "acme", "timestamp_created": 1_000} | fields
    return TaskRecord(artifact_id=artifact_id, artifact_kind=artifact_kind, **given)
