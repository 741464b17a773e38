"""The JSON Schemas (2020-12) that decide the structure of every document; shipped as files beside this module."""

import functools
import json
from importlib import resources
from typing import Any

from hmxgraph.errors import NotFound

SCHEMA_NAMES = (
    "artifact",
    "artifact-content",
    "context-pack",
    "event",
    "event-content",
    "fingerprint",
    "fingerprint-envelope",
    "task-record",
    "validity-scope",
)


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of that name; a fresh copy, yours to change.

    Raises: NotFound, listing the names there are.

    >>> schema("event")["title"]
    'HMX Event'
    """
    loaded: dict[str, Any] = json.loads(schema_text(name))
    return loaded


@functools.cache
def schema_text(name: str) -> str:
    """The same as the text of the packaged file."""
    if name not in SCHEMA_NAMES:
        raise NotFound("schema", name, hint=f"there are {', '.join(SCHEMA_NAMES)}")
    return (resources.files("hmxgraph.protocol") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
