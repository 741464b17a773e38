"""What every subject of the asynchronous front door stands on."""

from collections.abc import Callable
from typing import Any, TypeVar

from hmxgraph.errors import GraphNotOpen
from hmxgraph.graph.connection import AsyncConnection
from hmxgraph.graph.ingesting import beside
from hmxgraph.graph.plan import Procedure
from hmxgraph.graph.tenancy import Tenancy

T = TypeVar("T")


class AsyncFace:
    """A tenant and its connection, once opened."""

    _tenancy: Tenancy
    _opened: AsyncConnection | None

    @property
    def _connection(self) -> AsyncConnection:
        if self._opened is None:
            raise GraphNotOpen("open it first: async with graph, or await graph")
        return self._opened

    async def _perform(self, procedure: Procedure[T]) -> T:
        return await self._connection.perform(procedure)

    async def _beside(self, function: Callable[..., T], *arguments: Any) -> T:
        return await beside(function, *arguments)
