"""What an error asks for next: a lookup, another attempt, or what the user then wants."""

import pytest

from hmxgraph.compiler._next_after_failure import CallInputs, as_the_error_asks, learn_inputs
from hmxgraph.compiler.compilation import Model, compile_summaries
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.suggest import suggest
from tests.session_makers import Script

EVEN = dict.fromkeys(("get_profile", "get_order", "get_product", "cancel_order", "charge_card", "think"), 0.1)


def shop_work(number):
    """A session that finds an order, its product and a payment method, and charges it."""
    order, product, payment = f"#W100{number}", f"P200{number}", f"card_300{number}"
    script = Script(f"shop-{number}").user(f"Please charge order {order}")
    script.call("get_order", {"product_id": product}, order_id=order)
    script.call("get_product", {"price": 12}, product_id=product)
    script.call("get_profile", {"payment_id": payment}, order_id=order)
    return script.call("charge_card", order_id=order, payment_id=payment)


@pytest.fixture(scope="module")
def inputs():
    """The inputs learned from five sessions."""
    return learn_inputs(summarise(shop_work(number).events) for number in range(5))


def after(inputs, script):
    """The actions by probability after this script, most likely first, if all were equally likely without a failure."""
    chances = as_the_error_asks(EVEN, summarise(script.events), inputs)
    return sorted(chances, key=lambda name: -chances[name]), chances


def failed(tool, error, **arguments):
    """A session whose first call fails."""
    return Script("running").user("Please charge order #W9999").call(tool, error=error, **arguments)


def test_a_wrong_value_is_looked_up_where_such_values_come_from(inputs):
    """Unless that was looked up already, or the user has answered."""
    error = "payment method not found"
    assert after(inputs, failed("charge_card", error, payment_id="card_77"))[0][0] == "get_profile"
    known = Script("running").call("get_profile", {"payment_id": "card_1"}).call("charge_card", error=error)
    assert after(inputs, known)[1]["get_profile"] == pytest.approx(1 / 6)
    answered = failed("charge_card", error, payment_id="card_77").agent("Which card?").user("card_78")
    assert after(inputs, answered)[0][0] == "charge_card"


def test_the_state_of_a_named_item_is_looked_up(inputs):
    """An error about an order makes the lookup that takes an order more likely, not other lookups."""
    ranked, chances = after(inputs, failed("cancel_order", "the order has been shipped", order_id="#W9999"))
    assert chances["get_product"] == chances["think"]
    learned = learn_inputs([*(summarise(shop_work(number).events) for number in range(5)), summarise(cancelled())])
    ranked, _ = after(learned, failed("cancel_order", "the order has been shipped", order_id="#W9999"))
    assert set(ranked[:2]) == {"get_order", "get_profile"}


def cancelled():
    """The events of a session that cancels an order."""
    return Script("cancelled").call("cancel_order", order_id="#W1").events


def test_what_needs_the_result_of_a_failed_lookup_does_not_come_next(inputs):
    """Without the order the product is unknown; if another order was found before, it may be known."""
    lookup = failed("get_order", "order not found", order_id="9999")
    assert after(inputs, lookup)[0][-1] == "get_product"
    found = Script("running").call("get_order", {"product_id": "P1"}, order_id="#W1")
    found.call("get_order", error="order not found", order_id="9999")
    _, chances = after(inputs, found)
    assert chances["get_product"] == chances["think"]


def test_what_the_user_asks_for_first_comes_before_another_attempt(inputs):
    """The user's answer decides; without one, nothing is asked for."""
    declined = failed("charge_card", "the limit of the card is exceeded", payment_id="card_77")
    assert after(inputs, declined)[0][0] not in {"charge_card", "cancel_order"}
    asked = declined.agent("It was declined.").user("Then cancel it, and charge nothing please")
    assert after(inputs, asked)[0][0] == "cancel_order"


def test_without_a_failure_nothing_changes(inputs):
    """Nor with a failure outside of any call, nor without learned inputs."""
    work = shop_work(9)
    assert as_the_error_asks(EVEN, summarise(work.events), inputs) == EVEN
    outside = Script("running").add("error", {"error_type": "Crash", "message": "payment method not found"})
    assert as_the_error_asks(EVEN, summarise(outside.events), inputs) == EVEN
    _, chances = after(CallInputs(), failed("charge_card", "payment method not found"))
    assert chances["get_profile"] == chances["think"]


def test_suggestions_use_the_inputs_of_a_stored_model():
    """A model written and read again suggests the lookup although sessions went on otherwise."""
    retried = [
        summarise(shop_work(number).call("charge_card", error="payment method not found", payment_id="card_5").events)
        for number in range(5)
    ]
    model = Model.parse(Model.of(compile_summaries(retried)).to_json())
    running = summarise(failed("charge_card", "payment method not found", payment_id="card_77").events)
    assert suggest(running, model, []).tools[0].tool == "get_profile"
