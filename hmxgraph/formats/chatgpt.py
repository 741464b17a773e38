"""A ChatGPT export: ``conversations.json``, an array of conversations, each a tree of messages.

Editing or regenerating a message starts a new branch. The branch that ends at ``current_node`` is the conversation; the
messages of other branches are read, too, and marked as ``abandoned_branch``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import REASONING, Draft, Frame, Place, Reading, frame_of, joined, not_an_object, skipped
from hmxgraph.formats._messages import message_reading
from hmxgraph.formats._parts import contents
from hmxgraph.formats._values import fields_of, listed, mapping, moment, name, present, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import ASSISTANT, OPERATOR

AGENT_NAME = "chatgpt"


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are conversations with a tree of messages.

    >>> recognise([{"title": "t", "mapping": {}, "current_node": "n"}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("mapping", "current_node"))
    score = sum(isinstance(value.get("mapping"), Mapping) for value in records) / len(records)
    missing = tuple(field for field in ("mapping", "current_node") if not all(field in value for value in records))
    return Match(round(score, 2), missing)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per conversation."""
    calls = Calls(origin.carried)
    for record in records:
        if not isinstance(record.value, Mapping):
            yield not_an_object(record)
        elif not isinstance(record.value.get("mapping"), Mapping):
            yield Outcome(
                record,
                fault=Fault("$.mapping", "ChatGPT export", fields_of(record.value), "a conversation with its messages"),
            )
        else:
            yield _conversation(record, record.value, origin, calls)


def _conversation(record: Record, value: Mapping[str, Any], origin: Origin, calls: Calls) -> Outcome:
    session = name(value.get("conversation_id")) or name(value.get("id"))
    branch = _branch(value)
    readings: list[tuple[Frame, Reading]] = []
    for position, (node_id, message) in enumerate(_ordered(value)):
        time = message.get("create_time") or value.get("create_time")
        metadata = present(
            format="chatgpt",
            conversation_title=text(value.get("title")),
            model=name(mapping(message.get("metadata")).get("model_slug")),
            abandoned_branch=node_id not in branch or None,
        )
        place = Place(
            position, session, name(message.get("id")) or node_id, time, origin.agent_id or AGENT_NAME, metadata
        )
        frame = frame_of(record, origin, place, repr(message.get("content")))
        if isinstance(frame, Fault):
            return Outcome(record, fault=frame)
        readings.append((frame, _message(message, frame, calls)))
    return joined(record, readings, origin.carried)


def _branch(value: Mapping[str, Any]) -> set[str]:
    """The nodes from the root to ``current_node``; all nodes if the export names no current node."""
    nodes, branch = mapping(value.get("mapping")), set[str]()
    node = name(value.get("current_node"))
    while node and node not in branch:
        branch.add(node)
        node = name(mapping(nodes.get(node)).get("parent"))
    return branch or set(nodes)


def _ordered(value: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The messages sorted by time; a message without a time has that of the message before it in the export."""
    messages = [
        (name(node_id), mapping(mapping(node).get("message")))
        for node_id, node in mapping(value.get("mapping")).items()
        if mapping(node).get("message")
    ]
    timed: list[tuple[int, tuple[str, Mapping[str, Any]]]] = []
    us = 0
    for node_id, message in messages:
        time = moment(message.get("create_time"))
        us = time.us if time else us
        timed.append((us, (node_id, message)))
    return [node for _, node in sorted(timed, key=itemgetter(0))]


def _message(message: Mapping[str, Any], frame: Frame, calls: Calls) -> Reading:
    author, content = mapping(message.get("author")), mapping(message.get("content"))
    role, kind = name(author.get("role")), name(content.get("content_type"))
    metadata = mapping(message.get("metadata"))
    if kind in {"user_editable_context", "model_editable_context"} or metadata.get("is_user_system_message") is True:
        return _standing_instructions(content, metadata)
    if metadata.get("is_visually_hidden_from_conversation") is True:
        return skipped("hidden message of the program")
    recipient = name(message.get("recipient"))
    if role == "assistant" and recipient not in {"", "all"}:
        call = (name(message.get("id")), recipient, text(content.get("text")) or contents(content.get("parts")).text)
        return Reading((call_draft(calls, frame, "0", call),))
    if role == "tool":
        parent = name(metadata.get("parent_id"))
        returned = contents(content.get("parts"))
        value = text(content.get("text")) or returned.text or text(content.get("result"))
        images = present(attachments=list(returned.attachments))
        return Reading((answer_draft(calls, "0", Answer(parent, value, name(author.get("name")), more=images)),))
    if kind in {"thoughts", "reasoning_recap"}:
        parts = (text(mapping(part).get("content")) for part in listed(content.get("thoughts")))
        thought = "\n".join(filter(None, parts))
        return Reading((Draft(REASONING, {"text": thought}, ASSISTANT),)) if thought else skipped("hidden reasoning")
    message_text = content.get("parts", content.get("text", ""))
    reading = message_reading({"role": role, "content": message_text}, frame, calls)
    return reading if reading.drafts or reading.left_out else skipped(f"empty message of the {role or 'unknown'} role")


def _standing_instructions(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> Reading:
    """The user's custom instructions (about themselves, and how to answer), as a system message."""
    texts = {**mapping(metadata.get("user_context_message_data")), **content}
    fields = ("about_user_message", "user_profile", "about_model_message", "user_instructions", "model_set_context")
    instructions = "\n".join(text(texts[field]) for field in fields if text(texts.get(field)))
    if not instructions:
        return skipped("empty instructions")
    message: JsonObject = {"role": "system", "text": instructions}
    return Reading((Draft("message", message, OPERATOR, source="system"),))


CHATGPT = Format("chatgpt", "a ChatGPT export", recognise, convert)
