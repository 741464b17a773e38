"""Files of a data home: state and lock, always whole and private."""

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from hmxgraph.engine import _refusals
from hmxgraph.engine.server import Server

# Small private files that are always whole: written aside, flushed, renamed into place.


def write_private(path: Path, text: str) -> None:
    """Put *text* at *path*, readable by its owner only; a reader sees the old or the new text, never a part."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


# The state file: what every process needs to use the running server, readable by its owner only.


def save(server: Server) -> None:
    """Store *server* in its data home (mode 0600, whole or not at all)."""
    write_private(_path(server.home), json.dumps(server.document(), indent=1) + "\n")


def load(home: Path) -> Server | None:
    """The server that the state file names; None where it is missing, cut, or of another release.

    Nothing depends on it: a lost state is found again from the process and its configuration.
    """
    try:
        document = json.loads(_path(home).read_bytes())
        return Server(**{**document, "home": home})
    except (OSError, ValueError, TypeError):
        return None


def clear(home: Path) -> None:
    """Forget the state of a server that is gone."""
    _path(home).unlink(missing_ok=True)


def _path(home: Path) -> Path:
    return home / "server.json"


# One process at a time, by a file lock that the system frees when its holder dies.

_MOMENT = 0.5


@contextmanager
def exclusive(path: Path, seconds: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock *path* for the length of the block; *waiting* is called if that takes longer than a moment.

    Raises:
        EngineError: another process kept it for longer than *seconds*.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    if not _acquired(lock, min(seconds, _MOMENT)):
        waiting()
        if not _acquired(lock, seconds):
            raise _refusals.lock_held(path, seconds)
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: FileLock, seconds: float) -> bool:
    try:
        lock.acquire(timeout=seconds, poll_interval=0.1)
    except Timeout:
        return False
    return True
