"""Packs find related entities in tool results, over two relations and as of any time."""

import json
from collections import Counter

import pytest

import hmxgraph
from tests.unit.ingest.making import document

QUESTION = "Which payment method paid the order of ann_7 that has the Desk Lamp?"


def order(number, user, item, paid):
    """The result of a shop's tool for an order."""
    items = [{"item_id": item, "name": "Desk Lamp", "product_id": "1656367028"}]
    return {"order_id": number, "user_id": user, "items": items, "payment_history": [{"payment_method_id": paid}]}


ORDERS = [
    order("#W1000001", "ann_7", "5501447", "visa_9513926"),
    order("#W1000002", "bob_8", "5501448", "paypal_2417743"),
]


@pytest.fixture
def shop(address, tenant_id):
    """A graph with tool results for two orders, two hours apart, the second as JSON inside a text."""

    def made(number, event_type, content):
        return document(
            tenant_id=tenant_id,
            event_id=f"e{number}",
            session_id="s",
            sequence=number,
            event_type=event_type,
            timestamp=f"2026-03-14T{number:02}:00:00Z",
            source="assistant" if event_type == "tool_call" else "tool:get_order",
            content={"tool_name": "get_order", "call_id": f"c{number // 2}", **content},
        )

    first, second = ORDERS
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
        graph.ingest(
            [
                made(0, "tool_call", {"arguments": {"order_id": first["order_id"]}}),
                made(1, "tool_result", {"result": first, "success": True}),
                made(2, "tool_call", {"arguments": {"order_id": second["order_id"]}}),
                made(3, "tool_result", {"result": {"value": json.dumps(second)}, "success": True}),
            ]
        )
        yield graph


def relations(pack):
    """The texts of the section ``graph_relations``, best first."""
    return [entry.content for entry in pack.entries if entry.section == "graph_relations"]


def test_records_become_typed_entities(shop):
    """Entity types and the names and directions of relations come from field names."""
    entity_graph = shop.to_networkx()
    types = Counter(data["type"] for _, data in entity_graph.nodes(data=True))
    assert {kind: types[kind] for kind in ("order", "user", "item", "payment_method", "product")} == {
        "order": 2,
        "user": 2,
        "item": 2,
        "payment_method": 2,
        "product": 1,
    }
    names = {node: data["name"] for node, data in entity_graph.nodes(data=True)}
    triples = {(names[source], data["type"], names[target]) for source, target, data in entity_graph.edges(data=True)}
    assert ("#W1000002", "payment_method", "paypal_2417743") in triples
    assert ("5501447", "name", "Desk Lamp") in triples
    parts = [*entity_graph.nodes(data=True), *((source, data) for source, _, data in entity_graph.edges(data=True))]
    assert all(0 < data["confidence"] <= 1 for _, data in parts)
    assert not shop.verify().findings


def test_a_question_over_two_relations_is_answered(shop):
    """The order that joins the user and the item ranks first, and its entry is linked to its event."""
    pack = shop.pack(QUESTION, budget=512, sections=["graph_relations"])
    best = pack.entries[0]
    assert best.content.startswith("[data] order #W1000001 has ")
    assert {"user ann_7", "payment method visa_9513926", "item 5501447 (Desk Lamp)"} <= {
        *best.content.removeprefix("[data] order #W1000001 has ").split(", ")
    }
    assert [event.event_id for event in shop.explain(best.source_id).events] == ["e1"]
    assert pack.text == shop.pack(QUESTION, budget=512, sections=["graph_relations"]).text


def test_what_was_not_known_yet_is_not_related(shop):
    """A pack as of a time before the second order shows none of its relations."""
    asked = "What about bob_8 and #W1000002?"
    assert relations(shop.pack(asked, sections=["graph_relations"]))
    assert relations(shop.pack(asked, sections=["graph_relations"], as_of="2026-03-14T01:30:00Z")) == []


def test_three_statements_are_enough(shop):
    """A pack with relations still takes only three statements."""
    seen = []
    stop = shop.trace(seen.append)
    shop.pack(QUESTION)
    stop()
    assert len(seen) == 3


def test_what_is_forgotten_is_not_related(shop):
    """Forgetting a session removes the relations that rest on it."""
    shop.forget(session_id="s")
    assert relations(shop.pack(QUESTION, sections=["graph_relations"])) == []
    assert shop.to_networkx().number_of_edges() == 0


def test_another_tenants_relations_stay_there(shop, address, tenant_id):
    """Relations of another tenant are not found."""
    with hmxgraph.connect(
        address.uri, user=address.user, password=address.password, tenant_id=f"{tenant_id}-other"
    ) as other:
        other.ingest([document(tenant_id=other.tenant_id, event_id="e", session_id="s")])
        assert relations(other.pack(QUESTION, sections=["graph_relations"])) == []
