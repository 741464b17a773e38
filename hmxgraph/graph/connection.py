"""Transactions against one database: plans run statement by statement, retried, timed out, errors translated."""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeAlias, TypeVar

from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncResult,
    AsyncSession,
    GraphDatabase,
    ManagedTransaction,
    Result,
    Session,
    unit_of_work,
)
from neo4j.exceptions import (
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ResultFailedError,
    ServiceUnavailable,
    SessionExpired,
)

from hmxgraph.errors import (
    AccessDenied,
    DatabaseMissing,
    GraphError,
    GraphNotOpen,
    NotPermitted,
    StatementRefused,
    StorageStopped,
    StorageUnavailable,
)
from hmxgraph.graph import driver
from hmxgraph.graph.driver import Address
from hmxgraph.graph.plan import Ahead, Plan, Procedure, Row, Statement, Work

# Statements sent and answered: the last one for error messages, all of them for a trace.

Trace: TypeAlias = Callable[[str], object]


class TransactionWatch:
    """Remembers the last statement of one transaction and reports each answer to those who listen."""

    def __init__(self, listeners: tuple[Trace, ...]) -> None:
        self.statement = ""
        self._listeners = listeners

    def sent(self, statement: Statement) -> None:
        """Remember the statement in progress."""
        self.statement = statement.name

    def answered(self, statement: Statement, rows: int, milliseconds: float) -> None:
        """Report one line to the listeners: statement, rows, milliseconds."""
        for listener in self._listeners:
            listener(f"{statement.name:<32} {rows:>7} rows {milliseconds:>9.2f} ms")


# Ctrl-C while the driver works: the connection is closed, so that nothing waits for the rest of an answer.


class _Interrupted(KeyboardInterrupt, asyncio.CancelledError):
    """An interrupt that looks like a cancelled task to the driver: only then does it close a connection at once."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the driver's work in the block at once, on the server too.

    Any other exception raised while an answer is read leaves the rest of it on the connection, where the driver then
    waits for ever. Only the main thread can be interrupted, and only if Python's own handler is installed.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    except _Interrupted:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Interrupted


# Driver errors are translated here and nowhere else.

_LOST_RACES = frozenset(
    (
        "Neo.ClientError.Schema.ConstraintValidationFailed",
        # IF NOT EXISTS does not see an index that another client is creating at that moment.
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
        "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
    )
)
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
_STOPPED = (
    "Neo.DatabaseError.Transaction.TransactionLogError",
    "Neo.DatabaseError.Transaction.TransactionStartFailed",
    "Neo.DatabaseError.Transaction.TransactionCommitFailed",
)
_SECURITY = "Neo.ClientError.Security."
_NOT_PERMITTED = (
    "Neo.ClientError.Security.Forbidden",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
)


def translated(error: Neo4jError | DriverError, uri: str, statement: str) -> GraphError:
    """The graph error for a driver's *error*: no answer, no access, or a refused statement."""
    error = origin(error)
    reason = _reason(error)
    if isinstance(error, ServiceUnavailable | SessionExpired | ConfigurationError | DriverError):
        return StorageUnavailable(uri, reason)
    code = error.code or "unknown"
    if code == _NO_DATABASE:
        return DatabaseMissing(uri, reason)
    if code in _STOPPED:
        return StorageStopped(uri, reason)
    if code in _NOT_PERMITTED:
        return NotPermitted(uri, reason)
    if code.startswith(_SECURITY):
        return AccessDenied(uri, reason)
    return StatementRefused(statement or "(none)", code, reason)


def origin(error: Neo4jError | DriverError) -> Neo4jError | DriverError:
    """The server's own error, if the driver only reports that a result had failed."""
    cause = error.__cause__
    return cause if isinstance(error, ResultFailedError) and isinstance(cause, Neo4jError | DriverError) else error


def worth_repeating(error: Neo4jError | DriverError) -> bool:
    """Whether a retry helps: two clients created the same key or index at once, or the error is transient."""
    cause = origin(error)
    return lost_race(cause) or (cause is not error and cause.is_retryable())


def lost_race(error: Exception) -> bool:
    """Whether two clients created the same key or index at once, so that a retry finds it."""
    return isinstance(error, ClientError) and error.code in _LOST_RACES


def _reason(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]


# The only input and output: plans sent statement by statement, procedures transaction by transaction.

T = TypeVar("T")
R = TypeVar("R")
Transact: TypeAlias = Callable[[Work[Any]], Any]
TransactAsync: TypeAlias = Callable[[Work[Any]], Awaitable[Any]]


class Watch(Protocol):
    """Observes statements and answers, and remembers the last statement for error messages."""

    def sent(self, statement: Statement) -> None:
        """*statement* is about to be sent, or its answer to be read."""

    def answered(self, statement: Statement, rows: int, milliseconds: float) -> None:
        """*statement* was answered with this number of rows, this number of milliseconds after it was sent."""


class _Sent(NamedTuple, Generic[R]):
    """A statement in progress."""

    statement: Statement
    began: float
    result: R


def run(plan: Plan[T], tx: ManagedTransaction, watch: Watch) -> T:
    """The value of *plan*, whose statements are sent within *tx*."""
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


async def _run_async(plan: Plan[T], tx: AsyncManagedTransaction, watch: Watch) -> T:
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
    """The statement in progress that *statement* was sent as, if it was sent ahead; removed from *underway*."""
    places = (place for place, sent in enumerate(underway) if sent.statement is statement)
    place = next(places, None)
    return None if place is None else underway.pop(place)


def perform(procedure: Procedure[T], transact: Transact) -> T:
    """The value of *procedure*, each of whose works is passed to *transact*."""
    try:
        work = next(procedure)
        while True:
            work = procedure.send(transact(work))
    except StopIteration as stop:
        value: T = stop.value
        return value


async def _perform_async(procedure: Procedure[T], transact: TransactAsync) -> T:
    """The awaitable twin of :func:`perform`."""
    try:
        work = next(procedure)
        while True:
            work = procedure.send(await transact(work))
    except StopIteration as stop:
        value: T = stop.value
        return value


# Transactions against one database: managed, retried, timed out, their errors translated. Both faces end here.

_TRANSACTION_TIMEOUT = 600.0
RACES = 8
_CLOSED = "it was closed: connect again"
_FORKED = "it was opened in the process that this one was forked from: connect again in this one"
_ELSEWHERE = "it was opened in another event loop: connect again in this one"


class Connection:
    """Performs procedures; one managed transaction per work, causally chained by the driver's bookmarks."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._driver = driver.acquire(address)
        self._process = os.getpid()
        self._closed = False
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._listeners: tuple[Trace, ...] = ()

    def listen(self, listener: Trace) -> Callable[[], None]:
        """Pass one line per statement to *listener* from now on; call the result to stop."""
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def check_open(self) -> None:
        """Refuse to go on if it was closed, or opened by another process, which still reads from the same sockets.

        Raises:
            GraphNotOpen: as said.

        """
        if self._closed:
            raise GraphNotOpen(_CLOSED)
        if self._forked:
            raise GraphNotOpen(_FORKED)

    def verify(self) -> None:
        """Check that the server answers; a transaction would retry for long if it did not.

        Raises:
            StorageUnavailable: nothing answers.
            AccessDenied: the login was refused.

        """
        try:
            with interruptible():
                self._driver.verify_connectivity()
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, "") from error

    def perform(self, procedure: Procedure[T]) -> T:
        """The value of *procedure*.

        Raises:
            GraphError: the server refused or could not be reached, or the connection is closed.

        """
        return perform(procedure, self.transact)

    def transact(self, work: Work[T]) -> T:
        """The value of one work's plan, run in one transaction; a lost race for a key is run again.

        Raises:
            GraphNotOpen: it was closed, or opened by another process, which still reads from the same sockets.

        """
        self.check_open()
        watch = TransactionWatch(self._listeners)
        try:
            with interruptible(), self._session() as session:
                return _attempt(session, work, watch, RACES)
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, watch.statement) from error

    def close(self) -> None:
        """Release the driver, which others may still use; does nothing the second time or in a forked process."""
        if not self._closed and not self._forked:
            driver.release(self.address)
        self._closed = True

    @property
    def _forked(self) -> bool:
        """Whether another process opened it."""
        return self._process != os.getpid()

    def _session(self) -> Session:
        return self._driver.session(database=self.address.database, bookmark_manager=self._bookmarks)

    def _forget(self, listener: Trace) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)


class SharedDriver:
    """The driver of an event loop, and how many connections use it."""

    def __init__(self, opened: AsyncDriver) -> None:
        self.driver = opened
        self.users = 1


class AsyncConnection:
    """The awaitable twin of :class:`Connection`."""

    def __init__(self, address: Address, lender: "AsyncConnection | None" = None) -> None:
        self.address = address
        self._shared = SharedDriver(driver.open_async(address)) if lender is None else lender.lent()
        self._driver = self._shared.driver
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._listeners: tuple[Trace, ...] = ()

    def listen(self, listener: Trace) -> Callable[[], None]:
        """Pass one line per statement to *listener* from now on; call the result to stop."""
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def lent(self) -> "SharedDriver":
        """The driver, for one more connection in the same event loop.

        Raises:
            GraphNotOpen: it was closed, or opened in another event loop.

        """
        self.check_open()
        self._shared.users += 1
        return self._shared

    def check_open(self) -> None:
        """Refuse to go on if it was closed, or opened in another event loop.

        Raises:
            GraphNotOpen: as said.

        """
        if self._closed:
            raise GraphNotOpen(_CLOSED)
        self.check_loop()

    @property
    def abandoned(self) -> bool:
        """Whether the event loop that opened it has ended, so that nothing can be sent or closed any more."""
        return self._loop.is_closed()

    def check_loop(self) -> None:
        """Refuse to run in another event loop than the one that opened it, which owns the sockets.

        Raises:
            GraphNotOpen: the running loop is another one.

        """
        if self._loop is not asyncio.get_running_loop():
            raise GraphNotOpen(_ELSEWHERE)

    async def verify(self) -> None:
        """Return at once where the server answers; errors as :meth:`Connection.verify`."""
        try:
            await self._driver.verify_connectivity()
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, "") from error

    async def perform(self, procedure: Procedure[T]) -> T:
        """The value of *procedure*.

        Raises:
            GraphError: the server refused or could not be reached.

        """
        return await _perform_async(procedure, self.transact)

    async def transact(self, work: Work[T]) -> T:
        """The value of one work's plan, run in one transaction; a lost race for a key is run again."""
        self.check_open()
        watch = TransactionWatch(self._listeners)
        database = self.address.database
        try:
            async with self._driver.session(database=database, bookmark_manager=self._bookmarks) as session:
                return await _attempt_async(session, work, watch, RACES)
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, watch.statement) from error

    async def close(self) -> None:
        """Release the driver, which others may still use; does nothing the second time."""
        if self._closed:
            return
        self._closed = True
        self._shared.users -= 1
        if not self._shared.users:
            await self._driver.close()

    def _forget(self, listener: Trace) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)


def _attempt(session: Session, work: Work[T], watch: TransactionWatch, races: int) -> T:
    @unit_of_work(timeout=_TRANSACTION_TIMEOUT)
    def transaction(tx: ManagedTransaction) -> T:
        return run(work.factory(), tx, watch)

    execute = session.execute_read if work.mode == "read" else session.execute_write
    for _ in range(races):
        try:
            return execute(transaction)
        except (Neo4jError, DriverError) as error:
            if not worth_repeating(error):
                raise
    return execute(transaction)


async def _attempt_async(session: AsyncSession, work: Work[T], watch: TransactionWatch, races: int) -> T:
    @unit_of_work(timeout=_TRANSACTION_TIMEOUT)
    async def transaction(tx: AsyncManagedTransaction) -> T:
        return await _run_async(work.factory(), tx, watch)

    execute = session.execute_read if work.mode == "read" else session.execute_write
    for _ in range(races):
        try:
            return await execute(transaction)
        except (Neo4jError, DriverError) as error:
            if not worth_repeating(error):
                raise
    return await execute(transaction)
