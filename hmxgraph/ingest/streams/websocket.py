"""WebSocket: each frame is one HMX event."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, WebSocketException

from hmxgraph.ingest.sources import Delivery
from hmxgraph.ingest.streams.stream import broken_off, until_idle
from hmxgraph.text.masking import public_address

# Maximum bytes of one frame: enough for the largest event, even with escapes and whitespace.
LONGEST_FRAME = 8 << 20


class WebSocketStream:
    """The frames that *url* sends until it closes the connection."""

    def __init__(
        self, url: str, *, headers: Mapping[str, str] | None = None, idle_seconds: float | None = None
    ) -> None:
        self.url = url
        self._headers = dict(headers or {})
        self._idle = idle_seconds

    def __aiter__(self) -> AsyncIterator[Delivery]:
        return until_idle(self._deliveries(), self._idle)

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """Do nothing: WebSocket has no acknowledgements, a received frame is not sent again."""

    async def close(self) -> None:
        """Do nothing: the connection ends with the iteration."""

    async def _deliveries(self) -> AsyncIterator[Delivery]:
        line, source = 0, public_address(self.url)
        try:
            async with connect(self.url, additional_headers=self._headers, max_size=LONGEST_FRAME) as socket:
                async for frame in socket:
                    line += 1
                    yield Delivery(frame, line, source)
        except ConnectionClosedError as error:
            raise broken_off(self.url, error, line, what="the connection broke off") from error
        except (WebSocketException, OSError) as error:
            raise broken_off(self.url, error, what="no connection") from error


def from_url(url: str, idle_seconds: float | None) -> WebSocketStream:
    """The stream at *url*."""
    _ = urlsplit(url).port  # raises a ValueError if it is not a port number
    return WebSocketStream(url, idle_seconds=idle_seconds)
