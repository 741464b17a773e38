"""Traces made by the real OpenTelemetry SDK and OpenInference become events."""

import json

import pytest

from hmxgraph.formats.opentelemetry import OPENTELEMETRY
from hmxgraph.protocol.events import went_well
from tests.unit.formats.conversions import NEEDED, events, outcomes, recognised, shape

json_format = pytest.importorskip("google.protobuf.json_format", reason=NEEDED)
oi = pytest.importorskip("openinference.instrumentation", reason=NEEDED)
trace_encoder = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder", reason=NEEDED)
resources = pytest.importorskip("opentelemetry.sdk.resources", reason=NEEDED)
sdk = pytest.importorskip("opentelemetry.sdk.trace", reason=NEEDED)
export = pytest.importorskip("opentelemetry.sdk.trace.export", reason=NEEDED)
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter", reason=NEEDED)
gen_ai = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes", reason=NEEDED)
trace = pytest.importorskip("opentelemetry.trace", reason=NEEDED)

SECOND = 1_000_000_000
START = 1_773_457_200 * SECOND


@pytest.fixture
def tracing():
    """A tracer, and the exporter that has its finished spans."""
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": "shop"}))
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    yield provider.get_tracer("test"), exporter
    provider.shutdown()


def span(tracing, name, second, attributes, *, failed="", seconds=1):
    """A finished span."""
    made = tracing[0].start_span(name, start_time=START + second * SECOND, attributes=attributes)
    if failed:
        made.set_status(trace.Status(trace.StatusCode.ERROR, failed))
    made.end(START + (second + seconds) * SECOND)


def written(tracing, form):
    """The finished spans as records: OTLP JSON, or one line per span as the SDK prints it."""
    spans = tracing[1].get_finished_spans()
    if form == "sdk":
        return [json.loads(each.to_json()) for each in spans]
    return [json_format.MessageToDict(trace_encoder.encode_spans(spans))]


def genai_session(tracing):
    """A user's request, a tool call that fails, and the answer, as the GenAI conventions record them."""
    user = {"role": "user", "parts": [{"type": "text", "content": "Cancel #W1"}]}
    call = {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "cancel", "arguments": {"id": "#W1"}}],
        "finish_reason": "tool_call",
    }
    response = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "not found"}]}
    done = {"role": "assistant", "parts": [{"type": "text", "content": "No such order."}], "finish_reason": "stop"}
    shared = {
        gen_ai.GEN_AI_CONVERSATION_ID: "conv-1",
        gen_ai.GEN_AI_AGENT_NAME: "clerk",
        gen_ai.GEN_AI_REQUEST_MODEL: "gpt-5",
    }
    chat = {
        **shared,
        gen_ai.GEN_AI_OPERATION_NAME: "chat",
        gen_ai.GEN_AI_SYSTEM_INSTRUCTIONS: '[{"type": "text", "content": "x"}]',
    }
    span(
        tracing,
        "chat gpt-5",
        0,
        {**chat, gen_ai.GEN_AI_INPUT_MESSAGES: json.dumps([user]), gen_ai.GEN_AI_OUTPUT_MESSAGES: json.dumps([call])},
    )
    tool = {
        gen_ai.GEN_AI_OPERATION_NAME: "execute_tool",
        gen_ai.GEN_AI_TOOL_NAME: "cancel",
        gen_ai.GEN_AI_TOOL_CALL_ID: "c1",
    }
    span(
        tracing,
        "execute_tool cancel",
        2,
        {**shared, **tool, gen_ai.GEN_AI_TOOL_CALL_ARGUMENTS: '{"id": "#W1"}'},
        failed="order not found",
    )
    span(
        tracing,
        "chat gpt-5",
        4,
        {
            **chat,
            gen_ai.GEN_AI_INPUT_MESSAGES: json.dumps([user, call, response]),
            gen_ai.GEN_AI_OUTPUT_MESSAGES: json.dumps([done]),
        },
    )
    span(tracing, "invoke_agent clerk", 0, {**shared, gen_ai.GEN_AI_OPERATION_NAME: "invoke_agent"}, seconds=6)
    span(tracing, "GET /orders", 2, {"http.request.method": "GET"})


@pytest.mark.parametrize("form", ["otlp", "sdk"])
def test_genai_spans_become_one_conversation(tracing, form):
    """A conversation that every model call repeats becomes one event per message, call and result."""
    genai_session(tracing)
    records = written(tracing, form)
    made = sorted(events(OPENTELEMETRY, records), key=lambda event: event.sequence)
    assert [shape(event) for event in made] == [
        ("message", "user", "Cancel #W1"),
        ("tool_call", "assistant", "cancel"),
        ("tool_result", "tool", "cancel"),
        ("message", "assistant", "No such order."),
    ]
    assert {(event.session_id, event.agent_id) for event in made} == {("conv-1", "clerk")}
    assert went_well("tool_result", made[2].content) is False
    assert made[2].content["result"] == "order not found"
    assert made[2].content["duration_ms"] == 1000
    assert recognised(records) == "opentelemetry"


def test_what_is_no_model_or_tool_call_is_left_out_by_name(tracing):
    """Spans without text are named in the outcome."""
    genai_session(tracing)
    outcome = outcomes(OPENTELEMETRY, written(tracing, "otlp"))[0]
    assert "span of kind invoke_agent" in outcome.left_out
    assert "span 'GET /orders'" in outcome.left_out


def test_openinference_spans_become_one_conversation(tracing):
    """The same from OpenInference's flat attributes, where a tool's span does not know the id of its call."""
    user = oi.Message(role="user", contents=[oi.TextMessageContent(type="text", text="Cancel #W1")])
    asked = oi.Message(
        role="assistant",
        tool_calls=[oi.ToolCall(id="c1", function=oi.ToolCallFunction(name="cancel", arguments={"id": "#W1"}))],
    )
    response = oi.Message(role="tool", content="done", tool_call_id="c1")
    shared = {**oi.get_session_attributes(session_id="conv-2"), **oi.get_user_id_attributes(user_id="ana")}
    model = {**shared, **oi.get_span_kind_attributes("llm")}
    first = oi.get_llm_attributes(model_name="gpt-5", input_messages=[user], output_messages=[asked])
    second = oi.get_llm_attributes(
        input_messages=[user, asked, response], output_messages=[oi.Message(role="assistant", content="Done.")]
    )
    tool = {
        **oi.get_span_kind_attributes("tool"),
        "tool.name": "cancel",
        **oi.get_input_attributes({"id": "#W1"}),
        **oi.get_output_attributes("done"),
    }
    span(tracing, "ChatCompletion", 0, {**model, **first})
    span(tracing, "cancel", 2, {**shared, **tool})
    span(tracing, "ChatCompletion", 4, {**model, **second})
    made = sorted(events(OPENTELEMETRY, written(tracing, "otlp")), key=lambda event: event.sequence)
    assert [shape(event) for event in made] == [
        ("message", "user", "Cancel #W1"),
        ("tool_call", "assistant", "cancel"),
        ("tool_result", "tool", "cancel"),
        ("message", "assistant", "Done."),
    ]
    assert made[0].metadata["user_id"] == "ana"
    assert made[1].content["arguments"] == {"id": "#W1"}
    assert made[2].content["call_id"] == "c1"


def test_a_failed_model_call_is_an_error(tracing):
    """A model call whose status is an error becomes an error event with its message."""
    attributes = {gen_ai.GEN_AI_OPERATION_NAME: "chat", "error.type": "RateLimitError"}
    span(tracing, "chat", 0, attributes, failed="slow down")
    made = events(OPENTELEMETRY, written(tracing, "otlp"))
    assert made[0].content == {"error_type": "RateLimitError", "message": "slow down"}


def test_retrievals_and_evaluations_are_read(tracing):
    """Retrieved documents become an observation, a judgement becomes feedback."""
    retrieval = {gen_ai.GEN_AI_OPERATION_NAME: "retrieval", gen_ai.GEN_AI_RETRIEVAL_QUERY_TEXT: "refunds"}
    documents = {gen_ai.GEN_AI_RETRIEVAL_DOCUMENTS: json.dumps([{"id": "d1", "content": "30 days"}])}
    span(tracing, "retrieval", 0, {**retrieval, **documents})
    made = tracing[0].start_span(
        "evaluate", start_time=START + 2 * SECOND, attributes=oi.get_span_kind_attributes("evaluator")
    )
    made.add_event(
        "gen_ai.evaluation.result",
        {gen_ai.GEN_AI_EVALUATION_NAME: "Relevance", gen_ai.GEN_AI_EVALUATION_SCORE_LABEL: "fail"},
    )
    made.end(START + 3 * SECOND)
    converted = events(OPENTELEMETRY, written(tracing, "otlp"))
    assert converted[0].content == {"title": "refunds", "text": "30 days"}
    assert converted[1].content == {"signal": "negative", "criterion": "Relevance"}
