"""What lookups returned about the items that later calls name.

An item is, for example, the variant of a product, a seat, or a flight.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from hmxgraph.compiler._bounded import remember
from hmxgraph.compiler._statements import item_statements, items_of

# Limits: texts that name items, remembered per session; statements kept per call; nesting depth of arguments.
_MOST_ITEMS, _MOST_STATEMENTS, _DEEPEST = 2_000, 16, 4


class ResultItems:
    """The items in the results of a session, by the texts that name them, such as ids.

    >>> items = ResultItems()
    >>> items.add("get_product", {"variants": {"i17": {"available": True}, "i18": {"available": False}}})
    >>> items.statements_about({"order": "W1", "items": ["i17"]})
    (('items', 'get_product', 'available: true'),)
    >>> len(items.statements_about({"items": ["i17", "i18"]})), items.statements_about({"items": ["i17", "i19"]})
    (2, ())

    """

    def __init__(self) -> None:
        self._fields_by_text: dict[str, tuple[str, Mapping[str, str]]] = {}

    def add(self, lookup: str, result: Any) -> None:
        """Remember what *lookup* returned about each item in its result."""
        for name, fields in items_of(result).items():
            remember(self._fields_by_text, name, (lookup, fields), _MOST_ITEMS)

    def statements_about(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
        """What was returned about the items that *arguments* name, as (argument, lookup, statement).

        An argument is skipped if any of its values names no known item: the statements would not cover all its values.
        """
        texts_by_argument: defaultdict[str, list[str]] = defaultdict(list)
        for argument, text in _texts(arguments, ""):
            texts_by_argument[argument].append(text)
        statements = {
            (argument, lookup, statement): None
            for argument, texts in texts_by_argument.items()
            if all(text in self._fields_by_text for text in texts)
            for lookup, fields in map(self._fields_by_text.__getitem__, texts)
            for statement in item_statements(fields)
        }
        return tuple(statements)[:_MOST_STATEMENTS]


def _texts(value: Any, name: str, outer: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (argument, text) for each text in *value*; the key of a nested text is included: "number in flights"."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for key, part in value.items():
            inner = f"{key} in {outer}" if outer else str(key)
            yield from _texts(part, inner, outer or inner, depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, name, outer, depth)
