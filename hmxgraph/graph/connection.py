"""Run plans in transactions against one database, with retries, deadlines and translated driver errors."""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic, perf_counter, sleep
from types import FrameType
from typing import Any, Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncResult,
    GraphDatabase,
    ManagedTransaction,
    Result,
    unit_of_work,
)
from neo4j.exceptions import (
    ClientError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ResultFailedError,
)

from hmxgraph.errors import (
    AccessDenied,
    DatabaseMissing,
    DeadlineExceeded,
    DocumentError,
    EngineError,
    GraphError,
    GraphNotOpen,
    HmxGraphError,
    LocalServerDied,
    NotPermitted,
    StatementRefused,
    StorageStopped,
    StorageUnavailable,
)
from hmxgraph.graph import driver
from hmxgraph.graph.deadlines import Patience
from hmxgraph.graph.driver import Address
from hmxgraph.graph.embeddings import Embedding
from hmxgraph.graph.plan import Ahead, Embed, Plan, Procedure, Row, Statement, Work, ask, bind

# Statements are observed: error messages name the last one, and a trace lists all.

Trace: TypeAlias = Callable[[str], object]


class TransactionWatch:
    """Remembers the last statement of one transaction and reports each answer to the listeners."""

    def __init__(self, listeners: tuple[Trace, ...]) -> None:
        self.statement = ""
        self._listeners = listeners

    def sent(self, statement: Statement) -> None:
        """Remember *statement*, which is about to be sent, or whose answer is about to be read."""
        self.statement = statement.name

    def answered(self, statement: Statement, rows: int, milliseconds: float) -> None:
        """Report one line to the listeners: the statement, its number of rows, and the time since it was sent."""
        for listener in self._listeners:
            listener(f"{statement.name:<32} {rows:>7} rows {milliseconds:>9.2f} ms")


# Ctrl-C while the driver works: the connection is closed, so that nothing waits for the rest of an answer.


class _Interrupted(KeyboardInterrupt, asyncio.CancelledError):
    """An interrupt that looks like a cancelled task to the driver: only then does it close a connection at once."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the driver's work in the block at once, on the server too.

    The handler raises :class:`_Interrupted`: a plain KeyboardInterrupt, raised while an answer is read, would leave the
    rest of the answer on the connection, and the driver would wait for it for ever. Only the main thread can be
    interrupted, and only if Python's own handler is installed.
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


# Driver errors are translated here; only those about an address are translated where it is opened, in ``driver.py``.

# What the server answers if another client has just created the same key, constraint or index.
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
# The database could not write its files, for instance because the disk is full, and takes no more transactions.
_STOPPED = (
    "Neo.DatabaseError.Transaction.TransactionLogError",
    "Neo.DatabaseError.Transaction.TransactionStartFailed",
    "Neo.DatabaseError.Transaction.TransactionCommitFailed",
)
# A stopping server or an administrator terminated the transaction.
_ENDED = tuple(
    f"Neo.{kind}.Transaction.{name}"
    for kind in ("ClientError", "TransientError")
    for name in ("LockClientStopped", "Terminated")
)
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
_SECURITY = "Neo.ClientError.Security."
_NOT_PERMITTED = (
    "Neo.ClientError.Security.Forbidden",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
)


def translated(error: Neo4jError | DriverError, uri: str, statement: str) -> GraphError:
    """The graph error that corresponds to a driver's *error*."""
    error = origin(error)
    reason = _reason(error)
    code = getattr(error, "code", None) or "unknown"
    if isinstance(error, DriverError) or code in _ENDED:
        return StorageUnavailable(uri, reason)
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
    """The cause of *error*, if the driver only reports that a result had failed; else *error* itself."""
    cause = error.__cause__
    return cause if isinstance(error, ResultFailedError) and isinstance(cause, Neo4jError | DriverError) else error


def worth_repeating(error: Neo4jError | DriverError) -> bool:
    """Whether to retry at once: a race for a key or index was lost, or a failed result has a transient cause."""
    cause = origin(error)
    return _lost_race(cause) or (cause is not error and cause.is_retryable())


def _lost_race(error: Exception) -> bool:
    """Whether two clients created the same key or index at once, so that a retry finds it."""
    return isinstance(error, ClientError) and error.code in _LOST_RACES


def _reason(error: Exception) -> str:
    text = str(getattr(error, "message", None) or str(error) or type(error).__name__).splitlines()[0]
    attempted, resolved, _ = text.partition(" (resolved to ")
    if not resolved:
        return text
    # "Couldn't connect to host:7687 (resolved to ...)": the driver lists the addresses that it tried, but does not say
    # why they failed, as the operating system's message does.
    messages = [cause.strerror for cause in _causes(error) if isinstance(cause, OSError) and cause.strerror]
    return f"{attempted}: {messages[-1]}" if messages else attempted


# Plans and procedures do no I/O: a plan is sent from here statement by statement, a procedure transaction by
# transaction.

T = TypeVar("T")
R = TypeVar("R")
# Returns the value of a transaction, or the vectors of texts, that a procedure asks for.
Answer: TypeAlias = Callable[[Work[Any] | Embed], Any]
AnswerAsync: TypeAlias = Callable[[Work[Any] | Embed], Awaitable[Any]]


class _Sent(NamedTuple, Generic[R]):
    """A statement that was sent, the value of :func:`perf_counter` at that moment, and the result."""

    statement: Statement
    began: float
    result: R


def run(plan: Plan[T], tx: ManagedTransaction, watch: TransactionWatch) -> T:
    """The value of *plan*, whose statements are sent within *tx*."""
    sent_ahead: list[_Sent[Result]] = []

    def send(statement: Statement) -> _Sent[Result]:
        return _Sent(statement, perf_counter(), tx.run(statement.text, statement.parameters))

    try:
        request = next(plan)
        while True:
            rows: list[Row] = []
            watch.sent(request.statement if isinstance(request, Ahead) else request)
            if isinstance(request, Ahead):
                sent_ahead.append(send(request.statement))
            else:
                _, began, result = _pop_sent_ahead(sent_ahead, request) or send(request)
                keys = result.keys()
                rows = [dict(zip(keys, record.values(), strict=True)) for record in result]
                watch.answered(request, len(rows), (perf_counter() - began) * 1000)
            request = plan.send(rows)
    except StopIteration as stop:
        value: T = stop.value
        return value


async def _run_async(plan: Plan[T], tx: AsyncManagedTransaction, watch: TransactionWatch) -> T:
    """The awaitable twin of :func:`run`."""
    sent_ahead: list[_Sent[AsyncResult]] = []

    async def send(statement: Statement) -> _Sent[AsyncResult]:
        return _Sent(statement, perf_counter(), await tx.run(statement.text, statement.parameters))

    try:
        request = next(plan)
        while True:
            rows: list[Row] = []
            watch.sent(request.statement if isinstance(request, Ahead) else request)
            if isinstance(request, Ahead):
                sent_ahead.append(await send(request.statement))
            else:
                _, began, result = _pop_sent_ahead(sent_ahead, request) or await send(request)
                keys = result.keys()
                rows = [dict(zip(keys, record.values(), strict=True)) async for record in result]
                watch.answered(request, len(rows), (perf_counter() - began) * 1000)
            request = plan.send(rows)
    except StopIteration as stop:
        value: T = stop.value
        return value


def _pop_sent_ahead(sent_ahead: list[_Sent[R]], statement: Statement) -> _Sent[R] | None:
    """The entry of *statement* in *sent_ahead*, removed from it; None if it was not sent ahead."""
    indexes = (index for index, sent in enumerate(sent_ahead) if sent.statement is statement)
    index = next(indexes, None)
    return None if index is None else sent_ahead.pop(index)


def perform(procedure: Procedure[T], answer: Answer) -> T:
    """The value of *procedure*; *answer* runs each transaction and computes each embedding that it asks for."""
    try:
        request = next(procedure)
        while True:
            request = procedure.send(answer(request))
    except StopIteration as stop:
        value: T = stop.value
        return value


async def _perform_async(procedure: Procedure[T], answer: AnswerAsync) -> T:
    """The awaitable twin of :func:`perform`."""
    try:
        request = next(procedure)
        while True:
            request = procedure.send(await answer(request))
    except StopIteration as stop:
        value: T = stop.value
        return value


# Transactions against one database, retried within a deadline, with translated errors; the synchronous and the
# asynchronous API both end here.

# Maximum number of immediate retries of one transaction: after lost races, and after failed results with a transient
# cause.
MOST_IMMEDIATE_RETRIES = 8
# Maximum number of retries after reading a half-changed node, and the pause before each in seconds. Readers take no
# locks, and a commit changes the properties of a node one by one. In a test with a constant writer, 36 of 7,439 reads
# got such a node: two of its lists that belong together differed in length.
MOST_REREADS, _REREAD_PAUSE = 3, 0.02
# Longest wait for a connection, in seconds. A longer wait would not help: a server that has just started is slow to
# answer queries, but accepts connections at once.
_LONGEST_ACQUISITION = 15.0
_CLOSED = "it was closed: connect again"
_FORKED = "it was opened before this process was forked: connect again in this process"
_ELSEWHERE = "it was opened in another event loop: connect again in this one"

# Restarts the local server if it died, and returns its address; None if it runs. Raises EngineError if it was stopped
# on purpose or does not start.
Revive: TypeAlias = Callable[[], Address | None]


class ConnectionTerms(NamedTuple):
    """Settings of a connection: its deadlines, how it restarts a local server, and its embedder.

    Each transaction may take *timeout* seconds with its retries, by default as many as :class:`Patience` allows.
    *revive* restarts a local server that died, and is called after a lost connection. *settling* tells whether the
    server has just started. *embedding* computes the vectors of texts.
    """

    timeout: float | None = None
    revive: Revive | None = None
    settling: Callable[[], bool] | None = None
    embedding: Embedding | None = None

    def patience(self, mode: str, *, whole: bool = False) -> Patience:
        """The time limit of a transaction that starts now; with *whole*, the call reads or rewrites a whole tenant."""
        settling = self.settling is not None and self.settling()
        return Patience(mode, self.timeout, whole=whole, settling=settling)


DEFAULT_TERMS = ConnectionTerms()


class Attempts:
    """The attempts of one transaction: whether to make another attempt, and the error to raise if not."""

    def __init__(self, patience: Patience, uri: str, listeners: tuple[Trace, ...]) -> None:
        self.patience = patience
        self.watch = TransactionWatch(listeners)
        self._uri = uri
        self._immediate_retries = 0
        self._rereads = 0

    def session_options(self, database: str, bookmarks: Any) -> dict[str, Any]:
        """The options of the session for the next attempt."""
        return {
            "database": database,
            "bookmark_manager": bookmarks,
            "connection_acquisition_timeout": max(0.001, min(_LONGEST_ACQUISITION, self.patience.left)),
        }

    def pause(self, error: Neo4jError | DriverError | LookupError | TypeError | ValueError) -> float:
        """Seconds to wait before the next attempt after *error*.

        Raises:
            GraphError: another attempt would not help, or there is no time for one.
            LookupError, TypeError, ValueError: *error* itself, raised by a plan: it is a refusal, or reading again did
                not help, or there is no time to read again.

        """
        if isinstance(error, LookupError | TypeError | ValueError):
            return self._pause_before_reread(error)
        server_answered = isinstance(error, Neo4jError) and not isinstance(origin(error), DriverError)
        # A commit whose writing failed may still be in the transaction log, from which a restart recovers it.
        if not server_answered or getattr(origin(error), "code", None) in _STOPPED:
            self.patience.lost()
        if worth_repeating(error) and self._immediate_retries < MOST_IMMEDIATE_RETRIES:
            self._immediate_retries += 1
            return 0.0
        retryable = origin(error).is_retryable() or isinstance(error, IncompleteCommit)
        pause = self.patience.pause() if retryable else None
        if pause is None:
            raise self.error(error) from error
        return pause

    def _pause_before_reread(self, error: LookupError | TypeError | ValueError) -> float:
        """Seconds to wait after a plan failed, perhaps because it read a node half changed (see MOST_REREADS)."""
        # A reading plan parses only what is stored. In a writing plan, the invalid document may be the caller's.
        read_invalid = isinstance(error, DocumentError) and not self.patience.writes
        refusal = isinstance(error, HmxGraphError) and not read_invalid
        if refusal or self._rereads == MOST_REREADS or self.patience.left < _REREAD_PAUSE:
            raise error
        self._rereads += 1
        return _REREAD_PAUSE

    @contextmanager
    def reviving(self) -> Iterator[None]:
        """Do not count the time of restarting a local server; raise a graph error if it does not start."""
        self.patience.lost()
        began = monotonic()
        try:
            yield
        except EngineError as error:
            raise LocalServerDied(self._uri, error.reason, self.patience.outcome) from error
        self.patience.extend(monotonic() - began)

    def error(self, error: Neo4jError | DriverError | TimeoutError) -> GraphError:
        """The graph error for *error*, with what is known of the transaction's outcome."""
        patience = self.patience
        late = patience.left <= 0 or isinstance(error, TimeoutError) or _timed_out(error)
        if late and (isinstance(error, TimeoutError) or _no_answer(error)):
            statement = f" to {self.watch.statement}" if self.watch.statement else ""
            return DeadlineExceeded(self._uri, f"no answer{statement} within {patience.seconds:g} s", patience.outcome)
        assert not isinstance(error, TimeoutError)
        graph_error = translated(error, self._uri, self.watch.statement)
        graph_error.outcome = patience.outcome
        return graph_error


def _timed_out(error: BaseException) -> bool:
    """Whether the server ended the transaction at its timeout."""
    return isinstance(error, Neo4jError) and (error.code or "").startswith(_TIMED_OUT)


def _no_answer(error: BaseException) -> bool:
    """Whether *error* means that no answer came, as opposed to a refused connection."""
    refused = any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error))
    return not refused and (_timed_out(error) or isinstance(error, DriverError))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


class Connection:
    """Performs procedures: one transaction per :class:`Work`, causally chained by the driver's bookmarks."""

    def __init__(self, address: Address, terms: ConnectionTerms = DEFAULT_TERMS) -> None:
        self.address = address
        self.terms = terms
        self._driver = driver.acquire(address)
        self._reopening = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._listeners: tuple[Trace, ...] = ()

    def listen(self, listener: Trace) -> Callable[[], None]:
        """Pass one line per statement to *listener* from now on; call the result to stop."""
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def check_open(self) -> None:
        """Refuse a connection that was closed or that a parent process opened, which still reads from its sockets.

        Raises:
            GraphNotOpen: the connection was closed, or opened by another process.

        """
        if self._closed:
            raise GraphNotOpen(_CLOSED)
        if self._forked:
            raise GraphNotOpen(_FORKED)

    def verify(self) -> None:
        """Check that the server answers; unlike a transaction, this is not retried until a deadline.

        If other connections use the driver, a failed check is repeated once: after a restart of the server, the driver
        may still have sockets that the server closed, and the first failure removes these.

        Raises:
            StorageUnavailable: nothing answers, or the server has no such database.
            AccessDenied: the login was refused.

        """
        attempts = Attempts(self.terms.patience("write"), self.address.uri, ())
        repeats = driver.is_shared(self.address)
        while True:
            try:
                with interruptible(), attempts.patience.attempt():
                    self._attempt(attempts, _PING)
                    return
            except (Neo4jError, DriverError) as error:
                if not (repeats and isinstance(error, DriverError)):
                    raise attempts.error(error) from error
                repeats = False

    def perform(self, procedure: Procedure[T], *, whole: bool = False) -> T:
        """The value of *procedure*; with *whole*, it reads or rewrites a whole tenant and has more time.

        Raises:
            GraphError: the server refused or could not be reached, or the connection is closed.

        """
        writes = WriteCount()
        try:
            return perform(procedure, writes.counted(partial(self._answer, whole=whole)))
        except GraphError as error:
            writes.add_to(error)
            raise

    def _answer(self, request: Work[Any] | Embed, *, whole: bool) -> Any:
        if isinstance(request, Embed):
            assert self.terms.embedding is not None
            return self.terms.embedding.vectors(request)
        return self.transact(request, whole=whole)

    def transact(self, work: Work[T], *, whole: bool = False) -> T:
        """The value of one work's plan, run in one transaction, which is retried if another attempt may succeed.

        Raises:
            GraphNotOpen: the connection was closed, or opened by another process.
            DeadlineExceeded: there was no answer in time.
            GraphError: the database cannot be reached, or refused a statement.

        """
        self.check_open()
        patience = self.terms.patience(work.mode, whole=whole)
        attempts = Attempts(patience, self.address.uri, self._listeners)
        while True:
            try:
                with interruptible(), attempts.patience.attempt():
                    return self._attempt(attempts, work)
            except (Neo4jError, DriverError, LookupError, TypeError, ValueError) as error:
                if self._reopened(error, attempts):
                    continue
                pause = attempts.pause(error)
            with interruptible():
                sleep(pause)

    def close(self) -> None:
        """Release the driver, which other connections may still use; in a forked process, or twice, do nothing."""
        if not self._closed and not self._forked:
            driver.release(self.address)
        self._closed = True

    @property
    def _forked(self) -> bool:
        """Whether another process opened the connection."""
        return self._process != os.getpid()

    def _attempt(self, attempts: Attempts, work: Work[T]) -> T:
        @unit_of_work(timeout=attempts.patience.for_server)
        def transaction(tx: ManagedTransaction) -> T:
            value = run(work.factory(), tx, attempts.watch)
            attempts.patience.committing = True
            return value

        with self._driver.session(**attempts.session_options(self.address.database, self._bookmarks)) as session:
            return (session.execute_read if work.mode == "read" else session.execute_write)(transaction)

    def _reopened(self, error: Exception, attempts: Attempts) -> bool:
        """Restart a local server that died, and connect to it; return whether this call did so.

        Other threads then find the server running, get False, and retry as after any lost connection.
        """
        if self.terms.revive is None or not isinstance(error, DriverError):
            return False
        with attempts.reviving(), self._reopening:
            revived = self.terms.revive()
            if revived is None:
                return False
            address = replace(revived, database=self.address.database)
            new_driver = driver.acquire(address)
            driver.release(self.address)
            self.address, self._driver = address, new_driver
        return True

    def _forget(self, listener: Trace) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)


class WriteCount:
    """Counts the writing transactions of one call, so that an error in a later one can report them."""

    def __init__(self) -> None:
        self._number = 0

    def counted(self, answer: Answer) -> Answer:
        """*answer*, which then also counts the transactions that write."""

        def counting(request: Work[Any] | Embed) -> Any:
            value = answer(request)
            self._number += isinstance(request, Work) and request.mode == "write"
            return value

        return counting

    def counted_async(self, answer: AnswerAsync) -> AnswerAsync:
        """The awaitable twin of :meth:`counted`."""

        async def counting(request: Work[Any] | Embed) -> Any:
            value = await answer(request)
            self._number += isinstance(request, Work) and request.mode == "write"
            return value

        return counting

    def add_to(self, error: GraphError) -> None:
        """Add to *error* what was stored before it."""
        if self._number and not error.stored:
            steps, were = ("step", "was") if self._number == 1 else ("steps", "were")
            error.stored = f"{self._number} earlier {steps} of this call {were} stored"


class _SharedDriver:
    """A driver that connections of one event loop share, and the number of connections that use it."""

    def __init__(self, async_driver: AsyncDriver) -> None:
        self.driver = async_driver
        self.users = 1


class AsyncConnection:
    """The awaitable twin of :class:`Connection`; it shares the driver of *lender*, if given, instead of opening one."""

    def __init__(
        self, address: Address, terms: ConnectionTerms = DEFAULT_TERMS, lender: "AsyncConnection | None" = None
    ) -> None:
        self.address = address
        self.terms = terms
        self._shared = _SharedDriver(driver.open_async(address)) if lender is None else lender.share_driver()
        self._reopening = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._listeners: tuple[Trace, ...] = ()

    def listen(self, listener: Trace) -> Callable[[], None]:
        """Pass one line per statement to *listener* from now on; call the result to stop."""
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def share_driver(self) -> _SharedDriver:
        """The driver, for one more connection in the same event loop.

        Raises:
            GraphNotOpen: this connection was closed, or opened in another event loop.

        """
        self.check_open()
        self._shared.users += 1
        return self._shared

    def check_open(self) -> None:
        """Refuse a connection that was closed, or opened in another event loop.

        Raises:
            GraphNotOpen: it was closed, or opened in another event loop.

        """
        if self._closed:
            raise GraphNotOpen(_CLOSED)
        self.check_loop()

    @property
    def abandoned(self) -> bool:
        """Whether the event loop that opened the connection has ended: nothing can be sent or closed any more."""
        return self._loop.is_closed()

    def check_loop(self) -> None:
        """Refuse any event loop but the one that opened the connection, which owns the sockets.

        Raises:
            GraphNotOpen: the running loop is not the one that opened the connection.

        """
        if self._loop is not asyncio.get_running_loop():
            raise GraphNotOpen(_ELSEWHERE)

    async def verify(self) -> None:
        """Check that the server answers; errors are those of :meth:`Connection.verify`."""
        attempts = Attempts(self.terms.patience("write"), self.address.uri, ())
        try:
            async with asyncio.timeout(attempts.patience.left):
                await self._attempt(attempts, _PING)
        except (Neo4jError, DriverError, TimeoutError) as error:
            raise attempts.error(error) from error

    async def perform(self, procedure: Procedure[T], *, whole: bool = False) -> T:
        """The value of *procedure*; with *whole*, it reads or rewrites a whole tenant and has more time.

        Raises:
            GraphError: the server refused or could not be reached, or the connection is closed.

        """
        writes = WriteCount()
        try:
            return await _perform_async(procedure, writes.counted_async(partial(self._answer, whole=whole)))
        except GraphError as error:
            writes.add_to(error)
            raise

    async def _answer(self, request: Work[Any] | Embed, *, whole: bool) -> Any:
        if isinstance(request, Embed):
            assert self.terms.embedding is not None
            return await self.terms.embedding.vectors_async(request)
        return await self.transact(request, whole=whole)

    async def transact(self, work: Work[T], *, whole: bool = False) -> T:
        """The value of one work's plan, run in one transaction, which is retried if another attempt may succeed."""
        self.check_open()
        patience = self.terms.patience(work.mode, whole=whole)
        attempts = Attempts(patience, self.address.uri, self._listeners)
        while True:
            try:
                async with asyncio.timeout(attempts.patience.left):
                    return await self._attempt(attempts, work)
            except TimeoutError as error:
                attempts.patience.lost()
                raise attempts.error(error) from error
            except (Neo4jError, DriverError, LookupError, TypeError, ValueError) as error:
                if await self._reopened(error, attempts):
                    continue
                pause = attempts.pause(error)
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Release the driver, which other connections may still use; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._shared.users -= 1
        if not self._shared.users:
            await self._shared.driver.close()

    async def _attempt(self, attempts: Attempts, work: Work[T]) -> T:
        @unit_of_work(timeout=attempts.patience.for_server)
        async def transaction(tx: AsyncManagedTransaction) -> T:
            value = await _run_async(work.factory(), tx, attempts.watch)
            attempts.patience.committing = True
            return value

        attempts.patience.committing = False
        async with self._shared.driver.session(
            **attempts.session_options(self.address.database, self._bookmarks)
        ) as session:
            return await (session.execute_read if work.mode == "read" else session.execute_write)(transaction)

    async def _reopened(self, error: Exception, attempts: Attempts) -> bool:
        """Like :meth:`Connection._reopened`; starting a server blocks, so it happens in a thread."""
        if self.terms.revive is None or not isinstance(error, DriverError):
            return False
        with attempts.reviving():
            async with self._reopening:
                revived = await asyncio.to_thread(self.terms.revive)
                if revived is None:
                    return False
                former, self.address = self.address, replace(revived, database=self.address.database)
                if self.address != former:
                    closing, self._shared.driver = self._shared.driver, driver.open_async(self.address)
                    await closing.close()
        return True

    def _forget(self, listener: Trace) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)


_PING: Work[list[Row]] = Work("read", partial(ask, bind("schema_version/get")))
