"""Message objects of the real client libraries can be recorded as agents hold them: alone, in lists or in dicts."""

import json
from dataclasses import dataclass

import pytest

from tests.integration.ingested import Ingested
from tests.unit.formats.conversions import NEEDED

chat = pytest.importorskip("openai.types.chat", reason=NEEDED)
responses = pytest.importorskip("openai.types.responses", reason=NEEDED)
anthropic = pytest.importorskip("anthropic.types", reason=NEEDED)
langchain = pytest.importorskip("langchain_core.messages", reason=NEEDED)

ASKED = {"role": "user", "content": "List the files"}
TALK = [
    ("message", "List the files"),
    ("message", "Looking."),
    ("tool_call", {"path": "."}),
    ("tool_result", "a.py"),
]


@dataclass
class Note:
    """A message class of an agent that uses no library."""

    role: str
    content: str


def completion():
    """The message of an OpenAI chat completion."""
    function = {"name": "ls", "arguments": '{"path": "."}'}
    call = {"id": "call_1", "type": "function", "function": function}
    return chat.ChatCompletionMessage.model_validate({"role": "assistant", "content": "Looking.", "tool_calls": [call]})


def output():
    """The output items of an OpenAI response."""
    said = {"type": "output_text", "text": "Looking.", "annotations": []}
    items = [
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": '{"path": "."}'},
    ]
    fields = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    made = responses.Response.model_validate(
        {"id": "resp_1", "object": "response", "created_at": 1_773_457_200, "model": "gpt-5", "output": items, **fields}
    )
    return made.output


def answer():
    """An Anthropic message."""
    blocks = [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}},
    ]
    return anthropic.Message.model_validate(
        {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": blocks,
         "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    )  # fmt: skip


def result_block():
    """A user message with the result of an Anthropic tool call."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}


HELD = {
    "completion": (
        "OpenAI chat completions",
        lambda: [ASKED, completion(), {"role": "tool", "tool_call_id": "call_1", "content": "a.py"}],
    ),
    "response": (
        "OpenAI Responses",
        lambda: [ASKED, *output(), {"type": "function_call_output", "call_id": "call_1", "output": "a.py"}],
    ),
    "message": ("Anthropic messages", lambda: [ASKED, answer(), result_block()]),
    "blocks in a dict": (
        "Anthropic messages",
        lambda: [ASKED, {"role": "assistant", "content": answer().content}, result_block()],
    ),
    "langchain": (
        "LangChain and LangGraph messages",
        lambda: [
            langchain.HumanMessage("List the files"),
            langchain.AIMessage("Looking.", tool_calls=[{"name": "ls", "args": {"path": "."}, "id": "c"}]),
            langchain.ToolMessage("a.py", tool_call_id="c", name="ls"),
        ],
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_a_talk_in_objects_of_a_library(connection, graph, name):
    """The format is recognised; text, call and result become events, and the result is linked to its call."""
    title, held = HELD[name]
    report = graph.record(held(), session_id="s")
    stored = Ingested(connection, graph.tenant_id)
    assert report.format == title
    assert {receipt.status for receipt in report.receipts} == {"stored"}
    assert talk(stored) == TALK
    assert len(stored.links("ANSWERS")) == 1


def test_a_state_that_holds_objects(connection, graph):
    """A LangGraph state with message objects can be recorded directly."""
    state = {"messages": HELD["langchain"][1]()}
    assert graph.record(state, session_id="s").format == "LangChain and LangGraph messages"
    assert talk(Ingested(connection, graph.tenant_id)) == TALK


@pytest.mark.parametrize("alone", [completion, answer, lambda: Note("assistant", "Looking.")])
def test_an_object_alone(connection, graph, alone):
    """A single message object is recorded like a list of one."""
    assert [receipt.status for receipt in graph.record(alone(), session_id="s").receipts] == ["stored"]
    assert talk(Ingested(connection, graph.tenant_id))[0] == ("message", "Looking.")


def talk(stored):
    """The type of each event in order, with its text, arguments or result."""
    rows = stored.rows(
        "MATCH (e:Event {tenant_id: $tenant_id}) RETURN e.event_type AS type, e.content AS content ORDER BY e.sequence"
    )
    said = [(row["type"], json.loads(row["content"])) for row in rows]
    return [(kind, content.get("text", content.get("arguments", content.get("result")))) for kind, content in said]
