"""Real databases for tests: one with the schema of today, and one on a server of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hmxgraph import engine
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from hmxgraph.graph.schema import migrate


def migrated(address: Address) -> Address:
    """The database at *address*, its schema brought up to date."""
    connection = Connection(address)
    connection.perform(migrate())
    connection.close()
    return address


@contextmanager
def local_database(home: Path) -> Iterator[Address]:
    """A database with its schema and nothing else, on a server that runs in the data home until the block ends."""
    try:
        server = engine.ensure(home)
        yield migrated(Address(server.uri, server.user, server.password))
    finally:
        engine.stop(home)
