"""What was sent and when its answer was read: the last statement for error messages, all of them for a trace."""

from collections.abc import Callable
from typing import TypeAlias

from hmxgraph.graph.statement import Statement

Trace: TypeAlias = Callable[[str], object]


class TransactionWatch:
    """Remembers the last statement of one transaction and reports each answer to those who listen."""

    def __init__(self, listeners: tuple[Trace, ...]) -> None:
        self.statement = ""
        self._listeners = listeners

    def sent(self, statement: Statement) -> None:
        """Remember what is under way."""
        self.statement = statement.name

    def answered(self, statement: Statement, rows: int, milliseconds: float) -> None:
        """Tell the listeners one line: statement, rows, milliseconds."""
        for listener in self._listeners:
            listener(f"{statement.name:<32} {rows:>7} rows {milliseconds:>9.2f} ms")
