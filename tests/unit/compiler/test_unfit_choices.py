"""Calls that fail because of their choice from the result of a lookup."""

from hmxgraph.compiler._statements import items_of
from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.summary import SessionSummary
from tests.session_makers import Script

PRODUCT = {
    "name": "Lamp",
    "variants": {
        "i100": {"available": True, "colour": "red"},
        "i200": {"available": False, "colour": "blue"},
        "i300": {"available": True, "colour": "green"},
    },
}


def order(number, items, *, fails, looks=True):
    """A session that looks up a product and orders some of its variants."""
    script = Script(f"order-{number}").user("Please order the lamps for me")
    if looks:
        script.call("get_product", PRODUCT, product="p1")
    script.call("order_items", **({"error": "item not found or sold out"} if fails else {}), items=items)
    return summarise(script.feedback("negative" if fails else "positive").events)


def prevention(sessions):
    """The prevention strategies of the playbooks."""
    drafts = compile_summaries(sessions).drafts
    playbooks = [draft for draft in drafts if draft.artifact_type == "failure_playbook"]
    return [text for draft in playbooks for text in draft.content["prevention_strategies"]]


def shop():
    """Orders of available variants succeed; orders with an unavailable one are refused."""
    good = [order(number, ["i100"] if number % 2 else ["i300", "i100"], fails=False) for number in range(8)]
    return [*good, *(order(number, ["i100", "i200"], fails=True) for number in range(20, 24))]


def test_a_choice_that_a_lookup_warned_of_is_to_be_avoided():
    """The advice names the argument, the lookup, its statement and the counts."""
    advice = "Choose items only if get_product says “available: true”"
    assert prevention(shop()) == [f"{advice}: it then failed this way 0 of 8 times, otherwise 4 of 4"]


PAYMENTS = {
    "methods": {
        "gift_1": {"source": "gift card", "bank": "Elm"},
        "card_2": {"source": "credit card", "bank": "Oak"},
        "voucher_3": {"source": "voucher", "bank": "Ash"},
    }
}


def payment(number, method, *, fails=False):
    """A session that looks up payment methods and pays with one of them."""
    script = Script(f"payment-{number}").user("Please pay for my order").call("get_user", PAYMENTS, user="u1")
    script.call("pay_order", **({"error": "a voucher cannot be used here"} if fails else {}), payment_id=method)
    return summarise(script.feedback("negative" if fails else "positive").events)


def test_a_choice_that_the_message_names_is_not_to_be_made():
    """One of several values is unfit; its bank, of which the message says nothing, is not the reason."""
    paid = [payment(number, "gift_1" if number % 2 else "card_2") for number in range(12)]
    refused = [payment(number, "voucher_3", fails=True) for number in range(20, 23)]
    counts = "it then failed this way 3 of 3 times, otherwise 0 of 12"
    assert prevention([*paid, *refused]) == [f"Do not choose payment_id if get_user says “source: voucher”: {counts}"]


def test_what_nobody_looked_up_is_no_evidence():
    """Calls whose choice is unknown do not count: they may fail for other reasons."""
    unknown = [order(number, ["i100"], fails=True, looks=False) for number in range(20, 26)]
    assert not [text for text in prevention([*shop()[:8], *unknown]) if text.startswith("Choose")]


def test_what_was_chosen_survives_storage():
    """A stored summary keeps the statements about a choice."""
    summary = shop()[-1]
    chosen = summary.steps[-1].chosen
    assert {statement for argument, _, statement in chosen if argument == "items"} >= {
        "available: true",
        "available: false",
    }
    assert SessionSummary.parse(summary.to_json()).steps == summary.steps


def test_what_two_parts_have_in_common_names_neither():
    """A price or date shared by several items names none of them."""
    seats = [{"seat": "4C", "day": "2024-05-17", "free": True}, {"seat": "5D", "day": "2024-05-17", "free": False}]
    assert {name: fields["free"] for name, fields in items_of({"seats": seats}).items()} == {
        "4C": "true",
        "5D": "false",
    }
