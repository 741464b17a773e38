"""The time that a question names, resolved relative to the moment of asking."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hmxgraph.protocol.timestamps import iso
from hmxgraph.recall import _time_rules
from hmxgraph.recall._time_rules import OFFSETS, TILL, TIME_RULES, Days, day, mask_month_verbs, months_later, start_us

# The words before the start of a range: "since" if the range ends now, else "between" or "from".
_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$")
_FROM = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$")
# Words before the only named end of an open range: "until Friday", "after May".
_OPEN = re.compile(r"\b(?:as of|by|until|till|up to|before|after)\s+(?:the\s+)?$")
# Words between the ends of a time range.
_TO = re.compile(rf"{TILL}(?:the\s+)?")
# Text allowed between "last Friday" and the date that specifies it.
_APPOSITION = re.compile(r"[\s,(]*(?:(?:of|in|on|during|the)\s+)*")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open time range in UTC microseconds."""

    start_us: int
    end_us: int

    def distance_us(self, time_us: int) -> int:
        """Return the distance of *time_us* from the span, 0 inside.

        Distances before the span count double, because events are usually reported after they happen.
        """
        return max(2 * (self.start_us - time_us), time_us - self.end_us + 1, 0)

    def distances_us(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return :meth:`distance_us` for many times at once."""
        return np.maximum(np.maximum(2 * (self.start_us - times), times - self.end_us + 1), 0)

    def __str__(self) -> str:
        return f"{iso(self.start_us)}/{iso(self.end_us)}"


class _Time(NamedTuple):
    """A time expression in a text: its position, its first day and the day after its last.

    ``is_calendar`` is false for times relative to the moment of asking, such as "last week"; ``full`` is true for
    calendar dates with a year.
    """

    start: int
    end: int
    days: Days
    is_calendar: bool
    full: bool


class NamedTime(NamedTuple):
    """A time that a text names, with its position; ``is_bounded`` marks calendar dates, but not open ranges."""

    span: Span
    start: int
    end: int
    is_bounded: bool = False


def named_time(text: str, as_of_us: int) -> NamedTime | None:
    """Return the first time that *text* names, with its position; None if it names none.

    Understands dates, months and parts of them, quarters, seasons, holidays, years, weekdays, expressions such as
    "yesterday", "last week" or "two months ago", and offsets from them. A month without a year is the latest one that
    had begun by *as_of_us*, a weekday the latest one before that day. "Since" extends the span to the end of the day of
    *as_of_us*, "from ... to" and "between ... and" to the end of the second time. A relative expression such as "last
    week" is ignored if a date with a year follows it, or any date directly.

    >>> named = named_time("What broke on 7 May 2023?", 0)
    >>> str(named.span), "What broke on 7 May 2023?"[named.start : named.end]
    ('2023-05-07T00:00:00.000Z/2023-05-08T00:00:00.000Z', '7 May 2023')
    >>> str(named_time("Who called the day before yesterday?", 1_678_000_000_000_000).span)
    '2023-03-03T00:00:00.000Z/2023-03-04T00:00:00.000Z'

    """
    today = day(as_of_us)
    plain = _lower(mask_month_verbs(text))
    times = sorted(_times(plain, today), key=_sort_key)
    remaining = _without_specified(plain, sorted([*times, *_offsets(plain, times)], key=_sort_key))
    first_time = next(remaining, None)
    if first_time is None:
        return None
    extended = _extended(plain, first_time, remaining, today)
    is_bounded = extended.is_calendar and not _OPEN.search(plain, 0, extended.start)
    return NamedTime(Span(*map(start_us, extended.days)), extended.start, extended.end, is_bounded)


def _lower(text: str) -> str:
    """Return *text* in lower case with every character at its original position."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _times(text: str, today: date) -> Iterator[_Time]:
    for pattern, resolve, is_calendar in (*TIME_RULES, *_time_rules.CALENDAR_RULES):
        for match in pattern.finditer(text):
            try:
                days = resolve(match, today)
            except (ValueError, OverflowError):  # the 31st of June, or a time before the calendar
                continue
            if days is not None:
                groups = match.groupdict()
                # The "in" of "in May" is not part of the time expression.
                start = match.end("in") if groups.get("in") else match.start()
                yield _Time(start, match.end(), days, is_calendar, is_calendar and bool(groups.get("year")))


def _sort_key(time: _Time) -> tuple[int, int]:
    """Sort by start; of times with the same start, the longest comes first."""
    return time.start, -time.end


def _offsets(text: str, times: Iterable[_Time]) -> Iterator[_Time]:
    """Yield times offset from one of *times*, such as "two weeks before 11 August"."""
    # Of times with the same start, the longest comes first.
    longest: dict[int, _Time] = {}
    for time in times:
        longest.setdefault(time.start, time)
    for pattern, resolve in OFFSETS if longest else ():
        for match in pattern.finditer(text):
            base = longest.get(match.end())
            if base is None:
                continue
            try:
                yield base._replace(start=match.start(), days=resolve(match, base.days))
            except (ValueError, OverflowError):
                continue


def _without_specified(text: str, times: list[_Time]) -> Iterator[_Time]:
    """Yield *times* without relative times that a later date specifies: in "last Friday, 5 May", only "5 May" is kept.

    That is any later date with a year, or a date directly after the relative time.
    """
    last_full_date = max((time.start for time in times if time.full), default=-1)
    calendar_starts = {time.start for time in times if time.is_calendar}
    for time in times:
        apposition = _APPOSITION.match(text, time.end)
        specified = last_full_date >= time.end or (apposition and apposition.end() in calendar_starts)
        if time.is_calendar or not specified:
            yield time


def _extended(text: str, first_time: _Time, later: Iterable[_Time], today: date) -> _Time:
    """Return *first_time*, extended to the end of the next time ("from", "between") or of *today* ("since")."""
    try:
        if _SINCE.search(text, 0, first_time.start):
            return first_time._replace(days=(first_time.days[0], max(first_time.days[1], today + timedelta(days=1))))
        if _FROM.search(text, 0, first_time.start):
            other = next((time for time in later if _TO.fullmatch(text, first_time.end, time.start)), first_time)
            begin, end = _range_start(first_time, other), other.days[1]
            return first_time._replace(days=(begin, end), end=other.end) if begin < end else first_time
    except (ValueError, OverflowError):  # beyond the calendar
        pass
    return first_time


def _range_start(first: _Time, last: _Time) -> date:
    """Return the first day of *first*; if it names no year, in the latest year before the end of *last*."""
    begin, end = first.days[0], last.days[1]
    if first.full or not first.is_calendar or begin < end:
        return begin
    begin = months_later(begin, 12 * (end.year - begin.year))
    return begin if begin < end else months_later(begin, -12)
