"""Plain messages: ``{role, content}`` one per line, in an array or under ``messages``; ShareGPT's ``{from, value}``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._conversations import Talk, conversation, single, talks
from hmxgraph.formats._messages import is_message
from hmxgraph.formats._values import fields_of, listed
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record

# Fields in which producers keep the messages of a conversation.
_LISTS = ("messages", "conversation", "conversations", "history", "turns", "dialog", "dialogue", "chat")


def recognise(sample: Sequence[Any]) -> Match:
    """The mean score of the records: 0.8 for messages and lists of messages, 0.2 for others with a role or content.

    A format that requires more than role and content thus scores higher.

    >>> recognise([{"role": "user", "content": "hi"}]).score, recognise([{"text": "hi"}]).missing
    (0.8, ('role', 'content'))
    """
    if not sample:
        return Match(0.0, ("role", "content"))
    score = sum(_fit(value) for value in sample) / len(sample)
    fields = {field for value in sample if isinstance(value, Mapping) for field in value}
    missing = tuple(field for field in ("role", "content") if field not in fields)
    return Match(round(score, 2), () if score >= 0.8 else missing or ("a known role in every record",))


def _fit(value: Any) -> float:
    messages = value if isinstance(value, list) else _messages(value) if isinstance(value, Mapping) else None
    if messages is not None:
        return 0.8 if messages and all(map(is_message, messages)) else 0.0
    if is_message(value):
        return 0.8
    return 0.2 if isinstance(value, Mapping) and ("role" in value or "content" in value) else 0.0


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    return talks(records, origin, unwrap)


def unwrap(value: Mapping[str, Any]) -> Talk | Fault:
    """The message or messages of a record; a fault if it has none."""
    if (messages := _messages(value)) is not None:
        return conversation(value, messages)
    return single(value) or Fault("$", "plain messages", fields_of(value), "role and content")


def _messages(value: Mapping[str, Any]) -> list[Any] | None:
    return next((listed(value[field]) for field in _LISTS if isinstance(value.get(field), list)), None)


PLAIN_MESSAGES = Format("messages", "plain messages with role and content", recognise, convert)
