"""Rows for people: what a saved query answered, as a table, as JSON, as a picture's nodes and edges."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table


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
            table.add_row(*(str(row[column]) for column in self.columns))
        return table

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, row: Mapping[str, Any]) -> str:
        return "".join(f"<td>{html.escape(str(row[column]))}</td>" for column in self.columns)
