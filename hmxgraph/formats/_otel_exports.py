"""Trace exports of various tools, converted to spans of OTLP JSON.

Tempo keeps OTLP's resource spans under ``batches``. Jaeger writes ``data``, with typed tags and times in microseconds.
Exporters to JSON lines write one span per record, with their own field names. Log records (``resourceLogs``) are added
to the spans in which they were written, because since 2024 the GenAI conventions put the contents of messages there.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.formats._spans import Span, SpanEvent, attributes, spans_in
from hmxgraph.formats._values import listed, mapping, moment, name, text
from hmxgraph.formats.conversion import JsonObject

# Jaeger's names for the status of a span.
_STATUS, _STATUS_TEXT = "otel.status_code", "otel.status_description"
_MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})
# Fields by which a record looks like a trace or a span.
_TRACE_FIELDS = frozenset(
    {"resourceSpans", "resource_spans", "resourceLogs", "scopeSpans", "spanId", "span_id", "spanID"}
)
# Attribute groups of OpenInference that may be nested, as in {"llm": {"model_name": "m"}}; the SDK writes dotted keys,
# as in {"llm.model_name": "m"}.
_NESTED = ("llm", "input", "output", "openinference", "tool", "session", "user", "gen_ai", "retrieval")
# Objects nested deeper are kept as they are.
_DEEPEST = 20
# Maximum number of characters of a 64-bit integer with its sign.
_LONGEST_INTEGER = 20
# Attributes that `_call_of` copies from a log record to the span of its model call.
_IDENTITY = ("gen_ai.conversation.id", "session.id", "gen_ai.agent.name", "gen_ai.request.model", "user.id")


@dataclass(frozen=True, slots=True)
class Export:
    """The spans of a record in order of start, and the reason for each log record that was left out."""

    spans: tuple[Span, ...] = ()
    left_out: tuple[str, ...] = ()


def is_like_trace(value: Mapping[str, Any]) -> bool:
    """Whether a record has the fields of a trace export, supported or not.

    >>> is_like_trace({"spanID": "a"}), is_like_trace({"role": "user"})
    (True, False)
    """
    return bool(_TRACE_FIELDS & value.keys()) or any(
        bool(_TRACE_FIELDS & mapping(part).keys()) for part in _first_parts(value)
    )


def _first_parts(value: Mapping[str, Any]) -> Iterator[Any]:
    """The first element of each list in which a record may keep spans or traces."""
    for field in ("spans", "data", "traces"):
        parts = listed(value.get(field))
        yield from parts[:1]
        yield from listed(mapping(parts[0] if parts else None).get("spans"))[:1]


def exported(value: Mapping[str, Any]) -> Export | None:
    """The spans of a record, with their logs; None if the record contains neither.

    >>> exported({"resourceSpans": []}), exported({"role": "user"})
    (Export(spans=(), left_out=()), None)
    """
    otlp = _as_otlp(value)
    logs = listed(value.get("resourceLogs", value.get("resource_logs")))
    if otlp is None and not logs:
        return None
    spans = spans_in(otlp) if otlp is not None else []
    return _with_logs(spans or [], list(_log_records(logs)))


def _as_otlp(value: Mapping[str, Any]) -> JsonObject | None:
    """A record as OTLP JSON, or as a span of the SDK, which ``spans_in`` reads as well; None if it is neither."""
    inner = value.get("trace")
    if isinstance(inner, Mapping) and ("resourceSpans" in inner or "batches" in inner):
        value = inner
    for field in ("resourceSpans", "resource_spans", "batches"):
        if isinstance(value.get(field), list) and (field != "batches" or _are_of_tempo(value[field])):
            return {"resourceSpans": value[field]}
    context = mapping(value.get("context"))
    if "trace_id" in context and "span_id" in context:
        return _sdk(value)
    if _is_span(value):
        return _wrapped([_resource_span(value)])
    if traces := _jaeger_traces(value):
        return _wrapped(span for trace in traces for span in _of_jaeger(trace))
    spans = [mapping(part) for part in listed(value.get("spans"))]
    if spans and all(map(_is_span, spans)):
        return _wrapped(_resource_span(span) for span in spans)
    return None


def _are_of_tempo(batches: list[Any]) -> bool:
    return bool(batches) and all(_SCOPES & mapping(part).keys() for part in batches)


_SCOPES = frozenset({"scopeSpans", "scope_spans", "instrumentationLibrarySpans"})


def _wrapped(resource_spans: Iterable[JsonObject]) -> JsonObject:
    return {"resourceSpans": list(resource_spans)}


# OTLP and the SDK.


def _sdk(value: Mapping[str, Any]) -> JsonObject:
    """A span written by the SDK's console exporter, or by Phoenix, which puts ``status_code`` into the span itself."""
    status = value.get("status")
    if not isinstance(status, Mapping):
        status = {"status_code": value.get("status_code", status), "description": value.get("status_message")}
    return {**value, "status": status, "attributes": _spread(attributes(value.get("attributes")))}


def _spread(fields: JsonObject) -> JsonObject:
    """The attributes *fields*, with the objects under the names in ``_NESTED`` flattened to dotted keys."""
    flat: JsonObject = {}
    for key, value in fields.items():
        if key in _NESTED and isinstance(value, Mapping):
            flat |= dict(_dotted(value, key, 0))
        else:
            flat[key] = value
    return flat


def _dotted(value: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list) and all(isinstance(part, Mapping) for part in value):
        inner = enumerate(value)
    if not inner or depth > _DEEPEST:
        yield prefix, value
        return
    for key, part in inner:
        yield from _dotted(part, f"{prefix}.{key}", depth + 1)


# One span per record, as exporters to JSON lines write it.


def _is_span(span: Mapping[str, Any]) -> bool:
    """Whether a record is a span: it has OTLP's ``traceId`` and ``spanId``, or ids under other names and a start.

    The start distinguishes spans from log lines, which often have such ids as well.
    """
    if "traceId" in span and "spanId" in span:
        return True
    ids = (span.get("trace_id", span.get("traceId")), span.get("span_id", span.get("spanId")))
    return all(isinstance(part, str) for part in ids) and _first(span, _STARTS) is not None


_STARTS = ("start_time", "startTime", "startTimeUnixNano", "start_time_unix_nano", "start_time_unix_nanos", "start")
_ENDS = ("end_time", "endTime", "endTimeUnixNano", "end_time_unix_nano", "end_time_unix_nanos", "end")
_PARENTS = ("parentSpanId", "parent_span_id", "parent_id", "parentId")


def _first(span: Mapping[str, Any], fields: Iterable[str]) -> Any:
    return next((span[field] for field in fields if span.get(field) not in (None, "")), None)


def _otlp_span(span: Mapping[str, Any]) -> JsonObject:
    """A span with the field names of OTLP JSON in place of the exporter's own."""
    status = span.get("status", span.get("status_code"))
    if not isinstance(status, Mapping):
        status = {"code": status, "message": span.get("status_message")}
    words = _first(status, ("message", "description"))
    code = status.get("code", status.get("status_code"))
    events = listed(span.get("events")) or listed(span.get("span_events"))
    return {
        "traceId": _first(span, ("traceId", "trace_id")),
        "spanId": _first(span, ("spanId", "span_id")),
        "parentSpanId": _first(span, _PARENTS),
        "name": span.get("name"),
        "startTimeUnixNano": _first(span, _STARTS),
        "endTimeUnixNano": _first(span, _ENDS),
        "attributes": _spread(attributes(span.get("attributes"))),
        "events": [_event(mapping(event)) for event in events],
        "status": {"code": code, "message": words},
    }


def _resource_span(span: Mapping[str, Any]) -> JsonObject:
    resource = mapping(span.get("resource"))
    return {
        "resource": {"attributes": resource.get("attributes", resource)},
        "scopeSpans": [{"spans": [_otlp_span(span)]}],
    }


def _event(event: Mapping[str, Any]) -> JsonObject:
    body = event.get("body")
    event_attributes = attributes(event.get("attributes")) | ({"body": body} if body else {})
    return {"name": event.get("name", event.get("event_name")), "attributes": event_attributes}


# Jaeger.


def _jaeger_traces(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The traces in a response of Jaeger's API (under ``data``), or the single trace in a download."""
    traces = [mapping(part) for part in listed(value.get("data"))] or [value]
    return [trace for trace in traces if any(map(_is_of_jaeger, listed(trace.get("spans"))))]


def _is_of_jaeger(span: Any) -> bool:
    return isinstance(mapping(span).get("spanID"), str) and isinstance(mapping(span).get("traceID"), str)


def _of_jaeger(trace: Mapping[str, Any]) -> Iterator[JsonObject]:
    processes = mapping(trace.get("processes"))
    for span in map(mapping, listed(trace.get("spans"))):
        process = mapping(processes.get(name(span.get("processID")), span.get("process")))
        resource = _tags(process.get("tags")) | {"service.name": process.get("serviceName")}
        yield {"resource": {"attributes": resource}, "scopeSpans": [{"spans": [_jaeger_span(span)]}]}


def _jaeger_span(span: Mapping[str, Any]) -> JsonObject:
    tags = _tags(span.get("tags"))
    failed = tags.get(_STATUS) == "ERROR" or tags.get("error") in (True, "true")
    start, duration = span.get("startTime"), span.get("duration")
    end = start + duration if isinstance(start, int) and isinstance(duration, int) else None
    return {
        "traceId": span.get("traceID"),
        "spanId": span.get("spanID"),
        "parentSpanId": _jaeger_parent(span),
        "name": span.get("operationName"),
        "startTimeUnixNano": _nanoseconds(start),
        "endTimeUnixNano": _nanoseconds(end),
        "attributes": tags,
        "events": [_jaeger_log(mapping(log)) for log in listed(span.get("logs"))],
        "status": {"code": "ERROR" if failed else tags.get(_STATUS), "message": tags.get(_STATUS_TEXT)},
    }


def _nanoseconds(microseconds: Any) -> str | None:
    return str(microseconds * 1000) if isinstance(microseconds, int) else None


def _jaeger_parent(span: Mapping[str, Any]) -> Any:
    references = [mapping(reference) for reference in listed(span.get("references"))]
    parents = [reference.get("spanID") for reference in references if reference.get("refType") == "CHILD_OF"]
    return parents[0] if parents else span.get("parentSpanID")


def _jaeger_log(log: Mapping[str, Any]) -> JsonObject:
    fields = _tags(log.get("fields"))
    return {"name": fields.pop("event", None), "attributes": fields}


def _tags(tags: Any) -> JsonObject:
    """Jaeger's list of typed tags as one object.

    >>> _tags([{"key": "n", "type": "int64", "value": "5"}])
    {'n': 5}
    """
    return {name(tag.get("key")): _tag(tag.get("type"), tag.get("value")) for tag in map(mapping, listed(tags))}


def _tag(kind: Any, value: Any) -> Any:
    if kind == "int64" and isinstance(value, str) and len(value) <= _LONGEST_INTEGER and value.lstrip("-").isdecimal():
        return int(value)
    return value == "true" if kind == "bool" and isinstance(value, str) else value


# Logs.


@dataclass(frozen=True, slots=True)
class _Log:
    """One log record: its event, and the span that it belongs to, reduced to ids, time and resource."""

    event: SpanEvent
    span: Span


def _log_records(logs: list[Any]) -> Iterator[_Log]:
    for resource in map(mapping, logs):
        resource_attributes = attributes(mapping(resource.get("resource")).get("attributes"))
        for scope in map(mapping, listed(resource.get("scopeLogs", resource.get("scope_logs")))):
            for log_record in listed(scope.get("logRecords", scope.get("log_records"))):
                yield _log(mapping(log_record), resource_attributes)


def _log(record: Mapping[str, Any], resource_attributes: JsonObject) -> _Log:
    fields = attributes(record.get("attributes"))
    names = (record.get("eventName"), record.get("event_name"), fields.get("event.name"), fields.get("otel.event.name"))
    body = attributes([{"key": "body", "value": record.get("body")}])["body"]
    event = SpanEvent(next(filter(None, map(name, names)), ""), fields | ({"body": body} if body else {}))
    times = map(record.get, ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano"))
    time = next(filter(None, map(moment, times)), None)
    ids = {
        "traceId": record.get("traceId", record.get("trace_id")),
        "spanId": record.get("spanId", record.get("span_id", "")),
    }
    span = (spans_in({**ids, "attributes": {}}) or [])[0]
    return _Log(event, replace(span, start=time, end=time, resource=resource_attributes))


def _with_logs(spans: list[Span], logs: list[_Log]) -> Export:
    """The spans with their log records; ``_call_of`` replaces the span of a log record if it is in another export.

    Log records that are not of the GenAI conventions are left out. So are those without a span id, unless their trace
    has exactly one model call.
    """
    log_events: dict[tuple[str, str], list[SpanEvent]] = {}
    stand_ins: dict[tuple[str, str], Span] = {}
    left_out: list[str] = []
    span_keys = {(span.trace_id, span.span_id) for span in spans}
    only_calls = _only_model_calls(spans)
    for log in logs:
        span_key = (log.span.trace_id, log.span.span_id or only_calls.get(log.span.trace_id, ""))
        if not log.event.name.startswith("gen_ai."):
            left_out.append(f"log record {log.event.name[:60]!r}")
        elif not span_key[1]:
            left_out.append(f"log record {log.event.name[:60]!r} without a span")
        else:
            log_events.setdefault(span_key, []).append(log.event)
            if span_key not in span_keys:
                stand_ins.setdefault(span_key, _call_of(log))
    all_spans = [*spans, *stand_ins.values()]
    with_logs = [
        replace(span, events=(*span.events, *log_events.pop((span.trace_id, span.span_id), ()))) for span in all_spans
    ]
    with_logs.sort(key=lambda span: (span.start.us if span.start else 0, span.span_id))
    return Export(tuple(with_logs), tuple(left_out))


def _call_of(log: _Log) -> Span:
    """A span without a name, to stand in for the model call of a log record."""
    operation = text(log.event.attributes.get("gen_ai.operation.name")) or "chat"
    identity = {key: value for key, value in log.event.attributes.items() if key in _IDENTITY}
    return replace(log.span, name="", attributes={"gen_ai.operation.name": operation, **identity})


def _only_model_calls(spans: list[Span]) -> dict[str, str]:
    """The model call of each trace that has exactly one: logs without a span id belong to it."""
    calls = [span for span in spans if name(span.attributes.get("gen_ai.operation.name")) in _MODEL_OPERATIONS]
    calls_in = Counter(span.trace_id for span in calls)
    return {span.trace_id: span.span_id for span in calls if calls_in[span.trace_id] == 1}
