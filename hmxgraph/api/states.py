"""``graph.states``: state that adapters keep for frameworks, such as checkpoints and transcripts."""

from collections.abc import Iterable, Sequence

from hmxgraph.api._base import Face, Moment, as_us, now_us
from hmxgraph.graph import states
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.states import StateQuery
from hmxgraph.protocol.states import State


class States(Face):
    """Opaque state of frameworks, stored next to a tenant's memory: never used as evidence, never part of a pack.

    A *shelf* holds what is read and deleted together, such as a thread; see :class:`hmxgraph.protocol.states.State`.
    """

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def keep(self, new: Iterable[State], *, replace: bool = False) -> int:
        """Keep states in one transaction; return how many were given.

        A state that is stored already is left unchanged unless *replace* is set.

        Example::

            from hmxgraph.protocol.states import State

            state = State("thread-1", "checkpoint", place="", item="c1", part="", format="json", body=b"{}")
            assert graph.states.keep([state]) == 1
            assert [kept.item for kept in graph.states.on_shelf("thread-1", "checkpoint")] == ["c1"]

        """
        return self._perform(states.keep(self._tenancy, tuple(new), now_us(), replace=replace))

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
        """States of one kind on a shelf, in descending order of *item*; at most *limit*.

        Conditions, all of which must hold: the state has this *place*, it has one of these *items*, and it was stored
        by *as_of*.

        Raises:
            InvalidTime: *as_of* is not a valid time.

        """
        query = StateQuery(shelf, kind, place, items, as_us(as_of), limit)
        return self._perform(states.of_shelf(self._tenancy, query), whole=True)

    def of_kind(
        self, kind: str, *, marks: Sequence[str] | None = None, as_of: Moment | None = None
    ) -> tuple[State, ...]:
        """States of one kind on all shelves, in descending order of *item*; with *marks*, only those with such a mark.

        Raises:
            InvalidTime: *as_of* is not a valid time.

        """
        return self._perform(states.of_kind(self._tenancy, kind, marks, as_us(as_of)), whole=True)

    def drop(self, shelf: str, unneeded: Iterable[State] | None = None) -> int:
        """Delete the *unneeded* states of a shelf, or all of them if None; return the number of states deleted."""
        return self._perform(states.drop(self._tenancy, shelf, None if unneeded is None else tuple(unneeded)))
