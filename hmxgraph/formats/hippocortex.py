"""Events of the Hippocortex SDK: ``{type, sessionId, payload, metadata}``, as its clients and adapters send them.

The events have no id or sequence, and usually no time. Some of the SDK's adapters name the agent, but none gives calls
an id. A result without a call id belongs to the oldest call without an id to the same tool in its session that still
lacks a result.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._messages import message_reading, role_of
from hmxgraph.formats._parts import contents
from hmxgraph.formats._values import listed, mapping, name, present, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import ASSISTANT, HARNESS, IMPORT, MEMORY_EVENT, TOOL, USER

_FIELDS = ("type", "sessionId", "payload")
_AGENTS = ("agentId", "agent_id", "agent_name", "sender")
_USERS = ("userId", "user_id")
_TOOLS = ("tool_name", "tool", "name")
_IDS = ("callId", "call_id", "id")
# The HMX-E names of fields, by event type and by name in the SDK.
_HMX_FIELD_NAMES = {
    "command_exec": {"exitCode": "exit_code", "output": "stdout"},
    "api_result": {"status": "status_code"},
    "tool_result": {"exitCode": "exit_code"},
}
# Who wrote an event, by its type.
_ORIGINS = {"decision": ASSISTANT, "feedback": USER, "error": TOOL, "observation": TOOL, "state_change": HARNESS}
# Maximum number of calls without id and result that are remembered for each tool in a session.
_MOST_OPEN = 100


def recognise(sample: Sequence[Any]) -> Match:
    """The share of records that have type, session and payload.

    >>> recognise([{"type": "message", "sessionId": "s", "payload": {"role": "user", "content": "hi"}}]).score
    1.0
    """
    if not sample:
        return Match(0.0, _FIELDS)
    score = sum(not _faults(value) for value in map(mapping, sample)) / len(sample)
    return Match(round(score, 2), () if score == 1.0 else _FIELDS)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    reader = _EventReader(origin)
    for record in records:
        yield reader.outcome(record, record.value) if isinstance(record.value, Mapping) else not_an_object(record)


def _faults(value: Mapping[str, Any]) -> list[Fault]:
    checks = {
        "type": (bool(text(value.get("type"))), "the type of the event"),
        "sessionId": (bool(name(value.get("sessionId"))), "the id of a session"),
        "payload": (isinstance(value.get("payload"), Mapping), "an object"),
    }
    return [
        Fault(f"$.{field}", "Hippocortex SDK", f"{value.get(field)!r:.60}", expected)
        for field, (is_valid, expected) in checks.items()
        if not is_valid
    ]


class _EventReader:
    """Reads the events of one source or one live session; remembers the calls that still lack a result."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._calls = Calls(origin.carried)
        self._open: dict[str, list[str]] = origin.carried.setdefault("open_calls", {})

    def outcome(self, record: Record, value: Mapping[str, Any]) -> Outcome:
        """The outcome of one event of the SDK."""
        if faults := _faults(value):
            return Outcome(record, fault=faults[0])
        producer_metadata = mapping(value.get("metadata"))
        user = next(
            (name(producer_metadata[field]) for field in _USERS if name(producer_metadata.get(field))),
            self._origin.user_id or "",
        )
        # The producer's metadata stays under one key, so that it cannot override fields such as the author of the text.
        metadata = present(format="hippocortex", user_id=user, hippocortex=dict(producer_metadata))
        agent = next(
            (name(producer_metadata[field]) for field in _AGENTS if name(producer_metadata.get(field))),
            self._origin.agent_id or "",
        )
        place = Place(0, name(value.get("sessionId")), "", value.get("timestamp"), agent, metadata)
        # Without a time, only the line distinguishes two equal events, such as a user's second "yes".
        identity = repr(value) if value.get("timestamp") else f"{record.line} {value!r}"
        frame = frame_of(record, self._origin, place, identity)
        if isinstance(frame, Fault):
            return Outcome(record, fault=frame)
        reading = self._reading(text(value.get("type")), mapping(value.get("payload")), producer_metadata, frame)
        return joined(record, [(frame, reading)], self._origin.carried)

    def _reading(
        self, kind: str, payload: Mapping[str, Any], producer_metadata: Mapping[str, Any], frame: Frame
    ) -> Reading:
        if kind == "message":
            return self._message(payload, producer_metadata, frame)
        if kind == "tool_call":
            return self._call(payload, frame)
        if kind == "tool_result":
            return Reading((self._answer("0", payload, frame),))
        return Reading((Draft(kind, _content(kind, payload), _ORIGINS.get(kind, TOOL)),))

    def _message(self, payload: Mapping[str, Any], producer_metadata: Mapping[str, Any], frame: Frame) -> Reading:
        extracted = [fact for fact in map(text, listed(producer_metadata.get("extractedMemories"))) if fact.strip()]
        if extracted:
            # A model extracted these from the conversation, so they are only proposals, like other imported memories.
            drafts = (
                Draft(MEMORY_EVENT, {"kind": "fact", "text": fact}, IMPORT, str(number), source="hippocortex")
                for number, fact in enumerate(extracted)
            )
            return Reading(tuple(drafts))
        message = {**payload, "content": payload.get("content", payload.get("text"))}
        if role_of(message):
            return message_reading(message, frame, self._calls)
        return Reading((Draft("message", contents(message["content"]).fields(), HARNESS),))

    def _call(self, payload: Mapping[str, Any], frame: Frame) -> Reading:
        tool = _first(payload, _TOOLS) or "unknown"
        stated_id = _first(payload, _IDS)
        call_id = stated_id or frame.event_id("call")
        arguments = next((payload[field] for field in ("input", "args", "arguments") if field in payload), None)
        call = call_draft(self._calls, frame, "0", (call_id, tool, arguments))
        if "output" in payload or "result" in payload:
            result = {**payload, "callId": call_id}
            return Reading((call, self._answer("1", result, frame)))
        if not stated_id:
            waiting = self._open.setdefault(f"{frame.session_id}\0{tool}", [])
            waiting.append(call_id)
            del waiting[:-_MOST_OPEN]
        return Reading((call,))

    def _answer(self, part: str, payload: Mapping[str, Any], frame: Frame) -> Draft:
        tool = _first(payload, _TOOLS)
        call_id = _first(payload, _IDS)
        waiting = self._open.get(f"{frame.session_id}\0{tool}")
        if not call_id and waiting:
            call_id = waiting.pop(0)
        value = next((payload[field] for field in ("output", "result", "content", "error") if field in payload), None)
        success = payload.get("success") if isinstance(payload.get("success"), bool) else None
        renamed = _content("tool_result", payload)
        more = {key: renamed[key] for key in ("exit_code", "error", "duration_ms") if renamed.get(key) is not None}
        return answer_draft(self._calls, part, Answer(call_id, value, tool, success, more))


def _first(payload: Mapping[str, Any], fields: Iterable[str]) -> str:
    return next((name(payload[field]) for field in fields if name(payload.get(field))), "")


def _content(kind: str, payload: Mapping[str, Any]) -> JsonObject:
    """*payload* with the field names of HMX-E; a field is not renamed if *payload* already has its new name."""
    renamed = _HMX_FIELD_NAMES.get(kind, {})
    return {key if (new := renamed.get(key)) is None or new in payload else new: part for key, part in payload.items()}


HIPPOCORTEX = Format("hippocortex", "events of the Hippocortex SDK", recognise, convert)
