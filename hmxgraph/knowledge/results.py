"""Rows for people: what a saved query answered, as a table, as JSON, as a picture's nodes and edges."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from rich.table import Table
from rich.text import Text

from hmxgraph.text.shortening import cut_line

# What people know a node by, the best first, and how much of it a table shows.
_NAMES = (
    "name",
    "title",
    "goal",
    "text",
    "summary",
    "reason",
    "session_id",
    "fingerprint_id",
    "artifact_id",
    "event_id",
    "key",
)
_MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer of one saved query: column names and rows of plain values.

    >>> len(QueryResult("explore/x", ("a",), ({"a": 1},)))
    1

    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def document(self) -> dict[str, Any]:
        """The answer as a JSON-able dict."""
        return {"query": self.name, "columns": list(self.columns), "rows": [dict(row) for row in self.rows]}

    def table(self) -> Table:
        """The answer as a table for a terminal."""
        table = Table(*self.columns, title=self.name)
        for row in self.rows:
            table.add_row(*(Text(told(row[column])) for column in self.columns))
        return table

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, row: Mapping[str, Any]) -> str:
        kept = "style='text-align:left;vertical-align:top;white-space:pre-wrap'"
        return "".join(f"<td {kept}>{html.escape(told(row[column]))}</td>" for column in self.columns)


def told(value: Any) -> str:
    """A value in short words: a node by its label and name, a relationship by its type, nothing as nothing.

    >>> told({"labels": ["Entity"], "key": "273f", "name": "kubectl"})
    'Entity: kubectl'
    >>> told({"type": "RELATES_TO", "relation_type": "runs"})
    'runs'
    >>> told(None), told(["a", "b"]), told(0.25), told(True)
    ('', 'a, b', '0.25', 'true')
    >>> told({"seen": 2})
    '{"seen":2}'

    """
    match value:
        case None:
            return ""
        case {"labels": [label, *_]}:
            named = next((str(value[name]) for name in _NAMES if value.get(name)), "")
            return f"{label}: {cut_line(named, _MOST_SHOWN)}"
        case {"type": str(kind), **rest}:
            return str(rest.get("relation_type") or rest.get("relation_kind") or kind)
        case list():
            return ", ".join(map(told, value))
        case bool() | Mapping():
            return orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS).decode()
        case _:
            return str(value)
