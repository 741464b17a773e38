"""The span exporter in the real OpenTelemetry SDK: spans become events as they end."""

import asyncio
import json

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the extra adapters-test")

from opentelemetry import trace
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.trace import export
from opentelemetry.sdk.trace.export import in_memory_span_exporter as memory
from opentelemetry.trace import Status, StatusCode

import hmxgraph
from hmxgraph.adapters.opentelemetry import HmxSpanExporter

SHARED = {"gen_ai.conversation.id": "conv-1", "gen_ai.agent.name": "clerk"}
USER = {"role": "user", "parts": [{"type": "text", "content": "Cancel order #W1"}]}
CALL = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "cancel", "arguments": {"id": "#W1"}}]}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "order not found"}]}
DONE = {"role": "assistant", "parts": [{"type": "text", "content": "There is no such order."}]}


def chat(tracer, given, answer):
    """A model call that repeats the conversation so far."""
    messages = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps([answer])}
    with tracer.start_as_current_span("chat", attributes={**SHARED, "gen_ai.operation.name": "chat", **messages}):
        pass


def conversation(tracer):
    """An agent's run: a request, a failing call, the answer."""
    agent = {**SHARED, "gen_ai.operation.name": "invoke_agent"}
    with tracer.start_as_current_span("invoke_agent clerk", attributes=agent):
        chat(tracer, [USER], CALL)
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "cancel", "gen_ai.tool.call.id": "c1"}
        with tracer.start_as_current_span("execute_tool cancel", attributes={**SHARED, **tool}) as span:
            span.set_status(Status(StatusCode.ERROR, "order not found"))
        with tracer.start_as_current_span("GET /orders"):
            pass
        chat(tracer, [USER, CALL, RESULT], DONE)


@pytest.fixture
def spans():
    """The finished spans of a conversation."""
    kept, provider = memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(kept))
    conversation(provider.get_tracer("test"))
    provider.shutdown()
    return kept.get_finished_spans()


def story(graph):
    """The stored conversation, in order."""
    rows = graph.query("explore/session_story", session_id="conv-1").rows
    return [(row["event_type"], row["speaker"], row["text"]) for row in rows]


def test_a_running_program_is_remembered(graph):
    """Each message, call and result is stored once, although every model call repeats the earlier ones."""
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(HmxSpanExporter(graph)))
    conversation(provider.get_tracer("test"))
    assert provider.force_flush()
    provider.shutdown()
    assert [kind for kind, _, _ in story(graph)] == ["message", "tool_call", "tool_result", "message"]
    assert story(graph)[0] == ("message", "user", "Cancel order #W1")
    assert "order not found" in story(graph)[2][2]


def test_one_by_one_is_the_same_as_all_at_once(graph, spans):
    """The stored conversation does not depend on the export batches, and a repeated export adds nothing."""
    exporter = HmxSpanExporter(graph)
    assert [exporter.export([span]) for span in spans] == [export.SpanExportResult.SUCCESS] * len(spans)
    single = story(graph)
    with graph.for_tenant(f"{graph.tenant_id}-2") as other:
        assert HmxSpanExporter(other).export(spans) is export.SpanExportResult.SUCCESS
        assert story(other) == single
    exporter.export(spans)
    assert story(graph) == single


def test_a_graph_that_does_not_answer_fails_the_export(address, graph, spans):
    """A failed export is reported without raising into the traced program; the next export stores the spans."""
    closed = graph.for_tenant(graph.tenant_id)
    exporter = HmxSpanExporter(closed)
    closed.close()
    assert exporter.export(spans) is export.SpanExportResult.FAILURE
    exporter._graph = graph
    assert exporter.export(spans) is export.SpanExportResult.SUCCESS
    assert len(story(graph)) == 4


@pytest.fixture
def traced(monkeypatch):
    """A tracer provider that replaces the global one, and the exporter that keeps its finished spans."""
    kept = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return provider, kept


def test_our_own_calls_are_spans_without_contents(graph, traced, address):
    """Each public call, sync or async, is one span without its contents; a failure carries its error type."""
    _, kept = traced
    graph.record([{"role": "user", "content": "My secret plan"}], session_id="s1")
    graph.append("message", {"role": "user", "text": "x"}, session_id="s1")
    graph.ingest([])
    graph.remember("Never push on a Friday", kind="policy")
    graph.compile()
    graph.suggest(session_id="s1")
    graph.pack("My secret plan")
    with pytest.raises(hmxgraph.NotFound):
        graph.suggest(session_id="My secret session")
    # Reading a task record is none of the named operations.
    graph.records.get(graph.tasks.start(goal="My secret goal").artifact_id)
    calls = ["record", "append", "ingest", "remember", "compile", "suggest", "pack", "suggest"]
    ended = kept.get_finished_spans()
    assert [span.attributes["hmxgraph.call"] for span in ended] == calls
    assert [span.name.split()[0] for span in ended[-3:]] == ["search_memory"] * 3
    assert (ended[-1].status.status_code, ended[-1].attributes["error.type"]) == (StatusCode.ERROR, "NotFound")
    assert "secret" not in "".join(span.to_json() for span in ended)

    async def awaited():
        terms = {"user": address.user, "password": address.password, "database": address.database}
        async with hmxgraph.connect_async(address.uri, **terms, tenant_id=graph.tenant_id) as aio:
            await aio.pack("plan")

    asyncio.run(awaited())
    assert kept.get_finished_spans()[-1].attributes["hmxgraph.call"] == "pack"


def test_storing_spans_makes_none(graph, traced):
    """Storing spans creates no spans, which would be exported in turn; hmxgraph's own spans are not stored."""
    provider, kept = traced
    provider.add_span_processor(export.SimpleSpanProcessor(HmxSpanExporter(graph)))
    conversation(provider.get_tracer("agent"))
    graph.pack("Cancel order #W1")
    assert [span.attributes.get("hmxgraph.call") for span in kept.get_finished_spans()][-2:] == [None, "pack"]
    assert len(story(graph)) == 4
