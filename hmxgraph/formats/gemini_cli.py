"""Chats of Gemini CLI: files ``session-*.json``, each with the messages, thoughts and calls of a session.

Gemini CLI rewrites the file whenever the chat grows. The id of an event is made from the id of its message and the
position in the message, so reading a chat again gives the same events. The id of a call only links its result to it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import REASONING, Draft, Frame, Place, Reading, frame_of, joined, not_an_object, skipped
from hmxgraph.formats._messages import message_reading
from hmxgraph.formats._parts import attachment, contents
from hmxgraph.formats._values import listed, mapping, name, present, session_of, text
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import AGENT, ASSISTANT, HARNESS

AGENT_NAME = "gemini-cli"
_REQUIRED = ("sessionId", "projectHash", "messages")
# The last line of the shell tool's output, after the exit code.
_PROCESS_GROUP = re.compile(r"\n?Process Group PGID: \d+\s*$")


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are chats of Gemini CLI.

    >>> recognise([{"sessionId": "s", "projectHash": "p", "messages": []}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, _REQUIRED)
    fitting = sum(all(field in value for field in _REQUIRED) for value in records)
    missing = tuple(field for field in _REQUIRED if not all(field in value for value in records))
    return Match(round(fitting / len(records), 2), missing)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per chat."""
    calls = Calls(origin.carried)
    for record in records:
        if isinstance(record.value, Mapping):
            yield _chat(record, record.value, origin, calls)
        else:
            yield not_an_object(record)


def _chat(record: Record, chat: Mapping[str, Any], origin: Origin, calls: Calls) -> Outcome:
    session = name(chat.get("sessionId")) or session_of(record, origin)
    is_subagent = name(chat.get("kind")) == "subagent"
    readings: list[tuple[Frame, Reading]] = []
    for position, message in enumerate(map(mapping, listed(chat.get("messages")))):
        metadata = present(format="gemini-cli", project=name(chat.get("projectHash")), model=name(message.get("model")))
        time = message.get("timestamp") or chat.get("startTime")
        agent = origin.agent_id or AGENT_NAME
        place = Place(position, session, name(message.get("id")), time, agent, metadata)
        frame = frame_of(record, origin, place, repr(message.get("content")))
        if isinstance(frame, Fault):
            return Outcome(record, fault=frame)
        readings.append((frame, _reading(message, frame, calls, is_subagent=is_subagent)))
    return joined(record, readings, origin.carried)


def _reading(message: Mapping[str, Any], frame: Frame, calls: Calls, *, is_subagent: bool) -> Reading:
    kind = name(message.get("type"))
    if kind == "user":
        return _prompt(message, frame, calls, is_subagent=is_subagent)
    if kind == "gemini":
        return Reading(tuple(_turn(message, frame, calls)))
    message_text = contents(message.get("content")).text
    if kind == "error" and message_text.strip():
        return Reading((Draft("error", {"error_type": "Error", "message": message_text}, HARNESS, source="harness"),))
    return skipped(f"a note of the program ({kind[:40] or 'without a type'})")


def _prompt(message: Mapping[str, Any], frame: Frame, calls: Calls, *, is_subagent: bool) -> Reading:
    """The prompt of the user, or of the agent that started a sub-agent."""
    if not is_subagent:
        return message_reading({"role": "user", "content": message.get("content")}, frame, calls)
    prompt = contents(message.get("content"))
    draft = Draft("message", {"role": "user", **prompt.fields()}, AGENT, source="agent")
    return Reading((draft,)) if prompt.text.strip() else skipped("empty text")


def _turn(message: Mapping[str, Any], frame: Frame, calls: Calls) -> Iterator[Draft]:
    """The thoughts, text, calls and results of one turn."""
    for number, thought in enumerate(map(mapping, listed(message.get("thoughts")))):
        whole = "\n".join(filter(None, (text(thought.get("subject")), text(thought.get("description")))))
        if whole:
            yield Draft(REASONING, {"text": whole}, ASSISTANT, f"thought{number}", source="assistant")
    answer_contents = contents(message.get("content"))
    if answer_contents.text.strip() or answer_contents.attachments:
        yield Draft("message", {"role": "assistant", **answer_contents.fields()}, ASSISTANT, source="assistant")
    for number, call in enumerate(map(mapping, listed(message.get("toolCalls")))):
        call_id, tool = name(call.get("id")), name(call.get("name"))
        yield call_draft(calls, frame, f"call{number}", (call_id, tool, call.get("args")))
        if call.get("result") is not None:
            value = _PROCESS_GROUP.sub("", _result(call))
            # The status "success" only means that the tool ran: a failed command is recognised by its exit code.
            failed, succeeded = (name(call.get("status")) == status for status in ("error", "success"))
            images = present(attachments=[attachment(part) for part in listed(call["result"]) if _is_data(part)])
            answer = Answer(call_id, value, tool, False if failed else None, images, silent_success=succeeded)
            yield answer_draft(calls, f"result{number}", answer)


def _is_data(part: Any) -> bool:
    return "inlineData" in mapping(part) or "fileData" in mapping(part)


def _result(call: Mapping[str, Any]) -> str:
    """The output or error in each response to a call; if no response has any, the text of the result."""
    responses = [mapping(mapping(part).get("functionResponse")).get("response") for part in listed(call.get("result"))]
    fields = [mapping(response) for response in responses]
    texts = [text(response.get("output")) or text(response.get("error")) for response in fields]
    return "\n".join(filter(None, texts)) or contents(call.get("result")).text


GEMINI_CLI = Format("gemini-cli", "Gemini CLI chats", recognise, convert)
