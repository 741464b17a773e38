"""Kafka: each message is one HMX event; offsets are committed after the events are stored."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.sources import Delivery
from hmxgraph.ingest.streams.stream import broken_off, not_acknowledged, until_idle
from hmxgraph.text.masking import public_address


class Offsets:
    """The offsets of each partition that are received but not stored.

    The offset to commit is the lowest of them, or, if all are stored, the next one: a group resumes at its committed
    offset. Messages that were rejected and reported count as stored.

    >>> offsets = Offsets()
    >>> for offset in (5, 6, 7):
    ...     offsets.received("events-0", offset)
    >>> offsets.stored([("events-0", 7), ("events-0", 5)])
    {'events-0': 6}
    >>> offsets.stored([("events-0", 6)])
    {'events-0': 8}
    """

    def __init__(self) -> None:
        self._pending: dict[Any, set[int]] = {}
        self._next: dict[Any, int] = {}

    def received(self, partition: Any, offset: int) -> None:
        """Note a message that is received but not stored yet."""
        self._pending.setdefault(partition, set()).add(offset)
        self._next[partition] = max(self._next.get(partition, 0), offset + 1)

    def stored(self, receipts: Sequence[tuple[Any, int]]) -> dict[Any, int]:
        """Note that the messages of *receipts* are stored; return the offset to commit for each of their partitions."""
        for partition, offset in receipts:
            self._pending[partition].discard(offset)
        partitions = {partition for partition, _ in receipts}
        return {part: min(self._pending[part], default=self._next[part]) for part in partitions}


class KafkaStream:
    """The messages of *topic*, read as a member of *group* from its committed offset on, or else from the first."""

    def __init__(self, servers: str, topic: str, *, group: str = "hmxgraph", idle_seconds: float | None = None) -> None:
        self._servers, self._topic, self._group = servers, topic, group
        self._idle = idle_seconds
        self._source = public_address(f"kafka://{servers}/{topic}")
        self._offsets = Offsets()
        self._consumer: Any = None

    def __aiter__(self) -> AsyncIterator[Delivery]:
        return until_idle(self._deliveries(), self._idle)

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """Commit for each partition the offset before which every message is stored, or rejected and reported.

        Raises:
            IngestRefused: the broker refuses, as when it gave the partition to another member of the group, or is gone.

        """
        try:
            await self._consumer.commit(self._offsets.stored(receipts))
        except KafkaError as error:
            raise not_acknowledged(self._source, error) from error

    async def _deliveries(self) -> AsyncIterator[Delivery]:
        self._consumer = AIOKafkaConsumer(
            self._topic,
            bootstrap_servers=self._servers,
            group_id=self._group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        await self._join()
        try:
            async for message in self._consumer:
                partition = TopicPartition(message.topic, message.partition)
                self._offsets.received(partition, message.offset)
                yield Delivery(message.value or b"", message.offset, self._source, (partition, message.offset))
        except KafkaError as error:
            raise broken_off(self._source, error) from error

    async def _join(self) -> None:
        try:
            await self._consumer.start()
        except (KafkaError, ValueError) as error:  # a ValueError: the port is not a number
            raise broken_off(self._source, error, what="no connection") from error

    async def close(self) -> None:
        """Leave the group."""
        if self._consumer is not None:
            await self._consumer.stop()


def from_url(url: str, idle_seconds: float | None) -> KafkaStream:
    """The topic named by ``kafka://host:port/topic?group=g``.

    Raises:
        IngestRefused: the URL has a login, which the client would take for part of the host.

    """
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise IngestRefused(public_address(url), "Kafka takes no login in its address; leave it out")
    group = parse_qs(parts.query).get("group", ["hmxgraph"])[-1]
    return KafkaStream(parts.netloc, parts.path.strip("/"), group=group, idle_seconds=idle_seconds)
