"""A traced program that is remembered: spans of models and tools become events as they end.

    pip install hmxgraph[local] opentelemetry-sdk
    python examples/opentelemetry_exporter.py

The spans are made by hand here; in a real program the instrumentation of your framework makes them.
"""

import json

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Tracer

import hmxgraph
from hmxgraph.adapters.opentelemetry import HmxSpanExporter

USER = {"role": "user", "parts": [{"type": "text", "content": "Which cluster does staging run on?"}]}
SHARED = {"gen_ai.conversation.id": "conversation-1", "gen_ai.agent.name": "deployer"}


def ask(tracer: Tracer) -> None:
    """Trace a model call whose answer is a tool call, then the tool."""
    part = {"type": "tool_call", "id": "c1", "name": "cluster_of", "arguments": {"environment": "staging"}}
    answer = json.dumps([{"role": "assistant", "parts": [part]}])
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([USER]),
        "gen_ai.output.messages": answer,
    }
    with tracer.start_as_current_span("chat", attributes=SHARED | chat):
        pass
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "cluster_of", "gen_ai.tool.call.id": "c1"}
    with tracer.start_as_current_span("execute_tool", attributes=SHARED | tool) as span:
        span.set_attribute("gen_ai.tool.call.result", json.dumps("juniper"))


def main() -> None:
    """Trace a conversation, then read what was stored of it."""
    with hmxgraph.connect(tenant_id="example-opentelemetry") as graph:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(HmxSpanExporter(graph)))
        ask(provider.get_tracer("example"))
        provider.shutdown()
        for event in graph.query("explore/session_story", session_id="conversation-1"):
            print(f"{event['event_type']}: {event['text']}")


if __name__ == "__main__":
    main()
