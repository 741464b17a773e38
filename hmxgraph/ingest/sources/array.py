"""One JSON array, element by element, without reading it whole."""

import re
from collections.abc import Iterator

# Strings are stepped over whole, so that brackets and commas inside them do not count.
_SIGN = re.compile(rb'"(?:[^"\\]++|\\.)*"|"|[\[\]{},]', re.DOTALL)
_OPEN = (b"[", b"{")
_CLOSE = (b"]", b"}")


def elements(first: bytes, chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The elements of the array that begins in *first*, numbered from one; their text is not judged here.

    An array that does not end leaves its last, unfinished element, which no parser accepts.

    >>> list(elements(b'[{"a": "],"}, ', iter([b'[1, 2]', b']'])))
    [(1, b'{"a": "],"}'), (2, b'[1, 2]')]
    """
    splitter = _Splitter()
    number = 0
    for piece in splitter.pieces(first, chunks):
        if piece.strip():
            number += 1
            yield number, piece.strip()


class _Splitter:
    """Looks for the commas between the elements of the outermost array."""

    def __init__(self) -> None:
        self._buffer = b""
        self._depth = 0
        self._scanned = 0
        self._begin = 0

    def pieces(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Each piece of text between two such commas, and what follows the array if anything does."""
        chunk: bytes | None = first
        while chunk is not None:
            self._buffer += chunk
            yield from self._complete()
            self._buffer = self._buffer[self._begin :]
            self._scanned -= self._begin
            self._begin = 0
            chunk = next(chunks, None)
        yield self._buffer

    def _complete(self) -> Iterator[bytes]:
        for match in _SIGN.finditer(self._buffer, self._scanned):
            sign = match.group()
            if sign == b'"':  # a string that goes on in the next chunk
                self._scanned = match.start()
                return
            self._scanned = match.end()
            if self._ends_element(sign):
                yield self._buffer[self._begin : match.start()]
                self._begin = match.end()

    def _ends_element(self, sign: bytes) -> bool:
        if sign in _OPEN:
            self._depth += 1
            if self._depth == 1:
                self._begin = self._scanned
            return False
        if sign in _CLOSE:
            self._depth -= 1
            return self._depth == 0
        return sign == b"," and self._depth == 1
