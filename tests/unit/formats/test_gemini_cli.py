"""Chats of Gemini CLI become events that a person would recognise as the session."""

import pytest

from hmxgraph.formats.gemini_cli import GEMINI_CLI
from tests.unit.formats.conversions import events, outcomes, recognised, shape


def message(number, kind, content, **fields):
    """One message of a chat."""
    return {
        "id": f"b26d7f99-0116-4d1d-b125-{number:012}",
        "timestamp": f"2026-04-17T18:09:{number:02}.467Z",
        "type": kind,
        "content": content,
        **fields,
    }


def call(number, name, arguments, status="success", **response):
    """One call with its result."""
    call_id = f"{name}_{number}"
    result = [{"functionResponse": {"id": call_id, "name": name, "response": response}}]
    return {"id": call_id, "name": name, "args": arguments, "status": status, "result": result}


SHELL = "run_shell_command"
BROKEN = "error: could not compile\nExit Code: 101\nProcess Group PGID: 33979"
DENIED = "[Operation Cancelled] Reason: User denied execution."
CHAT = {
    "sessionId": "b26d7f99-0116-4d1d-b125-98c228a4b933",
    "projectHash": "384e9530",
    "startTime": "2026-04-17T18:09:00.000Z",
    "kind": "main",
    "messages": [
        message(1, "user", [{"text": "Write a parser"}]),
        message(
            2,
            "gemini",
            "I run it first.",
            thoughts=[{"subject": "Testing", "description": "Does it compile?"}],
            model="gemini-3",
            toolCalls=[call(1, SHELL, {"command": "cargo run"}, output=BROKEN)],
        ),
        message(
            3,
            "gemini",
            "",
            toolCalls=[
                call(2, "write_file", {"file_path": "a.rs"}, output="written"),
                call(3, SHELL, {"command": "git checkout ."}, status="cancelled", error=DENIED),
                call(4, "read_file", {"file_path": "b.rs"}, status="error", error="File not found: b.rs"),
            ],
        ),
        message(4, "info", "Request cancelled."),
    ],
}


def test_a_chat_is_a_session_of_messages_thoughts_and_calls():
    """Messages, thoughts, calls and results have their origin, in the order of the conversation."""
    told = events(GEMINI_CLI, [CHAT])
    assert [shape(event) for event in told] == [
        ("message", "user", "Write a parser"),
        ("x-hmxgraph-reasoning", "assistant", "Testing\nDoes it compile?"),
        ("message", "assistant", "I run it first."),
        ("tool_call", "assistant", SHELL),
        ("tool_result", "tool", SHELL),
        ("tool_call", "assistant", "write_file"),
        ("tool_result", "tool", "write_file"),
        ("tool_call", "assistant", SHELL),
        ("tool_result", "tool", SHELL),
        ("tool_call", "assistant", "read_file"),
        ("tool_result", "tool", "read_file"),
    ]
    assert {event.session_id for event in told} == {CHAT["sessionId"]}
    assert [event.sequence for event in told] == sorted({event.sequence for event in told})


def test_how_calls_ended():
    """By the exit code of a command, by the status of other calls; what the user did not allow has no outcome."""
    results = [event for event in events(GEMINI_CLI, [CHAT]) if event.event_type == "tool_result"]
    assert [event.content.get("success") for event in results] == [False, True, None, False]
    assert results[0].content["exit_code"] == 101
    assert results[2].content["result"] == DENIED


def test_images_become_attachments_wherever_they_are():
    """Their size and hash are kept, not their data."""
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    screenshot = call(5, "screenshot", {}, output="taken")
    screenshot["result"].append(image)
    turns = [message(1, "user", [image]), message(2, "gemini", [image], toolCalls=[screenshot])]
    made = events(GEMINI_CLI, [{**CHAT, "messages": turns}])
    attached = [event.content["attachments"] for event in made if event.event_type != "tool_call"]
    assert len(attached) == 3
    for (attachment,) in attached:
        assert (attachment["media_type"], attachment["bytes"], "data" in attachment) == ("image/png", 2, False)


def test_a_chat_that_has_grown_repeats_its_events():
    """The program writes the whole chat again."""
    begun = {**CHAT, "messages": CHAT["messages"][:2]}
    before = {event.event_id: event.content for event in events(GEMINI_CLI, [begun])}
    after = {event.event_id: event.content for event in events(GEMINI_CLI, [CHAT])}
    assert before.items() <= after.items()


def test_what_a_sub_agent_is_asked_is_not_the_users_word():
    """The agent that started it speaks."""
    (asked, *_) = events(GEMINI_CLI, [{**CHAT, "kind": "subagent"}])
    assert shape(asked) == ("message", "agent", "Write a parser")


@pytest.mark.parametrize(("chat", "found"), [(CHAT, "gemini-cli"), ({"messages": CHAT["messages"]}, "")])
def test_recognition(chat, found):
    """Chats are recognised by the fields that all of them have."""
    assert recognised([chat]) == found


def test_what_is_no_chat_is_told():
    """A line that is not an object is rejected alone."""
    assert [outcome.fault is None for outcome in outcomes(GEMINI_CLI, [CHAT, "chat"])] == [True, False]
