"""Messages of the real ``langchain-core`` package, in every way it writes them, become the same events."""

import json

import pytest

from hmxgraph.formats.langchain import LANGCHAIN
from tests.unit.formats.conversions import NEEDED, events, outcomes, recognised, shape

load = pytest.importorskip("langchain_core.load", reason=NEEDED)
lc = pytest.importorskip("langchain_core.messages", reason=NEEDED)

MESSAGES = [
    lc.SystemMessage("Never guess.", id="11111111-1111-4111-8111-111111111111"),
    lc.HumanMessage([{"type": "text", "text": "Cancel my order"}], id="22222222-2222-4222-8222-222222222222"),
    lc.AIMessage(
        "",
        id="run-33333333-3333-4333-8333-333333333333",
        tool_calls=[{"name": "cancel", "args": {"order_id": "#W1"}, "id": "call_1"}],
        response_metadata={"model_name": "gpt-5"},
    ),
    lc.ToolMessage(
        "Error: not found",
        tool_call_id="call_1",
        name="cancel",
        status="error",
        id="44444444-4444-4444-8444-444444444444",
    ),
    lc.AIMessage("There is no such order.", id="run-55555555-5555-4555-8555-555555555555"),
]
EXPECTED = [
    ("message", "operator", "Never guess."),
    ("message", "user", "Cancel my order"),
    ("tool_call", "assistant", "cancel"),
    ("tool_result", "tool", "cancel"),
    ("message", "assistant", "There is no such order."),
]


@pytest.mark.parametrize(
    "written",
    [
        lc.messages_to_dict(MESSAGES),
        [json.loads(json.dumps(load.dumpd(message))) for message in MESSAGES],
        [message.model_dump(mode="json") for message in MESSAGES],
        [{"messages": lc.messages_to_dict(MESSAGES)}],
        [{"values": {"messages": [message.model_dump(mode="json") for message in MESSAGES]}}],
        [{"agent": {"messages": [message.model_dump(mode="json")]}} for message in MESSAGES],
    ],
    ids=["messages_to_dict", "dumpd", "model_dump", "state", "checkpoint", "stream"],
)
def test_every_form_gives_the_same_events(written):
    """However LangChain writes its messages, they become the same calls, results and words."""
    made = events(LANGCHAIN, written)
    assert [shape(event) for event in made] == EXPECTED
    assert made[3].content["success"] is False
    assert made[3].parent_event_id == made[2].event_id
    assert made[2].content["arguments"] == {"order_id": "#W1"}
    assert recognised(written) == "langchain"


def test_a_message_in_several_states_is_stored_once():
    """States of a graph repeat their messages; each message becomes one event."""
    states = [{"messages": lc.messages_to_dict(MESSAGES[:length])} for length in range(1, 6)]
    converted = outcomes(LANGCHAIN, states)
    assert sum(len(outcome.events) for outcome in converted) == 5
    updates = [{"agent": {"messages": lc.messages_to_dict([MESSAGES[1]])}}] * 2
    assert [bool(outcome.part_of) for outcome in outcomes(LANGCHAIN, updates)] == [False, True]


@pytest.mark.parametrize("state", [{"messages": []}, {"values": {"messages": []}}, {"agent": {"messages": []}}, {}])
def test_a_state_without_messages_is_skipped(state):
    """Threads and streams may begin with an empty list of messages."""
    assert outcomes(LANGCHAIN, [state])[0].skipped == "a state without messages"


def test_what_is_no_message_of_a_state_is_reported_as_left_out():
    """A state may hold instructions for itself, such as to remove a message."""
    entries = [*lc.messages_to_dict(MESSAGES[:2]), lc.RemoveMessage(id="x").model_dump(mode="json")]
    (outcome,) = outcomes(LANGCHAIN, [{"messages": entries}])
    assert (len(outcome.events), outcome.left_out) == (2, ("an entry that is no message",))


def test_another_record_is_rejected():
    """A record that is not a message is rejected with the missing fields."""
    assert outcomes(LANGCHAIN, [{"foo": 1}])[0].fault.expected == "type and content, or messages"
