"""The database refused, or could not be reached."""

from hmxgraph.errors.base import HmxGraphError


class GraphError(HmxGraphError):
    """The database refused or could not be reached."""


class StorageUnavailable(GraphError, ConnectionError):
    """No answer from the database."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} does not answer ({self.reason}); "
            "check HMXGRAPH_URI, or unset it to use the local server (hmxgraph server start)"
        )


class GraphNotOpen(GraphError, RuntimeError):
    """A graph was asked before it was opened, or after it was closed."""

    def __init__(self, way_out: str) -> None:
        super().__init__(way_out)
        self.way_out = way_out

    def __str__(self) -> str:
        return f"the graph is not open; {self.way_out}"


class InvalidAddress(StorageUnavailable):
    """An address that no Neo4j can have."""

    def __str__(self) -> str:
        return (
            f"{self.uri!r} is no address of a Neo4j ({self.reason}); write HMXGRAPH_URI like bolt://host:7687 or "
            "neo4j://host:7687 (+s and +ssc for TLS), or unset it to use the local server (hmxgraph server start)"
        )


class DatabaseMissing(StorageUnavailable):
    """A server that has no database of the name asked for, or only the one of users and databases."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} has no such database ({self.reason}); "
            "set HMXGRAPH_DATABASE to one that SHOW DATABASES lists there, or unset it to use the one named neo4j"
        )


class StorageStopped(StorageUnavailable):
    """A server that answers, and has stopped its database because it could not write: a full disk, most often."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} cannot write its data any more ({self.reason}); free space on its disk and restart "
            "it: hmxgraph server stop, then the same command again"
        )


class AccessDenied(GraphError, PermissionError):
    """Wrong user, password or missing rights."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return f"Neo4j at {self.uri} refused the login ({self.reason}); check HMXGRAPH_USER and HMXGRAPH_PASSWORD"


class NotPermitted(AccessDenied):
    """Logged in, and without the right to read, write or make indexes there; or the database is read-only."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} does not permit it ({self.reason}); use a user who may read, write and make indexes "
            "and constraints in that database (HMXGRAPH_USER, HMXGRAPH_DATABASE), and a database that is not read-only"
        )


class StatementRefused(GraphError):
    """The server refused one of the packaged statements."""

    def __init__(self, statement: str, code: str, reason: str) -> None:
        super().__init__(statement, code, reason)
        self.statement = statement
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return f"cypher/{self.statement}.cypher was refused: {self.reason} [{self.code}]"


class NewerStore(GraphError):
    """A newer release has been at work in this database, and keeps what it derives in another way."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        super().__init__(steps)
        self.steps = steps

    def __str__(self) -> str:
        return (
            f"a newer hmxgraph prepared this database ({', '.join(self.steps)} is unknown here); upgrade this one, "
            "or set HMXGRAPH_URI or HMXGRAPH_DATABASE to a database of its own"
        )


class IsolationUnsupported(GraphError):
    """One database a tenant was asked of a server that has only one."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return f'Neo4j at {self.uri} cannot make databases ({self.reason}); use isolation="key", or an edition that can'


class StatementMisuse(GraphError, TypeError):
    """An unknown statement, or parameters that do not fit its text."""

    def __init__(self, statement: str, missing: tuple[str, ...] = (), unexpected: tuple[str, ...] = ()) -> None:
        super().__init__(statement, missing, unexpected)
        self.statement = statement
        self.missing = missing
        self.unexpected = unexpected

    def __str__(self) -> str:
        if not self.missing and not self.unexpected:
            return f"there is no cypher/{self.statement}.cypher; hmxgraph query lists the saved queries"
        parts = [f"missing ${name}" for name in self.missing] + [f"unexpected ${name}" for name in self.unexpected]
        way_out = f"; give {', '.join(f'{name}=...' for name in self.missing)}" if self.missing else ""
        return f"cypher/{self.statement}.cypher: {', '.join(parts)}{way_out}"
