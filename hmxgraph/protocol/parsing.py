"""Strict JSON text (RFC 8259, and I-JSON's unique names) as Python values."""

import json
import re
from typing import Any

import orjson

from hmxgraph.errors import MalformedJson

MAX_DEPTH = 64
_NESTED = (dict, list)
_DIGITS = bytes(0x64 if 0x30 <= code <= 0x39 else 0x20 for code in range(256))
_NO_OPENERS = bytes(code for code in range(256) if code not in b"{[")
_NO_NUMBER = re.compile(rb"-?(?:NaN|Infinity)")
_LONG_INTEGER = b"d" * 20  # 2^64 has 20 digits: from there on orjson silently makes floats of integers


def parse_json(data: bytes | bytearray | str, *, unique_keys: bool = True) -> Any:
    """The value that strict JSON text means; integers of any size stay exact.

    With ``unique_keys=False`` a repeated key is taken as RFC 8259 permits it: the last one wins.

    Raises: MalformedJson, naming the reason and the byte, for anything that is not JSON, NaN and infinities, lone
    surrogates, nesting deeper than 64 and repeated keys.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    hmxgraph.errors.MalformedJson: not strict JSON: repeated key 'a'
    """
    return _parse(data, unique_keys=unique_keys)[0]


def parse_measured(data: bytes | bytearray | str) -> tuple[Any, int]:
    """The same with the most bytes that its canonical text can have; 0 where an integer is beyond 2^53-1.

    >>> parse_measured('{ "a" : [ 1 ] }')
    ({'a': [1]}, 54)
    """
    return _parse(data, unique_keys=True)


def _parse(data: bytes | bytearray | str, *, unique_keys: bool) -> tuple[Any, int]:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    value = _syntax(raw)
    if len(raw.translate(None, _NO_OPENERS)) > MAX_DEPTH and depth(value) > MAX_DEPTH:
        raise MalformedJson(f"nested deeper than {MAX_DEPTH}")
    compact = _compact(value)
    if raw != compact and _may_be_inexact(raw, compact, unique_keys=unique_keys):
        value = _exact(raw, unique_keys=unique_keys)
        compact = _compact(value)
    return value, _most_bytes(compact)


def _syntax(raw: bytes | bytearray) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        position = _not_utf8(raw) if "UTF-8" in error.msg else len(error.doc[: error.pos].encode())
        raise MalformedJson(_reason(error.msg, raw[position:]), position) from error


def _not_utf8(raw: bytes | bytearray) -> int:
    """Where the text ceases to be UTF-8: orjson looks at the whole of it first, and tells no place."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _reason(message: str, rest: bytes | bytearray) -> str:
    """Why the text is refused, by name where orjson only says that something is unexpected."""
    if number := _NO_NUMBER.match(rest):
        return f"{number.group().decode()} is no JSON number"
    plain = message.partition(": line ")[0]
    if "infinity" in plain:
        return "number beyond all floats"
    if "depth" in plain:
        return f"nested deeper than {MAX_DEPTH}"
    if "UTF-8: surrogates" in plain:
        return "not UTF-8, or a lone surrogate"
    return f"lone surrogate ({plain})" if "surrogate" in plain else plain


def depth(value: Any) -> int:
    """How deep objects and arrays are nested; 0 for anything else.

    >>> depth([[], {"a": [1]}])
    3
    """
    level: list[Any] = [value] if isinstance(value, _NESTED) else []
    levels = 0
    while level:
        levels += 1
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, _NESTED)
        ]
    return levels


def measured(value: Any) -> int:
    """The most bytes that the value's canonical text can have; 0 where an integer is beyond 2^53-1.

    >>> measured({"a": [1, 2]}), measured(2**53)
    (66, 0)
    """
    return _most_bytes(_compact(value))


def _most_bytes(compact: bytes) -> int:
    """Canonical text is longer than orjson's only at exponents: 1e20 becomes 100000000000000000000."""
    return len(compact) * 6 if len(compact) < 10_000 else len(compact) + 17 * compact.count(b"e")


def _compact(value: Any) -> bytes:
    """The value written again, nothing if an integer is beyond 2^53-1."""
    try:
        return orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
    except TypeError:
        return b""


def _may_be_inexact(raw: bytes | bytearray, compact: bytes, *, unique_keys: bool) -> bool:
    """Whether orjson may have read what the text does not say: floats for large integers, one of equal keys."""
    return not compact or _LONG_INTEGER in raw.translate(_DIGITS) or (unique_keys and _may_repeat_keys(raw, compact))


def _may_repeat_keys(raw: bytes | bytearray, compact: bytes) -> bool:
    """False proves that no key is repeated.

    orjson keeps the last of equal keys, so the value written again has fewer colons than the text had. Only an
    escaped colon could make up for a lost one.
    """
    return raw.count(b":") != compact.count(b":") or b"\\u003a" in raw or b"\\u003A" in raw


def _exact(raw: bytes | bytearray, *, unique_keys: bool) -> Any:
    """The same value by the slow and exact way: integers of any size, and a look at every key."""
    return json.loads(raw.decode(), object_pairs_hook=_unique if unique_keys else None)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        if name in value:
            raise MalformedJson(f"repeated key {name!r}")
        value[name] = part
    return value
