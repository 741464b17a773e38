"""Entities and relations in the graph: merged, counted, and removed when their events are forgotten."""

import random

import pytest

from hmxgraph.graph._entities import entity_key
from hmxgraph.graph.ingesting import IngestOptions, ingest
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.retention import forget
from hmxgraph.protocol.reports import ForgetCriteria
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document

ENTITIES = """
MATCH (entity:Entity {tenant_id: $tenant_id})
WHERE entity.status = 'active'
RETURN entity {.type, .name, .normalised, .aliases, .mention_count, .confidence, .first_us, .last_us} AS entity,
  COUNT { (entity)<-[:MENTIONS]-(:Event) } AS mentions
ORDER BY entity.key
"""
RELATIONS = """
MATCH (source:Entity {tenant_id: $tenant_id})-[relation:RELATES_TO]->(target:Entity)
RETURN source.normalised AS source, relation.relation_type AS type, target.normalised AS target,
  relation.evidence_count AS evidence, relation.weight AS weight, relation.status AS status
ORDER BY source, type, target
"""


@pytest.fixture
def stored(connection, tenant_id):
    """Direct access to what the graph holds for the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def make(tenant_id):
    """Makes events of the test's tenant, a minute apart."""

    def made(number, content, event_type="message", **fields):
        given = {"source": "user", "session_id": "s", "sequence": number} | fields
        return document(
            tenant_id=tenant_id,
            event_id=f"e{number}",
            event_type=event_type,
            timestamp=f"2026-03-14T00:{number:02}:00Z",
            content=content,
            **given,
        )

    return made


def names(stored):
    """(type, normalised name) of each active entity."""
    return {(row["entity"]["type"], row["entity"]["normalised"]) for row in stored.rows(ENTITIES)}


def related(stored, status="active"):
    """(source, type, target, evidence count) of the relations with the given status."""
    rows = [row for row in stored.rows(RELATIONS) if row["status"] == status]
    return [(row["source"], row["type"], row["target"], row["evidence"]) for row in rows]


@pytest.fixture
def events(make):
    """Messages, tool calls, an error and an observation, which name people, places, orders and tools."""
    return [
        make(0, {"role": "user", "text": "Hey Caroline, ship #W12345 to New York"}),
        make(1, {"tool_name": "ship", "arguments": {"order_id": "W12345"}, "call_id": "c1"}, "tool_call"),
        make(2, {"tool_name": "ship", "arguments": {"order_id": "W9"}, "call_id": "c2"}, "tool_call"),
        make(3, {"error_type": "ShipError", "message": "no"}, "error", source="tool:ship"),
        make(
            4, {"role": "user", "text": "new york? NEW YORK! I love New York"}, source="Caroline", agent_id="Caroline"
        ),
        make(5, {"title": "Lilu (mythology)", "text": "Lilu met Gallu."}, "observation"),
    ]


def test_entities_are_merged_and_counted(graph, stored, events, tenant_id):
    """Each name is one node, with its most certain type and the number of events that mention it."""
    graph.ingest(events)
    entities = {row["entity"]["normalised"]: row for row in stored.rows(ENTITIES)}
    assert entities["new york"]["entity"]["mention_count"] == entities["new york"]["mentions"] == 2
    assert entities["caroline"]["entity"]["type"] == "person"
    assert entities["w12345"]["entity"]["type"] == "order"
    assert set(entities["new york"]["entity"]["aliases"]) | {entities["new york"]["entity"]["name"]} >= {
        "NEW YORK",
        "New York",
    }
    key = entity_key(Tenancy.of(tenant_id), "concept", "lilu")
    titled = stored.rows("MATCH (:Entity {key: $key})<-[m:MENTIONS]-() RETURN m.role AS role", key=key)
    assert titled == [{"role": "title"}]


def test_relations_count_their_evidence(graph, stored, events):
    """A relation supported by two events is one relation with a greater weight."""
    graph.ingest(events)
    weights = {(row["source"], row["type"], row["target"]): row["weight"] for row in stored.rows(RELATIONS)}
    agent = next(source for source, kind, target in weights if (kind, target) == ("uses", "ship"))
    assert weights[agent, "uses", "ship"] == pytest.approx(2 / 3, abs=1e-6)
    assert weights["ship", "raises", "shiperror"] == 0.5


def test_replays_add_nothing(graph, stored, events):
    """Ingesting the same events again changes neither counts nor relations."""
    graph.ingest(events)
    before = stored.rows(ENTITIES), stored.rows(RELATIONS)
    assert graph.ingest(events).accepted == 0
    assert (stored.rows(ENTITIES), stored.rows(RELATIONS)) == before


@pytest.mark.parametrize("seed", range(3))
def test_the_way_events_come_decides_nothing(graph, stored, events, seed, tenant_id, connection):
    """Shuffled events in small batches give the same entities and relations."""
    graph.ingest(events)
    expected = stored.rows(ENTITIES), stored.rows(RELATIONS)
    other = f"{tenant_id}-shuffled"
    shuffled = [{**event, "tenant_id": other} for event in events]
    random.Random(seed).shuffle(shuffled)
    ingest(connection.transact, Tenancy.of(other), shuffled, IngestOptions(batch_size=2, rehome=True))
    reordered = Ingested(connection, other)
    assert sorted(map(str, reordered.rows(ENTITIES))) == sorted(map(str, expected[0]))
    assert reordered.rows(RELATIONS) == expected[1]


def test_a_batch_costs_few_statements(graph, events):
    """Everything extracted from a batch is written by at most four statements."""
    lines = []
    stop = graph.trace(lines.append)
    graph.ingest(events)
    stop()
    sent = [line.split()[0] for line in lines]
    assert len([name for name in sent if name.startswith(("entities/", "memories/", "conflicts/"))]) <= 4


def test_forgetting_takes_mentions_and_relations_back(graph, connection, stored, events, tenant_id):
    """Each erased event removes one piece of evidence; relations and names without evidence are removed."""
    graph.ingest(events)
    tenancy = Tenancy.of(tenant_id)
    connection.perform(forget(tenancy, ForgetCriteria(event_ids=("e1",))))
    assert next(relation for relation in related(stored) if relation[1] == "uses")[3] == 1
    report = connection.perform(forget(tenancy, ForgetCriteria(event_ids=("e2", "e3"))))
    assert [relation for relation in related(stored) if relation[1] in {"uses", "raises"}] == []
    assert len(report.relations) == 2
    assert ("tool", "ship") not in names(stored)
    left = stored.rows("MATCH (e:Entity {tenant_id: $tenant_id}) WHERE e.status = 'deprecated' RETURN e.name AS name")
    assert {row["name"] for row in left} == {""}


def test_a_forgotten_name_comes_back_with_new_evidence(graph, connection, stored, make, tenant_id):
    """An entity whose name was erased gets it back when an event mentions it again."""
    graph.ingest([make(0, {"role": "user", "text": "we went to Boston"})])
    connection.perform(forget(Tenancy.of(tenant_id), ForgetCriteria(event_ids=("e0",))))
    assert names(stored) == set()
    graph.ingest([make(1, {"role": "user", "text": "again to Boston"})])
    assert names(stored) == {("concept", "boston")}
