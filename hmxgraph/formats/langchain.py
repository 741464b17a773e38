"""LangChain and LangGraph messages: dictionaries, serialised objects, graph states and streams."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._conversations import Talk, talks
from hmxgraph.formats._values import fields_of, listed, mapping, name
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record

_TYPES = frozenset({"human", "ai", "system", "tool", "function", "developer"})
_METADATA: JsonObject = {"format": "langchain"}
# Fields that hold the state of a LangGraph graph in checkpoints, streams and saved threads.
_STATES = ("values", "state", "channel_values", "data", "output", "input")
# States inside states are searched for messages down to this depth; the record itself has depth 0.
_DEEPEST = 2


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are messages of LangChain, or states that contain them.

    >>> recognise([{"type": "human", "data": {"content": "hi"}}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("type", "data or content"))
    score = sum(any(_entries(value)) for value in records) / len(records)
    return Match(round(score, 2), () if score == 1.0 else ("type (human, ai, tool, ...)", "data or content"))


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    return talks(records, origin, unwrap)


def unwrap(value: Mapping[str, Any]) -> Talk | Fault:
    """The messages of a record, which is a message or the state of a graph."""
    entries = _entries(value)
    messages = [message for message in entries if message is not None]
    if not messages and (not value or _is_empty_state(value)):
        return Talk(skipped="a state without messages")
    if not messages:
        return Fault("$", "LangChain messages", fields_of(value), "type and content, or messages")
    if _plain_message(value) is not None:
        return Talk(tuple(messages), envelope={}, metadata=_METADATA)
    envelope = {**mapping(mapping(value.get("config")).get("configurable")), **value}
    left_out = ("an entry that is no message",) * (len(entries) - len(messages))
    # A stream has one message per record; a longer list is a conversation from its beginning.
    whole = len(messages) > 1
    return Talk(tuple(messages), whole, envelope, metadata=_METADATA, left_out=left_out)


def _entries(value: Mapping[str, Any], depth: int = 0) -> list[JsonObject | None]:
    """The messages of a record or of the first state in it that has any; None for an entry that is not a message."""
    if (message := _plain_message(value)) is not None:
        return [message]
    if isinstance(value.get("messages"), list):
        return [_plain_message(part) for part in value["messages"]]
    return next(filter(any, (_entries(state, depth + 1) for state in _states_in(value, depth))), [])


def _is_empty_state(value: Mapping[str, Any], depth: int = 0) -> bool:
    """Whether a record is a state with an empty list of messages, or contains only such states."""
    if "messages" in value:
        return bool(value["messages"] == [])
    states = _states_in(value, depth)
    return bool(states) and all(_is_empty_state(state, depth + 1) for state in states)


def _states_in(value: Mapping[str, Any], depth: int) -> list[Mapping[str, Any]]:
    """The states in the fields ``_STATES`` or, if there are none, in the only field of a record, named after a node.

    Empty below ``_DEEPEST``.
    """
    if depth > _DEEPEST:
        return []
    states = [value[field] for field in _STATES if isinstance(value.get(field), Mapping)]
    return states or ([part for part in value.values() if isinstance(part, Mapping)] if len(value) == 1 else [])


def _plain_message(value: Any) -> JsonObject | None:
    """A message in one common shape, however it was serialised; None if *value* is not a message."""
    fields = mapping(value)
    kind = name(fields.get("type"))
    if isinstance(fields.get("lc"), int) and kind == "constructor":
        inner, path = mapping(fields.get("kwargs")), listed(fields.get("id"))
        kind = name(inner.get("type")) or (name(path[-1]) if path else "")
    elif isinstance(fields.get("data"), Mapping):
        inner = fields["data"]
    else:
        inner = fields
    role = _role(kind, inner)
    if role is None or not ("content" in inner or "tool_calls" in inner):
        return None
    calls = [call for call in listed(inner.get("tool_calls")) if isinstance(call, Mapping)]
    # `additional_kwargs` has the calls in the provider's form. They are used only if there are no parsed calls.
    provider_calls = (
        {}
        if calls
        else {key: part for key, part in mapping(inner.get("additional_kwargs")).items() if key == "tool_calls"}
    )
    model = mapping(inner.get("response_metadata")).get("model_name")
    message = {**{key: part for key, part in inner.items() if key != "type"}, **provider_calls, "role": role}
    return message | ({"model": model} if isinstance(model, str) else {})


def _role(kind: str, inner: Mapping[str, Any]) -> str | None:
    plain = kind.removesuffix("Chunk").removesuffix("Message").lower()
    if plain == "chat":
        return name(inner.get("role")) or "user"
    return plain if plain in _TYPES else None


LANGCHAIN = Format("langchain", "LangChain and LangGraph messages", recognise, convert)
