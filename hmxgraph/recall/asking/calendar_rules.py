"""More of how times are told in English: parts of a month, seasons, feasts, dates in digits, weekdays counted back.

Rules as those of ``time_rules``. A season is one of the northern half of the earth; a date in digits is read where its
order leaves no doubt: with dots the day comes first.
"""

import re
from datetime import date, timedelta
from math import ceil

from hmxgraph.recall.asking.days import WEEKDAYS, Days, month_of, months_later, one_day
from hmxgraph.recall.asking.time_rules import (
    DAY,
    FIRST_NUMBERS,
    MONTH,
    NUMBER,
    YEAR,
    Rule,
    first_of_month,
    month_number,
    number_of,
    year_of,
)

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_FEASTS = {
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "boxing day": (12, 26, 1),
    "christmas": (12, 24, 3),
    "new year's eve": (12, 31, 1),
    "new year's day": (1, 1, 1),
    "new year's": (1, 1, 1),
    "valentine's day": (2, 14, 1),
    "halloween": (10, 31, 1),
}
_NAMES = "|".join((*_FEASTS, "easter", "thanksgiving"))
# What may be words of the matter, too, not only a time.
OCCASIONS = "|".join((*_SEASONS, _NAMES))
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 0}
_AT = r"(?P<in>\b(?:in|on|at|over|during|around|since|by|until|before|after|from|between)\s+(?:the\s+)?)"
_WHICH = r"(?P<which>\b(?:last|this|the past)\s+)"


def _part_of_month(match: re.Match[str], today: date) -> Days:
    """Some ten days of a month, a half or a week of it; without a year of the latest that had begun."""
    first, end = month_of(first_of_month(month_number(match["month"]), match, today))
    last = (end - timedelta(days=1)).day
    begins, ends = _part(match, last)
    return first.replace(day=begins), first.replace(day=ends) + timedelta(days=1)


def _part(match: re.Match[str], last: int) -> tuple[int, int]:
    if match["week"]:
        week = _ORDINALS[match["week"]]
        return (7 * week - 6, 7 * week) if week else (last - 6, last)
    if match["half"]:
        return (1, 15) if match["half"] in {"first", "1st"} else (16, last)
    if match["part"] in {"early", "beginning of", "start of"}:
        return 1, 10
    return (11, 20) if match["part"].startswith("mid") else (21, last)


def _season(match: re.Match[str], today: date) -> Days | None:
    """Three months; "last" ones are over, others the latest that had begun."""
    first_month = _SEASONS[match["season"]]
    year = year_of(match, today)
    if year is not None:
        return _three_months(date(year, first_month, 1))
    if not (match["in"] or match["which"]):
        return None
    days = _three_months(date(today.year, first_month, 1))
    over = (match["which"] or "").startswith(("last", "the past"))
    return days if (days[1] <= today if over else days[0] <= today) else _three_months(months_later(days[0], -12))


def _three_months(first: date) -> Days:
    return first, months_later(first, 3)


def _feast(match: re.Match[str], today: date) -> Days | None:
    """The days of a feast: of the year that is named, else the latest that had begun."""
    year = year_of(match, today)
    if year is not None:
        return _feast_of(match["feast"], year)
    if not (match["in"] or match["which"]):
        return None
    days = _feast_of(match["feast"], today.year)
    return days if days[0] <= today else _feast_of(match["feast"], today.year - 1)


def _feast_of(name: str, year: int) -> Days:
    if name == "easter":
        sunday = _easter(year)
        return sunday - timedelta(days=2), sunday + timedelta(days=2)
    if name == "thanksgiving":
        first = date(year, 11, 1)
        thursday = first + timedelta(days=(3 - first.weekday()) % 7 + 21)
        return thursday, thursday + timedelta(days=1)
    month, day, length = _FEASTS[name]
    first = date(year, month, day)
    return first, first + timedelta(days=length)


def _easter(year: int) -> date:
    """Easter Sunday by the Gregorian calendar (J. Meeus, "Astronomical Algorithms", chapter 8)."""
    century, of_century = divmod(year, 100)
    leaps, rest = divmod(century, 4)
    shift = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * (year % 19) + century - leaps - shift + 15) % 30
    fourths, ones = divmod(of_century, 4)
    weekday = (32 + 2 * rest + 2 * fourths - moon - ones) % 7
    late = (year % 19 + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _digits(match: re.Match[str], _today: date) -> Days | None:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if match["mark"] != "." and first <= 12 and second <= 12 and first != second:
        return None
    day_first = match["mark"] == "." or first > 12
    day, month = (first, second) if day_first else (second, first)
    return one_day(date(year, month, day))


def _weekdays_ago(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["day"])) % 7 or 7
    return one_day(today - timedelta(days=back + 7 * int(number_of(match["n"]) - 1)))


def _hours(match: re.Match[str], today: date) -> Days:
    return today - timedelta(days=ceil(number_of(match["n"]) / 24)), today + timedelta(days=1)


RULES: tuple[Rule, ...] = (
    Rule(
        re.compile(
            r"\b(?:(?P<part>early|beginning of|start of|mid|middle of|late|end of)"
            rf"|(?P<half>first|1st|second|2nd) half of|(?P<week>{'|'.join(_ORDINALS)}) week (?:of|in))"
            rf"[\s-]+{MONTH}{YEAR}"
        ),
        _part_of_month,
        dated=True,
    ),
    Rule(re.compile(rf"(?:{_AT}|{_WHICH})?\b(?P<season>{'|'.join(_SEASONS)}){YEAR}"), _season, dated=True),
    Rule(re.compile(rf"(?:{_AT}|{_WHICH})?\b(?P<feast>{_NAMES})\b{YEAR}"), _feast, dated=True),
    Rule(
        re.compile(
            r"(?<![\d./-])(?P<first>\d{1,2})(?P<mark>[./-])\s?(?P<second>\d{1,2})(?P=mark)\s?"
            r"(?P<year>(?:19|20)\d\d)\b(?![./-]?\d)"
        ),
        _digits,
        dated=True,
    ),
    Rule(re.compile(rf"{NUMBER} {DAY}s? ago\b"), _weekdays_ago),
    Rule(re.compile(rf"\b(?:last|past) (?P<n>\d{{1,3}}|{'|'.join(FIRST_NUMBERS)}) hours\b"), _hours),
)
