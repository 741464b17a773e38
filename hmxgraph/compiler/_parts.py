"""What lookups said of the parts of their results that later calls name: the variant of a product, a seat, a flight."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from hmxgraph.compiler._bounded import remember
from hmxgraph.compiler._said import of_part, parts

# Parts that are remembered in a session, and statements that are kept of one call; nesting of arguments.
_PARTS, _STATEMENTS, _DEEP = 2_000, 16, 4


class Parts:
    """The parts of the results of a session, by the texts that name them.

    >>> seen = Parts()
    >>> seen.add("get_product", {"variants": {"i17": {"available": True}, "i18": {"available": False}}})
    >>> seen.chosen({"order": "W1", "items": ["i17"]})
    (('items', 'get_product', 'available: true'),)
    >>> len(seen.chosen({"items": ["i17", "i18"]})), seen.chosen({"items": ["i17", "i19"]})
    (2, ())

    """

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, Mapping[str, str]]] = {}

    def add(self, lookup: str, result: Any) -> None:
        """Remember what *lookup* said about each part of its result."""
        for name, fields in parts(result).items():
            remember(self._said, name, (lookup, fields), _PARTS)

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
        """What was said of the parts that an argument names, as (argument, lookup, statement).

        Nothing of an argument with a value that names no part.
        """
        named: defaultdict[str, list[str]] = defaultdict(list)
        for argument, text in _texts(arguments, ""):
            named[argument].append(text)
        found = {
            (argument, lookup, statement): None
            for argument, texts in named.items()
            if all(text in self._said for text in texts)
            for lookup, fields in map(self._said.__getitem__, texts)
            for statement in of_part(fields)
        }
        return tuple(found)[:_STATEMENTS]


def _texts(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in *value*, each with the name of its field."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping) and depth < _DEEP:
        for key, part in value.items():
            yield from _texts(part, str(key), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, name, depth)
