"""Quantities in a text: values with a unit or counted noun, as intervals that can be compared."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.text.terms import terms

Agreement: TypeAlias = Literal["same", "different", "unclear"]
# An approximate value may be off by this fraction.
_TOLERANCE = 0.05
# Values that differ by a smaller fraction are equal, because unit conversions round.
_ROUNDING = 1e-9
# A number with a larger power of ten is an id, such as the commit 3e8421, and no quantity.
_LARGEST_POWER = 30


@dataclass(frozen=True, slots=True)
class Quantity:
    """An interval in one *measure*: a dimension ("time"), the term of a counted noun ("fold"), or "" for a bare number.

    ``exact`` intervals state a single value; their width is its rounding.
    """

    measure: str
    low: float
    high: float
    exact: bool = True

    def complement(self) -> "Quantity":
        """The negation of a bound: "never above 5" means at most 5."""
        if self.low == -_INFINITE:
            return Quantity(self.measure, self.high, _INFINITE, exact=False)
        return Quantity(self.measure, -_INFINITE, self.low, exact=False)

    @property
    def is_bound(self) -> bool:
        """Whether only one end is given."""
        return (self.low == -_INFINITE) != (self.high == _INFINITE)


class Reading(NamedTuple):
    """The quantities in a text, its labels (numbered names such as "seed 7"), and the rest of the text."""

    quantities: tuple[Quantity, ...]
    labels: frozenset[str]
    rest: str


_INFINITE = float("inf")
# The dimension and the factor of each unit; in sizes, kilo is 1,024.
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), ("time", 1e-9)),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "microsecond", "microseconds"), ("time", 1e-6)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 1e-3)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("day", "days"), ("time", 86_400.0)),
    **dict.fromkeys(("week", "weeks"), ("time", 604_800.0)),
    **dict.fromkeys(("month", "months"), ("time", 30 * 86_400.0)),
    **dict.fromkeys(("year", "years"), ("time", 365 * 86_400.0)),
    **dict.fromkeys(("b", "byte", "bytes"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kib"), ("size", 2.0**10)),
    **dict.fromkeys(("mb", "mib"), ("size", 2.0**20)),
    **dict.fromkeys(("gb", "gib"), ("size", 2.0**30)),
    **dict.fromkeys(("tb", "tib"), ("size", 2.0**40)),
    **dict.fromkeys(("nm", "nanometre", "nanometres", "nanometer", "nanometers"), ("length", 1e-9)),
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"), ("length", 1e-3)),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), ("length", 1e-2)),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), ("length", 1e3)),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("weight", 1e-6)),
    **dict.fromkeys(("g", "gram", "grams"), ("weight", 1e-3)),
    **dict.fromkeys(("kg", "kilogram", "kilograms"), ("weight", 1.0)),
    **dict.fromkeys(("ml", "millilitre", "millilitres", "milliliter", "milliliters"), ("volume", 1e-3)),
    **dict.fromkeys(("l", "litre", "litres", "liter", "liters"), ("volume", 1.0)),
    **dict.fromkeys(("hz", "hertz"), ("frequency", 1.0)),
    **dict.fromkeys(("khz", "kilohertz"), ("frequency", 1e3)),
    **dict.fromkeys(("mhz", "megahertz"), ("frequency", 1e6)),
    **dict.fromkeys(("ghz", "gigahertz"), ("frequency", 1e9)),
    **dict.fromkeys(("%", "percent"), ("share", 0.01)),
    **dict.fromkeys(("x", "times", "fold"), ("factor", 1.0)),
}
_NUMBER_WORDS = {
    word: value
    for value, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
}
_NUMBER_WORDS |= {"eleven": 11, "twelve": 12, "twenty": 20, "fifty": 50, "hundred": 100}
_BELOW = r"below|under|less than|fewer than|lower than|shorter than|smaller than|at most|up to|within|no more than"
_BELOW += r"|not more than|maximum of"
_ABOVE = r"above|over|more than|greater than|longer than|larger than|higher than|at least|exceed(?:s|ed|ing)?"
_ABOVE += r"|no less than|no fewer than|not less than|minimum of"
_NUMBER = r"[-\u2212+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
_WORD_NUMBER = "|".join(_NUMBER_WORDS)
# A number with its unit or noun, and words that make it a bound or approximate: "below 40 ms", "between 2 and 5 s",
# "7 errors or more", "about 3 folds".
_QUANTITY = re.compile(
    rf"(?:\b(?P<below>{_BELOW}) |\b(?P<above>{_ABOVE}) "
    rf"|\bbetween (?P<least>{_NUMBER})(?: ?(?P<least_unit>[a-zA-Z\u00b5\u03bc%]+))? and )?"
    rf"(?P<about>~ ?|\b(?:about|around|approximately|roughly|nearly|almost|circa|some) )?"
    rf"(?<![\w.\-/:])(?P<number>{_NUMBER}|(?:{_WORD_NUMBER})(?= [a-z]))(?![\d/:]|[.\-]\d)"
    r"(?: ?(?P<unit>%|[a-zA-Z\u00b5\u03bc]+)(?![\w\-]))?"
    r"(?P<after> or (?:less|fewer|below)| or (?:more|above))?",
    re.IGNORECASE,
)
# A number right after one of these words, or after a name, is a label, not a measurement.
_NAMING = frozenset(
    """
    aisle attempt batch bay bed block box build camera case channel chapter clause cluster cohort column commit
    container day device epoch exit figure flight floor fold gate group host issue item java job lane layer level
    line machine node option page part phase player pod port pr python question rack region release room round row
    rule run sample section seed sensor server shard shelf size slide slot stage station step table task test ticket
    track trial unit v version worker zone
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Fractions in words, as numbers.
_FRACTIONS = tuple(
    (re.compile(rf"\b{pattern}", re.IGNORECASE), plain)
    for pattern, plain in (
        ("half an hour", "30 minutes"),
        ("(?:a )?quarter of an hour", "15 minutes"),
        ("(?:a |one )?half of(?= )", "50 % of"),
        ("(?:a |one )?quarter of(?= )", "25 % of"),
        ("(?:a |one )?third of(?= )", "33 % of"),
    )
)
# "Less than an hour" is a quantity, "5 files an hour" names a rate.
_SINGLE = re.compile(
    rf"\b({_BELOW}|{_ABOVE}|about|around|for|takes?|took|lasts?|lasted) (?:an?|one)"
    r"(?= (?:hour|minute|second|day|week)\b)",
    re.IGNORECASE,
)
# "3 of 5 folds" counts three folds; five is their total. `_COUNTED_OUT` matches the words after the first number,
# `_PART_OF` those before the second.
_COUNTED_OUT = re.compile(rf" (?:of )?(?:the |all |our )*(?:(?:{_NUMBER}|{_WORD_NUMBER}) )?([a-z]+)", re.IGNORECASE)
_PART_OF = re.compile(rf"(?:{_NUMBER}|\b(?:{_WORD_NUMBER}|one|none)) (?:out )?of (?:the |all |our )*$", re.IGNORECASE)
# The last word before a number: "seed" in "seed 7", "issue" in "issue #12".
_BEFORE = re.compile(r"(?P<word>[^\W\d_]+)[ #]*$")
# The "from A" of "from A to B", which is removed: only B counts.
_FROM = re.compile(rf"\bfrom (?:{_NUMBER})(?: ?[a-zA-Z%]+)?(?= (?:down )?to )", re.IGNORECASE)


def read_quantities(text: str) -> Reading:
    """*text* split into quantities, labels and the rest.

    In "from A to B", only B counts, while "between A and B" is one interval.

    >>> read_quantities("Latency is below 40 ms").quantities
    (Quantity(measure='time', low=-inf, high=0.04, exact=False),)
    >>> read_quantities("see commit 3e8421").quantities
    ()
    >>> read = read_quantities("Seed 7 gives 3 folds")
    >>> read.labels, [quantity.measure for quantity in read.quantities]
    (frozenset({'seed 7'}), ['fold'])
    """
    prepared = _FROM.sub("", text)
    for pattern, number in _FRACTIONS:
        prepared = pattern.sub(number, prepared)
    prepared = _SINGLE.sub(r"\1 1", prepared)
    quantities: list[Quantity] = []
    labels: set[str] = set()

    def consume(match: re.Match[str]) -> str:
        if max(abs(_power(match[name] or "")) for name in ("least", "number")) > _LARGEST_POWER:
            return match.group()  # a commit such as 3e8421
        name = _name_before(prepared, match)
        if name is not None:
            labels.add(f"{name} {match['number']}")
            return f" {match['unit'] or ''}"
        quantity = _quantity(match, prepared)
        quantities.append(quantity)
        return "" if quantity.measure in _DIMENSIONS or not match["unit"] else match["unit"]

    rest = _QUANTITY.sub(consume, prepared)
    for label in labels:
        rest = re.sub(rf"\b{re.escape(label.partition(' ')[0])}\b", " ", rest, count=1, flags=re.IGNORECASE)
    return Reading(tuple(quantities), frozenset(labels), rest)


def agreement(claimed: Sequence[Quantity], stated: Sequence[Quantity]) -> Agreement:
    """``same`` if the quantities *stated* confirm all *claimed*, ``different`` if they exclude one, else ``unclear``.

    >>> claimed, stated = (read_quantities(text).quantities for text in ("below 50 ms", "0.042 s"))
    >>> agreement(claimed, stated), agreement(stated, claimed)
    ('same', 'unclear')
    """
    answers = {_agreement(quantity, stated) for quantity in claimed}
    if "different" in answers:
        return "different"
    return "unclear" if "unclear" in answers else "same"


_DIMENSIONS = frozenset({name for name, _ in _UNITS.values()})


def _agreement(claimed: Quantity, stated: Sequence[Quantity]) -> Agreement:
    """The agreement with one claimed quantity; a bare number is compared with quantities of any measure."""
    same_measure = [quantity for quantity in stated if quantity.measure == claimed.measure]
    same_measure = same_measure or [quantity for quantity in stated if "" in {quantity.measure, claimed.measure}]
    if any(_confirms(quantity, claimed) for quantity in same_measure):
        return "same"
    return "different" if same_measure and all(_excludes(quantity, claimed) for quantity in same_measure) else "unclear"


def _confirms(stated: Quantity, claimed: Quantity) -> bool:
    """Whether *stated* (or, if it is exact, its middle) lies within *claimed*, or approximates its single value."""
    slack = abs(claimed.high if claimed.high != _INFINITE else claimed.low) * _ROUNDING
    within = claimed.low - slack <= stated.low and stated.high <= claimed.high + slack
    middle = (stated.low + stated.high) / 2 if stated.exact else None
    rounded = middle is not None and claimed.low - slack <= middle <= claimed.high + slack
    approximate = claimed.exact and _is_narrow(stated) and stated.low <= (claimed.low + claimed.high) / 2 <= stated.high
    return within or rounded or (approximate and not stated.exact)


def _is_narrow(quantity: Quantity) -> bool:
    """Whether an interval is as narrow as that of an approximate value: "about 7", but not "between 5 and 10"."""
    return quantity.high * (1 - _TOLERANCE) <= quantity.low * (1 + _TOLERANCE) * (1 + _ROUNDING)


def _excludes(stated: Quantity, claimed: Quantity) -> bool:
    """Whether the two exclude each other. Bounds are taken as strict: "below 60" and "above 60" exclude each other."""
    middle = (stated.low + stated.high) / 2
    low, high = (middle, middle) if stated.exact else (stated.low, stated.high)
    if claimed.is_bound and stated.is_bound:
        return high <= claimed.low or low >= claimed.high
    return high < claimed.low or low > claimed.high


def _quantity(match: re.Match[str], text: str) -> Quantity:
    """The quantity that *match* found in *text*."""
    measure, factor = _measure(match, text)
    value, place_value = _value(match["number"])
    low, high = (value - place_value / 2) * factor, (value + place_value / 2) * factor
    after = (match["after"] or "").split()
    if match["below"] or (after and after[1] in {"less", "fewer", "below"}):
        return Quantity(measure, -_INFINITE, value * factor, exact=False)
    if match["above"] or after:
        return Quantity(measure, value * factor, _INFINITE, exact=False)
    if match["least"]:
        _, least_factor = _UNITS.get((match["least_unit"] or "").lower(), (measure, factor))
        least = _value(match["least"])[0] * least_factor
        return Quantity(measure, min(least, value * factor), max(least, value * factor), exact=False)
    if match["about"]:
        return Quantity(measure, value * factor * (1 - _TOLERANCE), value * factor * (1 + _TOLERANCE), exact=False)
    return Quantity(measure, low, high)


def _measure(match: re.Match[str], text: str) -> tuple[str, float]:
    """The dimension and factor of a unit, or the counted noun: in "N of M things", N counts things, M their total."""
    unit = match["unit"]
    if unit is None:
        return "", 1.0
    if unit.lower() in _UNITS:
        return _UNITS[unit.lower()]
    out_of = _COUNTED_OUT.match(text, match.end())
    if unit.lower() in {"of", "out"} and out_of:
        return " ".join(terms(out_of[1])), 1.0
    total = "total " if _PART_OF.search(text, 0, match.start("number")) else ""
    return total + " ".join(terms(unit)), 1.0


def _value(number: str) -> tuple[float, float]:
    """The value of a number as written, and the place value of its last digit."""
    if number.lower() in _NUMBER_WORDS:
        return float(_NUMBER_WORDS[number.lower()]), 1.0
    plain = number.replace(",", "").replace("\u2212", "-")
    decimals = len(plain.lower().partition("e")[0].partition(".")[2])
    return float(plain), 10.0 ** (_power(plain) - decimals)


def _power(number: str) -> int:
    """The power of ten that a number is written with.

    >>> _power("3e5"), _power("2.5e-7"), _power("seven")
    (5, -7, 0)
    """
    exponent = number.lower().partition("e")[2]
    return int(exponent) if exponent.lstrip("+-").isdecimal() else 0


def _name_before(text: str, match: re.Match[str]) -> str | None:
    """The name that a number belongs to, as in "seed 7" or "Python 3.12"; None for a quantity."""
    before = _BEFORE.search(text[: match.start("number")])
    if match["below"] or match["above"] or match["about"] or before is None:
        return None
    unit = (match["unit"] or "").lower()
    word, is_first = before["word"], not text[: before.start()].strip()
    if unit in _UNITS and len(unit) > 1:
        return None
    if word.lower() in _NAMING:
        return word.lower()
    if match["number"].lower() in _NUMBER_WORDS or not word[0].isupper():
        return None
    # At the beginning, "Pipette 3 drips" names a pipette; "All 3 drip" and "Accuracy 0.9" count and measure.
    no_name = not terms(word) or word.endswith("ly") or not match["number"].isdigit() or not match["unit"]
    return None if is_first and no_name else word.lower()
