"""Days of the calendar: the one that an instant is on, when one begins, and months from there."""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# A first day and the one after the last.
Days: TypeAlias = tuple[date, date]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=10_000)
def day(time_us: int) -> date:
    """The UTC date of a time.

    Raises:
        OverflowError: it is of no year from 1 to 9999.

    >>> str(day(0))
    '1970-01-01'

    """
    return (_EPOCH + timedelta(microseconds=time_us)).date()


def start_us(of: date) -> int:
    """The first instant of a day, in UTC microseconds.

    >>> start_us(date(1970, 1, 2))
    86400000000

    """
    return (datetime(of.year, of.month, of.day, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def one_day(of: date) -> Days:
    """From that day to the next."""
    return of, of + timedelta(days=1)


def month_of(one: date) -> Days:
    """The month that a day is in."""
    first = one.replace(day=1)
    return first, first + timedelta(days=monthrange(first.year, first.month)[1])


def months_later(one: date, months: int) -> date:
    """The same day so many months later, or the last of that month."""
    year, month = divmod(one.year * 12 + one.month - 1 + months, 12)
    return date(year, month + 1, min(one.day, monthrange(year, month + 1)[1]))
