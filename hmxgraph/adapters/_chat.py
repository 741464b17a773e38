"""Build the chat messages that ``graph.record`` accepts, for adapters of agent frameworks."""

import json
from collections.abc import Mapping
from typing import Any

# A message in the form of OpenAI's chat completions, and the name of that format for ``graph.record``.
Item = dict[str, Any]
FORMAT = "openai-chat"


def message_item(role: str, text: str) -> Item:
    """A text message of the user or the assistant."""
    return {"role": role, "content": text}


def call_item(call_id: str, name: str, arguments: Any) -> Item:
    """An assistant message with one tool call; *arguments* are JSON text or a mapping.

    >>> call_item("c1", "cluster_of", {"env": "staging"})["tool_calls"][0]["function"]["arguments"]
    '{"env": "staging"}'
    """
    text = json.dumps(dict(arguments), default=str) if isinstance(arguments, Mapping) else str(arguments or "{}")
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result_item(call_id: str, text: str, *, failed: bool) -> Item:
    """A tool message with the result of a call; with *failed*, its text begins with "Error".

    >>> result_item("c1", "no such cluster", failed=True)["content"]
    'Error: no such cluster'
    """
    shown = f"Error: {text}" if failed and not text.startswith("Error") else text
    return {"role": "tool", "tool_call_id": call_id, "content": shown}
