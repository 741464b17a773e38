"""Plans describe questions to the graph and ask none themselves.

A *plan* is a generator that yields bound statements and receives their rows; it runs inside one transaction. What it
does not need at once it yields as :class:`Ahead`, and later as itself. A *procedure* is a generator that yields works
(a transaction mode and a plan factory) and receives what the plans return; it is several transactions in a row. All
logic between round trips lives in them once, for both faces.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from hmxgraph.graph.statement import Statement

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ahead:
    """A statement to be sent at once, answered with no rows: the server works while the plan goes on.

    Its rows come when the plan yields the statement itself. A plan asks for them before it sends the next one: a
    failure is told when something is read, and of the statement that was sent or asked for last.
    """

    statement: Statement


Plan: TypeAlias = Generator[Statement | Ahead, list[Row], T]
PlanFactory: TypeAlias = Callable[[], Plan[T]]


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """One transaction to be: its mode and a factory, so that a retried transaction starts a fresh plan."""

    mode: Literal["read", "write", "schema"]
    factory: PlanFactory[T]


Procedure: TypeAlias = Generator[Work[Any], Any, T]


def read(factory: PlanFactory[T]) -> Procedure[T]:
    """What the plan of *factory* returns, asked in one read transaction."""
    value: T = yield Work("read", factory)
    return value


def write(factory: PlanFactory[T]) -> Procedure[T]:
    """What the plan of *factory* returns, done in one write transaction."""
    value: T = yield Work("write", factory)
    return value


def ask(statement: Statement) -> Plan[list[Row]]:
    """The rows of one statement, as a plan."""
    rows = yield statement
    return rows
