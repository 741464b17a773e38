"""Session summaries: outcomes, calls and their results, failures, decisions, origins of values, bounds."""

import random
from dataclasses import replace

import pytest

from hmxgraph.compiler._origins import ValueOrigins
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.sessions import SessionReader, summarise
from hmxgraph.compiler.summary import SessionSummary
from tests.session_makers import Script, deployment, event, order_session, repaired_deployment


def test_order_of_arrival_does_not_matter():
    """The summary does not depend on the order in which events arrive."""
    events = repaired_deployment("s1")
    mixed = events[:]
    random.Random(7).shuffle(mixed)
    assert summarise(mixed) == summarise(events)


def test_summary_survives_its_document():
    """A stored summary is read back unchanged."""
    for events in (deployment("s1"), repaired_deployment("s2"), order_session("s3", "cancel")):
        summary = summarise(events)
        assert SessionSummary.parse(summary.to_json()) == summary


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (Script("s").user("Hi").feedback("positive"), "success"),
        (Script("s").user("Hi").feedback("negative"), "failure"),
        (Script("s").user("Hi").feedback("positive").feedback("correction"), "failure"),
        (Script("s").run("ls"), "success"),
        (Script("s").run("ls", error="gone"), "failure"),
        (Script("s").run("ls", error="gone").run("pwd"), "success"),
        (Script("s").run("ls").add("error", {"error_type": "E", "message": "x", "recoverable": False}), "failure"),
        (Script("s").add("test_run", {"failed": 1}).run("ls"), "failure"),
        (Script("s").add("test_run", {"failed": 1}).add("test_run", {"failed": 0}), "success"),
        (Script("s").add("test_run", {"command": "go test ./...", "failed": 1}).run("ls"), "failure"),
        (Script("s").add("state_change", {"entity": "web", "to": "crashed"}).run("ls"), "success"),
        (Script("s").user("Hi").add("state_change", {"entity": "web", "to": "crashed"}), "failure"),
        (Script("s").run("ls").add("state_change", {"from": "running", "to": "failed"}), "failure"),
        (Script("s").run("ls", error="x").add("state_change", {"status": "resolved"}), "success"),
        (Script("s").user("Hi").agent("Hello"), "unknown"),
        (Script("s").add("error", {"error_type": "E", "message": "x"}), "failure"),
    ],
)
def test_outcome(script, outcome):
    """Feedback decides first, then stated outcomes, then the work itself; else the outcome is unknown."""
    assert summarise(script.events).outcome == outcome


def test_feedback_on_a_decision_judges_the_decision_only():
    """A correction of one decision does not make the session a failure."""
    script = Script("s").add("decision", {"question": "Which way?", "chosen_option": "left", "alternatives": ["right"]})
    summary = summarise(script.run("ls").feedback("correction", target="s/0").events)
    assert (summary.decisions[0].verdict, summary.outcome) == (False, "success")


def test_results_find_their_calls():
    """Results belong to calls by call id in any order, else to the previous call."""
    script = Script("s")
    for name, call_id in (("a", "c1"), ("b", "c2")):
        script.add("tool_call", {"tool_name": name, "arguments": {}, "call_id": call_id})
    script.add("tool_result", {"tool_name": "b", "call_id": "c2", "result": {}, "success": False})
    script.add("tool_result", {"tool_name": "a", "call_id": "c1", "result": {}, "success": True})
    script.add("tool_call", {"tool_name": "c", "arguments": {}})
    script.add("tool_result", {"tool_name": "c", "result": {}, "success": True})
    assert [(step.action, step.ok) for step in summarise(script.events).steps] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]


def test_failed_result_and_its_error_are_one_failure():
    """The error event replaces the failed result that it describes."""
    summary = summarise(repaired_deployment("s1"))
    assert [(failure.signature, failure.step) for failure in summary.failures] == [("namespace staging not found", 0)]


def call_of(session, sequence, tool, agent):
    """A call without a result."""
    return event(session, sequence, "tool_call", {"tool_name": tool, "arguments": {}}, agent=agent)


@pytest.mark.parametrize("source", ["tool:gzip", None])
def test_an_error_befalls_the_call_it_comes_from(source):
    """Without a correlation, an error belongs to the tool that it names, else to its agent's pending call."""
    events = [call_of("s", 0, "gzip", "a1"), call_of("s", 1, "uploader", "a2")]
    error = {"error_type": "DiskFull", "message": "no space left"}
    summary = summarise([*events, event("s", 2, "error", error, agent="a1", source=source)])
    assert summary.failures[0].step == 0


def test_an_uncorrelated_error_belongs_to_the_call_that_just_failed():
    """It is not a second failure, even if an older call has no result."""
    events = [call_of("s", 0, "gzip", "a1"), call_of("s", 1, "uploader", "a1")]
    events.append(event("s", 2, "tool_result", {"tool_name": "uploader", "result": {}, "success": False}, agent="a1"))
    summary = summarise([*events, event("s", 3, "error", {"error_type": "E", "message": "no route"}, agent="a1")])
    assert [(failure.message, failure.step) for failure in summary.failures] == [("no route", 1)]


def test_an_error_passes_over_what_ended_without_complaint():
    """An edit without an outcome is not blamed for an error after a later command."""
    script = Script("s").add("file_edit", {"path": "values.yaml"})
    script.add("command_exec", {"command": "helm upgrade web", "exit_code": 0})
    summary = summarise(script.add("error", {"error_type": "E", "message": "no progress"}).events)
    assert [failure.step for failure in summary.failures] == [1]


def test_of_a_command_run_twice_in_one_line_neither_is_blamed():
    """The output names both, so only the last command of the line counts as failed."""
    script = Script("s").user("Build it").call("bash", error="make: *** no rule", command="make && git add . && make")
    steps = summarise(script.events).steps
    assert [(step.action, step.ok) for step in steps] == [("make", None), ("git add", None), ("make", False)]


def test_an_error_of_nothing_known_befalls_the_last_call():
    """If neither tool nor agent identifies a call, the error belongs to the last one."""
    events = [call_of("s", 0, "gzip", "a1"), call_of("s", 1, "uploader", "a2")]
    error = event("s", 2, "error", {"error_type": "E", "message": "x"}, agent="a3", source="tool:tar")
    assert summarise([*events, error]).failures[0].step == 1


def test_inputs_have_the_origin_of_their_values():
    """A value in a result comes from that action; a value in a user message comes from the user."""
    steps = summarise(order_session("s1", "cancel")).steps
    assert [step.inputs for step in steps] == [
        (("email", "user"),),
        (("user_id", "find_user_by_email"),),
        (("order_id", "get_order_details"),),
    ]


def test_a_value_has_an_origin_only_if_most_of_it_has():
    """A result with only a part of an argument is not its source; words in a user message come from the user."""
    script = Script("s").user("Please upgrade me to business")
    script.call("get_booking", {"cabin": "business", "flight": "HAT001"}, number="B77")
    script.call("update", {}, cabin="business", flights=["HAT001", "HAT002"], flight="HAT001")
    *_, step = summarise(script.events).steps
    assert dict(step.inputs) == {"cabin": "user", "flights": "", "flight": "get_booking"}


def test_a_value_that_several_actions_returned_has_no_only_origin():
    """A value returned by several actions has no single source, even if the first and latest are the same."""
    origins = ValueOrigins(most_values=10, most_messages=10)
    for action, value in (("find", "A-77"), ("list", "A-77"), ("find", "A-77"), ("find", "B-88"), ("find", "B-88")):
        origins.add_result(action, {"id": value})
    assert tuple(map(origins.only_source, ("A-77", "B-88", "C-99"))) == ("", "find", "")


def test_arguments_in_one_text_are_read():
    """Arguments stored as one text are parsed into names and values."""
    script = Script("s").user("Cancel order W1234")
    script.call("cancel_order", {}, raw="{'order_id': 'W1234', 'reason': None}")
    (step,) = summarise(script.events).steps
    assert step.inputs == (("order_id", "user"), ("reason", ""))


def test_request_is_the_first_informative_message():
    """A greeting is not a request; ids and secrets are masked."""
    script = Script("s").user("Hi there!").agent("Hello").user("Refund order #W1234567 to ann@example.com")
    assert summarise(script.events).request == "Refund order <id> to [email]"


def test_situation_describes_what_came_before():
    """Each step records who spoke last, with which words, and the failure before it."""
    script = (
        Script("s").user("Cancel the order").agent("Cancelling").call("find", error="user not found").call("search")
    )
    first, second = summarise(script.events).steps
    assert (first.situation.since, first.situation.heard, first.situation.said) == ("both", "cancel order", "cancel")
    assert (second.situation.since, second.situation.failure) == ("result", "user not found")


def test_long_session_is_bounded():
    """A session of any length has a summary of bounded size that counts what it left out."""
    profile = replace(CompilerProfile(), max_steps=10, max_failures=5)
    reader = SessionReader(profile)
    sizes = []
    for number in range(3_000):
        call = {"tool_name": f"get_{number % 3}", "arguments": {"id": f"X{number}"}, "call_id": str(number)}
        reader.add(event("s", 2 * number, "tool_call", call))
        result = {"tool_name": f"get_{number % 3}", "call_id": str(number), "result": {"value": number}}
        reader.add(event("s", 2 * number + 1, "tool_result", result | {"success": number % 2 == 0}))
        if number in {999, 2_999}:
            sizes.append(len(reader.summary().to_json()))
    summary = reader.summary()
    assert (len(summary.steps), summary.skipped_steps, len(summary.failures)) == (10, 2_990, 5)
    assert sizes[1] < 1.2 * sizes[0]


def test_nothing_and_one_event():
    """Sessions with no event or one event have summaries, too."""
    assert summarise([]).event_count == 0
    assert summarise(Script("s").user("Hello").events).steps == ()


def test_a_subcommand_is_no_id():
    """The program of a command line is kept; ids in the line are masked."""
    line = "openssl x509 -in web-7d9f8b6c5.pem -noout"
    [step] = summarise(Script("s").run(line).events).steps
    assert (step.action, step.command) == ("openssl x509", "openssl x509 -in <id>.pem -noout")


def both_ends(events, end):
    """The summary of a long session of which only the first and last *end* events are read."""
    reader = SessionReader(CompilerProfile(max_steps=6))
    for each in events[:end]:
        reader.add(each)
    reader.pass_over()
    for each in events[-end:]:
        reader.add(each)
    return reader.summary()


def test_the_ends_of_a_session_hold_its_summary():
    """A summary of both ends equals the full one, if the ends contain all the steps that it keeps."""
    script = Script("s").user("Deploy the web shop").run("ls").run("pwd")
    for number in range(20):
        script.run(f"make part{number}", error="no rule" if number % 3 else None)
    events = script.run("git push", error="rejected").events
    whole, ends = summarise(events, CompilerProfile(max_steps=6)), both_ends(events, 12)
    for name in ("request", "steps", "outcome", "outcome_reason", "ahead"):
        assert getattr(ends, name) == getattr(whole, name), name
    assert (ends.skipped_steps > 0, ends.event_count) == (True, 24)
    assert [ends.steps[failure.step].event_id for failure in ends.failures if failure.step >= 0][-1] == (
        events[-3].event_id
    )


def test_what_was_open_before_a_gap_stays_open():
    """A result after a gap belongs to no call before it, and a failure before the gap is no longer open."""
    script = Script("s").user("Deploy").run("make", error="no rule")
    script.add("tool_call", {"tool_name": "deploy", "call_id": "c1", "arguments": {}})
    before = len(script.events)
    script.add("tool_result", {"call_id": "other", "result": {"value": "done"}, "success": True}).user("And now?")
    reader = SessionReader()
    for each in script.events[:before]:
        reader.add(each)
    assert reader.summary().ahead.pending
    reader.pass_over()
    for each in script.events[before:]:
        reader.add(each)
    summary = reader.summary()
    assert (summary.steps[-1].action, summary.steps[-1].ok) == ("deploy", None)
    assert (summary.ahead.pending, summary.ahead.failure, summary.ahead.since) == (False, "", "user")


def test_a_failure_keeps_its_step_beyond_a_gap():
    """A failure names the step that failed even around a gap, or no step if that one is not kept."""
    script = Script("s").user("Deploy")
    for number in range(12):
        script.run(f"part{number}", error="gone")
    steps = {each.event_id: script.events[place - 2].event_id for place, each in enumerate(script.events)}
    for end in range(4, 18, 3):
        summary = both_ends(script.events, end)
        kept = [failure for failure in summary.failures if failure.step >= 0]
        assert kept
        for failure in kept:
            assert summary.steps[failure.step].event_id == steps[failure.event_id]


@pytest.mark.parametrize(
    ("items", "origin"),
    [
        (["W1001", "W2001"], "list_items"),
        ("['W1001', 'W2001']", "list_items"),
        (["W1001", "W2001", "W9001"], "list_items"),
        (["W1001", "W8001", "W9001"], ""),
        (["W1001", "V1001"], ""),
    ],
)
def test_a_list_comes_from_where_most_of_its_parts_come_from(items, origin):
    """The origin of a list is that of most of its parts, also for a list given as text."""
    script = Script("s").user("Return them").call("list_items", {"items": ["W1001", "W2001"]})
    script.call("list_variants", {"items": ["V1001"]}).call("return_items", items=items)
    assert dict(summarise(script.events).steps[-1].inputs) == {"items": origin}


def result_without_flag(script, tool, value, **arguments):
    """A call whose result states its outcome in words only; the reader states failures."""
    call_id = f"c{len(script.events)}"
    script.add("tool_call", {"tool_name": tool, "arguments": arguments, "call_id": call_id})
    failed = {"success": False} if str(value).startswith("Error") else {}
    return script.add("tool_result", {"tool_name": tool, "call_id": call_id, "result": value} | failed)


def test_a_tool_that_states_only_its_failures_succeeds_in_silence():
    """The retry worked; for a tool that never failed or also states success, silence means nothing."""
    script = Script("s1").user("Where is my parcel?")
    result_without_flag(script, "track", "Error: 77 is unknown to DHL", carrier="DHL")
    result_without_flag(script, "find_carrier", {"carrier": "Hermes"}, number="77")
    result_without_flag(script, "track", {"status": "in depot"}, carrier="Hermes")
    summary = summarise(script.events)
    assert [step.ok for step in summary.steps] == [False, None, True]
    assert summary.succeeded
    script = Script("s2").call("track", carrier="DHL").call("track", error="unknown", carrier="UPS")
    result_without_flag(script, "track", {"status": "?"}, carrier="Hermes")
    assert [step.ok for step in summarise(script.events).steps] == [True, False, None]


@pytest.mark.parametrize(
    ("tool", "result", "ok"),
    [
        ("get_order", "Error: order W1 not found", False),
        ("get_order", 'order = "Error: order W1 not found"', False),
        ("get_order", {"content": [{"type": "text", "text": "Error executing tool get_order: no such order"}]}, False),
        ("get_order", "An error occurred while running the tool. Please try again. Error: no such order", False),
        ("get_order", "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'W1'", False),
        ("search", "Error handling in Rust: a guide", True),
        ("search", "Errors: 0", True),
        ("get_order", {"status": "pending", "note": "Error: none"}, True),
    ],
)
def test_a_result_that_opens_with_an_error_is_a_failure_whatever_it_claims(tool, result, ok):
    """Frameworks pass errors to the model as results."""
    script = Script("s").user("Where is my order?")
    script.add("tool_call", {"tool_name": tool, "arguments": {"order": "W1"}, "call_id": "c"})
    script.add("tool_result", {"tool_name": tool, "call_id": "c", "result": result, "success": True})
    summary = summarise(script.events)
    assert summary.steps[0].ok is ok
    assert bool(summary.failures) is not ok


def test_an_error_in_a_file_or_printed_by_a_command_that_went_well_is_no_failure():
    """What was read may be a log."""
    script = Script("s").user("Read the log")
    for tool, arguments in (("read_file", {"path": "app.log"}), ("exec", {"command": "cat app.log"})):
        script.call(tool, {"value": "Error: disk full"}, **arguments)
    assert [step.ok for step in summarise(script.events).steps] == [True, True]


def test_the_fields_of_a_thing_are_heard_before_those_of_its_parts():
    """An order with many items still has its status as a statement."""
    options = {f"option {number}": f"value {number}" for number in range(20)}
    script = Script("s").user("Where is my order?")
    script.call("get_order", {"items": [{"options": options}], "status": "pending"}, order="W1")
    assert summarise(script.events).steps[0].statements[0] == "status: pending"


def test_objects_come_from_what_returned_one_of_their_values():
    """Flights come from the search that returned their numbers, although it did not return their dates."""
    script = Script("s").user("I want to fly on the twentieth")
    script.call("search_flights", {"found": [{"flight": "HAT001"}, {"flight": "HAT002"}]})
    script.call("book", {}, flights=[{"flight": "HAT001", "date": "2024-05-20"}], seats=[{"row": "14A"}])
    *_, step = summarise(script.events).steps
    assert dict(step.inputs) == {"flights": "search_flights", "seats": ""}
