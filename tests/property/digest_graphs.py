"""Random entity graphs, built from one description both in the store and in networkx."""

import random
from dataclasses import dataclass

import networkx as nx

TYPES = ("tool", "file", "concept", "person")
RELATIONS = ("uses", "related_to", "fails_with")


@dataclass(frozen=True)
class Drawn:
    """One random graph: entities and relations as property maps; some are deprecated, some first seen later."""

    tenant_id: str
    entities: list[dict]
    relations: list[dict]

    def known(self, as_of_us):
        """Keys of the active entities, and the active relations between them, known at a time."""
        keys = {entity["key"] for entity in self.entities if counts(entity, as_of_us)}
        return keys, [
            relation
            for relation in self.relations
            if counts(relation["properties"], as_of_us) and {relation["source"], relation["target"]} <= keys
        ]

    def networkx(self, as_of_us):
        """The same graph in networkx."""
        keys, relations = self.known(as_of_us)
        graph = nx.MultiDiGraph()
        graph.add_nodes_from((entity["key"], entity) for entity in self.entities if entity["key"] in keys)
        graph.add_edges_from((edge["source"], edge["target"], edge["properties"]) for edge in relations)
        return graph


def counts(properties, as_of_us):
    """Whether a digest at this time includes the entity or relation."""
    return properties["status"] == "active" and (as_of_us is None or properties["first_us"] <= as_of_us)


def draw(tenant_id, seed):
    """A random graph of up to 30 entities, with loops and parallel relations; every fourth is a ring or a path."""
    rng = random.Random(seed)
    size = rng.randint(0, 30)
    entities = [entity(tenant_id, number, rng) for number in range(size)]
    pairs = [(rng.randrange(size), rng.randrange(size)) for _ in range(rng.randint(0, 2 * size))]
    if seed % 4 == 0:
        pairs = [(number, (number + 1) % size) for number in range(size - seed % 8 // 4)]
    return Drawn(tenant_id, entities, [relation(entities, *pair, rng) for pair in pairs])


def entity(tenant_id, number, rng):
    """The properties of an Entity node."""
    return {
        "key": f"{rng.getrandbits(256):064x}",
        "tenant_id": tenant_id,
        "type": rng.choice(TYPES),
        "name": f"name {number // 2}",
        "confidence": round(rng.random(), 4),
        "status": "active" if rng.random() < 0.9 else "deprecated",
        "first_us": rng.randint(0, 100),
    }


def relation(entities, source, target, rng):
    """The properties of a RELATES_TO relationship and the keys of its ends."""
    properties = {
        "tenant_id": entities[source]["tenant_id"],
        "relation_type": rng.choice(RELATIONS),
        "weight": round(rng.random() * 3, 4),
        "confidence": 0.5,
        "status": "active" if rng.random() < 0.95 else "deprecated",
        "first_us": rng.randint(0, 100),
    }
    return {"source": entities[source]["key"], "target": entities[target]["key"], "properties": properties}


def expected(graph):
    """The digest document computed with networkx."""
    entities = [data for _, data in graph.nodes(data=True)]
    relations = [data for _, _, data in graph.edges(data=True)]
    hubs = sorted((-degree, graph.nodes[key]["name"], graph.nodes[key]["type"], key) for key, degree in graph.degree)
    return {
        "entity_count": graph.number_of_nodes(),
        "relation_count": graph.number_of_edges(),
        "entity_type_distribution": tally(entities, "type"),
        "relation_type_distribution": tally(relations, "relation_type"),
        "avg_entity_confidence": mean(entities, "confidence"),
        "avg_relation_weight": mean(relations, "weight"),
        "top_connected_entities": [
            {"name": name, "type": kind, "connection_count": -degree} for degree, name, kind, _ in hubs[:10] if degree
        ],
        "max_depth": depth(nx.Graph(graph)),
    }


def tally(rows, name):
    """The number of occurrences of each value of a property."""
    values = [row[name] for row in rows]
    return {value: values.count(value) for value in sorted(set(values))}


def mean(rows, name):
    """The mean of a property, 0 without rows."""
    return sum(row[name] for row in rows) / len(rows) if rows else 0.0


def depth(graph):
    """The greatest diameter among the largest components."""
    components = list(nx.connected_components(graph))
    size = max(map(len, components), default=0)
    return max((nx.diameter(graph.subgraph(nodes)) for nodes in components if len(nodes) == size), default=0)
