"""Saved queries, the entity graph, and whether the server is well."""

from typing import TYPE_CHECKING, Any

from hmxgraph.errors import StatementMisuse
from hmxgraph.graph.catalogue import query
from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.rows.plain import plain
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy

if TYPE_CHECKING:
    import networkx as nx


def saved_query(tenancy: Tenancy, name: str, parameters: dict[str, Any]) -> Procedure[list[Row]]:
    """The rows of a packaged read statement; the tenant's parameters are filled in, and are nobody else's to give.

    Raises:
        StatementMisuse: unknown name, a statement that writes, or parameters that do not fit.

    """
    packaged = query(name)
    if packaged.mode != "read":
        raise StatementMisuse(name)
    own = {"tenant_id": tenancy.tenant_id, "tenant_key": tenancy.key, "scope": tenancy.scope}
    if foreign := own.keys() & parameters.keys():
        raise StatementMisuse(name, unexpected=tuple(sorted(foreign)))
    given = {key: value for key, value in own.items() if key in packaged.parameters} | parameters
    rows = yield from read(lambda: _rows(name, given))
    return rows


def entity_graph(tenancy: Tenancy) -> Procedure["nx.MultiDiGraph[str]"]:
    """The active entities and relations: nodes with name and type, edges with type and weight."""
    graph = yield from read(lambda: _entity_graph(tenancy.tenant_id))
    return graph


def health(tenancy: Tenancy) -> Procedure[Row]:
    """Version and edition of the server, indexes not online, and the tenant's state."""
    return (yield from read(lambda: _health(tenancy)))


def _rows(name: str, parameters: dict[str, Any]) -> Plan[list[Row]]:
    rows = yield bind(name, **parameters)
    return [{column: plain(value) for column, value in row.items()} for row in rows]


def _entity_graph(tenant_id: str) -> Plan["nx.MultiDiGraph[str]"]:
    import networkx as nx  # noqa: PLC0415 - a fifth of the start of every command, and only this one needs it

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    nodes = yield bind("entities/active", tenant_id=tenant_id)
    for row in nodes:
        graph.add_node(row["key"], name=row["name"], type=row["type"])
    edges = yield bind("entities/active_relations", tenant_id=tenant_id)
    for row in edges:
        graph.add_edge(row["source_key"], row["target_key"], type=row["relation_type"], weight=row["weight"])
    return graph


def _health(tenancy: Tenancy) -> Plan[Row]:
    server = yield bind("health/server")
    indexes = yield bind("health/indexes_not_online")
    state = yield bind("tenants/state", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    tenant: Row = (
        state[0] if state else {"state_version": 0, "logical_us": None, "event_count": 0, "compiled_version": 0}
    )
    return {
        **server[0],
        "indexes_not_online": [row["name"] for row in indexes],
        "tenant_id": tenancy.tenant_id,
        **tenant,
    }
