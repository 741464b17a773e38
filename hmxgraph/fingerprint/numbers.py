"""Shares and means that come out the same on every machine: whole numbers in, six decimals out."""

from collections.abc import Iterable, Mapping

from hmxgraph.text.counts import most_first

_MILLION = 1_000_000


def ratio(part: float, whole: float) -> float:
    """*part* / *whole* to six decimals; 0.0 of nothing.

    >>> ratio(2, 3), ratio(1, 0)
    (0.666667, 0.0)

    """
    return round(part / whole, 6) if whole else 0.0


def millionths(value: float) -> int:
    """*value* as a whole number of millionths, so that sums do not depend on their order."""
    return round(value * _MILLION)


def mean(values: Iterable[float]) -> float:
    """The mean to six decimals, whatever the order of *values*; 0.0 of none.

    >>> mean([0.25, 0.5])
    0.375

    """
    parts = [millionths(value) for value in values]
    return ratio(sum(parts), len(parts) * _MILLION)


def average(total_millionths: int, count: int) -> float:
    """A sum of millionths shared by *count*, to six decimals; 0.0 for nothing.

    >>> average(2_000_000, 3)
    0.666667

    """
    return ratio(total_millionths, count * _MILLION)


def most_frequent(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """The *most* largest counts above zero, ties by name, in the order of their names.

    >>> most_frequent({"b": 2, "a": 1, "c": 2}, 2)
    {'b': 2, 'c': 2}

    """
    return {name: counts[name] for name in sorted(ranked(counts, most))}


def ranked(counts: Mapping[str, float], most: int) -> list[str]:
    """The names of the *most* largest values above zero, largest first, ties by name.

    >>> ranked({"b": 2, "a": 1, "c": 2}, 2)
    ['b', 'c']

    """
    return [name for name in most_first(counts) if counts[name] > 0][:most]
