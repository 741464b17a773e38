"""Traces of agents: each conversation is read once and completely, whatever its frameworks record."""

import json

import pytest

from hmxgraph.formats.opentelemetry import OPENTELEMETRY
from hmxgraph.protocol.events import went_well
from tests.unit.formats.conversions import outcomes
from tests.unit.formats.opentelemetry_traces import (
    adk,
    adk_tool,
    call,
    chat,
    conversation,
    one_by_one,
    otlp,
    response,
    shapes,
    span,
    tool,
    words,
)

ASK = "Is bridge 7 open?"
LOOK = {"function_call": {"name": "look", "args": {"bridge": 7}}}
OPEN = {"open": True}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "warden", "gen_ai.conversation.id": "river"}
SEEN = [
    ("message", "user", ASK),
    ("tool_call", "assistant", "look"),
    ("tool_result", "tool", "look"),
    ("message", "assistant", "It is open."),
]


def adk_spans(arguments='{"bridge": 7}', result='{"open": true}', number=""):
    """A conversation of ADK, whose tool span has a call id that the model does not know."""
    asked = ("user", [{"text": ASK}])
    second = [asked, ("model", [LOOK]), ("user", [{"function_response": {"name": "look", "response": OPEN}}])]
    return [
        span("invoke_agent warden", 1, (0, 9), AGENT),
        span("call_llm", 2, (1, 2), adk([asked], [LOOK]), parent=1),
        span("generate_content gemini", 3, (1.1, 1.9), {"gen_ai.operation.name": "generate_content"}, parent=2),
        span(
            "execute_tool look",
            4,
            (3, 4),
            adk_tool("look", arguments, result, gen_ai__tool__call__id="adk-1"),
            parent=1,
        ),
        span(
            "call_llm",
            5,
            (5, 6),
            adk(second, [{"text": "Hm.", "thought": True}, {"text": f"It is open{number}."}]),
            parent=1,
        ),
    ]


# Google's ADK.


def test_requests_responses_arguments_and_results_of_adk_are_read():
    """ADK's own attributes hold the whole conversation; its calls have no id, but its tool spans do."""
    made = conversation(*adk_spans())
    assert shapes([event for event in made if event.event_type != "x-hmxgraph-reasoning"]) == SEEN
    asked, result = made[1], made[2]
    assert asked.content["arguments"] == {"bridge": 7}
    assert result.content["result"] == OPEN
    assert result.content["call_id"] == asked.content["call_id"]
    assert result.parent_event_id == asked.event_id
    assert {event.session_id for event in made} == {"river"}
    assert {event.agent_id for event in made} == {"warden"}


def test_a_tool_of_adk_has_its_arguments_without_a_model_call():
    """Its own span is enough."""
    made = conversation(span("execute_tool", 1, (0, 1), adk_tool("look", '{"bridge": 7}', '{"open": true}')))
    assert (made[0].content["arguments"], made[1].content["result"]) == ({"bridge": 7}, OPEN)


def test_results_that_adk_withholds_come_from_the_next_prompt():
    """Empty objects say that a tool's span may not record contents; the model's prompts may have them."""
    made = conversation(*adk_spans("{}", "{}"))
    assert shapes([event for event in made if event.event_type != "x-hmxgraph-reasoning"]) == SEEN
    assert made[1].content["arguments"] == {"bridge": 7}
    assert made[2].content["result"] == OPEN


def test_a_result_of_adk_under_another_number_answers_the_only_open_call():
    """ADK numbers the parts of a message: the second part is a call whose result is the first part of its message."""
    first = chat([words("user", ASK)], [call("look_1", "look", {"bridge": 7})])
    second = chat(
        [words("user", ASK), call("look_1", "look", {"bridge": 7}), response("look_0", OPEN)],
        [words("assistant", "Yes.")],
    )
    made = conversation(span("chat", 1, (0, 1), first), span("chat", 2, (3, 4), second))
    assert made[2].content["call_id"] == made[1].content["call_id"] == "look_1"


def test_what_another_agent_did_is_not_a_users_message():
    """After a transfer, ADK tells the next agent in a user message what the first one did."""
    told = ("user", [{"text": "For context:"}, {"text": "[warden] called tool `transfer` with parameters: {}"}])
    made = conversation(span("call_llm", 1, (0, 1), adk([("user", [{"text": ASK}]), told], [{"text": "Yes."}])))
    assert shapes(made) == [("message", "user", ASK), ("message", "assistant", "Yes.")]


def test_the_span_of_merged_tools_is_no_call():
    """ADK sums up parallel calls in a span of their own."""
    merged = adk_tool("(merged tools)", "N/A", "[]", gen_ai__tool__call__id="m1")
    outcome = outcomes(
        OPENTELEMETRY, [otlp(*adk_spans(), span("execute_tool (merged)", 9, (4, 4.1), merged, parent=1))]
    )[0]
    assert len([event for event in outcome.events if event["event_type"] == "tool_call"]) == 1
    assert "span of kind (merged tools)" in outcome.left_out


# The conversation of a span.


def test_a_span_belongs_to_the_conversation_of_the_nearest_span_above():
    """A call is stored once, although its tool's span names no conversation."""
    asked = chat([words("user", ASK)], [call("c1", "look", {"bridge": 7})])
    made = conversation(
        span("invoke_agent", 1, (0, 9), AGENT),
        span("step", 2, (0, 9), {}, parent=1),
        span("chat", 3, (1, 2), asked | {"gen_ai.conversation.id": "river"}, parent=2),
        span("execute_tool", 4, (3, 4), tool("look", gen_ai__tool__call__result="yes"), parent=2),
        span("execute_tool", 5, (3, 4), tool("other", gen_ai__conversation__id="sea"), parent=2),
    )
    assert [(event.event_type, event.session_id) for event in made if event.session_id == "river"] == [
        ("message", "river"),
        ("tool_call", "river"),
        ("tool_result", "river"),
    ]


def test_a_span_without_parents_belongs_to_the_only_conversation_of_its_trace():
    """Where a trace has several conversations, such a span has its trace as session."""
    alone = span("execute_tool", 2, (3, 4), tool("look"))
    first = span("chat", 1, (1, 2), chat([words("user", ASK)], [], gen_ai__conversation__id="river"))
    second = span("chat", 3, (1, 2), chat([words("user", "?")], [], gen_ai__conversation__id="sea"))
    assert {event.session_id for event in conversation(first, alone)} == {"river"}
    assert len({event.session_id for event in conversation(first, alone, second)}) == 3


def test_a_conversation_above_is_stronger_than_a_session_id():
    """The program that runs an agent often has a session of its own, which changes with each turn."""
    run = span("chat", 2, (1, 2), chat([words("user", ASK)], [], session__id="process-1"), parent=1)
    assert {event.session_id for event in conversation(span("invoke_agent", 1, (0, 9), AGENT), run)} == {"river"}


def test_spans_that_arrive_before_their_conversation_keep_the_rest_of_the_trace():
    """Exporters write inner spans first, each in a record of its own: one trace stays in one session."""
    asked = chat([words("user", ASK)], [call("c1", "look", {"bridge": 7})], gen_ai__conversation__id="river")
    found = tool("look", gen_ai__tool__call__id="c1", gen_ai__tool__call__arguments='{"bridge": 7}')
    made = one_by_one([span("execute_tool", 2, (1, 2), found, parent=1), span("chat", 1, (0, 3), asked)])
    assert len({event.session_id for event in made}) == 1
    assert sorted(event.event_type for event in made) == ["message", "tool_call", "tool_result"]


def test_a_trace_with_a_second_conversation_is_two_sessions():
    """Only while a trace has one conversation do all its spans join the first ones."""
    river = chat([words("user", ASK)], [], gen_ai__conversation__id="river")
    sea = chat([words("user", "High tide?")], [], gen_ai__conversation__id="sea")
    made = one_by_one(
        [span("look", 1, (0, 1), tool("look")), span("chat", 2, (1, 2), river), span("chat", 3, (2, 3), sea)]
    )
    assert [event.session_id for event in made] == ["s1", "s1", "s1", "sea"]


def test_session_ids_keep_spans_apart_after_one_without():
    """In a trace of two session ids, a span without any does not take the later ones along."""
    spans = [
        span("look", number, (number, number + 1), tool(f"look{number}", session__id=name))
        for number, name in ((1, "A"), (2, "B"), (3, None), (4, "A"), (6, None))
    ]
    spans.insert(4, span("look", 5, (5, 6), tool("look5"), parent=2))
    called = [event.session_id for event in one_by_one(spans) if event.event_type == "tool_call"]
    assert called == ["A", "B", "s1", "A", "B", "s1"]


def test_spans_that_arrive_before_the_only_session_id_keep_the_rest_of_the_trace():
    """Like a conversation id, the only session id of a trace does not divide it."""
    alone, named = tool("look"), tool("read", session__id="A")
    made = one_by_one([span("look", 1, (0, 1), alone, parent=2), span("read", 2, (0, 2), named)])
    assert {event.session_id for event in made} == {"s1"}


def test_a_call_that_its_tool_told_before_the_model_is_one_call():
    """ADK's model span ends after the tool has run, and its call has no id."""
    spans = adk_spans()
    made = one_by_one([spans[3], spans[1]])
    assert shapes(made) == [SEEN[1], SEEN[2], SEEN[0]]


def test_a_trace_that_refers_to_itself_is_read():
    """Spans that are each other's parents are read like others."""
    first = span("chat", 1, (0, 1), chat([words("user", "a")], [words("assistant", "b")]), parent=2)
    second = span("chat", 2, (2, 3), chat([words("user", "c")], [words("assistant", "d")]), parent=1)
    itself = span("chat", 3, (4, 5), chat([words("user", "e")], [words("assistant", "f")]), parent=3)
    made = conversation(first, second, itself)
    assert {"e", "f"} <= {event.content["text"] for event in made}
    assert {"a", "b"} <= {event.content["text"] for event in made} or {"c", "d"} <= {
        event.content["text"] for event in made
    }


# Errors, outcomes, arguments.


def test_what_a_failed_tool_returned_is_its_result():
    """The output holds the error; the status says only that there was one."""
    stated = {"openinference.span.kind": "TOOL", "tool.name": "look", "output.value": "no bridge 7"}
    made = conversation(span("look", 1, (0, 1), stated, error="Error running tool (non-fatal)"))
    assert made[1].content["result"] == "no bridge 7"
    assert went_well("tool_result", made[1].content) is False


def test_an_exception_says_more_than_a_status_without_its_words():
    """The message of a recorded exception replaces a general status."""
    raised = [("exception", {"exception.type": "KeyError", "exception.message": "bridge 7"})]
    assert (
        conversation(span("look", 1, (0, 1), tool("look"), error="failed", events=raised))[1].content["result"]
        == "bridge 7"
    )
    kept = conversation(span("look", 1, (0, 1), tool("look"), error="KeyError: bridge 7", events=raised))
    assert kept[1].content["result"] == "KeyError: bridge 7"


@pytest.mark.parametrize(("ok", "success"), [(True, True), (False, None)])
def test_an_empty_output_succeeds_if_the_status_is_ok(ok, success):
    """Without an output, only the status says how a call went."""
    made = conversation(span("look", 1, (0, 1), tool("look"), ok=ok))
    assert made[1].content.get("success") is success


def test_an_error_type_is_a_failure():
    """A tool whose framework handles the error has no error status."""
    made = conversation(span("look", 1, (0, 1), tool("look", error__type="TOOL_ERROR", output__value="no bridge")))
    assert (made[1].content["success"], made[1].content["result"]) == (False, "no bridge")


@pytest.mark.parametrize(
    ("stated", "arguments"),
    [
        ({"tool.parameters": {"q": {"type": "string"}}, "input.value": '{"q": "seven"}'}, {"q": "seven"}),
        ({"tool.parameters": {"type": "object", "properties": {"q": {}}}}, {}),
        ({"tool.parameters": {"q": "seven"}}, {"q": "seven"}),
        (
            {"input.value": {"args": ["seven"], "kwargs": {"k": 1}, "sanitize_inputs_outputs": False}},
            {"args": ["seven"], "k": 1},
        ),
    ],
)
def test_arguments_are_values_and_never_a_schema(stated, arguments):
    """``tool.parameters`` is the schema in some instrumentations, and the arguments in others."""
    spelled = {key: value if isinstance(value, str) else json.dumps(value) for key, value in stated.items()}
    made = conversation(span("look", 1, (0, 1), {"openinference.span.kind": "TOOL", **spelled}))
    assert made[0].content["arguments"] == arguments


# Claude Code.


def claude_spans():
    """A turn of Claude Code: a prompt, a command that works and one that fails."""
    command = {"tool_name": "Bash", "full_command": "make", "tool_use_id": "toolu_1", "session.id": "cc"}
    output = [("tool.output", {"bash_command": "make", "output": "done"})]
    reading = {"tool_name": "Read", "file_path": "/a", "tool_use_id": "toolu_2", "session.id": "cc"}
    return [
        span("invoke_agent", 1, (0, 9), AGENT | chat([words("user", ASK)], [words("assistant", "Built.")]) | AGENT),
        span("claude_code.interaction", 2, (0.1, 8), {"user_prompt": ASK, "session.id": "cc"}, parent=1),
        span("claude_code.llm_request", 3, (1, 2), {"session.id": "cc"}, parent=2),
        span("claude_code.tool", 4, (3, 4), command, parent=2, events=output),
        span("claude_code.tool.blocked_on_user", 5, (3, 3.1), {"decision": "accept"}, parent=4),
        span("claude_code.tool.execution", 6, (3.2, 4), {"success": True}, parent=4),
        span("claude_code.tool", 7, (5, 6), reading, parent=2),
        span("claude_code.tool.execution", 8, (5.2, 6), {"success": False, "error": "no such file"}, parent=7),
    ]


def test_spans_of_claude_code_become_prompts_calls_and_results():
    """The interaction has the prompt, the agent around it the answer, and a child span the outcome of a call."""
    made = conversation(*claude_spans())
    assert shapes(made) == [
        ("message", "user", ASK),
        ("tool_call", "assistant", "Bash"),
        ("tool_result", "tool", "Bash"),
        ("tool_call", "assistant", "Read"),
        ("tool_result", "tool", "Read"),
        ("message", "assistant", "Built."),
    ]
    assert [event.content["arguments"] for event in made[1:4:2]] == [{"command": "make"}, {"file_path": "/a"}]
    assert [(event.content["result"], event.content["success"]) for event in made[2:5:2]] == [
        ("done", True),
        ("no such file", False),
    ]
    assert {event.session_id for event in made} == {"river"}


def test_a_prompt_of_claude_code_needs_no_agent_around_it():
    """The interaction has the prompt."""
    assert shapes(conversation(*claude_spans()[1:]))[0] == ("message", "user", ASK)


def test_left_out_spans_are_counted_and_named():
    """Each span without an event has its reason, by kind or by name without ids, in records with and without events."""
    others = [span(f"GET /bridges/{number}", 20 + number, (0, 1), {}) for number in (1, 2)]
    outcome = outcomes(OPENTELEMETRY, [otlp(*claude_spans(), *others)])[0]
    assert outcome.left_out.count("span 'GET /bridges/*'") == 2
    assert "span 'claude_code.llm_request': content was not recorded" in outcome.left_out
    assert "span of kind decision" not in outcome.left_out
    assert "span 'claude_code.tool.blocked_on_user'" in outcome.left_out
    assert outcomes(OPENTELEMETRY, [otlp(*others)])[0].skipped == "span 'GET /bridges/*' (2 times)"


# Agents.


def json_of(each):
    """The attributes of a span."""
    return {pair["key"]: next(iter(pair["value"].values())) for pair in each["attributes"]}


def test_an_agent_tells_what_its_model_calls_leave_out():
    """An agent's messages are read if the model calls inside have none, and only then."""
    agent = AGENT | chat([words("user", ASK)], [words("assistant", "First. Open.")]) | AGENT
    silent = span("chat", 2, (1, 2), {"gen_ai.operation.name": "chat"}, parent=1)
    spoken = span("chat", 2, (1, 2), chat([words("user", ASK)], [words("assistant", "Open.")]), parent=1)
    outer = span("invoke_agent", 1, (0, 3), agent)
    assert shapes(conversation(outer, silent)) == [("message", "user", ASK), ("message", "assistant", "First. Open.")]
    assert shapes(conversation(outer, spoken)) == [("message", "user", ASK), ("message", "assistant", "Open.")]
    said = [("message", "user", ASK), ("message", "assistant", "Open.")]
    assert shapes(one_by_one([spoken, outer])) == said
    step, deeper = span("step", 3, (1, 2), {}, parent=1), span("chat", 2, (1, 2), json_of(spoken), parent=3)
    assert shapes(one_by_one([deeper, step, outer])) == said
    assert shapes(one_by_one([span("invoke_agent", 1, (0, 3), AGENT | json_of(spoken) | AGENT), spoken])) == said


def test_what_a_sub_agent_was_told_does_not_silence_the_agent_above_its_tool():
    """The user's prompt is read although a model below a tool was prompted, too, in whatever order spans arrive."""
    outer = span("invoke_agent", 1, (0, 5), AGENT | chat([words("user", ASK)], []) | AGENT)
    asks = span("ask_warden", 2, (1, 4), tool("ask_warden"), parent=1)
    below = span("chat", 3, (2, 3), chat([words("user", "Look at 7")], [words("assistant", "Open.")]), parent=2)
    for spans in ([outer, asks, below], [below, asks, outer]):
        assert ASK in [event.content.get("text") for event in one_by_one(spans)]


def test_calls_that_an_agent_lists_are_those_of_its_tools():
    """An agent's span ends last and lists its calls only then; the spans of the tools have the times."""
    stated = {
        "openinference.span.kind": "AGENT",
        "input.value": ASK,
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
        "llm.output_messages.1.message.content.0": "It is open.",
    }
    made = conversation(
        span("run", 1, (0, 9), stated),
        span("look", 2, (1, 2), {"openinference.span.kind": "TOOL", "tool.id": "c1", "tool.name": "look"}, parent=1),
    )
    assert shapes(made) == SEEN


def test_each_turn_of_an_agent_is_heard():
    """Equal messages in two turns are two events; agents of one turn share its prompt."""
    turn = AGENT | chat([words("user", "go on")], [words("assistant", "Done.")]) | AGENT
    other = AGENT | chat([words("user", "go on")], [words("assistant", "Checked.")]) | AGENT
    made = conversation(
        span("invoke_agent", 1, (0, 1), turn),
        span("invoke_agent", 2, (1, 2), other),
        span("invoke_agent", 3, (3, 4), turn, trace="1" * 32),
    )
    assert [event.content["text"] for event in made] == ["go on", "Done.", "Checked.", "go on", "Done."]


def test_an_agent_of_openinference_has_an_input_and_an_output():
    """Text, or an object with the task, is a user message; other objects are not."""
    stated = {"openinference.span.kind": "AGENT", "output.value": "Open."}
    said = [("message", "user", ASK), ("message", "assistant", "Open.")]
    assert shapes(conversation(span("run", 1, (0, 1), stated | {"input.value": ASK}))) == said
    assert shapes(conversation(span("run", 1, (0, 1), stated | {"input.value": json.dumps({"task": ASK})}))) == said
    assert shapes(conversation(span("run", 1, (0, 1), stated | {"input.value": "{'bridge': 7}"}))) == said[1:]


def test_prompts_of_sub_agents_have_the_origin_agent():
    """A tool that runs an agent prompts it, and so does a call whose argument becomes a prompt elsewhere."""
    asked = chat([words("user", ASK)], [call("c1", "ask_warden", {"question": "bridge 7?"})])
    below = chat([words("user", "Look at bridge 7")], [words("assistant", "Open.")])
    beside = chat([words("user", "bridge 7?")], [words("assistant", "Yes.")])
    made = conversation(
        span("chat", 1, (0, 1), asked),
        span("ask_warden", 2, (2, 5), tool("ask_warden", gen_ai__tool__call__id="c1")),
        span("chat", 3, (3, 4), below, parent=2),
        span("chat", 4, (6, 7), beside),
    )
    origins = {event.content["text"]: event.metadata["origin"] for event in made if event.content.get("role") == "user"}
    assert origins == {ASK: "user", "Look at bridge 7": "agent", "bridge 7?": "agent"}


# Order.


def test_an_answer_follows_the_results_that_preceded_it_by_microseconds():
    """A local model answers within the microseconds by which results are sorted behind their time."""
    asked = chat([words("user", ASK)], [call("c1", "look", {}), call("c2", "look", {"bridge": 7})])
    done = {"gen_ai.tool.call.result": "yes"}
    tick = 0.000_010
    made = conversation(
        span("chat", 1, (0, 1), asked),
        span("look", 2, (1, 1 + tick), tool("look", gen_ai__tool__call__id="c1") | done),
        span("look", 3, (1, 1 + tick), tool("look", gen_ai__tool__call__id="c2") | done),
        span("chat", 4, (1 + 2 * tick, 1 + 3 * tick), chat([words("user", ASK)], [words("assistant", "Open.")])),
    )
    assert [event.event_type for event in made[-3:]] == ["tool_result", "tool_result", "message"]


# Repetitions.


@pytest.mark.parametrize("role", ["tool", "user"])
def test_a_call_that_returns_under_another_id_is_the_same_call(role):
    """OpenAI's Agents SDK replays calls under the id of the item, pydantic-ai results in the user's role."""
    asked, again = call("call_1", "look", {"bridge": 7}), call("fc_1", "look", {"bridge": 7})
    second = [words("user", ASK), again, response("fc_1", "yes", role)]
    third = [*second, call("fc_2", "look", {"bridge": 7}), response("fc_2", "yes", role)]
    made = conversation(
        span("chat", 1, (0, 1), chat([words("user", ASK)], [asked])),
        span("look", 2, (2, 3), tool("look", gen_ai__tool__call__id="call_1", gen_ai__tool__call__result="yes")),
        span("chat", 3, (4, 5), chat(second, [call("call_2", "look", {"bridge": 7})])),
        span("look", 4, (6, 7), tool("look", gen_ai__tool__call__result="yes")),
        span("chat", 5, (8, 9), chat(third, [words("assistant", "It is open.")])),
    )
    assert shapes(made) == [*SEEN[:3], *SEEN[1:3], SEEN[3]]
    assert [event.content["call_id"] for event in made[1:5]] == ["call_1", "call_1", "call_2", "call_2"]
    assert not [event for event in made[1:] if event.metadata.get("undated")]


def test_results_under_other_ids_answer_the_calls_that_were_replayed_under_them():
    """The order of results does not matter."""
    asked = [call("call_1", "look", {"bridge": 7}), call("call_2", "look", {"bridge": 8})]
    again = [call("fc_1", "look", {"bridge": 7}), call("fc_2", "look", {"bridge": 8})]
    second = [words("user", ASK), *again, response("fc_2", "no"), response("fc_1", "yes")]
    made = conversation(
        span("chat", 1, (0, 1), chat([words("user", ASK)], asked)),
        span("chat", 2, (2, 3), chat(second, [words("assistant", "Only 7.")])),
    )
    results = {event.content["call_id"]: event.content["result"] for event in made if event.event_type == "tool_result"}
    assert results == {"call_1": "yes", "call_2": "no"}


def test_a_tool_with_an_id_and_arguments_of_its_own_is_another_call():
    """Only a call with the same arguments is the same call under another id."""
    done = {"gen_ai.tool.call.id": "own", "gen_ai.tool.call.arguments": '{"bridge": 8}'}
    asked = chat([words("user", ASK)], [call("c1", "look", {"bridge": 7})])
    made = conversation(span("chat", 1, (0, 1), asked), span("look", 2, (2, 3), tool("look") | done))
    assert [event.content["call_id"] for event in made[1:]] == ["c1", "own", "own"]


def test_a_text_that_adk_wraps_is_the_same_result():
    """A tool that returns a text has it in an object of its own in the next prompt, under a number."""
    found = {"gen_ai.tool.call.arguments": '{"bridge": 7}', "gen_ai.tool.call.result": "yes"}
    second = [words("user", ASK), call("look_1", "look", {"bridge": 7}), response("look_0", {"result": "yes"}, "user")]
    made = conversation(
        span("chat", 1, (0, 1), chat([words("user", ASK)], [call("look_1", "look", {"bridge": 7})])),
        span("look", 2, (2, 3), tool("look") | found),
        span("chat", 3, (4, 5), chat(second, [words("assistant", "It is open.")])),
    )
    assert shapes(made) == SEEN


def test_a_result_names_the_call_that_is_stored():
    """A result is linked to the stored call, not to a replay in a different message."""
    said = call("c1", "look", {"bridge": 7})
    again = {**said, "parts": [{"type": "text", "content": "Let me look."}, *said["parts"]]}
    made = conversation(
        span("chat", 1, (0, 1), chat([words("user", ASK)], [said])),
        span("chat", 2, (2, 3), chat([words("user", ASK), again, response("c1", "yes")], [])),
    )
    calls = {event.event_type: event for event in made}
    assert calls["tool_result"].parent_event_id == calls["tool_call"].event_id


def test_a_replayed_text_is_the_same_with_its_closing_tag():
    """Agents that write code stop the model at a closing tag, and add it back."""
    code = "<code>\nlook(7)\n"
    made = conversation(
        span("chat", 1, (0, 1), chat([words("user", ASK)], [words("assistant", code)])),
        span(
            "chat",
            2,
            (2, 3),
            chat([words("user", ASK), words("assistant", f"{code}</code>")], [words("assistant", "Yes.")]),
        ),
    )
    assert [event.content["text"] for event in made] == [ASK, code, "Yes."]


def test_a_user_who_says_the_same_again_is_heard_again():
    """A prompt that has a message more often than the conversation so far has a new message."""
    first, answer = words("user", "go on"), words("assistant", "Done.")
    made = conversation(
        span("chat", 1, (0, 1), chat([first], [answer])),
        span("chat", 2, (2, 3), chat([first, answer, first], [answer])),
        span(
            "chat", 3, (4, 5), chat([first, answer, first, answer, words("user", "stop")], [words("assistant", "Bye.")])
        ),
    )
    assert [event.content["text"] for event in made] == ["go on", "Done.", "go on", "Done.", "stop", "Bye."]


def test_the_same_call_in_two_spans_is_one_call():
    """The span of an MCP server inside that of its client is a part of the same call; another tool's is a call."""
    shared = {"gen_ai.tool.call.arguments": '{"bridge": 7}', "gen_ai.tool.call.result": "yes"}
    made = conversation(
        span("tools/call look", 1, (0, 3), tool("look") | shared),
        span("tools/call look", 2, (1, 2), tool("look") | shared, parent=1),
        span("measure", 3, (1, 2), tool("measure") | shared, parent=1),
    )
    assert [event.content["tool_name"] for event in made if event.event_type == "tool_call"] == ["look", "measure"]


def test_a_model_call_inside_a_model_call_is_read_once():
    """The framework's span and that of the provider's client hold the same messages and the same failure."""
    inner = chat([words("user", ASK)], [words("assistant", "Open.")])
    outer = span("ChatModel", 1, (0, 3), inner)
    made = conversation(outer, span("chat", 2, (1, 2), inner, parent=1))
    assert [event.metadata["span_id"] for event in made] == [f"{2:016x}"] * 2
    failed = {"gen_ai.operation.name": "chat"}
    both = span("chat", 1, (0, 3), failed, error="busy"), span("chat", 2, (1, 2), failed, error="busy", parent=1)
    assert len(conversation(*both)) == 1


def test_calls_of_the_providers_own_tools_have_their_arguments():
    """The conventions nest the arguments and results of a provider's tool."""
    parts = [
        {"type": "server_tool_call", "name": "web", "server_tool_call": {"type": "web", "query": "bridge 7"}},
        {"type": "server_tool_call_response", "server_tool_call_response": {"type": "web", "hits": 3}},
    ]
    told = {"role": "user", "parts": [{"type": "compaction", "content": "earlier"}]}
    made = conversation(
        span("chat", 1, (0, 1), chat([words("user", ASK), told], [{"role": "assistant", "parts": parts}]))
    )
    assert shapes(made)[0] == ("message", "user", ASK)
    assert [made[1].content["arguments"], made[2].content["result"]] == [{"query": "bridge 7"}, {"hits": 3}]


def test_spans_one_by_one_give_the_same_events_as_together():
    """A source of one span per line may be resumed anywhere."""
    spans = [each for each in adk_spans() if each["name"] != "invoke_agent warden"]
    assert {event.event_id for event in one_by_one(spans)} == {event.event_id for event in conversation(*spans)}
