"""``AsyncKnowledgeGraph``: the awaitable twin of ``KnowledgeGraph``, method for method."""

import asyncio
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Self

from hmxgraph.graph.address import Address
from hmxgraph.graph.connection import AsyncConnection
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.schema import migrate
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.knowledge.awaitable.artifacts import AsyncArtifacts
from hmxgraph.knowledge.awaitable.exploring import AsyncExploring
from hmxgraph.knowledge.awaitable.fingerprints import AsyncFingerprints
from hmxgraph.knowledge.awaitable.learning import AsyncLearning
from hmxgraph.knowledge.awaitable.memory_operations import AsyncMemoryOperations
from hmxgraph.knowledge.awaitable.recalling import AsyncRecalling
from hmxgraph.knowledge.awaitable.recording import AsyncRecording
from hmxgraph.knowledge.awaitable.records import AsyncRecords
from hmxgraph.knowledge.awaitable.tasks import AsyncTasks
from hmxgraph.knowledge.isolation import Isolation, isolated
from hmxgraph.knowledge.settings import Login, address


class AsyncKnowledgeGraph(
    AsyncRecording, AsyncLearning, AsyncRecalling, AsyncArtifacts, AsyncExploring, AsyncFingerprints
):
    """One tenant's memory for asynchronous code: opened by ``await`` or ``async with`` (:func:`connect_async`)."""

    def __init__(self, locate: Callable[[], Address], tenant_id: str) -> None:
        self._locate = locate
        self._tenancy = Tenancy.of(tenant_id)
        self._opened: AsyncConnection | None = None
        self._meter = Meter()

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        if self._opened is None:
            # Starting a local server blocks, so it happens beside the event loop.
            self._opened = AsyncConnection(await asyncio.to_thread(self._locate))
            try:
                await self._opened.verify()
                await self._opened.perform(migrate())
            except BaseException:
                await self.close()
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; the graph cannot be asked until it is opened again. A second time does nothing."""
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    @property
    def tasks(self) -> AsyncTasks:
        """Tasks, their runs and evidence."""
        return AsyncTasks(self._tenancy, self._connection)

    @property
    def records(self) -> AsyncRecords:
        """Task records as the unit of exchange: created, replied to, found."""
        return AsyncRecords(self._tenancy, self._connection)

    @property
    def memory(self) -> AsyncMemoryOperations:
        """Operations on semantic memories."""
        return AsyncMemoryOperations(self._tenancy, self._connection, self._meter)

    @property
    def tenant_id(self) -> str:
        """Whose memory this is."""
        return self._tenancy.tenant_id


def connect_async(
    uri: str | None = None,
    *,
    tenant_id: str = "default",
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    isolation: Isolation = "key",
    progress: bool = False,
) -> AsyncKnowledgeGraph:
    """The memory of *tenant_id* for asynchronous code, to be opened by ``async with`` or ``await``.

    Addresses and errors are those of :func:`hmxgraph.connect`.
    """
    login = Login(uri, user, password, database)
    return AsyncKnowledgeGraph(lambda: isolated(address(login, progress=progress), tenant_id, isolation), tenant_id)
