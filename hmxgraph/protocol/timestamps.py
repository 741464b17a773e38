"""Timestamps of the wire (RFC 3339: ISO 8601 with an offset) as microseconds since 1970, and back."""

import functools
import re
from datetime import UTC, datetime, timedelta

from hmxgraph.errors import InvalidTime

_EPOCH_DAY = datetime(1970, 1, 1, tzinfo=UTC).toordinal()
_DAYS_IN_400_YEARS = 146_097
_SECOND = 1_000_000  # microseconds
DAY_US = 86_400 * _SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The first and the last instant that :func:`iso` can format. Timestamps of the wire may lie outside: they may be in
# year 0, and an offset can move them out of these years by up to a day.
FIRST_US = -62_135_596_800 * _SECOND
LAST_US = 253_402_300_800 * _SECOND - 1
# How errors describe an instant that :func:`iso` can format.
REPRESENTABLE = "a time in the years 1 to 9999, in UTC"


def microseconds(text: str) -> int:
    """The instant of *text* in UTC microseconds since 1970.

    A leap second counts as the first instant of the next minute; fractional digits after the sixth are ignored.

    Raises:
        InvalidTime: *text* is not an RFC 3339 date-time; for example, it has no offset.

    >>> microseconds("1970-01-01T01:00:00.5+01:00")
    500000
    """
    match = _pattern().fullmatch(text)
    if match is None:
        raise InvalidTime(text, "is not an ISO 8601 date-time with an offset")
    year, month, day, hour, minute, second = (int(part) for part in match.group(1, 2, 3, 4, 5, 6))
    offset = _offset_minutes(match)
    # A leap second (60) is legal only in the last minute of a day in UTC.
    if hour > 23 or minute > 59 or second > 60 or (second == 60 and (hour * 60 + minute - offset) % 1440 != 1439):
        raise InvalidTime(text, "has an impossible time of day")
    seconds = (hour * 60 + minute - offset) * 60 + second
    fraction = int(((match.group(7) or "") + "000000")[:6])
    return _day(year, month, day, text) * DAY_US + seconds * _SECOND + fraction


def iso(us: int) -> str:
    """The instant *us* as ISO 8601 in UTC, with milliseconds, or with microseconds if it is not a whole millisecond.

    >>> iso(1773457200000000), iso(1)
    ('2026-03-14T03:00:00.000Z', '1970-01-01T00:00:00.000001Z')
    """
    time = _EPOCH + timedelta(microseconds=us)
    return time.isoformat(timespec="microseconds" if us % 1000 else "milliseconds").removesuffix("+00:00") + "Z"


def is_representable(us: int) -> bool:
    """Whether :func:`iso` can format the instant *us*: it lies in the years 1 to 9999, in UTC.

    >>> [is_representable(microseconds(f"9999-12-31T23:59:59{offset}")) for offset in ("Z", "-01:00")]
    [True, False]
    """
    return FIRST_US <= us <= LAST_US


@functools.cache
def _pattern() -> re.Pattern[str]:
    """The parts of an RFC 3339 date-time, such as ``2026-03-14T03:00:00.5+01:00``, as groups."""
    return re.compile(
        r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
    )


def _offset_minutes(match: re.Match[str]) -> int:
    sign, hours, minutes = match.group(8, 9, 10)
    if sign is None:
        return 0
    if int(hours) > 23 or int(minutes) > 59:
        raise InvalidTime(match.group(), "has an impossible offset")
    return int(sign + "1") * (int(hours) * 60 + int(minutes))


def _day(year: int, month: int, day: int, text: str) -> int:
    """Days since 1970; year 0, which datetime lacks, equals year 400 because the calendar repeats every 400 years."""
    try:
        ordinal = datetime(year or 400, month, day, tzinfo=UTC).toordinal()
    except ValueError as error:
        raise InvalidTime(text, "has an impossible date") from error
    return ordinal - _EPOCH_DAY - (0 if year else _DAYS_IN_400_YEARS)
