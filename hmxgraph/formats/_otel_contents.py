"""Read the messages, the tool call or the error that a span records.

Messages come from span attributes (of OpenTelemetry's GenAI conventions, OpenInference, OpenLLMetry or Google's Agent
Development Kit, ADK), or from events and logs. Each convention has its own attributes for the arguments and results of
tools. Claude Code also has its own span names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.formats._messages import Message
from hmxgraph.formats._spans import Span, SpanEvent, indexed_list, json_or_text
from hmxgraph.formats._values import listed, mapping, name, present, text
from hmxgraph.formats.conversion import JsonObject

# The kind of a span by the operation or span kind in its attributes.
_KINDS = {
    **dict.fromkeys(("chat", "generate_content", "text_completion", "LLM", "completion"), "model"),
    **dict.fromkeys(("execute_tool", "TOOL", "tool"), "tool"),
    **dict.fromkeys(("retrieval", "RETRIEVER"), "retrieval"),
    **dict.fromkeys(("EVALUATOR", "evaluate"), "evaluation"),
    **dict.fromkeys(("invoke_agent", "AGENT", "agent"), "agent"),
}
# The kind of a span of Claude Code by its name.
_CLAUDE_CODE_KINDS = {
    "claude_code.tool": "tool",
    "claude_code.interaction": "agent",
    "claude_code.llm_request": "model",
    "claude_code.tool.execution": "ending",
}
# Placeholders that instrumentation writes when it must not record contents.
_PLACEHOLDERS = frozenset({"<elided>", "<REDACTED>", "[REDACTED]", "REDACTED", "N/A"})
# The role of the message in an event, by the name of the event.
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
# The event that holds a model's answer or, in a tool span of Strands, the tool's result.
_CHOICE = "gen_ai.choice"
_ADK_REQUEST, _ADK_RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
# ADK shows an agent what other agents said and did in a user message that begins with these words.
_ADK_CONTEXT = "For context:"


def kind_of(span: Span) -> str:
    """The kind of a span: model, tool, agent, ending, retrieval or evaluation, else the kind that the span states.

    An "ending" is a span of Claude Code that says how the call in its parent, a tool span, ended. A span in which ADK
    merges several tool calls has the kind "(merged tools)".
    """
    if span.name in _CLAUDE_CODE_KINDS:
        return _CLAUDE_CODE_KINDS[span.name]
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
    """The messages of a model call or an agent; many agent spans record only one input text and one output text."""
    inputs, outputs = messages_of(span)
    if kind == "agent":
        inputs = inputs or _text_message(span, "user", "user_prompt", "input.value")
        outputs = outputs or _text_message(span, "assistant", "output.value")
    return SpanMessages(
        tuple(map(_with_server_tools, filter(_is_recorded, inputs))),
        tuple({"role": "assistant", **_with_server_tools(message)} for message in outputs if _is_recorded(message)),
    )


def messages_of(span: Span) -> tuple[list[Message], list[Message]]:
    """The input and output messages of a span, from the first of the supported conventions that yields any."""
    attributes = _all_attributes(span)
    inputs = listed(json_or_text(attributes.get("gen_ai.input.messages")))
    outputs = listed(json_or_text(attributes.get("gen_ai.output.messages")))
    if not inputs and not outputs:
        inputs = [_openinference_message(part) for part in indexed_list(attributes, "llm.input_messages")]
        outputs = [_openinference_message(part) for part in indexed_list(attributes, "llm.output_messages")]
    if not inputs and not outputs:
        inputs, outputs = indexed_list(attributes, "gen_ai.prompt"), indexed_list(attributes, "gen_ai.completion")
    if not inputs and not outputs:
        inputs, outputs = _event_messages(span.events)
    if not inputs and not outputs:
        inputs, outputs = _adk_messages(span)
    return [mapping(part) for part in inputs], [mapping(part) for part in outputs]


def _all_attributes(span: Span) -> JsonObject:
    """The attributes of a span and the ``gen_ai`` attributes of its events; the span's own take precedence."""
    attributes: JsonObject = {}
    for event in span.events:
        attributes |= {key: value for key, value in event.attributes.items() if key.startswith("gen_ai.")}
    return attributes | {key: value for key, value in span.attributes.items() if value not in (None, "", [])}


def _is_recorded(message: Message) -> bool:
    """Whether a message has calls or contents, and not just a placeholder for them."""
    content = message.get("content", message.get("parts"))
    return bool(message.get("tool_calls")) or (content not in (None, "", [], {}) and not _is_placeholder(content))


def _with_server_tools(message: Message) -> Message:
    """*message*, with the calls and results of server tools in the same form as those of other tools.

    Server tools, such as web search, run at the model's provider.
    """
    parts = message.get("parts")
    if not isinstance(parts, list) or not any(name(mapping(part).get("type")) in _SERVER_TOOLS for part in parts):
        return message
    return {**message, "parts": [_server_tool_part(mapping(part)) for part in parts]}


# Types of the parts for server tools, and the field in which other calls and results keep the same content.
_SERVER_TOOLS = {"server_tool_call": "arguments", "server_tool_call_response": "response"}


def _server_tool_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = name(part.get("type"))
    inner = mapping(part.get(kind))
    if kind not in _SERVER_TOOLS or not inner:
        return part
    return {_SERVER_TOOLS[kind]: {key: value for key, value in inner.items() if key != "type"}, **part}


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and value.strip() in _PLACEHOLDERS


def _text_message(span: Span, role: str, *names: str) -> list[Message]:
    """The text that an agent received or returned, as a list of one message.

    If the value is an object such as ``{"task": "Fix the build"}``, its ``task`` is the text. The list is empty if
    there is no text, or if the text looks like JSON.
    """
    value = json_or_text(span.first(*names))
    content = value.get("task") if isinstance(value, Mapping) else value
    is_text = isinstance(content, str) and bool(content.strip()) and content.lstrip()[:1] not in {"{", "["}
    return [{"role": role, "content": content}] if is_text else []


def _openinference_message(part: Any) -> JsonObject:
    """A message from OpenInference's flat attributes, in the shape of the other conventions."""
    message = mapping(mapping(part).get("message"))
    blocks = [mapping(mapping(block).get("message_content")) for block in listed(message.get("contents"))]
    calls = [mapping(mapping(call).get("tool_call")) for call in listed(message.get("tool_calls"))]
    return present(
        role=name(message.get("role")),
        content=message.get("content") or [_openinference_block(block) for block in blocks],
        tool_calls=[dict(call) for call in calls],
        tool_call_id=name(message.get("tool_call_id")),
        name=name(message.get("name")),
    )


def _openinference_block(block: Mapping[str, Any]) -> JsonObject:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    url = mapping(mapping(block.get("image")).get("image")).get("url")
    return {"type": name(block.get("type")) or "image", **present(url=url)}


# Events and logs: each holds one message, in its body or its attributes.


def _event_messages(events: Sequence[SpanEvent]) -> tuple[list[Message], list[Message]]:
    inputs = [_event_message(event, _EVENT_ROLES[event.name]) for event in events if event.name in _EVENT_ROLES]
    outputs = [_event_message(event, "assistant") for event in events if event.name == _CHOICE]
    return inputs, outputs


def _event_message(event: SpanEvent, role: str) -> Message:
    """The message of an event or log; its fields may be inside a ``body``, a ``message``, or both."""
    fields = {**event.attributes, **mapping(event.attributes.get("body"))}
    inner = json_or_text(fields.get("message"))
    fields |= mapping(inner) if isinstance(inner, Mapping) else {"content": inner} if inner else {}
    content = json_or_text(fields.get("content")) if role != "tool" else fields.get("content")
    contents = mapping(content)
    if isinstance(contents.get("parts"), list):
        return _gemini_message(contents, role)
    call_id = name(fields.get("id")) if role == "tool" else ""
    calls = json_or_text(fields.get("tool_calls"))
    return present(role=name(fields.get("role")) or role, content=content, tool_calls=calls, tool_call_id=call_id)


# Google's ADK.


def _adk_messages(span: Span) -> tuple[list[Message], list[Message]]:
    """The messages of a request to Gemini and of the response, both recorded by ADK as JSON.

    A partial response is a fragment of a stream and is ignored.
    """
    request = mapping(json_or_text(span.attributes.get(_ADK_REQUEST)))
    response = mapping(json_or_text(span.attributes.get(_ADK_RESPONSE)))
    inputs = [_gemini_message(mapping(content), "user") for content in listed(request.get("contents"))]
    answer = mapping(response.get("content"))
    return inputs, [_gemini_message(answer, "assistant")] if answer and not response.get("partial") else []


def _gemini_message(content: Mapping[str, Any], role: str) -> Message:
    """A message from Gemini's ``Content``.

    Its parts have no type; the field that is set shows it: ``{"text": "hi"}``, ``{"function_call": {"name": "f"}}``.
    """
    content_role = name(content.get("role")) or role
    parts = [_gemini_part(mapping(part)) for part in listed(content.get("parts"))]
    return {"role": "assistant" if content_role == "model" else content_role, "parts": [part for part in parts if part]}


def _gemini_part(part: Mapping[str, Any]) -> JsonObject:
    fields = {key: value for key, value in part.items() if value not in (None, "", [], {})}
    if "text" in fields:
        return {"type": "reasoning" if fields.get("thought") else "text", "text": fields["text"]}
    return fields


def is_recap(message: Message) -> bool:
    """Whether a message in the user role only recounts earlier messages.

    It may be ADK's account of what another agent said and did, or the summary that a compaction put into the context.

    >>> is_recap({"role": "user", "parts": [{"text": "For context:"}, {"text": "[planner] said: go"}]})
    True
    """
    parts = [mapping(part) for part in listed(message.get("parts", message.get("content")))]
    if parts and all(part.get("type") == "compaction" for part in parts):
        return True
    texts = [text(part.get("text")) or text(part.get("content")) for part in parts]
    return len(texts) > 1 and texts[0].startswith(_ADK_CONTEXT) and all(line.startswith("[") for line in texts[1:])


# Tools.


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended, as recorded by a child of the call's own span."""

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
        """The same call with *ending*, which another span recorded; its error counts only if the call has no result."""
        if ending is None or ending.success is None:
            return self
        failure = self.result if _has_content(self.result) else ending.error or self.result
        return replace(self, success=ending.success, result=self.result if ending.success else failure)


def tool_of(span: Span) -> ToolSpan:
    """The call that a tool span records; if it failed and has no result, its error text is the result."""
    tool = name(
        span.first("gen_ai.tool.name", "tool.name", "tool_call.function.name", "tool_name", "traceloop.entity.name")
    )
    call_id = name(span.first("gen_ai.tool.call.id", "tool_call.id", "tool.id", "tool_use_id"))
    result = _recorded_result(span)
    failed = span.failed or span.first("error.type") is not None
    if failed and not _has_content(result):
        result = error_text(span)
    succeeded = span.succeeded or result is not None
    success = False if failed else True if succeeded else None
    return ToolSpan(tool or span.name, call_id, _recorded_arguments(span), result, success)


_ADK_ARGUMENTS = "gcp.vertex.agent.tool_call_args"
# The attributes in which conventions keep the arguments and the result of a call; the first that is set counts.
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
# Claude Code records some arguments in attributes of their own: the attribute, and the name of the argument.
_CLAUDE_ARGUMENTS = {
    "full_command": "command",
    "file_path": "file_path",
    "subagent_type": "subagent_type",
    "skill_name": "skill",
}


def _recorded_arguments(span: Span) -> Any:
    """The arguments of a call.

    ``tool.parameters`` is ambiguous: some instrumentation puts the arguments there, some the schema of the tool.
    """
    value = json_or_text(span.first(*_ARGUMENTS))
    if value == {} and span.attributes.get(_ADK_ARGUMENTS) == "{}" and _recorded_result(span) is None:
        return None  # ADK writes empty objects when it must not record contents
    if value is None or _is_placeholder(value):
        parameters = json_or_text(span.first("tool.parameters"))
        value = None if parameters is None or _is_schema(parameters) else parameters
    if value is None:
        value = {key: span.attributes[field] for field, key in _CLAUDE_ARGUMENTS.items() if field in span.attributes}
        value = value or _tool_event_contents(span)[0]
    return _without_smolagents_wrapper(value)


def _is_schema(value: Any) -> bool:
    """Whether *value* describes parameters: it is a JSON schema, or an object with a schema for each parameter.

    >>> _is_schema({"type": "object", "properties": {}}), _is_schema({"q": {"type": "string"}}), _is_schema({"q": "a"})
    (True, True, False)
    """
    fields = mapping(value)
    if "properties" in fields or "$schema" in fields:
        return True
    return bool(fields) and all("type" in mapping(part) for part in fields.values())


def _without_smolagents_wrapper(value: Any) -> Any:
    """The arguments of a call that smolagents recorded as ``args`` and ``kwargs``; any other *value* unchanged."""
    fields = mapping(value)
    if fields.keys() != {"args", "kwargs", "sanitize_inputs_outputs"}:
        return value
    positional, keywords = listed(fields.get("args")), mapping(fields.get("kwargs"))
    return dict(keywords) | ({"args": positional} if positional else {})


def _recorded_result(span: Span) -> Any:
    """The result of a call; None if it was not recorded, which ADK marks with an empty object."""
    for field in _RESULTS:
        value = span.attributes.get(field)
        if value is None or _is_placeholder(value) or (field.startswith("gcp.") and value in ("", "{}")):
            continue
        return json_or_text(value)
    return _tool_event_contents(span)[1]


def _tool_event_contents(span: Span) -> tuple[Any, Any]:
    """Arguments and result in the events of a tool span, where Strands and Claude Code put them."""
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
    """How the call in the parent of *span* ended, according to *span*, which is a span of Claude Code."""
    success_text = str(span.attributes.get("success")).lower()
    success = False if span.failed else {"true": True, "false": False}.get(success_text)
    return Ending(success, text(span.attributes.get("error")) or span.status)


def _has_content(value: Any) -> bool:
    return value not in (None, "", [], {}) and not _is_placeholder(value)


# Errors.


def exception(span: Span) -> JsonObject:
    """The attributes of the exception that a span recorded; empty if there is none."""
    return next((event.attributes for event in span.events if event.name == "exception"), {})


def error_text(span: Span) -> str:
    """The message of the exception, or the status text if it includes that message.

    If both are empty, the type of the error, or "failed".
    """
    message = text(exception(span).get("exception.message"))
    if message and message not in span.status:
        return message
    return span.status or name(span.first("error.type", "error")) or "failed"
