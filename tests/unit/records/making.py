"""Task records for tests."""

from typing import Any

from hmxgraph.protocol.record_results import RecordView
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.search import projections


def made(artifact_kind: str = "evidence", artifact_id: str = "r1", **fields: Any) -> TaskRecord:
    """A record with only the required fields of its kind."""
    given = {"task_id": "t1", "tenant_id": "acme", "timestamp_created": 1_000} | fields
    if artifact_kind == "digest":
        given.setdefault("artifact_role", "task_resume")
    return TaskRecord(artifact_id=artifact_id, artifact_kind=artifact_kind, **given)


def view(record: TaskRecord, trust_tier: str = "canonical_record", **state: Any) -> RecordView:
    """The view of *record*, with its trust tier."""
    inherited = state.pop("inherited", ())
    return RecordView(record, trust_tier, "canonical", projections(record, inherited), **state)
