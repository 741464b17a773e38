"""One process at a time, by a file lock that the system frees when its holder dies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from hmxgraph.engine import refusals

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
            raise refusals.lock_held(path, seconds)
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
