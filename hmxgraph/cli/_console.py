"""The console: tables whose words stay whole, and no control characters from text that others wrote."""

from collections.abc import Iterator

from rich.console import (
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

# What agents and tools wrote may command a terminal; shown to people, it commands nothing.

# Tab and line end command nothing else. Unicode has pictures of the controls of ASCII, and none of those of Latin-1.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)

_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def visible(text: str) -> str:
    r"""*text* with its control characters as pictures of them.

    >>> visible("\x1b[2J gone?\n")
    '␛[2J gone?\n'

    """
    return text.translate(_PICTURES)


def escaped(json: str) -> str:
    r"""JSON with the control characters that it may hold as they are written as escapes; it means the same.

    >>> escaped('"\x9b2J"')
    '"\\u009b2J"'

    """
    return json.translate(_ESCAPES)


class _Visibly(RenderHook):
    """Lets a console print every text as :func:`visible` shows it."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What rich is about to print, each part inside a wrapper."""
        return [_Visible(renderable) for renderable in renderables]


class _Visible:
    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


# Tables whose words stay whole, so that an id can be copied and a row be found by grep.

# What a program reads has no edge to break lines at; a longer cell is broken, so that its row is not padded for it.
_UNBOUNDED = 10_000


class Lines(Console):
    """A console as wide as its terminal; where it writes to a pipe or file, one row is one line."""

    @property
    def size(self) -> ConsoleDimensions:
        """Columns and lines."""
        found = super().size
        return found if self.is_terminal else ConsoleDimensions(_UNBOUNDED, found.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


class Whole(RenderHook):
    """Lets *console* break no word of a table.

    Where words do not fit side by side, each row becomes a list; of names and values, each value stands below its name.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What rich is about to print, with tables that do not fit as lists."""
        return [fitting for shown in renderables for part in _parts(shown) for fitting in self._fitting(part)]

    def _fitting(self, shown: ConsoleRenderable) -> Iterator[ConsoleRenderable]:
        if not isinstance(shown, Table):
            yield shown
            return
        shown.expand = shown.expand and self._console.is_terminal
        for column in shown.columns:
            _keep_words(column)
        # Where a column says itself that it gives way, the others fit.
        rigid = not any(column.flexible for column in shown.columns)
        if not rigid or self._needs(shown) <= self._console.width:
            yield shown
        elif shown.show_header:
            yield from _listed(shown)
        else:
            yield from self._stacked(shown)

    def _stacked(self, table: Table) -> Iterator[ConsoleRenderable]:
        """The rows of a *table* without headings; one that does not fit has its first cell above the others."""
        if table.title:
            yield Text.assemble((str(table.title), "bold"))
        names = max(Text(str(name)).cell_len for name in table.columns[0].cells)
        for name, *values in zip(*(column.cells for column in table.columns), strict=True):
            row = _row(names)
            row.add_row(name, *values)
            if self._needs(row) <= self._console.width:
                yield row
            else:
                yield Text.assemble((str(name), "dim"))
                yield from (Padding(value, (0, 0, 0, 2)) for value in values if str(value))

    def _needs(self, table: Table) -> int:
        return Measurement.get(self._console, self._console.options.update(max_width=_UNBOUNDED), table).minimum


def _parts(shown: RenderableType) -> Iterator[ConsoleRenderable]:
    """What *shown* is made of: a group and a grid of one column are their parts below one another."""
    if isinstance(shown, Group):
        inside: list[RenderableType] = list(shown.renderables)
    elif isinstance(shown, Table) and shown.box is None and len(shown.columns) == 1 and not shown.show_header:
        inside = list(shown.columns[0].cells)
    else:
        yield Text(shown) if isinstance(shown, str) else shown  # type: ignore[misc]
        return
    for part in inside:
        yield from _parts(part)


def _keep_words(column: Column) -> None:
    """Let ids, types and numbers stay on their line, and nothing be cut but what is meant to be a single line."""
    of_words = not any(" " in str(cell) or "\n" in str(cell) for cell in column.cells)
    if of_words:
        column.no_wrap = not column.flexible
    if of_words or not column.no_wrap:
        column.overflow = "fold"


def _listed(table: Table) -> Iterator[ConsoleRenderable]:
    """The rows of *table* below one another, each as lines of name and value; what is empty is left out."""
    if table.title:
        yield Text.assemble((str(table.title), "bold"))
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        row = _row()
        for column, cell in zip(table.columns, cells, strict=True):
            if str(cell):
                row.add_row(column.header, cell)
        yield row
        yield Text()


def _row(names: int | None = None) -> Table:
    """A table for names, as wide as the longest or *names* cells, and their values."""
    row = Table(show_header=False, box=None, pad_edge=False)
    row.add_column(style="dim", no_wrap=True, min_width=names)
    row.add_column(overflow="fold")
    return row


# Ids, titles and commands hold brackets and colons: what is printed is text as it stands, styled by Text and style=.
out = Lines(markup=False, emoji=False)
err = Lines(stderr=True, markup=False, emoji=False)
for _console in (out, err):
    _console.push_render_hook(Whole(_console))
    _console.push_render_hook(_Visibly())
