"""Rules from the results of lookups: which change is possible, and which is due."""

from fractions import Fraction

import pytest

from hmxgraph.compiler._result_rules import _chance, result_policies, result_rules, rule_for_each
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import Script

FIELDS = {"currency": "EUR", "country": "USA"}


def order_work(number, status, change, *, signal="positive", order=None, before=()):
    """A session that looks up an order with its status and makes a change."""
    order = order or f"W{number}000"
    script = Script(f"{change}-{number}").user(f"Please {change} the order")
    for other, found in before:
        script.call("get_order_details", {"order_id": other, "status": found, **FIELDS}, order_id=other)
    script.call("get_order_details", {"order_id": order, "status": status, **FIELDS}, order_id=order)
    script.call(f"{change}_order", order_id=order)
    return summarise(script.feedback(signal).events)


def shop(count=8):
    """Pending orders are cancelled, delivered ones returned."""
    return [order_work(n, status, change) for n in range(count) for status, change in CHANGES]


CHANGES = (("pending", "cancel"), ("delivered", "return"))


def network_work(number, mode, *, toggled):
    """A session that checks a network, and switches a mode."""
    script = Script(f"network-{number}-{mode}").user("There is no service")
    script.call("check_network", {"value": f"Airplane Mode: {mode}\nSignal: none"})
    script.call("toggle_airplane_mode" if toggled else "reboot_device")
    return summarise(script.feedback("positive").events)


def rules(sessions):
    """The rules of these sessions: action, statement, whether it is called for."""
    found = result_rules(sessions, DEFAULT_PROFILE)
    return {(rule.action, rule.statement, rule.called_for) for rule in found}


def test_a_change_waits_for_what_its_lookup_nearly_always_said():
    """Statements about other orders decide nothing, nor do statements about all orders."""
    beside = order_work(99, "pending", "cancel", before=[("W77000", "delivered")])
    learned = result_rules([*shop(), beside], DEFAULT_PROFILE)
    waiting = {(rule.action, rule.statement): (rule.holds, rule.count) for rule in learned if not rule.called_for}
    assert waiting == {
        ("cancel_order", "status: pending"): (9, 9),
        ("return_order", "status: delivered"): (8, 8),
    }


def test_the_policy_says_when_to_make_each_change_and_when_not():
    """One policy per lookup, with its counts and evidence."""
    found = result_rules(shop(), DEFAULT_PROFILE)
    (policy,) = result_policies([rule for rule in found if not rule.called_for], DEFAULT_PROFILE)
    assert policy.content["condition"] == "get_order_details is done"
    assert policy.content["recommendation"] == (
        "Use cancel_order only where it says “status: pending” (true 8 of 8 times it worked). "
        "Use return_order only where it says “status: delivered” (true 8 of 8 times it worked)."
    )
    assert policy.title == "The result of get_order_details decides whether to use cancel_order and return_order"
    assert policy.validated(DEFAULT_PROFILE)
    assert {event_id.split("/")[0] for event_id in policy.source_events} >= {"cancel-0", "return-7"}
    chosen = rule_for_each(found, called_for=False)["cancel_order"]
    assert (chosen.condition, chosen.how_often) == (
        "get_order_details says “status: pending”",
        "true 8 of 8 times it worked",
    )


@pytest.mark.parametrize(
    "sessions",
    [
        pytest.param(shop(2), id="too few orders"),
        pytest.param([order_work(n, s, c, order=f"{c}77") for n in range(9) for s, c in CHANGES], id="one order again"),
        pytest.param([order_work(n, s, c, signal="negative") for n in range(9) for s, c in CHANGES], id="failures"),
        pytest.param([order_work(n, "pending", c) for n in range(9) for _, c in CHANGES], id="all the same"),
        pytest.param([order_work(n, f"held by {chr(97 + n)}", c) for n in range(20) for _, c in CHANGES], id="names"),
    ],
)
def test_what_may_be_chance_or_names_a_thing_decides_nothing(sessions):
    """Neither chance, names, nor patterns of failed sessions make rules."""
    assert rules(sessions) == set()


def test_a_statement_calls_for_what_is_done_then_and_not_otherwise():
    """A mode that is on is switched off; a signal that is always missing calls for nothing."""
    sessions = [network_work(n, mode, toggled=mode == "ON") for n in range(7) for mode in ("ON", "OFF")]
    found = rules(sessions)
    assert ("toggle_airplane_mode", "Airplane Mode: ON", True) in found
    assert ("reboot_device", "Airplane Mode: OFF", True) in found
    assert not [statement for _, statement, _ in found if statement.startswith("Signal")]
    (policy,) = result_policies(result_rules(sessions, DEFAULT_PROFILE), DEFAULT_PROFILE)
    assert policy.summary == (
        "When check_network is done: where it says “Airplane Mode: OFF”, use reboot_device; "
        "where it says “Airplane Mode: ON”, use toggle_airplane_mode."
    )


def test_what_is_done_as_often_otherwise_is_not_called_for():
    """All sessions switch the mode, whatever the lookup says."""
    sessions = [network_work(n, mode, toggled=True) for n in range(7) for mode in ("ON", "OFF")]
    assert not [rule for rule in rules(sessions) if rule[2]]


def test_what_a_lookup_was_asked_with_is_no_statement_of_its_result():
    """A field of the result that repeats an argument is not a statement."""
    script = Script("s1").call("get_trip", {"trip": "SDZQKO", "cabin": "economy"}, trip="SDZQKO")
    (step,) = summarise(script.events).steps
    assert step.statements == ("cabin: economy",)
    assert len(step.about) == 1


def test_a_few_other_cases_show_no_difference():
    """Six sessions with the mode on switched it, two with it off did not: that may be chance."""
    sessions = [
        network_work(n, mode, toggled=mode == "ON") for mode, count in (("ON", 6), ("OFF", 2)) for n in range(count)
    ]
    assert not [rule for rule in rules(sessions) if rule[2]]


def test_thousands_of_cases_overflow_nothing():
    """The test is exact for any number of items, although binomial coefficients of 1,600 exceed floats."""
    assert 0.0 <= _chance(1_300, 1_600, Fraction(1, 2)) < 1e-100


def test_what_a_file_contains_is_no_statement():
    """Lines of code recur but decide nothing."""
    script = (
        Script("s1").call("read_config", {"value": "mode: on"}, path="app.cfg").call("read_mode", {"value": "mode: on"})
    )
    assert [step.statements for step in summarise(script.events).steps] == [(), ("mode: on",)]


def phone_work(number, bar, *, change, vpn="VPN is OFF", request="The internet is slow"):
    """A session that uses several lookups of a phone and makes a change."""
    script = Script(f"phone-{number}-{change}").user(request)
    script.call("check_bar", {"value": bar}).call("check_vpn", {"value": vpn})
    for lookup in ("check_line", "check_sim", "check_apn", "check_apps"):
        script.call(lookup, {"value": f"{lookup} {'one' if number % 2 else 'two'}"})
    script.call(change)
    return summarise(script.feedback("positive").events)


def test_what_happened_to_be_so_before_a_change_is_nothing_to_wait_for():
    """Among many lookups, one returns something rare each time by chance, unless it names the object of the change."""
    others = [phone_work(number, "bar is grey", change="reboot_phone") for number in range(8)]
    rare = {"bar": "bar is green", "vpn": "VPN is ON and connected"}
    granted = [phone_work(number, **rare, change="grant_permission") for number in range(20, 23)]
    disconnected = [phone_work(number, **rare, change="disconnect_vpn") for number in range(30, 33)]
    assert rules([*others, *disconnected]) >= {("disconnect_vpn", "VPN is ON and connected", True)}
    assert not [rule for rule in rules([*others, *granted]) if rule[0] == "grant_permission"]


def test_a_statement_calls_for_what_always_followed_it_unless_users_asked_for_that():
    """Whether a VPN that is on has to be disconnected is not known if users asked for it."""
    others = [phone_work(number, "bar is grey", change="reboot_phone") for number in range(8)]
    rare = {"bar": "bar is green", "vpn": "VPN is ON and connected", "change": "disconnect_vpn"}
    asked = [phone_work(number, **rare, request="Please disconnect the VPN") for number in range(30, 33)]
    kept = phone_work(40, "bar is grey", vpn="VPN is ON and connected", change="reboot_phone")
    unasked = [phone_work(number, **rare) for number in range(30, 34)]
    waits = {("disconnect_vpn", "VPN is ON and connected", False)}
    assert rules([*others, *asked]) >= waits
    assert rules([*others, kept, *unasked]) >= waits


def mode_work(number, *modes, toggled):
    """A session that switches a mode, or restarts, between lookups of the network that return these *modes*."""
    before, *after = modes
    script = Script(f"mode-{number}-{toggled}").user("There is no service")
    script.call("check_network", {"value": f"Signal: none{before}"})
    script.call("toggle_airplane_mode" if toggled else "reboot_device")
    for mode in after:
        script.call("check_network", {"value": f"Signal: none{mode}"})
    return summarise(script.feedback("positive").events)


def test_a_statement_made_only_after_an_action_does_not_call_for_it():
    """The mode that a switch turned on is a consequence; a mode seen before is counted in its own session only."""
    on, off = "\nAirplane Mode: ON", "\nAirplane Mode: OFF"
    others = [mode_work(number, off, toggled=False) for number in range(10)]
    afterwards = [mode_work(number, "", on, toggled=True) for number in range(1, 10)]
    consequences = rules([*others, mode_work(0, on, on, toggled=True), *afterwards])
    assert not [rule for rule in consequences if rule[1] == "Airplane Mode: ON"]
    before = [mode_work(number, on, off, toggled=True) for number in range(10)]
    learned = result_rules([*others, *before], DEFAULT_PROFILE)
    counts = {(rule.statement, rule.holds, rule.count) for rule in learned if rule.action == "toggle_airplane_mode"}
    assert counts == {("Airplane Mode: ON", 10, 10)}


def parcels(number, *statuses, handover=True):
    """A session that looks up a parcel for each status, and hands over or orders again."""
    script = Script(f"parcel-{number}-{handover}").user("Where are my parcels?")
    for place, status in enumerate(statuses):
        parcel = f"W{number}{place}{int(handover)}00"
        script.call("get_parcel", {"parcel_id": parcel, "status": status}, parcel_id=parcel)
    script.call("transfer_to_human_agents" if handover else "order_again")
    return summarise(script.feedback("positive").events)


@pytest.mark.parametrize(("sessions", "items"), [(2, 5), (5, 1)])
def test_several_items_of_one_handover_are_not_several_cases(sessions, items):
    """Five sessions with a lost parcel each call for a handover, two with five each do not."""
    others = [parcels(number, "sent", handover=False) for number in range(10)]
    lost = [parcels(number, *["lost"] * items) for number in range(sessions)]
    called_for = {rule.statement for rule in result_rules([*others, *lost], DEFAULT_PROFILE) if rule.called_for}
    assert ("status: lost" in called_for) is (sessions == 5)
