"""Deadlines: how long a transaction may take with all its retries, and what is known of its outcome afterwards."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import monotonic, time
from typing import Any, Final, Literal, TypeVar

from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.parsing import quoted

# Default limit in seconds for one transaction with its retries, by mode. A schema transaction waits for the indexes of
# its constraints.
DEFAULT_SECONDS: Final = {"read": 15.0, "write": 60.0, "schema": 600.0}
# A local server that has been up for less than this many seconds is still planning its queries: unless the caller set a
# timeout, each transaction gets at least this many.
SETTLING_SECONDS: Final = 120.0
# Default limit in seconds for each transaction of a call that reads or rewrites a whole tenant.
WHOLE_TENANT_SECONDS: Final = 600.0
# The first and the longest pause before a retry: a deadlock is resolved within milliseconds, a restarted server is back
# within seconds.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
# Share of the time left that is the server's own timeout, so that its answer arrives before the client stops waiting.
_SERVER_SHARE = 0.95

# Longest timeout that may be set, in seconds: a year.
_LONGEST = 365 * 86_400

_Driver = TypeVar("_Driver")
_timeout: ContextVar[float | None] = ContextVar("timeout", default=None)
_end: ContextVar[float | None] = ContextVar("end", default=None)


def checked_timeout(seconds: float | None) -> float | None:
    """*seconds* if it is a time to wait, or None for the defaults.

    Raises:
        InvalidRequest: it is not a number above 0, or longer than a year.

    >>> checked_timeout(5)
    5
    >>> checked_timeout(float("inf"))
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid timeout inf: expected a time to wait; give seconds above 0, up to 31,536,000
    """
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds <= _LONGEST):
        raise InvalidRequest(
            "timeout", quoted(seconds)[:40], "a time to wait", f"give seconds above 0, up to {_LONGEST:,}"
        )
    return seconds


def settling(state: Path) -> bool:
    """Whether the local server has just started: the file *state* is written at its start.

    Such a server plans most queries for the first time: those of a context pack take 8 to 10 s, more on
    a busy machine.
    """
    try:
        return time() - state.stat().st_mtime < SETTLING_SECONDS
    except OSError:
        return False


@contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """Let no transaction of the block take longer than *seconds*, whatever the connection allows.

    Raises:
        InvalidRequest: *seconds* is not a number above 0, or longer than a year.

    >>> with timeout(5):
    ...     Patience("read", None).seconds
    5
    """
    token = _timeout.set(checked_timeout(seconds))
    try:
        yield
    finally:
        _timeout.reset(token)


def seconds_left() -> float | None:
    """Seconds until the deadline of this thread's transaction; None outside one, and in asynchronous ones."""
    end = _end.get()
    return None if end is None else max(0.0, end - monotonic())


def limited(driver: _Driver) -> _Driver:
    """*driver*, whose connections stop waiting at the deadline of the transaction that acquires them.

    The driver has no option for that, so the deadline is set on its sockets. If a future driver release removes their
    methods, the first transaction fails.
    """
    pool = driver._pool  # type: ignore[attr-defined]  # noqa: SLF001 - there is no other way to its sockets
    acquire = pool.acquire

    def acquired(*arguments: Any, **options: Any) -> Any:
        connection = acquire(*arguments, **options)
        limit(connection.socket, seconds_left())
        return connection

    pool.acquire = acquired
    return driver


def limit(socket: Any, seconds: float | None) -> None:
    """Let *socket* wait no longer than *seconds* from now for all reads and writes; None removes the limit."""
    if hasattr(socket, "set_deadline"):  # driver releases before 6
        socket.set_deadline(seconds)
    else:
        socket.set_read_deadline(seconds)
        socket.set_write_deadline(seconds)


class Patience:
    """The time limit of one transaction with its retries, and what is known of its outcome.

    *limit_seconds* is the limit of the connection; without it, the default depends on *mode*, on whether the call works
    on a *whole* tenant, and on whether the server has just started (*settling*).

    ``committing`` is set when the commit is about to be sent. If no answer follows, nobody knows whether a write is
    stored: ``unknown`` is set and never cleared. Only an attempt that succeeds settles the outcome.
    """

    def __init__(self, mode: str, limit_seconds: float | None, *, whole: bool = False, settling: bool = False) -> None:
        default = max(DEFAULT_SECONDS[mode], WHOLE_TENANT_SECONDS if whole else SETTLING_SECONDS if settling else 0)
        self.seconds = _timeout.get() or limit_seconds or default
        self.committing = False
        self.unknown = False
        self.writes = mode != "read"
        self._pause = _FIRST_PAUSE
        self._end = monotonic() + self.seconds

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """One attempt; inside the block, :func:`seconds_left` counts down to this deadline."""
        self.committing = False
        token = _end.set(self._end)
        try:
            yield
        finally:
            _end.reset(token)

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self._end - monotonic())

    @property
    def for_server(self) -> float:
        """Seconds after which the server itself should give up."""
        return max(0.001, self.left * _SERVER_SHARE)

    def lost(self) -> None:
        """Record that an attempt ended without an answer."""
        self.unknown |= self.writes and self.committing

    def extend(self, seconds: float) -> None:
        """Extend the deadline by *seconds*, which were not spent on waiting for an answer."""
        self._end += seconds

    def pause(self) -> float | None:
        """Seconds to wait before the next attempt; None if there is no time for one."""
        pause = self._pause * random.uniform(0.8, 1.2)  # noqa: S311 - to spread clients, not a secret
        self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        return pause if pause < self.left else None

    @property
    def outcome(self) -> Literal["not stored", "unknown"]:
        """What is known about the writes of the transaction."""
        return "unknown" if self.unknown else "not stored"
