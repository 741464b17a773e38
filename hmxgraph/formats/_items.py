"""Items of OpenAI's Responses API, which Codex and the Agents SDK also store."""

from collections.abc import Callable, Mapping
from typing import Any

from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import REASONING, Draft, Frame, Reading, skipped
from hmxgraph.formats._messages import is_message, message_reading
from hmxgraph.formats._values import listed, mapping, name, parsed, present, text
from hmxgraph.protocol.events import ASSISTANT

Item = Mapping[str, Any]

# Types of calls whose result is a separate item, and the field with the tool's input.
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
    "program": "code",
}
_OUTPUTS = frozenset(f"{kind}_output" for kind in _CALLS) | {"tool_search_output"}
# Types of calls that OpenAI runs itself. One item contains the call and its result: the fields of its input and result.
_HOSTED = {
    "web_search_call": ("action", "results"),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
    "image_generation_call": ("revised_prompt", "status"),
    "mcp_call": ("arguments", "output"),
}
# Whether a hosted call succeeded, by its status; None if the status leaves it open.
_SUCCESS_BY_STATUS = {"completed": True, "failed": False, "incomplete": None, "in_progress": None}
# Maximum duration in seconds; longer ones, such as infinity, are ignored.
_LONGEST_SECONDS = 1e9
# Items without anything to store, with the reason.
_SKIPPED = {
    "mcp_list_tools": "list of tools",
    "additional_tools": "list of tools",
    "mcp_approval_request": "request for approval",
    "mcp_approval_response": "answer to a request for approval",
    "item_reference": "reference to an item",
    "compaction": "compacted context, not readable",
    "ghost_snapshot": "backup of files",
}


def is_item(value: Any) -> bool:
    """Whether *value* is an item of the Responses API other than a plain message.

    >>> is_item({"type": "function_call", "name": "f"}), is_item({"type": "message", "role": "user", "content": "hi"})
    (True, False)
    """
    kind = name(mapping(value).get("type"))
    return kind in _CALLS or kind in _OUTPUTS or kind in _HOSTED or kind in _SKIPPED or kind == "reasoning"


def item_reading(item: Item, frame: Frame, calls: Calls) -> Reading:
    """The drafts of one item, or the reason why it has none."""
    kind = name(item.get("type"))
    for kinds, read in _READERS:
        if kind in kinds:
            return read(item, frame, calls)
    if is_message(item):
        return message_reading(item, frame, calls)
    return skipped(_SKIPPED.get(kind, f"item of unknown type {kind[:40]!r}"))


def _call(item: Item, frame: Frame, calls: Calls) -> Reading:
    kind = name(item.get("type"))
    call_input = item.get(_CALLS[kind])
    if kind == "local_shell_call":
        call_input = {key: value for key, value in mapping(call_input).items() if key != "type" and value is not None}
    tool = name(item.get("name")) or kind.removesuffix("_call")
    return Reading((call_draft(calls, frame, "0", (_call_id(item), _qualified(item, tool), call_input)),))


def _output(item: Item, _frame: Frame, calls: Calls) -> Reading:
    output = next((item[field] for field in ("output", "result", "tools") if item.get(field) is not None), None)
    value, success, more = command_output(output)
    if success is None and item.get("status") == "failed":
        success = False
    if success is None and item.get("type") == "apply_patch_call_output" and item.get("status") == "completed":
        success = True
    return Reading((answer_draft(calls, "0", Answer(_call_id(item), value, "", success, more)),))


def _hosted_call(item: Item, frame: Frame, calls: Calls) -> Reading:
    kind = name(item.get("type"))
    input_field, result_field = _HOSTED[kind]
    tool = name(item.get("name")) or kind.removesuffix("_call")
    call_id = _call_id(item) or frame.record_id
    call = call_draft(calls, frame, "0", (call_id, _qualified(item, tool), _call_input(item, input_field)))
    error = item.get("error")
    success = False if error else _SUCCESS_BY_STATUS.get(name(item.get("status")))
    value = error or item.get(result_field)
    if value is None and success is None:
        return Reading((call,))
    return Reading((call, answer_draft(calls, "1", Answer(call_id, "" if value is None else value, "", success))))


def _call_input(item: Item, field: str) -> Any:
    """The input of a hosted call: an object or arguments as they are, any other value under the field's name."""
    value = item.get(field)
    return value if isinstance(value, Mapping) or field == "arguments" or value is None else {field: value}


def _reasoning_item(item: Item, _frame: Frame, _calls: Calls) -> Reading:
    parts = [*listed(item.get("summary")), *listed(item.get("content"))]
    thought = "\n".join(filter(None, (text(mapping(part).get("text")) for part in parts)))
    if not thought.strip():
        return skipped("hidden reasoning")
    return Reading((Draft(REASONING, {"text": thought}, ASSISTANT, source="assistant"),))


_READERS: tuple[tuple[Any, Callable[[Item, Frame, Calls], Reading]], ...] = (
    (_CALLS, _call),
    (_OUTPUTS, _output),
    (_HOSTED, _hosted_call),
    (("reasoning",), _reasoning_item),
)


def command_output(output: Any) -> tuple[Any, bool | None, dict[str, Any]]:
    """The output of a command, whether it succeeded (None if unknown), and its exit code, duration and timeout.

    Codex wraps these in an object, shell calls in a list of objects; any other value is the output itself.

    >>> command_output('{"output": "ok", "metadata": {"exit_code": 0, "duration_seconds": 0.2}}')
    ('ok', True, {'exit_code': 0, 'duration_ms': 200})
    """
    if (
        isinstance(output, list)
        and output
        and all(isinstance(mapping(part).get("outcome"), Mapping) for part in output)
    ):
        return _shell_output([mapping(part) for part in output])
    fields = mapping(parsed(output) if isinstance(output, str) and output.startswith("{") else output)
    metadata = mapping(fields.get("metadata"))
    if "output" in fields and "exit_code" in metadata:
        code, seconds = metadata["exit_code"], metadata.get("duration_seconds")
        is_integer = type(code) is int
        milliseconds = (
            round(seconds * 1000) if isinstance(seconds, int | float) and 0 <= seconds < _LONGEST_SECONDS else None
        )
        return (
            fields["output"],
            code == 0 if is_integer else None,
            present(exit_code=code if is_integer else None, duration_ms=milliseconds),
        )
    if isinstance(fields.get("content"), str) and isinstance(fields.get("success"), bool):
        return fields["content"], fields["success"], {}
    return "" if output is None else output, None, {}


def _shell_output(parts: list[Item]) -> tuple[str, bool | None, dict[str, Any]]:
    """The same as ``command_output``, for a shell call; a timeout or nonzero exit code of any command is a failure."""
    printed = "\n".join(filter(None, (text(part.get(stream)) for part in parts for stream in ("stdout", "stderr"))))
    outcomes = [mapping(part.get("outcome")) for part in parts]
    if any(outcome.get("type") == "timeout" for outcome in outcomes):
        return printed, False, {"timed_out": True}
    codes = [outcome["exit_code"] for outcome in outcomes if type(outcome.get("exit_code")) is int]
    code = next(filter(None, codes), 0)
    return printed, code == 0 if codes else None, present(exit_code=code if codes else None)


def _call_id(item: Item) -> str:
    return name(item.get("call_id")) or name(item.get("id"))


def _qualified(item: Item, tool: str) -> str:
    """The tool name, prefixed with its server or namespace, if any."""
    space = name(item.get("server_label")) or name(item.get("namespace"))
    return f"{space}.{tool}" if space and not tool.startswith(space) else tool
