"""Codex rollouts become events that a person would recognise as the session."""

from hmxgraph.formats.codex import CODEX
from hmxgraph.formats.conversion import Match, Origin
from tests.unit.formats.conversions import events, outcomes, recognised, shape

META = {
    "id": "0199a213-81a0-7800-8aa1-bbab2a035a53",
    "cwd": "/work/shop",
    "cli_version": "0.50.0",
    "git": {"branch": "main"},
}


def line(kind, payload, second=0):
    """One line of a rollout."""
    return {"timestamp": f"2026-01-05T10:00:{second:02}.123Z", "type": kind, "payload": payload}


def said(role, text, second=0):
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return line("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}, second)


ROLLOUT = [
    line("session_meta", META),
    said("developer", "<permissions instructions>Never write outside.</permissions instructions>"),
    said("user", "# AGENTS.md instructions for /work/shop\n\n<INSTRUCTIONS>Always use tabs</INSTRUCTIONS>", 1),
    said("user", "<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>", 1),
    said("user", "Run the tests", 2),
    line("event_msg", {"type": "user_message", "message": "Run the tests"}, 2),
    line("turn_context", {"cwd": "/work/shop", "model": "gpt-5-codex"}, 2),
    line(
        "response_item",
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "**Testing**"}], "encrypted_content": "x"},
        3,
    ),
    line("event_msg", {"type": "agent_reasoning", "text": "**Testing**"}, 3),
    line(
        "response_item",
        {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command": ["bash", "-lc", "make test"]}',
            "call_id": "call_1",
        },
        4,
    ),
    line(
        "response_item",
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": '{"output": "1 failed", "metadata": {"exit_code": 2, "duration_seconds": 1.5}}',
        },
        6,
    ),
    line("event_msg", {"type": "token_count", "info": {}}, 6),
    said("assistant", "One test fails.", 7),
    line("event_msg", {"type": "turn_aborted", "reason": "interrupted"}, 8),
    line("compacted", {"message": "Summary so far"}, 9),
]


def test_a_rollout_is_a_request_calls_and_results():
    """Items become events; text added by the program is attributed to it, and its reports are not stored twice."""
    made = events(CODEX, ROLLOUT, Origin())
    assert [shape(event)[:2] for event in made] == [
        ("observation", "harness"),
        ("observation", "harness"),
        ("observation", "harness"),
        ("message", "user"),
        ("x-hmxgraph-reasoning", "assistant"),
        ("tool_call", "assistant"),
        ("tool_result", "tool"),
        ("message", "assistant"),
        ("observation", "harness"),
        ("observation", "harness"),
    ]
    called, result = made[5], made[6]
    assert called.content["arguments"] == {"command": ["bash", "-lc", "make test"]}
    assert result.content == {
        "tool_name": "shell",
        "call_id": "call_1",
        "result": "1 failed",
        "success": False,
        "exit_code": 2,
        "duration_ms": 1500,
    }
    assert {event.session_id for event in made} == {META["id"]}
    assert made[3].metadata["opening"] is True
    assert made[7].metadata["model"] == "gpt-5-codex"


def test_every_line_is_accounted_for():
    """Headers, settings and repetitions are skipped with their reason."""
    skipped = [outcome.skipped for outcome in outcomes(CODEX, ROLLOUT, Origin()) if outcome.skipped]
    assert skipped == [
        "header of the session",
        "repeats an item of the conversation",
        "settings of a turn",
        "repeats an item of the conversation",
        "report of the program: token_count",
    ]


def test_commands_of_later_versions_have_their_exit_code():
    """The exit code is in the text of the output."""
    output = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nboom"
    lines = [
        line("session_meta", META),
        line("response_item", {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}),
        line("response_item", {"type": "function_call_output", "call_id": "c", "output": output}, 1),
    ]
    result = events(CODEX, lines, Origin())[1]
    assert (result.content["exit_code"], result.content["success"]) == (1, False)


def test_a_sub_agent_is_instructed_by_an_agent():
    """The prompt of a spawned session is not the user's text."""
    meta = META | {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p1"}}}}
    made = events(CODEX, [line("session_meta", meta), said("user", "Find the bug")], Origin())
    assert shape(made[0]) == ("message", "agent", "Find the bug")
    assert made[0].metadata["parent_session_id"] == "p1"


def test_early_rollouts_are_read():
    """Bare items under a header without a type are read, dated by the caller."""
    lines = [
        {"id": META["id"], "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    ]
    assert [shape(event) for event in events(CODEX, lines)] == [("message", "user", "hi")]
    assert recognised(lines) == recognised(ROLLOUT) == "codex"


def test_what_a_sample_lacks_is_named():
    """A sample with lines of another kind names what these, or the whole sample, lack, and nothing that is there."""
    header, foreign = line("session_meta", META), {"type": "user", "text": "hi"}
    assert CODEX.recognise([header, foreign]) == Match(0.5, ("a known type", "payload"))
    assert CODEX.recognise([header, foreign | {"payload": {}}]).missing == ("a known type",)
    assert CODEX.recognise([header, line("response_item", None)]).missing == ("payload",)
    assert CODEX.recognise([said("user", "hi"), foreign]).missing == ("a known type", "payload", "a session_meta line")
    early = {"id": META["id"], "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    assert CODEX.recognise([early, {"a": 1}]).missing == ("a known type", "payload")


def test_a_fork_is_a_session_of_its_own():
    """A fork repeats the header and the items of its original session."""
    fork = {**META, "id": "0199a213-81a0-7800-8aa1-bbab2a035a99"}
    forked = events(CODEX, [line("session_meta", fork), line("session_meta", META), said("user", "Go on")])
    assert {event.session_id for event in forked} == {fork["id"]}
    files = events(
        CODEX, [line("session_meta", META), said("user", "Go"), line("session_meta", fork), said("user", "Stop")]
    )
    assert [event.session_id for event in files] == [META["id"], fork["id"]]


def test_records_of_one_time_keep_their_order():
    """The id of a record does not depend on earlier records."""
    rollout = [line("session_meta", META), *(said("user", f"Step {number}", 1) for number in range(9))]
    sequences = [event.sequence for event in events(CODEX, rollout)]
    assert sequences == sorted(set(sequences))
