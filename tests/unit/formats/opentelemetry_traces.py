"""Small traces for the tests of OpenTelemetry: spans as OTLP JSON, and the same in the shapes of other exports."""

import json
from dataclasses import replace
from typing import Any

from hmxgraph.formats.conversion import Record
from hmxgraph.formats.opentelemetry import OPENTELEMETRY
from hmxgraph.protocol.events import Event
from tests.unit.formats.conversions import ORIGIN, events, shape

TRACE = "0af7651916cd43dd8448eb211c80319c"
SECOND = 1_000_000_000
START = 1_773_457_200 * SECOND
Span = dict[str, Any]


def span(name: str, number: int, times: tuple[float, float], attributes: dict[str, Any], **more: Any) -> Span:
    """A span with the id *number*, from and to a second; ``parent`` is a number, ``error`` the text of its status."""
    error, ok = more.get("error"), more.get("ok", False)
    return {
        "traceId": more.get("trace", TRACE),
        "spanId": f"{number:016x}",
        "parentSpanId": f"{more['parent']:016x}" if "parent" in more else "",
        "name": name,
        "startTimeUnixNano": str(START + round(times[0] * SECOND)),
        "endTimeUnixNano": str(START + round(times[1] * SECOND)),
        "attributes": [{"key": key, "value": typed(value)} for key, value in attributes.items()],
        "events": [
            {"name": title, "attributes": [{"key": key, "value": typed(value)} for key, value in fields.items()]}
            for title, fields in more.get("events", ())
        ],
        "status": {"code": 2, "message": error} if error is not None else {"code": 1 if ok else 0},
    }


def typed(value: Any) -> dict[str, Any]:
    """A value of OTLP JSON; objects and lists as nested values."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [typed(part) for part in value]}}
        case dict():
            return {"kvlistValue": {"values": [{"key": key, "value": typed(part)} for key, part in value.items()]}}
    return {} if value is None else {"stringValue": value}


def log(event: str, number: int | None, body: Any = None, **attributes: Any) -> Span:
    """A log record of a GenAI event, in the span with the id *number*."""
    fields = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "timeUnixNano": str(START),
        "eventName": event,
        "traceId": TRACE,
        "spanId": "" if number is None else f"{number:016x}",
        "attributes": [{"key": key, "value": typed(value)} for key, value in fields.items()],
        **({"body": typed(body)} if body is not None else {}),
    }


def otlp(*spans: Span, logs: tuple[Span, ...] = ()) -> dict[str, Any]:
    """Spans and logs as one OTLP export."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    written: dict[str, Any] = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [*spans]}]}]}
    return written | ({"resourceLogs": [{"scopeLogs": [{"logRecords": [*logs]}]}]} if logs else {})


def conversation(*spans: Span, logs: tuple[Span, ...] = ()) -> list[Event]:
    """The events of an export, in their order."""
    return sorted(events(OPENTELEMETRY, [otlp(*spans, logs=logs)]), key=lambda event: event.sequence)


def shapes(made: list[Event]) -> list[tuple[str, str, Any]]:
    """The type, origin and main text of each event."""
    return [shape(event) for event in made]


def one_by_one(parts: list[Span]) -> list[Event]:
    """The events of spans, or exports, that arrive one at a time, as the importer passes the lines of a file."""
    carried: dict[str, Any] = {}
    documents = []
    for line, part in enumerate(parts, 1):
        origin = replace(ORIGIN, carried=json.loads(json.dumps(carried)))
        export = otlp(part) if "spanId" in part else part
        for outcome in OPENTELEMETRY.convert((Record(export, "", line),), origin):
            documents += outcome.events
        carried = origin.carried
    return [Event.parse({**document, "tenant_id": "acme"}) for document in documents]


# Attributes of the conventions.


def words(role: str, *texts: str) -> dict[str, Any]:
    """A message of the GenAI conventions."""
    return {"role": role, "parts": [{"type": "text", "content": text} for text in texts]}


def call(call_id: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A message that calls a tool."""
    part = {"type": "tool_call", "id": call_id, "name": tool, "arguments": arguments}
    return {"role": "assistant", "parts": [part]}


def response(call_id: str, result: Any, role: str = "tool") -> dict[str, Any]:
    """A message with the result of a call."""
    return {"role": role, "parts": [{"type": "tool_call_response", "id": call_id, "response": result}]}


def chat(inputs: list[Any], outputs: list[Any], **more: Any) -> dict[str, Any]:
    """The attributes of a model call."""
    contents = {"gen_ai.input.messages": json.dumps(inputs), "gen_ai.output.messages": json.dumps(outputs)}
    return {"gen_ai.operation.name": "chat", **contents, **{key.replace("__", "."): more[key] for key in more}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    """The attributes of a tool call."""
    stated = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return stated | {key.replace("__", "."): more[key] for key in more}


def adk(request: list[Any], answer: list[Any], **more: Any) -> dict[str, Any]:
    """The attributes of Google's ADK for a request to Gemini and its response; each content is a role and parts."""
    contents = [{"role": role, "parts": parts} for role, parts in request]
    return {
        "gcp.vertex.agent.llm_request": json.dumps({"model": "gemini", "contents": contents}),
        "gcp.vertex.agent.llm_response": json.dumps({"content": {"role": "model", "parts": answer}}),
        **{key.replace("__", "."): more[key] for key in more},
    }


def adk_tool(name: str, arguments: str, result: str, **more: Any) -> dict[str, Any]:
    """The attributes of ADK for a tool call."""
    return tool(name, gcp__vertex__agent__tool_call_args=arguments, gcp__vertex__agent__tool_response=result, **more)
