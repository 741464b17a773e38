"""Advice of playbooks beyond tool names: edits, checks, preconditions; no playbook without advice."""

import pytest

from hmxgraph.compiler._origins import ValueOrigins
from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import Script

HOOK = "pre-commit validation failed: [DIALYZER]"
TESTS = "undefined function get/2"
EDIT = {"file_path": "/app/test/page_test.exs", "old_string": "  use Live", "new_string": "  use Live\n  use Conn"}


def drafts(scripts, artifact_type="failure_playbook"):
    """The drafts compiled from these sessions."""
    compiled = compile_summaries(summarise(script.events) for script in scripts).drafts
    return [draft for draft in compiled if draft.artifact_type == artifact_type]


def only(scripts):
    """Their only playbook."""
    (playbook,) = drafts(scripts)
    return playbook


def test_an_edit_that_repaired_says_which_line_of_which_file():
    """The fix is the changed line, since all edits have the same tool name."""
    script = Script("s").user("Fix the tests").run("mix test", error=TESTS).call("Edit", **EDIT).run("mix deps.get")
    playbook = only([script.run("mix test")])
    (step,) = playbook.content["recovery_steps"]
    assert step == (
        "Edit `page_test.exs`, adding “use Conn”, then run `mix deps.get`, then try mix test again "
        "(tried once, and it worked)"
    )
    assert not playbook.validated(DEFAULT_PROFILE)


def test_no_edit_is_told_where_several_others_helped():
    """A hook that refuses many kinds of changes is not repaired by a single line."""
    script = Script("s").user("Commit the work")
    for line in ("a = 1", "b = 2"):
        script.run("git commit -m work", error="the hook refuses the change")
        script.call("Edit", file_path="a.py", old_string="x", new_string=line).run("git commit -m work")
    assert drafts([script]) == []


def hooked(name, *, checked, helped=None):
    """A session whose commit is refused by a hook that names a check, and is retried after the check or without it."""
    helped = checked if helped is None else helped
    script = (
        Script(name).user("Commit the work").run("git commit -m a", error=HOOK).call("Edit", file_path=f"{name}.ex")
    )
    if checked:
        script.run("mix compile").run("mix dialyzer")
    return script.run("git commit -m a", error=None if helped else HOOK).feedback("positive")


def test_the_check_that_the_error_names_is_the_way():
    """The check was run, among other actions, each time the error was gone."""
    scripts = [hooked("s", checked=True), hooked("t", checked=True), hooked("u", checked=False)]
    playbook = only(scripts)
    (step,) = playbook.content["recovery_steps"]
    first = "Edit the files that it reports until `mix dialyzer` passes"
    assert step == f"{first}, then try git commit again (worked 2 of 2 times)"
    assert playbook.validated(DEFAULT_PROFILE)
    assert drafts([*scripts[:2], hooked("v", checked=True, helped=False)]) == []


@pytest.mark.parametrize("scripts", [
    pytest.param([Script("s").user("Stage it").call("stage", error="locked")], id="a single case"),
    pytest.param([Script("s").user("Go").run("hex", error="denied").run("source a.sh")], id="preparations"),
])  # fmt: skip
def test_without_anything_to_say_there_is_no_playbook(scripts):
    """A single failure and unrelated later actions make no playbook."""
    assert drafts(scripts) == []


def order_work(name, *changes, status="delivered", failing=None, beside=""):
    """A session that looks an order up and changes it; the last change fails with *failing*.

    *beside* is a change of another order before it.
    """
    order = f"W{name.encode().hex()}"
    script = Script(name).user(f"Please {changes[-1].split('_')[0]} my order")
    script.call("get_order_details", {"order_id": order, "status": status, "country": "USA"}, order_id=order)
    if beside:
        script.call("get_order_details", {"country": "USA"}, order_id=f"{order}0").call(beside, order_id=f"{order}0")
    for change in changes[:-1]:
        script.call(change, order_id=order)
    script.call(changes[-1], error=failing, order_id=order)
    return script.feedback("negative" if failing else "positive")


def test_a_change_that_did_not_wait_for_its_statement_is_explained():
    """Orders can be returned once delivered: the playbook says to check that."""
    worked = [order_work(f"a{n}", "return_order") for n in range(8)]
    worked += [order_work(f"b{n}", "cancel_order", status="pending") for n in range(8)]
    refused = "this order cannot be returned"
    failed = [order_work(f"c{n}", "return_order", status="pending", failing=refused) for n in range(2)]
    playbook = only([*worked, *failed])
    assert playbook.content["prevention_strategies"] == [
        "Before return_order, check that get_order_details says “status: delivered”"
    ]
    assert playbook.validated(DEFAULT_PROFILE)
    other = [order_work(f"d{n}", "return_order", failing="the server is down") for n in range(2)]
    assert only([*worked, *other]).content["prevention_strategies"] == []


def test_a_change_is_refused_after_another_change_of_the_same_thing():
    """Returns of exchanged orders were all refused, returns of others never."""
    worked = [
        order_work(f"{change}{n}", change) for n in range(9) for change in ("return_order", "exchange_order")[: n + 1]
    ]
    refused = "this order cannot be returned"
    failed = [order_work(f"b{n}", "exchange_order", "return_order", failing=refused) for n in range(3)]
    make_sure = "Before return_order, make sure that exchange_order has not succeeded with the same order_id"
    assert only([*worked, *failed]).content["prevention_strategies"] == [
        f"{make_sure}: after that it failed this way 3 of 3 times, otherwise 0 of 9"
    ]
    apart = [order_work(f"c{n}", "return_order", failing=refused, beside="exchange_order") for n in range(3)]
    assert only([*worked, *apart]).content["prevention_strategies"] == []


@pytest.mark.parametrize(("later", "in_order"), [(None, True), ("it is on its way", False)])
def test_the_other_order_is_advised_where_it_worked(later, in_order):
    """The address of an order can be changed before its items, not after them."""
    refused = "this order cannot be changed"
    scripts = [order_work(f"a{n}", "set_address", "set_items", failing=later) for n in range(4)]
    scripts += [order_work(f"b{n}", "set_items", "set_address", failing=refused) for n in range(3)]
    scripts += [order_work(f"c{n}", "set_address") for n in range(9)]
    playbook = next(draft for draft in drafts(scripts) if draft.title.startswith("set_address"))
    order = (
        "Call set_address before set_items with the same order_id, not after it"
        if in_order
        else "Before set_address, make sure that set_items has not succeeded with the same order_id"
    )
    assert playbook.content["prevention_strategies"] == [
        f"{order}: after that it failed this way 3 of 3 times, otherwise 0 of 13"
    ]


def refusal(name, *, handed_over, signal="positive"):
    """A parcel cannot be stopped; the agent hands over to a person or stops."""
    script = Script(name).user("Stop my parcel").call("stop_parcel", error="it has left the depot", parcel=name)
    if handed_over:
        script.call("transfer_to_human_agents", summary="parcel")
    return script.agent("That is all I can do").feedback(signal)


def test_handing_over_says_how_often_it_was_done():
    """Handing over is advised only if most failures ended that way."""
    mostly = [refusal(f"p{n}", handed_over=n < 3) for n in range(4)]
    assert only(mostly).content["recovery_steps"] == [
        "Hand over to human agents with transfer_to_human_agents (done 3 of 4 times)"
    ]
    assert only(mostly).summary.endswith("hand over to human agents with transfer_to_human_agents.")
    seldom = [refusal(f"p{n}", handed_over=n < 1) for n in range(4)]
    assert only(seldom).content["recovery_steps"] == ["Stop and tell the user what failed"]


def test_a_change_of_something_else_is_no_way_out():
    """An order that cannot be returned was exchanged four times; in one session another order was."""
    scripts = []
    for number in range(5):
        failed, other = f"W{number}555", f"W{number}999"
        script = Script(f"s{number}").user("Return my order").call("return_order", error="too late", order_id=failed)
        script.call("exchange_order", order_id=failed if number else other).feedback(
            "positive" if number else "negative"
        )
        scripts.append(script)
    (step,) = only(scripts).content["recovery_steps"]
    assert step.endswith("(worked 4 of 4 times)")


def test_a_way_out_says_if_most_sessions_failed_nevertheless():
    """The payment worked in the end, but four of five users rejected the session."""
    scripts = []
    for number in range(5):
        script = Script(f"s{number}").user("Book it").call("pay", error="amount does not add up", amount=300 + number)
        script.agent("It costs more").user(f"Then pay {400 + number}").call("pay", amount=400 + number)
        scripts.append(script.feedback("negative" if number else "positive"))
    (step,) = only(scripts).content["recovery_steps"]
    assert step.endswith("(worked 5 of 5 times; most sessions failed nevertheless)")
    assert "nevertheless" not in only(scripts).summary


def test_what_the_user_does_is_asked_of_the_user():
    """If the user acts on a device that the agent cannot reach, the step addresses the user."""
    scripts = []
    for number in range(4):
        script = Script(f"s{number}").user("My phone has no data").call("get_line", {"line": f"L{number}77"})
        script.add("tool_call", {"tool_name": "toggle_data", "arguments": {}, "call_id": "t"}, source="user")
        script.add(
            "tool_result", {"tool_name": "toggle_data", "call_id": "t", "result": {"value": "on"}, "success": True}
        )
        scripts.append(script.feedback("positive"))
    (procedure,) = drafts(scripts, "task_schema")
    described = [step["description"] for step in procedure.content["steps"]]
    assert described == ["Look up the line with get_line", "Have the user toggle data with toggle_data"]


def test_conditions_stand_at_the_changes_that_wait_for_them():
    """A procedure with one change has a precondition; changes with different conditions state them in their steps."""
    scripts = [order_work(f"a{n}", "return_order") for n in range(8)]
    scripts += [order_work(f"b{n}", "cancel_order", status="pending") for n in range(8)]
    for number in range(6):
        script = Script(f"c{number}").user("Cancel one order and return the other one")
        for change, status in (("cancel_order", "pending"), ("return_order", "delivered")):
            order = f"W{change}{number}"
            script.call("get_order_details", {"status": status, "country": "USA"}, order_id=order)
            script.call(change, order_id=order)
        scripts.append(script.feedback("positive"))
    schemas = {tuple(draft.metadata["goal_actions"]): draft.content for draft in drafts(scripts, "task_schema")}
    single = schemas["get_order_details", "return_order"]
    assert any("says “status: delivered” (true" in condition for condition in single["preconditions"])
    assert not any(step["description"].startswith("Only if") for step in single["steps"])
    both = schemas["cancel_order", "get_order_details", "return_order"]
    assert [step["description"].partition(":")[0] for step in both["steps"][-2:]] == [
        "Only if get_order_details says “status"
    ] * 2
    assert not any("status" in condition for condition in both["preconditions"])


def test_the_source_of_a_value_is_what_names_it_among_the_fewest():
    """A result that names one card is a better source than a list of cards; a call's own arguments are not results."""
    origins = ValueOrigins(most_values=100, most_messages=10)
    origins.add_result(
        "get_customer", {"id": "c-1", "cards": [{"card": "card-1"}, {"card": "card-2"}], "orders": ["W101", "W102"]}
    )
    origins.add_result(
        "get_order", {"order": "W101", "customer": "c-1", "paid": {"card": "card-2"}}, call_values={"w101": "order"}
    )
    found = origins.of_arguments({"card": "card-2", "order": "W101", "customer": "c-1"})
    assert found == (
        ("card", "get_order"), ("customer", "get_customer"), ("customer", "get_order"), ("order", "get_customer")
    )  # fmt: skip


def test_a_playbook_that_only_prevents_suggests_no_way_out():
    """Actions after a change that could not work are not suggested as recoveries."""
    worked = [order_work(f"a{n}", "return_order") for n in range(8)]
    worked += [order_work(f"b{n}", "cancel_order", status="pending") for n in range(8)]
    failed = []
    for number, signal in enumerate(("positive", "negative", "negative")):
        order = f"W{number}555"
        script = Script(f"c{number}").user("Please return my order")
        script.call("get_order_details", {"order_id": order, "status": "pending", "country": "USA"}, order_id=order)
        script.call("return_order", error="cannot be returned", order_id=order).call("cancel_order", order_id=order)
        failed.append(script.feedback(signal))
    playbook = only([*worked, *failed])
    assert playbook.content["prevention_strategies"]
    assert playbook.validated(DEFAULT_PROFILE)
    assert playbook.metadata["recoveries"] == []


def refused_exchange(name, *, signal="positive", same=True, error="the order is not delivered yet"):
    """A refused exchange of items; afterwards these items, or those of another order, are modified."""
    ids = {"order_id": f"W{name}101", "item_id": f"I{name}202", "card_id": f"C{name}303"}
    script = Script(name).user("Exchange the lamp").call("exchange_order_items", error=error, **ids)
    script.call("change_user_address", street="Elm Street")
    script.call("modify_order_items", **(ids if same else ids | {"order_id": f"W{name}909"}))
    return script.feedback(signal)


def test_a_tool_that_takes_all_that_failed_stands_in_for_it():
    """The replacement is judged by its own result, since the outcome of a session depends on more."""
    playbook = only([refused_exchange(f"a{n}", signal=["positive", "negative", "negative"][n]) for n in range(3)])
    assert playbook.content["recovery_steps"] == [
        "Modify the order items with modify_order_items instead (worked 3 of 3 times)"
    ]
    apart = drafts([refused_exchange(f"b{n}", signal="negative", same=False) for n in range(3)])
    assert not any("modify_order_items instead" in step for draft in apart for step in draft.content["recovery_steps"])


def test_attempts_in_vain_are_counted_together():
    """The inputs of retries are not stated if none helped."""
    scripts = []
    for number, changed in enumerate(({"queue": "b"}, {"user": "c"}, {})):
        script = Script(f"s{number}").user("Print the report").call("print_report", error="no paper", queue="a")
        scripts.append(script.call("print_report", error="no paper", **{"queue": "a", **changed}).feedback("negative"))
    (step,) = only(scripts).content["recovery_steps"]
    assert step.count("did not help") == 1
    assert step.endswith("another print_report did not help (tried 3 times)")


def test_a_change_in_place_of_another_says_what_it_waits_for():
    """Pending orders are cancelled instead of returned; the action after that was another request."""
    worked = [order_work(f"a{n}", "return_order") for n in range(8)]
    worked += [order_work(f"b{n}", "cancel_order", status="pending") for n in range(8)]
    refused = []
    for number in range(3):
        ids = {"order_id": f"W{number}555", "card_id": f"C{number}777"}
        script = Script(f"c{number}").user("Please return my order")
        script.call("get_order_details", {"status": "pending", "country": "USA"}, order_id=ids["order_id"])
        script.call("return_order", error="cannot be returned", **ids).call("cancel_order", **ids)
        refused.append(script.user("And my address?").call("get_address", ids["order_id"]).feedback("positive"))
    assert only([*worked, *refused]).content["recovery_steps"] == [
        "If get_order_details says “status: pending”: cancel the order with cancel_order instead (worked 3 of 3 times)"
    ]


def test_an_input_is_demanded_only_if_most_calls_that_worked_have_it():
    """An input that most successful calls lack is not demanded."""
    scripts = []
    for number in range(3):
        script = Script(f"s{number}").user("Read the file")
        script.call("load_report", error="the report is too long", name=f"r{number}")
        scripts.append(script.call("load_report", name=f"r{number}", limit=100).feedback("positive"))
    demand = ["Before load_report, make sure that limit is given"]
    assert only(scripts).content["prevention_strategies"] == demand
    scripts += [
        Script(f"t{number}").user("Read the file").call("load_report", name="x").feedback("positive")
        for number in range(4)
    ]
    assert only(scripts).content["prevention_strategies"] == []


def refund(name, *, refused=True, **stated):
    """A session that refunds an order; if it is *refused* at first, the approval is given before the next attempt."""
    script = Script(name).user("Refund the order please")
    if refused:
        script.call("orders_refund", error="LIMIT: refunds above 50 need approval from finance", amount=59)
        script.agent("This needs approval").user("Priya: go ahead")
    return script.call("orders_refund", amount=59, **stated).feedback("positive")


@pytest.mark.parametrize(
    "stated",
    [
        pytest.param({"approved_by": "finance"}, id="a person who approves"),
        pytest.param({"approved_by": "priya"}, id="a person whom the user named"),
        pytest.param({"confirmed": True}, id="a confirmation"),
        pytest.param({"overrideLimit": True}, id="an exception to a rule"),
    ],
)
def test_an_approval_is_obtained_not_filled_in(stated):
    """What a person decided in earlier sessions is no value for the next call."""
    (name,) = stated
    obtain = f"et the approval that {name} stands for from whoever may give it"
    playbook = only([refund(f"s{number}", **stated) for number in range(3)])
    assert playbook.content["recovery_steps"] == [
        f"G{obtain}, then call orders_refund again with {name} (worked 3 of 3 times)"
    ]
    assert playbook.content["prevention_strategies"] == [f"Before orders_refund, g{obtain}"]


def test_an_approval_that_most_calls_need_is_not_demanded_of_all():
    """Nobody is asked to approve what has worked without approval."""
    scripts = [refund(f"s{number}", approved_by="priya") for number in range(3)]
    scripts += [refund(f"t{number}", refused=False) for number in range(2)]
    assert only(scripts).content["prevention_strategies"] == []


def test_a_change_that_takes_an_approval_back_needs_none():
    """An attempt without force, or with force switched off, states no approval."""
    scripts = []
    for number in range(3):
        script = (
            Script(f"s{number}").user("Move the branch").call("move_branch", error="force is off limits", force=True)
        )
        scripts.append(script.call("move_branch", force=False).feedback("positive"))
    assert only(scripts).content["recovery_steps"] == [
        "Call move_branch again with force set to false (worked 3 of 3 times)"
    ]


def test_steps_before_another_attempt_do_not_replace_its_approval():
    """A change made on the way does not give the approval that the attempt states."""
    scripts = []
    for number in range(3):
        script = Script(f"s{number}").user("Refund the order please")
        script.call("orders_refund", error="refunds above 50 need approval from finance", amount=59)
        script.call("open_ticket", {"ticket_id": f"T{number}917"}, team="finance")
        script.call("orders_refund", amount=59, approved_by="finance", ticket_id=f"T{number}917")
        scripts.append(script.feedback("positive"))
    (step,) = only(scripts).content["recovery_steps"]
    assert step.startswith("Open the ticket with open_ticket, then get the approval that approved_by stands for")


def test_a_command_line_names_no_approver():
    """Who approved the last time is no part of the command."""
    scripts = []
    for number in range(3):
        script = Script(f"s{number}").user("Refund the order please")
        script.run(f"refund {number}", error="refunds above 50 need approval from finance").user("Priya: go ahead")
        scripts.append(script.run(f"refund {number} --approved-by 'Priya Rao'").feedback("positive"))
    (step,) = only(scripts).content["recovery_steps"]
    again = "run refund again as `refund <name> --approved-by '<approver>'`"
    assert step == f"Get approval from whoever may give it, then {again} (worked 3 of 3 times)"


def test_a_procedure_waits_for_approvals_and_lists_no_input_that_only_repairs():
    """An approval is a precondition of calls that state it from the start, and no input of calls that do without it."""
    always = drafts([refund(f"s{number}", refused=False, approved_by="priya") for number in range(3)], "task_schema")
    (procedure,) = always
    (step,) = procedure.content["steps"]
    assert step["description"] == "Call orders_refund, using amount"
    assert procedure.content["preconditions"] == [
        "Whoever may do so has given any approval that approved_by stands for"
    ]
    for added in ({"approved_by": "priya"}, {"reason": "damaged"}):
        scripts = [refund(f"s{number}", **added) for number in range(3)]
        (procedure,) = drafts([*scripts, *(refund(f"t{number}", refused=False) for number in range(2))], "task_schema")
        (step,) = procedure.content["steps"]
        assert step["description"].startswith("Call orders_refund, using amount; it has failed with")
        assert "approval that" not in str(procedure.content["preconditions"])


def test_a_known_change_that_ended_the_error_each_time_is_advised_whatever_failed_next():
    """The advice states how often another error followed."""
    scripts = []
    for number in range(3):
        script = Script(f"s{number}").user(f"Pay with voucher_{number}77")
        script.call("get_cards", {"cards": [f"card_{number}88"]}, user=f"u{number}")
        script.call("pay", error="vouchers are not accepted", with_id=f"voucher_{number}77")
        script.agent("It is not accepted").user("Take the card, then")
        script.call("pay", error="the card has expired" if number else None, with_id=f"card_{number}88")
        scripts.append(script.feedback("negative" if number else "positive"))
    playbook = next(draft for draft in drafts(scripts) if "vouchers" in draft.title)
    (step,) = playbook.content["recovery_steps"]
    assert "call pay again" in step
    assert step.endswith("(worked 1 of 3 times; twice another error followed)")


def test_a_lookup_that_failed_in_place_of_another_was_tried_in_vain():
    """The failed replacement counts even if a retry of the first lookup succeeded."""
    scripts = []
    for number in range(4):
        script = Script(f"s{number}").user("Who am I?").call("find_user_by_email", error="no such user", email="a@b.c")
        found = number > 0
        script.call("find_user_by_name", {"id": f"u{number}"}, error=None if found else "no such user", name="Ann")
        if not found:
            script.user("Sorry, it is d@b.c").call("find_user_by_email", {"id": "u0"}, email="d@b.c")
        scripts.append(script.call("get_orders", user=f"u{number}").feedback("positive"))
    steps = only(scripts).content["recovery_steps"]
    assert any("find_user_by_name instead" in step and step.endswith("(worked 3 of 4 times)") for step in steps)


def cancellation(name, *, cancelled, signal):
    """A user asks to cancel a booking; the agent looks it up, then cancels it or explains why not."""
    script = Script(name).user(f"Please cancel my booking B{name}77")
    script.call("get_booking", {"fare": "basic"}, booking_id=f"B{name}77")
    if cancelled:
        script.call("cancel_booking", booking_id=f"B{name}77")
    return script.agent("Done" if cancelled else "A basic fare cannot be cancelled").feedback(signal)


@pytest.mark.parametrize(("bad", "told"), [(8, True), (2, False)])
def test_a_change_that_is_usually_declined_is_a_policy(bad, told):
    """It becomes a policy only if the sessions that made the change went worse."""
    scripts = [cancellation(f"a{n}", cancelled=False, signal="positive") for n in range(10)]
    scripts += [cancellation(f"b{n}", cancelled=True, signal="positive") for n in range(6)]
    scripts += [cancellation(f"c{n}", cancelled=True, signal="negative") for n in range(bad)]
    policies = [draft for draft in drafts(scripts, "decision_policy") if draft.metadata["origin"] == "refusals"]
    assert [policy.content["recommendation"] for policy in policies] == told * [
        (
            "First check with get_booking whether it is possible; if not, change nothing and say why. Sessions that "
            "changed nothing went well 10 of 10 times, those that called cancel_booking about 40 % "
            "of more than 10 times."
        )
    ]
    assert [policy.title for policy in policies] == told * ["When asked to cancel the booking: usually change nothing"]


def test_what_was_called_before_the_failure_was_known_is_no_way_out():
    """Parallel calls are not reactions to each other's failures."""
    script = Script("s").user("Find the token")
    for number, line in enumerate(("rg token ./lib/tok", "npm install")):
        script.add("tool_call", {"tool_name": "exec", "arguments": {"command": line}, "call_id": f"c{number}"})
    failed = {"tool_name": "exec", "call_id": "c0", "result": "rg: ./lib/tok: No such file", "success": False}
    script.add("tool_result", failed)
    script.add("tool_result", {"tool_name": "exec", "call_id": "c1", "result": "added 9 packages", "success": True})
    script.run("rg token ./lib/tok").feedback("positive")
    assert not [step for playbook in drafts([script]) for step in playbook.content["recovery_steps"] if "npm" in step]


MIGRATE = "CommandError: Conflicting migrations detected; multiple leaf nodes in the migration graph"


def merged_migrations(name, *, objection="No merge migrations here. Undo that and renumber yours."):
    """A session that merges migrations, and renumbers them after the user's objection, if there is one."""
    script = Script(name).user("Add a weight to the product").run("python manage.py migrate", error=MIGRATE)
    script.run("python3 manage.py makemigrations --merge").run("python manage.py migrate").agent("I merged them.")
    if objection:
        script.user(objection).call("Edit", file_path=f"shop/migrations/{name}.py", old_string="7a", new_string="7b")
        script.run("python manage.py migrate")
    return script.user("Thanks!")


def test_a_repair_that_the_user_has_undone_is_warned_of():
    """It made the error go away, but nobody wants it: neither the playbook nor the procedure advises it."""
    scripts = [merged_migrations("s"), merged_migrations("t")]
    playbook = only(scripts)
    assert playbook.content["recovery_steps"][-1] == (
        "Do not run `python3 manage.py makemigrations --merge`: the user had it undone (2 times)"
    )
    assert playbook.useful
    (schema,) = drafts(scripts, "task_schema")
    assert not any("makemigrations" in step["description"] for step in schema.content["steps"])


def test_a_repair_that_the_user_accepts_is_advised_with_its_script():
    """An interpreter does not say what to try again; its script and subcommand do."""
    playbook = only([merged_migrations("s", objection=""), merged_migrations("t", objection="")])
    assert playbook.content["recovery_steps"] == [
        "Run `python3 manage.py makemigrations --merge`, then try python manage.py migrate again (worked 2 of 2 times)"
    ]


def test_a_turn_without_work_does_not_hide_what_was_undone():
    """A question between the work and the wish to undo it changes nothing."""
    script = merged_migrations("s", objection="").agent("You are welcome.").user("Hm, please roll that back.")
    assert all(step.undone for step in summarise(script.events).steps)


def test_a_command_keeps_its_relative_folder():
    """Without the folder the command would fail; an absolute one differs between machines."""

    def session(name):
        script = Script(name).user("Run the tests").run("cd /home/ann/shop && pytest -q", error="connection refused")
        return script.run("cd infra && docker compose up -d db").run("cd /home/ann/shop && pytest -q")

    assert only([session("s"), session("t")]).content["recovery_steps"] == [
        "Run `cd infra && docker compose up -d db`, then try pytest again (worked 2 of 2 times)"
    ]


def test_a_folder_that_only_some_sessions_change_to_is_left_out():
    """The line is what they share."""

    def session(name, folder):
        script = Script(name).user("Run the tests").run("npm test", error="Cannot find module 'x'")
        return script.run(f"{folder}npm ci --legacy-peer-deps").run("npm test")

    assert only([session("s", "cd web && "), session("t", "")]).content["recovery_steps"] == [
        "Run `npm ci --legacy-peer-deps`, then try npm test again (worked 2 of 2 times)"
    ]


def test_a_record_about_an_error_is_no_failure():
    """A ticket that was found is a success, whatever its title says."""
    ticket = {"ticket_id": 7, "title": "TypeError: cart is undefined"}
    script = Script("s").user("What is ticket 7 about?").call("get_ticket", ticket, ticket_id=7)
    assert not summarise(script.events).failures
    assert summarise(Script("s").user("Go").call("get_ticket", {"error": "Error: none"}).events).failures


def ticket(name, house, *, priority="high", **fields):
    """A session that opens a ticket for a house; the user names the house only."""
    script = Script(name).user(f"The heating at {house} is cold, open a ticket")
    ticket_id = {"ticket_id": f"T-{name}"}
    return script.call("create_ticket", ticket_id, house=house, priority=priority, **fields).feedback("positive")


def steps_of(scripts):
    """The steps of the only procedure of these sessions."""
    (schema,) = drafts(scripts, "task_schema")
    return [step["description"] for step in schema.content["steps"]]


def test_what_all_calls_set_to_the_same_word_is_part_of_the_procedure():
    """An agent would have to guess it: the user did not say it, and no lookup returned it."""
    scripts = [ticket("s", "Casa Blu", team="field crew"), ticket("t", "Torre Alta", team="field crew")]
    assert steps_of(scripts) == [
        'Create the ticket with create_ticket, using house (from the user), priority "high" and team "field crew"'
    ]


@pytest.mark.parametrize(
    "scripts",
    [
        pytest.param([ticket("s", "Casa Blu"), ticket("t", "Torre Alta", priority="low")], id="it varies"),
        pytest.param([ticket("s", "Casa Blu")], id="a single session"),
        pytest.param([ticket("s", "high"), ticket("t", "high")], id="the user said it"),
    ],
)
def test_other_values_are_no_part_of_the_procedure(scripts):
    """Only the name of the input is."""
    (step,) = steps_of(scripts)
    assert '"' not in step
    assert "priority" in step


def test_neither_secrets_nor_approvals_nor_texts_are_settings():
    """A value that is more than a word, or that nobody should repeat, stays out of the summary."""
    fields = {"password": "tulip", "note": "call the guest before noon", "approved_by": "ines", "zone": "north"}
    scripts = [ticket("s", "Casa Blu", **fields), ticket("t", "Torre Alta", **fields)]
    (summary, _) = (summarise(script.events) for script in scripts)
    assert dict(summary.steps[0].settings) == {"approved_by": "ines", "priority": "high", "zone": "north"}
    assert "ines" not in "".join(steps_of(scripts))


def test_what_users_choose_is_no_fixed_part_of_a_line():
    """Most deployments were to staging, but nobody who asks for production should be told so."""

    def deployment(name, environment):
        script = Script(name).user(f"Deploy the shop to {environment}.").run(f"./deploy.sh {environment} --wait")
        return script.feedback("positive")

    staging = [deployment(f"s{number}", "staging") for number in range(4)]
    assert steps_of(staging) == ["Run `./deploy.sh staging --wait`"]
    assert steps_of([*staging, deployment("t", "production")]) == ["Run `./deploy.sh <name> --wait`"]


def test_a_branch_on_both_sides_of_an_arrow_is_any_branch():
    """Git names it twice; the failure is the same on every branch."""

    def rejected(name, branch):
        script = Script(name).user("Push it").run("git push", error=f"! [rejected] {branch} -> {branch} (fetch first)")
        return script.run("git pull --rebase").run("git push")

    playbook = only([rejected("s", "main"), rejected("t", "shop-121")])
    assert playbook.content["recovery_steps"] == [
        "Run `git pull --rebase`, then try git push again (worked 2 of 2 times)"
    ]
