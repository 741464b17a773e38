"""Records that hold one message, or a conversation from its beginning.

A call log repeats the whole conversation with every call. So a record that begins with all messages read so far of a
conversation continues that conversation, and only its new messages become events. If the record has a session id, it
may continue the conversation with that id, else the one read last. A record without a session id that continues no
conversation begins a new session.

The fields around the messages, such as a user id, are called the envelope.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Calls
from hmxgraph.formats._drafts import Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._messages import Message, is_message, message_reading, role_of
from hmxgraph.formats._parts import block_text, contents
from hmxgraph.formats._values import derived_id, listed, mapping, moment, name, present, session_of
from hmxgraph.formats.conversion import JsonObject, Origin, Outcome, Record
from hmxgraph.protocol.lenient import spelled

# Envelope fields for the conversation, its time and its participants.
_SESSIONS = ("session_id", "sessionId", "conversation_id", "thread_id", "chat_id", "conversationId", "custom_id")
_TIMES = ("timestamp", "created_at", "created", "createdAt", "time", "ts", "date", "started_at", "start_time")
_USERS = ("user_id", "userId", "user")
_AGENTS = ("agent_id", "agentId", "assistant_id")
# Maximum number of message ids remembered to detect repeated messages.
_MOST_SEEN = 20_000
# Maximum number of messages whose repetitions are counted; beyond it, the one seen longest ago is dropped.
_MOST_COUNTED = 5_000


@dataclass(frozen=True, slots=True)
class Talk:
    """The messages of one record and its ``envelope``.

    ``whole`` means that the messages are a conversation from its beginning. ``own_id`` is the id of the last message,
    if the envelope states it. ``metadata`` is for every event. ``left_out`` gives the reason for each part of the
    record that is not read. If there is nothing to read, ``skipped`` says why.
    """

    messages: tuple[Message, ...] = ()
    whole: bool = False
    envelope: Mapping[str, Any] = field(default_factory=dict)
    own_id: str = ""
    metadata: JsonObject = field(default_factory=dict)
    skipped: str = ""
    left_out: tuple[str, ...] = ()


Unwrap: TypeAlias = Callable[[Mapping[str, Any]], "Talk | Fault"]


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read a message or item, and which values are messages or items."""

    read: Callable[[Message, Frame, Calls], Reading] = message_reading
    takes: Callable[[Any], bool] = is_message


_MESSAGES = Reader()


def talks(records: Iterable[Record], origin: Origin, unwrap: Unwrap, reader: Reader = _MESSAGES) -> Iterator[Outcome]:
    """One outcome per record: *unwrap* finds the messages and the envelope, and *reader* reads the messages."""
    conversations = _Conversations(origin, reader)
    for record in records:
        if isinstance(record.value, list):
            talk: Talk | Fault = conversation({}, record.value)
        elif isinstance(record.value, Mapping):
            talk = unwrap(record.value)
        else:
            yield not_an_object(record)
            continue
        if isinstance(talk, Fault):
            yield Outcome(record, fault=talk)
        elif talk.skipped:
            yield Outcome(record, skipped=talk.skipped)
        else:
            yield conversations.outcome(record, talk)


def first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of the named fields that is set, in *value* or its metadata.

    >>> first({"metadata": {"thread_id": "t1"}}, ("session_id", "thread_id"))
    't1'
    """
    for fields in (value, mapping(value.get("metadata"))):
        for field_name in names:
            if fields.get(field_name) not in (None, ""):
                return fields[field_name]
    return None


class _Conversations:
    """Remembers how far each conversation of a source was read.

    - ``_known``: for each session, the number of messages read of a whole conversation, and their hash (``_chain``)
    - ``_latest``: the session of the whole conversation read last
    - ``_seen``: the hash of each message, by its id
    - ``_counts``: how often each single message without id and time occurred in its session
    """

    def __init__(self, origin: Origin, reader: Reader) -> None:
        self._origin = origin
        self._read = reader.read
        self._calls = Calls(origin.carried)
        self._known: dict[str, list[Any]] = origin.carried.setdefault("conversations", {})
        self._seen: dict[str, str] = origin.carried.setdefault("seen", {})
        self._counts: dict[str, int] = origin.carried.setdefault("counts", {})
        self._latest: list[str] = origin.carried.setdefault("latest", [])

    def outcome(self, record: Record, talk: Talk) -> Outcome:
        """The events of the new messages in a record, or why it has none."""
        session_id, start, next_known = (
            self._continuation(record, talk) if talk.whole else (self._session(record, talk), 0, None)
        )
        if not session_id:
            fault = Fault("$", "HMX-E 2.1", "no session", "a session_id in the record or from the caller")
            return Outcome(record, fault=fault)
        new_messages: list[tuple[Message, Frame]] = []
        for position, message in enumerate(talk.messages[start:], start):
            place = replace(_place(talk, message, session_id, position), in_order=not talk.whole)
            key = _message_key(message) if talk.whole else self._single_key(message, place)
            frame = frame_of(record, self._origin, place, key)
            if isinstance(frame, Fault):
                return Outcome(record, fault=frame)
            new_messages.append((message, frame))
        if next_known:
            self._known[session_id] = next_known
            self._latest[:] = [session_id]
        readings = [(frame, self._reading(message, frame)) for message, frame in new_messages]
        outcome = joined(record, readings, self._origin.carried)
        return replace(outcome, left_out=(*outcome.left_out, *talk.left_out)) if outcome.events else outcome

    def _single_key(self, message: Message, place: Place) -> str:
        """The identity of a message that is not part of a whole conversation.

        Users repeat words, such as "yes", in a session. Repetitions are distinguished by their time; without a time,
        they are numbered. Messages with an id, and those of a live call (they have the caller's key), need neither.
        """
        key = _message_key(message)
        if place.own_id or self._origin.key:
            return key
        if own_time := moment(place.time):
            return f"{key} {own_time.us}"
        counted = derived_id(place.session_id, key)[:16]
        earlier = self._counts.pop(counted, 0)
        self._counts[counted] = earlier + 1
        if len(self._counts) > _MOST_COUNTED:
            del self._counts[next(iter(self._counts))]
        return f"{key} {earlier}" if earlier else key

    def _reading(self, message: Message, frame: Frame) -> Reading:
        """The drafts of a message; in a file, a message with the id and content of an earlier one is a repetition.

        A live call reads such a message again, because only the graph knows whether the earlier one was stored.
        """
        own_id = "" if self._origin.key else name(message.get("id")) or name(message.get("uuid"))
        key = derived_id(_message_key(message))
        if own_id and self._seen.get(frame.record_id) == key:
            return Reading(part_of=frame.event_id("0"))
        if own_id:
            self._seen[frame.record_id] = key
            if len(self._seen) > _MOST_SEEN:
                del self._seen[next(iter(self._seen))]
        return self._read(message, frame, self._calls)

    def _session(self, record: Record, talk: Talk) -> str:
        return name(first(talk.envelope, _SESSIONS)) or session_of(record, self._origin)

    def _continuation(self, record: Record, talk: Talk) -> tuple[str, int, list[Any] | None]:
        """The session of a whole conversation, the number of messages already read, and its new ``_known`` entry."""
        own_session = name(first(talk.envelope, _SESSIONS))
        source_session = session_of(record, self._origin)
        chain = _chain(talk.messages)
        session_id = own_session or (self._latest[0] if self._latest else source_session)
        count, last_hash = self._known.get(session_id, [0, ""])
        if count and chain[count - 1 : count] != [last_hash]:
            session_id, count = own_session or f"{source_session}#{record.line}", 0
        next_known = [len(chain), chain[-1]] if chain else None
        return session_id if own_session or source_session else "", count, next_known


def _place(talk: Talk, message: Message, session_id: str, position: int) -> Place:
    """The session, id and time of a message; its own fields take precedence over those of the envelope."""
    own_id = name(message.get("id")) or name(message.get("uuid"))
    if not own_id and talk.own_id and position == len(talk.messages) - 1:
        own_id = talk.own_id
    time = first(message, _TIMES)
    user = name(first(message, _USERS)) or name(first(talk.envelope, _USERS))
    return Place(
        position,
        session_id,
        own_id,
        time if time is not None else first(talk.envelope, _TIMES),
        name(first(message, _AGENTS)) or name(first(talk.envelope, _AGENTS)),
        talk.metadata | present(user_id=user, model=name(message.get("model")) or name(talk.envelope.get("model"))),
    )


# Fields that distinguish calls, results and attachments.
_FIELDS = ("id", "name", "arguments", "input", "action", "call_id", "tool_call_id", "tool_use_id", "output", "source")


def _message_key(message: Message) -> str:
    """The identity of a message: its role, text and calls, without fields that clients add."""
    content = message.get("content", message.get("value", message.get("parts")))
    tool_calls = map(mapping, listed(message.get("tool_calls")))
    calls = [(call.get("id"), mapping(call.get("function")).get("name", call.get("name"))) for call in tool_calls]
    blocks = [_key_values(mapping(block)) for block in listed(content) if block_text(block) is None]
    # A call log gives the model's answer the id of the response; the next call repeats the answer without that id.
    own_fields = {key: value for key, value in message.items() if key != "id"} if role_of(message) else message
    return _repr((role_of(message), contents(content).text, blocks, calls, _key_values(own_fields)))


def _key_values(fields: Mapping[str, Any]) -> list[str]:
    return [_repr(fields[field]) for field in _FIELDS if fields.get(field) is not None]


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # numbers too long, or nested too deeply
        return spelled(value)


def _chain(messages: Iterable[Message]) -> list[str]:
    """For each message, a hash of it and all messages before it."""
    chain: list[str] = []
    for message in messages:
        chain.append(derived_id(chain[-1] if chain else "", _message_key(message)))
    return chain


def conversation(value: Mapping[str, Any], messages: Any, *, answer: Any = None) -> Talk:
    """The whole conversation in the record *value*: *messages* and, if it is an object, the model's *answer*."""
    turns = [part for part in listed(messages) if isinstance(part, Mapping)]
    left_out = ("a message that is not an object",) * (len(listed(messages)) - len(turns))
    if isinstance(answer, Mapping):
        turns.append(answer)
    return Talk(tuple(turns), whole=True, envelope=value, left_out=left_out)


def single(value: Mapping[str, Any]) -> Talk | None:
    """*value* as a talk of one message; None if it is not a message."""
    return Talk((value,), envelope=value) if is_message(value) else None
