"""Where the values that an agent passes on came from, as far as a bounded memory tells."""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from zlib import crc32

from hmxgraph.compiler.sessions.remembering import remember

_CALLS = 1000
_SCALARS_PER_RESULT = 200
_MESSAGE_CHARS = 4000
_INPUTS = 12
_PHRASES = 50
FROM_USER = "user"


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
            remember(self._values, value, self._values.get(value, action), self._most)

    def of(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Each argument's name with the action or "user" that its value came from, "" if unknown."""
        named = sorted(arguments.items(), key=lambda pair: str(pair[0]))[:_INPUTS]
        return tuple((str(name)[:40], self._origin(value)) for name, value in named)

    def changed(self, action: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The arguments that differ from those of the last call of *action*; none at its first call."""
        given = {str(name)[:40]: crc32(repr(arguments[name])[:_MESSAGE_CHARS].encode()) for name in arguments}
        before = self._given.get(action)
        remember(self._given, action, given, _CALLS)
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
                remember(self._phrases, text, name, _PHRASES)
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
