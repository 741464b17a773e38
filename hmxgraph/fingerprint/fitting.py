"""Entries into a number of bytes: first made short, then the lightest left out; the same ones every time."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from hmxgraph.fingerprint.texts import LONGEST_LIST, LONGEST_TEXT, shortened
from hmxgraph.protocol.canonical import canonical_bytes

Entry: TypeAlias = dict[str, Any]
_IDS = ("artifact_id", "cluster_id", "representative_ids")
_SHORTEST = 32
_COMMA = 1


def measured(value: Any) -> int:
    """The bytes of *value* in canonical UTF-8."""
    return len(canonical_bytes(value))


def fitted(entry: Entry, most_bytes: int) -> Entry:
    """*entry* with texts and lists cut until it fits; ids stay whole, so one with a longer id cannot fit.

    >>> sorted(fitted({"artifact_id": "a", "steps": ["x" * 900] * 9}, 2_000)["steps"], key=len)[0][-2:]
    'x…'

    """
    text, many = LONGEST_TEXT, LONGEST_LIST
    while True:
        short = {name: value if name in _IDS else shortened(value, text, many) for name, value in entry.items()}
        if measured(short) <= most_bytes or text <= _SHORTEST:
            return short
        text, many = text // 2, max(many // 2, 2)


def chosen(sets: Mapping[str, Sequence[Entry]], room: int) -> dict[str, list[Entry]]:
    """As much of the *sets* as *room* bytes hold: the first of each set, then the second of each, and so on.

    An entry that does not fit is left out and smaller ones after it may still come in. Each keeps its order.

    >>> chosen({"a": [{"x": 1}, {"x": 222}], "b": [{"y": 1}]}, 17)
    {'a': [{'x': 1}], 'b': [{'y': 1}]}

    """
    kept: dict[str, list[Entry]] = {name: [] for name in sets}
    for row in zip_longest(*sets.values()):
        for name, entry in zip(sets, row, strict=True):
            size = measured(entry) + _COMMA
            if entry is not None and size <= room:
                kept[name].append(entry)
                room -= size
    return kept
