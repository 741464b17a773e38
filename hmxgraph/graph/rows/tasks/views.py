"""Rows of task records as views: the record, and the trust that its replies give it."""

from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.tasks.records import stored_record
from hmxgraph.graph.rows.tasks.results import Projected, RecordView
from hmxgraph.tasks.trust import Reply, promotion, tier, verdicts


def record_view(row: Row) -> RecordView:
    """The view of a row of ``tasks/fetch``."""
    properties = row["record"]
    record = stored_record(properties)
    replies = [Reply(**reply) for reply in row["replies"]]
    # Compared as both stand in the graph, whatever their length.
    author = properties.get("agent_id")
    trust_tier = tier(record.artifact_kind, author, replies)
    words = verdicts(author, replies)
    return RecordView(
        record,
        trust_tier,
        promotion(record.promotion_state, record.artifact_kind, trust_tier),
        _projected(properties),
        tuple(word.artifact_id for word in words if word.countersigns),
        tuple(word.artifact_id for word in words if word.rejects),
        properties.get("superseded_by"),
        properties.get("hidden_reason"),
        bool(properties.get("stale")),
    )


def _projected(properties: Row) -> tuple[Projected, ...]:
    pairs = zip(properties["projection_kinds"], properties["projection_texts"], strict=True)
    return tuple(Projected(kind, text) for kind, text in pairs)
