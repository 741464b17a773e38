"""Redis Streams: each entry is one HMX event in its field ``event``, read through a consumer group."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from hmxgraph.ingest.sources import Delivery
from hmxgraph.ingest.streams.stream import broken_off, not_acknowledged
from hmxgraph.text.masking import public_address

# The field of an entry that holds its event.
FIELD = b"event"
# Maximum number of entries of one read.
READ_AT_ONCE = 1_000
# Maximum milliseconds that a read waits at the server.
_LONGEST_WAIT_MS = 60_000


class RedisStream:
    """The entries of the stream *key*; those that this consumer received before but did not acknowledge come first."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        group: str = "hmxgraph",
        consumer: str = "hmxgraph",
        idle_seconds: float | None = None,
    ) -> None:
        self.url = url
        self._key, self._group, self._consumer = key, group, consumer
        self._idle = idle_seconds
        # No timeout unless the URL sets one: a stream may be silent for any time. Keepalive detects a lost peer.
        self._client: Redis = Redis.from_url(url, socket_timeout=None, socket_keepalive=True)

    def __aiter__(self) -> AsyncIterator[Delivery]:
        return self._deliveries()

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """XACK: the entries leave the group's list of pending ones.

        Raises:
            IngestRefused: the server refuses or is gone; the entries are stored, and become duplicates when delivered
                again.

        """
        try:
            await self._client.xack(self._key, self._group, *receipts)
        except RedisError as error:
            raise not_acknowledged(self.url, error) from error

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    async def _deliveries(self) -> AsyncIterator[Delivery]:
        line, source = 0, f"{public_address(self.url)}/{self._key}"
        try:
            await self._join()
            async with aclosing(self._entries()) as entries:
                async for entry_id, fields in entries:
                    line += 1
                    yield Delivery(_payload(fields), line, source, entry_id)
        except RedisError as error:
            raise broken_off(self.url, error, line) from error

    async def _join(self) -> None:
        try:
            await self._client.xgroup_create(self._key, self._group, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    async def _entries(self) -> AsyncGenerator[tuple[bytes, dict[bytes, bytes]], None]:
        """First the pending entries from the beginning, then new ones."""
        position: bytes | str = "0"  # for Redis, "0" is before the first pending entry, ">" asks for new ones
        wait_ms, silent_ms = self._wait_ms(), 0
        while True:
            entries = await self._read(position, wait_ms)
            for entry in entries:
                yield entry
            if position != ">":
                position = entries[-1][0] if entries else ">"
                continue
            silent_ms = 0 if entries else silent_ms + wait_ms
            if self._idle is not None and silent_ms >= self._idle * 1000:
                return

    def _wait_ms(self) -> int:
        """Milliseconds that a read may wait at the server: at most half of the connection's socket timeout."""
        timeout = self._client.connection_pool.connection_kwargs.get("socket_timeout")
        idle_ms = _LONGEST_WAIT_MS if self._idle is None else self._idle * 1000
        half_timeout_ms = timeout * 1000 / 2 if timeout else _LONGEST_WAIT_MS
        return max(1, int(min(_LONGEST_WAIT_MS, idle_ms, half_timeout_ms)))

    async def _read(self, position: bytes | str, wait_ms: int) -> list[tuple[bytes, dict[bytes, bytes]]]:
        answer = await self._client.xreadgroup(
            self._group, self._consumer, {self._key: position}, count=READ_AT_ONCE, block=wait_ms
        )
        return _entries_of(answer)


def _entries_of(answer: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """The entries of the requested stream, in either version of the protocol; trimmed entries get no fields."""
    streams = list(answer.values()) if isinstance(answer, dict) else [entries for _, entries in answer or ()]
    entries = streams[0] if streams else []
    if entries and isinstance(entries[0], list) and entries[0] and isinstance(entries[0][0], tuple | list):
        entries = entries[0]
    return [(entry_id, fields or {}) for entry_id, fields in entries]


def _payload(fields: dict[bytes, bytes]) -> bytes:
    """The event in an entry: its field ``event``, else its first field."""
    if FIELD in fields:
        return fields[FIELD]
    return next(iter(fields.values()), b"")


def from_url(url: str, idle_seconds: float | None) -> RedisStream:
    """The stream named by ``redis://host:port/key?group=g&consumer=c&db=0``; redis-py gets all other options."""
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    group, consumer = options.pop("group", "hmxgraph"), options.pop("consumer", "hmxgraph")
    server = urlunsplit((parts.scheme, parts.netloc, f"/{options.pop('db', '0')}", urlencode(options), ""))
    return RedisStream(server, parts.path.strip("/"), group=group, consumer=consumer, idle_seconds=idle_seconds)
