"""What every stream offers, and how a URL names one."""

from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.sources.deliveries import Delivery
from hmxgraph.text.addresses import public_address

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
        """The messages, each with the receipt to be given back when its event is stored."""
        ...

    async def acknowledge(self, receipts: Sequence[Any]) -> None:
        """Tell the other side that the messages of *receipts* are stored."""
        ...

    async def close(self) -> None:
        """Let go of the connection; nothing can be acknowledged any more."""
        ...


def is_stream_url(text: str) -> bool:
    """Whether *text* names a stream rather than a file.

    >>> is_stream_url("redis://localhost/events"), is_stream_url("events.ndjson")
    (True, False)
    """
    return _scheme(text) in _MODULES


def open_stream(url: str, *, idle_seconds: float | None = None) -> Stream:
    """The stream that *url* names; it ends after *idle_seconds* without a message, never if None.

    ``https://host/path`` (Server-Sent Events), ``wss://host/path``, ``redis://host:6379/key?group=g&consumer=c``,
    ``kafka://host:9092/topic?group=g``, ``nats://host:4222/stream/subject?durable=d``.

    Raises:
        IngestRefused: an unknown scheme, an address that cannot be read, or the client library of the extra
            ``streams`` is not installed.

    """
    module = _MODULES.get(_scheme(url))
    if module is None:
        raise IngestRefused(public_address(url), f"no such kind of stream; known are {', '.join(sorted(_MODULES))}")
    try:
        opened: Stream = import_module(f"hmxgraph.ingest.streams.{module}").from_url(url, idle_seconds)
    except ImportError as error:
        raise IngestRefused(
            public_address(url), f"{error.name} is not installed: pip install 'hmxgraph[streams]'"
        ) from error
    except ValueError as error:  # its words may quote a login
        raise IngestRefused(
            public_address(url), "no address of a stream; write it like redis://host:6379/key"
        ) from error
    return opened


def _scheme(url: str) -> str:
    scheme, mark, _ = url.partition("://")
    return scheme.lower() if mark else ""
