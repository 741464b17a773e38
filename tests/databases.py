"""Real databases for tests: one with the current schema, one on a server of its own, and one shared by all workers."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import time

import pytest
from filelock import FileLock

from hmxgraph import engine
from hmxgraph.engine import Server, _process
from hmxgraph.graph.connection import Connection, ConnectionTerms
from hmxgraph.graph.driver import Address
from hmxgraph.graph.schema import migrate

# Tests plan most statements only once or twice, so Java's second compiler costs more time than it saves. Without it
# Java reserves only 48 MB for compiled code, full after some minutes; 240 MB is its default with both compilers.
BRIEF = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"}
# In a growing database plans go stale all the time: replanning took a third of the server's time.
PLANNED_ONCE = {"dbms.cypher.min_replan_interval": "24h"}
# Each commit waits for the disk: tests that write took 118 and 134 s in memory, and 155 and 157 s on a disk.
_MEMORY, _BYTES_NEEDED = Path("/dev/shm"), 4 << 30  # noqa: S108 - the names in it are hashes of private folders
_PREFIX, _HOUR_SECONDS = "hmxgraph-tests-", 3_600


def migrated(address: Address) -> Address:
    """The database at *address* with its schema up to date; the server may have only just started."""
    connection = Connection(address, ConnectionTerms(settling=lambda: True))
    connection.perform(migrate())
    connection.close()
    return address


def _started(home: Path) -> Server:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in BRIEF.items():
            patch.setenv(name, value)
        for name, value in PLANNED_ONCE.items():
            patch.setitem(_process._ONLY_5, name, value)
        return engine.ensure(home)


@contextmanager
def local_database(home: Path) -> Iterator[Address]:
    """A database with only its schema, on a server that runs in the data home until the block ends."""
    try:
        server = _started(home)
        yield migrated(Address(server.uri, server.user, server.password))
    finally:
        engine.stop(home)


def _data_home(folder: Path) -> Path:
    """The data home of the run in *folder*: in memory if there was room when its first worker asked."""
    chosen = folder / "neo4j-home"
    if not chosen.exists():
        name = f"{_PREFIX}{sha256(str(folder).encode()).hexdigest()[:16]}"
        in_memory = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _BYTES_NEEDED
        chosen.write_text(str(_MEMORY / name if in_memory else folder / "neo4j"), encoding="utf-8")
    return Path(chosen.read_text(encoding="utf-8"))


def _remove_abandoned() -> None:
    """Remove the data homes that killed runs left in memory: more than an hour old, without a server."""
    for home in _MEMORY.glob(f"{_PREFIX}*"):
        with suppress(FileNotFoundError):
            if time() - home.stat().st_mtime > _HOUR_SECONDS and _process.find(home) is None:
                shutil.rmtree(home, ignore_errors=True)


@contextmanager
def shared_database(folder: Path, worker: str) -> Iterator[Address]:
    """The database in *folder*, shared by every *worker* of a run; its server stops with the last of them.

    One server plans every statement once for all workers, and its code is compiled once.
    """
    users, lock = folder / "neo4j-users", FileLock(folder / "neo4j.lock")
    with lock:
        home = _data_home(folder)
        _remove_abandoned()
    try:
        with lock:
            users.mkdir(exist_ok=True)
            (users / worker).touch()
            server = _started(home)
            address = migrated(Address(server.uri, server.user, server.password))
        yield address
    finally:
        with lock:
            (users / worker).unlink()
            if not any(users.iterdir()):
                engine.stop(home)
                shutil.rmtree(home, ignore_errors=True)
