"""Behaviour counted from events: tools, decisions, errors and their recoveries."""

import pytest

from hmxgraph.fingerprint.behaviour import Behaviour, incidents, observed, session_behaviour, total


def events(*rows):
    """Events from (type, content) or (type, content, fields), one second apart."""
    made = []
    for number, (event_type, content, *fields) in enumerate(rows):
        row = {"event_id": f"e{number}", "event_type": event_type, "time_us": number * 1_000_000}
        made.append(observed(row | dict(*fields), content))
    return made


def call(tool):
    """A tool call."""
    return "tool_call", {"tool_name": tool, "call_id": "c"}


def done(tool, **fields):
    """A result that states success."""
    return "tool_result", {"tool_name": tool, "success": True}, fields


def failed(tool, **fields):
    """A result that states failure."""
    return "tool_result", {"tool_name": tool, "success": False}, fields


def test_tools_are_counted_by_calls_and_judged_by_results():
    """Frequency comes from calls, success from results that state it."""
    behaviour = session_behaviour(
        events(call("exec"), done("exec"), call("read"), failed("read"), ("tool_result", {"tool_name": "exec"}))
    )
    assert behaviour.tools == {"exec": 1, "read": 1}
    assert (behaviour.tool_calls, behaviour.tool_results, behaviour.tool_successes) == (2, 2, 1)


def test_result_and_error_of_one_call_are_one_incident():
    """A failed result and the error event about the same call count once, under the error's name."""
    recovered = incidents(
        events(
            call("exec"),
            failed("exec", correlation_id="e0"),
            ("error", {"error_type": "KubectlError"}, {"correlation_id": "e0"}),
            done("read"),
            done("exec"),
        )
    )
    assert [(incident.error_type, incident.tool, incident.recovery_us) for incident in recovered] == [
        ("KubectlError", "exec", 3_000_000)
    ]


def test_events_with_an_outcome_count_as_call_and_result():
    """Commands, edits, test runs, browser actions and API results count as the tool calls that they represent."""
    behaviour = session_behaviour(
        events(
            ("command_exec", {"command": "make", "exit_code": 2}, {"correlation_id": "request"}),
            ("error", {"error_type": "LinkError"}, {"correlation_id": "e0"}),
            ("file_edit", {"path": "a.c"}),
            ("test_run", {"passed": 3, "failed": 1}, {"correlation_id": "request"}),
            ("api_result", {"status_code": 200}),
            ("command_exec", {"command": "make", "exit_code": 0}),
        )
    )
    assert behaviour.tools == {"command_exec": 2, "file_edit": 1, "test_run": 1, "api_result": 1}
    assert (behaviour.tool_calls, behaviour.tool_results, behaviour.tool_successes) == (5, 4, 2)
    assert behaviour.error_types == {"LinkError": 1, "ToolFailure": 1}
    assert (behaviour.errors_recovered, behaviour.recovery_us) == (1, 5_000_000)


def test_an_error_without_tool_is_recovered_by_any_success():
    """An error without a tool is recovered by the next success of any tool, if there is one."""
    failures = incidents(events(("error", {"error_type": "Timeout"}), done("read"), ("error", {"error_type": "X"})))
    assert [incident.recovery_us for incident in failures] == [1_000_000, None]


def test_an_error_event_names_its_tool_by_its_source():
    """``tool:exec`` as the source of an error is the tool that failed."""
    failures = incidents(events(("error", {"error_type": "X"}, {"source": "tool:exec"}), done("read")))
    assert failures[0].recovery_us is None


@pytest.mark.parametrize(("target", "corrected"), [("e0", 1), ("e1", 1), ("e9", 0), (None, 1)])
def test_a_correction_applies_to_the_last_decision(target, corrected):
    """A correction of any event after a decision counts for that decision."""
    content = {"signal": "correction"} | ({"target_event_id": target} if target else {})
    behaviour = session_behaviour(
        events(("decision", {"confidence": 0.8}, {"tags": ["db"]}), call("exec"), ("feedback", content))
    )
    assert behaviour.decisions_corrected == corrected
    assert (behaviour.decisions, behaviour.decision_confidence_millionths) == (1, 800_000)
    assert behaviour.decision_domains == {"db": 1}


def test_contents_of_unexpected_structure_are_ignored():
    """Contents are not validated; a field of an unexpected type counts as absent."""
    behaviour = session_behaviour(
        events(
            ("tool_call", {"tool_name": 7}),
            ("tool_result", {"success": "yes"}),
            ("decision", {"confidence": True}),
            ("decision", {"confidence": 7}),
            ("feedback", {"signal": ["x"]}),
        )
    )
    assert behaviour.tools == {}
    assert (behaviour.tool_results, behaviour.decisions_rated, behaviour.decision_confidence_millionths) == (
        0,
        1,
        1_000_000,
    )


def test_sums_do_not_depend_on_order():
    """Sums of sessions do not depend on order; the sum of none is empty."""
    parts = [Behaviour(errors=1, error_types={"a": 1}), Behaviour(errors=2, error_types={"b": 2}), Behaviour()]
    assert total(parts) == total(parts[::-1])
    assert total([]) == Behaviour()


def test_many_errors_in_one_session_stay_fast():
    """100,000 events with 50,000 failures are read in a moment."""
    long = events(*[failed("exec") if number % 2 else call("exec") for number in range(100_000)])
    assert session_behaviour(long).errors == 50_000
