"""What an agent did in one event, under one name: a tool, a program with its subcommand, or a kind of work."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hmxgraph.compiler.sessions.commands import command_name
from hmxgraph.compiler.sessions.web_requests import REQUEST_FIELDS, request_name
from hmxgraph.compiler.sessions.work import (
    COMMAND_FIELDS,
    browser_target,
    browser_verb,
    edited_path,
    inputs_of,
    interface,
)
from hmxgraph.compiler.vocabulary import BROWSER, SHELL_WORDS
from hmxgraph.protocol.identity import indexable
from hmxgraph.protocol.outcomes import WORK, went_well
from hmxgraph.text.masking import mask_ids, mask_secrets

# What a command line may show of itself inside an artifact.
LONGEST_COMMAND = 120
_NAME_PARTS = re.compile(r"[A-Za-z][a-z]*")
_GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


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
    """One thing done: its name, what was given to it, and how it went if known.

    ``command`` is the command line where it was one, of an edit the file, in a browser to what it was done.
    """

    name: str
    arguments: Mapping[str, Any]
    command: str = ""
    ok: bool | None = None
    finished: bool = False


def action_of(event: SessionEvent) -> Action | None:
    """The action that *event* is, or None for an event that only tells something.

    A tool call is finished by its result; a command, an edit, a test run, a browser action tell their end themselves.
    """
    if event.event_type == "tool_call":
        return _tool_call(event.content)
    return _work(event.event_type, event.content) if event.event_type in WORK else None


def _work(event_type: str, content: Mapping[str, Any]) -> Action:
    """Work that tells its end itself; what says no more than that goes by its type."""
    match event_type:
        case "file_edit":
            name, line = "", _kept(edited_path(content))
        case "api_result":
            name, line = _request(content) or tool_name(interface(content)), ""
        case "browser_action":
            verb = browser_verb(content)
            name, line = (tool_name(f"{BROWSER}{verb}") if verb else ""), _kept(browser_target(content))
        case _:
            run = _command_line(content) or ""
            name, line = command_name(run), _shown(run)
    ok = went_well(event_type, content)
    return Action(name or event_type, inputs_of(event_type, content), line, ok, finished=True)


def _request(content: Mapping[str, Any]) -> str:
    """The web request that an API result is of; it may stand in a field of its own."""
    inner = content.get("request")
    return request_name(content) or (request_name(inner) if isinstance(inner, Mapping) else "")


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
    for field in COMMAND_FIELDS:
        value = content.get(field)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            return " ".join(str(part) for part in value)
    return None


def _kept(target: str) -> str:
    return mask_ids(mask_secrets(" ".join(target.split())))[:LONGEST_COMMAND]


def _shown(line: str) -> str:
    """*line* as it may be kept: masked, but for the words that say what is run."""
    if not line:
        return ""
    said, text = command_name(line), mask_secrets(" ".join(line.split()))
    before, found, after = text.partition(said) if said else ("", "", "")
    return (f"{mask_ids(before)}{said}{mask_ids(after)}" if found else mask_ids(text))[:LONGEST_COMMAND]
