"""The saved queries as favourites of Neo4j Browser, which takes them as a zip that is dragged onto its window."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import orjson

from hmxgraph.graph.catalogue import query, query_names

FOLDER = "hmxgraph"
STARTING_VALUES = "explore/parameters"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def favourites(values: Mapping[str, Any]) -> bytes:
    """A zip of the saved queries as they are packaged, after one that sets *values* as their parameters.

    Queries that need what nobody types by hand, such as an embedding, stay out. The same queries and values give the
    same bytes.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(_member("00_parameters"), parameters(values))
        for name in query_names("explore"):
            if name != STARTING_VALUES and query(name).parameters <= values.keys():
                archive.writestr(_member(name.removeprefix("explore/")), query(name).text)
    return target.getvalue()


def parameters(values: Mapping[str, Any]) -> str:
    """The command of Neo4j Browser that sets *values*, as a favourite.

    >>> print(parameters({"tenant_id": "demo"}))
    // 0. Parameters: run this first, change what you look for
    :params {"tenant_id":"demo"}

    """
    given = orjson.dumps(dict(values)).decode()
    return f"// 0. Parameters: run this first, change what you look for\n:params {given}"


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(f"{FOLDER}/{name}.cypher", _FIRST_DAY)
