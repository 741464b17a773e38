"""Strict JSON: parsing (RFC 8259, I-JSON), faults of Python values that are not JSON, and checks of arguments."""

import functools
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import jsonschema_rs
import orjson

from hmxgraph.errors import Fault, InvalidRequest, MalformedJson
from hmxgraph.protocol.canonical import MAX_INTEGER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Parsing strict JSON (RFC 8259 with the unique names of I-JSON).

# Maximum nesting of objects and arrays, in levels.
MAX_DEPTH = 64
# Maximum number of values in a text: more than any event or message holds.
MOST_VALUES = 1_000_000
# One of these bytes precedes each value of an array and each member of an object.
_SEPARATORS = (b",", b"[", b"{")
# A backslash and the byte after it, such as \" inside a string.
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_PIECE_BYTES = 1 << 18
# The kinds of bytes that `structure` distinguishes; every other byte has kind 0.
_OPENING, _CLOSING, COMMA, _QUOTE = 1, -1, 2, 3
_KIND_OF_BYTE = {"[": _OPENING, "{": _OPENING, "]": _CLOSING, "}": _CLOSING, ",": COMMA, '"': _QUOTE}
# The same as a translation table; -1 is stored as 255, which numpy reads as -1 again (int8).
_KINDS = bytes(_KIND_OF_BYTE.get(chr(code), 0) & 0xFF for code in range(256))
_CONTAINERS = (dict, list)
# A translation table for finding long integers: digits become "d", minus signs stay, all other bytes become blanks.
_DIGITS = bytes(0x64 if 0x30 <= code <= 0x39 else 0x2D if code == 0x2D else 0x20 for code in range(256))
# Deleting these bytes from a text leaves only its opening brackets, to be counted.
_ALL_BUT_OPENING = bytes(code for code in range(256) if code not in b"{[")
_LONG_INTEGER = b"d" * 20  # 2^64 has 20 digits: orjson silently turns larger integers into floats
_LONG_NEGATIVE = b"-" + b"d" * 19  # -2^63 has 19


def parse_json(data: bytes | bytearray | str, *, unique_keys: bool = True) -> Any:
    """The value of strict JSON text; integers stay exact, up to the range of a float.

    With ``unique_keys=False`` the last of repeated keys wins, as RFC 8259 permits.

    Raises:
        MalformedJson: *data* is not JSON, or has NaN, infinities, numbers beyond the range of a float, lone surrogates,
            repeated keys, nesting deeper than 64 levels, or more than a million values. The error names the position in
            bytes, except for the last three.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    hmxgraph.errors.MalformedJson: not strict JSON: repeated key 'a'
    """
    return _parse(data, unique_keys=unique_keys)[0]


def parse_bounded(data: bytes | bytearray | str) -> tuple[Any, int]:
    """The value of strict JSON text, and an upper bound of its canonical size in bytes: see `canonical_size_bound`.

    Raises:
        MalformedJson: see :func:`parse_json`.

    >>> parse_bounded('{ "a" : [ 1 ] }')
    ({'a': [1]}, 54)
    """
    return _parse(data, unique_keys=True)


def _parse(data: bytes | bytearray | str, *, unique_keys: bool) -> tuple[Any, int]:
    """As `parse_bounded`: orjson parses the text, and `_exact` parses it again only if orjson may have misread it."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    check_values(raw)
    value = _syntax(raw)
    if len(raw.translate(None, _ALL_BUT_OPENING)) > MAX_DEPTH and depth(value) > MAX_DEPTH:
        raise MalformedJson(f"nested deeper than {MAX_DEPTH}")
    compact = _compact(value)
    if raw != compact and _may_be_inexact(raw, compact, unique_keys=unique_keys):
        value = _exact(raw, unique_keys=unique_keys)
        compact = _compact(value)
    return value, _most_bytes(compact)


def check_values(raw: bytes | bytearray) -> None:
    """Refuse JSON text of more than ``MOST_VALUES`` values: as Python objects, 64 MB of ``[],`` would take 2 GB.

    Raises:
        MalformedJson: *raw* has more values.

    """
    if len(raw) <= MOST_VALUES or sum(map(raw.count, _SEPARATORS)) <= MOST_VALUES:
        return
    if sum(int((kinds != _CLOSING).sum()) for _, kinds in structure(raw)) > MOST_VALUES:
        raise MalformedJson(f"more than {MOST_VALUES:,} values")


def structure(raw: bytes | bytearray) -> Iterator[tuple["NDArray[np.int64]", "NDArray[np.int8]"]]:
    """The positions of brackets and commas outside strings, and the kind of each: 1 opens, -1 closes, ``COMMA``.

    Yields two numpy arrays for each piece of the text. (A Python loop over the bytes of a long line takes a minute.)
    """
    import numpy as np  # noqa: PLC0415 - only needed for large text and for text that is not strict JSON

    quotes = 0  # number of quotes so far; after an odd number, a position is inside a string
    escape_is_split = False  # whether the previous piece ends between a backslash and the byte that it escapes
    for offset in range(0, len(raw), _PIECE_BYTES):
        piece = raw[offset : offset + _PIECE_BYTES]
        without_escapes = _ESCAPE.sub(b"  ", b" " + piece[1:] if escape_is_split else piece)
        escape_is_split = without_escapes.endswith(b"\\")
        kinds = np.frombuffer(without_escapes.translate(_KINDS), dtype=np.int8)
        positions = np.flatnonzero(kinds)
        is_quote = kinds[positions] == _QUOTE
        quotes_before = quotes + np.cumsum(is_quote)
        quotes += int(is_quote.sum())
        positions = positions[~is_quote & (quotes_before % 2 == 0)]
        yield offset + positions, kinds[positions]


def _syntax(raw: bytes | bytearray) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        position = _not_utf8(raw) if "UTF-8" in error.msg else len(error.doc[: error.pos].encode())
        raise MalformedJson(_reason(error.msg, raw[position:]), position) from error


def _not_utf8(raw: bytes | bytearray) -> int:
    """The position of the first byte that is not UTF-8, which orjson does not report."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _reason(message: str, remaining_bytes: bytes | bytearray) -> str:
    """Why the text is rejected; more precise than orjson's message for NaN and infinities."""
    if number := re.match(rb"-?(?:NaN|Infinity)", remaining_bytes):
        return f"{number.group().decode()} is not a JSON number"
    reason = message.partition(": line ")[0]
    if "infinity" in reason:
        return "number too large for a float"
    if "depth" in reason:
        return f"nested deeper than {MAX_DEPTH}"
    if "UTF-8: surrogates" in reason:
        return "not UTF-8, or a lone surrogate"
    return f"lone surrogate ({reason})" if "surrogate" in reason else reason


def depth(value: Any) -> int:
    """The number of levels of objects and arrays in *value*; 0 for any other value.

    >>> depth([[], {"a": [1]}])
    3
    """
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    levels = 0
    while level:
        levels += 1
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if isinstance(part, _CONTAINERS)
        ]
    return levels


def canonical_size_bound(value: Any) -> int:
    """An upper bound of the canonical size of *value* in bytes; 0 if *value* is not JSON or has integers beyond 2^53-1.

    >>> canonical_size_bound({"a": [1, 2]}), canonical_size_bound(2**53)
    (66, 0)
    """
    return _most_bytes(_compact(value))


def _most_bytes(compact: bytes) -> int:
    """An upper bound of the canonical size of a value, from its *compact* text by orjson.

    Only numbers with an exponent are longer in canonical text: it writes ``1e20`` (4 bytes) as 21 digits. So each
    exponent adds at most 17 bytes, and the whole text is less than 6 times as long.
    """
    return len(compact) * 6 if len(compact) < 10_000 else len(compact) + 17 * compact.count(b"e")


def _compact(value: Any) -> bytes:
    """*value* as JSON text from orjson; empty if *value* is not JSON or has integers beyond 2^53-1."""
    try:
        return orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
    except TypeError:
        return b""


def _may_be_inexact(raw: bytes | bytearray, compact: bytes, *, unique_keys: bool) -> bool:
    """Whether orjson may have misread the text: large integers as floats, or repeated keys."""
    if not compact:
        return True
    digits = raw.translate(_DIGITS)
    return _LONG_INTEGER in digits or _LONG_NEGATIVE in digits or (unique_keys and _may_repeat_keys(raw, compact))


def _may_repeat_keys(raw: bytes | bytearray, compact: bytes) -> bool:
    """Whether the text *raw* may repeat a key; False proves that it does not.

    orjson keeps only the last of repeated keys, so the value written again (*compact*) has fewer colons than *raw*.
    An escaped colon in *raw* could hide this: it adds a colon to *compact*.
    """
    return raw.count(b":") != compact.count(b":") or b"\\u003a" in raw or b"\\u003A" in raw


def _exact(raw: bytes | bytearray, *, unique_keys: bool) -> Any:
    """The value, parsed with `json`, which is slow but keeps integers exact and, with *unique_keys*, sees every key."""
    return json.loads(raw.decode(), object_pairs_hook=_unique if unique_keys else None)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        if name in value:
            raise MalformedJson(f"repeated key {name!r}")
        value[name] = part
    return value


# Python values that are not JSON: every fault with its path.

# The clause that faults cite.
_CLAUSE = "RFC 8785 3.1"
# What a fault cites instead of a clause if nesting is too deep: no standard limits the depth.
_OWN_LIMIT = "own limit"
_STRICT_OPTIONS = orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS

_SAFE_INTEGER = "an integer within ±(2^53-1)"
# Canonical JSON writes whole floats below this value as integers (RFC 8785 3.2.2.3); those beyond 2^53-1 are unsafe.
WRITTEN_AS_INTEGER = 1e21

# The keys and indices that lead to a value inside its document.
Steps: TypeAlias = tuple[str | int, ...]


def json_path(*steps: str | int) -> str:
    """The JSON path (RFC 9535) of the value to which *steps* lead.

    >>> json_path("entries", 3, "odd name")
    "$.entries[3]['odd name']"
    """
    return "$" + "".join(_step(step) for step in steps)


def describe(value: Any) -> str:
    """*value*, abridged for an error message.

    >>> describe([1]), describe(None), describe("x" * 100)
    ('an array', 'null', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'")
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:39] + "…")
    if isinstance(value, Mapping):
        return "an object"
    return "an array" if isinstance(value, list | tuple) else quoted(value)[:40]


def json_copy(value: Mapping[str, Any]) -> tuple[Any] | None:
    """A copy of *value* in a tuple; None unless a quick check proves that *value* contains JSON values only."""
    try:
        text = orjson.dumps(value, option=_STRICT_OPTIONS)
    except TypeError:
        return None
    copy = orjson.loads(text)
    is_shallow = text.count(b"{") + text.count(b"[") <= MAX_DEPTH or depth(copy) <= MAX_DEPTH
    # orjson turns NaN into null, tuples into lists and UUIDs into strings, none of which equals its copy.
    return (copy,) if is_shallow and copy == value else None


def has_safe_numbers(value: Any) -> bool:
    """Whether *value* has no number that canonical JSON would write as an integer beyond 2^53-1.

    Python integers from 1e21 on are not detected here; `canonical_size_bound` detects them.

    >>> [has_safe_numbers([number]) for number in (2**53 - 1, 2**53, 1e20, 1e21, 0.1)]
    [True, False, False, True, True]
    """
    return _safe_numbers().is_valid(value)


@functools.cache
def _safe_numbers() -> jsonschema_rs.Draft202012Validator:
    within = [
        {"minimum": -MAX_INTEGER, "maximum": MAX_INTEGER},
        {"minimum": WRITTEN_AS_INTEGER},
        {"maximum": -WRITTEN_AS_INTEGER},
    ]
    return jsonschema_rs.Draft202012Validator(
        {"anyOf": within, "additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}}
    )


def json_faults(value: Any, steps: Steps = (), outer: tuple[int, ...] = ()) -> Iterator[Fault]:
    """A fault for everything in *value* that canonical JSON cannot hold, and for nesting deeper than 64 levels.

    *steps* is the path of *value* in its document, *outer* the Python ids of the values that contain it.

    >>> [str(fault) for fault in json_faults({"a": [float("nan")]})]
    ['$.a[0]: found nan, expected a finite number (RFC 8785 3.1)']
    """
    if isinstance(value, Mapping | list | tuple) and (len(steps) >= MAX_DEPTH or id(value) in outer):
        yield Fault(json_path(*steps), _OWN_LIMIT, "deeper nesting", f"at most {MAX_DEPTH} levels")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _key_faults(key, steps)
            yield from json_faults(part, (*steps, key if isinstance(key, str) else quoted(key)), (*outer, id(value)))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from json_faults(part, (*steps, index), (*outer, id(value)))
    else:
        yield from _scalar_faults(value, steps)


def without_json_faults(value: Any, outer: tuple[int, ...] = ()) -> Any:
    """*value* without the faults that :func:`json_faults` reports, so that the rest can be validated.

    Values with a fault become null, keys with a fault are dropped. *outer* are the Python ids of the values that
    contain *value*.
    """
    if isinstance(value, Mapping | list | tuple) and (len(outer) >= MAX_DEPTH or id(value) in outer):
        return None
    if isinstance(value, Mapping):
        valid = ((name, part) for name, part in value.items() if not any(_key_faults(name, ())))
        return {name: without_json_faults(part, (*outer, id(value))) for name, part in valid}
    if isinstance(value, list | tuple):
        return [without_json_faults(part, (*outer, id(value))) for part in value]
    return None if any(_scalar_faults(value, ())) else value


def with_short_arrays(value: Any, most: int) -> Any:
    """*value* with every array cut to its first *most* elements."""
    if isinstance(value, Mapping):
        return {name: with_short_arrays(part, most) for name, part in value.items()}
    return [with_short_arrays(part, most) for part in value[:most]] if isinstance(value, list | tuple) else value


def unsafe_integer(value: Any, steps: Steps) -> Iterator[Fault]:
    """A fault if *value*, the value of an integer field, is a float beyond 2^53-1."""
    if isinstance(value, float) and abs(value) > MAX_INTEGER:
        yield _fault(steps, describe(value), _SAFE_INTEGER)


def _key_faults(key: Any, steps: Steps) -> Iterator[Fault]:
    if not isinstance(key, str):
        yield _fault(steps, f"the key {describe(key)}", "keys that are strings")
    elif _has_surrogate(key):
        yield _fault(steps, f"a lone surrogate in the key {key!a}", "Unicode text")


def _scalar_faults(value: Any, steps: Steps) -> Iterator[Fault]:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if _has_surrogate(value):
            yield _fault(steps, "a lone surrogate", "Unicode text")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            yield _fault(steps, f"the integer {_abbreviated(value)}", _SAFE_INTEGER)
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield _fault(steps, describe(value), "a finite number")
        elif value.is_integer() and MAX_INTEGER < abs(value) < WRITTEN_AS_INTEGER:
            yield _fault(steps, f"the integer {int(value)}", _SAFE_INTEGER)
    else:
        yield _fault(steps, f"a Python {type(value).__name__}", "a JSON value")


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and re.search("[\ud800-\udfff]", text) is not None


def _abbreviated(number: int) -> str:
    return str(number) if abs(number) < 10**40 else f"of {number.bit_length()} bits"


def _fault(steps: Steps, actual: str, expected: str) -> Fault:
    return Fault(json_path(*steps), _CLAUSE, actual, expected)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", step) else f"[{step!r}]"


# Checks of the arguments that callers pass.

# Longest value, in characters, that an error message quotes in full.
_LONGEST_QUOTED = 60


def checked_text(name: str, value: object, way_out: str = "spell it as in the records") -> str:
    """*value*, if it is a string of valid Unicode.

    Raises:
        InvalidRequest: *value* is not; the error names the argument.

    >>> checked_text("artifact_id", 5)
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid artifact_id 5: expected text; spell it as in the records
    """
    if not isinstance(value, str):
        raise InvalidRequest(name, quoted(value), "text", way_out)
    if _has_surrogate(value):
        raise InvalidRequest(name, quoted(value), "valid Unicode", "leave out the lone surrogates")
    return value


def checked_session_id(value: object) -> str:
    """*value*, if it can be the id of a session: text that is not empty (HMX-E 2.1).

    Raises:
        InvalidRequest: *value* cannot be a session id.

    >>> checked_session_id("")
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid session_id '': expected a non-empty string; give each session an id
    """
    session_id = checked_text("session_id", value)
    if not session_id:
        raise InvalidRequest("session_id", quoted(session_id), "a non-empty string", "give each session an id")
    return session_id


def checked_flag(name: str, value: object) -> bool:
    """*value*, if it is True or False.

    Raises:
        InvalidRequest: *value* has another type; the error names the argument.

    >>> checked_flag("pinned", "no")
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid pinned 'no': expected True or False; give one of them (pinned=True)
    """
    if not isinstance(value, bool):
        raise InvalidRequest(name, quoted(value), "True or False", f"give one of them ({name}=True)")
    return value


def checked_integer(name: str, value: object, expected: str, least: int, most: int | None = None) -> int:
    """*value*, if it is an integer from *least* to *most* (None: no upper limit).

    Raises:
        InvalidRequest: *value* has another type or is out of range; the error names the argument and *expected*.

    >>> checked_integer("limit", "3", "a number of hits", 1, 500)
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid limit '3': expected a number of hits; give 1 to 500
    """
    way_out = f"give {least} or more" if most is None else f"give {least} to {most}"
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        raise InvalidRequest(name, quoted(value), expected, way_out)
    return value


def checked_list(name: str, value: object) -> list[str]:
    """*value* as a list, empty for None; a string is rejected, because it would be split into characters.

    The elements are not checked.

    Raises:
        InvalidRequest: *value* is not a list or tuple; the error names the argument.

    >>> checked_list("inputs", "src/main.c")
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid inputs 'src/main.c': expected a list of texts; write inputs=['...']
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise InvalidRequest(name, quoted(value), "a list of texts", f"write {name}=['...']")
    return list(value)


def quoted(value: object) -> str:
    """*value* as error messages quote it, truncated if long.

    Integers beyond 2^53-1 are in hex, because Python refuses to print very long ones in decimal.

    >>> quoted("ana"), quoted(10**5_000)[:6]
    ("'ana'", '0x31e2')
    """
    text = hex(value) if isinstance(value, int) and abs(value) > MAX_INTEGER else repr(value)
    return text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}\u2026"
