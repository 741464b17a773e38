"""Files in a data home, the folder of a local server: its state file and its locks."""

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hmxgraph.engine import _refusals
from hmxgraph.engine.server import Server

if TYPE_CHECKING:
    from filelock import FileLock

# Private files are written atomically: to a temporary file, which is flushed to disk and renamed.


def write_private(path: Path, text: str) -> None:
    """Write *text* to *path*, readable by its owner only; a reader sees either the old or the new text."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# The state file tells other processes of the same user the address and login of the running server.


def save(server: Server) -> None:
    """Store *server* in its data home, atomically and with mode 0600."""
    write_private(state_file(server.home), json.dumps(server.document(), indent=1) + "\n")


def load(home: Path) -> Server | None:
    """The server in the state file; None if the file is missing, truncated, or was written by an incompatible release.

    A lost state file does no harm: it is rebuilt from the running process, neo4j.conf and the password file.
    """
    try:
        document = json.loads(state_file(home).read_bytes())
        return Server(**{**document, "home": home})
    except (OSError, ValueError, TypeError):
        return None


def clear(home: Path) -> None:
    """Delete the state file, since the server has stopped."""
    state_file(home).unlink(missing_ok=True)


def state_file(home: Path) -> Path:
    """The path of the state file of *home*; the file exists once the server is up."""
    return home / "server.json"


# Processes exclude each other by file locks, which the operating system releases if their holder dies.

_SHORT_WAIT_SECONDS = 0.5


@contextmanager
def exclusive(path: Path, seconds: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock file *path* during the block; call *waiting* if acquiring it takes longer than half a second.

    Raises:
        EngineError: another process still held the lock after *seconds* (up to half a second more).

    """
    from filelock import FileLock  # noqa: PLC0415 - only needed for a local server

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    if not _acquired(lock, min(seconds, _SHORT_WAIT_SECONDS)):
        waiting()
        if not _acquired(lock, seconds):
            raise _refusals.lock_held(path, seconds)
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: "FileLock", seconds: float) -> bool:
    from filelock import Timeout  # noqa: PLC0415 - only needed for a local server

    try:
        lock.acquire(timeout=seconds, poll_interval=0.1)
    except Timeout:
        return False
    return True
