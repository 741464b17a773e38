"""Which messages, calls and results of a conversation are new, since each model call repeats the earlier ones.

A repetition is rarely literal: ids change between a call and its replay, texts gain a closing tag, and one message
becomes several. So each part (a message's text, a call or a result) has a key made from its text, and counts as a
repetition as long as a prompt contains it no more often than the conversation so far.
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

# Maximum number of keys in ``_seen``.
_MOST_SEEN = 50_000
# Maximum number of entries in each other table.
_MOST_ENTRIES = 20_000
# Maximum number of calls in each list of calls.
_MOST_CALLS = 1_000
# Agents that write code stop the model at this closing tag, so its answer lacks the tag; later prompts contain it.
_CLOSING_TAG = re.compile(r"\s*</code>\s*\Z")
_SPACE = re.compile(r"\s+")
# Minimum length of an argument that may be another agent's prompt; a shorter one, such as "yes", may be the user's.
_SHORTEST_PROMPT = 4


@dataclass(slots=True)
class Prompt:
    """The messages of one model call or agent, as far as they were read: the keys of their parts.

    ``parts`` counts the keys, ``sequence`` lists them in order.
    """

    session_id: str
    parts: Counter[str] = field(default_factory=Counter)
    sequence: list[str] = field(default_factory=list)

    def add(self, part: str) -> int:
        """Add a part; returns how often the prompt has it now."""
        self.sequence.append(part)
        self.parts[part] += 1
        return self.parts[part]


class Repeats:
    """The parts of each conversation read so far, and the calls that still lack their span or result.

    There are three lists of calls, the oldest first. ``_waiting``: from a model's or agent's messages, when neither the
    span of the tool nor a prompt with the result was read yet. ``_answered``: the same, once a prompt with the result
    was read. ``_unclaimed``: from the span of a tool, when no model's answer contained the call yet.
    """

    def __init__(self, carried: JsonObject) -> None:
        self._seen: dict[str, bool] = carried.setdefault("seen", {})
        # Each entry: session, tool, call id, key (``call_part``). Imports begun by an early version lack the key.
        self._waiting: list[list[str]] = carried.setdefault("waiting", [])
        self._answered: list[list[str]] = carried.setdefault("answered", [])
        self._unclaimed: list[list[str]] = carried.setdefault("unclaimed", [])
        # The keys of each message's parts, by its id: reading a message again for each prompt would be slow.
        self._parts_of: dict[str, list[str]] = carried.setdefault("parts", {})
        # How often each conversation has each part.
        self._part_counts: dict[str, int] = carried.setdefault("said", {})
        # The tool and the event of each call.
        self._call_events: dict[str, list[str]] = carried.setdefault("made", {})
        # The id under which a call is known: by its other ids, and by its key with the number of its occurrence.
        self._aliases: dict[str, str] = carried.setdefault("same", {})

    def is_new(self, key: str) -> bool:
        """Whether *key* is read for the first time; remembers it."""
        if key in self._seen:
            return False
        _put(self._seen, key, value=True, most=_MOST_SEEN)
        return True

    def has(self, key: str) -> bool:
        """Whether *key* was read."""
        return key in self._seen

    # Parts of messages.

    def is_new_part(self, prompt: Prompt, part: str, *, answer: bool) -> bool:
        """Add a part to the prompt; returns whether it is new to the conversation, as parts of an answer always are."""
        key = f"{prompt.session_id}/{part}"
        times, previous = prompt.add(part), self._part_counts.get(key, 0)
        if not answer and times <= previous:
            return False
        _put(self._part_counts, key, max(previous + 1, times))
        return True

    def remember_message(self, own_id: str, parts: list[str]) -> None:
        """Remember the parts of a message; *own_id* identifies it together with all messages before it."""
        _put(self._parts_of, own_id, parts)

    def repeat_message(self, prompt: Prompt, own_id: str) -> bool:
        """Whether a message was read before; if so, adds its parts to the prompt."""
        parts = self._parts_of.get(own_id)
        for part in parts or ():
            prompt.add(part)
        return parts is not None

    # Calls: by id, else by tool and arguments.

    def call_id(self, session_id: str, call_id: str) -> str:
        """The id under which the conversation knows a call; "" for a call without an id."""
        return self._aliases.get(f"{session_id}/{call_id}", call_id) if call_id else ""

    def is_known_call(self, session_id: str, call_id: str) -> bool:
        """Whether the conversation has a call with that id."""
        return f"{session_id}/call/{call_id}" in self._seen

    def call_event(self, session_id: str, call_id: str) -> tuple[str, str]:
        """The tool and the event id of a call; both empty if the call is unknown."""
        tool, event_id = self._call_events.get(f"{session_id}/{call_id}", ["", ""])
        return tool, event_id

    def add_call(self, session_id: str, call: tuple[str, str, Any], event_id: str, *, of_model: bool) -> None:
        """Note a call (id, tool, arguments): with *of_model* from a message, else from the span of its tool.

        A model's call waits for the span of its tool, which may lack the id; a call from a span waits for the model's
        answer, which may be read later.
        """
        call_id, tool, arguments = call
        self.is_new(f"{session_id}/call/{call_id}")
        _put(self._call_events, f"{session_id}/{call_id}", [tool, event_id])
        part = call_part(tool, arguments)
        number = self._part_counts.get(f"{session_id}/{part}", 0)
        _put(self._aliases, f"{session_id}/{part}/{number}", call_id)
        calls = self._waiting if of_model else self._unclaimed
        calls.append([session_id, tool, call_id, part])
        del calls[:-_MOST_CALLS]

    def claim(self, session_id: str, call_id: str, part: str) -> bool:
        """Whether a call in a model's answer was read before, from its tool's span; if so, its id becomes an alias."""
        for call in self._unclaimed:
            if call[0] == session_id and call[3] == part:
                self._unclaimed.remove(call)
                self.name_call(session_id, call_id, call[2])
                return True
        return False

    def repeat_call(self, prompt: Prompt, call_id: str, part: str) -> None:
        """If the conversation knows a call of the prompt under another id, make *call_id* an alias of that id."""
        first = self._aliases.get(f"{prompt.session_id}/{part}/{prompt.parts[part]}", "")
        if call_id and first and call_id != first:
            _put(self._aliases, f"{prompt.session_id}/{call_id}", first)

    def name_call(self, session_id: str, call_id: str, first: str) -> None:
        """Make *call_id* an alias of *first*, the id under which the conversation knows the call."""
        if call_id:
            _put(self._aliases, f"{session_id}/{call_id}", first)

    def settle(self, session_id: str, call_id: str) -> None:
        """Note that a call no longer waits for the span of its tool."""
        for waiting in self._waiting:
            if waiting[0] == session_id and waiting[2] == call_id:
                self._waiting.remove(waiting)
                return

    def answer(self, session_id: str, tool: str, call_id: str) -> str:
        """Note that a prompt has the result of a call; returns the id of the call, *call_id* if no call waits for it.

        Google's ADK numbers results separately from calls, so a result with an unknown id belongs to the oldest waiting
        call to *tool* or, without a tool, to the only waiting call.
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
            del self._answered[:-_MOST_CALLS]
            return call[2]
        return call_id

    def take_waiting(self, session_id: str, call: tuple[str, Any], *, exact: bool, answered: bool) -> str:
        """Remove the model's call to which a tool's span belongs, and return its id; "" if there is none.

        It is the oldest call to the same tool with the same arguments. If there is none, it is the oldest call to the
        tool with any arguments, unless *exact* is set and the span's arguments are known. With *answered*, calls whose
        result was in a prompt are searched before waiting ones.
        """
        tool, arguments = call
        for calls in ([self._answered] if answered else []) + [self._waiting]:
            to_tool = [waiting for waiting in calls if waiting[:2] == [session_id, tool]]
            # An entry without a key fits any arguments.
            alike = [waiting for waiting in to_tool if waiting[3:] in ([], [call_part(tool, arguments)])]
            for waiting in alike or (to_tool if arguments is None or not exact else []):
                calls.remove(waiting)
                return waiting[2]
        return ""

    # Prompts that one agent gives another.

    def pass_on(self, trace_id: str, arguments: Mapping[str, Any]) -> None:
        """Note the texts among a call's arguments: one of them may be the prompt of the agent that is called."""
        for value in arguments.values():
            if isinstance(value, str) and len(value) >= _SHORTEST_PROMPT:
                self.is_new(_passed_on_key(trace_id, value))

    def is_passed_on(self, trace_id: str, words: str) -> bool:
        """Whether a prompt is an argument of an earlier call in its trace."""
        return _passed_on_key(trace_id, words) in self._seen


def _passed_on_key(trace_id: str, words: str) -> str:
    return f"{trace_id}/passed/{derived_id(_plain(words))}"


def _plain(words: str) -> str:
    """A text without the closing tag, and with each run of white space replaced by one space."""
    return _SPACE.sub(" ", _CLOSING_TAG.sub("", words)).strip()


def words_part(draft: Draft) -> str:
    """The key of a message's text within its conversation."""
    content = draft.content
    return derived_id(
        draft.event_type, content.get("role"), _plain(text(content.get("text"))), repr(content.get("attachments"))
    )


def call_part(tool: str, arguments: Any) -> str:
    """The key of a call within its conversation, regardless of its id.

    >>> call_part("f", {"a": 1, "b": 2}) == call_part("f", '{"b": 2, "a": 1}')
    True
    """
    return derived_id("call", tool, _canonical({} if arguments in (None, "") else arguments))


def result_part(value: Any) -> str:
    """The key of a result within its conversation, without the wrapper that Google's ADK puts around texts."""
    fields = parsed(value) if isinstance(value, str) and value.startswith("{") else value
    inner = fields["result"] if isinstance(fields, Mapping) and fields.keys() == {"result"} else value
    return derived_id("result", _canonical(inner))


def _canonical(value: Any) -> str:
    """The canonical text of a value, the same for JSON text and for the value that it encodes."""
    json_value = parsed(value) if isinstance(value, str) else value
    json_value = value if json_value is None else json_value
    return (
        _plain(json_value) if isinstance(json_value, str) else canonical_bytes(storable({"": json_value})[0]).decode()
    )


def call_of(draft: Draft) -> tuple[str, str, Any]:
    """Id, tool and arguments of a call's draft."""
    content = draft.content
    return name(content.get("call_id")), text(content.get("tool_name")), content.get("arguments")


def _put(table: JsonObject, key: str, value: object, most: int = _MOST_ENTRIES) -> None:
    """Store a value; if the table then has more than *most* entries, drop the one whose key was added first."""
    table[key] = value
    if len(table) > most:
        del table[next(iter(table))]
