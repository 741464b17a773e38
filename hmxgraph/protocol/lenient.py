"""Lenient JSON: values that strict or canonical JSON rejects are kept with a warning, most of them as text."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from hmxgraph.errors import MalformedJson
from hmxgraph.protocol.canonical import MAX_INTEGER
from hmxgraph.protocol.parsing import COMMA, WRITTEN_AS_INTEGER, check_values, parse_json, structure

# Maximum nesting of content, in levels: lower than the 64 levels of an event, which contains the content.
DEEPEST = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERAL_TYPES = frozenset({bool, type(None)})
_LONGEST_NUMBER = 4_000  # digits; Python refuses to convert more than 4,300
# Longest text of a deeply nested value, in characters: more than the content of an event may hold.
_LONGEST_TEXT = 600_000
# Warnings.
_DEEP = f"values nested deeper than {DEEPEST} are kept as text"
_REPEATED = "earlier values of a repeated key are kept as text"
_LARGE_NUMBER = "a number too large for a float is kept as text"
_LONG_NUMBER = f"a number of more than {_LONGEST_NUMBER:,} digits is kept as text"

# Lenient parsing of JSON text.


def parse_any(data: bytes | bytearray | str) -> tuple[Any, tuple[str, ...]]:
    """The value of JSON text, and a warning for each kind of value that was kept as text.

    Lone surrogates and integers beyond 2^53-1 stay as they are; :func:`storable` replaces them.

    Raises:
        MalformedJson: *data* is not JSON, which has no NaN or infinities, or it has more than a million values.

    >>> parse_any('{"a": 1, "a": 2}')[0]
    {'a': 2, 'a (repeated)': ['1']}
    >>> parse_any(b"[" * 65 + b"]" * 65)[1]
    ('values nested deeper than 60 are kept as text',)
    >>> parse_any('{"a": 1, "a": 2, "a (repeated)": 3}')[0]
    {'a': 2, 'a (repeated)': 3, 'a (repeated) (repeated)': ['1']}
    >>> parse_any("[" + "1" * 5000 + "]")[1]
    ('a number of more than 4,000 digits is kept as text',)
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    check_values(raw)
    try:
        return parse_json(raw), ()
    except MalformedJson as error:
        try:
            return _parse_leniently(raw)
        except (ValueError, RecursionError):
            raise error from None


def _parse_leniently(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    flat = b"".join(_with_deep_values_as_text(raw))
    warnings = dict.fromkeys([_DEEP] if flat != raw else [])

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        warnings.setdefault(_REPEATED)
        return _with_repeated(value, pairs)

    def integer(digits: str) -> int | str:
        if len(digits) <= _LONGEST_NUMBER:
            return int(digits)
        warnings.setdefault(_LONG_NUMBER)
        return digits

    def fraction(digits: str) -> float | str:
        number = float(digits)
        if math.isfinite(number):
            return number
        warnings.setdefault(_LARGE_NUMBER)
        return digits

    value = json.loads(
        flat.decode(), object_pairs_hook=members, parse_int=integer, parse_float=fraction, parse_constant=_reject
    )
    return value, tuple(warnings)


def _with_repeated(value: dict[str, Any], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """*value*, which has the last value of each key, plus the earlier values as text under ``KEY (repeated)``.

    If that key exists as well, the suffix is added once more.
    """
    last = {name: index for index, (name, _) in enumerate(pairs)}
    earlier_texts: dict[str, list[str]] = {}
    for index, (name, part) in enumerate(pairs):
        if index < last[name]:
            earlier_texts.setdefault(name, []).append(json.dumps(part, ensure_ascii=False))
    for name, parts in earlier_texts.items():
        key = f"{name} (repeated)"
        while key in value:
            key += " (repeated)"
        value[key] = parts
    return value


def _reject(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _with_deep_values_as_text(raw: bytes) -> Iterator[bytes]:
    """*raw* in pieces, with a JSON string in place of every value that is nested deeper than ``DEEPEST``."""
    end = 0
    for start, stop in _too_deep_spans(raw):
        yield raw[end:start]
        yield json.dumps(raw[start:stop].decode("utf-8", "replace")).encode()
        end = stop
    yield raw[end:]


def _too_deep_spans(raw: bytes) -> Iterator[tuple[int, int]]:
    """The start and the end of each array or object in *raw* that begins at level ``DEEPEST + 1``."""
    depth = start = 0
    for positions, kinds in structure(raw):
        is_bracket = kinds != COMMA
        steps = kinds[is_bracket]
        depths_after = depth + steps.cumsum(dtype="int64")
        # The opening bracket of such a value leads to level DEEPEST + 1, its closing bracket back to DEEPEST.
        is_boundary = depths_after == DEEPEST + (steps > 0)
        for position, step in zip(
            positions[is_bracket][is_boundary].tolist(), steps[is_boundary].tolist(), strict=True
        ):
            if step > 0:
                start = position
            else:
                yield start, position + 1
        depth = int(depths_after[-1]) if depths_after.size else depth


# Python values in a form that an event can store.


def contains_itself(value: Any) -> bool:
    """Whether *value* or one of its parts contains itself.

    >>> value = [[]]
    >>> value[0].append(value)
    >>> contains_itself(value), contains_itself([value[0][:0]] * 2)
    (True, False)
    """
    # The values that contain the current part, by Python id, each with its parts that are still to be visited.
    outer: dict[int, Iterator[Any]] = {}
    finished_ids: set[int] = set()
    pending = iter([value])
    while True:
        part = next(pending, outer)  # no value contains the dict `outer`, so it can mark the end
        if part is outer:
            if not outer:
                return False
            finished_ids.add(outer.popitem()[0])
            pending = next(reversed(outer.values()), iter(()))
        elif isinstance(part, Mapping | list | tuple) and id(part) not in finished_ids:
            if id(part) in outer:
                return True
            pending = outer[id(part)] = iter(part.values() if isinstance(part, Mapping) else part)


def storable(value: Any) -> tuple[Any, tuple[str, ...]]:
    """*value* in a form that an event can store, and a warning for each kind of change.

    These become text: integers beyond 2^53-1, NaN, infinities, values that are not JSON or are nested too deeply, and
    keys that are not strings. A lone surrogate becomes the replacement character U+FFFD. Where a value contains itself,
    it is cut off.

    >>> storable({"a": [1, 2.5, "x"]})
    ({'a': [1, 2.5, 'x']}, ())
    >>> storable({"id": 2**63})
    ({'id': '9223372036854775808'}, ('an integer beyond 2^53-1 is kept as text',))
    """
    walk = _Walk()
    return walk.value(value, ()), tuple(walk.warnings)


@dataclass(slots=True)
class _Walk:
    """One traversal of a value; ``warnings`` has each text once, in order of appearance."""

    warnings: dict[str, None] = field(default_factory=dict)

    def value(self, value: Any, outer: tuple[int, ...]) -> Any:
        """*value* in a form that an event can store; *outer* are the Python ids of the values that contain it."""
        kind = type(value)
        if kind in _LITERAL_TYPES:
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, Mapping | list | tuple):
            return self._nested(value, outer)
        self._warn(f"a value of type {kind.__name__} is kept as text")
        return self._text(str(value))

    def _nested(self, value: Any, outer: tuple[int, ...]) -> Any:
        if id(value) in outer:
            self._warn("a value that contains itself is cut off")
            return "…"
        if len(outer) >= DEEPEST:
            self._warn(_DEEP)
            return self._text(_json_text(value))
        outer = (*outer, id(value))
        if isinstance(value, Mapping):
            return {self._key(name): self.value(part, outer) for name, part in value.items()}
        return [self.value(part, outer) for part in value]

    def _key(self, name: Any) -> str:
        if not isinstance(name, str):
            self._warn("a key that is not a string is kept as text")
        return self._text(spelled(name))

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
            return spelled(number)
        if not math.isfinite(number):
            self._warn("NaN or an infinity is kept as text")
            return str(number)
        if MAX_INTEGER < abs(number) < WRITTEN_AS_INTEGER:
            self._warn("an integer beyond 2^53-1 is kept as text")
            return str(int(number))
        return float(number)

    def _warn(self, warning: str) -> None:
        self.warnings.setdefault(warning)


def _json_text(value: Any) -> str:
    """The JSON text of a value of any depth; cut off after ``_LONGEST_TEXT``, because a value may contain itself."""
    pieces: list[str] = []
    size = 0
    for piece in _json_pieces(value):
        pieces.append(piece)
        size += len(piece)
        if size > _LONGEST_TEXT:
            pieces.append("…")
            break
    return "".join(pieces)


def _json_pieces(value: Any) -> Iterator[str]:
    """The JSON text of a value of any depth, piece by piece, without recursion."""
    pending: list[Any] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, _Piece):
            yield part
        elif isinstance(part, Mapping):
            members = [
                step for name, member in part.items() for step in (_Piece(f"{_scalar(spelled(name))}:"), member, _COMMA)
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
    return orjson.dumps(value).decode() if type(value) in _LITERAL_TYPES else spelled(value)


def spelled(value: Any) -> str:
    """``str(value)``; where Python refuses that: hex for a very long integer, JSON for very deep nesting.

    >>> spelled({"a": 1}), spelled([10**5_000])[:6]
    ("{'a': 1}", '[0x31e')
    """
    try:
        return str(value)
    except (ValueError, RecursionError):
        if isinstance(value, Mapping | list | tuple):
            return _json_text(value)
        if isinstance(value, int):
            return hex(value)
        raise
