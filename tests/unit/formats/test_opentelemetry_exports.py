"""Traces in the shapes of OTLP, Tempo, Jaeger and exporters to JSON lines are read alike."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmxgraph.formats.catalogue import recognise
from hmxgraph.formats.opentelemetry import OPENTELEMETRY
from tests.unit.formats.conversions import events, outcomes, recognised
from tests.unit.formats.opentelemetry_traces import (
    TRACE,
    call,
    chat,
    conversation,
    log,
    one_by_one,
    otlp,
    shapes,
    span,
    tool,
    words,
)
from tests.unit.formats.test_damaged_input import JUNK, converted, places, replaced, without

ASK = "Is bridge 7 open?"
ASKED = chat([words("user", ASK)], [call("c1", "look", {"bridge": 7})], gen_ai__conversation__id="river")
FOUND = tool("look", gen_ai__tool__call__id="c1", gen_ai__tool__call__arguments='{"bridge": 7}')
SPANS = [span("chat", 1, (0, 1), ASKED), span("look", 2, (2, 3.5), FOUND, error="no bridge", parent=1)]
SAID = [("message", "user", ASK), ("tool_call", "assistant", "look"), ("tool_result", "tool", "look")]


def plain(each):
    """The attributes of a span as an object."""
    return {pair["key"]: next(iter(pair["value"].values())) for pair in each["attributes"]}


def moment(nanoseconds):
    """A time as the SDK writes it."""
    return datetime.fromtimestamp(int(nanoseconds) / 1e9, UTC).isoformat().replace("+00:00", "Z")


def tempo(spans):
    """Tempo's answer."""
    scopes = [{"instrumentationLibrarySpans": [{"spans": spans}]}]
    return [{"batches": [{"resource": {"attributes": []}, **scopes[0]}]}]


def jaeger(spans):
    """Jaeger's answer."""
    return [
        {"data": [{"traceID": TRACE, "spans": [jaeger_span(each) for each in spans], "processes": {"p1": PROCESS}}]}
    ]


PROCESS = {"serviceName": "shop", "tags": [{"key": "host", "type": "string", "value": "h"}]}


def jaeger_span(each):
    """A span of Jaeger."""
    start, end = (int(each[field]) // 1000 for field in ("startTimeUnixNano", "endTimeUnixNano"))
    tags = [{"key": key, "type": "string", "value": value} for key, value in plain(each).items()]
    if each["status"]["code"] == 2:
        tags += [
            {"key": "error", "type": "bool", "value": True},
            {"key": "otel.status_description", "type": "string", "value": each["status"]["message"]},
        ]
    parent = {"refType": "CHILD_OF", "traceID": TRACE, "spanID": each["parentSpanId"]}
    before = {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": "00000000000000ff"}
    return {
        "traceID": TRACE,
        "spanID": each["spanId"],
        "operationName": each["name"],
        "references": [before, parent] if each["parentSpanId"] else [before],
        "startTime": start,
        "duration": end - start,
        "tags": tags,
        "logs": [],
        "processID": "p1",
    }


def flat(spans):
    """One record per span, as exporters to JSON lines write them."""
    codes = {0: "STATUS_CODE_UNSET", 2: "STATUS_CODE_ERROR"}
    return [
        {
            "trace_id": TRACE,
            "span_id": each["spanId"],
            "parent_span_id": each["parentSpanId"] or None,
            "name": each["name"],
            "start_time": moment(each["startTimeUnixNano"]),
            "end_time": moment(each["endTimeUnixNano"]),
            "status": {"code": codes[each["status"]["code"]], "message": each["status"].get("message", "")},
            "resource": {"attributes": {"service.name": "shop"}},
            "attributes": plain(each),
        }
        for each in spans
    ]


def flat_with_nanoseconds(spans):
    """The same with times as numbers, in an envelope."""
    records = flat(spans)
    for record, each in zip(records, spans, strict=True):
        record |= {"start_time": int(each["startTimeUnixNano"]), "end_time": int(each["endTimeUnixNano"])}
    return [{"session_id": "x", "span_count": len(records), "spans": records}]


def sdk(spans):
    """The console exporter's records; OpenInference's platform nests attributes and states the status next to them."""
    return [
        {
            "name": record["name"],
            "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{record['span_id']}"},
            "parent_id": record["parent_span_id"],
            "start_time": record["start_time"],
            "end_time": record["end_time"],
            "status_code": record["status"]["code"].removeprefix("STATUS_CODE_"),
            "status_message": record["status"]["message"],
            "attributes": record["attributes"],
        }
        for record in flat(spans)
    ]


@pytest.mark.parametrize(
    "export", [tempo, jaeger, flat, flat_with_nanoseconds, sdk, lambda spans: [{"trace": otlp(*spans)}]]
)
def test_each_export_gives_the_events_of_otlp(export):
    """Ids, texts, times, outcomes and parents do not depend on the tool that wrote the trace."""
    records = export(SPANS)
    assert recognised(records) == "opentelemetry"
    made, expected = events(OPENTELEMETRY, records), conversation(*SPANS)
    assert shapes(expected) == SAID
    if export in {jaeger, flat, flat_with_nanoseconds}:
        assert {event.agent_id for event in made} == {"shop"}
    for field in ("event_id", "session_id", "sequence", "content", "parent_event_id", "metadata"):
        values = [sorted(str(getattr(event, field)) for event in found) for found in (made, expected)]
        assert values[0] == values[1], field


def test_the_status_ok_is_read_from_each_export():
    """A call without an output succeeded if its status is OK."""
    done = span("look", 2, (2, 3), FOUND, ok=True)
    records = [otlp(done), flat([{**done, "status": {"code": 0}}])[0] | {"status": {"code": "STATUS_CODE_OK"}}]
    for record in records:
        assert events(OPENTELEMETRY, [record])[1].content["success"] is True


def test_nested_attributes_are_spelled_out():
    """Phoenix stores OpenInference's attributes as objects."""
    message = {"message": {"role": "user", "content": ASK}}
    nested = {"openinference": {"span": {"kind": "LLM"}}, "llm": {"input_messages": [message]}}
    record = sdk(SPANS[:1])[0] | {"attributes": nested}
    assert shapes(events(OPENTELEMETRY, [record])) == SAID[:1]


def test_what_is_no_trace_is_not_taken_for_one():
    """Lines of a program's log name a trace and a span, too."""
    line = {"level": "info", "message": "started", "trace_id": TRACE, "span_id": "0000000000000001"}
    assert recognised([line]) == ""
    assert recognised([{"batches": [{"id": 1}]}]) == ""


@pytest.mark.parametrize(
    "record",
    [
        {"data": [{"spans": [{"span_id": "a"}]}]},
        {"spans": [{"spanID": 7}]},
        {"span_id": "a", "trace_id": "b", "message": "x"},
        {"scopeSpans": []},
    ],
)
def test_a_trace_that_is_not_understood_is_named_as_a_trace(record):
    """The nearest format is OpenTelemetry's, not HMX-E."""
    recognition = recognise([record])
    assert recognition.format is None
    assert "OpenTelemetry" in str(recognition)


# Logs.

USER = log("gen_ai.user.message", 1, {"content": ASK})
CHOICE = log(
    "gen_ai.choice",
    1,
    {
        "index": 0,
        "message": {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"bridge": 7}'}}
            ],
        },
    },
)
BARE = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "river"}
CALLS = [span("chat", 1, (0, 1), BARE), span("chat", 2, (3, 4), BARE)]


def test_contents_in_logs_belong_to_their_spans():
    """Messages, calls, results and answers in log records make the conversation of the spans that they name."""
    logs = (
        log("gen_ai.system.message", 1, {"content": "Be brief."}),
        USER,
        CHOICE,
        log("gen_ai.user.message", 2, {"content": ASK}),
        log(
            "gen_ai.assistant.message",
            2,
            {"tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]},
        ),
        log("gen_ai.tool.message", 2, {"id": "c1", "content": "yes"}),
        log("gen_ai.choice", 2, {"index": 0, "message": {"content": "It is open."}}),
    )
    made = conversation(*CALLS, logs=logs)
    assert shapes(made) == [*SAID, ("message", "assistant", "It is open.")]
    assert made[1].content["arguments"] == {"bridge": 7}
    assert made[2].content["result"] == "yes"
    assert {event.session_id for event in made} == {"river"}


def test_details_of_a_model_call_are_read_from_its_log():
    """The conventions' newer event has the messages as attributes, as text or as values."""
    inputs, outputs = [words("user", ASK)], [words("assistant", "Open.")]
    name = "gen_ai.client.inference.operation.details"
    for spell in (json.dumps, lambda value: value):
        details = {"gen_ai__input__messages": spell(inputs), "gen_ai__output__messages": spell(outputs)}
        record = log("", 1, otel__event__name=name, **details)
        assert shapes(conversation(CALLS[0], logs=(record,))) == [SAID[0], ("message", "assistant", "Open.")]


def test_contents_of_gemini_in_logs_have_fields_without_a_value():
    """The instrumentation of Google's client writes every field of a part."""
    asked = {"content": {"role": "user", "parts": [{"function_call": None, "text": ASK}]}}
    called = {"content": {"role": "model", "parts": [{"function_call": {"id": None, "name": "look"}, "text": None}]}}
    logs = (log("gen_ai.user.message", 1, asked), log("gen_ai.choice", 1, called))
    assert shapes(conversation(CALLS[0], logs=logs)) == SAID[:2]


def test_withheld_contents_are_no_messages():
    """Instrumentation that must not record contents writes placeholders instead."""
    withheld = log("gen_ai.user.message", 1, {"content": "<elided>"})
    assert outcomes(OPENTELEMETRY, [otlp(CALLS[0], logs=(withheld,))])[0].events == ()


def test_logs_of_another_export_are_read_as_their_span():
    """Logs and spans often arrive apart, in either order, and a span is not taken for a copy of its logs."""
    alone = {"resourceLogs": [{"scopeLogs": [{"logRecords": [USER, CHOICE]}]}]}
    assert recognised([alone]) == "opentelemetry"
    for records in ([otlp(CALLS[0]), alone], [alone, otlp(CALLS[0])]):
        made = events(OPENTELEMETRY, records)
        assert shapes(made) == SAID[:2]
        assert {event.session_id for event in made} == {"river"}
    details = {"resourceLogs": [{"scopeLogs": [{"logRecords": [log("gen_ai.client.inference.operation.details", 1)]}]}]}
    assert shapes(events(OPENTELEMETRY, [details, otlp(SPANS[0])])) == SAID[:2]


def test_logs_in_snake_case_have_a_span():
    """Some exporters write the fields of a log record as the protocol's schema names them."""
    spelling = {"spanId": "span_id", "traceId": "trace_id", "timeUnixNano": "observed_time_unix_nano"}
    said = {spelling.get(name, name): value for name, value in USER.items()}
    outcome = outcomes(OPENTELEMETRY, [otlp(*CALLS, SPANS[1], logs=(said,))])[0]
    assert "log record 'gen_ai.user.message' without a span" not in outcome.left_out
    assert shapes(conversation(CALLS[0], logs=(said, CHOICE))) == SAID[:2]


def test_logs_before_their_span_count_for_the_agent_around_it():
    """An agent's span does not repeat the logs of a model call."""
    agent = chat([words("user", ASK)], [words("assistant", "Open.")]) | {"gen_ai.operation.name": "invoke_agent"}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [USER, log("gen_ai.choice", 1, {"content": "It is."})]}]}]}
    made = one_by_one([logs, span("chat", 1, (0, 1), BARE, parent=9), span("invoke_agent", 9, (0, 2), agent)])
    assert shapes(made) == [SAID[0], ("message", "assistant", "It is.")]


def test_a_log_without_a_span_belongs_to_the_only_model_call():
    """If its trace has several, the log is left out by name, like logs of other programs."""
    nowhere = log("gen_ai.user.message", None, {"content": ASK})
    other = log("app.started", 1, {"content": "x"})
    assert shapes(conversation(CALLS[0], logs=(nowhere,))) == SAID[:1]
    outcome = outcomes(OPENTELEMETRY, [otlp(*CALLS, SPANS[1], logs=(nowhere, other))])[0]
    assert "log record 'gen_ai.user.message' without a span" in outcome.left_out
    assert "log record 'app.started'" in outcome.left_out


@pytest.mark.parametrize("field", ["event.name", "otel.event.name", ""])
def test_an_evaluation_in_a_log_is_feedback(field):
    """The event's name is a field of the record, or one of two attributes."""
    name = "gen_ai.evaluation.result"
    judged = {"gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.label": "relevant"}
    record = log("" if field else name, 1, **judged, **({field: name} if field else {}))
    made = conversation(SPANS[0], logs=(record,))
    assert [event.content for event in made if event.event_type == "feedback"] == [
        {"signal": "positive", "criterion": "Relevance"}
    ]


def test_events_of_spans_hold_contents_as_logs_do():
    """Strands writes messages, arguments and results as events of a span, with contents as JSON."""
    told = [
        ("gen_ai.user.message", {"content": json.dumps([{"text": ASK}])}),
        ("gen_ai.choice", {"message": json.dumps([{"text": "Open."}]), "finish_reason": "end_turn"}),
    ]
    ran = [
        ("gen_ai.tool.message", {"role": "tool", "content": '{"bridge": 7}', "id": "c1"}),
        ("gen_ai.choice", {"message": '[{"text": "yes"}]', "id": "c1"}),
    ]
    made = conversation(span("chat", 1, (0, 1), BARE, events=told), span("look", 2, (2, 3), tool("look"), events=ran))
    assert shapes(made) == [SAID[0], ("message", "assistant", "Open."), *SAID[1:]]
    assert made[2].content["arguments"] == {"bridge": 7}


# Damage.

LOGGED = otlp(*CALLS, logs=(USER, CHOICE))
RECORDS = [*tempo(SPANS), *jaeger(SPANS), *flat(SPANS), *flat_with_nanoseconds(SPANS), *sdk(SPANS), LOGGED]


@given(st.data())
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_exports_never_raise(data):
    """A record with any part replaced by junk, or taken away, is an outcome like any other."""
    record = data.draw(st.sampled_from(RECORDS))
    path = data.draw(st.sampled_from(list(places(record))))
    keep = not path or data.draw(st.booleans())
    damaged = replaced(record, path, data.draw(JUNK)) if keep else without(record, path)
    converted(OPENTELEMETRY, [damaged])
    recognise([damaged])


def test_exports_one_by_one_give_the_same_events():
    """Spans in exports of their own make one conversation."""
    assert {event.event_id for event in one_by_one(SPANS)} == {event.event_id for event in conversation(*SPANS)}
