"""Records of the real ``anthropic`` package become events."""

import pytest

from hmxgraph.formats.anthropic import ANTHROPIC
from tests.unit.formats.conversions import NEEDED, events, outcomes, recognised, shape

anthropic_types = pytest.importorskip("anthropic.types", reason=NEEDED)


def answer(*blocks, **fields):
    """A message as the client returns it, written as JSON."""
    made = anthropic_types.Message.model_validate(
        {
            "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": list(blocks),
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            **fields,
        }
    )
    return made.model_dump(mode="json")


USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}}


def test_blocks_become_events():
    """Each thought, text and call of an answer becomes an event, with an id derived from the answer's."""
    record = answer(
        {"type": "thinking", "thinking": "Ask.", "signature": "x"}, {"type": "text", "text": "Checking."}, USE
    )
    made = events(ANTHROPIC, [record])
    assert [shape(event) for event in made] == [
        ("x-hmxgraph-reasoning", "assistant", "Ask."),
        ("message", "assistant", "Checking."),
        ("tool_call", "assistant", "get_weather"),
    ]
    assert [event.event_id for event in made] == [f"msg_01XFDUDYJgAACzvnptvVoYEL#{part}" for part in range(3)]
    assert recognised([record]) == "anthropic"


def test_a_request_with_its_answer_is_a_conversation():
    """System prompt, messages with result blocks, and the answer are in order; results are linked to their calls."""
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no such city", "is_error": True}
    record = {
        "request": {
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [result, {"type": "text", "text": "Try Bergen"}]},
            ],
        },
        "response": answer({"type": "text", "text": "Sure."}),
    }
    made = events(ANTHROPIC, [record])
    assert [shape(event) for event in made] == [
        ("message", "operator", "Be brief."),
        ("message", "user", "Weather?"),
        ("tool_call", "assistant", "get_weather"),
        ("tool_result", "tool", "get_weather"),
        ("message", "user", "Try Bergen"),
        ("message", "assistant", "Sure."),
    ]
    assert made[3].content["success"] is False
    assert recognised([record]) == "anthropic"


def test_a_log_of_calls_is_one_conversation():
    """An answer is logged with the id of its response, and repeated without it by the next call."""
    user, more = {"role": "user", "content": "Weather?"}, {"role": "user", "content": "And Bergen?"}
    said = [{"type": "text", "text": "Rain."}]
    logged = [
        {"request": {"messages": [user]}, "response": answer(*said, id="msg_01AAAAAAAAAAAAAAAAAA")},
        {
            "request": {"messages": [user, {"role": "assistant", "content": said}, more]},
            "response": answer({"type": "text", "text": "Sun."}, id="msg_01BBBBBBBBBBBBBBBBBB"),
        },
    ]
    made = events(ANTHROPIC, logged)
    assert [event.content["text"] for event in made] == ["Weather?", "Rain.", "And Bergen?", "Sun."]
    assert len({event.session_id for event in made}) == 1


def test_harness_text_inside_messages_is_separated():
    """Reminders that a program added to a user message do not count as the user's text, in any chat format."""
    said = "Fix it<system-reminder>Always use tabs.</system-reminder>"
    made = events(ANTHROPIC, [{"role": "user", "content": [{"type": "text", "text": said}]}])
    assert [shape(event) for event in made] == [
        ("message", "user", "Fix it"),
        ("observation", "harness", "Always use tabs."),
    ]
    notice = {"role": "user", "content": "<task-notification></task-notification>"}
    assert [outcome.skipped for outcome in outcomes(ANTHROPIC, [notice])] == ["nothing in it"]


def test_batches_and_failures_are_accounted_for():
    """A line of a message batch is read through its wrapper; a failed one is skipped with its error."""
    good = {"custom_id": "c1", "result": {"type": "succeeded", "message": answer({"type": "text", "text": "hi"})}}
    bad = {
        "custom_id": "c2",
        "result": {"type": "errored", "error": {"type": "error", "error": {"message": "overloaded"}}},
    }
    converted = outcomes(ANTHROPIC, [good, bad, {"type": "ping"}])
    assert converted[0].events[0]["session_id"] == "c1"
    assert [outcome.skipped for outcome in converted[1:]] == ["failed request: overloaded", "part of a streamed answer"]


@pytest.mark.parametrize(
    ("content", "success"),
    [
        ('{"query": "edit:calc.py", "result": "", "error": "old_text is required", "success": false}', False),
        ("Error executing tool editor: old_text is required", False),
        ('[{"query": "a", "success": false}, {"query": "b", "success": false}]', False),
        ('[{"query": "a", "success": true}, {"query": "b", "success": false}]', True),
        ('{"result": "3 rows", "error": null}', True),
        ("done", True),
    ],
)
def test_a_result_without_a_flag_succeeded_unless_it_says_otherwise(content, success):
    """Tools that report failures in their result often leave the flag out."""
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content}
    messages = [{"role": "assistant", "content": [USE]}, {"role": "user", "content": [result]}]
    assert events(ANTHROPIC, messages)[1].content["success"] is success
