"""Asynchronous sources: messages pass the reorder window, are stored in batches, and acknowledged after the commit."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from time import monotonic
from typing import Any

from hmxgraph.ingest.batch import Batch, Gathering
from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.sources import Delivery, Payload
from hmxgraph.ingest.sources.live import LINGER, LONGEST
from hmxgraph.ingest.window import Held, ReorderWindow


async def streamed(
    source: AsyncIterable[Any], intake: Intake, *, size: int, window_seconds: float
) -> AsyncGenerator[Batch, None]:
    """The batches of *source*, each as soon as nothing more is at hand or it is full.

    An event that continues its session is not kept waiting; one that overtook others waits for them at most
    *window_seconds*. A source that breaks off has everything it delivered stored before its error is raised.
    """
    flow = _Flow(intake, size, ReorderWindow(window_seconds))
    messages = aiter(source)
    coming = asyncio.ensure_future(anext(messages))
    try:
        while True:
            await asyncio.wait({coming}, timeout=flow.patience())
            if idle := not coming.done():
                flow.release()
            else:
                flow.take(coming.result())
                coming = asyncio.ensure_future(anext(messages))
            for batch in flow.due(idle=idle):
                yield batch
    except StopAsyncIteration:
        for batch in flow.rest():
            yield batch
    except Exception:
        for batch in flow.rest():
            yield batch
        raise
    finally:
        await _cancelled(coming)


async def _cancelled(coming: "asyncio.Future[Any]") -> None:
    coming.cancel()
    await asyncio.wait({coming})
    if not coming.cancelled():
        coming.exception()  # the source's last word, said already


class _Flow:
    """Between a stream and the graph: the intake, the window, the batches in the making."""

    def __init__(self, intake: Intake, size: int, window: ReorderWindow) -> None:
        self._intake = intake
        self._window = window
        self._gathering = Gathering(size)
        self._ready: list[Batch] = []
        self._since = 0.0
        self._line = 0

    def take(self, message: Delivery | Payload) -> None:
        """Check and prepare *message*; a refused one needs no place in the order."""
        self._line += 1
        now = monotonic()
        delivery = message if isinstance(message, Delivery) else Delivery(message, self._line)
        event = self._intake.take(delivery)
        if event is None:
            self._gathering.owe(delivery.receipt)
        else:
            self._gather(self._window.add(event, delivery.receipt, now))
        self._gather(self._window.release(now))

    def release(self) -> None:
        """Let those leave the window that waited long enough."""
        self._gather(self._window.release(monotonic()))

    def patience(self) -> float | None:
        """Seconds that the next message may be waited for."""
        held = self._window.wait(monotonic())
        if self._gathering.empty:
            return held
        return LINGER if held is None else min(LINGER, held)

    def due(self, *, idle: bool) -> list[Batch]:
        """The batches to be written now: full ones, and when nothing more is at hand or time is up the last one."""
        if not self._gathering.empty and (idle or monotonic() - self._since > LONGEST):
            self._ready.append(self._gathering.batch())
        ready, self._ready = self._ready, []
        return ready

    def rest(self) -> list[Batch]:
        """Everything gathered and held."""
        self._gather(self._window.flush())
        return self.due(idle=True)

    def _gather(self, left: Iterable[Held]) -> None:
        for held in left:
            if self._gathering.empty:
                self._since = monotonic()
            self._gathering.add(held.event)
            self._gathering.owe(held.receipt)
            if self._gathering.full:
                self._ready.append(self._gathering.batch())
