"""The readable text of an event, as shown in context packs and indexed for search."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hmxgraph.errors import MalformedJson
from hmxgraph.protocol.events import MEMORY_EVENT, Event, went_well
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.text.excerpts import GAP

# Maximum characters of one event that a pack shows: its beginning or an excerpt.
SHOWN = 4_000
# Maximum characters of one event that the index reads.
INDEXED = 32_000
# Fields of work (a command, test run, request or browser action) that come last: they say least about how it went.
_MINOR = ("success", "ok", "cwd", "duration_ms", "duration", "latency_ms", "elapsed_ms")
# Fields of work that come first: they say most about how it went.
_ANSWER = ("error", "errors", "failures", "stderr", "message", "body", "response")
# Fields that may hold a command line.
_COMMANDS = ("command", "cmd", "command_line")
# Fields that may hold the target of a browser action.
_TARGETS = ("selector", "element", "xpath", "ref", "index", "coordinate", "target")
# Fields that may hold the text of an event of any other type.
_MAIN = ("text", "message", "summary", "description", "comment", "title", "value")
# Names of the single field of an object that a tool or an agent wraps around its answer.
_WRAPPERS = frozenset({"answer", "content", "message", "output", "response", "result", "text", "value"})
Content = Mapping[str, Any]


def rendition(event: Event) -> str:
    """The text of *event*, at most ``INDEXED`` characters.

    A message is its own text (``speaker`` holds its author); a call reads like code, an error like a log line.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="error", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:05Z", sequence=2, metadata={},
    ...     content={"error_type": "KubectlError", "message": "namespace staging not found"})
    >>> rendition(event)
    'KubectlError: namespace staging not found'
    """
    return full_text(event.event_type, event.content)


def full_text(event_type: str, content: Content) -> str:
    """The text of an event of this type with this *content*; the type itself if the content gives none."""
    render = _BY_TYPE.get(event_type, _any_content)
    return cut(render(content).strip() or event_type, INDEXED)


def cut(text: str, limit: int) -> str:
    """*text*, or its beginning and an ellipsis if it is longer than *limit*.

    >>> cut("abcdefghij", 8)
    'abcd […]'
    """
    return text if len(text) <= limit else text[: limit - len(GAP)].rstrip() + GAP


def compact(value: Any) -> str:
    """A JSON value in shorthand: no quotes, no outer braces.

    >>> compact({"user": {"name": "Ann", "age": 42}, "ok": True, "tags": ["a", "b"]})
    'user: {name: Ann, age: 42}, ok: true, tags: [a, b]'
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_nested(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_nested, value))
    return _scalar(value)


def _nested(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{compact(value)}}}"
    return f"[{compact(value)}]" if isinstance(value, list | tuple) else _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value
    return (
        {None: "null", True: "true", False: "false"}[value]
        if value is None or value is True or value is False
        else (f"{value:.15g}" if isinstance(value, float) else str(value))
    )


def _text(content: Content, name: str) -> str:
    return _as_text(content.get(name))


def _as_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else compact(value)


def _other_fields(content: Content, *used: str) -> str:
    """The fields of *content* that are not empty, except those in *used*."""
    return compact(
        {name: part for name, part in content.items() if name not in used and part not in (None, "", [], {})}
    )


def _extra_fields(content: Content, *used: str) -> str:
    """The fields of *content* beyond those of its type, which HMX-E 4 allows."""
    rest = _other_fields(content, *used)
    return f"({rest})" if rest else ""


def _joined(parts: Iterator[str] | list[str], separator: str) -> str:
    return separator.join(part for part in parts if part)


def _unwrapped(value: Any) -> Any:
    """The answer in an object with no other field, or the text of the blocks that models and MCP servers return.

    >>> _unwrapped({"content": [{"type": "text", "text": "Done"}]}), _unwrapped({"value": 42}), _unwrapped({"n": 1})
    ('Done', 42, {'n': 1})
    """
    if isinstance(value, Mapping) and len(value) == 1 and not _WRAPPERS.isdisjoint(value):
        (inner,) = map(_unwrapped, value.values())
        return value if isinstance(inner, Mapping | list | tuple) else inner
    if isinstance(value, list) and value and all(map(_is_text_block, value)):
        return "\n".join(block["text"] for block in value)
    return value


def _is_text_block(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "text" and isinstance(value.get("text"), str)


def _message(content: Content) -> str:
    attachments = content.get("attachments")
    shown = [f"[{compact(attachment)}]" for attachment in attachments] if isinstance(attachments, list) else []
    return _joined([_readable_text(_text(content, "text")), *shown], " ") or _other_fields(content, "role")


def _readable_text(text: str) -> str:
    r"""*text*; a JSON object becomes one line for each field.

    >>> _readable_text('{"message": "Your order is on its way."}')
    'Your order is on its way.'
    >>> _readable_text('{"status": "done", "orders": ["#W1", "#W2"]}')
    'status: done\norders: [#W1, #W2]'
    """
    if not (text.lstrip().startswith("{") and text.rstrip().endswith("}")):
        return text
    try:
        value = parse_json(text, unique_keys=False)
    except MalformedJson:
        return text
    answer = _unwrapped(value)
    if isinstance(answer, Mapping):
        return "\n".join(f"{name}: {_nested(part)}" for name, part in answer.items()) or text
    return _scalar(answer) or text


def _thought(content: Content) -> str:
    """What an agent thought but did not say."""
    return f"thought: {_message(content)}"


def _tool_call(content: Content) -> str:
    arguments = content.get("arguments")
    if isinstance(arguments, Mapping):
        shown = ", ".join(f"{name}={_nested(part)}" for name, part in arguments.items())
    else:
        shown = _text(content, "arguments")
    return f"{_text(content, 'tool_name')}({shown})"


def _tool_result(content: Content) -> str:
    failed = went_well("tool_result", content) is False
    result, error = _as_text(_unwrapped(content.get("result"))), _text(content, "error")
    shown = _joined([error, result], "; ") if failed and error not in result else result or error
    if not shown and failed:
        shown = _outcome(content, "tool_name", "call_id", "success", "ok")
    return f"{_text(content, 'tool_name')}{' failed: ' if failed else ' -> '}{shown}"


def _error(content: Content) -> str:
    message = _joined([_text(content, "error_type"), _text(content, "message")], ": ")
    more = _extra_fields(content, "error_type", "message", "stack", "recoverable", "tool_name", "call_id")
    return _joined([message, more], " ") if message else _other_fields(content)


def _decision(content: Content) -> str:
    chosen_option, alternatives = _text(content, "chosen_option"), content.get("alternatives")
    # Some producers list the chosen option among the alternatives.
    unchosen = (
        [other for other in alternatives if other != chosen_option] if isinstance(alternatives, list) else alternatives
    )
    instead = _text({"alternatives": unchosen}, "alternatives")
    return _joined(
        [
            _text(content, "question"),
            f"Chosen: {chosen_option}." if chosen_option else "",
            _text(content, "reasoning"),
            f"Instead of: {instead}." if instead else "",
            _extra_fields(content, "question", "chosen_option", "alternatives", "reasoning", "confidence"),
        ],
        " ",
    )


def _feedback(content: Content) -> str:
    signal = _text(content, "signal")
    comment = _joined([_text(content, "comment"), _extra_fields(content, "signal", "comment", "target_event_id")], " ")
    return _joined([f"{signal} feedback" if signal else "feedback", comment], ": ")


def _observation(content: Content) -> str:
    title = _text(content, "title").rstrip(".")
    text = _text(content, "text")
    if not text:
        return _any_content(content)
    return _joined([f"{title}. {text}" if title else text, _extra_fields(content, "title", "text")], " ")


def _file_edit(content: Content) -> str:
    path = next((_text(content, name) for name in ("path", "file_path", "file", "filename") if content.get(name)), "")
    rest = _other_fields(content, "path", "file_path", "file", "filename")
    return _joined([f"edit {path}".strip(), rest], ": ")


def _command(content: Content) -> str:
    code = next((content[name] for name in ("exit_code", "exit_status") if content.get(name) is not None), None)
    outcome = "" if code is None else f"-> exit {code}"
    rest = _outcome(content, *_COMMANDS, "exit_code", "exit_status")
    return _joined([f"$ {_command_line(content)}", outcome, rest], " ")


def _command_line(content: Content) -> str:
    """The command line, which may be a list of words."""
    line = next((content[name] for name in _COMMANDS if content.get(name)), "")
    return " ".join(map(_scalar, line)) if isinstance(line, list) else line if isinstance(line, str) else compact(line)


def _test_run(content: Content) -> str:
    line = _command_line(content)
    return _joined([f"$ {line}", _outcome(content, *_COMMANDS)], " -> ") if line else _any_content(content)


def _api_result(content: Content) -> str:
    method, url = _text(content, "method"), _text(content, "url")
    if not (method and url):
        return _any_content(content)
    code = next((name for name in ("status_code", "status") if content.get(name) is not None), "")
    state = f"-> {_text(content, code)}" if code else ""
    return _joined([f"{method} {url} {state}".strip(), _outcome(content, "method", "url", code)], ": ")


def _browser_action(content: Content) -> str:
    """The action, its target and page, then its outcome, as for other work."""
    if not _text(content, "action"):
        return _any_content(content)
    target = next((name for name in _TARGETS if content.get(name) not in (None, "")), "")
    page = f"at {_text(content, 'url')}" if content.get("url") else ""
    action = _joined([_text(content, "action"), _text(content, target), page], " ")
    failed = " failed" if went_well("browser_action", content) is False else ""
    return _joined([f"{action}{failed}", _outcome(content, "action", "url", target, "success", "ok")], ": ")


def _outcome(content: Content, *used: str) -> str:
    """The remaining fields of work: errors and answers first, minor fields last."""
    ordered = sorted(content, key=lambda name: (name in _MINOR, name not in _ANSWER))
    return _other_fields({name: content[name] for name in ordered}, *used)


def _state_change(content: Content) -> str:
    old_fields, new_fields = ("from", "old_value", "before", "previous"), ("to", "new_value", "after", "current")
    old = next((text for name in old_fields if (text := _text(content, name))), "")
    new = next((text for name in new_fields if (text := _text(content, name))), "")
    if not new:
        return _any_content(content)
    return _joined([_other_fields(content, *old_fields, *new_fields), f"{old} -> {new}" if old else new], ": ")


def _any_content(content: Content) -> str:
    main = next((name for name in _MAIN if isinstance(content.get(name), str) and content[name]), "")
    if not main:
        return _other_fields(content)
    rest = _other_fields(content, main)
    return f"{content[main]} ({rest})" if rest else str(content[main])


_BY_TYPE: dict[str, Callable[[Content], str]] = {
    "message": _message,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "error": _error,
    "decision": _decision,
    "feedback": _feedback,
    "observation": _observation,
    "file_edit": _file_edit,
    "command_exec": _command,
    "test_run": _test_run,
    "api_result": _api_result,
    "browser_action": _browser_action,
    "state_change": _state_change,
    MEMORY_EVENT: _message,
    "x-hmxgraph-reasoning": _thought,
}
