"""Which messages, calls and results of a conversation are new, since each model call repeats those before it.

A repetition is rarely literal: ids change between a call and its replay, texts lose their closing tag, and one message
becomes several. So each part is compared by its words, and counts as a repetition while a prompt has it no more often
than the conversation has so far.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hmxgraph.formats._drafts import Draft
from hmxgraph.formats._values import derived_id, name, parsed, text
from hmxgraph.formats.conversion import JsonObject
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.lenient import storable

_MOST_SEEN = 50_000
_MOST_PARTS = 20_000
_MOST_WAITING = 1_000
# Agents that write code get back the closing tag at which the model was stopped.
_CLOSING = re.compile(r"\s*</code>\s*\Z")
_SPACE = re.compile(r"\s+")
# A shorter argument is as likely a word of the user's.
_SHORTEST_PROMPT = 4


@dataclass(slots=True)
class Prompt:
    """The parts of one model call read so far, by what they say."""

    session_id: str
    parts: Counter[str] = field(default_factory=Counter)
    sequence: list[str] = field(default_factory=list)

    def add(self, part: str) -> int:
        """How often the prompt has this part by now."""
        self.sequence.append(part)
        self.parts[part] += 1
        return self.parts[part]


class Repeats:
    """What was read of each conversation, and the calls that still lack a result."""

    def __init__(self, carried: JsonObject) -> None:
        self._seen: dict[str, bool] = carried.setdefault("seen", {})
        self._waiting: list[list[str]] = carried.setdefault("waiting", [])
        self._unclaimed: list[list[str]] = carried.setdefault("unclaimed", [])
        self._answered: list[list[str]] = carried.setdefault("answered", [])
        # Parts by message: reading every message again for each prompt that repeats it would be slow.
        self._parts_of: dict[str, list[str]] = carried.setdefault("parts", {})
        self._said: dict[str, int] = carried.setdefault("said", {})
        self._made: dict[str, list[str]] = carried.setdefault("made", {})
        self._same: dict[str, str] = carried.setdefault("same", {})

    def is_new(self, key: str) -> bool:
        """Whether this is the first time that *key* is read."""
        if key in self._seen:
            return False
        _put(self._seen, key, value=True, most=_MOST_SEEN)
        return True

    def has(self, key: str) -> bool:
        """Whether *key* was read."""
        return key in self._seen

    # Words.

    def is_new_part(self, prompt: Prompt, part: str, *, answer: bool) -> bool:
        """Whether a part of a prompt is new to the conversation; an answer always is."""
        key = f"{prompt.session_id}/{part}"
        times, known = prompt.add(part), self._said.get(key, 0)
        if not answer and times <= known:
            return False
        _put(self._said, key, max(known + 1, times))
        return True

    def remember_message(self, own_id: str, parts: list[str]) -> None:
        """Note the parts of a message, which is identified by everything before it."""
        _put(self._parts_of, own_id, parts)

    def repeat_message(self, prompt: Prompt, own_id: str) -> bool:
        """Whether a message was read before; its parts are then parts of the prompt."""
        parts = self._parts_of.get(own_id)
        for part in parts or ():
            prompt.add(part)
        return parts is not None

    # Calls: by id, else by tool and arguments.

    def call_id(self, session_id: str, call_id: str) -> str:
        """The id under which the conversation has a call."""
        return self._same.get(f"{session_id}/{call_id}", call_id) if call_id else ""

    def is_known_call(self, session_id: str, call_id: str) -> bool:
        """Whether the conversation has a call of that id."""
        return f"{session_id}/call/{call_id}" in self._seen

    def made(self, session_id: str, call_id: str) -> tuple[str, str]:
        """The tool and the event of a call; empty if the call is unknown."""
        tool, event_id = self._made.get(f"{session_id}/{call_id}", ["", ""])
        return tool, event_id

    def add_call(self, session_id: str, call: tuple[str, str, Any], event_id: str, *, of_model: bool) -> None:
        """Note a call given by id, tool and arguments: one in a model's answer, or one of which only a tool tells.

        The first waits for the span of its tool, which may lack the id, the second for an answer that comes late.
        """
        call_id, tool, given = call
        self.is_new(f"{session_id}/call/{call_id}")
        _put(self._made, f"{session_id}/{call_id}", [tool, event_id])
        spelled = call_part(tool, given)
        number = self._said.get(f"{session_id}/{spelled}", 0)
        _put(self._same, f"{session_id}/{spelled}/{number}", call_id)
        calls = self._waiting if of_model else self._unclaimed
        calls.append([session_id, tool, call_id, spelled])
        del calls[:-_MOST_WAITING]

    def claim(self, session_id: str, call_id: str, part: str) -> bool:
        """Whether a call in a model's answer is one that its tool's span told before."""
        for call in self._unclaimed:
            if call[0] == session_id and call[3] == part:
                self._unclaimed.remove(call)
                self.name_call(session_id, call_id, call[2])
                return True
        return False

    def repeat_call(self, prompt: Prompt, call_id: str, part: str) -> None:
        """Note that a call of the prompt is one that the conversation has under another id."""
        first = self._same.get(f"{prompt.session_id}/{part}/{prompt.parts[part]}", "")
        if call_id and first and call_id != first:
            _put(self._same, f"{prompt.session_id}/{call_id}", first)

    def name_call(self, session_id: str, call_id: str, first: str) -> None:
        """Note that *call_id* is the call that the conversation has as *first*."""
        if call_id:
            _put(self._same, f"{session_id}/{call_id}", first)

    def settle(self, session_id: str, call_id: str) -> None:
        """Note that a call no longer waits."""
        for waiting in self._waiting:
            if waiting[0] == session_id and waiting[2] == call_id:
                self._waiting.remove(waiting)
                return

    def answer(self, session_id: str, tool: str, call_id: str) -> str:
        """Note that a prompt has the result of a call; the id of the call.

        ADK numbers results apart from calls, so a result of an unknown call is that of the oldest call to *tool*, or
        of the only one that waits.
        """
        waiting = [call for call in self._waiting if call[0] == session_id]
        if self.is_known_call(session_id, call_id):
            calls = [call for call in waiting if call[2] == call_id]
        elif tool:
            calls = [call for call in waiting if call[1] == tool]
        else:
            calls = waiting if len(waiting) == 1 else []
        for call in calls[:1]:
            self._waiting.remove(call)
            self._answered.append(call)
            del self._answered[:-_MOST_WAITING]
            return call[2]
        return call_id

    def take_waiting(self, session_id: str, call: tuple[str, Any], *, exact: bool, answered: bool) -> str:
        """Take out the id of the oldest waiting call to the same tool; empty if there is none.

        A call with the same arguments comes first, and if it must be *exact* no other will do unless the arguments are
        unknown. With *answered*, calls whose result a prompt has come before those that wait.
        """
        tool, given = call
        for calls in ([self._answered] if answered else []) + [self._waiting]:
            to_tool = [waiting for waiting in calls if waiting[:2] == [session_id, tool]]
            alike = [waiting for waiting in to_tool if waiting[3:] in ([], [call_part(tool, given)])]
            for waiting in alike or (to_tool if given is None or not exact else []):
                calls.remove(waiting)
                return waiting[2]
        return ""

    # Prompts that one agent gives another.

    def pass_on(self, trace_id: str, arguments: Mapping[str, Any]) -> None:
        """Note the texts among a call's arguments: one of them may be the prompt of the agent that is called."""
        for value in arguments.values():
            if isinstance(value, str) and len(value) >= _SHORTEST_PROMPT:
                self.is_new(_passed_on(trace_id, value))

    def is_passed_on(self, trace_id: str, words: str) -> bool:
        """Whether a prompt is an argument of an earlier call in its trace."""
        return _passed_on(trace_id, words) in self._seen


def _passed_on(trace_id: str, words: str) -> str:
    return f"{trace_id}/passed/{derived_id(_plain(words))}"


def _plain(words: str) -> str:
    return _SPACE.sub(" ", _CLOSING.sub("", words)).strip()


def words_part(draft: Draft) -> str:
    """What tells the words of a message apart from others of its conversation."""
    content = draft.content
    return derived_id(
        draft.event_type, content.get("role"), _plain(text(content.get("text"))), repr(content.get("attachments"))
    )


def call_part(tool: str, given: Any) -> str:
    """What tells a call apart from others of its conversation, besides its id.

    >>> call_part("f", {"a": 1, "b": 2}) == call_part("f", '{"b": 2, "a": 1}')
    True
    """
    return derived_id("call", tool, _canonical({} if given in (None, "") else given))


def result_part(value: Any) -> str:
    """What tells a result apart from others of its conversation, without the wrapper that ADK puts around texts."""
    fields = parsed(value) if isinstance(value, str) and value.startswith("{") else value
    inner = fields["result"] if isinstance(fields, Mapping) and fields.keys() == {"result"} else value
    return derived_id("result", _canonical(inner))


def _canonical(value: Any) -> str:
    spelled = parsed(value) if isinstance(value, str) else value
    spelled = value if spelled is None else spelled
    return _plain(spelled) if isinstance(spelled, str) else canonical_bytes(storable({"": spelled})[0]).decode()


def argument_of(draft: Draft) -> tuple[str, str, Any]:
    """Id, tool and arguments of a call's draft."""
    content = draft.content
    return name(content.get("call_id")), text(content.get("tool_name")), content.get("arguments")


def _put(table: JsonObject, key: str, value: object, most: int = _MOST_PARTS) -> None:
    """Keep a value, and forget the oldest where there are too many."""
    table[key] = value
    if len(table) > most:
        del table[next(iter(table))]
