"""Bytes as payloads: NDJSON, objects over several lines or one JSON array, plain or gz.

Never more than one chunk and one value in memory. An empty chunk, and an empty line, tell a lull.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import IO

from hmxgraph.errors import Fault, IngestRefused
from hmxgraph.ingest.sources.deliveries import Arrival, Broken, Delivery, Lull
from hmxgraph.ingest.sources.elements import elements, objects
from hmxgraph.ingest.sources.live import CHUNK, pieces

# An event of 1 MB may be spelled with \\uXXXX escapes and blanks; nothing sound is longer than this.
LONGEST_LINE = 8 << 20
# No line of NDJSON is a bracket alone; objects over several lines begin with one.
_PRINTED = re.compile(rb"\s*\{[ \t]*\r?\n")
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def read_stream(stream: IO[bytes], name: str) -> Iterator[Arrival]:
    """The payloads of *stream*; a stream that breaks off ends with :class:`Broken`, after all that was good."""
    broken: list[Broken] = []
    chunks = _chunks(stream, name, broken)
    line, first = 0, b""
    for first in chunks:
        if first:
            break
        yield Lull()
    first = first.removeprefix(_BOM)
    for line, piece in _pieces(first, chunks, name, broken):
        yield Lull() if piece == b"" else _delivery(piece, line, name)
    yield from (Broken(news.fault, line + 1, name) for news in broken)


def _pieces(
    first: bytes, chunks: Iterator[bytes], name: str, broken: list[Broken]
) -> Iterator[tuple[int, bytes | None]]:
    """Numbered values; that an array does not end is left in *broken*, if the stream did not break off."""
    if not first.lstrip().startswith(b"["):
        yield from objects(first, chunks) if _PRINTED.match(first) else _lines(first, chunks)
        return
    ended = yield from elements(first, chunks)
    if not ended and not broken:
        fault = Fault("$", "RFC 8259 5", "the array breaks off", "its closing bracket")
        broken.append(Broken(fault, 0, name))


def _delivery(piece: bytes | None, line: int, name: str) -> Delivery | Broken:
    if piece is None:
        expected = f"at most {LONGEST_LINE} bytes"
        return Broken(Fault("$", "HMX-E 11", f"a line of more than {LONGEST_LINE} bytes", expected), line, name)
    return Delivery(piece, line, name)


def _chunks(stream: IO[bytes], name: str, broken: list[Broken]) -> Iterator[bytes]:
    """What the stream holds, unpacked; why it ended early is left in *broken*."""
    try:
        yield from _unwrapped(pieces(stream))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        broken.append(Broken(Fault("$", "RFC 1952", str(error), "a complete gz file"), 0, name))
    except OSError as error:
        if error.errno is None:
            raise IngestRefused(name, str(error)) from error
        broken.append(Broken(Fault("$", "HMX-E 8", f"the source broke off: {error.strerror}", "its end"), 0, name))


def _unwrapped(raw: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes themselves or what is packed in them, the first chunk long enough to be known by its beginning."""
    first = b""
    for piece in raw:
        if not piece:
            yield piece
        first += piece
        if len(first.lstrip()) > len(_BOM) or len(first) >= CHUNK:
            break
    if first:
        whole = chain([first], raw)
        yield from _unpacked(whole) if first.startswith(_GZIP) else whole


def _unpacked(raw: Iterator[bytes]) -> Iterator[bytes]:
    """A gz file of one or more members."""
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
        raise EOFError("the gz file ends in the middle")


def _lines(first: bytes, chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines that are not blank; None for one that is too long to be an event."""
    number, rest, skipping = 0, b"", False
    chunk: bytes | None = first
    while chunk is not None:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            number += 1
            if skipping:
                skipping = False
            elif line.strip():
                yield number, line
        if len(rest) > LONGEST_LINE:
            if not skipping:
                yield number + 1, None
            rest, skipping = b"", True
        chunk = next(chunks, None)
        if chunk == b"":
            yield number, chunk
    if rest.strip() and not skipping:
        yield number + 1, rest
