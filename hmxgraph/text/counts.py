"""Words, names and places by how often they come, in one order wherever somebody ranks them."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar


class _Sortable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


K = TypeVar("K", bound=_Sortable)


def most_first(counts: Mapping[K, float]) -> list[K]:
    """The keys of *counts*, the largest count first, those of equal counts in their own order.

    >>> most_first({"b": 2, "c": 1, "a": 2})
    ['a', 'b', 'c']

    """
    return sorted(sorted(counts), key=counts.__getitem__, reverse=True)
