"""What blocks is done beside the event loop, and whoever gives up waiting is free."""

import asyncio
import contextvars
import threading
from time import monotonic

import pytest

from hmxgraph.graph.ingesting import beside

asked = contextvars.ContextVar("asked", default="")


def test_it_returns_and_raises():
    """The value, or the error, as if it had been called; in the context of the caller."""

    async def run():
        asked.set("by me")
        assert await beside(asked.get) == "by me"
        assert await beside(max, 1, 2) == 2
        await beside(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(run())


def test_nobody_waits_for_what_was_cancelled():
    """A function that would never return keeps neither its task nor the end of the loop."""
    never, began = threading.Event(), monotonic()

    async def run():
        waiting = asyncio.create_task(beside(never.wait))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        return waiting.cancelled()

    assert asyncio.run(run())
    assert monotonic() - began < 5
    never.set()
