"""The running session in a row of ``recall/knowledge``: what happened in it, each under the action it belongs to."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hmxgraph.graph.rows.packs.guidance import action_name
from hmxgraph.recall.known.values import Happened

_TOOL = re.compile(r"[^\s(]+")
_ANSWERS = frozenset({"tool_result", "error"})


def happened(rows: Sequence[Sequence[Any]]) -> Iterator[Happened]:
    """What was done and what came of it, as it came; *rows* have type, text, content, call id and failed, latest first.

    A result without a call id answers the last call of its tool, an error without one the last that was done.

    >>> call = ["tool_call", "bash(ls)", '{"tool_name": "bash"}', "c1", False]
    >>> [(each.action, each.failed) for each in happened([["tool_result", "bash failed: no", "{}", None, True], call])]
    [('bash', False), ('bash', True)]

    """
    by_call: dict[str, str] = {}
    by_tool: dict[str, str] = {}
    last = ""
    for event_type, text, content, call_id, failed in reversed(rows):
        if event_type in _ANSWERS:
            tool = _tool(text)
            action = by_call.get(call_id) or (last if event_type == "error" else by_tool.get(tool, tool))
        else:
            action = last = action_name(event_type, content, text)
        if event_type == "tool_call":
            by_tool[_tool(text)] = action
            if call_id is not None:
                by_call[call_id] = action
        yield Happened(event_type, text, action, failed=failed)


def _tool(text: str) -> str:
    match = _TOOL.match(text)
    return match.group() if match else ""
