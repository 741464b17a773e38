"""Framework messages converted to the chat messages that ``graph.record`` accepts."""

import json
from collections.abc import Mapping
from typing import Any

# A message in OpenAI's form, and the name of that format for ``graph.record``.
Item = dict[str, Any]
FORMAT = "openai-chat"


def message_item(role: str, text: str) -> Item:
    """A message with text."""
    return {"role": role, "content": text}


def call_item(call_id: str, name: str, arguments: Any) -> Item:
    """A tool call; *arguments* are JSON text or a mapping.

    >>> call_item("c1", "cluster_of", {"env": "staging"})["tool_calls"][0]["function"]["arguments"]
    '{"env": "staging"}'
    """
    text = json.dumps(dict(arguments), default=str) if isinstance(arguments, Mapping) else str(arguments or "{}")
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result_item(call_id: str, text: str, *, failed: bool) -> Item:
    """The result of a tool call, or its error.

    >>> result_item("c1", "no such cluster", failed=True)["content"]
    'Error: no such cluster'
    """
    shown = f"Error: {text}" if failed and not text.startswith("Error") else text
    return {"role": "tool", "tool_call_id": call_id, "content": shown}
