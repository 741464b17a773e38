"""The statements in a result: short lines that may recur in other sessions, such as "status: pending"."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from hmxgraph.text.masking import mask_ids, mask_secrets

# Limits: statements per result, values read per result, lines per text, and nesting depth. A text of more lines is
# ignored, because it is a document rather than a report of a state.
_MOST_STATEMENTS, _MOST_VALUES, _MOST_LINES, _DEEPEST = 16, 200, 30, 4
# Limits of a statement: its characters, its words, and the words of its value.
_LONGEST_STATEMENT, _MOST_WORDS, _MOST_VALUE_WORDS = 60, 10, 4
# List markers and punctuation, removed at both ends of a line.
_EDGES = " \t-*\u2022.;,"
_ADDRESS = re.compile(r"@|://")
# Where to split a line of text: after a sentence, or at a bar between parts ("Status Bar: 5G | Data Enabled").
_BREAKS = re.compile(r"(?<=[^\W\d_])\)?\. (?=[A-Z])| \| ")
# The field that holds the text of a content block, next to its type.
_TEXT = "text"

# The keys that lead to a value, the outermost first.
_Path = tuple[str, ...]


def statements(result: Any) -> tuple[str, ...]:
    r"""The statements in a result: its fields with a single value, then the lines of its text.

    Only short ones without identifiers are returned, because others do not recur.

    >>> statements({"order_id": "#W2378156", "status": "pending", "items": [{"name": "Lamp"}, {"name": "Desk"}]})
    ('status: pending',)
    >>> statements({"value": "Airplane Mode: ON\nData Saver mode is OFF.\nMake a call to 555-123-2002"})
    ('Airplane Mode: ON', 'Data Saver mode is OFF')
    >>> statements("Status Bar: 5G | Data Enabled. Everything is fine.")
    ('Status Bar: 5G', 'Data Enabled', 'Everything is fine')

    """
    values: defaultdict[_Path, dict[str, None]] = defaultdict(dict)
    lines: dict[str, None] = {}
    for path, value in islice(_values(result, ()), _MOST_VALUES):
        if path:
            values[path][value] = None
        else:
            lines[value] = None
    # The fields of inner items come last, because they may be so many that the limit cuts them off.
    outer_first = sorted(values.items(), key=lambda field: len(field[0]))
    fields = (f"{path[-1]}: {next(iter(texts))}" for path, texts in outer_first if len(texts) == 1)
    return tuple(islice((line for line in dict.fromkeys([*fields, *lines]) if _is_statement(line)), _MOST_STATEMENTS))


def items_of(result: Any) -> dict[str, dict[str, str]]:
    """The fields of each item in a result, by the texts that name the item.

    An item is an object inside the result. It is named by the key under which it is stored and by its text fields, as
    far as they contain a digit. A text that names several items is left out.

    >>> items_of({"variants": {"i17": {"available": True, "n": 9.5}, "i18": {"available": False, "zip": "1"}}})["i17"]
    {'available': 'true'}

    """
    items: dict[str, dict[str, str]] = {}
    for names, fields in islice(_items(result, ""), _MOST_VALUES):
        for name in dict.fromkeys(names):
            items[name] = {} if name in items else fields
    return {name: fields for name, fields in items.items() if fields}


def item_statements(fields: Mapping[str, str]) -> Iterator[str]:
    """Yield the *fields* of an item as statements.

    >>> list(item_statements({"available": "true", "item": "W2378156", "colour": "red"}))
    ['available: true', 'colour: red']

    """
    yield from islice(filter(_is_statement, (f"{name}: {value}" for name, value in fields.items())), _MOST_STATEMENTS)


def _items(value: Any, key: str, depth: int = 0) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield each object inside *value*, as (the texts that name it, its text fields and flags)."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        if depth:
            plain = ((str(name), part) for name, part in value.items() if isinstance(part, str | bool))
            fields = {name: part if isinstance(part, str) else str(part).lower() for name, part in plain}
            names = [
                text
                for text in (key, *fields.values())
                if len(text) <= _LONGEST_STATEMENT and any(map(str.isdigit, text))
            ]
            yield names, fields
        for name, part in value.items():
            yield from _items(part, str(name), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _items(part, "", max(depth, 1))


def _values(value: Any, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Yield each flag and one-line text with the path of its field, and the lines of longer texts with an empty path.

    A field that is the only one of the result, or that is called "text", is a mere wrapper: its value counts as if it
    were the result.
    """
    match value:
        case bool():
            yield path, str(value).lower()
        case str():
            yield from _text_lines(value, path)
        case Mapping() if len(path) < _DEEPEST:
            is_only_field = not path and len(value) == 1
            for key, part in value.items():
                yield from _values(part, () if is_only_field or key == _TEXT else (*path, str(key)))
        case list():
            for part in value:
                if not isinstance(part, list):
                    yield from _values(part, path)
        case _:
            return


def _text_lines(text: str, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Yield a field value of one line whole, and other text split into lines and sentences; nothing for a long text."""
    lines = [stripped for line in text.splitlines()[: _MOST_LINES + 1] if (stripped := line.strip(_EDGES))]
    if len(lines) > _MOST_LINES:
        return
    if path and len(lines) == 1:
        yield path, lines[0]
        return
    for part in (part for line in lines for part in _BREAKS.split(line)):
        yield (), part.strip(_EDGES)


def _is_statement(line: str) -> bool:
    """Whether *line* can be a statement: it is short and contains no identifier, secret or address."""
    _, separator, value = line.rpartition(": ")
    if (
        len(line) > _LONGEST_STATEMENT
        or len(line.split()) > _MOST_WORDS
        or (separator and len(value.split()) > _MOST_VALUE_WORDS)
    ):
        return False
    return not _ADDRESS.search(line) and mask_ids(mask_secrets(line)) == line
