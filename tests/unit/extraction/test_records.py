"""What records in arguments and results identify and how it is linked, in any domain."""

import json

import pytest

from hmxgraph.extraction._entity_records import MOST_RECORDS, Link, records
from hmxgraph.extraction.extract import extract
from tests.unit.extraction.events import event

ORDER = {
    "order_id": "#W2378156",
    "user_id": "yusuf_rossi_9620",
    "items": [{"name": "Lamp", "product_id": "1656367028", "item_id": "1151293680"}],
    "payment_history": [{"payment_method_id": "credit_card_9513926", "amount": 12.5}],
    "status": "delivered",
}
POD = {"metadata": {"name": "cart-7d9f", "namespace": "prod"}, "spec": {"nodeName": "node-3"}}
COMMIT = {"commit": "1f21869", "branch": "main", "author": "Ann Lee", "files": ["src/a.py"], "message": "Fix"}


def links(content, tool=""):
    """Return the links of a record as text."""
    record_links = (each for each in records(content, tool) if isinstance(each, Link))
    return [f"{each.source.type} {each.source.name} {each.relation_type} {each.target.name}" for each in record_links]


def test_a_call_asks_and_a_result_records():
    """What a call passes may be refused, so its relations are less certain than those of a result."""
    fields = {"order_id": "#W2378156", "payment_method_id": "credit_card_9513926"}
    asked = extract(event("tool_call", {"tool_name": "pay_order", "arguments": fields}))
    recorded = extract(event("tool_result", {"tool_name": "pay_order", "result": fields}))
    confidences = [
        [each.confidence for each in extraction.relations if each.relation_type == "payment_method"]
        for extraction in (asked, recorded)
    ]
    assert confidences == [[0.6], [0.95]]


def entities(content, tool=""):
    """Return the things of a record by type."""
    return {(each.type, each.name) for each in records(content, tool) if not isinstance(each, Link)}


def test_an_order_has_its_user_items_and_payment():
    """Fields name what a record refers to; nested records belong to it, also in lists without an id."""
    assert set(links(ORDER, "get_order_details")) == {
        "order #W2378156 user yusuf_rossi_9620",
        "order #W2378156 item 1151293680",
        "order #W2378156 payment_method credit_card_9513926",
        "item 1151293680 product 1656367028",
        "item 1151293680 name Lamp",
    }


@pytest.mark.parametrize(
    ("tool", "content", "expected"),
    [
        ("get_pod", POD, {"pod cart-7d9f namespace prod"}),
        ("git_show", COMMIT, {f"commit 1f21869 {part}" for part in ("branch main", "author Ann Lee", "file src/a.py")}),
        ("run_test", {"test_id": "test_cart::total", "path": "src/a.py"}, {"test test_cart::total path src/a.py"}),
        ("scale_service", {"service": "checkout", "namespace": "prod"}, {"service checkout namespace prod"}),
        ("list", {"orders": [{"id": 1, "user": {"id": 5}}]}, {"order order 1 user user 5"}),
        ("get_user", {"id": 1234567, "orders": ["#W1234567"]}, {"user 1234567 order #W1234567"}),
        (
            "get_customer",
            {"email": "ann@example.com", "cards": {"visa_951": {"brand": "visa"}}},
            {"email ann@example.com card visa_951"},
        ),
    ],
)  # fmt: skip
def test_records_of_many_domains(tool, content, expected):
    """Types and relations come from field names; no domain is built in."""
    assert set(links(content, tool)) == expected


def test_json_in_a_text_is_read():
    """A record as JSON text, which many tools return, gives the same result as the record itself."""
    assert links({"result": {"content": [{"type": "text", "text": json.dumps(ORDER)}]}}, "get_order") == links(
        {"result": ORDER}, "get_order"
    )
    assert links({"result": '{"order_id": '}, "get_order") == []


def test_short_numbers_are_qualified_by_their_noun():
    """Order 12 and user 12 are different things; a long number is a name by itself."""
    assert entities({"order_id": 12, "user_id": 12}) == {("order", "order 12"), ("user", "user 12")}
    assert entities({"order_id": 1151293680}) == {("order", "1151293680")}


@pytest.mark.parametrize(
    "content",
    [
        {"status": "delivered", "price": 12.5, "color": "black", "available": True, "amount": 1234567},
        {"call_id": "call_123456", "trace_id": "abc123456"},
        {"user_id": "unknown", "order_id": None, "item_id": True, "note_id": "two words"},
        {"line_number": 7, "page_number": "12"},
    ],
)
def test_values_that_identify_nothing(content):
    """States, amounts, placeholders and call ids are not things."""
    assert entities(content) == set()


def test_the_work_is_bounded():
    """Only the first records of a long list are read, and a bounded number of results is kept."""
    rows = {"order_id": "#W1234567", "items": [{"item_id": f"item_{number:05}"} for number in range(500)]}
    assert len(links(rows)) < MOST_RECORDS
    extraction = extract(event("tool_result", {"tool_name": "get_order", "result": rows, "success": True}))
    assert (len(extraction.mentions), len(extraction.relations)) == (32, 23)


def test_a_call_relates_its_arguments():
    """Relations lead from the record that the tool is about."""
    arguments = {"order_id": "#W1234567", "item_ids": ["item_00001"], "payment_method_id": "visa_951"}
    extraction = extract(event("tool_call", {"tool_name": "exchange_order_items", "arguments": arguments}))
    relations = {(each.source.normalised, each.relation_type, each.target.normalised) for each in extraction.relations}
    assert {("w1234567", "item", "item_00001"), ("w1234567", "payment_method", "visa_951")} < relations
    assert {"order", "item", "payment_method"} < {mention.type for mention in extraction.mentions}
