"""Where a Neo4j answers and how to log in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """A Bolt address with credentials and the database to use."""

    uri: str
    user: str
    password: str
    database: str = "neo4j"

    def __repr__(self) -> str:
        return f"Address(uri={self.uri!r}, user={self.user!r}, database={self.database!r})"
