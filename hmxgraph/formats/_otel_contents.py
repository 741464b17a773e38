"""Read the messages, the tool call or the error that a span records.

Messages come from the attributes of the GenAI conventions, OpenInference, OpenLLMetry and Google's ADK, or from events
and logs. Each convention has its own attributes for the arguments and results of tools, and Claude Code also its own
span names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.formats._messages import Message
from hmxgraph.formats._spans import Span, SpanEvent, indexed_list, json_or_text
from hmxgraph.formats._values import listed, mapping, name, present, text
from hmxgraph.formats.conversion import JsonObject

# Kinds of spans by the operation or kind that a span states.
_KINDS = {
    **dict.fromkeys(("chat", "generate_content", "text_completion", "LLM", "completion"), "model"),
    **dict.fromkeys(("execute_tool", "TOOL", "tool"), "tool"),
    **dict.fromkeys(("retrieval", "RETRIEVER"), "retrieval"),
    **dict.fromkeys(("EVALUATOR", "evaluate"), "evaluation"),
    **dict.fromkeys(("invoke_agent", "AGENT", "agent"), "agent"),
}
# Kinds of Claude Code's spans by their names.
_CLAUDE_CODE = {
    "claude_code.tool": "tool",
    "claude_code.interaction": "agent",
    "claude_code.llm_request": "model",
    "claude_code.tool.execution": "ending",
}
# Placeholders that instrumentation writes in place of contents that it must not record.
_WITHHELD = frozenset({"<elided>", "<REDACTED>", "[REDACTED]", "REDACTED", "N/A"})
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_ADK_REQUEST, _ADK_RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
# ADK reports the words and actions of one agent to another in a user message that begins with these words.
_ADK_CONTEXT = "For context:"


def kind_of(span: Span) -> str:
    """The kind of a span: model, tool, agent, ending, retrieval or evaluation, else the kind that the span states.

    An ending is a span of Claude Code that states the outcome of the tool span above it. ADK's spans for several tool
    calls together have the kind "(merged tools)".
    """
    if span.name in _CLAUDE_CODE:
        return _CLAUDE_CODE[span.name]
    stated_kind = name(
        span.first("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type")
    )
    if stated_kind == "execute_tool" and span.attributes.get("gen_ai.tool.name") == "(merged tools)":
        return "(merged tools)"
    if not stated_kind and ("llm.model_name" in span.attributes or _ADK_REQUEST in span.attributes):
        return "model"
    return _KINDS.get(stated_kind, stated_kind)


# Messages.


@dataclass(frozen=True, slots=True)
class SpanMessages:
    """The messages that a model call or an agent received, and those that it returned."""

    inputs: tuple[Message, ...] = ()
    outputs: tuple[Message, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.inputs or self.outputs)


def span_messages(span: Span, kind: str) -> SpanMessages:
    """The messages of a model call or an agent; an agent often has only an input and an output text."""
    inputs, outputs = messages_of(span)
    if kind == "agent":
        inputs = inputs or _whole_text(span, "user", "user_prompt", "input.value")
        outputs = outputs or _whole_text(span, "assistant", "output.value")
    return SpanMessages(
        tuple(map(_of_server_tools, filter(_is_recorded, inputs))),
        tuple({"role": "assistant", **_of_server_tools(message)} for message in outputs if _is_recorded(message)),
    )


def messages_of(span: Span) -> tuple[list[Message], list[Message]]:
    """The input and output messages of a span, from the first convention in which it states any."""
    attributes = _all_attributes(span)
    inputs = listed(json_or_text(attributes.get("gen_ai.input.messages")))
    outputs = listed(json_or_text(attributes.get("gen_ai.output.messages")))
    if not inputs and not outputs:
        inputs = [_of_openinference(part) for part in indexed_list(attributes, "llm.input_messages")]
        outputs = [_of_openinference(part) for part in indexed_list(attributes, "llm.output_messages")]
    if not inputs and not outputs:
        inputs, outputs = indexed_list(attributes, "gen_ai.prompt"), indexed_list(attributes, "gen_ai.completion")
    if not inputs and not outputs:
        inputs, outputs = _of_events(span.events)
    if not inputs and not outputs:
        inputs, outputs = _of_adk(span)
    return [mapping(part) for part in inputs], [mapping(part) for part in outputs]


def _all_attributes(span: Span) -> JsonObject:
    """The attributes of a span, completed by the ``gen_ai`` attributes of its events."""
    attributes: JsonObject = {}
    for event in span.events:
        attributes |= {key: value for key, value in event.attributes.items() if key.startswith("gen_ai.")}
    return attributes | {key: value for key, value in span.attributes.items() if value not in (None, "", [])}


def _is_recorded(message: Message) -> bool:
    """Whether a message has contents; instrumentation may have replaced them by a placeholder."""
    content = message.get("content", message.get("parts"))
    return bool(message.get("tool_calls")) or (content not in (None, "", [], {}) and not _is_withheld(content))


def _of_server_tools(message: Message) -> Message:
    """*message*, with arguments and results of the provider's own tools moved to where other calls have them."""
    parts = message.get("parts")
    if not isinstance(parts, list) or not any(name(mapping(part).get("type")) in _SERVER_TOOLS for part in parts):
        return message
    return {**message, "parts": [_server_tool(mapping(part)) for part in parts]}


# Kinds of a provider's call and result, and the field in which other calls keep the same content.
_SERVER_TOOLS = {"server_tool_call": "arguments", "server_tool_call_response": "response"}


def _server_tool(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = name(part.get("type"))
    inner = mapping(part.get(kind))
    if kind not in _SERVER_TOOLS or not inner:
        return part
    return {_SERVER_TOOLS[kind]: {key: value for key, value in inner.items() if key != "type"}, **part}


def _is_withheld(value: Any) -> bool:
    return isinstance(value, str) and value.strip() in _WITHHELD


def _whole_text(span: Span, role: str, *names: str) -> list[Message]:
    """The text that an agent received or returned, as a list of one message.

    If the value is an object, its ``task`` is the text. Empty if there is no text, or if it looks like JSON.
    """
    value = json_or_text(span.first(*names))
    words = value.get("task") if isinstance(value, Mapping) else value
    is_text = isinstance(words, str) and bool(words.strip()) and words.lstrip()[:1] not in {"{", "["}
    return [{"role": role, "content": words}] if is_text else []


def _of_openinference(part: Any) -> JsonObject:
    """A message from OpenInference's flat attributes, in the shape of the other conventions."""
    message = mapping(mapping(part).get("message"))
    blocks = [mapping(mapping(block).get("message_content")) for block in listed(message.get("contents"))]
    calls = [mapping(mapping(call).get("tool_call")) for call in listed(message.get("tool_calls"))]
    return present(
        role=name(message.get("role")),
        content=message.get("content") or [_block(block) for block in blocks],
        tool_calls=[dict(call) for call in calls],
        tool_call_id=name(message.get("tool_call_id")),
        name=name(message.get("name")),
    )


def _block(block: Mapping[str, Any]) -> JsonObject:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    url = mapping(mapping(block.get("image")).get("image")).get("url")
    return {"type": name(block.get("type")) or "image", **present(url=url)}


# Events and logs: one message each, in the body of a log or the attributes of a span's event.


def _of_events(events: Sequence[SpanEvent]) -> tuple[list[Message], list[Message]]:
    inputs = [_of_event(event, _EVENT_ROLES[event.name]) for event in events if event.name in _EVENT_ROLES]
    outputs = [_of_event(event, "assistant") for event in events if event.name == _CHOICE]
    return inputs, outputs


def _of_event(event: SpanEvent, role: str) -> Message:
    """The message of an event or log; its fields may be inside a ``body``, a ``message``, or both."""
    fields = {**event.attributes, **mapping(event.attributes.get("body"))}
    inner = json_or_text(fields.get("message"))
    fields |= mapping(inner) if isinstance(inner, Mapping) else {"content": inner} if inner else {}
    content = json_or_text(fields.get("content")) if role != "tool" else fields.get("content")
    contents = mapping(content)
    if isinstance(contents.get("parts"), list):
        return _of_gemini(contents, role)
    call_id = name(fields.get("id")) if role == "tool" else ""
    calls = json_or_text(fields.get("tool_calls"))
    return present(role=name(fields.get("role")) or role, content=content, tool_calls=calls, tool_call_id=call_id)


# Google's ADK.


def _of_adk(span: Span) -> tuple[list[Message], list[Message]]:
    """The messages of a request to Gemini and of its response unless partial, which ADK writes as JSON."""
    request = mapping(json_or_text(span.attributes.get(_ADK_REQUEST)))
    response = mapping(json_or_text(span.attributes.get(_ADK_RESPONSE)))
    inputs = [_of_gemini(mapping(content), "user") for content in listed(request.get("contents"))]
    answer = mapping(response.get("content"))
    return inputs, [_of_gemini(answer, "assistant")] if answer and not response.get("partial") else []


def _of_gemini(content: Mapping[str, Any], role: str) -> Message:
    """A message from a ``Content`` of Gemini, where the field that is set shows the kind of a part."""
    content_role = name(content.get("role")) or role
    parts = [_gemini_part(mapping(part)) for part in listed(content.get("parts"))]
    return {"role": "assistant" if content_role == "model" else content_role, "parts": [part for part in parts if part]}


def _gemini_part(part: Mapping[str, Any]) -> JsonObject:
    fields = {key: value for key, value in part.items() if value not in (None, "", [], {})}
    if "text" in fields:
        return {"type": "reasoning" if fields.get("thought") else "text", "text": fields["text"]}
    return fields


def is_retold(message: Message) -> bool:
    """Whether a user message retells the conversation in other words.

    It may be ADK's account of what another agent said and did, or a compacted context.

    >>> is_retold({"role": "user", "parts": [{"text": "For context:"}, {"text": "[planner] said: go"}]})
    True
    """
    parts = [mapping(part) for part in listed(message.get("parts", message.get("content")))]
    if parts and all(part.get("type") == "compaction" for part in parts):
        return True
    words = [text(part.get("text")) or text(part.get("content")) for part in parts]
    return len(words) > 1 and words[0].startswith(_ADK_CONTEXT) and all(word.startswith("[") for word in words[1:])


# Tools.


@dataclass(frozen=True, slots=True)
class Ending:
    """The outcome of a call, as stated by a span below the call's own span."""

    success: bool | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpan:
    """A tool call as its own span records it; ``arguments`` and ``result`` are None if they were not recorded."""

    tool: str
    call_id: str
    arguments: Any
    result: Any
    success: bool | None

    def with_ending(self, ending: Ending | None) -> "ToolSpan":
        """The same call with the ending that another span states."""
        if ending is None or ending.success is None:
            return self
        failure = self.result if _says_something(self.result) else ending.error or self.result
        return replace(self, success=ending.success, result=self.result if ending.success else failure)


def tool_of(span: Span) -> ToolSpan:
    """The call of a tool's span; if it failed without a result, the error is its result."""
    tool = name(
        span.first("gen_ai.tool.name", "tool.name", "tool_call.function.name", "tool_name", "traceloop.entity.name")
    )
    call_id = name(span.first("gen_ai.tool.call.id", "tool_call.id", "tool.id", "tool_use_id"))
    result = _recorded_result(span)
    failed = span.failed or span.first("error.type") is not None
    if failed and not _says_something(result):
        result = error_text(span)
    ended_well = span.succeeded or result is not None
    success = False if failed else True if ended_well else None
    return ToolSpan(tool or span.name, call_id, _recorded_arguments(span), result, success)


_ADK_ARGUMENTS = "gcp.vertex.agent.tool_call_args"
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    _ADK_ARGUMENTS,
    "tool_call.function.arguments",
    "input.value",
    "traceloop.entity.input",
    "tool_input",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "output.value",
    "traceloop.entity.output",
)
# Attributes in which Claude Code keeps one argument each, and the argument's name.
_CLAUDE_ARGUMENTS = {
    "full_command": "command",
    "file_path": "file_path",
    "subagent_type": "subagent_type",
    "skill_name": "skill",
}


def _recorded_arguments(span: Span) -> Any:
    """The arguments of a call; ``tool.parameters`` may contain them, or the tool's schema instead."""
    value = json_or_text(span.first(*_ARGUMENTS))
    if value == {} and span.attributes.get(_ADK_ARGUMENTS) == "{}" and _recorded_result(span) is None:
        return None  # ADK writes empty objects when it must not record contents
    if value is None or _is_withheld(value):
        parameters = json_or_text(span.first("tool.parameters"))
        value = None if parameters is None or _is_schema(parameters) else parameters
    if value is None:
        value = {key: span.attributes[field] for field, key in _CLAUDE_ARGUMENTS.items() if field in span.attributes}
        value = value or _of_tool_events(span)[0]
    return _smolagents(value)


def _is_schema(value: Any) -> bool:
    """Whether *value* describes parameters: a JSON schema, or an object with a schema for each parameter.

    >>> _is_schema({"type": "object", "properties": {}}), _is_schema({"q": {"type": "string"}}), _is_schema({"q": "a"})
    (True, True, False)
    """
    fields = mapping(value)
    if "properties" in fields or "$schema" in fields:
        return True
    return bool(fields) and all("type" in mapping(part) for part in fields.values())


def _smolagents(value: Any) -> Any:
    """The arguments inside smolagents' record of a Python call."""
    fields = mapping(value)
    if fields.keys() != {"args", "kwargs", "sanitize_inputs_outputs"}:
        return value
    positional, by_name = listed(fields.get("args")), mapping(fields.get("kwargs"))
    return dict(by_name) | ({"args": positional} if positional else {})


def _recorded_result(span: Span) -> Any:
    """The result of a call; None if none was recorded (ADK then writes an empty object)."""
    for field in _RESULTS:
        value = span.attributes.get(field)
        if value is None or _is_withheld(value) or (field.startswith("gcp.") and value in ("", "{}")):
            continue
        return json_or_text(value)
    return _of_tool_events(span)[1]


def _of_tool_events(span: Span) -> tuple[Any, Any]:
    """Arguments and result in the events of a tool's span, as Strands and Claude Code write them."""
    arguments: Any = None
    result: Any = None
    for event in span.events:
        fields = {**event.attributes, **mapping(event.attributes.get("body"))}
        if event.name == "gen_ai.tool.message":
            arguments = json_or_text(fields.get("content"))
        elif event.name == _CHOICE:
            result = json_or_text(fields.get("message", fields.get("content")))
        elif event.name == "tool.output":
            result = json_or_text(fields.get("output", result))
            arguments = {"command": fields["bash_command"]} if fields.get("bash_command") else arguments
    return arguments, result


def ending_of(span: Span) -> Ending:
    """The outcome that a span of Claude Code states for the call in the span above it."""
    success_text = str(span.attributes.get("success")).lower()
    success = False if span.failed else {"true": True, "false": False}.get(success_text)
    return Ending(success, text(span.attributes.get("error")) or span.status)


def _says_something(value: Any) -> bool:
    return value not in (None, "", [], {}) and not _is_withheld(value)


# Errors.


def exception(span: Span) -> JsonObject:
    """The attributes of the exception that a span recorded; empty if there is none."""
    return next((event.attributes for event in span.events if event.name == "exception"), {})


def error_text(span: Span) -> str:
    """The exception's message, or the span's status if that contains it; without both, the error's type or "failed"."""
    raised = text(exception(span).get("exception.message"))
    if raised and raised not in span.status:
        return raised
    return span.status or name(span.first("error.type", "error")) or "failed"
