"""Erasure while others write: counts are read under the lock, and locks are taken in one order."""

from functools import partial

import pytest

from tests.integration.held_up import held_up
from tests.session_makers import event

ONE_MORE = """
MATCH (event:Event {event_id: $event_id, tenant_id: $tenant_id})
MATCH (memory:Memory {tenant_id: $tenant_id})
CREATE (memory)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
SET memory.observation_count = memory.observation_count + 1
"""
LOCK_ENTITIES = """
MATCH (entity:Entity {tenant_id: $tenant_id})
WITH entity
ORDER BY entity.key
SET entity.tenant_id = $tenant_id
"""
LOCK_MEMORIES = """
MATCH (memory:Memory {tenant_id: $tenant_id})
SET memory.tenant_id = $tenant_id
"""


@pytest.fixture
def statement_id(graph):
    """The id of an event without a rule; two other sessions state the same rule."""
    rule = {"role": "user", "text": "Always run the tests before you push."}
    named = {"tenant": graph.tenant_id, "metadata": {"user_id": "ana"}}
    graph.ingest([event(session, 0, "message", rule, **named) for session in ("s1", "s2")])
    plain = event("s3", 0, "message", {"role": "user", "text": "Thanks!"}, tenant=graph.tenant_id)
    graph.ingest([plain])
    return plain.event_id


def test_evidence_added_during_an_erasure_is_counted(graph, statement_id):
    """Evidence committed while an erasure waits for the memory's lock is included in its count."""

    def one_more(tx):
        tx.run(ONE_MORE, event_id=statement_id, tenant_id=graph.tenant_id).consume()

    held_up(graph._connection._driver, lambda: graph.forget(session_id="s1"), one_more, "observation_count")
    [memory], _ = graph.memories(kind="policy")
    assert memory.observation_count == 2
    assert not graph.verify().findings


def test_an_erasure_locks_entities_before_memories(graph):
    """Erasure locks entities before memories, as storing events does, so that the two cannot deadlock."""
    text = "Always run the tests in src/main.py before you push."
    graph.ingest([event("s1", 0, "message", {"role": "user", "text": text}, tenant=graph.tenant_id)])

    def run(statement):
        return lambda tx: tx.run(statement, tenant_id=graph.tenant_id).consume()

    erase = partial(graph.forget, session_id="s1")
    held_up(graph._connection._driver, erase, run(LOCK_ENTITIES), "entity.key", then=run(LOCK_MEMORIES))
    assert not graph.verify().findings
