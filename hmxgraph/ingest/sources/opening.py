"""A source in any of its forms as one sequence of deliveries."""

import sys
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.sources.deliveries import Arrival, Delivery, Payload
from hmxgraph.ingest.sources.reading import read_stream
from hmxgraph.protocol.events import Event

Source: TypeAlias = str | Path | IO[bytes] | IO[str] | Payload | Iterable[Payload]
ENDINGS = (".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz", ".json.gz")


def deliveries(source: Source) -> Iterator[Arrival]:
    """Everything in *source*, one delivery after the other.

    A path (file or folder, plain or gz), ``-`` for standard input, an open file, one event, bytes of NDJSON, or an
    iterable of dicts, events, bytes or JSON texts.

    Raises:
        IngestRefused: *source* does not exist, cannot be opened, or is of no such form.

    """
    if isinstance(source, str | Path):
        return _path(source)
    if isinstance(source, bytes | bytearray):
        return _bytes(bytes(source))
    if isinstance(source, Mapping | Event):
        return iter([Delivery(cast("Payload", source), 1)])
    if hasattr(source, "read"):
        return read_stream(_binary(source), str(getattr(source, "name", "stream")))
    if isinstance(source, AsyncIterable):
        raise IngestRefused(type(source).__name__, "an asynchronous source needs hmxgraph.connect_async")
    if isinstance(source, Iterable):
        return _iterable(source)
    raise IngestRefused(type(source).__name__, "not a path, an open file or an iterable of events")


def _path(source: str | Path) -> Iterator[Arrival]:
    if str(source) == "-":
        return read_stream(_standard_input(), "stdin")
    path = Path(source)
    try:
        folder = path.is_dir()
    except OSError as error:
        raise _unopened(path, error) from error
    if folder:
        return _folder(path)
    return _file(_opened(path), str(path))


def reads(source: Any, path: Path) -> bool:
    """Whether *path* is what *source* names, or lies in the folder that it names: no place to write to meanwhile."""
    if not isinstance(source, str | Path) or str(source) == "-":
        return False
    named = Path(source).resolve()
    return named == path.resolve() or named in path.resolve().parents


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise IngestRefused("stdin", "standard input is closed; name a file, or pipe the events in")
    return sys.stdin.buffer


def _file(stream: IO[bytes], name: str) -> Iterator[Arrival]:
    with stream:
        yield from read_stream(stream, name)


def _folder(folder: Path) -> Iterator[Arrival]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.endswith(ENDINGS))
    if not paths:
        raise IngestRefused(str(folder), f"no event files in this folder ({', '.join(ENDINGS)})")
    return (delivery for path in paths for delivery in _file(_opened(path), str(path)))


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise _unopened(path, error) from error


def _unopened(path: Path, error: OSError | ValueError) -> IngestRefused:
    """What to say of a path that cannot be opened; a ValueError is one that no system can spell."""
    reason = getattr(error, "strerror", None) or str(error)
    way_out = "; JSON text is given as bytes, text names a file" if str(path).lstrip()[:1] in {"{", "["} else ""
    return IngestRefused(f"{path!s:.200}", f"{reason}{way_out}")


def _bytes(data: bytes) -> Iterator[Arrival]:
    return read_stream(BytesIO(data), "bytes")


def _iterable(source: Iterable[Payload]) -> Iterator[Arrival]:
    return (Delivery(payload, number) for number, payload in enumerate(source, start=1))


def _binary(stream: Any) -> IO[bytes]:
    # A text file shows its bytes; a pure text buffer is encoded.
    if hasattr(stream, "buffer"):
        raw: IO[bytes] = stream.buffer
        return raw
    probe = stream.read(0)
    return stream if isinstance(probe, bytes) else _Encoded(stream)  # type: ignore[return-value]


class _Encoded:
    """A text stream read as UTF-8 bytes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """At most *size* characters, encoded."""
        return self._stream.read(size).encode("utf-8", "surrogatepass")
