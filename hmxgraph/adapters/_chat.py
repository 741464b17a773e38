"""Messages of frameworks as chat messages, which ``graph.record`` takes."""

import json
from collections.abc import Mapping
from typing import Any

Item = dict[str, Any]
FORMAT = "openai-chat"


def message_item(role: str, text: str) -> Item:
    """What someone said."""
    return {"role": role, "content": text}


def call_item(call_id: str, name: str, arguments: Any) -> Item:
    """A tool that was called, with its arguments as JSON text or a mapping.

    >>> call_item("c1", "cluster_of", {"env": "staging"})["tool_calls"][0]["function"]["arguments"]
    '{"env": "staging"}'
    """
    text = json.dumps(dict(arguments)) if isinstance(arguments, Mapping) else str(arguments or "{}")
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result_item(call_id: str, text: str, *, failed: bool) -> Item:
    """What a tool returned, or the error with which it failed.

    >>> result_item("c1", "no such cluster", failed=True)["content"]
    'Error: no such cluster'
    """
    shown = f"Error: {text}" if failed and not text.startswith("Error") else text
    return {"role": "tool", "tool_call_id": call_id, "content": shown}
