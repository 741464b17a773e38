"""Display of values: HTML tables for notebooks, and truncated texts."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# Truncated texts.


def truncate(text: str, most: int) -> str:
    """*text* in at most *most* characters, ending in an ellipsis if it was longer.

    >>> truncate("verify", 6), truncate("verify it", 6), truncate("verify it", 8)
    ('verify', 'verif…', 'verify…')

    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def truncate_line(text: str, most: int) -> str:
    r"""*text* on one line, white space collapsed, in at most *most* characters.

    >>> truncate_line("verify\n  it", 20)
    'verify it'

    """
    return truncate(" ".join(text.split()), most)


# HTML tables for notebooks.

# Maximum number of rows of a table, and of entries of a list, that are shown; the rest are only counted.
MOST_ROWS = 25
_TABLE = "<table style='text-align:left'>"
_CELL = "style='text-align:left;vertical-align:top;white-space:pre-wrap'"


class HtmlTable:
    """Mixin for values that a notebook shows as an HTML table of their document."""

    __slots__ = ()

    def document(self) -> dict[str, Any]:
        """The value as a JSON-able dict."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_table(self.document())


def html_table(value: Any) -> str:
    """HTML of a JSON value.

    An object becomes a table of names and values. A list or mapping of objects becomes a table with a column for each
    field, any other list its entries separated by commas. Null, an empty string and an empty list become empty text.

    >>> html_table({"tags": ["a", "b"]}).endswith(">a, b</td></tr></table>")
    True

    """
    match value:
        case None | "" | () | []:
            return ""
        case Mapping() if value and all(isinstance(part, Mapping) for part in value.values()):
            return _table([{"": name, **part} for name, part in value.items()])
        case Mapping():
            rows = (_row((escape(str(name)), html_table(part))) for name, part in value.items())
            return f"{_TABLE}{''.join(rows)}</table>"
        case [Mapping(), *_] if all(isinstance(part, Mapping) for part in value):
            return _table(value)
        case list() | tuple():
            return _with_hidden_count(value, ", ".join(html_table(part) for part in value[:MOST_ROWS]))
        case _:
            return escape(str(value))


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows[:MOST_ROWS] for name in row))
    head = "".join(f"<th {_CELL}>{escape(str(name))}</th>" for name in columns)
    body = "".join(_row([html_table(row.get(name)) for name in columns]) for row in rows[:MOST_ROWS])
    return _with_hidden_count(rows, f"{_TABLE}<tr>{head}</tr>{body}</table>")


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in cells)}</tr>"


def _with_hidden_count(values: Sequence[Any], html: str) -> str:
    hidden_count = len(values) - MOST_ROWS
    return f"{html} and {hidden_count} more" if hidden_count > 0 else html


# Texts of compact results.

_LONGEST_SHORT_TEXT = 160  # characters


def short_text(text: str) -> str:
    """*text* on one line, in at most 160 characters.

    >>> short_text("two   words")
    'two words'
    """
    return truncate_line(text, _LONGEST_SHORT_TEXT)
