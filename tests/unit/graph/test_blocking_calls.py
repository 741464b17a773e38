"""Blocking calls run in a thread outside the event loop; a cancelled caller does not wait for them."""

import asyncio
import contextvars
import threading
from time import monotonic

import pytest

from hmxgraph.graph.ingesting import in_thread

caller = contextvars.ContextVar("caller", default="")


def test_it_returns_and_raises():
    """The value is returned or the error raised, as by a direct call, in the caller's context."""

    async def run():
        caller.set("by me")
        assert await in_thread(caller.get) == "by me"
        assert await in_thread(max, 1, 2) == 2
        await in_thread(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(run())


def test_a_cancelled_call_is_not_waited_for():
    """A function that never returns delays neither its cancelled task nor the end of the loop."""
    never, began = threading.Event(), monotonic()

    async def run():
        waiting = asyncio.create_task(in_thread(never.wait))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        return waiting.cancelled()

    assert asyncio.run(run())
    assert monotonic() - began < 5
    never.set()
