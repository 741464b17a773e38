"""Which Neo4j: the argument, else the environment, else a local server started on demand (DESIGN 1)."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from hmxgraph import engine
from hmxgraph.errors import DatabaseMissing
from hmxgraph.graph.address import Address

_SYSTEM = "system"


class Login(NamedTuple):
    """What a caller may say about the server; what is left out comes from the environment."""

    uri: str | None = None
    user: str | None = None
    password: str | None = None
    database: str | None = None


def address(login: Login, *, progress: bool = False, environment: Mapping[str, str] = os.environ) -> Address:
    """The address to use; starts the local server where neither argument nor ``HMXGRAPH_URI`` names one.

    Raises:
        DatabaseMissing: the database asked for is the one of users and databases, which keeps no graph.
        EngineError: the local server could not be fetched or started.

    >>> address(Login("bolt://db:7687", "neo4j", "secret"), environment={}).database
    'neo4j'

    """
    database = login.database or environment.get("HMXGRAPH_DATABASE") or "neo4j"
    uri = login.uri or environment.get("HMXGRAPH_URI")
    if database.casefold() == _SYSTEM:
        raise DatabaseMissing(uri or "localhost", f"{database!r} keeps users and databases, no graph")
    if not uri:
        server = engine.ensure(progress=progress)
        return Address(server.uri, server.user, server.password, database)
    user = login.user or environment.get("HMXGRAPH_USER") or "neo4j"
    return Address(uri, user, login.password or environment.get("HMXGRAPH_PASSWORD") or "", database)
