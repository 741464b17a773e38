"""The outcome that an event reports."""

import pytest

from hmxgraph.protocol.events import went_well

WORK = ("command_exec", "file_edit", "test_run", "browser_action", "api_result")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"success": True, "result": {"exit_code": 1}}, True),
        ({"success": False, "result": {}}, False),
        ({"success": "yes", "result": "done"}, None),
        ({"result": {"exit_code": 2}}, False),
        ({"result": {"isError": True, "content": [{"type": "text", "text": "no such file"}]}}, False),
        ({"result": {"isError": False, "content": []}}, True),
        ({"result": "no such file", "is_error": True}, False),
        ({"result": {"error": "no"}}, False),
        ({"result": {"rows": []}, "error": "connection lost"}, False),
        ({"result": {"status_code": 404}}, False),
        ({"result": {"value": 1}}, None),
        ({"result": "the build failed"}, None),
        ({"result": "no such user", "status": "error"}, False),
        ({"result": {"order": 7, "status": "failed"}}, None),
        ({"status": "completed", "result": {"status_code": 500}}, False),
        ({"status": "completed", "result": {"status_code": 200}}, True),
    ],
)
def test_a_result_says_how_it_went(content, expected):
    """Success is what the result states, else what tools report instead of it, else unknown; text is not considered."""
    assert went_well("tool_result", content) is expected


@pytest.mark.parametrize("event_type", WORK)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"success": False}, False),
        ({"exit_code": 0}, True),
        ({"exit_status": 1}, False),
        ({"returncode": 127}, False),
        ({"status_code": 503}, False),
        ({"status": 200}, True),
        ({"error": "timeout"}, False),
        ({"exitCode": 1}, False),
        ({"statusCode": 404}, False),
        ({"response": {"status": 422, "body": {}}}, False),
        ({"result": {"success": False, "error": "no such element"}}, False),
        ({"result": {"rows": []}}, None),
        ({"timed_out": True, "exit_code": None}, False),
        ({"timed_out": False, "exit_code": 1}, False),
        ({"status": "failed"}, False),
        ({"status": "Timed out"}, False),
        ({"status": "ok"}, True),
        ({"status": "running"}, None),
        ({"status": "ok", "error": "timeout"}, False),
        ({"status": "completed", "result": {"exit_code": 1}}, False),
        ({"status": "completed", "result": {"exit_code": 0}}, True),
        ({"status": "Finished", "response": {"status_code": 503}}, False),
        ({"status": "completed", "result": {"rows": []}}, None),
        ({"status": "completed"}, None),
        ({"status": "cancelled", "response": {"status_code": 200}}, None),
        ({"output": "error: all good"}, None),
    ],
)
def test_outcomes_of_events_that_carry_their_own(event_type, content, expected):
    """A command, an edit, a test run, a browser action, an API result: by codes, states and errors."""
    assert went_well(event_type, content) is expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"passed": 12, "failed": 0}, True),
        ({"passed": 12, "failed": 1}, False),
        ({"failures": 2}, False),
        ({"passed": False}, False),
        ({"status": "Passed"}, True),
        ({"status": "timed out"}, False),
        ({"status": "skipped"}, None),
        ({"passed": 4, "failures": [{"test": "test_a"}]}, False),
        ({"passed": 4, "failures": []}, True),
        ({"passed": 0, "failed": 0, "errors": 1}, False),
        ({"passed": 0, "failed": 0, "exit_code": 2}, False),
    ],
)
def test_a_test_run_says_how_it_went(content, expected):
    """The outcome of a test run follows from counts of failed tests, a verdict or a state."""
    assert went_well("test_run", content) is expected


@pytest.mark.parametrize("event_type", ["message", "tool_call", "decision", "observation", "feedback", "x-acme-note"])
def test_what_is_no_end_of_work_went_neither_way(event_type):
    """Events that report no action have no outcome, whatever their fields."""
    assert went_well(event_type, {"success": False, "exit_code": 1, "error": "no"}) is None


def test_an_error_is_a_failure():
    """An error is a failure, whatever its text."""
    assert went_well("error", {}) is False
