"""Each type of event reads as people would write it."""

import pytest

from hmxgraph.ingest.rendition import INDEXED, SHOWN, compact, cut, full_text, rendition
from tests.unit.ingest.making import event

TEXTS = [
    ("message", {"role": "user", "text": "Deploy", "attachments": []}, "Deploy"),
    (
        "message",
        {"text": "See", "attachments": [{"type": "image", "url": "http://x/y"}]},
        "See [type: image, url: http://x/y]",
    ),
    (
        "tool_call",
        {"tool_name": "exec", "arguments": {"command": "ls", "env": {"A": 1}}},
        "exec(command=ls, env={A: 1})",
    ),
    (
        "x-hmxgraph-memory",
        {"kind": "policy", "text": "Always run the smoke tests", "hard": True},
        "Always run the smoke tests",
    ),
    ("x-hmxgraph-reasoning", {"text": "The port is taken"}, "thought: The port is taken"),
    ("tool_call", {"tool_name": "exec", "arguments": "raw text"}, "exec(raw text)"),
    (
        "tool_result",
        {"tool_name": "exec", "result": {"out": "ok", "n": [1, 2]}, "success": True},
        "exec -> out: ok, n: [1, 2]",
    ),
    ("tool_result", {"tool_name": "exec", "result": "no", "success": False}, "exec failed: no"),
    ("tool_result", {"tool_name": "exec", "result": {"value": "ok"}}, "exec -> ok"),
    ("tool_result", {"tool_name": "exec", "result": {"value": {"n": 1}}}, "exec -> value: {n: 1}"),
    ("tool_result", {"tool_name": "exec", "result": {"content": [{"type": "text", "text": "a"}]}}, "exec -> a"),
    (
        "tool_result",
        {"tool_name": "exec", "result": [{"type": "text", "text": "a"}, {"n": 1}]},
        "exec -> {type: text, text: a}, {n: 1}",
    ),
    ("message", {"role": "assistant", "text": '{"message": "On its way."}'}, "On its way."),
    ("message", {"text": '{"message": "On its way.", "orders": ["#1"]}'}, "message: On its way.\norders: [#1]"),
    ("message", {"text": '{"message": "On its way."'}, '{"message": "On its way."'),
    ("message", {"text": "{}"}, "{}"),
    (
        "error",
        {"error_type": "KubectlError", "message": "namespace staging not found"},
        "KubectlError: namespace staging not found",
    ),
    ("error", {"message": "boom"}, "boom"),
    (
        "decision",
        {"question": "Which?", "chosen_option": "blue", "alternatives": ["red"], "reasoning": "Safe."},
        "Which? Chosen: blue. Safe. Instead of: red.",
    ),
    ("decision", {"chosen_option": "blue", "alternatives": ["blue", "red"]}, "Chosen: blue. Instead of: red."),
    ("feedback", {"signal": "negative", "comment": "too slow"}, "negative feedback: too slow"),
    ("observation", {"title": "Berlin", "text": "Capital of Germany."}, "Berlin. Capital of Germany."),
    (
        "observation",
        {"title": "TideFix", "text": "It corrects.", "authors": ["Sund"], "year": 2024},
        "TideFix. It corrects. (authors: [Sund], year: 2024)",
    ),
    ("decision", {"decision": "Use B-trees", "rationale": "fast"}, "(decision: Use B-trees, rationale: fast)"),
    ("feedback", {"signal": "correction", "target_event_id": "e1", "rating": 2}, "correction feedback: (rating: 2)"),
    (
        "error",
        {"error_type": "E", "message": "no", "stack": "line 1", "recoverable": True, "hint": "ask"},
        "E: no (hint: ask)",
    ),
    ("file_edit", {"path": "a.py", "change": "fix"}, "edit a.py: change: fix"),
    ("command_exec", {"command": "make", "exit_code": 2, "output": "no rule"}, "$ make -> exit 2 output: no rule"),
    ("state_change", {"entity": "pod", "from": "pending", "to": "running"}, "entity: pod: pending -> running"),
    ("test_run", {"passed": 3, "failed": 0, "summary": "all good"}, "all good (passed: 3, failed: 0)"),
    ("x-acme-signal", {"level": 3.5, "on": True, "gone": None}, "level: 3.5, on: true"),
    ("browser_action", {}, "browser_action"),
    (
        "command_exec",
        {"command": "make", "cwd": "/srv", "exit_code": 2, "stdout": "cc a.c", "stderr": "no rule"},
        "$ make -> exit 2 stderr: no rule, stdout: cc a.c, cwd: /srv",
    ),
    ("command_exec", {"command": ["git", "push"], "exit_code": 0}, "$ git push -> exit 0"),
    ("command_exec", {"cmd": "make", "output": "done"}, "$ make output: done"),
    ("test_run", {"command": "pytest -q", "passed": 3, "failed": 1}, "$ pytest -q -> passed: 3, failed: 1"),
    (
        "api_result",
        {"method": "GET", "url": "https://a.example/x", "status_code": 404, "latency_ms": 7, "body": {"error": "gone"}},
        "GET https://a.example/x -> 404: body: {error: gone}, latency_ms: 7",
    ),
    ("api_result", {"service": "weather", "status": "ok"}, "service: weather, status: ok"),
    (
        "browser_action",
        {"action": "click", "selector": "#ok", "url": "https://a.example", "success": False, "error": "no element"},
        "click #ok at https://a.example failed: error: no element",
    ),
    ("browser_action", {"action": "fill", "selector": "#n", "value": "Ann", "success": True}, "fill #n: value: Ann"),
]


@pytest.mark.parametrize(("event_type", "content", "text"), TEXTS)
def test_text_of_each_type(event_type, content, text):
    """A message is its words, a call reads like code, an error like a log line; the rest is compact."""
    assert rendition(event(event_type=event_type, content=content)) == text


def test_text_is_bounded():
    """The text is bounded, however large the content."""
    assert len(rendition(event(content={"text": "word " * 50_000}))) == INDEXED
    assert cut("x" * 5_000, SHOWN).endswith(" […]")


def test_compact_scalars():
    """Null, booleans and numbers are spelled as in JSON."""
    assert compact([None, True, False, 1, 1.5, "a"]) == "null, true, false, 1, 1.5, a"


def test_numbers_are_shown_as_they_are():
    """Amounts, coordinates and times have more than six digits."""
    result = {"total": 1234567.89, "lat": 48.137154, "ts": 1753628400.25, "tenth": 0.1, "three": 3.0}
    shown = full_text("tool_result", {"tool_name": "price", "result": result})
    assert shown == "price -> total: 1234567.89, lat: 48.137154, ts: 1753628400.25, tenth: 0.1, three: 3"


def test_a_failed_result_says_what_went_wrong():
    """A failed result shows its error before its result; without both, its other fields."""
    failed = {"tool_name": "x", "success": False}
    assert (
        full_text("tool_result", {**failed, "result": {"part": 1}, "error": "timeout"}) == "x failed: timeout; part: 1"
    )
    assert "permission denied" in full_text("tool_result", {**failed, "stderr": "permission denied", "exit_code": 1})


def test_a_change_from_nothing_or_to_nothing_is_a_change():
    """Zero is shown like any other value."""
    assert full_text("state_change", {"entity": "replicas", "from": 0, "to": 5}) == "entity: replicas: 0 -> 5"
    assert full_text("state_change", {"entity": "replicas", "from": 5, "to": 0}) == "entity: replicas: 5 -> 0"
