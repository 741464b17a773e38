"""What an agent did in one event, under one name: a tool, a program with its subcommand, or a kind of work."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hmxgraph.compiler.sessions.commands import command_name
from hmxgraph.compiler.sessions.web_requests import REQUEST_FIELDS, request_name
from hmxgraph.compiler.vocabulary import SHELL_WORDS
from hmxgraph.protocol.identity import indexable
from hmxgraph.text.masking import mask_ids, mask_secrets

# What a command line may show of itself inside an artifact.
LONGEST_COMMAND = 120
_NAME_PARTS = re.compile(r"[A-Za-z][a-z]*")
_GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_COMMAND_FIELDS = ("command", "cmd", "command_line", "script")


class SessionEvent(Protocol):
    """What the compiler needs to know of an event; :class:`hmxgraph.protocol.events.Event` has it all."""

    @property
    def event_id(self) -> str: ...  # noqa: D102
    @property
    def event_type(self) -> str: ...  # noqa: D102
    @property
    def agent_id(self) -> str: ...  # noqa: D102
    @property
    def session_id(self) -> str: ...  # noqa: D102
    @property
    def sequence(self) -> int: ...  # noqa: D102
    @property
    def time_us(self) -> int: ...  # noqa: D102
    @property
    def content(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def source(self) -> str | None: ...  # noqa: D102
    @property
    def correlation_id(self) -> str | None: ...  # noqa: D102
    @property
    def parent_event_id(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Action:
    """One thing done: its name, what was given to it, the command line where it was one, and how it went if known."""

    name: str
    arguments: Mapping[str, Any]
    command: str = ""
    ok: bool | None = None
    finished: bool = False


def action_of(event: SessionEvent) -> Action | None:
    """The action that *event* is, or None for an event that only tells something.

    A tool call is finished by its result; a command, an edit, a test run, a browser action tell their end themselves.
    """
    content = event.content
    match event.event_type:
        case "tool_call":
            return _tool_call(content)
        case "command_exec":
            line = _command_line(content) or ""
            return Action(command_name(line) or "command_exec", {}, _shown(line), _went_well(content), finished=True)
        case "test_run":
            line = _command_line(content) or ""
            return Action(command_name(line) or "test_run", {}, _shown(line), _passed(content), finished=True)
        case "file_edit" | "api_result":
            name = request_name(content) if event.event_type == "api_result" else ""
            return Action(name or event.event_type, {}, "", _went_well(content), finished=True)
        case "browser_action":
            verb = content.get("action") or content.get("type")
            name = tool_name(f"browser {verb}") if isinstance(verb, str) and verb.isalpha() else "browser_action"
            return Action(name, {}, "", _went_well(content), finished=True)
        case _:
            return None


def result_went_well(content: Mapping[str, Any]) -> bool | None:
    """Whether a tool's result reports success; None where it does not say."""
    if isinstance(content.get("success"), bool):
        return bool(content["success"])
    inner = content.get("result")
    return _went_well(inner) if isinstance(inner, Mapping) else _went_well(content)


def tool_name(value: object) -> str:
    r"""The name of a tool on one line, no longer than an index holds; "" of nothing.

    >>> tool_name("restart\nserver"), tool_name(None)
    ('restart server', '')
    """
    return indexable(_GAPS.sub(" ", str(value or "")).strip())


def _tool_call(content: Mapping[str, Any]) -> Action:
    tool = tool_name(content.get("tool_name") or content.get("name")) or "tool"
    arguments = content.get("arguments")
    given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
    line = _command_line(given) if _is_shell(tool) else None
    if line is not None and (name := command_name(line)):
        return Action(name, {}, _shown(line))
    if request := request_name(given):
        return Action(request, {name: value for name, value in given.items() if name not in REQUEST_FIELDS})
    return Action(tool, given)


def _is_shell(tool: str) -> bool:
    return not SHELL_WORDS.isdisjoint(part.lower() for part in _NAME_PARTS.findall(tool))


def _command_line(content: Mapping[str, Any]) -> str | None:
    for field in _COMMAND_FIELDS:
        value = content.get(field)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            return " ".join(str(part) for part in value)
    return None


def _shown(line: str) -> str:
    """*line* as it may be kept: masked, but for the words that say what is run."""
    if not line:
        return ""
    said, text = command_name(line), mask_secrets(" ".join(line.split()))
    before, found, after = text.partition(said) if said else ("", "", "")
    return (f"{mask_ids(before)}{said}{mask_ids(after)}" if found else mask_ids(text))[:LONGEST_COMMAND]


def _went_well(content: Mapping[str, Any]) -> bool | None:
    for field in ("success", "ok"):
        if isinstance(content.get(field), bool):
            return bool(content[field])
    for field in ("exit_code", "returncode", "return_code"):
        if isinstance(content.get(field), int):
            return bool(content[field] == 0)
    for field in ("status_code", "status"):
        if isinstance(content.get(field), int):
            return bool(content[field] < 400)
    return False if content.get("error") else None


def _passed(content: Mapping[str, Any]) -> bool | None:
    failed = content.get("failed", content.get("failures"))
    if isinstance(failed, int):
        return failed == 0
    if isinstance(content.get("passed"), bool):
        return bool(content["passed"])
    if isinstance(content.get("status"), str):
        return content["status"].lower() in {"passed", "pass", "ok", "success", "succeeded"}
    return _went_well(content)
