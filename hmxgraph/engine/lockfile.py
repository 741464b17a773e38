"""The lock file: which jars make up the local server, each with its SHA-256 and size."""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

LOCK_NAME = "neo4j-5.26.31.lock.json"


class Jar(NamedTuple):
    """One locked jar; the coordinate is ``group:artifact:version[:classifier]``.

    >>> Jar("io.netty:netty-all:4.1:linux-x86_64", "00", 1).file_name
    'netty-all-4.1-linux-x86_64.jar'

    """

    coordinate: str
    sha256: str
    size: int

    @property
    def file_name(self) -> str:
        """The jar's name in the folder on the class path."""
        return "-".join(self.coordinate.split(":")[1:]) + ".jar"


class Lock(NamedTuple):
    """A Neo4j version and the jars that it takes."""

    version: str
    jars: tuple[Jar, ...]


@cache
def load() -> Lock:
    """The packaged lock.

    >>> load().version
    '5.26.31'

    """
    document = json.loads(files("hmxgraph.engine").joinpath(LOCK_NAME).read_bytes())
    jars = (Jar(jar["coordinate"], jar["sha256"], jar["bytes"]) for jar in document["jars"])
    return Lock(document["neo4j"], tuple(jars))
