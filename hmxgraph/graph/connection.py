"""Transactions against one database: managed, retried, timed out, their errors translated. Both faces end here."""

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

from neo4j import (
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncSession,
    GraphDatabase,
    ManagedTransaction,
    Session,
    unit_of_work,
)
from neo4j.exceptions import DriverError, Neo4jError

from hmxgraph.errors import GraphNotOpen
from hmxgraph.graph import drivers
from hmxgraph.graph.address import Address
from hmxgraph.graph.interrupts import interruptible
from hmxgraph.graph.plan import Procedure, Work
from hmxgraph.graph.runner import perform, perform_async, run, run_async
from hmxgraph.graph.translation import translated, worth_repeating
from hmxgraph.graph.watch import Trace, TransactionWatch

T = TypeVar("T")
TRANSACTION_TIMEOUT = 600.0
RACES = 8
_CLOSED = "it was closed: connect again"
_FORKED = "it was opened in the process that this one was forked from: connect again in this one"
_ELSEWHERE = "it was opened in another event loop: connect again in this one"


class Connection:
    """Performs procedures; one managed transaction per work, causally chained by the driver's bookmarks."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._driver = drivers.acquire(address)
        self._process = os.getpid()
        self._closed = False
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._listeners: tuple[Trace, ...] = ()

    def listen(self, listener: Trace) -> Callable[[], None]:
        """Tell *listener* one line per statement from now on; call what you get to stop."""
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def verify(self) -> None:
        """Return at once where the server answers; a transaction would go on trying a dead one for long.

        Raises:
            StorageUnavailable: nobody answers.
            AccessDenied: the login was refused.

        """
        try:
            with interruptible():
                self._driver.verify_connectivity()
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, "") from error

    def perform(self, procedure: Procedure[T]) -> T:
        """What *procedure* returns.

        Raises:
            GraphError: the server refused or could not be reached, or the connection is closed.

        """
        return perform(procedure, self.transact)

    def transact(self, work: Work[T]) -> T:
        """What one work's plan returns, done in one transaction; a lost race on a key is run again.

        Raises:
            GraphNotOpen: it was closed, or opened by another process: answers on shared sockets would get mixed up.

        """
        if self._closed:
            raise GraphNotOpen(_CLOSED)
        if self._forked:
            raise GraphNotOpen(_FORKED)
        watch = TransactionWatch(self._listeners)
        try:
            with interruptible(), self._session() as session:
                return _attempt(session, work, watch, RACES)
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, watch.statement) from error

    def close(self) -> None:
        """Give the driver back, which others may go on using; nothing the second time, or in a forked process."""
        if not self._closed and not self._forked:
            drivers.release(self.address)
        self._closed = True

    @property
    def _forked(self) -> bool:
        """Whether this process is not the one that opened it."""
        return self._process != os.getpid()

    def _session(self) -> Session:
        return self._driver.session(database=self.address.database, bookmark_manager=self._bookmarks)

    def _forget(self, listener: Trace) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)


class AsyncConnection:
    """The awaitable twin of :class:`Connection`."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._driver = drivers.open_async(address)
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._listeners: tuple[Trace, ...] = ()

    def listen(self, listener: Trace) -> Callable[[], None]:
        """Tell *listener* one line per statement from now on; call what you get to stop."""
        self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    @property
    def abandoned(self) -> bool:
        """Whether the event loop in which it was opened has ended, and with it all that could be asked or closed."""
        return self._loop.is_closed()

    def check_loop(self) -> None:
        """Nothing, in the event loop in which it was opened: its sockets belong to that one.

        Raises:
            GraphNotOpen: this is another one.

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
        """What *procedure* returns.

        Raises:
            GraphError: the server refused or could not be reached.

        """
        return await perform_async(procedure, self.transact)

    async def transact(self, work: Work[T]) -> T:
        """What one work's plan returns, done in one transaction; a lost race on a key is run again."""
        if self._closed:
            raise GraphNotOpen(_CLOSED)
        self.check_loop()
        watch = TransactionWatch(self._listeners)
        database = self.address.database
        try:
            async with self._driver.session(database=database, bookmark_manager=self._bookmarks) as session:
                return await _attempt_async(session, work, watch, RACES)
        except (Neo4jError, DriverError) as error:
            raise translated(error, self.address.uri, watch.statement) from error

    async def close(self) -> None:
        """Close the driver."""
        self._closed = True
        await self._driver.close()

    def _forget(self, listener: Trace) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)


def _attempt(session: Session, work: Work[T], watch: TransactionWatch, races: int) -> T:
    @unit_of_work(timeout=TRANSACTION_TIMEOUT)
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
    @unit_of_work(timeout=TRANSACTION_TIMEOUT)
    async def transaction(tx: AsyncManagedTransaction) -> T:
        return await run_async(work.factory(), tx, watch)

    execute = session.execute_read if work.mode == "read" else session.execute_write
    for _ in range(races):
        try:
            return await execute(transaction)
        except (Neo4jError, DriverError) as error:
            if not worth_repeating(error):
                raise
    return await execute(transaction)
