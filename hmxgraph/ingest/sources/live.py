"""Pipes, sockets and terminals, written while they are read: what is at hand is handed over, a lull is told."""

import os
import select
from collections.abc import Iterator
from io import BufferedReader, FileIO
from stat import S_ISREG
from time import monotonic
from typing import IO

CHUNK = 1 << 18
# Seconds that a batch in the making waits for one more message, and that it may be in the making at all.
LINGER = 0.01
LONGEST = 0.25


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes of *stream*: of a file by the chunk, of a live one as they come, an empty piece for each lull.

    It is a lull where nothing comes for a moment, and again where that goes on; or where the writer is so slow that
    moments add up. Time spent elsewhere, while the writer waits, does not count.
    """
    poll = _poll(stream)
    if poll is None:
        while piece := stream.read(CHUNK):
            yield piece
        return
    read = getattr(stream, "read1", stream.read)
    slack = LONGEST
    while True:
        began = monotonic()
        at_hand = poll.poll(LINGER * 1000)
        slack -= monotonic() - began
        if not at_hand or slack <= 0:
            yield b""
            slack = LONGEST
        while not at_hand and not (at_hand := poll.poll(LONGEST * 1000)):
            yield b""
        if not (piece := read(CHUNK)):
            return
        yield piece


def _poll(stream: IO[bytes]) -> "select.poll | None":
    """What tells whether there is something to read; None for files, which never wait, and where nothing can tell."""
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
