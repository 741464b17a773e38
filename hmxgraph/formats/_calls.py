"""Link tool calls to their results, and convert both to drafts of events."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.formats._drafts import Draft, Frame
from hmxgraph.formats._endings import ending, fields_say_failure
from hmxgraph.formats._parts import arguments, result
from hmxgraph.formats._values import present
from hmxgraph.formats.conversion import JsonObject
from hmxgraph.protocol.events import ASSISTANT, TOOL


class Calls:
    """The calls of a source that have no result yet.

    They are kept in *carried*, the state of the converter: the caller stores it, so that a later import can continue.
    """

    def __init__(self, carried: JsonObject) -> None:
        self._open: dict[str, list[str]] = carried.setdefault("calls", {})

    def remember(self, call_id: str, tool: str, event_id: str) -> None:
        """Remember the tool and the event of a call until its result is read."""
        if call_id:
            self._open[call_id] = [tool, event_id]

    def take(self, call_id: str) -> tuple[str, str]:
        """Remove a call; returns its tool and the id of its event, both empty if the call is unknown."""
        tool, event_id = self._open.pop(call_id, ("", ""))
        return tool, event_id


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call, as its producer states it.

    ``success`` is None if the producer does not say whether the call succeeded; the result itself may still show it.
    With ``silent_success``, a result without any sign of failure counts as a success. ``more`` holds further fields for
    the content of the event.
    """

    call_id: str
    value: Any
    tool: str = ""
    success: bool | None = None
    more: JsonObject | None = None
    silent_success: bool = False


def call_draft(calls: Calls, frame: Frame, part: str, call: tuple[str, str, Any]) -> Draft:
    """The draft of *call* (id, tool, arguments); the call is also added to *calls*, for its result."""
    call_id, tool, call_arguments = call
    calls.remember(call_id, tool, frame.event_id(part))
    content = {"tool_name": tool or "unknown", "arguments": arguments(call_arguments)} | present(call_id=call_id)
    return Draft("tool_call", content, ASSISTANT, part, source="assistant")


def answer_draft(calls: Calls, part: str, answer: Answer) -> Draft:
    """The draft of a result, linked to its call.

    ``success`` comes from a flag in the result, else from the producer, else from an exit code or error message in the
    text.
    """
    tool, call_event = calls.take(answer.call_id)
    tool = answer.tool or tool
    value, flagged = _unwrapped(answer.value)
    returned, attachments = result(value)
    success = answer.success if flagged is None else flagged
    content = present(tool_name=tool, call_id=answer.call_id) | {"result": returned}
    content |= ending(returned) | present(success=success)
    if answer.silent_success:
        content.setdefault("success", not fields_say_failure(returned))
    content |= present(attachments=attachments) | (answer.more or {})
    source = f"tool:{tool}" if tool else "tool"
    return Draft("tool_result", content, TOOL, part, source=source, parent_event_id=call_event or None)


def _unwrapped(value: Any) -> tuple[Any, bool | None]:
    """The content of an MCP result, and whether its call succeeded; for any other value, the value and None."""
    if isinstance(value, Mapping) and isinstance(value.get("content"), list) and isinstance(value.get("isError"), bool):
        if isinstance(value.get("structuredContent"), Mapping):
            return value["structuredContent"], not value["isError"]
        return value["content"] or "", not value["isError"]
    return value, None
