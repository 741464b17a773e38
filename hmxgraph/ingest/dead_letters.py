"""Rejected lines as NDJSON that can be mended and fed in again."""

from collections.abc import Mapping
from typing import Any

from hmxgraph.errors import MalformedJson
from hmxgraph.ingest.report import Rejection
from hmxgraph.ingest.sources.deliveries import Payload
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.json_values import offences, without_offences
from hmxgraph.protocol.parsing import parse_json

_WHY = "dead_letter"


def dead_letter(rejection: Rejection, payload: Payload | None) -> bytes:
    r"""One line: why under ``dead_letter``, the event under ``event`` to be mended there, or its raw ``text``.

    >>> dead_letter(Rejection("f", 3, "e1", ()), b'{"event_id": "e1"}')
    b'{"dead_letter":{"event_id":"e1","faults":[],"line":3,"source":"f"},"event":{"event_id":"e1"}}\n'
    """
    return canonical_bytes({_WHY: rejection.document()} | _body(payload)) + b"\n"


def mended(payload: Payload) -> Payload | None:
    """The event inside a dead letter; None if *payload* is none.

    >>> mended('{"dead_letter": {}, "event": {"event_id": "e1"}}')
    {'event_id': 'e1'}
    """
    letter = _json(payload) if not isinstance(payload, Event) else None
    if not isinstance(letter, Mapping) or _WHY not in letter or len(letter) != 2:
        return None
    inside = letter.get("event", letter.get("text"))
    return inside if isinstance(inside, Mapping | str) else None


def _body(payload: Payload | None) -> dict[str, Any]:
    value = payload.document() if isinstance(payload, Event) else _json(payload)
    if isinstance(value, Mapping) and not any(offences(value)):
        return {"event": value}
    return {"text": _text(payload)}


def _json(payload: Any) -> Any:
    try:
        return parse_json(payload) if isinstance(payload, bytes | bytearray | str) else payload
    except MalformedJson:
        return None


def _text(payload: Any) -> str:
    if isinstance(payload, bytes | bytearray):
        return payload.decode("utf-8", "backslashreplace")
    return _spelled(payload).encode("utf-8", "backslashreplace").decode() if payload is not None else ""


def _spelled(payload: Any) -> str:
    """The value as Python writes it, down to where JSON may go if Python cannot go to its end."""
    try:
        return str(payload)
    except RecursionError:
        return str(without_offences(payload))
