"""The only input and output: plans sent statement by statement, procedures transaction by transaction."""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, Protocol, TypeAlias, TypeVar

from neo4j import AsyncManagedTransaction, ManagedTransaction

from hmxgraph.graph.plan import Plan, Procedure, Row, Work
from hmxgraph.graph.statement import Statement

T = TypeVar("T")
Transact: TypeAlias = Callable[[Work[Any]], Any]
TransactAsync: TypeAlias = Callable[[Work[Any]], Awaitable[Any]]


class Watch(Protocol):
    """Told what is about to be sent and what came back; remembers the statement for error messages."""

    def sent(self, statement: Statement) -> None:
        """*statement* is about to be sent."""

    def answered(self, statement: Statement, rows: int, milliseconds: float) -> None:
        """*statement* was answered with so many rows after so many milliseconds."""


def run(plan: Plan[T], tx: ManagedTransaction, watch: Watch) -> T:
    """What *plan* returns after all its statements were answered within *tx*."""
    try:
        statement = next(plan)
        while True:
            watch.sent(statement)
            began = perf_counter()
            result = tx.run(statement.text, statement.parameters)
            keys = result.keys()
            rows = [dict(zip(keys, record.values(), strict=True)) for record in result]
            watch.answered(statement, len(rows), (perf_counter() - began) * 1000)
            statement = plan.send(rows)
    except StopIteration as stop:
        value: T = stop.value
        return value


async def run_async(plan: Plan[T], tx: AsyncManagedTransaction, watch: Watch) -> T:
    """The awaitable twin of :func:`run`."""
    try:
        statement = next(plan)
        while True:
            watch.sent(statement)
            began = perf_counter()
            result = await tx.run(statement.text, statement.parameters)
            keys = result.keys()
            rows: list[Row] = [dict(zip(keys, record.values(), strict=True)) async for record in result]
            watch.answered(statement, len(rows), (perf_counter() - began) * 1000)
            statement = plan.send(rows)
    except StopIteration as stop:
        value: T = stop.value
        return value


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
