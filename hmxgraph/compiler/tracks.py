"""What a reader of a session must remember between events, all of it bounded."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any
from zlib import crc32

from hmxgraph.compiler.summary import Situation, Step

_OPEN_CALLS = 1000
_NAMED = 1000
_SCALARS_PER_RESULT = 200
_MESSAGE_CHARS = 4000
_INPUTS = 12
_PHRASES = 50
FROM_USER = "user"


@dataclass(slots=True)
class Record:
    """A step whose end may still come; ``number`` counts all steps of the session, kept or not.

    ``tool`` is what its agent called, a shell where the action is the program that ran in it.
    """

    action: str
    event_id: str
    situation: Situation
    inputs: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    command: str = ""
    ok: bool | None = None
    number: int = -1
    given: dict[str, str] = field(default_factory=dict)
    agent_id: str = ""
    tool: str = ""

    def step(self) -> Step:
        """The step as it stands now."""
        return Step(self.action, self.event_id, self.situation, self.inputs, self.changed, self.command, self.ok)


class Records:
    """The first and the last steps of a session, and those whose result is awaited."""

    def __init__(self, most: int) -> None:
        self._first: list[Record] = []
        self._latest: deque[Record] = deque(maxlen=max(1, most // 2))
        self._room = most - most // 2
        self._calls: dict[str, Record] = {}
        self._named: dict[str, Record] = {}
        self.count = 0
        self.last: Record | None = None

    @property
    def pending(self) -> int:
        """How many calls wait for their result."""
        return len(self._calls)

    def add(self, record: Record, call_id: object) -> None:
        """Keep *record* as the newest step, awaited under its call id where it has one."""
        record.number = self.count
        self.count += 1
        self.last = record
        if len(self._first) < self._room:
            self._first.append(record)
        else:
            self._latest.append(record)
        self.name(record.event_id, record)
        if call_id:
            _remember(self._calls, str(call_id), record, _OPEN_CALLS)

    def called(self, call_id: object, tool: str) -> Record | None:
        """The step that a result belongs to: by call id, else the newest that has no result and fits the tool."""
        if call_id and str(call_id) in self._calls:
            return self._calls.pop(str(call_id))
        last = self.last
        fits = (
            last is not None
            and last.ok is None
            and (not tool or tool in {last.action, last.tool} or bool(last.command))
        )
        return last if fits else None

    def name(self, event_id: str, record: Record) -> None:
        """Let *event_id* stand for *record* too."""
        _remember(self._named, event_id, record, _NAMED)

    def named(self, *event_ids: str | None) -> Record | None:
        """The step that one of the events belongs to."""
        return next((self._named[name] for name in event_ids if name is not None and name in self._named), None)

    def of_tool(self, tool: str, agent_id: str) -> Record | None:
        """The newest call of *tool* that may have failed, one of this agent if there is any."""
        calls = [record for record in self._doubtful() if tool and tool in {record.tool, record.action}]
        return next((record for record in calls if record.agent_id == agent_id), next(iter(calls), None))

    def of_agent(self, agent_id: str) -> Record | None:
        """The newest step of this agent that may have failed."""
        return next((record for record in self._doubtful() if record.agent_id == agent_id), None)

    def _doubtful(self) -> Iterator[Record]:
        """The kept steps that nothing good is known of, newest first."""
        return (record for record in chain(reversed(self._latest), reversed(self._first)) if not record.ok)

    def kept(self) -> Iterator[Record]:
        """The steps that were kept, in order."""
        yield from self._first
        yield from self._latest

    def place(self, number: int) -> int:
        """Where the step with this number stands among the kept ones; -1 if it is not."""
        dropped = self.count - len(self._first) - len(self._latest)
        if number < len(self._first):
            return number
        return number - dropped if number - dropped >= len(self._first) else -1


class Origins:
    """Where the values that an agent passes on came from: a result seen before, or the user's words."""

    def __init__(self, most_values: int, most_messages: int) -> None:
        self._most = most_values
        self._values: dict[str, str] = {}
        self._messages: deque[str] = deque(maxlen=most_messages)
        self._given: dict[str, dict[str, int]] = {}
        self._phrases: dict[str, str] = {}

    def heard(self, text: str) -> None:
        """Remember the user's words."""
        self._messages.append(text[:_MESSAGE_CHARS].lower())

    def told(self, action: str, result: Any) -> None:
        """Remember the values in a result of *action*; one that was told before came from where it was told first."""
        for value in islice(_scalars(result), _SCALARS_PER_RESULT):
            _remember(self._values, value, self._values.get(value, action), self._most)

    def of(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Each argument's name with the action or "user" that its value came from, "" if unknown."""
        named = sorted(arguments.items(), key=lambda pair: str(pair[0]))[:_INPUTS]
        return tuple((str(name)[:40], self._origin(value)) for name, value in named)

    def changed(self, action: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The arguments that differ from those of the last call of *action*; none at its first call."""
        given = {str(name)[:40]: crc32(repr(arguments[name])[:_MESSAGE_CHARS].encode()) for name in arguments}
        before = self._given.get(action)
        _remember(self._given, action, given, _OPEN_CALLS)
        if before is None:
            return ()
        return tuple(sorted(name for name in given.keys() | before.keys() if given.get(name) != before.get(name)))

    def named(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        """For each value among the arguments, in lower case, the name it was given under; phrases of earlier calls too.

        A phrase is the name of somebody or something, of which later failures speak.
        """
        told = {text.lower(): name for text, name in islice(_named(arguments, ""), _SCALARS_PER_RESULT)}
        known = self._phrases | told
        for text, name in told.items():
            if " " in text:
                _remember(self._phrases, text, name, _PHRASES)
        return known

    def _origin(self, value: Any) -> str:
        for text in _scalars(value):
            if text in self._values:
                return self._values[text]
            if any(text.lower() in message for message in self._messages):
                return FROM_USER
        return ""


def _scalars(value: Any, depth: int = 0) -> Iterator[str]:
    match value:
        case bool() | None:
            return
        case str() if 2 < len(value) <= 80:
            yield value
        case int() if abs(value) >= 100:
            yield str(value)
        case Mapping() if depth < 6:
            for key, part in value.items():
                if isinstance(key, str) and any(map(str.isdigit, key)):
                    yield key
                yield from _scalars(part, depth + 1)
        case list() if depth < 6:
            for part in value:
                yield from _scalars(part, depth + 1)
        case _:
            return


def _named(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Each scalar with the innermost name it stands under."""
    if isinstance(value, Mapping) and depth < 6:
        for key in sorted(value, key=str):
            yield from _named(value[key], str(key)[:40], depth + 1)
    elif isinstance(value, list) and depth < 6:
        for part in value:
            yield from _named(part, name, depth + 1)
    else:
        yield from ((text, name) for text in _scalars(value))


def _remember(memory: dict[str, Any], name: str, value: Any, most: int) -> None:
    """Keep *value* as the youngest of at most *most*."""
    memory.pop(name, None)
    memory[name] = value
    if len(memory) > most:
        del memory[next(iter(memory))]
