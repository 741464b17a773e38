"""The console: it neutralises control characters in untrusted text, and prints tables without breaking words."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import (
    COLOR_SYSTEMS,
    Console,
    ConsoleDimensions,
    ConsoleOptions,
    ConsoleRenderable,
    Group,
    RenderableType,
    RenderHook,
    RenderResult,
)
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

# Control characters in untrusted text could command the terminal.

# The replacement of each control character except tab and newline. Only ASCII control characters have a visible symbol
# in Unicode (a control picture); U+0080 to U+009F become U+FFFD.
_REPLACEMENTS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_REPLACEMENTS |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
# Bidirectional control characters are replaced, too: they could change the order in which a line is displayed.
_REPLACEMENTS |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)

_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def visible(text: str) -> str:
    r"""*text* with control characters, except tab and newline, as control pictures, or as U+FFFD if they have none.

    >>> visible("\x1b[2J gone?\n")
    '␛[2J gone?\n'

    """
    return text.translate(_REPLACEMENTS)


def escaped(json: str) -> str:
    r"""*json* with the control characters U+007F to U+009F as escapes, which does not change its value.

    The control characters below U+0020 are always escaped in JSON.

    >>> escaped('"\x9b2J"')
    '"\\u009b2J"'

    """
    return json.translate(_ESCAPES)


class _Neutralise(RenderHook):
    """Makes a console apply :func:`visible` to all text."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Wrap each renderable, so that its text is neutralised."""
        return [_Visible(renderable) for renderable in renderables]


class _Visible:
    """A wrapper of a renderable that passes all its text through :func:`visible`."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


# Tables keep words whole, so that ids can be copied and grep finds rows.

# The width, in characters, of output to a pipe or file.
_UNBOUNDED = 10_000


class PipeConsole(Console):
    """A console as wide as its terminal; in a pipe or file, so wide that each row of a table is one line."""

    @property
    def size(self) -> ConsoleDimensions:
        """The size in columns and lines."""
        detected = super().size
        return detected if self.is_terminal else ConsoleDimensions(_UNBOUNDED, detected.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


class UnbrokenTables(RenderHook):
    """Makes *console* print tables without breaking words.

    In a pipe or file, each row is one line without a frame. At a terminal, a table that is too wide is printed as a
    list of headings and values for each row; if it has no headings, values that do not fit are put below the first
    cell. A table with a flexible column, which rich can shrink, always fits.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Replace each table by one that fits, or by lines."""
        return [
            fitting
            for renderable in renderables
            for part in _innermost_parts(renderable)
            for fitting in self._fitting(part)
        ]

    def _fitting(self, renderable: ConsoleRenderable) -> Iterator[ConsoleRenderable]:
        if not isinstance(renderable, Table):
            yield renderable
            return
        if not self._console.is_terminal and _has_only_text(renderable):
            yield from _lines(renderable)
            return
        renderable.expand = renderable.expand and self._console.is_terminal
        for column in renderable.columns:
            _keep_words(column)
        # A flexible column shrinks until the others fit.
        can_shrink = any(column.flexible for column in renderable.columns)
        if can_shrink or self._minimum_width(renderable) <= self._console.width:
            yield renderable
        elif renderable.show_header:
            yield from _name_value_rows(renderable)
        else:
            yield from self._stacked_rows(renderable)

    def _stacked_rows(self, table: Table) -> Iterator[ConsoleRenderable]:
        """The rows of a *table* without headings; if a row is too wide, its other cells are put below the first."""
        if table.title:
            yield Text.assemble((str(table.title), "bold"))
        name_width = max(Text(str(name)).cell_len for name in table.columns[0].cells)
        for name, *values in zip(*(column.cells for column in table.columns), strict=True):
            row = _name_value_table(name_width)
            row.add_row(name, *values)
            if self._minimum_width(row) <= self._console.width:
                yield row
            else:
                yield Text.assemble((str(name), "dim"))
                yield from (Padding(value, (0, 0, 0, 2)) for value in values if str(value))

    def _minimum_width(self, table: Table) -> int:
        return Measurement.get(self._console, self._console.options.update(max_width=_UNBOUNDED), table).minimum


# In a pipe, the cells of a column are padded to its widest cell, so that they line up, but at most to this width.
_MOST_PADDED_WIDTH = 32
# In a pipe, the lines of a cell are joined by this.
_LINE_BREAK = " / "


def _has_only_text(table: Table) -> bool:
    return all(isinstance(cell, str | Text) for column in table.columns for cell in column.cells)


def _lines(table: Table) -> Iterator[ConsoleRenderable]:
    """The rows of *table*, each as one line without a frame or trailing blanks."""
    if table.title:
        yield _line(str(table.title))
    headings = [[str(column.header) for column in table.columns]] if table.show_header else []
    cells = [[_LINE_BREAK.join(str(cell).splitlines()) for cell in column.cells] for column in table.columns]
    rows = [*headings, *map(list, zip(*cells, strict=True))]
    widths = [min(max(map(cell_len, column)), _MOST_PADDED_WIDTH) for column in zip(*rows, strict=True)]
    for row in rows:
        yield _line("  ".join(map(_padded, row, widths, table.columns)).rstrip())


def _padded(cell: str, width: int, column: Column) -> str:
    padding = " " * (width - cell_len(cell))
    return padding + cell if column.justify == "right" else cell + padding


def _line(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ignore")


def _innermost_parts(renderable: RenderableType) -> Iterator[ConsoleRenderable]:
    """The innermost parts of a group or of a one-column grid; any other renderable is returned as its only part."""
    if isinstance(renderable, Group):
        members: list[RenderableType] = list(renderable.renderables)
    elif (
        isinstance(renderable, Table)
        and renderable.box is None
        and len(renderable.columns) == 1
        and not renderable.show_header
    ):
        members = list(renderable.columns[0].cells)
    else:
        yield Text(renderable) if isinstance(renderable, str) else renderable  # type: ignore[misc]
        return
    for part in members:
        yield from _innermost_parts(part)


def _keep_words(column: Column) -> None:
    """Keep a column of single words, such as ids and numbers, on one line; truncate only columns marked ``no_wrap``."""
    single_words = not any(" " in str(cell) or "\n" in str(cell) for cell in column.cells)
    if single_words:
        column.no_wrap = not column.flexible
    if single_words or not column.no_wrap:
        column.overflow = "fold"


def _name_value_rows(table: Table) -> Iterator[ConsoleRenderable]:
    """The rows of *table* one below the other, each as lines with a heading and a value; empty cells are left out."""
    if table.title:
        yield Text.assemble((str(table.title), "bold"))
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        row = _name_value_table()
        for column, cell in zip(table.columns, cells, strict=True):
            if str(cell):
                row.add_row(column.header, cell)
        yield row
        yield Text()


def _name_value_table(name_width: int | None = None) -> Table:
    """An empty table of names and values; the column of names is at least *name_width* characters wide."""
    row = Table(show_header=False, box=None, pad_edge=False)
    row.add_column(style="dim", no_wrap=True, min_width=name_width)
    row.add_column(overflow="fold")
    return row


# Markup and emoji codes are off, because ids, titles and commands may contain brackets and colons. Use Text or the
# argument style= for styles.
out = PipeConsole(markup=False, emoji=False)
err = PipeConsole(stderr=True, markup=False, emoji=False)
for _console in (out, err):
    _console.push_render_hook(UnbrokenTables(_console))
    _console.push_render_hook(_Neutralise())


@contextmanager
def shown_at_terminal(columns: int, colors: str | None, *, no_color: bool) -> Iterator[None]:
    """In the block, print as for a client's terminal that is *columns* wide and has rich's colour system *colors*."""
    saved_attributes = [dict(vars(console)) for console in (out, err)]
    for console in (out, err):
        console.size = (columns, console.height)
        console.no_color = no_color
        # There is no public setter for what a console detects about its terminal.
        console._force_terminal = True  # noqa: SLF001
        console._color_system = COLOR_SYSTEMS[colors] if colors else None  # noqa: SLF001
    try:
        yield
    finally:
        for console, attributes in zip((out, err), saved_attributes, strict=True):
            vars(console).update(attributes)
