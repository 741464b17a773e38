"""The running session in a row of ``recall/knowledge``: what happened in it, each under the action it belongs to."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hmxgraph.graph.rows.packs.guidance import action_name
from hmxgraph.recall.known.values import Happened

_TOOL = re.compile(r"[^\s(]+")
# What stands between a tool and its result (ingest.rendition): the first, as a result may contain either.
_ARROW = re.compile(r" failed: | -> ")


def happened(rows: Sequence[Sequence[Any]]) -> Iterator[Happened]:
    """Calls, results and errors as they came; *rows* have type, text, content and call id, latest first.

    A result without a call id answers the last call of its tool, an error without one the last call of all.

    >>> rows = [["tool_result", "bash -> ok", "{}", None], ["tool_call", "bash(ls)", '{"tool_name": "bash"}', "c1"]]
    >>> [(each.action, each.failed) for each in happened(rows)]
    [('bash', False), ('bash', False)]

    """
    by_call: dict[str, str] = {}
    by_tool: dict[str, str] = {}
    last = ""
    for event_type, text, content, call_id in reversed(rows):
        tool = _tool(text)
        if event_type == "tool_call":
            action = last = by_tool[tool] = action_name(event_type, content, text)
            if call_id is not None:
                by_call[call_id] = action
        else:
            action = by_call.get(call_id) or (last if event_type == "error" else by_tool.get(tool, tool))
        yield Happened(event_type, text, action, failed=_failed(event_type, text))


def _failed(event_type: str, text: str) -> bool:
    arrow = _ARROW.search(text) if event_type == "tool_result" else None
    return event_type == "error" or (arrow is not None and arrow.group() == " failed: ")


def _tool(text: str) -> str:
    match = _TOOL.match(text)
    return match.group() if match else ""
