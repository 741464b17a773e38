"""Graph values as plain ones, so that rows can be printed and stored as JSON."""

from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime


def plain(value: Any) -> Any:
    """*value* with nodes, relationships and paths as dicts and lists; everything else as it is."""
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
