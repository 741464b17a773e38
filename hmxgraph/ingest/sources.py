"""Sources of events: files, folders, standard input, open files, bytes, iterables."""

import gzip
import os
import re
import select
import sys
import zlib
from collections.abc import AsyncIterable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO, FileIO
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from time import monotonic
from typing import IO, Any, TypeAlias, cast

import numpy as np

from hmxgraph.errors import Fault, IngestRefused
from hmxgraph.protocol.events import Event

# What a source yields: payloads with their place, failures, and pauses.

Payload: TypeAlias = bytes | bytearray | str | Mapping[str, Any] | Event


@dataclass(frozen=True, slots=True)
class Delivery:
    """One payload, its place, and for streams the receipt to acknowledge once it is stored.

    ``whole``: no other event is made from its line. ``converted``: it was made from a record of another format, which
    names no tenant.
    """

    payload: Payload
    line: int
    source: str = ""
    receipt: Any = None
    whole: bool = True
    converted: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A fault in a source: a part that cannot be read or converted, with its payload if available, or an early end."""

    fault: Fault
    line: int
    source: str = ""
    payload: Payload | None = None


@dataclass(frozen=True, slots=True)
class Lull:
    """A pause of the source: what was read so far should be written now."""


Arrival: TypeAlias = Delivery | Broken | Lull


# JSON values one at a time, from an array or one after another, without reading the whole source.

# Brackets and commas inside strings do not count. The end of a string is searched for from escape to escape: a pattern
# for a whole string would take memory for each of its escapes.
_DELIMITER = re.compile(rb'["\[\]{},]')
_IN_STRING = re.compile(rb'"|\\.', re.DOTALL)
_OPEN = (b"[", b"{")
_CLOSE = (b"]", b"}")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
# All bytes that are not brackets, to be deleted.
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
# The change of depth at each bracket, as a signed byte.
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


def elements(first: bytes, chunks: Iterator[bytes]) -> Generator[tuple[int, bytes | None], None, bool]:
    """The elements of the array that begins in *first*, numbered from one; they are not parsed here.

    An element that is too long is None, a pause is empty. Text after the array is one more element, unless it is
    another array, which is read like the first. Returns whether the array was closed; if it was not, the last element
    may be incomplete.

    >>> list(elements(b'[{"a": "],"}, ', iter([b'[1, 2]', b']'])))
    [(1, b'{"a": "],"}'), (2, b'[1, 2]')]
    """
    return (yield from _numbered(_Splitter(level=1), first, chunks))


def objects(first: bytes, chunks: Iterator[bytes]) -> Generator[tuple[int, bytes | None], None, bool]:
    """Consecutive objects, each over any number of lines, numbered from one.

    An object that is too long is None, a pause is empty.

    >>> list(objects(b'{"a": "}"} {', iter([b'"b": {}', b'}'])))
    [(1, b'{"a": "}"}'), (2, b'{"b": {}}')]
    """
    return (yield from _numbered(_Splitter(level=0), first, chunks))


def _numbered(
    splitter: "_Splitter", first: bytes, chunks: Iterator[bytes]
) -> Generator[tuple[int, bytes | None], None, bool]:
    number = 0
    for value in splitter.values(first, chunks):
        number += value != b""
        yield number, value
    return splitter.ended


class _Splitter:
    """Splits off the elements of an array (*level* 1), or objects that follow each other (*level* 0).

    An element ends at a comma or the end of the array, an object at its own closing bracket.

    The time is proportional to the size of the text. No more of a value than the maximum length of a line is kept in
    memory.
    """

    def __init__(self, *, level: int) -> None:
        self._level = level
        self._depth = 0
        self._in_string = False
        self._after_array = False
        # The value so far: its parts from earlier chunks, their size, and where it begins in the current one.
        self._parts: list[bytes] = []
        self._size = 0
        self._begin = 0

    @property
    def ended(self) -> bool:
        """Whether all brackets were closed."""
        return self._depth == 0 and not self._in_string

    def values(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes | None]:
        """Each value, and the text after the last one; None for a value that is too long, empty for a pause."""
        half_escape = b""
        chunk: bytes | None = first
        while chunk is not None:
            text, half_escape = half_escape + chunk, b""
            scanned = yield from self._ending_values(text)
            if self._in_string and scanned < len(text) and text.endswith(b"\\"):
                text, half_escape = text[:-1], b"\\"
            self._keep(text[self._begin :])
            self._begin = 0
            chunk = next(chunks, None)
            if chunk == b"":
                yield chunk
        yield from self._value_ending(half_escape)

    def _ending_values(self, text: bytes) -> Generator[bytes | None, None, int]:
        """Yield the values that end in *text*; returns the position up to which it was scanned."""
        scanned = self._skip(text)
        while match := (_IN_STRING if self._in_string else _DELIMITER).search(text, scanned):
            if self._depth < self._level and self._follows_array(match.group(), text[self._begin : match.start()]):
                break
            scanned = match.end()
            if match.group() == b'"':
                self._in_string = not self._in_string
            elif not self._in_string and self._ends_element(match.group(), scanned):
                yield from self._value_ending(text[self._begin : match.start() if self._level else scanned])
                self._begin = scanned
        return scanned

    def _skip(self, text: bytes) -> int:
        """Skip *text* if no value ends in it, noting the depth behind it; returns the length skipped, else 0.

        This is about a hundred times as fast as scanning bracket by bracket, which bounds the cost of huge nested
        values. If *text* ends in the middle of an escape, the backslash is not skipped.
        """
        if self._depth <= self._level:
            return 0
        plain = _ESCAPE.sub(b"", text)
        parts = plain.split(b'"')  # every second part lies outside strings
        brackets = b"".join(parts[self._in_string :: 2]).translate(_STEPS, _NO_BRACKET)
        depths = self._depth + np.frombuffer(brackets, dtype=np.int8).cumsum(dtype=np.int64)
        if depths.size and depths.min() <= self._level:
            return 0
        self._depth = int(depths[-1]) if depths.size else self._depth
        self._in_string ^= len(parts) % 2 == 0
        return len(text) - (self._in_string and plain.endswith(b"\\"))

    def _follows_array(self, delimiter: bytes, before: bytes) -> bool:
        """Whether anything but another array follows the array; then everything from there on is one value."""
        self._after_array = self._after_array or delimiter != b"[" or bool(b"".join((*self._parts, before)).strip())
        return self._after_array

    def _ends_element(self, delimiter: bytes, end: int) -> bool:
        """Note a bracket or comma, which ends at *end*; returns whether a value ends with it."""
        if delimiter in _OPEN:
            self._depth += 1
            if self._depth == self._level:
                self._parts, self._size, self._begin = [], 0, end
            return False
        if delimiter in _CLOSE:
            # A surplus closing bracket between objects is a malformed value.
            self._depth = max(self._depth - 1, 0)
            return self._depth == 0
        return delimiter == b"," and self._depth == self._level == 1

    def _keep(self, part: bytes) -> None:
        """Add a part to the value so far; if the value is too long, keep only its size."""
        self._size += len(part)
        if self._size > LONGEST_LINE:
            self._parts = []
        elif part:
            self._parts.append(part)

    def _value_ending(self, last: bytes) -> Iterator[bytes | None]:
        """The value that ends with *last*, unless it is blank; None if it is too long."""
        self._keep(last)
        value = b"".join(self._parts).strip() if self._size <= LONGEST_LINE else None
        self._parts, self._size = [], 0
        if value != b"":
            yield value


# Pipes, sockets and terminals are written while they are read: yield what is ready, and report pauses.

# Maximum number of bytes read at once.
CHUNK = 1 << 18
# Seconds without anything new that count as a pause.
LINGER = 0.01
# Seconds after which waiting events are written in any case.
LONGEST = 0.25


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes of *stream*: a file in chunks, a live stream as they arrive, with an empty piece for each pause.

    A pause is reported when nothing arrives for a moment, repeatedly while that lasts, and when short waits for a slow
    writer add up. Time that the consumer spends elsewhere does not count.
    """
    poll = _poll(stream)
    if poll is None:
        while piece := stream.read(CHUNK):
            yield piece
        return
    read = getattr(stream, "read1", stream.read)
    slack = LONGEST
    while True:
        started = monotonic()
        ready = poll.poll(LINGER * 1000)
        slack -= monotonic() - started
        if not ready or slack <= 0:
            yield b""
            slack = LONGEST
        while not ready and not (ready := poll.poll(LONGEST * 1000)):
            yield b""
        if not (piece := read(CHUNK)):
            return
        yield piece


def _poll(stream: IO[bytes]) -> "select.poll | None":
    """A poll on *stream*; None for files, which never wait, and for streams that cannot be polled."""
    if not isinstance(stream, BufferedReader | FileIO) or not hasattr(select, "poll"):
        return None
    try:
        descriptor = stream.fileno()
    except OSError:  # bytes in memory
        return None
    if S_ISREG(os.fstat(descriptor).st_mode):
        return None
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return poll


# Bytes as payloads: JSON lines, multi-line objects or one JSON array, plain or gz.
#
# At most one chunk and one value are in memory. An empty chunk or line stands for a pause.

# Maximum number of bytes of a line. An event has at most 1 MB, but a line of a transcript may hold images, too.
LONGEST_LINE = 64 << 20
# A first line that ends inside an object ("{" or '{"a": 1,') begins a multi-line object, unless the next line is a
# whole object: then the first line is damaged.
_MULTI_LINE = re.compile(rb"\s*\{(?:[ \t]*|[^\n]*[\[{,:][ \t]*)\r?\n(?!\s*\{[^\n]*\}[ \t]*\r?(?:\n|\Z))")
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def _read_stream(stream: IO[bytes], name: str) -> Iterator[Arrival]:
    """The payloads of *stream*; if it breaks off, a :class:`Broken` follows everything readable."""
    broken: list[Broken] = []
    chunks = _chunks(stream, name, broken)
    line, first = 0, b""
    for first in chunks:
        if first:
            break
        yield Lull()
    first = first.removeprefix(_BOM)
    for line, value in _values(first, chunks, name, broken):
        yield Lull() if value == b"" else _delivery(value, line, name)
    yield from (Broken(end.fault, line + 1, name) for end in broken)


def _values(
    first: bytes, chunks: Iterator[bytes], name: str, broken: list[Broken]
) -> Iterator[tuple[int, bytes | None]]:
    """Numbered values; an unclosed array is noted in *broken*, unless the stream broke off."""
    if not first.lstrip().startswith(b"["):
        yield from objects(first, chunks) if _MULTI_LINE.match(first) else _lines(first, chunks)
        return
    ended = yield from elements(first, chunks)
    if not ended and not broken:
        fault = Fault("$", "RFC 8259 5", "an unclosed array", "its closing bracket")
        broken.append(Broken(fault, 0, name))


def _delivery(value: bytes | None, line: int, name: str) -> Delivery | Broken:
    if value is None:
        expected = f"at most {LONGEST_LINE} bytes"
        return Broken(Fault("$", "HMX-E 11", f"a line of more than {LONGEST_LINE} bytes", expected), line, name)
    return Delivery(value, line, name)


def _chunks(stream: IO[bytes], name: str, broken: list[Broken]) -> Iterator[bytes]:
    """The bytes of the stream, unpacked; the reason for an early end is noted in *broken*.

    Raises:
        IngestRefused: the stream cannot be read at all.

    """
    try:
        yield from _decompressed(pieces(stream))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        broken.append(Broken(Fault("$", "RFC 1952", str(error), "a complete gz file"), 0, name))
    except OSError as error:
        if error.errno is None:  # it is not open for reading
            raise IngestRefused(name, str(error)) from error
        broken.append(
            Broken(Fault("$", "HMX-E 8", f"the source broke off: {error.strerror}", "a complete source"), 0, name)
        )


def _decompressed(raw: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes, unpacked if they are gz; the first chunk is long enough to recognise the format."""
    first = b""
    for piece in raw:
        if not piece:
            yield piece
        first += piece
        if len(first.lstrip()) > len(_BOM) or len(first) >= CHUNK:
            break
    if first:
        whole = chain([first], raw)
        yield from _gunzipped(whole) if first.startswith(_GZIP) else whole


def _gunzipped(raw: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes in a gz file of one or more members."""
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    for data in raw:
        if not data:
            yield data
        while data:
            if unpack.eof:
                unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            if piece := unpack.decompress(data, CHUNK):
                yield piece
            data = unpack.unused_data.lstrip(b"\0") if unpack.eof else unpack.unconsumed_tail  # noqa: PLW2901
    if not unpack.eof:
        raise EOFError("the gz file is truncated")


def _lines(first: bytes, chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines that are not blank; None for a line that is too long, empty for a pause."""
    number, size = 0, 0
    parts: list[bytes] = []
    chunk: bytes | None = first
    while chunk is not None:
        number, chunk = _past_blank_lines(number, size, chunk)
        *lines, last = chunk.split(b"\n")
        for line in lines:
            number += 1
            if size <= LONGEST_LINE < size + len(line):
                yield number, None
            elif size <= LONGEST_LINE and (whole := b"".join((*parts, line)) if parts else line).strip():
                yield number, whole
            parts, size = [], 0
        size += len(last)
        if size > LONGEST_LINE:
            if parts:
                yield number + 1, None
            parts = []
        elif last:
            parts.append(last)
        chunk = next(chunks, None)
        if chunk == b"":
            yield number, chunk
    if (whole := b"".join(parts)).strip():
        yield number + 1, whole


def _past_blank_lines(number: int, size: int, chunk: bytes) -> tuple[int, bytes]:
    """Skip a *chunk* of nothing but blank lines, except its last line end; returns the line number and the rest.

    A small gz file may hold billions of them. *size* is the length of the line that *chunk* continues.
    """
    if size or not chunk.endswith(b"\n") or not chunk.isspace():
        return number, chunk
    return number + chunk.count(b"\n") - 1, b"\n"


# Any kind of source as one sequence of deliveries.

Source: TypeAlias = str | Path | Sequence[Path] | IO[bytes] | IO[str] | Payload | Iterable[Payload | Delivery]
# Endings of the files that are read from a folder.
ENDINGS = (".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz", ".json.gz")


def deliveries(source: Source) -> Iterator[Arrival]:
    """Everything in *source*, one delivery after the other.

    *source* is a path (file or folder, plain or gz), a list of paths, ``-`` for standard input, an open file, one
    event, the bytes of a file, or an iterable of dicts, events, bytes or JSON texts.

    Raises:
        IngestRefused: *source* does not exist, cannot be opened, is a folder without event files, or has another form.

    """
    if isinstance(source, str | Path):
        return _path(source)
    if are_paths(source):
        return _all_of(cast("Sequence[Path]", source))
    if isinstance(source, bytes | bytearray):
        return _bytes(bytes(source))
    if isinstance(source, Mapping | Event):
        return iter([Delivery(cast("Payload", source), 1)])
    if hasattr(source, "read"):
        return _read_stream(_binary(source), str(getattr(source, "name", "stream")))
    if isinstance(source, AsyncIterable):
        raise IngestRefused(type(source).__name__, "an asynchronous source needs hmxgraph.connect_async")
    if isinstance(source, Iterable):
        return _iterable(cast("Iterable[Payload | Delivery]", source))
    raise IngestRefused(type(source).__name__, "not a path, an open file or an iterable of events")


def _path(source: str | Path) -> Iterator[Arrival]:
    if _is_standard_input(source):
        return _read_stream(_standard_input(), "stdin")
    path = Path(source)
    try:
        folder = path.is_dir()
    except OSError as error:
        raise _unopened(path, error) from error
    if folder:
        return _folder(path)
    return _file(_opened(path), str(path))


def are_paths(source: Any) -> bool:
    """Whether *source* is a list of paths, each of which is read as its own source."""
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(path, Path) for path in source)


def _all_of(paths: Sequence[Path]) -> Iterator[Arrival]:
    """Everything at *paths*; all of them are checked before the first is read."""
    for path in paths:
        try:
            path.stat()
        except (OSError, ValueError) as error:
            raise _unopened(path, error) from error
        if path.is_dir():
            _event_files(path)
    return chain.from_iterable(map(_path, paths))


def reads(source: Any, path: Path) -> bool:
    """Whether *path* is being read: it is *source*, under whatever name, or lies in it."""
    if are_paths(source):
        return any(reads(part, path) for part in source)
    if _is_standard_input(source):
        return _same_file(getattr(sys.stdin, "buffer", None), path)
    if not isinstance(source, str | Path):
        return _same_file(source, path)
    root = Path(source).resolve()
    return root == path.resolve() or root in path.resolve().parents or _same_file(root, path)


def _same_file(source: Any, path: Path) -> bool:
    """Whether *source*, a path or an open file, is the file at *path*; also through a hard link."""
    try:
        status = source.stat() if isinstance(source, Path) else os.fstat(source.fileno())
        return S_ISREG(status.st_mode) and os.path.samestat(status, path.stat())
    except (OSError, ValueError, AttributeError):  # there is no such file, or it is in memory
        return False


def reads_once(source: Any) -> bool:
    """Whether what *source* delivers cannot be read again.

    It is standard input, a named pipe, an open file, a stream or an iterator.
    """
    is_consumed = hasattr(source, "read") or isinstance(source, Iterator | AsyncIterable)
    return is_consumed or _is_standard_input(source) or _is_named_pipe(source)


def _is_named_pipe(source: Any) -> bool:
    """Whether *source* is the path of a pipe, such as a shell makes for <(command)."""
    try:
        return isinstance(source, str | Path) and Path(source).is_fifo()
    except OSError:  # no file can have that name
        return False


def _is_standard_input(source: Any) -> bool:
    return isinstance(source, str | Path) and str(source) == "-"


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise IngestRefused("stdin", "standard input is closed; name a file, or pipe the events in")
    return sys.stdin.buffer


def _file(stream: IO[bytes], name: str) -> Iterator[Arrival]:
    with stream:
        yield from _read_stream(stream, name)


def _folder(folder: Path) -> Iterator[Arrival]:
    return (arrival for path in _event_files(folder) for arrival in _file_of_folder(path))


def _event_files(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.endswith(ENDINGS))
    except OSError as error:
        raise _unopened(Path(error.filename or folder), error) from error
    if not paths:
        raise IngestRefused(str(folder), f"no event files in this folder ({', '.join(ENDINGS)})")
    return paths


def _file_of_folder(path: Path) -> Iterator[Arrival]:
    """The arrivals of a file; if it cannot be opened, that is reported, and the other files are read."""
    try:
        stream = path.open("rb")
    except OSError as error:
        yield Broken(Fault("$", "HMX-E 8", f"cannot be opened: {error.strerror}", "a readable file"), 0, str(path))
        return
    yield from _file(stream, str(path))


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise _unopened(path, error) from error


def _unopened(path: Path, error: OSError | ValueError) -> IngestRefused:
    """The error for a path that cannot be opened; a ValueError means that no system allows such a name."""
    reason = getattr(error, "strerror", None) or str(error)
    way_out = "; a string names a file, so pass JSON text as bytes" if str(path).lstrip()[:1] in {"{", "["} else ""
    return IngestRefused(f"{path!s:.200}", f"{reason}{way_out}")


def _bytes(data: bytes) -> Iterator[Arrival]:
    return _read_stream(BytesIO(data), "bytes")


def _iterable(source: Iterable[Payload | Delivery]) -> Iterator[Arrival]:
    return (
        payload if isinstance(payload, Delivery) else Delivery(payload, number)
        for number, payload in enumerate(source, start=1)
    )


def _binary(stream: Any) -> IO[bytes]:
    """*stream*, the bytes underneath a text file, or encoded text if there are none, as in a ``StringIO``."""
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


__all__ = [
    "Arrival",
    "Broken",
    "Delivery",
    "Lull",
    "Payload",
    "Source",
    "are_paths",
    "deliveries",
    "reads",
    "reads_once",
]
