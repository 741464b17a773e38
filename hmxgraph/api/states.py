"""``graph.states``: state that adapters keep for frameworks, such as checkpoints and transcripts."""

from collections.abc import Iterable, Sequence

from hmxgraph.api._base import Face, Moment, as_us, now_us
from hmxgraph.graph import states
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.states import Wanted
from hmxgraph.protocol.states import State


class States(Face):
    """Opaque state of frameworks, kept beside a tenant's memory; it is no evidence, and no pack holds it."""

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def keep(self, kept: Iterable[State], *, replace: bool = False) -> int:
        """Keep states in one transaction; one that is there already stays as it is, unless *replace*.

        >>> import hmxgraph
        >>> with hmxgraph.connect() as graph:  # doctest: +SKIP
        ...     graph.states.keep([State("thread-1", "checkpoint", "", "c1", "", "json", b"{}")])
        1
        """
        return self._perform(states.keep(self._tenancy, tuple(kept), now_us(), replace=replace))

    def on_shelf(
        self,
        shelf: str,
        kind: str,
        *,
        place: str | None = None,
        items: Sequence[str] | None = None,
        as_of: Moment | None = None,
        limit: int | None = None,
    ) -> tuple[State, ...]:
        """States of one kind on a shelf, latest item first.

        Raises:
            InvalidTime: *as_of* is no time.

        """
        wanted = Wanted(shelf, kind, place, items, as_us(as_of), limit)
        return self._perform(states.of_shelf(self._tenancy, wanted), whole=True)

    def of_kind(
        self, kind: str, *, marks: Sequence[str] | None = None, as_of: Moment | None = None
    ) -> tuple[State, ...]:
        """All states of one kind, latest item first; of certain marks only, if given.

        Raises:
            InvalidTime: *as_of* is no time.

        """
        return self._perform(states.of_kind(self._tenancy, kind, marks, as_us(as_of)), whole=True)

    def drop(self, shelf: str, dropped: Iterable[State] | None = None) -> int:
        """Delete states of a shelf, all of them if none are given; the number deleted."""
        return self._perform(states.drop(self._tenancy, shelf, None if dropped is None else tuple(dropped)))
