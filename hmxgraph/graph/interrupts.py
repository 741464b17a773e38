"""Ctrl-C while the driver works: the connection is cut, so that nobody waits on it for the rest of an answer."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class _Interrupted(KeyboardInterrupt, asyncio.CancelledError):
    """An interrupt that the driver takes for a cancelled task: the one thing for which it cuts a connection."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end what the driver does in the block, at once and for the server too.

    Any other exception that breaks in while an answer is read leaves the rest of it on the connection; the driver
    goes on to read there, and waits for ever. Only the main thread is interrupted, where Python's own handler stands.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    except _Interrupted:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Interrupted
