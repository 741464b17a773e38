"""The time that a question names, resolved against the moment from which it is asked."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hmxgraph.protocol.timestamps import iso
from hmxgraph.recall import _time_rules
from hmxgraph.recall._time_rules import OFFSETS, TILL, TIME_RULES, Days, day, months_later, start_us, without_verbs

# What stands before and between the ends of a longer time.
_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$")
_FROM = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$")
_TO = re.compile(rf"{TILL}(?:the\s+)?")
# What may stand between words such as "last Friday" and the date that tells which one.
_APPOSITION = re.compile(r"[\s,(]*(?:(?:of|in|on|during|the)\s+)*")


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


class _Time(NamedTuple):
    """A time as it stands in a text: where, its first day and the day after its last, and whether it is a date.

    Other times are told from the moment of asking, such as "last week"; ``full`` dates name their year.
    """

    start: int
    end: int
    days: Days
    dated: bool
    full: bool


class NamedTime(NamedTuple):
    """A time that a text names, and where it does."""

    span: Span
    start: int
    end: int


def time_reference(text: str, as_of_us: int) -> Span | None:
    """The first time that *text* names, as a span; None where it names none.

    Full dates, months, quarters, years, weekdays, and words such as "yesterday", "last week" or "two months ago" are
    understood, and what lies so long before or after them; a month or weekday without a year is the latest one that
    had begun by *as_of_us*. "Since" reaches until then, "from ... to" and "between ... and" to the other time. Words
    such as "last week" give way to a full date after them: they were told from there.

    >>> str(time_reference("What happened on 7 May 2023?", 0))
    '2023-05-07T00:00:00.000Z/2023-05-08T00:00:00.000Z'
    >>> str(time_reference("Who called the day before yesterday?", 1_678_000_000_000_000))
    '2023-03-03T00:00:00.000Z/2023-03-04T00:00:00.000Z'

    """
    found = named_time(text, as_of_us)
    return None if found is None else found.span


def named_time(text: str, as_of_us: int) -> NamedTime | None:
    """:func:`time_reference` with its place in *text*.

    >>> named = named_time("What broke on 18 March?", 0)
    >>> "What broke on 18 March?"[named.start : named.end]
    '18 March'

    """
    today = day(as_of_us)
    plain = _lower(without_verbs(text))
    times = sorted(_times(plain, today), key=_place)
    standing = _standing(plain, sorted([*times, *_offset(plain, times)], key=_place))
    found = next(standing, None)
    if found is None:
        return None
    reaching = _reaching(plain, found, standing, today)
    return NamedTime(Span(*map(start_us, reaching.days)), reaching.start, reaching.end)


def _lower(text: str) -> str:
    """*text* in small letters, each in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := mark.lower()) == 1 else mark for mark in text)


def _times(text: str, today: date) -> Iterator[_Time]:
    for pattern, resolve, dated in (*TIME_RULES, *_time_rules.CALENDAR_RULES):
        for match in pattern.finditer(text):
            try:
                days = resolve(match, today)
            except (ValueError, OverflowError):  # the 31st of June, or a time before the calendar
                continue
            if days is not None:
                groups = match.groupdict()
                start = match.end("in") if groups.get("in") else match.start()
                yield _Time(start, match.end(), days, dated, dated and bool(groups.get("year")))


def _place(time: _Time) -> tuple[int, int]:
    """What comes first, and of several in one place the longest."""
    return time.start, -time.end


def _offset(text: str, times: Iterable[_Time]) -> Iterator[_Time]:
    """Times so long before or after one of *times*, such as "two weeks before 11 August"."""
    first: dict[int, _Time] = {}
    for time in times:
        first.setdefault(time.start, time)
    for pattern, resolve in OFFSETS if first else ():
        for match in pattern.finditer(text):
            base = first.get(match.end())
            if base is None:
                continue
            try:
                yield base._replace(start=match.start(), days=resolve(match, base.days))
            except (ValueError, OverflowError):
                continue


def _standing(text: str, times: list[_Time]) -> Iterator[_Time]:
    """*times* without those that are told from a date after them."""
    full = max((time.start for time in times if time.full), default=-1)
    dated = {time.start for time in times if time.dated}
    for time in times:
        beside = _APPOSITION.match(text, time.end)
        if time.dated or not (full >= time.end or (beside and beside.end() in dated)):
            yield time


def _reaching(text: str, found: _Time, later: Iterable[_Time], today: date) -> _Time:
    """*found* to the end of the next time, or until *today*, where the words around it say so."""
    try:
        if _SINCE.search(text, 0, found.start):
            return found._replace(days=(found.days[0], max(found.days[1], today + timedelta(days=1))))
        if _FROM.search(text, 0, found.start):
            other = next((time for time in later if _TO.fullmatch(text, found.end, time.start)), found)
            begin, end = _before(found, other), other.days[1]
            return found._replace(days=(begin, end), end=other.end) if begin < end else found
    except (ValueError, OverflowError):  # beyond the calendar
        pass
    return found


def _before(first: _Time, last: _Time) -> date:
    """The day on which *first* begins; where only *last* names its year, the one before that."""
    begin, end = first.days[0], last.days[1]
    if first.full or not first.dated or begin < end:
        return begin
    begin = months_later(begin, 12 * (end.year - begin.year))
    return begin if begin < end else months_later(begin, -12)
