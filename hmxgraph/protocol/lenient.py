"""Any producer's JSON as a value that an event can hold: what canonical JSON cannot spell is kept as text."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from hmxgraph.protocol.canonical import MAX_INTEGER
from hmxgraph.protocol.parsing import WRITTEN_AS_INTEGER

# Content stands inside an event, which may be nested 64 deep (MAX_DEPTH).
_DEEPEST = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN = frozenset({bool, type(None)})


def storable(value: Any) -> tuple[Any, tuple[str, ...]]:
    """*value* as an event can hold it, and a warning for each kind of value that was kept as text.

    Integers beyond 2^53-1, numbers that are none, and what is nested too deep become text; a lone surrogate becomes the
    replacement character; a key that is no text becomes text.

    >>> storable({"a": [1, 2.5, "x"]})
    ({'a': [1, 2.5, 'x']}, ())
    >>> storable({"id": 2**63})
    ({'id': '9223372036854775808'}, ('an integer beyond 2^53-1 is kept as text',))
    """
    walk = _Walk()
    return walk.value(value, 0), tuple(walk.warnings)


@dataclass(slots=True)
class _Walk:
    """One walk through a value; ``warnings`` has each kind once, in order of appearance."""

    warnings: dict[str, None] = field(default_factory=dict)

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, Mapping | list | tuple):
            return self._nested(value, depth)
        self._warn(f"a value of type {kind.__name__} is kept as text")
        return self._text(str(value))

    def _nested(self, value: Any, depth: int) -> Any:
        if depth >= _DEEPEST:
            self._warn(f"what is nested deeper than {_DEEPEST} is kept as text")
            return self._text("".join(_written(value)))
        if isinstance(value, Mapping):
            return {self._key(name): self.value(part, depth + 1) for name, part in value.items()}
        return [self.value(part, depth + 1) for part in value]

    def _key(self, name: Any) -> str:
        if not isinstance(name, str):
            self._warn("a key that is no text is kept as text")
        return self._text(str(name))

    def _text(self, text: str) -> str:
        if text.isascii() or not _SURROGATE.search(text):
            return text
        self._warn("a lone surrogate is replaced")
        return _SURROGATE.sub("\ufffd", text)

    def _number(self, number: float) -> Any:
        if isinstance(number, int):
            if abs(number) <= MAX_INTEGER:
                return int(number)
            self._warn("an integer beyond 2^53-1 is kept as text")
            return str(number)
        if not math.isfinite(number):
            self._warn("a number that is none is kept as text")
            return str(number)
        if MAX_INTEGER < abs(number) < WRITTEN_AS_INTEGER:
            self._warn("an integer beyond 2^53-1 is kept as text")
            return str(int(number))
        return float(number)

    def _warn(self, warning: str) -> None:
        self.warnings.setdefault(warning)


def _written(value: Any) -> Iterator[str]:
    """The JSON text of a value of any depth, piece by piece, without recursion."""
    pending: list[Any] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, _Piece):
            yield part
        elif isinstance(part, Mapping):
            members = [
                step for name, member in part.items() for step in (_Piece(f"{_scalar(str(name))}:"), member, _COMMA)
            ]
            pending += [_Piece("}"), *reversed(members[:-1]), _Piece("{")]
        elif isinstance(part, list | tuple):
            members = [step for member in part for step in (member, _COMMA)]
            pending += [_Piece("]"), *reversed(members[:-1]), _Piece("[")]
        else:
            yield _scalar(part)


class _Piece(str):
    """Finished JSON text."""

    __slots__ = ()


_COMMA = _Piece(",")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return orjson.dumps(_SURROGATE.sub("\ufffd", value)).decode()
    return orjson.dumps(value).decode() if type(value) in _PLAIN else str(value)
