"""The worlds of the claim set: records as views with the trust that their replies give them."""

import tomllib
from pathlib import Path

from hmxgraph.protocol.record_results import RecordView
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.search import projections
from hmxgraph.records.trust import Reply, promotion, tier, verdicts

WORLDS = tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))["world"]
CASES = [(world, case) for world in WORLDS for case in world["claims"]]
MINUTE_MS = 60_000


def fields_of(world, place):
    """The wire fields of a world's record: its task, its time and the record it replies to are spelled out."""
    given = dict(world["records"][place])
    fields = {
        "task_id": world["name"],
        "artifact_id": f"{world['name']}:{given.pop('id')}",
        "timestamp_created": MINUTE_MS * given.pop("at", place + 1),
    }
    reply = given.pop("reply_to", None)
    if reply:
        fields["reply_to_artifact_id"] = f"{world['name']}:{reply}"
    if given.pop("supersedes", False):
        fields["relation_kind"] = "supersedes"
    return fields | {"artifact_kind": given.pop("kind")} | given


def views_of(world):
    """The world's records by id, each with its trust."""
    records = [TaskRecord(tenant_id="acme", **fields_of(world, place)) for place in range(len(world["records"]))]
    return {record.artifact_id: _view(record, records) for record in records}


def _view(record, records):
    replies = [
        Reply(
            reply.artifact_id,
            reply.artifact_kind,
            reply.agent_id,
            reply.supports_claim,
            reply.verification_status,
            reply.created_us,
        )
        for reply in records
        if reply.reply_to_artifact_id == record.artifact_id
    ]
    words = verdicts(record.agent_id, replies)
    successor = next(
        (
            reply.artifact_id
            for reply in records
            if reply.reply_to_artifact_id == record.artifact_id and reply.relation_kind == "supersedes"
        ),
        None,
    )
    trust = tier(record.artifact_kind, record.agent_id, replies)
    return RecordView(
        record,
        trust,
        promotion(None, record.artifact_kind, trust),
        projections(record),
        tuple(word.artifact_id for word in words if word.countersigns),
        tuple(word.artifact_id for word in words if word.rejects),
        successor,
        "superseded" if successor else None,
    )
