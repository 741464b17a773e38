"""Read JSON values of unknown shape: typed access without exceptions, times, and ids made from content."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Any

import orjson

from hmxgraph.errors import InvalidTime
from hmxgraph.formats.conversion import JsonObject, Origin, Record
from hmxgraph.protocol.lenient import spelled
from hmxgraph.protocol.timestamps import FIRST_US, LAST_US, iso, microseconds

# Typed access: a value if it has the expected type, else an empty one.

_SURROGATE = re.compile("[\ud800-\udfff]")


def mapping(value: Any) -> Mapping[str, Any]:
    """*value* if it is an object, else an empty one.

    >>> mapping({"a": 1}), mapping("a")
    ({'a': 1}, {})
    """
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """*value* if it is an array, else an empty one.

    >>> listed([1]), listed(None)
    ([1], [])
    """
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """*value* if it is text, with lone surrogates replaced; else "".

    >>> text("a"), text(7)
    ('a', '')
    """
    return unbroken(value) if isinstance(value, str) else ""


def name(value: Any) -> str:
    """*value* as a name or id: text, or a whole number as text; else "".

    >>> name("a"), name(7), name(True), name([])
    ('a', '7', '', '')
    """
    return unbroken(spelled(value)) if isinstance(value, str) or type(value) is int else ""


def unbroken(value: str) -> str:
    r"""*value* with lone surrogates replaced: truncated texts and odd file names may contain them; JSON must not.

    >>> unbroken("a\ud800"), unbroken("a")
    ('a\ufffd', 'a')
    """
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


def present(**fields: Any) -> JsonObject:
    """The fields that are neither None nor empty.

    >>> present(model="m", cwd="", parent=None, retries=0)
    {'model': 'm', 'retries': 0}
    """
    return {key: value for key, value in fields.items() if value is not None and value not in ("", [], {}, ())}


def fields_of(value: Mapping[str, Any]) -> str:
    """The field names of an object, in at most 80 characters, to describe an unexpected record in a fault.

    >>> fields_of({"a": 1, "b": 2}), fields_of({})
    ('fields a, b', 'an empty object')
    """
    return f"fields {', '.join(map(str, value))[:80]}" if value else "an empty object"


def parsed(value: str) -> Any:
    """The JSON value that the text *value* contains, None if it is not JSON.

    >>> parsed('{"a": 1}'), parsed("make all")
    ({'a': 1}, None)
    """
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None


# Moments: producers write ISO text, with or without an offset, or seconds, milliseconds, ... since 1970.

_SECOND_US = 1_000_000
# "2026-03-14T03:00:00Z", "2026-03-14 03:00:00,5+01", "2026-03-14T03:00Z[UTC]".
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)? ?(Z|z|UTC|[+-]\d\d(?::?\d\d)?)?(?:\[.*\])?")
# The unit of a number since 1970: nanoseconds above the first limit, microseconds above the second, milliseconds above
# the third, else seconds. Each limit is paired with the number of microseconds in its unit.
_UNITS = ((1e17, 1e-3), (1e14, 1.0), (1e11, 1e3))
# Number of digits of a current time in seconds, milliseconds, microseconds and nanoseconds since 1970.
_DIGITS = frozenset({10, 13, 16, 19})


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as an HMX-E timestamp, and in microseconds since 1970."""

    timestamp: str
    us: int


def moment(value: Any) -> Moment | None:
    """The time in *value*; None if it is not a time.

    It may be ISO text (in UTC if it has no offset), a date-time object, or the time since 1970: a number, or text of 10
    (seconds), 13 (milliseconds), 16 (microseconds) or 19 (nanoseconds) digits.

    >>> moment("2026-03-14T03:00:00Z").us == moment(1773457200).us == moment(1773457200000).us
    True
    >>> moment("2026-03-14 03:00:00").timestamp, moment("2026-03-14 03:00:00,5+01").timestamp, moment("yesterday")
    ('2026-03-14T03:00:00Z', '2026-03-14T03:00:00.5+01:00', None)
    """
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value)
    if isinstance(value, datetime):
        return _from_text(value.isoformat())
    iso_format = getattr(value, "iso_format", None)  # the DateTime of the Neo4j driver
    return _from_text(str(iso_format())) if callable(iso_format) else None


def _from_text(value: str) -> Moment | None:
    match = _ISO.fullmatch(value)
    if match is None:
        return _from_number(int(value)) if value.isdigit() and len(value) in _DIGITS else None
    day, clock, seconds, offset = match.groups()
    if offset in {None, "z", "Z", "UTC"}:
        offset = "Z"
    elif ":" not in offset:
        offset = f"{offset[:3]}:{offset[3:] or '00'}"
    timestamp = f"{day}T{clock}{(seconds or ':00').replace(',', '.')}{offset}"
    try:
        us = microseconds(timestamp)
    except InvalidTime:
        return None
    return Moment(timestamp, us) if FIRST_US <= us <= LAST_US else None


def _from_number(number: float) -> Moment | None:
    if not 0 < number < 1e20:  # False for NaN, too
        return None
    if isinstance(number, int) and number > _UNITS[0][0]:
        us = number // 1000  # exact: a float has too few digits for nanoseconds
    else:
        us = round(number * next((factor for limit, factor in _UNITS if number > limit), _SECOND_US))
    return Moment(iso(us), us) if 0 < us <= LAST_US else None


# Ids and sessions of records without them.

# Number of folders in the session name of a file. One is not enough: the log folders of different projects often have
# the same name.
_FOLDERS = 2
# The endings of a file name, such as ".jsonl.gz".
_ENDINGS = re.compile(r"(?:\.(?:ndjson|jsonl|json|log|txt|gz))+$", re.IGNORECASE)


def derived_id(*parts: Any) -> str:
    """An id that depends only on *parts*.

    >>> derived_id("chat", 1, "hi") == derived_id("chat", 1, "hi") != derived_id("chat", 2, "hi")
    True
    """
    return sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def session_of(record: Record, origin: Origin) -> str:
    """The session that the caller names, else one made from the last two folders and the file name of the source.

    "" if neither is known.

    >>> session_of(Record({}, "/data/support/2026/chat.7.jsonl.gz"), Origin())
    'support/2026/chat.7'
    """
    if origin.session_id or not record.source:
        return origin.session_id or ""
    path = PurePath(record.source)
    folders = [folder for folder in path.parts[:-1] if folder != path.anchor][-_FOLDERS:]
    return unbroken("/".join([*folders, _ENDINGS.sub("", path.name) or path.name]))
