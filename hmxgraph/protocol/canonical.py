"""Canonical JSON (RFC 8785), the SHA-256 hashes taken over it, and the ids derived from them."""

import hashlib
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

MAX_INTEGER = 2**53 - 1
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_TEXT = frozenset({str})
# The parts of a document mostly have the same few keys; of those it is remembered that they are plain.
_FEW_KEYS = 12
# What orjson always writes as RFC 8785 wants it; a fragment is canonical text already.
_SAME = frozenset({str, int, bool, type(None), orjson.Fragment})


def canonical_bytes(value: Any) -> bytes:
    r"""The one UTF-8 encoding of *value* that RFC 8785 allows.

    orjson writes it where its text is the same, which a property test compares with the rfc8785 library.

    Raises: NotCanonical for NaN, infinities, lone surrogates, integers beyond 2^53-1, keys that are no text
    and values that are no JSON.

    >>> canonical_bytes({"b": 1.0, "a": [True, None, "\u20ac"]})
    b'{"a":[true,null,"\xe2\x82\xac"],"b":1}'
    """
    try:
        return orjson.dumps(value if _alike(value) else _spelled(value), option=_SORTED)
    except NotCanonical:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(str(error)) from error


def canonical_text(value: Any) -> str:
    """The same as text.

    >>> canonical_text({"b": 1e21, "a": "x"})
    '{"a":"x","b":1e+21}'
    """
    return canonical_bytes(value).decode()


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of *data* in lowercase hexadecimal.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(data).hexdigest()


def content_hash(value: Any) -> str:
    """The hash by which equal knowledge is recognised (HMX-A 8): hex SHA-256 of the canonical *value*.

    >>> content_hash({"a": 1, "b": None}) == content_hash({"b": None, "a": 1.0})
    True
    """
    return sha256_hex(canonical_bytes(value))


def _alike(value: Any) -> bool:
    """Whether orjson with sorted keys writes *value* exactly as RFC 8785 wants it.

    Both escape strings alike. They part at keys outside ASCII (UTF-8 order is not UTF-16 order, 3.2.3) and at floats
    that either writes with an exponent, or that are integral (orjson keeps ".0", 3.2.2.3).
    """
    kind = type(value)
    if kind is dict:
        plain = _remembered_plain if len(value) <= _FEW_KEYS else _plain
        return plain(tuple(value)) and _parts_alike(value.values())
    if kind is list or kind is tuple:
        return _parts_alike(value)
    return kind in _SAME or (kind is float and _float_alike(value))


def _plain(keys: tuple[Any, ...]) -> bool:
    """Whether these are texts of ASCII."""
    return _TEXT.issuperset(map(type, keys)) and all(map(str.isascii, keys))


_remembered_plain = lru_cache(maxsize=1_024)(_plain)


def _parts_alike(parts: Collection[Any]) -> bool:
    for part in parts:
        # Nearly all parts are plain or floats: to ask about them here saves a third of the time.
        kind = type(part)
        if kind not in _SAME and not (_float_alike(part) if kind is float else _alike(part)):
            return False
    return True


def _float_alike(number: float) -> bool:
    return 1e-4 <= abs(number) < 1e15 and not number.is_integer()


def _spelled(value: Any) -> Any:
    """*value* with everything spelled out that orjson would write otherwise."""
    if isinstance(value, float):
        return orjson.Fragment(_number(value))
    if isinstance(value, list | tuple):
        return [_spelled(part) for part in value]
    if value is None or isinstance(value, str | int | orjson.Fragment):
        return value
    if not isinstance(value, dict):
        raise NotCanonical(f"a Python {type(value).__name__} is no JSON value")
    if all(isinstance(key, str) and key.isascii() for key in value):
        return {key: _spelled(part) for key, part in value.items()}
    return orjson.Fragment(rfc8785.dumps(value))


def _number(number: float) -> str:
    """A float as ECMAScript prints it (RFC 8785 3.2.2.3): an exponent below 1e-6 and from 1e21 on, no ".0"."""
    if not math.isfinite(number):
        raise NotCanonical(f"{number} is no JSON number")
    if number.is_integer() and abs(number) <= MAX_INTEGER:
        return str(int(number))
    digits, _, exponent = repr(number).partition("e")
    if not exponent or not -7 < int(exponent) < 21:
        return f"{digits}e{int(exponent):+d}" if exponent else digits.removesuffix(".0")
    sign, digits = ("-", digits[1:]) if number < 0 else ("", digits)
    whole, _, fraction = digits.partition(".")
    if number.is_integer():
        return sign + whole + fraction.ljust(int(exponent), "0")
    return f"{sign}0.{'0' * (-int(exponent) - 1)}{whole}{fraction}"


# Names that follow from what they name: UUIDv5 ids and node keys.

NAMESPACE = UUID("5f1d7a62-6c0b-5a53-9a0e-5f8f5d1f8a10")
# The most characters of a text that an index holds as it is.
LONGEST_INDEXED = 1_024


def stable_id(*parts: str) -> str:
    """The UUIDv5 of the NUL-joined *parts*: the same parts give the same id everywhere.

    >>> stable_id("acme", "task_schema", "deploy", "1") == stable_id("acme", "task_schema", "deploy", "1")
    True

    """
    return str(uuid5(NAMESPACE, "\0".join(parts)))


def node_key(tenant_id: str, *parts: str) -> str:
    """The key of a node: hex SHA-256 of tenant and *parts*, NUL-joined, so that ids of any length can be indexed.

    >>> len(node_key("acme", "evt-001"))
    64

    """
    return sha256("\0".join((tenant_id, *parts)).encode()).hexdigest()


def indexable(text: str) -> str:
    """*text* as an index can hold it: itself, or, where it is too long for one, its beginning and its hash.

    No text that is short enough reads like that, so that two names never meet.

    >>> indexable("ana"), len(indexable("a" * 40_000)), indexable("a" * 40_000) == indexable("a" * 40_001)
    ('ana', 1089, False)

    """
    if len(text) <= LONGEST_INDEXED:
        return text
    return f"{text[:LONGEST_INDEXED]}\u2026{sha256(text.encode()).hexdigest()}"
