"""The time that a question names, resolved against the moment from which it is asked."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from hmxgraph.protocol.timestamps import iso

DAY_US = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_HALF = ("january", "february", "march", "april", "may", "june")
_MONTHS = (*_FIRST_HALF, "july", "august", "september", "october", "november", "december")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "few": 3, "couple of": 2}
# "may" and "march" are verbs too, "mar" is one, "dec" and the like stand in identifiers.
_AMBIGUOUS = frozenset(name[:3] for name in _MONTHS) | {"march"}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH = "(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + r")\b\.?"
_YEAR = r"(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d))?"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, both ends in UTC microseconds, the end not part of it."""

    start_us: int
    end_us: int

    def distance_us(self, time_us: int) -> int:
        """How far *time_us* lies from the span; 0 inside it, doubled before it: what was is told after it was."""
        return max(2 * (self.start_us - time_us), time_us - self.end_us + 1, 0)

    def distances_us(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """:meth:`distance_us` of many times at once."""
        return np.maximum(np.maximum(2 * (self.start_us - times), times - self.end_us + 1), 0)

    def __str__(self) -> str:
        return f"{iso(self.start_us)}/{iso(self.end_us)}"


def time_reference(text: str, as_of_us: int) -> Span | None:
    """The first time that *text* names, as a span; None where it names none.

    Full dates, months, years, weekdays, and words such as "yesterday", "last week" or "two months ago" are
    understood; a month or weekday without a year is the latest one that had begun by *as_of_us*.

    >>> str(time_reference("What happened on 7 May 2023?", 0))
    '2023-05-07T00:00:00.000Z/2023-05-08T00:00:00.000Z'
    >>> str(time_reference("Who called yesterday?", 1_678_000_000_000_000))
    '2023-03-04T00:00:00.000Z/2023-03-05T00:00:00.000Z'

    """
    today = (_EPOCH + timedelta(microseconds=as_of_us)).date()
    found = _named(text.lower(), today)
    return next((Span(_us(start), _us(end)) for start, end in found), None)


def _named(text: str, today: date) -> Iterator[tuple[date, date]]:
    for pattern, resolve in _RULES:
        for match in pattern.finditer(text):
            try:
                span = resolve(match, today)
            except (ValueError, OverflowError):  # the 31st of June, or a time before the calendar
                continue
            if span is not None:
                yield span


def _us(day: date) -> int:
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def _iso_day(match: re.Match[str], _today: date) -> tuple[date, date]:
    return _days(date.fromisoformat(match.group()))


def _month_day(match: re.Match[str], today: date) -> tuple[date, date]:
    month, day = _month(match), int(match["day"])
    if match["year"]:
        return _days(date(int(match["year"]), month, day))
    this_year = date(today.year, month, day)
    return _days(this_year if this_year <= today else date(today.year - 1, month, day))


def _whole_month(match: re.Match[str], today: date) -> tuple[date, date] | None:
    if match["month"] in _AMBIGUOUS and not (match["year"] or match["in"]):
        return None
    month = _month(match)
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    return date(year, month, 1), date(year, month, monthrange(year, month)[1]) + timedelta(days=1)


def _whole_year(match: re.Match[str], _today: date) -> tuple[date, date]:
    return date(int(match["year"]), 1, 1), date(int(match["year"]) + 1, 1, 1)


def _near_day(match: re.Match[str], today: date) -> tuple[date, date]:
    return _days(today - timedelta(days=match[1] in {"yesterday", "last night"}))


def _last_unit(match: re.Match[str], today: date) -> tuple[date, date]:
    unit, now = match["unit"], match["which"] == "this"
    if unit == "weekend":
        saturday = today - timedelta(days=(today.weekday() + 2) % 7 or 7)
        return saturday, saturday + timedelta(days=2)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + (0 if now else 7))
        return monday, monday + timedelta(days=7)
    if unit == "month":
        first = today.replace(day=1) if now else (today.replace(day=1) - timedelta(days=1)).replace(day=1)
        return first, first + timedelta(days=monthrange(first.year, first.month)[1])
    year = today.year if now else today.year - 1
    return date(year, 1, 1), date(year + 1, 1, 1)


def _ago(match: re.Match[str], today: date) -> tuple[date, date]:
    number = int(match["n"]) if match["n"].isdigit() else _NUMBERS[match["n"]]
    unit = _UNIT_DAYS[match["unit"]]
    middle = today - timedelta(days=number * unit)
    return middle - timedelta(days=unit // 2), middle + timedelta(days=unit // 2 + 1)


def _weekday(match: re.Match[str], today: date) -> tuple[date, date]:
    back = (today.weekday() - _DAYS.index(match["day"])) % 7
    return _days(today - timedelta(days=back or 7))


def _days(day: date) -> tuple[date, date]:
    return day, day + timedelta(days=1)


def _month(match: re.Match[str]) -> int:
    return next(number for number, name in enumerate(_MONTHS, start=1) if name.startswith(match["month"][:3]))


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], tuple[date, date] | None]]
_RULES: tuple[_Rule, ...] = (
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), _iso_day),
    (re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}{_YEAR}"), _month_day),
    (re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d){_YEAR}"), _month_day),
    (
        re.compile(
            rf"(?P<in>\b(?:in|during|since|by|of|until|before|after|last|early|late|mid)[\s-]+)?\b{_MONTH}{_YEAR}"
        ),
        _whole_month,
    ),
    (re.compile(r"\b(today|tonight|yesterday|last night|this (?:morning|afternoon|evening))\b"), _near_day),
    (re.compile(r"\b(?P<which>last|previous|past|this) (?P<unit>weekend|week|month|year)\b"), _last_unit),
    (re.compile(r"\b(?P<n>\d{1,3}|" + "|".join(_NUMBERS) + r") (?P<unit>day|week|month|year)s? ago\b"), _ago),
    (re.compile(r"\b(?:last|on|this|past) (?P<day>" + "|".join(_DAYS) + r")\b"), _weekday),
    (re.compile(r"(?:\b(?:in|during|since|of|by|until|before|after)\s+)(?P<year>(?:19|20)\d\d)\b"), _whole_year),
)
