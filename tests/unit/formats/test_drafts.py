"""From drafts to events: ids within a session, order at equal times, and calls recorded twice."""

from dataclasses import replace

import pytest

from hmxgraph.formats._calls import Answer, Calls, answer_draft
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, _fitted, frame_of, outcome
from hmxgraph.formats._endings import exit_code
from hmxgraph.formats._messages import message_reading
from hmxgraph.formats._values import moment
from hmxgraph.formats.conversion import Record
from hmxgraph.protocol.events import Event
from tests.unit.formats.conversions import ORIGIN

TIME = "2026-03-14T03:00:00Z"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def frame(session_id, own_id):
    """The frame of a message with an id of its own."""
    made = frame_of(Record({}, "", 1), ORIGIN, Place(session_id=session_id, own_id=own_id, time=TIME))
    assert isinstance(made, Frame)
    return made


def test_a_short_id_counts_within_its_session():
    """Message 1 of two sessions is two events; a long id names one event wherever it is read."""
    assert frame("a", "1").record_id != frame("b", "1").record_id
    long = "msg-0123456789abcdef"
    assert frame("a", long).record_id == frame("b", long).record_id


def test_within_one_instant_results_follow_calls_and_calls_what_was_said():
    """Records of one time come in any order; their events have the order of a conversation."""
    drafts = {
        "result": Draft("tool_result", {"tool_name": "ls", "result": "a"}, "tool"),
        "call": Draft("tool_call", {"tool_name": "ls", "arguments": {}}, "assistant"),
        "said": Draft("message", {"role": "user", "text": "look"}, "user"),
    }
    made = {name: outcome(Record({}, "", 1), frame("a", name), Reading((draft,)), {}) for name, draft in drafts.items()}
    assert sorted(made, key=lambda name: made[name].events[0]["sequence"]) == ["said", "call", "result"]


@pytest.mark.parametrize("parts", [1, 60, 700])
def test_a_long_record_ends_before_the_next_of_its_time_begins(parts):
    """However many parts follow a result, records of the same time come after all of them."""
    origin = replace(ORIGIN, carried={})
    result = Draft("tool_result", {"tool_name": "ls", "result": "a"}, "tool")
    said = [Draft("message", {"role": "user", "text": "x"}, "user", str(number)) for number in range(parts)]
    sequences = []
    for line, drafts in enumerate([(result, *said[1:]), said[:1], said[:1]], 1):
        record = Record({}, "", line)
        made = frame_of(record, origin, Place(session_id="s", own_id=f"m{line}", time=TIME, in_order=True))
        events = outcome(record, made, Reading(tuple(drafts)), origin.carried).events
        sequences += [event["sequence"] for event in events]
    assert len(sequences) == parts + 2
    assert sequences == sorted(set(sequences))


def test_a_call_inside_and_beside_the_blocks_is_one():
    """LangChain writes the same call inside and outside the content."""
    message = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}],
        "tool_calls": [{"id": "c1", "name": "ls", "args": {}}, {"id": "c2", "name": "ls", "args": {}}],
    }
    reading = message_reading(message, frame("a", "m"), Calls({}))
    assert [draft.content["call_id"] for draft in reading.drafts] == ["c1", "c2"]


def test_a_result_of_gemini_is_a_result():
    """In the REST spelling, camel case, as in Python's."""
    parts = [
        {field: {"id": "c1", "name": "ls", "response": {"a": 1}}} for field in ("functionResponse", "function_response")
    ]
    for part in parts:
        reading = message_reading({"role": "user", "parts": [part]}, frame("a", "m"), Calls({}))
        assert [(draft.event_type, draft.content["result"]) for draft in reading.drafts] == [("tool_result", {"a": 1})]


def test_a_tool_message_may_hold_results_as_parts():
    """As OpenTelemetry records them: each result finds its call."""
    calls = Calls({})
    calls.remember("c1", "weather", "e1")
    parts = [{"type": "tool_call_response", "id": name, "response": "rainy"} for name in ("c1", "c2")]
    drafts = message_reading({"role": "tool", "parts": parts}, frame("a", "m"), calls).drafts
    assert [(draft.content["call_id"], draft.content["result"]) for draft in drafts] == [
        ("c1", "rainy"),
        ("c2", "rainy"),
    ]
    assert (drafts[0].content["tool_name"], drafts[0].parent_event_id) == ("weather", "e1")


def test_text_beside_the_results_of_a_tool_message_is_the_tools():
    """It is an observation: HMX-E knows no message of a tool."""
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "rainy"},
        {"type": "text", "text": "Source: DWD"},
    ]
    drafts = message_reading({"role": "tool", "content": blocks}, frame("a", "m"), Calls({})).drafts
    assert [(draft.event_type, draft.origin, draft.part) for draft in drafts] == [
        ("tool_result", "tool", "0"),
        ("observation", "tool", "1"),
    ]
    assert drafts[1].content == {"text": "Source: DWD"}


@pytest.mark.parametrize("wrapper", ["system-reminder", "local-command-caveat"])
def test_an_image_beside_text_of_the_harness_is_the_users(wrapper):
    """Whether that text is kept or dropped."""
    blocks = [{"type": "text", "text": f"<{wrapper}>Be brief.</{wrapper}>"}, IMAGE]
    drafts = message_reading({"role": "user", "content": blocks}, frame("a", "m"), Calls({})).drafts
    assert [draft.content["text"] for draft in drafts] == (["Be brief."] if wrapper == "system-reminder" else []) + [""]
    assert drafts[-1].content["attachments"][0]["type"] == "image"
    assert len({draft.part for draft in drafts}) == len(drafts)


def test_an_image_in_a_result_of_mcp_is_its_attachment():
    """The text is the result, as in a result that is a list of blocks."""
    value = {"content": [{"type": "text", "text": "a chart"}, IMAGE], "isError": False}
    content = answer_draft(Calls({}), "0", Answer("c1", value)).content
    assert (content["result"], content["success"]) == ("a chart", True)
    assert [attachment["type"] for attachment in content["attachments"]] == ["image"]


def test_a_cut_text_says_how_long_it_was():
    """The reported size is the original one, even if the text was cut twice."""
    value = {str(number): "x" * 5_000 for number in range(100)}
    cut, _ = _fitted(value, 200_000)
    assert all(part.endswith("(5000 characters)") for part in cut.values())
    assert len(cut["0"]) < 2_000


def test_a_call_is_answered_once():
    """A second result of the same id answers no call."""
    calls = Calls({})
    calls.remember("c1", "ls", "e1")
    assert [calls.take("c1"), calls.take("c1")] == [("ls", "e1"), ("", "")]


def test_an_exit_code_is_read_from_the_first_lines_and_from_the_last():
    """An exit code in the middle of the text is output of the command, not its outcome."""
    assert exit_code("Exit code 1\n" + "x" * 500) == 1
    assert exit_code("Process exited with code -1073741819") == -1073741819
    assert exit_code("x" * 500 + "\nExit code 1") == 1
    assert exit_code("x" * 500 + "\n<command with id: 0 completed with exit code 101>") == 101
    assert exit_code("x" * 500 + "\nExit code 1\n" + "x" * 500) is None
    assert exit_code("x" * 500 + "\nExit code 1 means that a test failed") is None


def test_bulky_metadata_cost_no_origin():
    """The origin decides what may be learned, so it is kept whatever has to be cut."""
    draft = Draft(
        "message", {"role": "user", "text": "x"}, "tool", metadata={f"k{n}": "\U0001f600" * 150 for n in range(2_000)}
    )
    made = outcome(Record({}, "", 1), frame("a", "m"), Reading((draft,)), {}).events[0]
    event = Event.parse({**made, "tenant_id": "acme"})
    assert event.metadata["origin"] == "tool"


def test_bulky_metadata_leave_the_user_whole():
    """A cut user id would name another user."""
    user = "u" * 300
    draft = Draft("message", {"role": "user", "text": "x"}, "user", metadata={f"k{n}": "x" * 1_000 for n in range(200)})
    made = outcome(
        Record({}, "", 1), replace(frame("a", "m"), metadata={"user_id": user}), Reading((draft,)), {}
    ).events[0]
    assert Event.parse({**made, "tenant_id": "acme"}).metadata["user_id"] == user


def test_an_attachment_beside_a_pack_is_kept():
    """Only the text of the pack is removed."""
    content = {"role": "user", "text": '<hmxgraph-pack id="p">old</hmxgraph-pack>', "attachments": [{"type": "image"}]}
    (event,) = outcome(Record({}, "", 1), frame("a", "m"), Reading((Draft("message", content, "user"),)), {}).events
    assert event["content"] == {"role": "user", "text": "", "attachments": [{"type": "image"}]}


def test_a_pack_alone_opens_no_session():
    """The first words of the user's own do."""
    texts = ('<hmxgraph-pack id="p">old</hmxgraph-pack>', "Fix the tests")
    drafts = [Draft("message", {"role": "user", "text": text}, "user") for text in texts]
    made = outcome(Record({}, "", 1), frame("a", "m"), Reading(tuple(drafts)), {}).events
    assert [event["metadata"].get("opening") for event in made] == [True]


@pytest.mark.parametrize(
    ("text", "timestamp"),
    [
        ("2026-03-14 03:00:00+00", "2026-03-14T03:00:00+00:00"),
        ("2026-03-14 03:00:00.123+0530", "2026-03-14T03:00:00.123+05:30"),
        ("2026-03-14 03:00:00 UTC", "2026-03-14T03:00:00Z"),
        ("2026-03-14T03:00Z", "2026-03-14T03:00:00Z"),
        ("2026-03-14T03:00:00,5Z", "2026-03-14T03:00:00.5Z"),
    ],
)
def test_times_are_read_as_databases_write_them(text, timestamp):
    """PostgreSQL leaves out the minutes of an offset, others the seconds."""
    assert moment(text).timestamp == timestamp
