"""JSON values one by one, those of an array or those that follow one another, without reading all of them at once."""

import re
from collections.abc import Generator, Iterator

# Brackets and commas inside strings do not count. To match a string whole would take memory for each escape in it.
_SIGN = re.compile(rb'["\[\]{},]')
_IN_STRING = re.compile(rb'"|\\.', re.DOTALL)
_OPEN = (b"[", b"{")
_CLOSE = (b"]", b"}")


def elements(first: bytes, chunks: Iterator[bytes]) -> Generator[tuple[int, bytes], None, bool]:
    """The elements of the array that begins in *first*, numbered from one; their text is not judged here.

    Returns whether the array ended; one that did not leaves its last element as far as it came.

    >>> list(elements(b'[{"a": "],"}, ', iter([b'[1, 2]', b']'])))
    [(1, b'{"a": "],"}'), (2, b'[1, 2]')]
    """
    return (yield from _numbered(_Splitter(level=1), first, chunks))


def objects(first: bytes, chunks: Iterator[bytes]) -> Generator[tuple[int, bytes], None, bool]:
    """The same for objects that follow one another, each over as many lines as it likes.

    >>> list(objects(b'{"a": "}"} {', iter([b'"b": {}', b'}'])))
    [(1, b'{"a": "}"}'), (2, b'{"b": {}}')]
    """
    return (yield from _numbered(_Splitter(level=0), first, chunks))


def _numbered(splitter: "_Splitter", first: bytes, chunks: Iterator[bytes]) -> Generator[tuple[int, bytes], None, bool]:
    number = 0
    for piece in splitter.pieces(first, chunks):
        if piece.strip():
            number += 1
            yield number, piece.strip()
    return splitter.ended


class _Splitter:
    """Looks for where values end that stand *level* brackets deep: an array's at its commas, others by themselves."""

    def __init__(self, *, level: int) -> None:
        self._level = level
        self._buffer = b""
        self._depth = 0
        self._scanned = 0
        self._begin = 0
        self._in_string = False

    @property
    def ended(self) -> bool:
        """Whether all brackets were closed."""
        return self._depth <= 0 and not self._in_string

    def pieces(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Each value with what stands around it, and what follows the last if anything does."""
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
        while match := self._next_sign():
            if self._ends_element(match.group()):
                yield self._buffer[self._begin : match.start() if self._level else match.end()]
                self._begin = match.end()

    def _next_sign(self) -> re.Match[bytes] | None:
        """The next bracket or comma outside of strings."""
        while match := (_IN_STRING if self._in_string else _SIGN).search(self._buffer, self._scanned):
            self._scanned = match.end()
            if match.group() == b'"':
                self._in_string = not self._in_string
            elif not self._in_string:
                return match
        # The last sign may be the first half of an escape that goes on in the next chunk.
        self._scanned = max(self._scanned, len(self._buffer) - 1)
        return None

    def _ends_element(self, sign: bytes) -> bool:
        if sign in _OPEN:
            self._depth += 1
            if self._depth == self._level:
                self._begin = self._scanned
            return False
        if sign in _CLOSE:
            # One bracket too many costs an object by itself, and what follows an array.
            self._depth = max(self._depth - 1, -self._level)
            return self._depth == 0
        return sign == b"," and self._depth == self._level == 1
