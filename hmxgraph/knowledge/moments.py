"""Times as callers give them, as microseconds."""

from datetime import datetime
from typing import TypeAlias

from hmxgraph.errors import InvalidTime
from hmxgraph.protocol.timestamps import microseconds, tellable

Moment: TypeAlias = str | datetime


def as_us(moment: Moment | None) -> int | None:
    """UTC microseconds of an ISO 8601 text or an aware datetime; None stays None.

    Raises:
        InvalidTime: the text is no ISO 8601 time with an offset, the datetime is naive, in UTC it is of no year from
            1 to 9999, or the value is neither.

    >>> as_us("1970-01-01T00:00:01Z")
    1000000

    """
    if moment is None:
        return None
    if isinstance(moment, str):
        return _told(microseconds(moment), moment)
    text = _aware(moment).isoformat()
    return _told(microseconds(text), text)


def _aware(moment: object) -> datetime:
    if not isinstance(moment, datetime):
        raise InvalidTime(repr(moment)[:60], "is no text and no datetime")
    if moment.tzinfo is None:
        raise InvalidTime(moment.isoformat(), "has no offset: give the datetime a time zone")
    return moment


def _told(us: int, text: str) -> int:
    """*us*, which answers can tell again; the calendar of Python ends where that of the wire goes on."""
    if not tellable(us):
        raise InvalidTime(text, "is of no year from 1 to 9999")
    return us
