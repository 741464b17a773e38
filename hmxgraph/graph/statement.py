"""A packaged statement with its parameters bound."""

from dataclasses import dataclass
from typing import Any, LiteralString

from hmxgraph.errors import StatementMisuse
from hmxgraph.graph.catalogue import Query, query


@dataclass(frozen=True, slots=True)
class Statement:
    """What travels to the server: a packaged statement and one dict of parameters."""

    query: Query
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """The statement's name, as in ``cypher/<name>.cypher``."""
        return self.query.name

    @property
    def text(self) -> LiteralString:
        """The statement's text, byte for byte the packaged file."""
        # The driver asks for literal text, and a packaged file is one.
        return self.query.text  # pyright: ignore[reportReturnType]


def bind(name: str, /, **parameters: Any) -> Statement:
    """The statement *name* with exactly the parameters that its text uses.

    Raises:
        StatementMisuse: unknown statement, or a parameter is missing or never used.

    >>> bind("tenants/state", tenant_id="acme", tenant_key="k").parameters["tenant_id"]
    'acme'

    """
    packaged = query(name)
    if packaged.parameters != parameters.keys():
        missing = tuple(sorted(packaged.parameters - parameters.keys()))
        raise StatementMisuse(name, missing, tuple(sorted(parameters.keys() - packaged.parameters)))
    return Statement(packaged, parameters)
