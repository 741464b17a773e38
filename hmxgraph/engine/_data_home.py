"""Files of a data home: the state file, private and written atomically, and file locks."""

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

# Small private files, written atomically: to a temporary file, flushed, renamed into place.


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


# The state file: address and login of the running server, for every process of its owner.


def save(server: Server) -> None:
    """Store *server* in its data home, atomically and with mode 0600."""
    write_private(state_file(server.home), json.dumps(server.document(), indent=1) + "\n")


def load(home: Path) -> Server | None:
    """The server that the state file names; None if the file is missing, truncated, or of another release.

    A lost state file does no harm: it is written again from the running process and neo4j.conf.
    """
    try:
        document = json.loads(state_file(home).read_bytes())
        return Server(**{**document, "home": home})
    except (OSError, ValueError, TypeError):
        return None


def clear(home: Path) -> None:
    """Remove the state of a stopped server."""
    state_file(home).unlink(missing_ok=True)


def state_file(home: Path) -> Path:
    """The state file of *home*, written once its server is up."""
    return home / "server.json"


# Mutual exclusion of processes by a file lock, which the system releases if its holder dies.

_SHORT_WAIT_SECONDS = 0.5


@contextmanager
def exclusive(path: Path, seconds: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock *path* during the block; *waiting* is called if acquiring it takes longer than half a second.

    Raises:
        EngineError: another process held it for *seconds* (and up to half a second more).

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
