"""Any JSON text as a value: what strict JSON refuses is kept as text, with a warning for each kind."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from hmxgraph.errors import MalformedJson
from hmxgraph.protocol.parsing import parse_json

# Deeper values are kept as text: an event may be nested 64 deep, and its content lies inside it.
DEEPEST = 60
_LONGEST_NUMBER = 4_000  # digits; Python refuses to convert longer ones
_SIGN = re.compile(rb'["\[\]{}]')
_IN_STRING = re.compile(rb'"|\\.', re.DOTALL)
_DEEP = f"what is nested deeper than {DEEPEST} is kept as text"
_REPEATED = "values of a repeated key are kept as text, the last one as its value"
_NUMBER = "a number beyond all floats is kept as text"


def parse_any(data: bytes | bytearray | str) -> tuple[Any, tuple[str, ...]]:
    """The value of JSON text, and a warning for each kind of value that was kept as text.

    Raises:
        MalformedJson: the text is no JSON at all.

    >>> parse_any('{"a": 1, "a": 2}')[0]
    {'a': 2, 'a (repeated)': ['1']}
    >>> parse_any(b"[" * 65 + b"]" * 65)[1]
    ('what is nested deeper than 60 is kept as text',)
    """
    try:
        return parse_json(data), ()
    except MalformedJson as error:
        try:
            return _parsed(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data))
        except (ValueError, RecursionError):
            raise error from None


def _parsed(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    flat = b"".join(_flattened(raw))
    warnings = dict.fromkeys([_DEEP] if flat != raw else [])

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        warnings.setdefault(_REPEATED)
        last = {name: place for place, (name, _) in enumerate(pairs)}
        for place, (name, part) in enumerate(pairs):
            if place < last[name]:
                value.setdefault(f"{name} (repeated)", []).append(json.dumps(part, ensure_ascii=False))
        return value

    def whole(digits: str) -> int | str:
        return int(digits) if len(digits) <= _LONGEST_NUMBER else digits

    def fraction(digits: str) -> float | str:
        number = float(digits)
        if math.isfinite(number):
            return number
        warnings.setdefault(_NUMBER)
        return digits

    value = json.loads(
        flat.decode(), object_pairs_hook=members, parse_int=whole, parse_float=fraction, parse_constant=_refused
    )
    return value, tuple(warnings)


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _flattened(raw: bytes) -> Iterator[bytes]:
    """*raw* with every value nested deeper than ``DEEPEST`` as a JSON string of its text."""
    depth = start = end = at = 0
    in_string = False
    while sign := (_IN_STRING if in_string else _SIGN).search(raw, at):
        at = sign.end()
        if sign.group() == b'"':
            in_string = not in_string
        elif in_string:
            continue
        elif sign.group() in b"[{":
            depth += 1
            if depth == DEEPEST + 1:
                start = sign.start()
        else:
            depth -= 1
            if depth == DEEPEST:
                yield raw[end:start]
                yield json.dumps(raw[start:at].decode("utf-8", "replace")).encode()
                end = at
    yield raw[end:]
