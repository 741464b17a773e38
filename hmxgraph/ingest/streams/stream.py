"""The interface of event streams, their URLs, and their errors (HMX-E 8)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from typing import Any, Protocol, TypeVar, runtime_checkable

from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.sources import Delivery
from hmxgraph.text.masking import public_address, public_addresses

# An asynchronous iterator that ends when nothing arrives for a while.

T = TypeVar("T")


async def until_idle(messages: AsyncIterator[T], seconds: float | None) -> AsyncIterator[T]:
    """*messages*, ended early after *seconds* without one (None: never)."""
    while True:
        try:
            message = await asyncio.wait_for(anext(messages), seconds)
        except (StopAsyncIteration, TimeoutError):
            return
        yield message


# Errors for a source that stops answering or cannot be acknowledged; they never show logins or keys.


def broken_off(address: str, error: Exception, line: int | None = None, *, what: str = "") -> IngestRefused:
    """The error for a stream at *address* that ended with *error*, after *line* messages; *what* says what failed.

    >>> str(broken_off("redis://:secret@host", OSError("gone"), 7))
    'redis://host:7: gone'
    """
    reason = public_addresses(str(error)) or type(error).__name__
    return IngestRefused(public_address(address), f"{what} ({reason})" if what else reason, line)


def not_acknowledged(address: str, error: Exception) -> IngestRefused:
    """The error for events that are stored but could not be acknowledged at *address*.

    >>> str(not_acknowledged("redis://host", OSError("gone")))
    'redis://host: stored but not acknowledged (gone): read it again; stored events count as duplicates'
    """
    reason = f"stored but not acknowledged ({public_addresses(str(error)) or type(error).__name__}): read it again; "
    return IngestRefused(public_address(address), f"{reason}stored events count as duplicates")


# The interface of streams, and their URLs.

# The module of each URL scheme.
_MODULES = {
    "http": "sse",
    "https": "sse",
    "ws": "websocket",
    "wss": "websocket",
    "kafka": "kafka",
    "nats": "jetstream",
    "redis": "redis_stream",
    "rediss": "redis_stream",
}


@runtime_checkable
class Stream(Protocol):
    """An asynchronous source whose messages are acknowledged."""

    def __aiter__(self) -> AsyncIterator[Delivery]:
        """The messages, each with the receipt to acknowledge once its event is stored."""
        ...

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """Tell the other side that the messages of *receipts* are stored."""
        ...

    async def close(self) -> None:
        """Close the connection; nothing can be acknowledged afterwards."""
        ...


def is_stream_url(text: str) -> bool:
    """Whether *text* names a stream rather than a file.

    >>> is_stream_url("redis://localhost/events"), is_stream_url("events.ndjson")
    (True, False)
    """
    return _scheme(text) in _MODULES


def open_stream(url: str, *, idle_seconds: float | None = None) -> Stream:
    """The stream that *url* names; if *idle_seconds* is set, it ends after that time without a message.

    ``https://host/path`` (Server-Sent Events), ``wss://host/path``, ``redis://host:6379/key?group=g&consumer=c``,
    ``kafka://host:9092/topic?group=g``, ``nats://host:4222/stream/subject?durable=d``.

    Raises:
        IngestRefused: an unknown scheme, an address that cannot be read, a login for Kafka, or the client library of
            the extra ``streams`` is not installed.

    """
    module = _MODULES.get(_scheme(url))
    if module is None:
        raise IngestRefused(public_address(url), f"unknown kind of stream; choose one of {', '.join(sorted(_MODULES))}")
    try:
        opened: Stream = import_module(f"hmxgraph.ingest.streams.{module}").from_url(url, idle_seconds)
    except IngestRefused:  # a ValueError that says what is wrong
        raise
    except ImportError as error:
        raise IngestRefused(
            public_address(url), f"{error.name} is not installed: pip install 'hmxgraph[streams]'"
        ) from error
    except ValueError as error:  # its message may quote a login
        raise IngestRefused(
            public_address(url), "not the address of a stream; write it like redis://host:6379/key"
        ) from error
    return opened


def _scheme(url: str) -> str:
    scheme, mark, _ = url.partition("://")
    return scheme.lower() if mark else ""
