"""Records of the real ``openai`` package, chat completions and Responses, become events."""

from hashlib import sha256

import pytest

from hmxgraph.formats.conversion import Origin
from hmxgraph.formats.openai_chat import OPENAI_CHAT
from hmxgraph.formats.openai_responses import OPENAI_RESPONSES
from hmxgraph.formats.plain_messages import PLAIN_MESSAGES
from hmxgraph.protocol.events import went_well
from tests.unit.formats.conversions import NEEDED, NOW_US, events, outcomes, recognised, shape

chat = pytest.importorskip("openai.types.chat", reason=NEEDED)
responses = pytest.importorskip("openai.types.responses", reason=NEEDED)

CALL = {"id": "call_1", "type": "function", "function": {"name": "find_user", "arguments": '{"email": "a@b.c"}'}}


def completion(message, **fields):
    """A chat completion as the client returns it, written as JSON."""
    made = chat.ChatCompletion.model_validate(
        {
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
            "object": "chat.completion",
            "created": 1_773_457_200,
            "model": "gpt-5",
            "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}],
            **fields,
        }
    )
    return made.model_dump(mode="json")


def response(*output, **fields):
    """A response as the client returns it, written as JSON."""
    made = responses.Response.model_validate(
        {
            "id": "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
            "object": "response",
            "created_at": 1_773_457_200,
            "model": "gpt-5",
            "output": list(output),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            **fields,
        }
    )
    return made.model_dump(mode="json")


def test_another_choice_is_reported_as_left_out():
    """A conversation goes on with one answer; what else the model offered is not lost silently."""
    choices = [
        {"index": number, "finish_reason": "stop", "logprobs": None, "message": {"role": "assistant", "content": text}}
        for number, text in enumerate(("Yes.", "No."))
    ]
    (outcome,) = outcomes(OPENAI_CHAT, [completion({"role": "assistant", "content": ""}, choices=choices)])
    assert [event["content"]["text"] for event in outcome.events] == ["Yes."]
    assert outcome.left_out == ("another choice of an answer",)


def test_what_is_no_message_of_a_conversation_is_reported_as_left_out():
    """The other messages are read."""
    for record in ({"messages": ["hi", {"role": "user", "content": "Go"}]}, ["hi", {"role": "user", "content": "Go"}]):
        (outcome,) = outcomes(PLAIN_MESSAGES, [record])
        assert (len(outcome.events), outcome.left_out) == (1, ("a message that is not an object",))


def test_a_completion_is_a_message_and_its_calls():
    """A completion with a call becomes a call with parsed arguments, dated by the completion."""
    record = completion({"role": "assistant", "content": "Looking.", "tool_calls": [CALL]})
    made = events(OPENAI_CHAT, [record])
    assert [shape(event) for event in made] == [
        ("message", "assistant", "Looking."),
        ("tool_call", "assistant", "find_user"),
    ]
    assert made[1].content["arguments"] == {"email": "a@b.c"}
    assert made[1].timestamp == "2026-03-14T03:00:00.000Z"
    assert made[0].metadata["model"] == "gpt-5"
    assert recognised([record]) == "openai-chat"


def test_a_log_of_calls_is_one_conversation():
    """Requests that repeat the conversation so far add only what is new, with calls and results paired."""
    user = {"role": "user", "content": "Who is a@b.c?"}
    asked = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": '{"user": "ana"}'}
    system = {"role": "system", "content": "Never guess."}
    logged = [
        {"request": {"messages": [system, user]}, "response": completion(asked)},
        {
            "request": {"messages": [system, user, asked, result]},
            "response": completion({"role": "assistant", "content": "Ana."}, id="chatcmpl-C0NB92k4Dd1"),
        },
    ]
    made = events(OPENAI_CHAT, logged)
    assert [shape(event) for event in made] == [
        ("message", "operator", "Never guess."),
        ("message", "user", "Who is a@b.c?"),
        ("tool_call", "assistant", "find_user"),
        ("tool_result", "tool", "find_user"),
        ("message", "assistant", "Ana."),
    ]
    assert [event.sequence for event in made] == sorted(event.sequence for event in made)
    assert made[3].content["result"] == {"user": "ana"}
    assert made[3].parent_event_id == made[2].event_id
    assert recognised(logged) == "openai-chat"


def test_a_rejected_record_takes_no_messages_with_it():
    """Its contents are read with the next record, which repeats them."""
    first, second = ({"role": "user", "content": said} for said in ("one", "two"))
    logged = [
        {"messages": [first], "timestamp": "2026-03-14T03:00:00Z"},
        {"messages": [first, second]},
        {"messages": [first, second], "timestamp": "2026-03-14T03:01:00Z"},
    ]
    converted = outcomes(OPENAI_CHAT, logged, Origin(session_id="s1"))
    assert [len(outcome.events) for outcome in converted] == [1, 0, 1]
    assert converted[1].fault is not None


def test_fine_tuning_lines_are_conversations_of_their_own():
    """Lines that do not continue each other are sessions of their own."""
    lines = [{"messages": [{"role": "user", "content": said}, {"role": "assistant", "content": "ok"}]} for said in "ab"]
    assert len({event.session_id for event in events(OPENAI_CHAT, lines)}) == 2


def test_parts_become_text_and_attachments():
    """Text, images and files of a message become its text and its attachments."""
    parts = [
        {"type": "text", "text": "See this"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
        {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}},
    ]
    made = events(OPENAI_CHAT, [{"role": "user", "content": parts}])
    assert made[0].content["text"] == "See this"
    assert [part["type"] for part in made[0].content["attachments"]] == ["image", "file"]
    assert made[0].content["attachments"][0]["bytes"] == 5
    assert made[0].content["attachments"][0]["sha256"] == sha256(b"hello").hexdigest()


def test_data_in_an_address_need_not_be_base64():
    """Both encodings of RFC 2397 are decoded; invalid base64 is measured as written."""
    urls = ("data:text/plain,hello%20you", "data:text/plain;base64,aGVsbG8", "data:,")
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    made = events(OPENAI_CHAT, [{"role": "user", "content": [{"type": "text", "text": "See"}, *parts]}])
    assert [part["bytes"] for part in made[0].content["attachments"]] == [9, 7, 0]


@pytest.mark.parametrize(
    ("output", "ending"),
    [("Error: user not found", False), ("ValueError: no", False), ("12 rows", None), ("Exit code: 2\n", False)],
)
def test_outcomes_are_inferred_from_words_only_where_they_say_so(output, ending):
    """A result without a flag failed if its first words say so, else its outcome is unknown."""
    asked = {"role": "assistant", "tool_calls": [CALL]}
    result = events(OPENAI_CHAT, [asked, {"role": "tool", "tool_call_id": "call_1", "content": output}])[1]
    assert went_well(result.event_type, result.content) is ending


def test_batches_and_failures_are_accounted_for():
    """A batch line is read through its wrapper; a failed one is skipped with its error."""
    good = {
        "custom_id": "c1",
        "response": {"status_code": 200, "body": completion({"role": "assistant", "content": "hi"})},
    }
    bad = {"custom_id": "c2", "response": {"status_code": 400, "body": {"error": {"message": "too long"}}}}
    converted = outcomes(OPENAI_CHAT, [good, bad])
    assert converted[0].events[0]["session_id"] == "c1"
    assert converted[1].skipped == "failed request: too long"


def test_responses_items_become_events():
    """Messages, calls, reasoning and hosted tools of a response become events of their kind."""
    called = {"type": "function_call", "id": "fc_1", "call_id": "call_9", "name": "find_user", "arguments": '{"id": 7}'}
    failed = {"type": "mcp_tool_execution_error", "content": "no such index"}
    record = response(
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}]},
        called,
        {
            "type": "mcp_call", "id": "mcp_1", "name": "search", "server_label": "docs", "arguments": "{}",
            "output": None, "error": failed, "status": "failed",
        },
        {
            "type": "message", "id": "msg_67ccd2bf17f0819081ff3bb2cf6508e6", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
        },
    )  # fmt: skip
    made = events(OPENAI_RESPONSES, [record])
    assert [shape(event) for event in made] == [
        ("x-hmxgraph-reasoning", "assistant", "Look it up."),
        ("tool_call", "assistant", "find_user"),
        ("tool_call", "assistant", "docs.search"),
        ("tool_result", "tool", "docs.search"),
        ("message", "assistant", "Done."),
    ]
    assert went_well("tool_result", made[3].content) is False
    assert recognised([record]) == "openai-responses"


def test_commands_have_their_exit_codes():
    """A shell call and its output become a call and a result with exit code and outcome."""
    record = response(
        {
            "type": "shell_call", "id": "sh_1", "call_id": "call_5", "status": "completed",
            "action": {"commands": ["make test"], "timeout_ms": 1000, "max_output_length": None},
        },
        {
            "type": "shell_call_output", "id": "sho_1", "call_id": "call_5", "status": "completed",
            "output": [{"stdout": "1 failed", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}],
        },
    )  # fmt: skip
    called, result = events(OPENAI_RESPONSES, [record])
    assert called.content["arguments"]["commands"] == ["make test"]
    assert result.content == {
        "tool_name": "shell", "call_id": "call_5", "result": "1 failed", "success": False, "exit_code": 2,
    }  # fmt: skip


def test_items_of_a_session_become_events():
    """The items that an agent keeps (input, calls, outputs) are read one by one, calls paired with outputs."""
    items = [
        {"role": "user", "content": "Run it"},
        {"type": "function_call", "call_id": "c1", "name": "run", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output": "boom", "metadata": {"exit_code": 1}}'},
    ]
    made = events(OPENAI_RESPONSES, items)
    assert [shape(event) for event in made][1:] == [("tool_call", "assistant", "run"), ("tool_result", "tool", "run")]
    assert (made[2].content["result"], made[2].content["exit_code"], made[2].content["success"]) == ("boom", 1, False)
    assert recognised(items) == "openai-responses"


def test_an_output_of_parts_is_an_item():
    """An output that is a list is the result of its call, not a response with items."""
    parts = [{"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]
    items = [
        {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c1", "output": parts},
        {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "done"}]},
    ]
    made = events(OPENAI_RESPONSES, items)
    assert [event.content.get("result") for event in made] == [None, "x", None, "done"]


def test_ids_come_from_the_callers_key_in_live_recording():
    """Two calls that record the same words are two events; the same key twice is the same event."""
    said = [{"role": "user", "content": "ok"}]
    first, again, second = (
        events(OPENAI_CHAT, said, Origin(session_id="s", time_us=NOW_US, key=key))[0] for key in ("k1", "k1", "k2")
    )
    assert first.event_id == again.event_id != second.event_id
    assert first.metadata["undated"] is True


@pytest.mark.parametrize(
    ("stated", "success"),
    [({"is_error": True}, False), ({"isError": False}, True), ({"error": "no such order"}, False), ({}, None)],
)
def test_a_tool_message_says_how_its_call_ended(stated, success):
    """Harnesses put a flag or an error next to the result."""
    (result,) = events(PLAIN_MESSAGES, [{"role": "tool", "tool_call_id": "call_1", "content": "Path", **stated}])
    assert result.content.get("success") is success


def test_a_call_may_name_its_function_in_a_word():
    """Some corpora do without the object."""
    call = {"id": "call_1", "function": "get_user", "args": {"user": "ana"}}
    (made,) = events(PLAIN_MESSAGES, [{"role": "assistant", "content": "", "tool_calls": [call]}])
    assert (made.content["tool_name"], made.content["arguments"]) == ("get_user", {"user": "ana"})


def test_a_message_with_the_id_of_another_one():
    """The same message again is a part of the first; another one under the same id is read, and clashes when stored."""
    lines = [{"role": "user", "content": text, "id": "m1"} for text in ("hello", "hello", "bye")]
    first, again, other = outcomes(PLAIN_MESSAGES, lines)
    assert again.part_of == first.events[0]["event_id"]
    assert other.events[0]["content"]["text"] == "bye"
    assert other.events[0]["event_id"] == first.events[0]["event_id"]
