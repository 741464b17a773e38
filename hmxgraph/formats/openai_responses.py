"""OpenAI's Responses API: items (one per line or in an array), requests, responses, and logs of both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._conversations import Reader, Talk, talks
from hmxgraph.formats._items import is_item, item_reading
from hmxgraph.formats._messages import is_message
from hmxgraph.formats._values import fields_of, listed, mapping, name, present
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record

_READER = Reader(item_reading, lambda value: is_item(value) or is_message(value))


def recognise(sample: Sequence[Any]) -> Match:
    """The mean fit of the objects: 1 for responses and items, 0.9 for requests and typed messages, 0 for others.

    Reasoning and plain messages also occur in other formats, so by themselves they count 0. But if one object counts 1,
    and each of the others is a request, a message or reasoning, the result is 1.

    >>> recognise([{"object": "response", "id": "resp_1", "output": []}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("output", "type"))
    score = sum(_fit(value) for value in records) / len(records)
    if (
        score
        and any(_fit(value) == 1.0 for value in records)
        and all(_READER.takes(value) or _fit(value) for value in records)
    ):
        score = 1.0
    return Match(round(score, 2), () if score == 1.0 else ("output", "items with a type"))


def _fit(value: Mapping[str, Any]) -> float:
    response = _response(value)
    if response.get("object") == "response" or (is_item(value) and value.get("type") != "reasoning"):
        return 1.0
    if isinstance(value.get("input"), list) and any(map(_READER.takes, listed(value.get("input")))):
        return 0.9
    return 0.9 if value.get("type") == "message" and "stop_reason" not in value and is_message(value) else 0.0


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    return talks(records, origin, unwrap, _READER)


def unwrap(value: Mapping[str, Any]) -> Talk | Fault:
    """The items in a record: a request, a response, a log of both, a single item or a message."""
    if is_item(value):
        return Talk((value,), envelope=value, metadata=present(format="openai-responses"))
    response, request = _response(value), mapping(value.get("request")) or value
    request_input = request.get("input", response.get("input"))
    items = (
        [{"type": "message", "role": "user", "content": request_input}]
        if isinstance(request_input, str)
        else listed(request_input)
    )
    output = listed(response.get("output"))
    metadata = present(format="openai-responses", response_id=name(response.get("id")) if output else "")
    if items or output:
        messages = (*_instructions(request, response, answered=bool(output)), *map(mapping, (*items, *output)))
        return Talk(messages, whole=bool(items), envelope={**response, **value}, metadata=metadata)
    if is_message(value):
        return Talk((value,), envelope=value, metadata=present(format="openai-responses"))
    if error := mapping(response.get("error")):
        return Talk(skipped=f"failed request: {name(error.get('message'))[:200]}")
    if response.get("object") == "response":
        return Talk(skipped="a response without output")
    return Fault("$", "OpenAI Responses", fields_of(value), "input, output, or an item with a type")


def _instructions(
    request: Mapping[str, Any], response: Mapping[str, Any], *, answered: bool
) -> tuple[Mapping[str, Any], ...]:
    """The system prompt as a message, if the record begins a conversation and contains the model's answer."""
    instructions = request.get("instructions", response.get("instructions"))
    is_first = not (request.get("previous_response_id") or response.get("previous_response_id"))
    return (
        ({"role": "system", "content": instructions},)
        if isinstance(instructions, str) and instructions and is_first and answered
        else ()
    )


def _response(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response: the record itself, or the one that a log, a stream or a batch wraps."""
    inner = mapping(value.get("response"))
    return mapping(inner.get("body")) or inner or value


OPENAI_RESPONSES = Format("openai-responses", "OpenAI Responses", recognise, convert)
