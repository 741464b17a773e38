"""Verification on the real graph: no findings on intact data, exact findings for every manipulation."""

import hashlib
import json

import pytest
from neo4j import GraphDatabase

from hmxgraph.demo import events_file
from hmxgraph.graph import lifecycle
from hmxgraph.graph.checks import verify
from hmxgraph.graph.plan import Tenancy
from tests.artifact_makers import policy, schema

ARTIFACT = "MATCH (n:Artifact {tenant_id: $tenant_id, artifact_id: 'a2'}) "
EVENT = "MATCH (n:Event {tenant_id: $tenant_id, event_id: 'e1'}) "
SESSION = "MATCH (n:Session {tenant_id: $tenant_id}) "
CONFLICT = "MATCH (n:Conflict {tenant_id: $tenant_id}) "

KNOWN = """
MATCH (e0:Event {tenant_id: $tenant_id, event_id: 'e0'}), (e1:Event {tenant_id: $tenant_id, event_id: 'e1'})
CREATE (one:Entity {key: $one, tenant_id: $tenant_id, type: 'tool', name: 'one', mention_count: 2})
CREATE (two:Entity {key: $two, tenant_id: $tenant_id, type: 'tool', name: 'two', mention_count: 0})
CREATE (one)-[:RELATES_TO {tenant_id: $tenant_id, relation_type: 'uses', evidence_count: 1, status: 'active'}]->(two)
CREATE (e0)-[:MENTIONS {tenant_id: $tenant_id, relations: [$mark]}]->(one)
CREATE (e1)-[:MENTIONS {tenant_id: $tenant_id, relations: []}]->(one)
CREATE (m1:Memory {key: $m1, tenant_id: $tenant_id, memory_id: 'm1', kind: 'fact', observation_count: 1})
CREATE (m2:Memory {key: $m2, tenant_id: $tenant_id, memory_id: 'm2', kind: 'fact', observation_count: 1})
SET m2.supersedes_key = $m1
CREATE (m2)-[:SUPERSEDES {tenant_id: $tenant_id}]->(m1)
CREATE (m1)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(e0)
CREATE (m2)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(e1)
"""


def event(number, **fields):
    """A message in one session."""
    return {
        "hmx_version": "HMX-1.0",
        "event_id": f"e{number}",
        "event_type": "message",
        "agent_id": "agent",
        "tenant_id": "any",
        "session_id": "s",
        "timestamp": f"2026-03-14T03:00:{number:02}.000Z",
        "sequence": number,
        "content": {"role": "user", "text": f"Message {number}"},
        "metadata": {"n": number},
        **fields,
    }


@pytest.fixture
def tenancy(tenant_id):
    """The tenant of this test."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def cypher(address, tenancy):
    """Runs a Cypher statement on this tenant, as anyone with a shell could."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        database = address.database
        yield lambda text, **more: driver.execute_query(text, tenant_id=tenancy.tenant_id, database_=database, **more)


@pytest.fixture
def verified(connection, tenancy):
    """Verifies this tenant and returns the report."""
    return lambda: connection.perform(verify(tenancy))


@pytest.fixture
def stored(graph, connection, tenancy):
    """Three events, a chain of three versions and two conflicting policies."""
    extras = {"tags": ["x"], "embeddings": [1, 0.5], "salience": 1, "ttl_seconds": 9, "source": "y", "trace_id": "t"}
    graph.ingest([event(0), event(1, parent_event_id="e0", **extras), event(2, correlation_id="e1")], rehome=True)
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1", source_events=["e0", "e1"])))
    for number in (2, 3):
        successor = schema(f"a{number}", step=f"Step {number}", second=number, source_events=["e0", "e2"])
        connection.perform(lifecycle.supersede(tenancy, f"a{number - 1}", successor))
    connection.perform(lifecycle.record_artifact(tenancy, policy("p1", "Use an online migration")))
    connection.perform(lifecycle.record_artifact(tenancy, policy("p2", "Lock the table", second=5)))


def test_nothing_is_found_where_nothing_was_touched(stored, verified):
    """Untouched data pass every check."""
    report = verified()
    assert report.findings == ()
    assert report.ok
    counts = {kind: report.checked[kind] for kind in ("sessions", "events", "artifacts", "conflicts")}
    assert counts == {"sessions": 1, "events": 3, "artifacts": 5, "conflicts": 1}
    json.dumps(report.document())


def test_an_empty_tenant_is_in_order(verified):
    """An empty tenant has no findings."""
    assert verified().ok


def test_what_an_earlier_release_did_not_derive_is_found(graph, verified, cypher):
    """A derived property missing on an event is reported with its expected value."""
    call = {"tool_name": "exec", "result": {"exit_code": 1}, "success": False}
    graph.ingest([event(7, event_type="tool_result", content=call)], rehome=True)
    cypher("MATCH (n:Event {tenant_id: $tenant_id, event_id: 'e7'}) REMOVE n.failed")
    assert [(finding.check, finding.actual, finding.expected) for finding in verified().wrong] == [
        ("derived", "failed: None", "failed: True")
    ]


def test_the_demo_is_in_order(graph, verified):
    """The demo's events have no findings, with every hash recomputed from what is stored."""
    graph.ingest(events_file(), rehome=True)
    report = verified()
    assert report.wrong == ()
    assert report.checked["events"] > 200


@pytest.mark.parametrize(
    ("tampering", "expected"),
    [
        (ARTIFACT + "SET n.content = '{}'", [("content_hash", "a2"), ("core_hash", "a2"), ("text", "a2")]),
        (ARTIFACT + "SET n.content = 'no JSON'", [("unreadable", "a2")]),
        (ARTIFACT + "SET n.title = 'Better'", [("core_hash", "a2"), ("text", "a2")]),
        (ARTIFACT + "SET n.text = 'Do as I say'", [("text", "a2")]),
        (ARTIFACT + "SET n.confidence = 1.0", [("core_hash", "a2")]),
        (
            ARTIFACT + "SET n.status = 'active'",
            [("chain", "a2"), ("chain", "a3"), ("dedup_key", "a2"), ("transition", "a2")],
        ),
        (ARTIFACT + "SET n.status_values = ['archived', 'superseded']", [("transition", "a2")]),
        (ARTIFACT + "SET n.status_times = [9, 1]", [("transition", "a2")]),
        (ARTIFACT + "SET n.version = 7", [("chain", "a2"), ("chain", "a3"), ("core_hash", "a2")]),
        (ARTIFACT + "SET n.superseded_by = 'a9'", [("chain", "a2"), ("chain", "a3")]),
        (ARTIFACT + "SET n.chain_key = 'x' + n.key", [("chain", "a2"), ("chain", "a3")]),
        (ARTIFACT + "SET n.supersedes_key = 'x' + n.key", [("chain", "a2")]),
        (ARTIFACT + "SET n.key = 'x' + n.key", [("key", "a2")]),
        (ARTIFACT + "SET n.dedup_key = 'x' + n.key", [("dedup_key", "a2")]),
        (ARTIFACT + "MATCH (n)-[link:SUPERSEDES]->() DELETE link", [("chain", "a1"), ("chain", "a2")]),
        (ARTIFACT + "DETACH DELETE n", [("chain", "a1"), ("chain", "a3")]),
        (
            ARTIFACT + "MATCH (o:Artifact {tenant_id: n.tenant_id, artifact_id: 'p1'}) CREATE (o)-[:SUPERSEDES]->(n)",
            [("chain", "a2"), ("chain", "p1")],
        ),
        (
            ARTIFACT + "MATCH (o:Artifact {tenant_id: n.tenant_id, artifact_id: 'a3'}) CREATE (n)-[:SUPERSEDES]->(o)",
            [("chain", "a2"), ("chain", "a3")],
        ),
        (ARTIFACT + "CREATE (n)-[:EVIDENCED_BY]->(:Event {key: 'x' + n.key, tenant_id: 'x'})", [("tenant", "a2")]),
        (EVENT + 'SET n.content = \'{"role":"user","text":"Other"}\'', [("event_hash", "e1")]),
        (EVENT + "SET n.metadata = '[1'", [("event_hash", "e1")]),
        (EVENT + "SET n.timestamp = '2026-03-14T03:00:01Z'", [("event_hash", "e1")]),
        (EVENT + "REMOVE n.recall_row", [("recall_row", "e1")]),
        (EVENT + "SET n.token_count = 999", [("recall_row", "e1")]),
        (EVENT + "SET n.title = 'Do as I say'", [("derived", "e1"), ("recall_row", "e1")]),
        (EVENT + "SET n.failed = true", [("derived", "e1")]),
        (EVENT + "MATCH (n)-[link:CAUSED_BY]->() DELETE link", [("parent_event_id", "e1")]),
        (EVENT + "MATCH (n)-[link:IN_SESSION]->() DELETE link", [("event_count", "s"), ("session", "e1")]),
        (EVENT + "MATCH (n)-[link:NEXT]->() DELETE link", [("order", "s")]),
        (EVENT + "MATCH (n)<-[link:NEXT]-(o) DELETE link CREATE (n)-[:NEXT]->(o)", [("order", "e1")]),
        (SESSION + "SET n.event_count = 4", [("event_count", "s")]),
        (CONFLICT + "SET n.status = 'resolved'", [("status", None)]),
        (CONFLICT + "SET n.kept_id = 'p9'", [("kept_id", None)]),
        (CONFLICT + "MATCH (n)-[link:BETWEEN]->({artifact_id: 'p1'}) DELETE link", [("sides", None), ("status", None)]),
    ],
)
def test_whatever_was_changed_is_found(stored, verified, cypher, tampering, expected):
    """Each manipulation gives exactly the expected findings."""
    cypher(tampering)
    wrong = {(finding.check, None if finding.kind == "conflict" else finding.record_id) for finding in verified().wrong}
    assert wrong == set(expected)


@pytest.fixture
def known(stored, cypher, tenancy):
    """Two related entities, and two memories of which one supersedes the other."""
    keys = {name: tenancy.node_key(name) for name in ("one", "two", "m1", "m2")}
    cypher(KNOWN, **keys, mark=f"uses>{keys['two'][:16]}")


@pytest.mark.parametrize(
    ("tampering", "expected"),
    [
        (
            "MATCH (n:Entity {tenant_id: $tenant_id, name: 'one'}) SET n.mention_count = 9",
            [("mention_count", "entity")],
        ),
        (
            "MATCH (:Entity {tenant_id: $tenant_id})-[n:RELATES_TO]->() SET n.evidence_count = 9",
            [("evidence_count", "relation")],
        ),
        (
            "MATCH (:Event {tenant_id: $tenant_id})-[n:MENTIONS]->(:Entity {name: 'one'}) DELETE n",
            [("evidence_count", "relation"), ("mention_count", "entity")],
        ),
        (
            "MATCH (n:Memory {tenant_id: $tenant_id, memory_id: 'm1'}) SET n.observation_count = 9",
            [("observation_count", "memory")],
        ),
        (
            "MATCH (n:Memory {tenant_id: $tenant_id, memory_id: 'm1'}) SET n.key = 'x' + n.key",
            [("chain", "memory"), ("key", "memory")],
        ),
        ("MATCH (:Memory {tenant_id: $tenant_id})-[n:SUPERSEDES]->() DELETE n", [("chain", "memory")]),
        ("MATCH (:Memory {tenant_id: $tenant_id})-[n:EVIDENCED_BY]->() DELETE n", [("observation_count", "memory")]),
    ],
)
def test_counters_of_knowledge_are_checked(known, verified, cypher, tampering, expected):
    """The evidence counts of memories and relations and the mention counts of entities are checked."""
    assert verified().findings == ()
    cypher(tampering)
    assert sorted({(finding.check, finding.kind) for finding in verified().wrong}) == expected


def test_a_task_record_is_hashed(known, verified, cypher, tenancy):
    """A record whose document was changed no longer matches its hash."""
    record = "CREATE (:TaskRecord {tenant_id: $tenant_id, key: $key, artifact_id: 'r1', created_us: 1, "
    record += "document: '{}', record_hash: $hash})"
    cypher(record, key=tenancy.node_key("r1"), hash=hashlib.sha256(b"{}").hexdigest())
    assert verified().ok
    cypher("MATCH (n:TaskRecord {tenant_id: $tenant_id}) SET n.document = '{ }'")
    assert [(finding.check, finding.kind) for finding in verified().wrong] == [("record_hash", "task_record")]


def test_the_tenants_counter_and_clock_are_checked(stored, verified, cypher, tenancy):
    """The tenant's event count and logical time are checked against stored events."""
    cypher("MATCH (n:Tenant {tenant_id: $tenant_id}) SET n.event_count = 9, n.logical_us = 0")
    assert [(finding.check, finding.kind) for finding in verified().wrong] == [
        ("event_count", "tenant"),
        ("logical_us", "tenant"),
    ]


def test_verification_mends_nothing(stored, verified, cypher):
    """Verification repairs nothing: a second run reports the same findings."""
    cypher(ARTIFACT + "SET n.title = 'Better'")
    assert verified() == verified()
    assert not verified().ok


def test_evidence_that_never_came_is_missing_not_wrong(connection, tenancy, verified, graph):
    """References to ids that are not stored are reported as missing, not as wrong."""
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1", source_events=["e0"], source_memory_ids=["m"])))
    graph.ingest([event(0, parent_event_id="e9")], rehome=True)
    report = verified()
    assert (report.ok, len(report.missing)) == (True, 2)
    assert [(finding.kind, finding.check, finding.actual) for finding in report.missing] == [
        ("event", "parent_event_id", "not stored"),
        ("artifact", "evidence", "not stored"),
    ]


def test_a_walk_over_many_pages_misses_nothing(graph, verified, cypher, tenancy, monkeypatch):
    """Events with the same timestamp are each checked once, across many pages."""
    monkeypatch.setattr("hmxgraph.graph.checks.PAGE", 7)
    graph.ingest([event(number, timestamp="2026-03-14T03:00:00Z") for number in range(30)], rehome=True)
    cypher("MATCH (n:Event {tenant_id: $tenant_id}) SET n.agent_id = 'other'")
    report = verified()
    assert (report.checked["events"], len(report.wrong)) == (30, 30)
