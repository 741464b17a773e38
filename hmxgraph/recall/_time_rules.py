"""Calendar days, and the English time expressions that denote them."""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from math import ceil
from typing import NamedTuple, TypeAlias

from hmxgraph.protocol.timestamps import microseconds

# Calendar days: the day of an instant, the start of a day, and month arithmetic.

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# A range of days: the first day, and the day after the last.
Days: TypeAlias = tuple[date, date]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=10_000)
def day(time_us: int) -> date:
    """Return the UTC date of a time.

    Raises:
        OverflowError: the time is outside the years 1 to 9999.

    >>> str(day(0))
    '1970-01-01'

    """
    return (_EPOCH + timedelta(microseconds=time_us)).date()


def start_us(calendar_day: date) -> int:
    """Return the first instant of a day in UTC microseconds.

    >>> start_us(date(1970, 1, 2))
    86400000000

    """
    return (datetime(calendar_day.year, calendar_day.month, calendar_day.day, tzinfo=UTC) - _EPOCH) // timedelta(
        microseconds=1
    )


def _one_day(calendar_day: date) -> Days:
    """Return the range of one day."""
    return calendar_day, calendar_day + timedelta(days=1)


def _month_of(calendar_day: date) -> Days:
    """Return the range of the month that contains a day."""
    first = calendar_day.replace(day=1)
    return first, first + timedelta(days=monthrange(first.year, first.month)[1])


def months_later(calendar_day: date, months: int) -> date:
    """Return the same day *months* later, or the last day of that month if the month is shorter."""
    year, month = divmod(calendar_day.year * 12 + calendar_day.month - 1 + months, 12)
    return date(year, month + 1, min(calendar_day.day, monthrange(year, month + 1)[1]))


# English time expressions and the days they mean.
#
# Rules expect lower-case text. ``OFFSETS`` are relative to the days of another expression: "two weeks before 7 May". An
# impossible date, such as the 31st of June, raises ValueError; a time outside the years 1 to 9999 raises ValueError or
# OverflowError.

_FIRST_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# Numbers in words after "last": "last two weeks".
_COUNTS = {name: number for number, name in enumerate(_FIRST_NUMBERS, start=1)} | {"few": 3, "couple of": 2}
# Numbers in words before "weeks ago" or "weeks before": also "half a" and "a".
_NUMBERS: dict[str, float] = {"half a": 0.5, "half an": 0.5, "a": 1, "an": 1, **_COUNTS}
# Names that mean a month only next to a day, a year or a word such as "in": "may" and "march" are also verbs, "dec"
# occurs in identifiers, Jan and June are also first names.
_AMBIGUOUS = frozenset(name[:3] for name in MONTHS) | {"march", "sept", "april", "june", "august"}
# The length of a unit in days, for distances such as "two months ago".
_UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
# The length of a unit in months, for a unit directly before or after another time: "the month before May 5".
_UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_QUARTERS = ("first", "second", "third", "fourth")
_UNIT = "(?P<unit>" + "|".join(_UNIT_DAYS) + ")"
DAY = "(?P<day>" + "|".join(_WEEKDAYS) + ")"
# A number, but not the "one" in "twenty-one" or the "5" in "2.5".
NUMBER = r"(?<![\w-])(?<!\d[.,])(?P<n>\d{1,3}|" + "|".join(_NUMBERS) + ")"
_SEPTEMBER = "sep(?:t(?:ember)?)?"
MONTH_NAMES = "|".join(_SEPTEMBER if name == "september" else f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
_MONTH = f"(?P<month>{MONTH_NAMES})" + r"\b\.?"
# The first day of a range, and the last day or a single one: "5th" (group ``day``) and "7th" (group ``last``) in "5th
# to 7th of May".
_DAY_NUMBER, _LAST_DAY = (rf"(?P<{name}>\d{{1,2}})(?:st|nd|rd|th)?" for name in ("day", "last"))
# Words between the ends of a time range.
TILL = r"\s+(?:and|to|until|till|through)\s+"
_DASH_OR_TILL = rf"(?:\s*[-\u2013]\s*|{TILL})"
# A year after a month: ", 2023", "of last year".
_YEAR_NAME = r",?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d|(?:last|this) year)\b"
_YEAR = f"(?:{_YEAR_NAME})?"
# Next to a number, lower-case "may" and "march" count as months only after a word such as "on" (the group ``led``),
# before a year, or at the end of a clause. These patterns match the other cases, and those after such a word.
_NO_YEAR_OR_END = rf"(?!{_YEAR_NAME})(?!\s*(?:$|[?!;,)]|\.(?!\d)))"
_LED = r"\b(?P<led>on|at|by|since|until|till|before|after|from|between"
_MONTHS_OR_VERBS = (
    re.compile(rf"(?:{_LED})\s+)?\b\d{{1,2}}\s+(?:may|march)\b{_NO_YEAR_OR_END}"),
    re.compile(rf"(?:{_LED}|in|during|for|of|the)\s+)?\b(?:may|march)\s+\d{{1,2}}\b{_NO_YEAR_OR_END}"),
)


class Rule(NamedTuple):
    """A time pattern, and the function that returns the days of a match, or None if the match does not mean a time.

    The function is called with the match and the day of asking. ``is_calendar`` marks calendar dates, as opposed to
    times relative to the moment of asking.
    """

    pattern: re.Pattern[str]
    days: Callable[[re.Match[str], date], Days | None]
    is_calendar: bool = False


def mask_month_verbs(text: str) -> str:
    """Blank out "may" and "march", with the number next to them, where nothing shows that they are months.

    Capitalised names of months are left alone.

    >>> mask_month_verbs("we march 4 miles, on may 5"), mask_month_verbs("we left in March 2023")
    ('we         miles, on may 5', 'we left in March 2023')

    """
    for pattern in _MONTHS_OR_VERBS if "may" in text or "march" in text else ():
        text = pattern.sub(lambda match: match.group() if match["led"] else " " * len(match.group()), text)
    return text


def _iso_day(match: re.Match[str], _today: date) -> Days:
    if match["zone"]:
        return _one_day(day(microseconds(match.group())))
    return _one_day(date.fromisoformat(match["year"] + match["rest"]))


def _month_day(match: re.Match[str], today: date) -> Days:
    """Return a day or a range of days in a month; without a year, the latest that does not begin after *today*."""
    month, year = _month_number(match["month"]), _year_of(match, today)
    last = int(match["last"] or match["day"])
    first = min(int(match["day"] or last), last)
    if year is None:
        year = _latest_year(month, first, last, today)
    return date(year, month, first), date(year, month, last) + timedelta(days=1)


def _latest_year(month: int, first: int, last: int, today: date) -> int:
    """Return the latest year in which the month has these days and *first* is not after *today*, else this year."""
    # 29 February recurs after eight years at the latest.
    years = (year for year in range(today.year, today.year - 9, -1) if last <= monthrange(year, month)[1])
    return next((year for year in years if date(year, month, first) <= today), today.year)


def _whole_month(match: re.Match[str], today: date) -> Days | None:
    if match["month"] in _AMBIGUOUS and not (match["year"] or match["in"]):
        return None
    return _month_of(_first_of_month(_month_number(match["month"]), match, today))


def _whole_months(match: re.Match[str], today: date) -> Days:
    month, last = _month_number(match["month"]), _month_number(match["last"])
    ends = _first_of_month(last, match, today)
    return date(ends.year - (month > last), month, 1), months_later(ends, 1)


def _quarter(match: re.Match[str], today: date) -> Days | None:
    if not (match["year"] or match["in"]):
        return None
    number = int(match["quarter"]) - 1 if match["quarter"] else _QUARTERS.index(match["named"])
    first = _first_of_month(3 * number + 1, match, today)
    return first, months_later(first, 3)


def _whole_years(match: re.Match[str], _today: date) -> Days:
    return date(int(match["year"]), 1, 1), date(int(match["last"] or match["year"]) + 1, 1, 1)


def _relative_day(match: re.Match[str], today: date) -> Days:
    return _one_day(today - timedelta(days=match[1] in {"yesterday", "last night"}))


def _last_unit(match: re.Match[str], today: date) -> Days:
    """Return a whole week, month, quarter, year or weekend: "last week", "this year"."""
    unit, current = match["unit"], match["which"] == "this"
    if unit == "weekend":
        return _weekend(today, current=current)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + (0 if current else 7))
        return monday, monday + timedelta(days=7)
    if unit == "month":
        return _month_of(today if current else today.replace(day=1) - timedelta(days=1))
    if unit == "quarter":
        first = date(today.year, today.month - (today.month - 1) % 3, 1)
        return (first, months_later(first, 3)) if current else (months_later(first, -3), first)
    year = today.year if current else today.year - 1
    return date(year, 1, 1), date(year + 1, 1, 1)


def _weekend(today: date, *, current: bool) -> Days:
    """Return the latest completed weekend, or with *current* the latest one that has begun."""
    saturday = today - timedelta(days=(today.weekday() + 2) % 7)
    if today <= saturday + timedelta(days=1) and not current:
        saturday -= timedelta(days=7)
    return saturday, saturday + timedelta(days=2)


def _past_units(match: re.Match[str], today: date) -> Days:
    """Return the days up to today: "last 3 weeks"."""
    return today - timedelta(days=int(_number_of(match["n"]) * _UNIT_DAYS[match["unit"]])), today + timedelta(days=1)


def _ago(match: re.Match[str], today: date) -> Days:
    """Return the days around a day that is named by its distance from today: "a year and two months ago"."""
    larger_part = _number_of(match["more"]) * _UNIT_DAYS[match["units"]] if match["more"] else 0
    return _centred_range(today - timedelta(days=int(larger_part)), match, -1)


def _centred_range(centre: date, match: re.Match[str], sign: int) -> Days:
    """Return the days around the day at the matched distance before (*sign* -1) or after (1) *centre*.

    They extend by half a unit to both sides; if the distance is less than a unit ("half a year ago"), by half of the
    distance.
    """
    number, unit = _number_of(match["n"]), _UNIT_DAYS[match["unit"]]
    middle, reach = centre + sign * timedelta(days=int(number * unit)), int(min(number, 1) * unit) // 2
    return middle - timedelta(days=reach), middle + timedelta(days=reach + 1)


def _weekday(match: re.Match[str], today: date) -> Days:
    """Return the latest day before today that is the named weekday."""
    back = (today.weekday() - _WEEKDAYS.index(match["day"])) % 7
    return _one_day(today - timedelta(days=back or 7))


def _weekday_of_week(match: re.Match[str], today: date) -> Days:
    monday = today - timedelta(days=today.weekday() + (0 if match["which"] == "this" else 7))
    return _one_day(monday + timedelta(days=_WEEKDAYS.index(match["day"])))


def _units_offset(match: re.Match[str], base: Days) -> Days:
    """Return the days around the day at the matched distance from *base*: "two weeks before" it."""
    if match["side"] == "after":
        return _centred_range(base[1] - timedelta(days=1), match, 1)
    return _centred_range(base[0], match, -1)


def _adjacent_unit(match: re.Match[str], base: Days) -> Days:
    """Return the last unit, weekday or weekend before *base*, or the first after it: "the week before" it."""
    unit, after = match["unit"], match["side"] == "after"
    first = base[1] if after else base[0]
    if unit in _UNIT_MONTHS:
        months = _UNIT_MONTHS[unit]
        return (first, months_later(first, months)) if after else (months_later(first, -months), first)
    if unit in _UNIT_DAYS:
        length = timedelta(days=_UNIT_DAYS[unit])
        return (first, first + length) if after else (first - length, first)
    days, weekday = (2, _WEEKDAYS.index("saturday")) if unit == "weekend" else (1, _WEEKDAYS.index(unit))
    if after:
        begin = first + timedelta(days=(weekday - first.weekday()) % 7)
    else:
        latest = first - timedelta(days=days)
        begin = latest - timedelta(days=(latest.weekday() - weekday) % 7)
    return begin, begin + timedelta(days=days)


def _month_number(name: str) -> int:
    """Return the number of the month that starts with the first three letters of *name*."""
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name[:3]))


def _year_of(match: re.Match[str], today: date) -> int | None:
    """Return the year that a match names; None if it names none."""
    named = match["year"]
    if not named or named.isdigit():
        return int(named) if named else None
    return today.year - (named == "last year")


def _first_of_month(month: int, match: re.Match[str], today: date) -> date:
    """Return the first day of a month in the matched year; without a year, of the latest such month that has begun."""
    year = _year_of(match, today)
    return date(today.year - (month > today.month) if year is None else year, month, 1)


def _number_of(name: str) -> float:
    """Return the value of a number written in digits or as a word."""
    return int(name) if name.isdigit() else _NUMBERS[name]


# "a year and " in "a year and two months ago".
_LONGER_UNIT_AND = NUMBER.replace("<n>", "<more>") + " " + _UNIT.replace("<unit>", "<units>") + "s?(?:, ?|,? and | )"
_SIDE = r"(?P<side>before|prior to|after)\s+(?:the\s+)?"
# The group ``in`` is a word before a time expression that shows that a time is meant; it is not part of the expression.
TIME_RULES: tuple[Rule, ...] = (
    # ISO 8601: "2023-05-07", "2023-05-07t12:00:00z"
    Rule(
        re.compile(
            r"\b(?P<year>\d{4})(?P<rest>-\d\d-\d\d)"
            r"(?:t\d\d:\d\d:\d\d(?:\.\d{1,9})?(?P<zone>z|[+-]\d\d:\d\d))?(?=t\d\d|\b)"
        ),
        _iso_day,
        is_calendar=True,
    ),
    # "7 May 2023", "5th to 7th of May"
    Rule(
        re.compile(rf"\b(?:{_DAY_NUMBER}{_DASH_OR_TILL})?{_LAST_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}"),
        _month_day,
        is_calendar=True,
    ),
    # "May 7, 2023", "May 5-7"
    Rule(
        re.compile(rf"\b{_MONTH}\s+{_DAY_NUMBER}(?:{_DASH_OR_TILL}{_LAST_DAY})?\b(?!\d){_YEAR}"),
        _month_day,
        is_calendar=True,
    ),
    # "May 2023", "in May"
    Rule(
        re.compile(
            rf"(?P<in>\b(?:in|during|since|by|of|until|before|after|last|early|late|mid)[\s-]+)?\b{_MONTH}{_YEAR}"
        ),
        _whole_month,
        is_calendar=True,
    ),
    # "last year, in May"
    Rule(re.compile(rf"\b(?P<year>(?:last|this) year),? in {_MONTH}"), _whole_month, is_calendar=True),
    # "between March and May 2023"
    Rule(
        re.compile(rf"(?P<in>\b(?:between|from)\s+){_MONTH}{TILL}(?P<last>{MONTH_NAMES})\b\.?{_YEAR}"),
        _whole_months,
        is_calendar=True,
    ),
    Rule(re.compile(r"\b(today|tonight|yesterday|last night|this (?:morning|afternoon|evening))\b"), _relative_day),
    # "last week"
    Rule(
        re.compile(r"\b(?P<which>last|previous|past|this) (?P<unit>weekend|week|month|quarter|year)\b"),
        _last_unit,
    ),
    # "last two weeks"
    Rule(
        re.compile(rf"\b(?:last|previous|past) (?P<n>\d{{1,3}}|{'|'.join(_COUNTS)}) {_UNIT}s?\b(?! ago)"),
        _past_units,
    ),
    # "two weeks ago", "a year and two months ago"
    Rule(re.compile(rf"(?:{_LONGER_UNIT_AND})?{NUMBER} {_UNIT}s? ago\b"), _ago),
    # "on Monday", "last Monday"
    Rule(re.compile(rf"\b(?:(?P<in>(?:on|since)\s+)|(?:last|this|past) ){DAY}\b"), _weekday),
    # "Monday of last week"
    Rule(re.compile(rf"\b(?:on )?{DAY},? (?:of )?(?P<which>last|this) week\b"), _weekday_of_week),
    # "Q2 2023", "in the second quarter"
    Rule(
        re.compile(
            r"(?P<in>\b(?:in|during|since|by|of|until|before|after)\s+(?:the\s+)?)?"
            rf"\b(?:q(?P<quarter>[1-4])|(?P<named>{'|'.join(_QUARTERS)}) quarter)\b{_YEAR}"
        ),
        _quarter,
        is_calendar=True,
    ),
    # "in 2023", "from 2020 to 2022"
    Rule(
        re.compile(
            r"(?P<in>\b(?:in|during|since|of|by|until|before|after|(?P<from>between|from))\s+)(?P<year>(?:19|20)\d\d)\b"
            rf"(?(from){TILL}(?P<last>(?:19|20)\d\d)\b)"
        ),
        _whole_years,
        is_calendar=True,
    ),
)
OFFSETS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Days], Days]], ...] = (
    # "two weeks before"
    (re.compile(rf"{NUMBER} {_UNIT}s? {_SIDE}"), _units_offset),
    # "the week before", "the last Sunday before"
    (
        re.compile(rf"\b(?:the|last|the last) (?P<unit>weekend|{'|'.join((*_UNIT_DAYS, *_WEEKDAYS))}) {_SIDE}"),
        _adjacent_unit,
    ),
)


# Further English time expressions: parts of a month, seasons, holidays, numeric dates, "two Mondays ago", hours.
#
# Seasons are those of the northern hemisphere. A numeric date is understood only if the order of day and month is
# unambiguous; in dates with dots, the day comes first.

# The first month of each season.
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# The month, the first day and the number of days of each holiday with a fixed date.
_HOLIDAYS = {
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
_HOLIDAY_NAMES = "|".join((*_HOLIDAYS, "easter", "thanksgiving"))
# Seasons and holidays, which can also be what a question is about.
OCCASIONS = "|".join((*_SEASONS, _HOLIDAY_NAMES))
# The number of a week in a month; 0 for the last seven days.
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 0}
# Words that show that the season or holiday after them is meant as a time: "in the summer", "last summer".
_AT = r"(?P<in>\b(?:in|on|at|over|during|around|since|by|until|before|after|from|between)\s+(?:the\s+)?)"
_WHICH = r"(?P<which>\b(?:last|this|the past)\s+)"


def _part_of_month(match: re.Match[str], today: date) -> Days:
    """Return a third, a half or a week of a month ("early May"); without a year, of the latest such month."""
    first, end = _month_of(_first_of_month(_month_number(match["month"]), match, today))
    first_day, last_day = _days_of_part(match, (end - timedelta(days=1)).day)
    return first.replace(day=first_day), first.replace(day=last_day) + timedelta(days=1)


def _days_of_part(match: re.Match[str], last: int) -> tuple[int, int]:
    """Return the first and the last day of the matched part of a month that ends on day *last*."""
    if match["week"]:
        week = _ORDINALS[match["week"]]
        return (7 * week - 6, 7 * week) if week else (last - 6, last)
    if match["half"]:
        return (1, 15) if match["half"] in {"first", "1st"} else (16, last)
    if match["part"] in {"early", "beginning of", "start of"}:
        return 1, 10
    return (11, 20) if match["part"].startswith("mid") else (21, last)


def _season(match: re.Match[str], today: date) -> Days | None:
    """Return the three months of a season in the named year; without a year, of the latest such season that has begun.

    With "last" or "the past", it is the latest that has ended. None if neither a year nor a word before the season,
    such as "in", shows that a time is meant.
    """
    first_month = _SEASONS[match["season"]]
    year = _year_of(match, today)
    if year is not None:
        return _three_months(date(year, first_month, 1))
    if not (match["in"] or match["which"]):
        return None
    days = _three_months(date(today.year, first_month, 1))
    completed = (match["which"] or "").startswith(("last", "the past"))
    while (days[1] if completed else days[0]) > today:
        days = _three_months(months_later(days[0], -12))
    return days


def _three_months(first: date) -> Days:
    return first, months_later(first, 3)


def _holiday(match: re.Match[str], today: date) -> Days | None:
    """Return the days of a holiday in the named year; without a year, of the latest such holiday that has begun.

    None if neither a year nor a word before the holiday, such as "at", shows that a time is meant.
    """
    year = _year_of(match, today)
    if year is not None:
        return _holiday_days(match["holiday"], year)
    if not (match["in"] or match["which"]):
        return None
    days = _holiday_days(match["holiday"], today.year)
    return days if days[0] <= today else _holiday_days(match["holiday"], today.year - 1)


def _holiday_days(name: str, year: int) -> Days:
    if name == "easter":
        sunday = _easter(year)
        return sunday - timedelta(days=2), sunday + timedelta(days=2)
    if name == "thanksgiving":
        first = date(year, 11, 1)
        thursday = first + timedelta(days=(3 - first.weekday()) % 7 + 21)
        return thursday, thursday + timedelta(days=1)
    month, day, length = _HOLIDAYS[name]
    first = date(year, month, day)
    return first, first + timedelta(days=length)


def _easter(year: int) -> date:
    """Return Easter Sunday in the Gregorian calendar (J. Meeus, "Astronomical Algorithms", chapter 8)."""
    century, year_of_century = divmod(year, 100)
    leaps, rest = divmod(century, 4)
    shift = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * (year % 19) + century - leaps - shift + 15) % 30
    fourths, ones = divmod(year_of_century, 4)
    weekday = (32 + 2 * rest + 2 * fourths - moon - ones) % 7
    late = (year % 19 + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _numeric_date(match: re.Match[str], _today: date) -> Days | None:
    """Return the day of a numeric date; None if day and month could be swapped ("5/7/2023")."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if match["mark"] != "." and first <= 12 and second <= 12 and first != second:
        return None
    day_first = match["mark"] == "." or first > 12
    day, month = (first, second) if day_first else (second, first)
    return _one_day(date(year, month, day))


def _weekdays_ago(match: re.Match[str], today: date) -> Days:
    """Return the n-th such weekday before today: "two Mondays ago"."""
    back = (today.weekday() - _WEEKDAYS.index(match["day"])) % 7 or 7
    return _one_day(today - timedelta(days=back + 7 * int(_number_of(match["n"]) - 1)))


def _past_hours(match: re.Match[str], today: date) -> Days:
    """Return the days up to today that "the last 30 hours" may include."""
    return today - timedelta(days=ceil(_number_of(match["n"]) / 24)), today + timedelta(days=1)


CALENDAR_RULES: tuple[Rule, ...] = (
    # "early May", "the first half of June 2023", "last week of May"
    Rule(
        re.compile(
            r"\b(?:(?P<part>early|beginning of|start of|mid|middle of|late|end of)"
            rf"|(?P<half>first|1st|second|2nd) half of|(?P<week>{'|'.join(_ORDINALS)}) week (?:of|in))"
            rf"[\s-]+{_MONTH}{_YEAR}"
        ),
        _part_of_month,
        is_calendar=True,
    ),
    # "summer 2023", "last summer"
    Rule(re.compile(rf"(?:{_AT}|{_WHICH})?\b(?P<season>{'|'.join(_SEASONS)}){_YEAR}"), _season, is_calendar=True),
    # "at Easter", "Christmas 2023"
    Rule(re.compile(rf"(?:{_AT}|{_WHICH})?\b(?P<holiday>{_HOLIDAY_NAMES})\b{_YEAR}"), _holiday, is_calendar=True),
    # "7.5.2023", "25/12/2023"
    Rule(
        re.compile(
            r"(?<![\d./-])(?P<first>\d{1,2})(?P<mark>[./-])\s?(?P<second>\d{1,2})(?P=mark)\s?"
            r"(?P<year>(?:19|20)\d\d)\b(?![./-]?\d)"
        ),
        _numeric_date,
        is_calendar=True,
    ),
    # "two Mondays ago"
    Rule(re.compile(rf"{NUMBER} {DAY}s? ago\b"), _weekdays_ago),
    # "last 48 hours"
    Rule(re.compile(rf"\b(?:last|past) (?P<n>\d{{1,3}}|{'|'.join(_FIRST_NUMBERS)}) hours\b"), _past_hours),
)
