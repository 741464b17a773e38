"""Anthropic's Messages API: requests, responses, logs of both, and message batches, as JSON or JSONL."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._conversations import Talk, conversation, single, talks
from hmxgraph.formats._messages import is_message
from hmxgraph.formats._values import fields_of, listed, mapping, name, present
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record

# Types of blocks that plain messages do not have.
_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "image", "document", "mcp_tool_use"}
)
# Types of the events in which a response is streamed.
_STREAM = (
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "ping",
)


def recognise(sample: Sequence[Any]) -> Match:
    """The mean fit of the objects to Anthropic's formats; if any of them fits, plain messages fit as well.

    >>> recognise([{"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("role", "content"))
    fits = [_fit(value) for value in records]
    if any(fits):  # not every message of a conversation contains calls or results
        fits = [fit or 0.95 * is_message(value) for fit, value in zip(fits, records, strict=True)]
    score = sum(fits) / len(records)
    return Match(round(score, 2), () if score == 1.0 else ("role", "content blocks of Anthropic", "stop_reason"))


def _fit(value: Mapping[str, Any]) -> float:
    answer, request = _answer(value), _request(value)
    if answer.get("type") == "message" and "stop_reason" in answer:
        return 1.0
    messages = listed(request.get("messages"))
    if messages and all(map(is_message, messages)):
        is_anthropic = any(map(_is_anthropic_message, messages)) or isinstance(request.get("system"), str | list)
        return 0.95 if is_anthropic else 0.6
    return 0.95 if is_message(value) and _is_anthropic_message(value) else 0.0


def _is_anthropic_message(message: Mapping[str, Any]) -> bool:
    """Whether *message* has a role and contains a block of a type that plain messages do not have."""
    return "role" in message and any(
        name(mapping(block).get("type")) in _ANTHROPIC_BLOCKS for block in listed(message.get("content"))
    )


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    return talks(records, origin, unwrap)


def unwrap(value: Mapping[str, Any]) -> Talk | Fault:
    """The messages in a record: a request, a response, a log of both, a line of a batch, or a single message."""
    if value.get("type") in _STREAM:
        return Talk(skipped="part of a streamed answer")
    answer, request = _answer(value), _request(value)
    is_answer = is_message(answer) and answer.get("type") == "message"
    envelope = {**request, **value}
    metadata = present(format="anthropic", stop_reason=name(answer.get("stop_reason")))
    if (messages := request.get("messages")) is not None:
        talk = conversation(envelope, messages, answer=answer if is_answer else None)
        system = request.get("system")
        system_messages = ({"role": "system", "content": system},) if system else ()
        return replace(talk, messages=(*system_messages, *talk.messages), metadata=metadata)
    if is_answer:
        return Talk((answer,), envelope=envelope, metadata=metadata)
    if single_talk := single(value):
        return single_talk
    if error := mapping(mapping(value.get("result")).get("error") or value.get("error")):
        return Talk(
            skipped=f"failed request: {name(mapping(error.get('error')).get('message') or error.get('message'))[:200]}"
        )
    return Fault("$", "Anthropic messages", fields_of(value), "messages, or a role and content")


def _answer(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response: the record itself, or the one that a log or a batch wraps."""
    result = mapping(value.get("result"))
    return mapping(result.get("message")) or mapping(value.get("response")) or mapping(value.get("message")) or value


def _request(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request: the record itself, or the one that a log or a batch wraps."""
    return mapping(value.get("request")) or mapping(value.get("params")) or value


ANTHROPIC = Format("anthropic", "Anthropic messages", recognise, convert)
