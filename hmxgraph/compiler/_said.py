"""What the result of a lookup says in short lines that may recur: "status: pending", "Airplane Mode: ON"."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from hmxgraph.text.masking import mask_ids, mask_secrets

# Limits: lines of one result, values read of it, lines of a text, which is no report of a state beyond these; nesting.
_MOST, _VALUES, _LINES, _DEEP = 16, 200, 30, 4
# Characters of a line, its words, and the words of a value.
_LONGEST, _WORDS, _VALUE_WORDS = 60, 10, 4
_AROUND = " \t-*\u2022.;,"
_ADDRESS = re.compile(r"@|://")
# Where a line of a text goes over to something else: a sentence ends, or a bar separates the parts of a display.
_PARTS = re.compile(r"(?<=[^\W\d_])\)?\. (?=[A-Z])| \| ")
# The field of a block of text beside its type.
_TEXT = "text"

_Path = tuple[str, ...]


def statements(result: Any) -> tuple[str, ...]:
    r"""The short lines of a result without identifiers: fields with a single value, and the lines of its text.

    >>> statements({"order_id": "#W2378156", "status": "pending", "items": [{"name": "Lamp"}, {"name": "Desk"}]})
    ('status: pending',)
    >>> statements({"value": "Airplane Mode: ON\nData Saver mode is OFF.\nMake a call to 555-123-2002"})
    ('Airplane Mode: ON', 'Data Saver mode is OFF')
    >>> statements("Status Bar: 5G | Data Enabled. Everything is fine.")
    ('Status Bar: 5G', 'Data Enabled', 'Everything is fine')

    """
    values: defaultdict[_Path, dict[str, None]] = defaultdict(dict)
    lines: dict[str, None] = {}
    for path, value in islice(_values(result, ()), _VALUES):
        if path:
            values[path][value] = None
        else:
            lines[value] = None
    # The thing's own fields come before those of its parts, of which there may be too many.
    outer_first = sorted(values.items(), key=lambda field: len(field[0]))
    fields = (f"{path[-1]}: {next(iter(found))}" for path, found in outer_first if len(found) == 1)
    return tuple(islice((line for line in dict.fromkeys([*fields, *lines]) if _is_short(line)), _MOST))


def parts(result: Any) -> dict[str, dict[str, str]]:
    """The own fields of each part of a result, by the texts with digits that only this part has: its key or values.

    >>> parts({"variants": {"i17": {"available": True, "price": 9.5}, "i18": {"available": False, "zip": "1"}}})["i17"]
    {'available': 'true'}

    """
    found: dict[str, dict[str, str]] = {}
    for names, fields in islice(_parts(result, ""), _VALUES):
        for name in dict.fromkeys(names):
            # What two parts have in common names neither.
            found[name] = {} if name in found else fields
    return {name: fields for name, fields in found.items() if fields}


def of_part(fields: Mapping[str, str]) -> Iterator[str]:
    """Yield what the *fields* of a part say, as statements.

    >>> list(of_part({"available": "true", "item": "W2378156", "colour": "red"}))
    ['available: true', 'colour: red']

    """
    yield from islice(filter(_is_short, (f"{name}: {value}" for name, value in fields.items())), _MOST)


def _parts(value: Any, key: str, depth: int = 0) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield each mapping inside *value* with the texts that may name it, and its own fields of texts and flags."""
    if isinstance(value, Mapping) and depth < _DEEP:
        if depth:
            plain = ((str(name), part) for name, part in value.items() if isinstance(part, str | bool))
            own = {name: part if isinstance(part, str) else str(part).lower() for name, part in plain}
            yield [text for text in (key, *own.values()) if len(text) <= _LONGEST and any(map(str.isdigit, text))], own
        for name, part in value.items():
            yield from _parts(part, str(name), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _parts(part, "", max(depth, 1))


def _values(value: Any, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Yield each field with its value, and the lines of texts without a field."""
    match value:
        case bool():
            yield path, str(value).lower()
        case str():
            yield from _of_text(value, path)
        case Mapping() if len(path) < _DEEP:
            alone = not path and len(value) == 1
            for key, part in value.items():
                yield from _values(part, () if alone or key == _TEXT else (*path, str(key)))
        case list():
            for part in value:
                if not isinstance(part, list):
                    yield from _values(part, path)
        case _:
            return


def _of_text(text: str, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Yield a value of a field as it is, a text line by line and sentence by sentence; nothing of a long one."""
    lines = [stripped for line in text.splitlines()[: _LINES + 1] if (stripped := line.strip(_AROUND))]
    if len(lines) > _LINES:
        return
    if path and len(lines) == 1:
        yield path, lines[0]
        return
    for part in (part for line in lines for part in _PARTS.split(line)):
        yield (), part.strip(_AROUND)


def _is_short(line: str) -> bool:
    """Whether *line* is short, and has neither identifiers nor secrets nor addresses."""
    _, mark, value = line.rpartition(": ")
    if len(line) > _LONGEST or len(line.split()) > _WORDS or (mark and len(value.split()) > _VALUE_WORDS):
        return False
    return not _ADDRESS.search(line) and mask_ids(mask_secrets(line)) == line
