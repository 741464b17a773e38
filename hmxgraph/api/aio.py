"""``AsyncKnowledgeGraph``: the awaitable twin of ``KnowledgeGraph``, method for method."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self
from uuid import uuid4
from weakref import WeakKeyDictionary

from hmxgraph.api._async import (
    AsyncArtifacts,
    AsyncBackups,
    AsyncExploring,
    AsyncFingerprints,
    AsyncKeys,
    AsyncLearning,
    AsyncMemoryOperations,
    AsyncRecalling,
    AsyncRecordedSession,
    AsyncRecording,
    AsyncRecords,
    AsyncStates,
    AsyncTasks,
    AsyncUsage,
)
from hmxgraph.api._base import untraced
from hmxgraph.api.graph import (
    Isolation,
    Login,
    address,
    chosen_embedding,
    chosen_masking,
    chosen_timeout,
    revival,
    settling_check,
    tenant_address,
)
from hmxgraph.api.recording import LiveSessions, Recorder
from hmxgraph.graph import deadlines, embeddings
from hmxgraph.graph.connection import DEFAULT_TERMS, AsyncConnection, ConnectionTerms
from hmxgraph.graph.driver import Address
from hmxgraph.graph.embeddings import Embedder
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.schema import migrate
from hmxgraph.protocol.trust import DEFAULT_TRUST, MaskSecrets, TrustPolicy


class AsyncKnowledgeGraph(
    AsyncRecording, AsyncLearning, AsyncRecalling, AsyncArtifacts, AsyncExploring, AsyncFingerprints, AsyncBackups
):
    """One tenant's memory for asynchronous code: opened by ``await`` or ``async with`` (:func:`connect_async`).

    Any number of tasks of its event loop may call the graph at once, each call in its own transactions.
    """

    def __init__(
        self,
        server_address: Callable[[], Address],
        tenant_id: str,
        trust: TrustPolicy = DEFAULT_TRUST,
        isolation: Isolation = "key",
        lender: AsyncConnection | None = None,
        terms: ConnectionTerms = DEFAULT_TERMS,
    ) -> None:
        self._server_address, self._terms = server_address, terms
        # The connection of another graph, whose driver this graph shares; None if this graph has its own driver.
        self._lender = lender
        self._isolation: Isolation = isolation
        self._tenancy = Tenancy.of(tenant_id, trust)
        self._opened: AsyncConnection | None = None
        # Lets tasks that open the graph at the same time share one connection. A lock belongs to one event loop.
        self._opening: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._meter = Meter()
        self._live = LiveSessions()

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        async with self._opening.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if self._opened is None or self._opened.abandoned:
                self._opened = await self._new_connection()
        self._opened.check_loop()
        return self

    async def _new_connection(self) -> AsyncConnection:
        if self._lender is not None:
            return AsyncConnection(self._lender.address, self._terms, self._lender)
        # Starting a local server blocks, so it happens in a thread.
        connection = AsyncConnection(await asyncio.to_thread(self._tenant_address), self._terms)
        try:
            await connection.verify()
            await connection.perform(migrate())
            if self._terms.embedding is not None:
                await connection.perform(embeddings.prepare())
        except BaseException:
            await connection.close()
            raise
        return connection

    def _tenant_address(self) -> Address:
        return tenant_address(self._server_address(), self.tenant_id, self._isolation)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; the graph cannot be used until it is opened again. A second call does nothing."""
        if self._opened is None or self._opened.abandoned:
            self._opened = None
            return
        self._opened.check_loop()
        # The graph can be reopened even if closing fails.
        opened, self._opened = self._opened, None
        await opened.close()

    def timeout(self, seconds: float) -> AbstractContextManager[None]:
        """Limit each transaction of the calls in the block to *seconds*: ``with graph.timeout(5): ...``."""
        return deadlines.timeout(seconds)

    def untraced(self) -> AbstractContextManager[None]:
        """Create no spans for the calls in the block, for use in a span exporter: ``with graph.untraced(): ...``."""
        return untraced()

    @property
    def tasks(self) -> AsyncTasks:
        """Tasks, their runs and evidence."""
        return AsyncTasks(self._tenancy, self._connection, own_database=self._isolation == "database")

    @property
    def records(self) -> AsyncRecords:
        """Task records: create, reply, search."""
        return AsyncRecords(self._tenancy, self._connection, own_database=self._isolation == "database")

    @property
    def memory(self) -> AsyncMemoryOperations:
        """Operations on semantic memories."""
        return AsyncMemoryOperations(self._tenancy, self._connection, self._meter)

    @property
    def keys(self) -> AsyncKeys:
        """API keys that open this tenant's memory through a server."""
        return AsyncKeys(self._tenancy, self._connection)

    @property
    def usage(self) -> AsyncUsage:
        """Usage by hour, and stored compilations."""
        return AsyncUsage(self._tenancy, self._connection)

    @property
    def states(self) -> AsyncStates:
        """State that adapters keep for frameworks, such as checkpoints; nothing is learned from it."""
        return AsyncStates(self._tenancy, self._connection)

    def session(
        self, session_id: str | None = None, *, agent_id: str | None = None, user_id: str | None = None
    ) -> AsyncRecordedSession:
        """A session to record, new unless *session_id* names one: ``async with graph.session() as session``."""
        recorder = Recorder(session_id or str(uuid4()), agent_id, user_id)
        return AsyncRecordedSession(self._tenancy, self._connection, recorder)

    def for_tenant(self, tenant_id: str) -> Self:
        """The graph of another tenant at the same server, to be opened with ``async with`` or ``await``.

        The two graphs have the same trust and isolation. With ``isolation="key"`` they share one driver, which is
        closed with the last graph, and opening the new graph costs no round trip. With ``isolation="database"`` the new
        graph has its own driver, and opening it creates and prepares the tenant's database if missing.

        Raises:
            InvalidTenant: *tenant_id* is empty, contains a NUL, or is not valid Unicode.
            GraphNotOpen: this graph is not open, or was opened in another event loop.

        """
        self._connection.check_open()
        lender = self._connection if self._isolation == "key" else None
        return type(self)(self._server_address, tenant_id, self._tenancy.trust, self._isolation, lender, self._terms)

    @property
    def tenant_id(self) -> str:
        """The tenant of this graph."""
        return self._tenancy.tenant_id


def connect_async(  # noqa: PLR0913 - as connect
    uri: str | None = None,
    *,
    tenant_id: str = "default",
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    isolation: Isolation = "key",
    trust: TrustPolicy = DEFAULT_TRUST,
    mask_secrets: MaskSecrets | None = None,
    progress: bool = False,
    timeout: float | None = None,
    embed: Embedder | str | None = None,
) -> AsyncKnowledgeGraph:
    """The memory of *tenant_id* for asynchronous code; open it with ``async with`` or ``await``.

    Arguments and errors are those of :func:`hmxgraph.connect`, but the server, the database and *isolation* are
    checked only when the graph is opened. *embed* may be asynchronous; a plain function is called in a thread.
    """
    login = Login(uri, user, password, database)
    trust_policy = chosen_masking(trust, mask_secrets)
    terms = ConnectionTerms(chosen_timeout(timeout), revival(login), settling_check(login), chosen_embedding(embed))
    return AsyncKnowledgeGraph(
        lambda: address(login, progress=progress), tenant_id, trust_policy, isolation, terms=terms
    )
