"""Work that blocks, done beside the event loop."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


async def beside(function: Callable[..., T], *arguments: Any) -> T:
    """What *function* returns, done in a thread that nobody waits for once the call is cancelled.

    A thread of the event loop's own pool is waited for when the program ends, for ever where the function waits for
    somebody who does not write.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = copy_context()

    def tell(settle: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            settle(outcome)

    def work() -> None:
        settle: Callable[[Any], None] = future.set_result
        outcome: Any
        try:
            outcome = context.run(function, *arguments)
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            settle, outcome = future.set_exception, error
        with suppress(RuntimeError):  # the loop is closed: nobody asks any more
            loop.call_soon_threadsafe(tell, settle, outcome)

    threading.Thread(target=work, daemon=True).start()
    return await future
