"""Explanations on the real graph: every record leads back to the events it came from."""

import json

import pytest
from neo4j import GraphDatabase

from hmxgraph.errors import NotFound
from hmxgraph.graph import conflicts, lifecycle
from hmxgraph.graph._conflict_rows import relation_id
from hmxgraph.graph.explain import explain
from hmxgraph.graph.plan import Tenancy
from tests.artifact_makers import at, policy, schema

MEMORY = """
CREATE (memory:Memory)
SET memory = $properties
WITH memory
MATCH (event:Event {tenant_id: $tenant_id}) WHERE event.event_id IN ['e2', 'e3']
CREATE (memory)-[:EVIDENCED_BY {tenant_id: $tenant_id}]->(event)
"""
ENTITIES = """
CREATE (one:Entity {key: $one, tenant_id: $tenant_id, type: 'tool', name: 'kubectl', status: 'active'})
CREATE (two:Entity {key: $two, tenant_id: $tenant_id, type: 'host', name: 'staging', status: 'active'})
CREATE (one)-[:RELATES_TO {tenant_id: $tenant_id, relation_type: 'touches', weight: 0.5, status: 'active'}]->(two)
WITH one
MATCH (event:Event {tenant_id: $tenant_id}) WHERE event.event_id IN ['e1', 'e2']
WITH one, event, CASE event.event_id WHEN 'e1' THEN ['touches>' + left($two, 16)] ELSE [] END AS marks
CREATE (event)-[:MENTIONS {tenant_id: $tenant_id, relations: marks}]->(one)
"""


@pytest.fixture
def tenancy(tenant_id):
    """The tenant of this test."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def cypher(address, tenancy):
    """Sends a plain Cypher statement about this tenant."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:

        def send(text, **parameters):
            driver.execute_query(text, {"tenant_id": tenancy.tenant_id, **parameters}, database_=address.database)

        yield send


@pytest.fixture
def stored_memory(graph, cypher, tenancy):
    """Four messages, and a memory that rests on the last two."""
    said = ["Deploy staging", "Rollout stuck", "Always verify the rollout", "As I said: verify"]
    graph.ingest([message(number, text) for number, text in enumerate(said)], rehome=True)
    memory = {"memory_id": "m1", "kind": "policy", "text": "Always verify the rollout", "status": "promoted"}
    more = {"key": tenancy.node_key("m1"), "tenant_id": tenancy.tenant_id, "confidence": 0.9, "first_us": at(2)}
    cypher(MEMORY, properties=memory | more)


@pytest.fixture
def explained(connection, tenancy):
    """Returns the explanation of an id."""
    return lambda record_id: connection.perform(explain(tenancy, record_id))


def message(number, text):
    """A message event of session ``s``."""
    return {
        "hmx_version": "HMX-1.0",
        "event_id": f"e{number}",
        "event_type": "message",
        "agent_id": "agent",
        "tenant_id": "any",
        "session_id": "s",
        "timestamp": f"2026-03-14T03:{number // 60:02}:{number % 60:02}.000Z",
        "sequence": number,
        "content": {"role": "user", "text": text},
        "metadata": {},
    }


def test_an_artifact_leads_to_the_text_of_its_events(stored_memory, connection, tenancy, explained):
    """An artifact's explanation has its events, its memories with their events, and the named sources not stored."""
    sources = {"source_events": ["e1", "e0", "e9"], "source_memory_ids": ["m1", "m9"]}
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1", **sources)))
    explanation = explained("a1")
    assert (explanation.kind, explanation.status, explanation.facts["title"], explanation.facts["tampered"]) == (
        "artifact",
        "active",
        "Title of a1",
        [],
    )
    assert [event.event_id for event in explanation.events] == ["e0", "e1"]
    assert "Rollout stuck" in explanation.events[1].text
    assert [(memory.record_id, len(memory.events)) for memory in explanation.rests_on] == [("m1", 2)]
    assert [event.event_id for event in explanation.trail()] == ["e0", "e1", "e2", "e3"]
    assert explanation.missing == ("e9", "m9")
    assert "Apply the manifests" in explanation.text
    json.dumps(explanation.document())


def test_an_artifact_is_explained_with_its_history(connection, tenancy, explained):
    """An artifact's explanation has its statuses with reasons, its chain's length and its open conflicts."""
    connection.perform(lifecycle.record_artifact(tenancy, policy("p1", "Use it", status="draft")))
    assert explained("p1").facts["waits_for"] == ["an operator who activates it"]
    connection.perform(lifecycle.transition(tenancy, "p1", "active", reason="checked", at_us=at(9)))
    connection.perform(lifecycle.record_artifact(tenancy, policy("p2", "Never use it")))
    explanation = explained("p1")
    assert [(item["status"], item["reason"]) for item in explanation.facts["history"]] == [
        ("draft", ""),
        ("active", "checked"),
    ]
    assert explanation.facts["versions_in_chain"] == 1
    assert "waits_for" not in explanation.facts
    assert [item.kind for item in explanation.conflicts] == ["opposing_recommendations"]


def test_a_tampered_artifact_says_so(connection, tenancy, explained, cypher):
    """The explanation of a tampered artifact names each check that fails."""
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1")))
    cypher("MATCH (n:Artifact {tenant_id: $tenant_id}) SET n.content = '{\"steps\":[]}'")
    assert explained("a1").facts["tampered"] == ["content_hash", "core_hash", "text"]


def test_a_memory_leads_to_its_events(stored_memory, explained):
    """A memory's explanation lists its events and their times."""
    explanation = explained("m1")
    assert (explanation.kind, explanation.facts["kind"], explanation.text) == (
        "memory",
        "policy",
        "Always verify the rollout",
    )
    assert [(event.event_id, event.timestamp) for event in explanation.events] == [
        ("e2", "2026-03-14T03:00:02.000Z"),
        ("e3", "2026-03-14T03:00:03.000Z"),
    ]


def test_a_memory_with_much_evidence_shows_the_first_events(graph, connection, tenancy, explained):
    """At most the first 100 supporting events are shown; the facts give the total."""
    rules = [message(number, "Never deploy on a Friday") | {"metadata": {"user_id": "ana"}} for number in range(120)]
    graph.ingest(rules[:50], rehome=True)
    graph.ingest([rule | {"session_id": "t"} for rule in rules[50:]], rehome=True)
    (memory,) = graph.memories(kind="policy")[0]
    explanation = explained(memory.memory_id)
    assert explanation.facts["observation_count"] == 120
    assert [event.event_id for event in explanation.events] == [f"e{number}" for number in range(100)]


def test_many_memories_are_explained_at_once(stored_memory, connection, tenancy, explained, cypher):
    """Explaining an artifact with six memories takes no more statements than one with a single memory."""
    names = [f"m{number}" for number in range(1, 7)]
    for name in names[1:]:
        given = {"memory_id": name, "kind": "policy", "text": name, "status": "promoted", "first_us": at(2)}
        cypher(MEMORY, properties=given | {"key": tenancy.node_key(name), "tenant_id": tenancy.tenant_id})
    for count in (1, 6):
        made = schema(f"a{count}", step=f"Step {count}", source_memory_ids=names[:count])
        connection.perform(lifecycle.record_artifact(tenancy, made))
    told_of = []
    stop = connection.listen(told_of.append)
    assert [memory.record_id for memory in explained("a1").rests_on] == ["m1"]
    single, told_of[:] = len(told_of), []
    explanation = explained("a6")
    stop()
    assert {memory.record_id for memory in explanation.rests_on} == set(names)
    assert {len(memory.events) for memory in explanation.rests_on} == {2}
    assert len(told_of) == single


def test_an_event_lists_memories_and_artifacts_that_rest_on_it(stored_memory, connection, tenancy, explained):
    """An event's explanation lists the memories and artifacts that name it as evidence."""
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1", source_events=["e2"])))
    explanation = explained("e2")
    assert (explanation.kind, explanation.facts["sequence"]) == ("event", 2)
    assert {("artifact", "a1"), ("memory", "m1")} <= {
        (user["kind"], user["record_id"]) for user in explanation.supports
    }


def test_a_conflict_leads_to_the_evidence_of_its_sides(stored_memory, connection, tenancy, explained):
    """A conflict's explanation contains both sides, each with its events."""
    connection.perform(lifecycle.record_artifact(tenancy, policy("p1", "Use it", source_events=["e0"])))
    connection.perform(lifecycle.record_artifact(tenancy, policy("p2", "Never use it", source_events=["e1"])))
    (conflict,) = connection.perform(conflicts.conflicts(tenancy))
    explanation = explained(conflict.conflict_id)
    assert [side.record_id for side in explanation.rests_on] == ["p1", "p2"]
    assert [event.event_id for event in explanation.trail()] == ["e0", "e1"]


def test_entities_and_relations_lead_to_their_mentions(stored_memory, cypher, tenancy, explained):
    """An entity, given by its key, and a relation, given by its id, are explained by the events that mention them."""
    tool_key, two = tenancy.node_key("tool", "kubectl"), tenancy.node_key("host", "staging")
    cypher(ENTITIES, one=tool_key, two=two)
    entity, relation = explained(tool_key), explained(relation_id(tool_key, "touches", two))
    assert (entity.text, [event.event_id for event in entity.events]) == ("kubectl", ["e1", "e2"])
    assert (relation.text, [event.event_id for event in relation.events]) == ("kubectl touches staging", ["e1"])


@pytest.mark.parametrize("record_id", ["nothing", "", "a:b", "a:b:c", "::", "x" * 10_000])
def test_what_is_not_there_is_not_explained(explained, record_id):
    """An unknown id is refused, and the error says what to give instead."""
    with pytest.raises(NotFound, match="give a record"):
        explained(record_id)


def test_other_tenants_records_are_not_explained(stored_memory, connection, tenancy):
    """A record of another tenant cannot be explained."""
    with pytest.raises(NotFound):
        connection.perform(explain(Tenancy.of(tenancy.tenant_id + "-other"), "e1"))


def test_a_task_record_leads_to_its_event(graph, explained):
    """A task record's explanation has its text and the event that was stored for it."""
    written = graph.tasks.start(goal="Deploy staging", agent_id="ana")
    explanation = explained(written.artifact_id)
    assert (explanation.kind, explanation.facts["artifact_kind"], explanation.facts["agent_id"]) == (
        "task_record",
        "task_start",
        "ana",
    )
    assert "Deploy staging" in explanation.text
    assert [event.agent_id for event in explanation.events] == ["ana"]


def test_a_superseded_memory_names_its_successor(graph):
    """The explanation of a memory that no longer holds has the id of the one that took its place."""
    old = graph.remember("The staging cluster has three nodes")
    new = graph.remember("The staging cluster has five nodes", supersedes=old.memory_id)
    assert graph.explain(old.memory_id).facts["superseded_by"] == [new.memory_id]
    assert "superseded_by" not in graph.explain(new.memory_id).facts
