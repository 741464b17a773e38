"""What every subject of the front door stands on: whose memory it is, and a way to perform."""

from collections.abc import Callable
from typing import Any, TypeVar

from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Procedure
from hmxgraph.graph.tenancy import Tenancy

T = TypeVar("T")


class Face:
    """A tenant and its connection."""

    _tenancy: Tenancy
    _connection: Connection

    def _perform(self, procedure: Procedure[T]) -> T:
        return self._connection.perform(procedure)

    def _beside(self, function: Callable[..., T], *arguments: Any) -> T:
        """What *function* returns; the asynchronous twin does it beside the event loop."""
        return function(*arguments)
