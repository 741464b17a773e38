"""OpenAI chat completions: requests, responses, logs of both, batches and fine-tuning files, as JSON or JSONL."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._conversations import Talk, conversation, single, talks
from hmxgraph.formats._messages import is_message
from hmxgraph.formats._values import fields_of, listed, mapping, name, present
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record

_OBJECTS = ("chat.completion", "chat.completion.chunk")


def recognise(sample: Sequence[Any]) -> Match:
    """The mean fit of the objects: 1 for chat completions, less for requests and for messages in OpenAI's form.

    If any of the objects fits, plain messages fit as well.

    >>> recognise([{"object": "chat.completion", "choices": []}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("messages", "choices"))
    fits = [_fit(value) for value in records]
    if any(fits):  # not every message of a conversation contains calls or results
        fits = [fit or 0.9 * is_message(value) for fit, value in zip(fits, records, strict=True)]
    score = sum(fits) / len(records)
    return Match(round(score, 2), () if score == 1.0 else ("messages or choices", "role", "tool_calls"))


def _fit(value: Mapping[str, Any]) -> float:
    body = _body(value)
    if value.get("object") in _OBJECTS or isinstance(body.get("choices"), list):
        return 1.0
    messages = listed(body.get("messages"))
    if messages and all(map(is_message, messages)):
        return 0.9 if any(map(_is_openai_message, messages)) or body is not value else 0.7
    return 0.9 if is_message(value) and _is_openai_message(value) else 0.0


def _is_openai_message(message: Mapping[str, Any]) -> bool:
    """Whether *message* has calls, a role or a type of content part that plain messages do not have."""
    parts = {name(mapping(part).get("type")) for part in listed(message.get("content"))}
    return bool(
        message.get("tool_calls")
        or name(message.get("role")) in {"tool", "function", "developer"}
        or parts & {"image_url", "input_audio", "file", "refusal"}
    )


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    return talks(records, origin, unwrap)


def unwrap(value: Mapping[str, Any]) -> Talk | Fault:
    """The messages in a record: a request, a response, a log of both, a line of a batch, or a single message."""
    if value.get("object") == "chat.completion.chunk":
        return Talk(skipped="part of a streamed answer")
    body = _body(value)
    request = mapping(value.get("request"))
    messages = body.get(
        "messages", mapping(request.get("body")).get("messages", request.get("messages", value.get("messages")))
    )
    choices = [mapping(choice) for choice in listed(body.get("choices"))]
    answer = mapping(choices[0].get("message")) if choices else mapping(value.get("completion"))
    envelope = {**body, **value}
    if messages is not None:
        talk = conversation(envelope, messages, answer=answer or None)
    elif answer:
        talk = Talk((answer,), envelope=envelope)
    elif single_talk := single(value):
        return single_talk
    else:
        return _without_messages(value, body)
    reason = name(choices[0].get("finish_reason")) if choices else ""
    metadata = present(format="openai-chat", finish_reason=reason, response_id=name(body.get("id")) if choices else "")
    own_id = name(body.get("id")) if choices else ""
    # The conversation continues with the first choice; the others are left out.
    left_out = (*talk.left_out, *["another choice of an answer"] * len(choices[1:]))
    return replace(talk, own_id=own_id, metadata=metadata, left_out=left_out)


def _without_messages(value: Mapping[str, Any], body: Mapping[str, Any]) -> Talk | Fault:
    """Why a record has no messages: its request failed, or it is not of this format."""
    error = mapping(body.get("error")) or mapping(value.get("error"))
    if error:
        return Talk(skipped=f"failed request: {name(error.get('message'))[:200]}")
    return Fault("$", "OpenAI chat completions", fields_of(value), "messages, choices or a role")


def _body(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body of a request or response that a batch or log wraps, else the record itself."""
    response = mapping(value.get("response"))
    return mapping(response.get("body")) or response or mapping(value.get("body")) or value


OPENAI_CHAT = Format("openai-chat", "OpenAI chat completions", recognise, convert)
