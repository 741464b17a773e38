"""CloudEvents 1.0 in JSON, one per line or in an array. HMX-E events inside CloudEvents are taken out unchanged."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Calls
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._messages import is_message, message_reading
from hmxgraph.formats._parts import attachment
from hmxgraph.formats._values import mapping, name, parsed, present
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import EVENT_TYPES, TOOL

_REQUIRED = ("specversion", "id", "source", "type")
# Characters that an HMX-E event type must not contain.
_NOT_IN_TYPES = re.compile(r"[^A-Za-z0-9_.-]+")
# The attributes of CloudEvents 1.0; all others are extensions.
_ATTRIBUTES = frozenset({*_REQUIRED, "time", "subject", "data", "data_base64", "datacontenttype", "dataschema"})
# Extensions, or fields of the data, that name a session.
_SESSIONS = ("sessionid", "session_id", "conversationid", "conversation_id", "threadid")


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects with ``specversion``, reduced if required attributes (CloudEvents 1.0, 3.1) are missing.

    It is reduced by an eighth for each required attribute that at least half of the objects lack.

    >>> recognise([{"specversion": "1.0", "id": "1", "source": "/a", "type": "b"}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, _REQUIRED)
    missing = tuple(field for field in _REQUIRED if sum(field in value for value in records) * 2 <= len(records))
    score = sum("specversion" in value for value in records) / len(records)
    return Match(round(score * (1 - len(missing) / 8), 2), missing)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per event."""
    calls = Calls(origin.carried)
    for record in records:
        if isinstance(record.value, Mapping):
            yield _outcome(record, record.value, origin, calls)
        else:
            yield not_an_object(record)


def _outcome(record: Record, event: Mapping[str, Any], origin: Origin, calls: Calls) -> Outcome:
    missing = [field for field in _REQUIRED if not name(event.get(field))]
    if missing:
        return Outcome(
            record, fault=Fault("$", "CloudEvents 1.0, 3.1", f"no {', '.join(missing)}", "all required attributes")
        )
    data = _data(event)
    if isinstance(data, Mapping) and "hmx_version" in data and "event_id" in data:
        return Outcome(record, events=(dict(data),))
    frame = _frame(record, event, data, origin)
    if isinstance(frame, Fault):
        return Outcome(record, fault=frame)
    return joined(record, [(frame, _reading(event, data, frame, calls))], origin.carried)


def _frame(record: Record, event: Mapping[str, Any], data: Any, origin: Origin) -> Frame | Fault:
    """The frame of an event; if neither it nor the caller names a session, source and subject name the session."""
    inner = mapping(data)
    session_id = next(
        (
            name(event.get(field)) or name(inner.get(field))
            for field in _SESSIONS
            if event.get(field) or inner.get(field)
        ),
        "",
    )
    source_and_subject = "/".join(filter(None, (name(event["source"]), name(event.get("subject")))))
    named_fields = {
        "format": "cloudevents",
        "cloudevent_type": name(event["type"]),
        "subject": name(event.get("subject")),
    }
    extensions = {
        f"cloudevent_{key}" if key in named_fields else key: value
        for key, value in event.items()
        if key not in _ATTRIBUTES and isinstance(value, str | int | bool)
    }
    place = Place(
        0,
        session_id or origin.session_id or source_and_subject,
        f"{name(event['source'])}/{name(event['id'])}",
        event.get("time"),
        origin.agent_id or name(event["source"]),
        present(**(extensions | named_fields)),
        unique=True,
    )
    return frame_of(record, origin, place, repr(data))


def _reading(event: Mapping[str, Any], data: Any, frame: Frame, calls: Calls) -> Reading:
    """The draft of a message, or of an event with a type made from the CloudEvents type.

    ``com.acme.error`` becomes ``error``, since HMX-E has a type of that name; ``com.acme.paid`` becomes
    ``x-cloudevents-com.acme.paid``.
    """
    if is_message(data):
        return message_reading(data, frame, calls)
    last_part = name(event["type"]).rsplit(".", 1)[-1]
    kind = last_part if last_part in EVENT_TYPES else f"x-cloudevents-{_NOT_IN_TYPES.sub('-', name(event['type']))}"
    content: JsonObject = dict(data) if isinstance(data, Mapping) else {} if data is None else {"value": data}
    return Reading((Draft(kind, content, TOOL, source=name(event["source"])),))


def _data(event: Mapping[str, Any]) -> Any:
    """The data of an event; JSON text is parsed, and binary data becomes its size and hash."""
    if isinstance(event.get("data_base64"), str):
        return {"attachments": [attachment({"type": "binary", "data": event["data_base64"]})]}
    data = event.get("data")
    if isinstance(data, str) and "json" in name(event.get("datacontenttype")):
        document = parsed(data)
        return data if document is None else document
    return data


CLOUDEVENTS = Format("cloudevents", "CloudEvents", recognise, convert)
