"""An asynchronous iterator that ends when nothing comes for a while."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

T = TypeVar("T")


async def until_idle(messages: AsyncIterator[T], seconds: float | None) -> AsyncIterator[T]:
    """The same messages; the end comes also after *seconds* without one (None: never)."""
    while True:
        try:
            message = await asyncio.wait_for(anext(messages), seconds)
        except (StopAsyncIteration, TimeoutError):
            return
        yield message
