"""The digest, counted by the store and computed over arrays, equals what networkx computes."""

import uuid

import networkx as nx
import pytest
from hypothesis import settings
from neo4j import GraphDatabase

from hmxgraph.fingerprint.depth import max_depth
from hmxgraph.graph.exploring import digest
from hmxgraph.graph.plan import Tenancy
from tests.property.digest_graphs import depth, draw, expected

ENTITIES = "UNWIND $rows AS row CREATE (entity:Entity) SET entity = row"
RELATIONS = """
UNWIND $rows AS row
MATCH (source:Entity {key: row.source}), (target:Entity {key: row.target})
CREATE (source)-[relation:RELATES_TO]->(target) SET relation = row.properties
"""
CLEAR = "MATCH (entity:Entity) WHERE entity.key IN $keys DETACH DELETE entity"


@pytest.fixture(scope="module")
def drawn(address):
    """Random graphs in the store, one tenant each, written in two statements."""
    prefix = f"digest-{uuid.uuid4()}"
    graphs = [draw(f"{prefix}-{number}", number) for number in range(5 * settings().max_examples)]
    entities = [entity for graph in graphs for entity in graph.entities]
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query(ENTITIES, rows=entities, database_=address.database)
        relations = [relation for graph in graphs for relation in graph.relations]
        driver.execute_query(RELATIONS, rows=relations, database_=address.database)
        yield graphs
        driver.execute_query(CLEAR, keys=[entity["key"] for entity in entities], database_=address.database)


@pytest.mark.parametrize("as_of_us", [None, 60])
def test_digest_equals_networkx(connection, drawn, as_of_us):
    """For each random graph every field of the digest equals networkx's, now and as of an earlier time."""
    for graph in drawn:
        measures = connection.perform(digest(Tenancy.of(graph.tenant_id), as_of_us))
        exact, expected_values = measures.document(), expected(graph.networkx(as_of_us))
        for average in ("avg_entity_confidence", "avg_relation_weight"):
            assert exact.pop(average) == pytest.approx(expected_values.pop(average), abs=6e-7), graph.tenant_id
        assert exact == expected_values, graph.tenant_id
        assert measures.max_depth_exact


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(700),
        nx.cycle_graph(301),
        nx.random_regular_graph(6, 200, seed=1),
        nx.barabasi_albert_graph(400, 2, seed=2),
        nx.random_labeled_tree(300, seed=3),
        pytest.param(nx.random_regular_graph(6, 400, seed=1), marks=pytest.mark.slow),
        pytest.param(nx.barabasi_albert_graph(900, 2, seed=2), marks=pytest.mark.slow),
        pytest.param(nx.random_labeled_tree(800, seed=3), marks=pytest.mark.slow),
        nx.circular_ladder_graph(90),
        nx.disjoint_union(nx.path_graph(40), nx.star_graph(39)),
        nx.empty_graph(5),
    ],
    ids=[
        *("path", "ring", "regular", "scale-free", "tree", "large regular", "large scale-free", "large tree"),
        *("ladder", "tie", "dust"),
    ],
)
def test_depth_is_the_diameter(graph):
    """Long, round, dense, scattered and tied graphs get the diameter that networkx computes."""
    assert max_depth([(str(node), [str(other) for other in graph[node]]) for node in graph]) == (depth(graph), True)


def test_depth_of_a_large_graph_is_a_flagged_lower_bound():
    """Above 5,000 entities the depth is a reproducible lower bound, marked as not exact."""
    graph = nx.barabasi_albert_graph(6_000, 2, seed=5)
    links = [(str(node), [str(other) for other in graph[node]]) for node in graph]
    first = max_depth(links)
    assert first == max_depth(links[::-1])
    assert not first.exact
    assert 0 < first.value <= 10
