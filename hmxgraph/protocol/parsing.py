"""Strict JSON: text to Python values (RFC 8259, I-JSON), which values are JSON, and checks of plain arguments."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import jsonschema_rs
import orjson

from hmxgraph.errors import Fault, InvalidRequest, MalformedJson
from hmxgraph.protocol.canonical import MAX_INTEGER

# Strict JSON text (RFC 8259, and I-JSON's unique names) as Python values.

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


# What is plain JSON and what is not, told with the path of every offender.

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLAUSE = "RFC 8785 3.1"
_AS_IT_IS = orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS

_SAFE_INTEGER = "an integer within ±(2^53-1)"
# Canonical JSON spells floats up to here as integers (RFC 8785 3.2.2.3): to a reader they are beyond 2^53-1.
SPELLED_AS_INTEGER = 1e21
_SAFE_NUMBERS = jsonschema_rs.Draft202012Validator(
    {
        "anyOf": [
            {"minimum": -MAX_INTEGER, "maximum": MAX_INTEGER},
            {"minimum": SPELLED_AS_INTEGER},
            {"maximum": -SPELLED_AS_INTEGER},
        ],
        "additionalProperties": {"$ref": "#"},
        "items": {"$ref": "#"},
    }
)

Steps: TypeAlias = tuple[str | int, ...]


def json_path(*steps: str | int) -> str:
    """The JSON path (RFC 9535) of a value inside its document.

    >>> json_path("entries", 3, "odd name")
    "$.entries[3]['odd name']"
    """
    return "$" + "".join(_step(step) for step in steps)


def describe(value: Any) -> str:
    """A few words that tell what *value* is.

    >>> describe([1]), describe(None), describe("x" * 100)
    ('an array', 'null', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'")
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:39] + "…")
    if isinstance(value, Mapping):
        return "an object"
    return "an array" if isinstance(value, list | tuple) else repr(value)[:40]


def copied(value: Mapping[str, Any]) -> tuple[Any] | None:
    """A copy of *value* in a tuple, if a quick look proves that it is JSON throughout."""
    try:
        text = orjson.dumps(value, option=_AS_IT_IS)
    except TypeError:
        return None
    copy = orjson.loads(text)
    # orjson turns NaN into null, tuples into lists, UUIDs into text: none of them equals its copy.
    shallow = text.count(b"{") + text.count(b"[") <= MAX_DEPTH or depth(copy) <= MAX_DEPTH
    return (copy,) if shallow and copy == value else None


def safe_numbers(value: Any) -> bool:
    """Whether every number in *value*, which is JSON, is one that canonical JSON holds exactly.

    >>> [safe_numbers([number]) for number in (2**53 - 1, 2**53, 1e20, 1e21, 0.1)]
    [True, False, False, True, True]
    """
    return _SAFE_NUMBERS.is_valid(value)


def offences(value: Any, steps: Steps = ()) -> Iterator[Fault]:
    """Everything in *value* that canonical JSON cannot hold.

    >>> [str(fault) for fault in offences({"a": [float("nan")]})]
    ['$.a[0]: found nan, expected a finite number (RFC 8785 3.1)']
    """
    if isinstance(value, Mapping | list | tuple) and len(steps) >= MAX_DEPTH:
        yield _fault(steps, "deeper nesting", f"at most {MAX_DEPTH} levels")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _key_offences(key, steps)
            yield from offences(part, (*steps, key if isinstance(key, str) else repr(key)))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from offences(part, (*steps, index))
    else:
        yield from _scalar_offences(value, steps)


def without_offences(value: Any, level: int = 0) -> Any:
    """*value* with null wherever there is no JSON, so that the rest can be looked at too."""
    if isinstance(value, Mapping | list | tuple) and level >= MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        named = ((name, part) for name, part in value.items() if not any(_key_offences(name, ())))
        return {name: without_offences(part, level + 1) for name, part in named}
    if isinstance(value, list | tuple):
        return [without_offences(part, level + 1) for part in value]
    return None if any(_scalar_offences(value, ())) else value


def shortened(value: Any, most: int) -> Any:
    """*value* with every array cut to its first *most* elements: enough to see what is wrong with it."""
    if isinstance(value, Mapping):
        return {name: shortened(part, most) for name, part in value.items()}
    return [shortened(part, most) for part in value[:most]] if isinstance(value, list | tuple) else value


def unsafe_integer(value: Any, steps: Steps) -> Iterator[Fault]:
    """The fault of a float that stands for an integer beyond 2^53-1, if it is one."""
    if isinstance(value, float) and abs(value) > MAX_INTEGER:
        yield _fault(steps, describe(value), _SAFE_INTEGER)


def _key_offences(key: Any, steps: Steps) -> Iterator[Fault]:
    if not isinstance(key, str):
        yield _fault(steps, f"the key {describe(key)}", "keys that are strings")
    elif _SURROGATE.search(key):
        yield _fault(steps, f"a lone surrogate in the key {key!a}", "Unicode text")


def _scalar_offences(value: Any, steps: Steps) -> Iterator[Fault]:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if _SURROGATE.search(value):
            yield _fault(steps, "a lone surrogate", "Unicode text")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            yield _fault(steps, f"the integer {_shown(value)}", _SAFE_INTEGER)
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield _fault(steps, describe(value), "a finite number")
        elif value.is_integer() and MAX_INTEGER < abs(value) < SPELLED_AS_INTEGER:
            yield _fault(steps, f"the integer {int(value)}", _SAFE_INTEGER)
    else:
        yield _fault(steps, f"a Python {type(value).__name__}", "a JSON value")


def _shown(number: int) -> str:
    return str(number) if abs(number) < 10**40 else f"of {number.bit_length()} bits"


def _fault(steps: Steps, found: str, expected: str) -> Fault:
    return Fault(json_path(*steps), _CLAUSE, found, expected)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _NAME.fullmatch(step) else f"[{step!r}]"


# What callers ask with: texts and whole numbers, told apart from what only looks like them.

# What an error quotes of a value that is refused.
LONGEST_QUOTE = 60


def checked_text(name: str, value: object, way_out: str = "give it as the records spell it") -> str:
    """*value*, if it is text that can be looked for.

    Raises:
        InvalidRequest: no text, or none that UTF-8 can write; names the argument.

    >>> checked_text("artifact_id", 5)
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: artifact_id 5 is no text; give it as the records spell it
    """
    if not isinstance(value, str):
        raise InvalidRequest(name, quoted(value), "text", way_out)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidRequest(name, quoted(value), "valid Unicode", "leave out the lone surrogates")
    return value


def checked_whole(name: str, value: object, rule: str, least: int, most: int | None = None) -> int:
    """*value*, if it is a whole number from *least* to *most*.

    Raises:
        InvalidRequest: another type, or outside; names the argument.

    >>> checked_whole("limit", "3", "number of hits", 1, 500)
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: limit '3' is no number of hits; give 1 to 500
    """
    way_out = f"give {least} or more" if most is None else f"give {least} to {most}"
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        raise InvalidRequest(name, quoted(value), rule, way_out)
    return value


def checked_texts(name: str, value: object) -> list[str]:
    """*value* as a list, if it is one; a text alone would fall into its letters. None is an empty one.

    Raises:
        InvalidRequest: a text, or no sequence at all; names the argument.

    >>> checked_texts("inputs", "src/main.c")
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: inputs 'src/main.c' is no list of texts; give one, as in inputs=['...']
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise InvalidRequest(name, quoted(value), "list of texts", f"give one, as in {name}=['...']")
    return list(value)


def quoted(value: object) -> str:
    """*value* as an error quotes it, its beginning where it is long; Python writes no huge number in decimals.

    >>> quoted("ana"), quoted(10**5_000)[:6]
    ("'ana'", '0x31e2')
    """
    shown = hex(value) if isinstance(value, int) and abs(value) > MAX_INTEGER else repr(value)
    return shown if len(shown) <= LONGEST_QUOTE else f"{shown[:LONGEST_QUOTE]}\u2026"
