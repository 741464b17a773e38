"""Saved queries, the entity graph and its digest, and the server's health.

HMX-F is the part of the HMX-1.0 standard about fingerprints, which contain the digest.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime

from hmxgraph.errors import InvalidRequest, StatementMisuse
from hmxgraph.fingerprint.depth import max_depth
from hmxgraph.fingerprint.measures import MeasuredDigest, digest_of
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, query, read, state
from hmxgraph.protocol.parsing import checked_text, quoted

if TYPE_CHECKING:
    import networkx as nx

# Graph values as plain ones, so that rows can be printed and stored as JSON.


def plain(value: Any) -> Any:
    """*value* with nodes, relationships and paths as dicts, dates and times as ISO 8601 text; all else as it is."""
    match value:
        case Node() | Relationship() | Path():
            return _element(value)
        case list():
            return [plain(element) for element in value]
        case dict():
            return {key: plain(element) for key, element in value.items()}
        case Date() | DateTime():
            return value.iso_format()
        case _:
            return value


def _element(value: Node | Relationship | Path) -> dict[str, Any]:
    match value:
        case Node():
            return {"labels": sorted(value.labels), **dict(sorted(value.items()))}
        case Relationship():
            return {"type": value.type, **dict(sorted(value.items()))}
        case Path():
            return {
                "nodes": [plain(node) for node in value.nodes],
                "types": [edge.type for edge in value.relationships],
            }


# Saved queries.

_SAVED = "explore/"


def saved_query(tenancy: Tenancy, name: str, parameters: dict[str, Any]) -> Procedure[list[Row]]:
    """The rows of a saved query of ``explore/``; the tenant's parameters are filled in and cannot be overridden.

    Other statements are refused: they read by keys that a caller could have computed for another tenant.

    Raises:
        StatementMisuse: unknown name, a statement that writes, or parameters that do not fit.
        InvalidRequest: the value of a parameter is of the wrong type or form.

    """
    if not name.startswith(_SAVED):
        raise StatementMisuse(name)
    return (yield from packaged_rows(tenancy, name, _checked(parameters)))


def packaged_rows(tenancy: Tenancy, name: str, parameters: dict[str, Any]) -> Procedure[list[Row]]:
    """The rows of a packaged read statement, for code that computes its keys itself.

    Raises:
        StatementMisuse: unknown name, a statement that writes, or parameters that do not fit.

    """
    bound_parameters = _with_tenant(tenancy, name, parameters)
    return (yield from read(lambda: _rows(name, bound_parameters)))


def _with_tenant(tenancy: Tenancy, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The caller's *parameters*, plus the tenant's parameters that the statement uses."""
    packaged = query(name)
    if packaged.mode != "read":
        raise StatementMisuse(name)
    tenant_parameters = {"tenant_id": tenancy.tenant_id, "tenant_key": tenancy.key, "scope": tenancy.scope}
    if foreign := tenant_parameters.keys() & parameters.keys():
        raise StatementMisuse(name, unexpected=tuple(sorted(foreign)))
    return {key: value for key, value in tenant_parameters.items() if key in packaged.parameters} | parameters


# The values of a saved query's parameters. Cypher answers most wrong values with null or a syntax error.


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """*parameters* with each value in the form that the statements use; unknown names are left to ``bind``."""
    return {name: FORMS[name](name, value) if name in FORMS else value for name, value in parameters.items()}


def _days(name: str, value: object) -> int:
    days = int(value) if isinstance(value, str) and _DAYS.fullmatch(value) else value
    if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= _MOST_DAYS:
        raise InvalidRequest(name, quoted(value), "a whole number of days, 0 or more", f"for example {name}=30")
    return days


def _time(name: str, value: object) -> str:
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(checked_text(name, value))
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        expected = "a time with a time zone (ISO 8601 with offset)"
        raise InvalidRequest(name, quoted(value), expected, f"for example {name}=2026-03-14T03:00:00Z")
    return time.isoformat()


def _texts(name: str, value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        raise InvalidRequest(name, quoted(value), "a list of ids", f'for example {name}=["a", "b"]')
    return [checked_text(name, text) for text in value]


def _numbers(name: str, value: object) -> list[float]:
    # NumPy arrays are iterable, but not sequences.
    numbers = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else []
    if not numbers or not all(isinstance(number, Real) for number in numbers):
        raise InvalidRequest(name, quoted(value), "a list of numbers", f"from Python, for example {name}=[0.1, 0.2]")
    return [float(number) for number in numbers]


# A number of days as text, such as "30".
_DAYS = re.compile(r"[0-9]{1,9}")
_MOST_DAYS = 999_999_999
# What checks each parameter of a saved query and converts it to the form that the statement expects.
FORMS: Mapping[str, Callable[[str, Any], object]] = {
    "artifact_id": checked_text,
    "days": _days,
    "embedding": _numbers,
    "name": checked_text,
    "prefix": checked_text,
    "session_id": checked_text,
    "since": _time,
    "source_ids": _texts,
    "thread_id": checked_text,
}


# A saved query as a picture. Plain rows would lack the ends of relationships.


class PictureNode(NamedTuple):
    """A node: its identity, label and properties."""

    node_id: str
    label: str
    properties: dict[str, Any]


class PictureEdge(NamedTuple):
    """A relationship between two nodes of the same picture."""

    source_id: str
    target_id: str
    kind: str
    properties: dict[str, Any]


class Picture(NamedTuple):
    """Nodes and relationships, each once, in the order of the rows."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]


def picture(tenancy: Tenancy, name: str, parameters: dict[str, Any]) -> Procedure[Picture]:
    """The nodes and relationships in the rows of a saved query.

    Raises:
        StatementMisuse: unknown name, or parameters that do not fit.
        InvalidRequest: the value of a parameter is of the wrong type or form, or there are rows, but none contains a
            node.

    """
    if not name.startswith(_SAVED):
        raise StatementMisuse(name)
    bound_parameters = _with_tenant(tenancy, name, _checked(parameters))
    return (yield from read(lambda: _picture(name, bound_parameters)))


def _picture(name: str, parameters: dict[str, Any]) -> Plan[Picture]:
    rows = yield bind(name, **parameters)
    values = [value for row in rows for value in row.values()]
    if values and not any(isinstance(value, Node) for value in values):
        way_out = "show its table with query, or draw another, such as explore/entity_map"
        raise InvalidRequest("picture", name, "a saved query that returns nodes", way_out)
    nodes = {value.element_id: _picture_node(value) for value in values if isinstance(value, Node)}
    edges = {value.element_id: value for value in values if isinstance(value, Relationship)}
    return Picture(tuple(nodes.values()), tuple(_picture_edges(edges.values(), nodes)))


def _picture_node(node: Node) -> PictureNode:
    properties = plain(node)
    labels = properties.pop("labels")
    # The key is the same wherever the same events were stored; the server's own id is not.
    return PictureNode(str(properties.get("key", node.element_id)), labels[0] if labels else "", properties)


def _picture_edges(edges: Iterable[Relationship], nodes: Mapping[str, PictureNode]) -> Iterator[PictureEdge]:
    """The relationships whose ends are both in the rows."""
    for edge in edges:
        ends = [nodes.get(end.element_id) for end in edge.nodes if end is not None]
        match ends:
            case [PictureNode() as source, PictureNode() as target]:
                yield PictureEdge(source.node_id, target.node_id, edge.type, plain(dict(edge.items())))


# The entity graph, and the server's health.


class Relations(NamedTuple):
    """The active entities and their relations, as rows."""

    nodes: list[Row]
    edges: list[Row]


def relations(tenancy: Tenancy) -> Procedure[Relations]:
    """The active entities and relations."""
    return (yield from read(lambda: _relations(tenancy.tenant_id)))


def entity_graph(relations: Relations) -> "nx.MultiDiGraph[str]":
    """A graph of *relations*: nodes with name, type and confidence, edges with type, weight and confidence."""
    import networkx as nx  # noqa: PLC0415 - slow to import, and only needed here

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for row in relations.nodes:
        graph.add_node(row["key"], name=row["name"], type=row["type"], confidence=row["confidence"])
    for row in relations.edges:
        attributes = {"weight": row["weight"], "confidence": row["confidence"]}
        graph.add_edge(row["source_key"], row["target_key"], type=row["relation_type"], **attributes)
    return graph


def health(tenancy: Tenancy) -> Procedure[Row]:
    """Version and edition of the server, indexes not online, and the tenant's state."""
    return (yield from read(lambda: _health(tenancy)))


def _rows(name: str, parameters: dict[str, Any]) -> Plan[list[Row]]:
    rows = yield bind(name, **parameters)
    return [{column: plain(value) for column, value in row.items()} for row in rows]


def _relations(tenant_id: str) -> Plan[Relations]:
    nodes = yield bind("entities/active", tenant_id=tenant_id)
    edges = yield bind("entities/active_relations", tenant_id=tenant_id)
    return Relations(nodes, edges)


def _health(tenancy: Tenancy) -> Plan[Row]:
    server = yield bind("health/server")
    indexes = yield bind("health/indexes_not_online")
    tenant = yield from state(tenancy)
    return {
        **server[0],
        "indexes_not_online": [row["name"] for row in indexes],
        "tenant_id": tenancy.tenant_id,
        **{name: tenant[name] for name in ("state_version", "logical_us", "event_count", "compiled_version")},
    }


# The shape of the entity graph: counted in Cypher, its depth computed over arrays.


def digest(tenancy: Tenancy, as_of_us: int | None = None) -> Procedure[MeasuredDigest]:
    """The digest of the entity graph (HMX-F 5): sizes, shape and names of active entities and relations.

    With *as_of_us*, only what was known by then. The best connected entities come first, ties in order of name. The
    digest is read by two statements in one transaction.
    """
    return (yield from read(partial(graph_digest, tenancy, as_of_us)))


def graph_digest(
    tenancy: Tenancy, as_of_us: int | None = None, named_types: Sequence[str] | None = None
) -> Plan[MeasuredDigest]:
    """The digest as part of a transaction; it names only entities of the *named_types* (None: of all types)."""
    bound = {"tenant_id": tenancy.tenant_id, "as_of_us": as_of_us}
    entities = yield bind("digest/entities", **bound)
    types = None if named_types is None else sorted(named_types)
    shape = (yield bind("digest/shape", types=types, **bound))[0]
    depth = max_depth([(source, targets) for source, *targets in shape["links"]])
    return digest_of(entities, shape["relations"], shape["hubs"], depth)
