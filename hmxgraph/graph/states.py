"""State that adapters keep in the graph for agent frameworks; not part of memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hmxgraph.graph.plan import Plan, Procedure, Tenancy, bind, read, write
from hmxgraph.protocol.states import State


@dataclass(frozen=True, slots=True)
class StateQuery:
    """Selects states on a shelf (such as a thread) by kind, and optionally by place and items; see :class:`State`.

    With *as_of_us*, only states that were first stored by then; with *limit*, at most that many.
    """

    shelf: str
    kind: str
    place: str | None = None
    items: Sequence[str] | None = None
    as_of_us: int | None = None
    limit: int | None = None


def key_of(tenancy: Tenancy, state: State) -> str:
    """The key of a state's node."""
    return tenancy.node_key("state", *state.names())


def keep(tenancy: Tenancy, states: Iterable[State], now_us: int, *, replace: bool) -> Procedure[int]:
    """Store *states* and return their number; without *replace*, states that are already stored stay unchanged."""
    rows = [
        {
            "key": key_of(tenancy, state),
            "replace": replace,
            "properties": {
                "shelf_key": tenancy.node_key("shelf", state.shelf),
                "shelf": state.shelf,
                "kind": state.kind,
                "place": state.place,
                "item": state.item,
                "part": state.part,
                "format": state.format,
                "body": state.body,
                "mark": state.mark,
            },
        }
        for state in states
    ]

    def plan() -> Plan[int]:
        result = yield bind("states/keep", tenant_id=tenancy.tenant_id, rows=rows, now_us=now_us)
        number: int = result[0]["states"]
        return number

    return (yield from write(plan))


def of_shelf(tenancy: Tenancy, query: StateQuery) -> Procedure[tuple[State, ...]]:
    """The states that match *query*, in descending order of item."""

    def plan() -> Plan[tuple[State, ...]]:
        rows = yield bind(
            "states/of_shelf",
            tenant_id=tenancy.tenant_id,
            shelf_key=tenancy.node_key("shelf", query.shelf),
            kind=query.kind,
            place=query.place,
            items=None if query.items is None else list(query.items),
            as_of_us=query.as_of_us,
            limit=query.limit,
        )
        return tuple(State.of(row["state"]) for row in rows)

    return (yield from read(plan))


def of_kind(
    tenancy: Tenancy, kind: str, marks: Sequence[str] | None, as_of_us: int | None
) -> Procedure[tuple[State, ...]]:
    """The tenant's states of one kind, in descending order of item.

    With *marks*, only states with one of these labels; with *as_of_us*, only states that were first stored by then.
    """

    def plan() -> Plan[tuple[State, ...]]:
        rows = yield bind(
            "states/of_kind",
            tenant_id=tenancy.tenant_id,
            kind=kind,
            marks=None if marks is None else list(marks),
            as_of_us=as_of_us,
        )
        return tuple(State.of(row["state"]) for row in rows)

    return (yield from read(plan))


def drop(tenancy: Tenancy, shelf: str, states: Iterable[State] | None) -> Procedure[int]:
    """Delete *states* from a shelf, or all states on it if None; return the number deleted."""
    keys = None if states is None else [key_of(tenancy, state) for state in states]

    def plan() -> Plan[int]:
        shelf_key = tenancy.node_key("shelf", shelf)
        result = yield bind("states/drop", tenant_id=tenancy.tenant_id, shelf_key=shelf_key, keys=keys)
        dropped: int = result[0]["states"]
        return dropped

    return (yield from write(plan))
