"""Next tools and steps for a running session, with the artifacts that support them."""

from dataclasses import replace

import pytest

from hmxgraph.compiler.compilation import Model, compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.reconcile import BuildContext, reconcile
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.suggest import Guide, predicted_actions, suggest
from tests.session_makers import START, Script, deployment, order_session, repaired_deployment


@pytest.fixture(scope="module")
def learned():
    """A model and guides from deployments, repaired ones, and two kinds of orders."""
    sessions = [deployment(f"d{n}") for n in range(4)] + [repaired_deployment(f"r{n}") for n in range(3)]
    sessions += [order_session(f"{change}{n}", change) for change in ("cancel", "return") for n in range(4)]
    compiled = compile_summaries(summarise(events) for events in sessions)
    changes = reconcile([], compiled.drafts, BuildContext("acme", DEFAULT_PROFILE, START))
    guides = [
        Guide(a.artifact_id, a.artifact_type, a.title, a.content, a.metadata, a.confidence, a.observed_count)
        for a in (change.artifact for change in changes)
    ]
    return Model.parse(Model.of(compiled).to_json()), guides


def suggested(learned, script):
    """The suggestion for a script."""
    return suggest(summarise(script.events), *learned)


def test_request_alone_gives_the_procedure(learned):
    """The first message finds the task schema, with all of its steps remaining."""
    suggestion = suggested(learned, Script("n").user("I want to return my order"))
    assert [step.tools[0] for step in suggestion.steps] == ["find_user_by_email", "get_order_details", "return_order"]
    assert (suggestion.current_step, suggestion.total_steps) == (0, 3)
    assert (suggestion.tools[0].tool, suggestion.artifact_id in suggestion.tools[0].artifact_ids) == (
        "find_user_by_email",
        True,
    )


def test_a_routine_is_no_procedure_for_the_request(learned):
    """A routine is not suggested for a request, however often it was observed."""
    model, guides = learned
    (schema,) = (guide for guide in guides if guide.title == "Return the order")
    running = summarise(Script("n").user("I want to return my order").events)
    routine = replace(schema, artifact_id="r", metadata={**schema.metadata, "origin": "routine"}, observed_count=999)
    assert suggest(running, model, [*guides, routine]).artifact_id == schema.artifact_id
    assert suggest(running, model, [routine]).artifact_id is None


def test_a_change_that_the_request_names_is_expected():
    """It is expected even in new words; a word that is not the verb of a change names none."""

    def session(name, request, *tools):
        script = Script(name).user(request)
        for tool in tools:
            script.call(tool, {"id": "F1"}, id="F1")
        return script.feedback("positive").events

    asked = [("get_flight_status",), ("get_flight_status",), ("get_flight_status", "upgrade_flight")]
    sessions = [session(f"q{n}", f"Is my flight to Rome on time, gate {n}?", *asked[n % 3]) for n in range(12)]
    sessions += [session(f"b{n}", "I need a seat to Rome", "find_flights", "book_flight") for n in range(3)]
    compiled = compile_summaries(summarise(events) for events in sessions)
    made = reconcile([], compiled.drafts, BuildContext("acme", DEFAULT_PROFILE, START))
    artifacts = [change.artifact for change in made]
    guides = [Guide(a.artifact_id, a.artifact_type, a.title, a.content, a.metadata, a.confidence) for a in artifacts]
    model = Model.of(compiled)
    assert suggested((model, guides), Script("n").user("Book a flight for my friend")).title == "Book the flight"
    assert suggested((model, guides), Script("n").user("Is the flight I booked late?")).title != "Book the flight"
    assert "upgrade_flight" in predicted_actions("Is the flight I booked late?", (), model)
    assert "upgrade_flight" not in predicted_actions("Book a flight for my friend", (), model)


def test_a_named_change_is_likelier_than_the_past_says():
    """Laptops were usually cancelled; "exchanging" asks for an exchange, "an exchange" may not."""

    def session(name, request, tool):
        return Script(name).user(request).call(tool, {"id": "W1"}, id="W1").feedback("positive").events

    sessions = [session(f"c{n}", f"My laptop number {n} should go, please cancel it", "cancel_order") for n in range(9)]
    sessions += [session(f"e{n}", f"I would exchange jacket number {n}", "exchange_order") for n in range(9)]
    model = Model.of(compile_summaries(summarise(events) for events in sessions))

    def likelier(request):
        chances = predicted_actions(request, (), model)
        return chances["exchange_order"] / chances["cancel_order"]

    noun = likelier("Can you help, exchanging is fine, about my laptop and the jacket?")
    assert likelier("Can you help with exchanging my laptop and the jacket?") > 1.5 * noun


def test_steps_taken_are_behind(learned):
    """Suggestions continue after the last step that the session has reached."""
    script = Script("n").user("Please cancel my order").call("find_user_by_email", email="ann@example.com")
    suggestion = suggested(learned, script)
    assert (suggestion.current_step, suggestion.tools[0].tool) == (1, "get_order_details")


def test_failure_brings_its_playbook(learned):
    """After a failure the recovery comes first, supported by the playbook."""
    script = Script("n").user("Deploy the staging environment")
    suggestion = suggested(learned, script.run("kubectl apply -f staging.yaml", error="namespace staging not found"))
    assert suggestion.tools[0].tool == "kubectl create"
    assert (
        suggestion.recovery[0]
        == "Run `kubectl create namespace staging`, then try kubectl apply again (worked 3 of 3 times)"
    )
    assert suggestion.tools[0].artifact_ids


def test_confidences_are_chances(learned):
    """Confidences decrease and sum to at most one."""
    chances = [tool.confidence for tool in suggested(learned, Script("n").user("Deploy the staging environment")).tools]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) <= 1.001


@pytest.mark.parametrize(
    "request_text", ["Write a poem about cats", "Could you please help me with a poem?", "詩を書く"]
)
def test_a_request_unlike_any_other_gets_no_suggestion(learned, request_text):
    """A request that shares no informative word with earlier ones gets no procedure and no tool."""
    suggestion = suggested(learned, Script("n").user(request_text))
    assert (suggestion.artifact_id, suggestion.steps, suggestion.tools, suggestion.confidence) == (None, (), (), 0.0)


def test_what_was_done_leads_where_words_do_not(learned):
    """An unknown request is guided by the known actions already taken."""
    script = Script("n").user("Write a poem about cats").call("find_user_by_email", email="ann@example.com")
    suggestion = suggested(learned, script)
    assert {tool for step in suggestion.steps for tool in step.tools} <= {
        "get_order_details",
        "cancel_order",
        "return_order",
    }
    assert suggestion.steps


def test_unknown_words_and_unknown_actions_get_no_suggestion(learned):
    """An action that no session took supports no procedure."""
    suggestion = suggested(learned, Script("n").user("Write a poem about cats").call("find_rhymes", word="cat"))
    assert (suggestion.artifact_id, suggestion.steps) == (None, ())


def test_a_procedure_of_other_words_does_not_lead(learned):
    """The procedure whose words the request uses is chosen, however usual another one is."""
    suggestion = suggested(learned, Script("n").user("an order"))
    assert {tool for step in suggestion.steps for tool in step.tools}.isdisjoint(
        {"kubectl apply", "kubectl rollout status"}
    )


def test_a_request_for_another_change_gets_its_own_steps(learned):
    """Without a procedure for the expected change, the steps come from similar requests."""
    model, guides = learned
    others = [guide for guide in guides if "Return" not in guide.title]
    suggestion = suggested((model, others), Script("n").user("I want to return my order"))
    assert (suggestion.artifact_id, suggestion.title) == (None, None)
    assert [step.tools for step in suggestion.steps] == [
        ("find_user_by_email",),
        ("get_order_details",),
        ("return_order",),
    ]
    assert {step.artifact_id for step in suggestion.steps} == {None}


@pytest.mark.parametrize(
    ("calls", "current"),
    [
        (["get_order_details"], 1),
        (["get_order_details", "get_order_details"], 1),
        (["find_user_by_email", "get_order_details"], 1),
        (["get_order_details", "return_order"], 2),
        (["get_order_details", "return_order", "get_order_details"], 4),
        (["get_order_details", "return_order", "get_order_details", "return_order"], 2),
    ],
)
def test_a_check_after_the_change_is_another_call(learned, calls, current):
    """A repeated lookup counts only if it was called again after the change; a step without tools is skipped."""
    model, guides = learned
    (schema,) = (guide for guide in guides if guide.title == "Return the order")
    tools = [["get_order_details"], ["return_order"], [], ["get_order_details"]]
    steps = [{"order": order, "description": "Do", "tools_used": names} for order, names in enumerate(tools, 1)]
    script = Script("n").user("I want to return my order")
    for name in calls:
        script = script.call(name, order_id="W1")
    suggestion = suggest(summarise(script.events), model, [replace(schema, content={"steps": steps})])
    assert (suggestion.artifact_id, suggestion.current_step) == (schema.artifact_id, current)


def test_steps_done_are_not_suggested_again(learned):
    """General-purpose programs are not suggested as steps without a procedure."""
    model, _ = learned
    begun = Script("n").user("I want to return my order").call("find_user_by_email", email="ann@example.com")
    assert [step.tools[0] for step in suggested((model, []), begun).steps] == ["get_order_details", "return_order"]
    assert suggested((model, []), Script("n").user("Deploy the staging environment")).steps == ()


def test_nothing_learned_suggests_nothing():
    """Without a model and artifacts the suggestion is empty, without an error."""
    assert suggest(summarise(Script("n").user("Hello").events), Model(), []).document()["tools"] == []


@pytest.mark.parametrize(
    ("content", "metadata"),
    [
        ({"steps": [{"order": 1, "description": "Write it"}], "tools_used": ["write_poem"]}, {}),
        ({"steps": [{"order": "first", "tools_used": "write_poem"}, "then rest", {"order": 1}]}, {}),
        ({"steps": "Write it", "tools_used": ["write_poem", 7]}, {"goal_actions": 7}),
        ({"steps": None, "tools_used": 7}, {"goal_actions": "write_poem", "tools": 7}),
    ],
)
@pytest.mark.parametrize("artifact_type", ["task_schema", "failure_playbook", "decision_policy"])
def test_what_others_wrote_may_be_spelled_otherwise(learned, artifact_type, content, metadata):
    """An artifact with missing fields or fields of another type is legal (HMX-A 4) and causes no error."""
    model, guides = learned
    failed = Script("n").user("Deploy the staging environment")
    failed = failed.run("kubectl apply -f staging.yaml", error="namespace staging not found")
    key = next(guide.metadata["failure_key"] for guide in guides if guide.artifact_type == "failure_playbook")
    told_by_hand = {"failure_key": key, "recoveries": [{"tool": 7}, "x"], "tools": {"poem": 1}, **metadata}
    odd = Guide("odd", artifact_type, "Poems", {"recovery_steps": "rest", **content}, told_by_hand, 0.9, 99)
    assert suggest(summarise(failed.events), model, [*guides, odd]).tools
    assert suggest(summarise(Script("n").call("write_poem", about="cats").events), model, [*guides, odd]) is not None


def decided(session, choice):
    """A decision between two tools, and the chosen one."""
    decision = {"question": "How to mitigate?", "chosen_option": choice, "alternatives": ["restart", "rollback"]}
    return Script(session).user("The pods crash").call("get_pods").add("decision", decision)


def test_what_was_decided_comes_next():
    """A decision shows the next action."""
    deeds = {"restart": "restart_app", "rollback": "undo_rollout"}
    sessions = [
        decided(f"{choice}{n}", choice).call(deed).feedback("positive").events
        for choice, deed in deeds.items()
        for n in range(6)
    ]
    model = Model.of(compile_summaries(summarise(events) for events in sessions))
    for choice, deed in deeds.items():
        assert suggest(summarise(decided("now", choice).events), model, []).tools[0].tool == deed


def test_what_was_announced_alike_before_comes_again():
    """In one position, each of two announcements leads to the action that followed it earlier in the session."""
    others = [Script(f"o{n}").user("Make the site faster").call("read", {}).call("press", {}) for n in range(3)]
    model = Model.of(compile_summaries(summarise(other.feedback("positive").events) for other in others))
    ways = {"probe": "Now I measure page {} in the browser", "press": "Next comes the picture of page {}"}

    def likeliest(announced):
        script = Script("n").user("Make the site faster")
        for number, tool in enumerate(("probe", "press", "press", "probe", "press", "probe", "probe", "press")):
            script.agent(ways[tool].format(number)).call(tool, {})
        asked = summarise(script.agent(ways[announced].format("x")).events)
        return suggest(asked, model, ()).tools[0].tool

    assert [likeliest(announced) for announced in ways] == [*ways]


def test_what_followed_the_last_three_actions_comes_again():
    """A run of three actions distinguishes two routines of a session; a run of two does not."""
    others = [Script(f"o{n}").user("Tidy the shelves").call("lift").call("wipe") for n in range(3)]
    model = Model.of(compile_summaries(summarise(other.feedback("positive").events) for other in others))
    ways = {"red": "paint", "blue": "sand"}

    def likeliest(colour):
        script = Script("n").user("Tidy the shelves")
        for first in ("red", "blue", "red", "blue", "red", "blue", "blue"):
            script.call(first).call("lift").call("wipe").call(ways[first])
        return suggest(summarise(script.call(colour).call("lift").call("wipe").events), model, ()).tools[0].tool

    assert [likeliest(colour) for colour in ways] == [*ways.values()]


def test_after_a_failure_it_matters_who_spoke_last():
    """Two agents' habits cross: at a failure, the user's answer leads to the tool that otherwise follows a result."""

    def paid(name, *, failed, answered):
        script = Script(name).user("Pay the bill").call("pay", error="card declined" if failed else None, bill=1)
        return script.agent("Shall I go on?").user("Yes, please") if answered else script

    cases = [(failed, answered) for failed in (False, True) for answered in (False, True)]
    sessions = [
        paid(f"{failed}-{answered}-{n}", failed=failed, answered=answered)
        .call("ship" if failed == answered else "get_bill")
        .feedback("positive")
        .events
        for failed, answered in cases
        for n in range(6)
    ]
    model = Model.of(compile_summaries(summarise(events) for events in sessions))
    for failed, answered in cases:
        running = summarise(paid("now", failed=failed, answered=answered).events)
        assert suggest(running, model, []).tools[0].tool == ("ship" if failed == answered else "get_bill")
