"""NATS JetStream: each message is one HMX event, pulled by a durable consumer."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import nats
from nats.errors import Error as NatsError

from hmxgraph.ingest.sources import Delivery
from hmxgraph.ingest.streams.stream import broken_off, not_acknowledged
from hmxgraph.text.masking import public_address

# Maximum number of messages of one request.
PULL_AT_ONCE = 500
# Seconds that a request waits for messages if no idle time is set.
_WAIT_SECONDS = 5.0


class JetStream:
    """The messages of *subject* that the consumer *durable* has not acknowledged."""

    def __init__(
        self, server: str, stream: str, subject: str, *, durable: str = "hmxgraph", idle_seconds: float | None = None
    ) -> None:
        self._server, self._stream, self._subject, self._durable = server, stream, subject, durable
        self._idle = idle_seconds
        self._connection: Any = None

    def __aiter__(self) -> AsyncIterator[Delivery]:
        return self._deliveries()

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """Acknowledge each message; one not acknowledged in time is sent again and counts as a duplicate.

        Raises:
            IngestRefused: a message cannot be acknowledged, for example because the server is gone.

        """
        try:
            for message in receipts:
                await message.ack()
        except (NatsError, OSError) as error:
            raise not_acknowledged(self._server, error) from error

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()

    async def _deliveries(self) -> AsyncIterator[Delivery]:
        source = f"{public_address(self._server)}/{self._stream}"
        try:
            self._connection = await nats.connect(
                self._server, max_reconnect_attempts=4, reconnect_time_wait=0.5, error_cb=_ignore_failed_attempt
            )
            context = self._connection.jetstream()
            pull = await context.pull_subscribe(self._subject, durable=self._durable, stream=self._stream)
            async for message in self._messages(pull):
                number = message.metadata.sequence.stream
                yield Delivery(message.data, number, source, message)
        except (NatsError, OSError) as error:
            raise broken_off(self._server, error) from error

    async def _messages(self, pull: Any) -> AsyncIterator[Any]:
        while True:
            try:
                messages = await pull.fetch(PULL_AT_ONCE, timeout=self._idle or _WAIT_SECONDS)
            except TimeoutError:
                if self._idle is not None:
                    return
                continue
            for message in messages:
                yield message


async def _ignore_failed_attempt(_: Exception) -> None:
    """Do nothing: the client raises the error of the last attempt, and only that one is reported."""


def from_url(url: str, idle_seconds: float | None) -> JetStream:
    """The consumer named by ``nats://host:port/stream/subject?durable=d``; without a subject, it gets all messages."""
    parts = urlsplit(url)
    stream, _, subject = parts.path.strip("/").partition("/")
    durable = parse_qs(parts.query).get("durable", ["hmxgraph"])[-1]
    return JetStream(f"nats://{parts.netloc}", stream, subject or ">", durable=durable, idle_seconds=idle_seconds)
