"""Values for people: tables in a notebook, and texts cut to one short line."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# Texts cut to what there is room for, with an ellipsis where they go on.


def cut(text: str, most: int) -> str:
    """*text*, or its beginning and an ellipsis, in at most *most* characters.

    >>> cut("verify", 6), cut("verify it", 6), cut("verify it", 8)
    ('verify', 'verif…', 'verify…')

    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def cut_line(text: str, most: int) -> str:
    r"""The same on one line, each run of white space as one blank.

    >>> cut_line("verify\n  it", 20)
    'verify it'

    """
    return cut(" ".join(text.split()), most)


# A value as tables in a notebook: what a document holds, nothing else.

MOST_ROWS = 25
_TABLE = "<table style='text-align:left'>"
_CELL = "style='text-align:left;vertical-align:top;white-space:pre-wrap'"


class Shown:
    """A value that a notebook shows as the tables of its document."""

    __slots__ = ()

    def document(self) -> dict[str, Any]:
        """The value as JSON values."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return shown(self.document())


def shown(value: Any) -> str:
    """HTML of a JSON value: an object as rows of name and value, objects in a list or under names as a table.

    >>> shown({"tags": ["a", "b"]}).endswith(">a, b</td></tr></table>")
    True

    """
    match value:
        case None | "" | () | []:
            return ""
        case Mapping() if value and all(isinstance(part, Mapping) for part in value.values()):
            return _table([{"": name, **part} for name, part in value.items()])
        case Mapping():
            return f"{_TABLE}{''.join(_row((escape(str(name)), shown(part))) for name, part in value.items())}</table>"
        case [Mapping(), *_] if all(isinstance(part, Mapping) for part in value):
            return _table(value)
        case list() | tuple():
            return _more(value, ", ".join(shown(part) for part in value[:MOST_ROWS]))
        case _:
            return escape(str(value))


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows[:MOST_ROWS] for name in row))
    head = "".join(f"<th {_CELL}>{escape(str(name))}</th>" for name in columns)
    body = "".join(_row([shown(row.get(name)) for name in columns]) for row in rows[:MOST_ROWS])
    return _more(rows, f"{_TABLE}<tr>{head}</tr>{body}</table>")


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in cells)}</tr>"


def _more(values: Sequence[Any], told: str) -> str:
    left = len(values) - MOST_ROWS
    return f"{told} and {left} more" if left > 0 else told


# Values of tasks.matching.

# Characters of a text in a compact answer.
SHORT = 160


def shortened(text: str) -> str:
    """*text* on one line, cut to what a compact answer shows.

    >>> shortened("two   words")
    'two words'
    """
    return cut_line(text, SHORT)
