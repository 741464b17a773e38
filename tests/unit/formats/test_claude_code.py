"""Claude Code transcripts become events that a person would recognise as the session."""

import gzip

import pytest

from hmxgraph.extraction.extract import extract
from hmxgraph.formats.claude_code import CLAUDE_CODE
from hmxgraph.formats.conversion import Origin, Record
from hmxgraph.protocol.events import Event, went_well
from hmxgraph.protocol.parsing import parse_json
from tests.shared_data import shared
from tests.unit.formats.conversions import events, outcomes, recognised, shape

SESSION = "258c7280"


def line(kind, uuid="u1", second=0, **fields):
    """One line of a transcript."""
    return {
        "type": kind,
        "uuid": uuid,
        "sessionId": SESSION,
        "timestamp": f"2026-02-11T20:36:{second:02}.618Z",
        "cwd": "/work/shop",
        "gitBranch": "main",
        "version": "2.1.39",
        "isSidechain": False,
        **fields,
    }


def user(content, uuid="u1", second=0, **fields):
    """A line of the user's role."""
    return line("user", uuid, second, message={"role": "user", "content": content}, **fields)


def assistant(*blocks, uuid="a1", second=1, **fields):
    """A line of the model."""
    message = {"role": "assistant", "model": "claude-opus", "id": "msg_1", "content": list(blocks)}
    return line("assistant", uuid, second, message=message, **fields)


def call(call_id="toolu_1", name="Bash", **given):
    """A block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(content, call_id="toolu_1", **fields):
    """A block that answers a call."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def test_a_session_is_a_request_calls_and_results():
    """A prompt, a call and its result become three events in order, linked by call id and parent."""
    made = events(
        CLAUDE_CODE,
        [
            user("Push the branch"),
            assistant({"type": "thinking", "thinking": "Just push."}, {"type": "text", "text": "Pushing."}),
            assistant(call(command="git push"), uuid="a2", second=2),
            user([result("Exit code 128\nfatal: no upstream branch", is_error=True)], uuid="u2", second=3),
        ],
    )
    assert [shape(event) for event in made] == [
        ("message", "user", "Push the branch"),
        ("x-hmxgraph-reasoning", "assistant", "Just push."),
        ("message", "assistant", "Pushing."),
        ("tool_call", "assistant", "Bash"),
        ("tool_result", "tool", "Bash"),
    ]
    assert sorted(made, key=lambda event: event.sequence) == made
    called, tool_result = made[3:]
    assert called.content == {"tool_name": "Bash", "arguments": {"command": "git push"}, "call_id": "toolu_1"}
    assert tool_result.content["result"] == "Exit code 128\nfatal: no upstream branch"
    assert (tool_result.content["success"], tool_result.content["exit_code"]) == (False, 128)
    assert tool_result.parent_event_id == called.event_id == "a2#0"
    assert tool_result.source == "tool:Bash"
    assert {event.session_id for event in made} == {SESSION}
    assert made[0].metadata["cwd"] == "/work/shop"
    assert [event.metadata.get("opening") for event in made] == [True, None, None, None, None]
    assert not any(event.warnings for event in made)


def test_reading_twice_gives_the_same_events():
    """Events depend only on the lines, even if a source is resumed midway."""
    lines = [user("hi"), assistant(call()), user([result("ok")], uuid="u2", second=2)]
    whole = [event.event_hash for event in events(CLAUDE_CODE, lines)]
    carried = {}
    parts = [
        Event.parse({**document, "tenant_id": "acme"}).event_hash
        for number, value in enumerate(lines, 1)
        for outcome in CLAUDE_CODE.convert([Record(value, "", number)], Origin(user_id="ana", carried=carried))
        for document in outcome.events
    ]
    assert parts == whole


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("fix it", [("message", "user", "fix it")]),
        (
            "fix it\n<system-reminder>Always answer briefly.</system-reminder>",
            [("message", "user", "fix it"), ("observation", "harness", "Always answer briefly.")],
        ),
        (
            (
                "<command-name>/review</command-name>\n<command-message>review</command-message>"
                "\n<command-args>the api</command-args>"
            ),
            [("message", "user", "/review the api")],
        ),
        ("<local-command-stdout>\x1b[2mDone\x1b[22m</local-command-stdout>", [("observation", "harness", "Done")]),
        (
            (
                "<task-notification>\n<task-id>b0</task-id>\n<status>completed</status>\n<summary>Tests done</summary>"
                "\n</task-notification>\nRead the output file to retrieve the result: /tmp/b0.output"
            ),
            [("observation", "harness", "Tests done\ntask-id: b0, status: completed")],
        ),
        ("<task-notification>\n</task-notification>\nRead the output file", []),
        ("[Request interrupted by user]", [("observation", "harness", "[Request interrupted by user]")]),
        ("<bash-input>ls</bash-input>", [("command_exec", "user", "ls")]),
        ("<user-memory-input>Never use tabs</user-memory-input>", [("message", "user", "Never use tabs")]),
        ('<user_input mode="act">Fix it</user_input>', [("message", "user", "Fix it")]),
        (
            "<task>\nFix it\n</task>\n<environment_details>\n# Mode: act\n</environment_details>",
            [("message", "user", "Fix it"), ("observation", "harness", "# Mode: act")],
        ),
        (
            "Stop hook feedback:\nAlways run mix format",
            [("observation", "harness", "Stop hook feedback:\nAlways run mix format")],
        ),
    ],
)
def test_harness_text_is_separated(said, expected):
    """Text that the program wrote in the user role is the harness's; text that the user typed is the user's."""
    assert [shape(event) for event in events(CLAUDE_CODE, [user(said)])] == expected


@pytest.mark.parametrize(
    "wrapper", ["system-reminder", "local-command-stdout", "task-notification", "user-prompt-submit-hook"]
)
def test_what_the_harness_says_is_never_learnt(wrapper):
    """Rules and preferences become memories if a user states them, not if the harness or a tool does."""
    order = "Always run mix format before you commit. I prefer tabs over spaces."
    spoken, wrapped = events(CLAUDE_CODE, [user(order), user(f"<{wrapper}>{order}</{wrapper}>", uuid="u2")])
    assert {memory.kind for memory in extract(spoken).memories} == {"policy", "preference"}
    assert extract(wrapped).memories == ()


def test_instructions_of_an_agent_are_never_learnt():
    """An agent's instructions to its sub-agent are not the user's rules."""
    instruction = events(CLAUDE_CODE, [user("Always cite your sources.", isSidechain=True, agentId="a88")])[0]
    assert extract(instruction).memories == ()


def test_summaries_and_meta_lines_are_the_harness():
    """Compaction summaries and meta lines never count as the user's text."""
    lines = [
        user("This session is being continued. Always deploy on Friday.", isCompactSummary=True),
        user("Base directory for this skill: /x. Never use pip.", uuid="u2", isMeta=True),
    ]
    assert [shape(event)[:2] for event in events(CLAUDE_CODE, lines)] == [("observation", "harness")] * 2


def test_the_prompt_of_a_compaction_is_skipped_with_its_reason():
    """The program's request for a summary is no event; neither is a line of markup, for another reason."""
    compaction = {"isSidechain": True, "agentId": "acompact-1f"}
    converted = outcomes(
        CLAUDE_CODE,
        [
            user("Your task is to create a detailed summary of the conversation so far.", **compaction),
            user("<local-command-caveat>None</local-command-caveat>", uuid="u2", isMeta=True, **compaction),
            user("<local-command-caveat>None</local-command-caveat>", uuid="u3"),
        ],
    )
    reasons = ["prompt for a compaction", "nothing but markup", "nothing but markup"]
    assert [outcome.skipped for outcome in converted] == reasons


def test_a_sub_agent_is_a_session_of_its_own():
    """Instructions of a sub-agent have the origin agent, and its steps form a session separate from its parent's."""
    sub = {"isSidechain": True, "agentId": "a88"}
    spawned = {"agentId": "a88", "status": "completed", "totalDurationMs": 12}
    made = events(
        CLAUDE_CODE,
        [
            assistant(call(name="Task", prompt="Find the docs")),
            user("Find the docs. Always cite them.", uuid="s1", second=2, **sub),
            assistant({"type": "text", "text": "Found."}, uuid="s2", second=3, **sub),
            user([result([{"type": "text", "text": "Found."}])], uuid="u2", second=4, toolUseResult=spawned),
        ],
    )
    parent, child = made[0], made[1]
    assert (child.session_id, child.agent_id) == (f"{SESSION}/a88", "claude-code/a88")
    assert shape(child)[:2] == ("message", "agent")
    assert child.metadata["parent_session_id"] == parent.session_id
    assert made[3].metadata["agent_session_id"] == child.session_id
    assert made[3].content["duration_ms"] == 12


def test_progress_of_a_sub_agent_is_part_of_its_own_message():
    """A sub-agent's message that its parent also reports is stored once."""
    data = {"type": "agent_progress", "agentId": "a88", "message": {"uuid": "s1", "type": "user"}}
    converted = outcomes(
        CLAUDE_CODE, [line("progress", data=data), line("progress", uuid="p2", data={"type": "hook_progress"})]
    )
    assert (converted[0].part_of, converted[1].skipped) == ("s1#0", "start of a hook")


def test_a_queued_prompt_that_became_no_event_is_repeated_by_none():
    """A later line can only be a part of an event that exists."""
    text = "<local-command-caveat>Ignore this.</local-command-caveat>"
    line = {"sessionId": SESSION, "timestamp": "2026-02-11T20:36:45.618Z"}
    queued = {**line, "type": "queue-operation", "operation": "enqueue", "content": text}
    sent = {**line, "type": "user", "uuid": "u1", "message": {"role": "user", "content": text}}
    assert [outcome.part_of for outcome in outcomes(CLAUDE_CODE, [queued, sent])] == [None, None]


def test_a_queued_prompt_counts_once():
    """A prompt typed while the agent works is the user's, whether or not it gets its own line later."""
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "check again"}
    lines = [
        {**queued, "timestamp": "2026-02-11T20:36:45.618Z"},
        {**queued, "timestamp": "2026-02-11T20:36:46.618Z", "operation": "dequeue", "content": None},
        user("check again", second=50),
    ]
    converted = outcomes(CLAUDE_CODE, lines)
    assert [shape(Event.parse({**converted[0].events[0], "tenant_id": "acme"}))] == [("message", "user", "check again")]
    assert converted[2].part_of == converted[0].events[0]["event_id"]


def test_an_image_of_a_queued_prompt_is_kept():
    """The queue has only the prompt's text; the line or the attachment that sends it has the image, too."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    blocks = [{"type": "text", "text": "check again"}, image]
    queued = line("queue-operation", operation="enqueue", content="check again")
    attached = line("attachment", "u2", 50, attachment={"type": "queued_command", "prompt": blocks})
    for lines in ([queued, user(blocks, "u2", 50)], [queued, attached], [attached]):
        contents = [event.content for event in events(CLAUDE_CODE, lines)]
        assert [content["text"] for content in contents] == ["check again", ""]
        assert [attachment["type"] for attachment in contents[1]["attachments"]] == ["image"]


def test_answers_to_questions_are_the_users_words():
    """The user's answer to a question becomes a decision and a message."""
    answer = {
        "questions": [{"question": "Skip the hook?", "options": [{"label": "Skip"}, {"label": "Fix"}]}],
        "answers": {"Skip the hook?": "main was clean; fix it"},
    }
    made = events(
        CLAUDE_CODE,
        [
            assistant(call(name="AskUserQuestion")),
            user([result("User has answered")], uuid="u2", second=2, toolUseResult=answer),
        ],
    )
    assert made[2].content == {
        "question": "Skip the hook?",
        "chosen_option": "main was clean; fix it",
        "alternatives": ["Skip", "Fix"],
    }
    assert shape(made[3]) == ("message", "user", "main was clean; fix it")
    assert [event.sequence for event in made] == sorted(event.sequence for event in made)


@pytest.mark.parametrize(
    ("block", "ending"),
    [
        (result("done"), True),
        (result("no", is_error=True), False),
        (result("The user doesn't want to proceed with this tool use. It was rejected.", is_error=True), None),
        (result("<tool_use_error>Sibling tool call errored</tool_use_error>", is_error=True), None),
        (result("<status>completed</status>\n<exit_code>2</exit_code>"), False),
    ],
)
def test_a_call_that_was_declined_neither_worked_nor_failed(block, ending):
    """The outcome of a call is the recorded one; a call that was stopped is not a failure of the tool."""
    tool_result = events(CLAUDE_CODE, [assistant(call()), user([block], uuid="u2", second=2)])[1]
    assert went_well(tool_result.event_type, tool_result.content) is ending


def test_the_reason_for_declining_is_the_users_word():
    """The reason that the user gives for declining a call becomes a message."""
    said = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse uv"
    made = events(CLAUDE_CODE, [assistant(call()), user([result(said, is_error=True)], uuid="u2", second=2)])
    assert shape(made[2]) == ("message", "user", "use uv")


def test_images_are_attachments():
    """An image in a prompt or a result is kept as an attachment with size and hash, without its bytes."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    made = events(
        CLAUDE_CODE,
        [
            user([{"type": "text", "text": "look"}, image]),
            assistant(call(), uuid="a1"),
            user([result([{"type": "text", "text": "shot"}, image])], uuid="u2", second=2),
        ],
    )
    assert made[1].content["attachments"][0]["media_type"] == "image/png"
    assert made[3].content["result"] == "shot"
    assert made[3].content["attachments"][0]["bytes"] == 5


def test_text_of_packs_is_cut_out():
    """Recalled text in a prompt is not stored again, but its pack ids are."""
    pack = '<hmxgraph-pack id="p1">\nAlways verify rollout\n</hmxgraph-pack>'
    made = events(CLAUDE_CODE, [user(f"Deploy it.\n{pack}"), user(pack, uuid="u2")])
    assert [event.content["text"].strip() for event in made] == ["Deploy it."]
    assert made[0].metadata["cut_packs"] == ["p1"]


def test_numbers_of_file_lines_are_left_out():
    """The result of reading a file is the file's text."""
    made = events(
        CLAUDE_CODE,
        [assistant(call(name="Read")), user([result("     1→def f():\n     2→    pass")], uuid="u2", second=2)],
    )
    assert made[1].content["result"] == "def f():\n    pass"


def test_unknown_lines_are_skipped_by_name():
    """A line of unknown type is skipped, and the reason names the type."""
    converted = outcomes(
        CLAUDE_CODE, [line("hologram"), {"no": "type"}, "text", line("user", message=7, timestamp="soon")]
    )
    assert [outcome.skipped for outcome in converted[:1]] == ["unknown line type 'hologram'"]
    assert [outcome.fault.path for outcome in converted[1:3]] == ["$.type", "$"]
    assert converted[3].skipped or converted[3].events


def test_lines_are_recognised():
    """A transcript is recognised by its lines, whichever comes first."""
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    assert recognised([snapshot, user("hi"), assistant({"type": "text", "text": "ho"})]) == "claude-code"


def test_real_sessions_are_accounted_for():
    """Every line of real sessions is an event, part of one, or skipped with a reason; none is rejected."""
    folder = shared("data", "coding-sessions")
    known: dict[str, dict] = {}
    for path in sorted(folder.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            values = [parse_json(text, unique_keys=False) for text in lines]
        converted = outcomes(CLAUDE_CODE, values, Origin())
        assert [outcome.fault for outcome in converted if outcome.fault] == []
        for document in (document for outcome in converted for document in outcome.events):
            event = Event.parse({**document, "tenant_id": "acme"})
            assert event.warnings == ()
            assert known.setdefault(event.event_id, document) == document
    assert len(known) > 1700
