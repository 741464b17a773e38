"""Server-Sent Events: each event of the stream is one HMX event in its data field."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx
import httpx_sse

from hmxgraph.ingest.sources import Delivery
from hmxgraph.ingest.streams.stream import broken_off, until_idle
from hmxgraph.text.masking import public_address

# Seconds before reconnecting, doubled each time, unless the sender sets the delay.
PAUSE = 0.5


class SseStream:
    """The events that *url* sends.

    If connecting fails or the connection breaks off, up to *reconnects* attempts in a row follow, resuming after the
    last id received; the sender may set the delay (``retry``). If the delays would add up to more than *idle_seconds*,
    the stream fails. It ends when the sender ends its response, or after *idle_seconds* without a message.

    All messages up to the id ``last_stored`` are stored, or rejected and reported. Another iteration resumes after it;
    so does another process that passes it as *last_event_id*.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        last_event_id: str = "",
        reconnects: int = 5,
        idle_seconds: float | None = None,
    ) -> None:
        self.url = url
        self.last_stored = last_event_id
        self._received = last_event_id
        self._number = 0
        self._pending: dict[int, str] = {}
        self._stored = set[int]()
        self._headers = dict(headers or {})
        self._reconnects = reconnects
        self._idle = idle_seconds
        self._retry: float | None = None

    def __aiter__(self) -> AsyncIterator[Delivery]:
        self._received = self.last_stored
        self._pending.clear()
        self._stored.clear()
        return self._deliveries()

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """Move ``last_stored`` on; the protocol has no acknowledgements.

        Events are stored in the order of their sessions, so a message may be stored before an earlier one.
        """
        self._stored.update(number for number in receipts if number in self._pending)
        for number in list(self._pending):
            if number not in self._stored:
                break
            self._stored.remove(number)
            self.last_stored = self._pending.pop(number) or self.last_stored

    async def close(self) -> None:
        """Do nothing: the connection ends with the iteration."""

    async def _deliveries(self) -> AsyncIterator[Delivery]:
        line, source = 0, public_address(self.url)
        pauses: list[float] = []
        while True:
            try:
                async for message in until_idle(self._messages(), self._idle):
                    line += 1
                    pauses.clear()
                    self._number += 1
                    self._pending[self._number] = message.id
                    yield Delivery(message.data, line, source, self._number)
            except httpx.TransportError as error:
                pauses.append(PAUSE * 2 ** len(pauses) if self._retry is None else self._retry)
                if len(pauses) > self._reconnects or (self._idle is not None and sum(pauses) > self._idle):
                    raise broken_off(self.url, error, what="no connection") from error
                await asyncio.sleep(pauses[-1])
            except (httpx.HTTPError, httpx.InvalidURL, httpx_sse.SSEError) as error:
                raise broken_off(self.url, error) from error
            else:
                return

    async def _messages(self) -> AsyncIterator[httpx_sse.ServerSentEvent]:
        headers = self._headers | ({"Last-Event-ID": self._received} if self._received else {})
        timeout = httpx.Timeout(10.0, read=None)  # a stream may be silent for any time
        async with (
            httpx.AsyncClient(timeout=timeout) as client,
            httpx_sse.aconnect_sse(client, "GET", self.url, headers=headers) as source,
        ):
            source.response.raise_for_status()
            async for message in source.aiter_sse():
                self._received = message.id or self._received
                self._retry = self._retry if message.retry is None else message.retry / 1000
                if message.data:
                    yield message


def from_url(url: str, idle_seconds: float | None) -> SseStream:
    """The stream at *url*."""
    return SseStream(url, idle_seconds=idle_seconds)
