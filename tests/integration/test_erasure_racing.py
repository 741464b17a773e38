"""Erasure while others write: what is counted down is what stands when the lock is had."""

import threading
from time import monotonic

import pytest

from tests.session_makers import event

PATIENCE = 60
ONE_MORE = """
MATCH (event:Event {event_id: $event_id, tenant_id: $tenant_id})
MATCH (memory:Memory {tenant_id: $tenant_id})
CREATE (memory)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
SET memory.observation_count = memory.observation_count + 1
"""
WAITING = """
SHOW TRANSACTIONS YIELD currentQuery, status
WHERE status STARTS WITH 'Blocked' AND currentQuery CONTAINS 'observation_count'
RETURN count(*) AS waiting
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
BLOCKED = """
SHOW TRANSACTIONS YIELD currentQuery, status
WHERE status STARTS WITH 'Blocked' AND currentQuery CONTAINS 'entity.key'
RETURN count(*) AS waiting
"""


@pytest.fixture
def told(graph):
    """One rule, told in two sessions; a third event that tells nothing."""
    rule = {"role": "user", "text": "Always run the tests before you push."}
    named = {"tenant": graph.tenant_id, "metadata": {"user_id": "ana"}}
    graph.ingest([event(session, 0, "message", rule, **named) for session in ("s1", "s2")])
    plain = event("s3", 0, "message", {"role": "user", "text": "Thanks!"}, tenant=graph.tenant_id)
    graph.ingest([plain])
    return plain.event_id


def held_up(driver, work, parameters):
    """*work* done while a transaction that ran ``ONE_MORE`` is open, which is committed once the work waits for it."""
    thread = threading.Thread(target=work)
    with driver.session() as session, session.begin_transaction() as tx, driver.session() as watching:
        tx.run(ONE_MORE, parameters).consume()
        thread.start()
        ends = monotonic() + PATIENCE
        while not watching.run(WAITING).single()["waiting"]:
            assert monotonic() < ends, "the work never waited for the transaction"
        tx.commit()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_memory_told_while_another_telling_is_erased_keeps_count(graph, told):
    """Evidence that is committed while an erasure waits for the memory is counted by it."""
    parameters = {"event_id": told, "tenant_id": graph.tenant_id}
    held_up(graph._connection._driver, lambda: graph.forget(session_id="s1"), parameters)
    [memory], _ = graph.memories(kind="policy")
    assert memory.observation_count == 2
    assert not graph.verify().findings


def test_an_erasure_locks_entities_before_memories(graph):
    """Who stores events has entities before memories: an erasure that waits for the former must not have the latter."""
    text = "Always run the tests in src/main.py before you push."
    graph.ingest([event("s1", 0, "message", {"role": "user", "text": text}, tenant=graph.tenant_id)])
    driver = graph._connection._driver
    erasure = threading.Thread(target=graph.forget, kwargs={"session_id": "s1"})
    with driver.session() as session, session.begin_transaction() as tx, driver.session() as watching:
        tx.run(LOCK_ENTITIES, tenant_id=graph.tenant_id).consume()
        erasure.start()
        ends = monotonic() + PATIENCE
        while not watching.run(BLOCKED).single()["waiting"]:
            assert monotonic() < ends, "the erasure never waited for the transaction"
        tx.run(LOCK_MEMORIES, tenant_id=graph.tenant_id).consume()
        tx.commit()
    erasure.join(PATIENCE)
    assert not erasure.is_alive()
    assert not graph.verify().findings
