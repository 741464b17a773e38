"""Canonical JSON (RFC 8785) and its SHA-256 hashes; ids and node keys derived from texts."""

import math
from collections.abc import Collection
from functools import lru_cache
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

import orjson
import rfc8785

from hmxgraph.errors import NotCanonical

# Canonical JSON (RFC 8785) and the SHA-256 hashes taken over it.

# Up to this absolute value, a float holds every integer exactly.
MAX_INTEGER = 2**53 - 1
_ORJSON_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_STR_ONLY = frozenset({str})
# Cache the key check for objects of at most this many keys: most objects in documents share a few sets of keys.
_FEW_KEYS = 12
# Types that orjson always writes as RFC 8785 requires. An `orjson.Fragment` holds text that is canonical already.
_ALWAYS_CANONICAL = frozenset({str, int, bool, type(None), orjson.Fragment})


def canonical_bytes(value: Any) -> bytes:
    r"""The canonical UTF-8 encoding of *value* (RFC 8785).

    orjson does the writing, except for numbers and keys that it would not write canonically. A property test compares
    the result with that of the rfc8785 library.

    Raises:
        NotCanonical: *value* has NaN, an infinity, a lone surrogate, an integer beyond 2^53-1, a key that is not a
            string, or something that is not JSON, or is nested too deeply.

    >>> canonical_bytes({"b": 1.0, "a": [True, None, "\u20ac"]})
    b'{"a":[true,null,"\xe2\x82\xac"],"b":1}'
    """
    try:
        return orjson.dumps(value if _orjson_agrees(value) else _with_fragments(value), option=_ORJSON_OPTIONS)
    except NotCanonical:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(str(error)) from error


def canonical_text(value: Any) -> str:
    """:func:`canonical_bytes` as a string.

    >>> canonical_text({"b": 1e21, "a": "x"})
    '{"a":"x","b":1e+21}'
    """
    return canonical_bytes(value).decode()


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of *data* in lowercase hexadecimal.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    return sha256(data).hexdigest()


def content_hash(value: Any) -> str:
    """The content hash of *value* (HMX-A 8): hex SHA-256 of its canonical JSON.

    >>> content_hash({"a": 1, "b": None}) == content_hash({"b": None, "a": 1.0})
    True
    """
    return sha256_hex(canonical_bytes(value))


def _orjson_agrees(value: Any) -> bool:
    """Whether orjson with sorted keys writes *value* exactly as RFC 8785 requires.

    String escapes are always identical. The two may differ in:

    - the order of keys that are not ASCII: orjson sorts by UTF-8, RFC 8785 3.2.3 by UTF-16,
    - very large and very small floats, because they use an exponent in different ranges,
    - whole floats: orjson writes ``1.0``, RFC 8785 3.2.2.3 ``1``.
    """
    kind = type(value)
    if kind is dict:
        are_ascii = _are_ascii_cached if len(value) <= _FEW_KEYS else _are_ascii
        return are_ascii(tuple(value)) and _orjson_agrees_on_all(value.values())
    if kind is list or kind is tuple:
        return _orjson_agrees_on_all(value)
    return kind in _ALWAYS_CANONICAL or (kind is float and _orjson_agrees_on_float(value))


def _are_ascii(keys: tuple[Any, ...]) -> bool:
    return _STR_ONLY.issuperset(map(type, keys)) and all(map(str.isascii, keys))


_are_ascii_cached = lru_cache(maxsize=1_024)(_are_ascii)


def _orjson_agrees_on_all(parts: Collection[Any]) -> bool:
    for part in parts:
        # Nearly all parts are scalars: checking them here, without a recursive call, saves a third of the check's time.
        kind = type(part)
        if kind not in _ALWAYS_CANONICAL and not (
            _orjson_agrees_on_float(part) if kind is float else _orjson_agrees(part)
        ):
            return False
    return True


def _orjson_agrees_on_float(number: float) -> bool:
    """Whether *number* is neither whole nor so large or small that orjson or RFC 8785 may write an exponent."""
    return 1e-4 <= abs(number) < 1e15 and not number.is_integer()


def _with_fragments(value: Any) -> Any:
    """*value* with an `orjson.Fragment` of canonical text wherever orjson's own output would differ from it."""
    if isinstance(value, float):
        return orjson.Fragment(_number(value))
    if isinstance(value, list | tuple):
        return [_with_fragments(part) for part in value]
    if value is None or isinstance(value, str | int | orjson.Fragment):
        return value
    if not isinstance(value, dict):
        raise NotCanonical(f"a Python {type(value).__name__} is not a JSON value")
    if all(isinstance(key, str) and key.isascii() for key in value):
        return {key: _with_fragments(part) for key, part in value.items()}
    return orjson.Fragment(rfc8785.dumps(value))


def _number(number: float) -> str:
    """A float as ECMAScript prints it (RFC 8785 3.2.2.3): no ".0", an exponent only below 1e-6 and from 1e21 on."""
    if not math.isfinite(number):
        raise NotCanonical(f"{number} is not a JSON number")
    if number.is_integer() and abs(number) <= MAX_INTEGER:
        return str(int(number))
    digits, _, exponent = repr(number).partition("e")
    if not exponent or not -7 < int(exponent) < 21:
        return f"{digits}e{int(exponent):+d}" if exponent else digits.removesuffix(".0")
    sign, digits = ("-", digits[1:]) if number < 0 else ("", digits)
    integer_part, _, fraction = digits.partition(".")
    if number.is_integer():
        return sign + integer_part + fraction.ljust(int(exponent), "0")
    return f"{sign}0.{'0' * (-int(exponent) - 1)}{integer_part}{fraction}"


# Derived ids: UUIDv5 ids and node keys.

# Every derived id depends on this namespace: never change it.
NAMESPACE = UUID("5f1d7a62-6c0b-5a53-9a0e-5f8f5d1f8a10")
# Longest text, in characters, that is indexed as it is; a longer one is indexed by its beginning and a hash.
LONGEST_INDEXED = 1_024


def stable_id(*parts: str) -> str:
    """The UUIDv5 of the NUL-joined *parts*: the same parts give the same id everywhere.

    >>> stable_id("acme", "task_schema", "deploy", "1") == stable_id("acme", "task_schema", "deploy", "1")
    True

    """
    return str(uuid5(NAMESPACE, "\0".join(parts)))


def node_key(tenant_id: str, *parts: str) -> str:
    """The key of a node: hex SHA-256 of the tenant and *parts*, NUL-joined.

    The key is a hash because Neo4j limits the length of indexed values.

    >>> len(node_key("acme", "evt-001"))
    64

    """
    return sha256("\0".join((tenant_id, *parts)).encode()).hexdigest()


def indexable(text: str) -> str:
    """*text* itself if it is short enough for an index, else its beginning and its hash.

    The result for a long text is longer than ``LONGEST_INDEXED``, so it never equals a short text.

    >>> indexable("ana"), len(indexable("a" * 40_000)), indexable("a" * 40_000) == indexable("a" * 40_001)
    ('ana', 1089, False)

    """
    if len(text) <= LONGEST_INDEXED:
        return text
    return f"{text[:LONGEST_INDEXED]}\u2026{sha256(text.encode()).hexdigest()}"
