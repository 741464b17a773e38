"""The only input and output: plans sent statement by statement, procedures transaction by transaction."""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from neo4j import AsyncManagedTransaction, AsyncResult, ManagedTransaction, Result

from hmxgraph.graph.plan import Ahead, Plan, Procedure, Row, Work
from hmxgraph.graph.statement import Statement

T = TypeVar("T")
R = TypeVar("R")
Transact: TypeAlias = Callable[[Work[Any]], Any]
TransactAsync: TypeAlias = Callable[[Work[Any]], Awaitable[Any]]


class Watch(Protocol):
    """Told what is about to be sent and what came back; remembers the statement for error messages."""

    def sent(self, statement: Statement) -> None:
        """*statement* is about to be sent, or to be read."""

    def answered(self, statement: Statement, rows: int, milliseconds: float) -> None:
        """*statement* was answered with so many rows, so many milliseconds after it was sent."""


class _Sent(NamedTuple, Generic[R]):
    """A statement that the server works on."""

    statement: Statement
    began: float
    result: R


def run(plan: Plan[T], tx: ManagedTransaction, watch: Watch) -> T:
    """What *plan* returns after all its statements were answered within *tx*."""
    underway: list[_Sent[Result]] = []

    def send(statement: Statement) -> _Sent[Result]:
        return _Sent(statement, perf_counter(), tx.run(statement.text, statement.parameters))

    try:
        asked = next(plan)
        while True:
            rows: list[Row] = []
            watch.sent(asked.statement if isinstance(asked, Ahead) else asked)
            if isinstance(asked, Ahead):
                underway.append(send(asked.statement))
            else:
                _, began, result = _taken(underway, asked) or send(asked)
                keys = result.keys()
                rows = [dict(zip(keys, record.values(), strict=True)) for record in result]
                watch.answered(asked, len(rows), (perf_counter() - began) * 1000)
            asked = plan.send(rows)
    except StopIteration as stop:
        value: T = stop.value
        return value


async def run_async(plan: Plan[T], tx: AsyncManagedTransaction, watch: Watch) -> T:
    """The awaitable twin of :func:`run`."""
    underway: list[_Sent[AsyncResult]] = []

    async def send(statement: Statement) -> _Sent[AsyncResult]:
        return _Sent(statement, perf_counter(), await tx.run(statement.text, statement.parameters))

    try:
        asked = next(plan)
        while True:
            rows: list[Row] = []
            watch.sent(asked.statement if isinstance(asked, Ahead) else asked)
            if isinstance(asked, Ahead):
                underway.append(await send(asked.statement))
            else:
                _, began, result = _taken(underway, asked) or await send(asked)
                keys = result.keys()
                rows = [dict(zip(keys, record.values(), strict=True)) async for record in result]
                watch.answered(asked, len(rows), (perf_counter() - began) * 1000)
            asked = plan.send(rows)
    except StopIteration as stop:
        value: T = stop.value
        return value


def _taken(underway: list[_Sent[R]], statement: Statement) -> _Sent[R] | None:
    """The *statement* as it was sent ahead, if it was; it is not underway any more."""
    places = (place for place, sent in enumerate(underway) if sent.statement is statement)
    place = next(places, None)
    return None if place is None else underway.pop(place)


def perform(procedure: Procedure[T], transact: Transact) -> T:
    """What *procedure* returns after each of its works went through *transact*."""
    try:
        work = next(procedure)
        while True:
            work = procedure.send(transact(work))
    except StopIteration as stop:
        value: T = stop.value
        return value


async def perform_async(procedure: Procedure[T], transact: TransactAsync) -> T:
    """The awaitable twin of :func:`perform`."""
    try:
        work = next(procedure)
        while True:
            work = procedure.send(await transact(work))
    except StopIteration as stop:
        value: T = stop.value
        return value
