"""What is plain JSON and what is not, told with the path of every offender."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import jsonschema_rs
import orjson

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import MAX_INTEGER
from hmxgraph.protocol.parsing import MAX_DEPTH, depth

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
