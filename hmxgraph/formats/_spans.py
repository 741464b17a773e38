"""Convert spans of OTLP JSON and of the Python SDK to `Span`, and numbered attributes to lists."""

import base64
import binascii
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.formats._values import Moment, listed, mapping, moment, name, parsed, text
from hmxgraph.formats.conversion import JsonObject

# A hexadecimal id: 16 digits of a span, 32 of a trace.
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{16,32})")
_ERRORS = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})
_OK = frozenset({1, "1", "STATUS_CODE_OK", "OK"})


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event or log record inside a span."""

    name: str
    attributes: JsonObject


@dataclass(frozen=True, slots=True)
class Span:
    """One span; ``status`` is the message of its status.

    ``failed`` means that the status is an error, ``succeeded`` that it is OK; most producers leave the status unset.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: Moment | None
    end: Moment | None
    attributes: JsonObject
    resource: JsonObject
    events: tuple[SpanEvent, ...] = field(default=())
    failed: bool = False
    status: str = ""
    succeeded: bool = False

    @property
    def duration_ms(self) -> int | None:
        """The duration in milliseconds; None if start or end is unknown, or the end is before the start."""
        if self.start is None or self.end is None or self.end.us < self.start.us:
            return None
        return (self.end.us - self.start.us) // 1000

    def first(self, *names: str) -> Any:
        """The value of the first of the named attributes that is set; None if none is."""
        return next((self.attributes[key] for key in names if self.attributes.get(key) not in (None, "")), None)


def spans_in(value: Mapping[str, Any]) -> list[Span] | None:
    """The spans of a record, sorted by start time; None if the record is neither a trace nor a span.

    >>> spans_in({"resourceSpans": []}), spans_in({"role": "user"})
    ([], None)
    """
    if isinstance(value.get("resourceSpans", value.get("resource_spans")), list):
        spans = list(_of_otlp(value))
    elif _is_sdk(value):
        spans = [_of_sdk(value)]
    elif "spanId" in value and "traceId" in value:
        spans = [_of_wire(value, {})]
    else:
        return None
    return sorted(spans, key=lambda span: (span.start.us if span.start else 0, span.span_id))


def _is_sdk(value: Mapping[str, Any]) -> bool:
    return (
        isinstance(value.get("context"), Mapping) and "span_id" in value["context"] and "trace_id" in value["context"]
    )


def _of_otlp(value: Mapping[str, Any]) -> Iterator[Span]:
    for resource in map(mapping, listed(value.get("resourceSpans", value.get("resource_spans")))):
        resource_attributes = attributes(mapping(resource.get("resource")).get("attributes"))
        scopes = resource.get("scopeSpans", resource.get("scope_spans", resource.get("instrumentationLibrarySpans")))
        for scope in map(mapping, listed(scopes)):
            for span in listed(scope.get("spans")):
                yield _of_wire(mapping(span), resource_attributes)


def _of_wire(span: Mapping[str, Any], resource_attributes: JsonObject) -> Span:
    """A span of OTLP JSON, whose ids are hexadecimal, or base64 if protobuf's own JSON writer wrote them."""
    status = mapping(span.get("status"))
    return Span(
        _hex(span.get("traceId", span.get("trace_id"))),
        _hex(span.get("spanId", span.get("span_id"))),
        _hex(span.get("parentSpanId", span.get("parent_span_id"))),
        name(span.get("name")),
        moment(span.get("startTimeUnixNano", span.get("start_time_unix_nano"))),
        moment(span.get("endTimeUnixNano", span.get("end_time_unix_nano"))),
        attributes(span.get("attributes")),
        resource_attributes,
        tuple(_event(mapping(event)) for event in listed(span.get("events"))),
        _is_one_of(status.get("code"), _ERRORS),
        text(status.get("message")),
        _is_one_of(status.get("code"), _OK),
    )


def _of_sdk(span: Mapping[str, Any]) -> Span:
    """A span as ``ReadableSpan.to_json`` writes it."""
    context, status = mapping(span.get("context")), mapping(span.get("status"))
    return Span(
        _hex(context.get("trace_id")),
        _hex(context.get("span_id")),
        _hex(span.get("parent_id")),
        name(span.get("name")),
        moment(span.get("start_time")),
        moment(span.get("end_time")),
        attributes(span.get("attributes")),
        attributes(mapping(span.get("resource")).get("attributes")),
        tuple(_event(mapping(event)) for event in listed(span.get("events"))),
        _is_one_of(status.get("status_code"), _ERRORS),
        text(status.get("description")),
        _is_one_of(status.get("status_code"), _OK),
    )


def _is_one_of(code: Any, codes: Container[object]) -> bool:
    return isinstance(code, int | str) and code in codes


def _event(event: Mapping[str, Any]) -> SpanEvent:
    return SpanEvent(name(event.get("name")), attributes(event.get("attributes")))


def _hex(value: Any) -> str:
    """An id as lower-case hexadecimal; it may be written as such, with ``0x``, or as base64."""
    id_text = text(value)
    if match := _HEX.fullmatch(id_text):
        return match.group(1).lower()
    try:
        return base64.b64decode(id_text, validate=True).hex()
    except (binascii.Error, ValueError):
        return id_text[:64]


# Attributes.

# Values nested deeper than this are left as they are, except OTLP's typed values, which become text.
_DEEPEST = 20
# Maximum digits of a list index. A longer number counts as a name, and Python refuses to convert thousands of digits.
_LONGEST_INDEX = 9


def attributes(value: Any) -> JsonObject:
    """Attributes as one object; OTLP writes them as a list of keys and typed values.

    >>> attributes([{"key": "a", "value": {"intValue": "5"}}]), attributes({"a": 5})
    ({'a': 5}, {'a': 5})
    >>> attributes([{"key": "a", "value": {"array_value": {"values": [{"int_value": "5"}, {"string_value": "b"}]}}}])
    {'a': [5, 'b']}
    """
    if isinstance(value, Mapping):
        return {str(key): part for key, part in value.items()}
    return {name(mapping(pair).get("key")): _typed(mapping(pair).get("value"), 0) for pair in listed(value)}


def _typed(value: Any, depth: int) -> Any:
    """The content of a typed value such as ``{"intValue": "5"}`` or (protobuf in Python) ``{"int_value": "5"}``."""
    fields = mapping(value)
    if depth > _DEEPEST:
        return str(fields)
    kind, content = next(iter(fields.items()), ("", None))
    match kind.replace("_v", "V"):
        case "intValue":
            return int(content) if isinstance(content, str) and re.fullmatch(r"-?\d{1,20}", content) else content
        case "arrayValue":
            return [_typed(part, depth + 1) for part in listed(mapping(content).get("values"))]
        case "kvlistValue":
            pairs = map(mapping, listed(mapping(content).get("values")))
            return {name(pair.get("key")): _typed(pair.get("value"), depth + 1) for pair in pairs}
    return content


def indexed_list(flat: Mapping[str, Any], prefix: str) -> list[Any]:
    """The list encoded by the attributes ``<prefix>.0...``, ``<prefix>.1...`` and so on; empty if there are none.

    >>> indexed_list({"llm.input.0.message.role": "user", "llm.input.0.message.content": "hi"}, "llm.input")
    [{'message': {'role': 'user', 'content': 'hi'}}]
    >>> indexed_list({f"llm.input.{'1' * 5000}": "hi"}, "llm.input")
    []
    """
    root: JsonObject = {}
    for key, value in flat.items():
        if not key.startswith(f"{prefix}."):
            continue
        *path, last = key[len(prefix) + 1 :].split(".")
        node = root
        for step in path:
            inner = node.setdefault(step, {})
            node = inner if isinstance(inner, dict) else node
        node[last] = value
    formed = _lists(root, 0)
    return formed if isinstance(formed, list) else []


def _lists(node: Any, depth: int) -> Any:
    """*node*, with each object whose keys are all numbers turned into a list in the order of these numbers."""
    if not isinstance(node, dict) or depth > _DEEPEST:
        return node
    inner = {key: _lists(part, depth + 1) for key, part in node.items()}
    if inner and all(key.isdecimal() and len(key) <= _LONGEST_INDEX for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def json_or_text(value: Any) -> Any:
    """The JSON object, array or string that the text of an attribute encodes, else the attribute unchanged.

    >>> json_or_text('{"a": 1}'), json_or_text("plain")
    ({'a': 1}, 'plain')
    """
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "[", '"'}:
        encoded = parsed(value)
        return value if encoded is None else encoded
    return value
