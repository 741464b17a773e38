"""Whether a run of characters was drawn rather than written: keys, tokens and hashes, as opposed to words and names."""

import re

RUN = re.compile(r"[^\s\"'`,;<>()\[\]{}|\\]{9,}")
_SEGMENT = re.compile(r"[A-Za-z0-9]{9,}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{7}")
_LONGEST_WORD = 20
_LONG_NUMBER = 9
# How strange a name with digits may be, up to a length: keys are long, and long names are made of words.
_ALLOWED = ((15, 0.4), (23, 0.3), (1_000_000, 0.2))
_WITHOUT_DIGITS = 1.5
_HEX = re.compile(r"(?=[0-9a-f]*\d)[0-9a-f]{12,}|(?=[0-9A-F]*\d)[0-9A-F]{12,}")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ENCODED = re.compile(r"(?<![\w+/-])(?=[A-Za-z+/_-]*\d)(?=[a-z\d+/_-]*[A-Z])[A-Za-z0-9+/_-]{16,}={0,2}")


def is_random(run: str) -> bool:
    """Whether some part of *run* looks drawn: a UUID, a long number, hexadecimal, or letters that make no words.

    >>> [is_random(run) for run in ("kQ3xZ81mBw20", "ConnectionResetError104", "/var/log/app-2024/base64Encoded.txt")]
    [True, False, False]

    """
    return bool(_UUID.search(run)) or any(map(_is_drawn, _SEGMENT.findall(run))) or _is_encoded(run)


def _is_drawn(segment: str) -> bool:
    if segment.isdigit():
        return len(segment) >= _LONG_NUMBER
    if _HEX.fullmatch(segment):
        return True
    return _strangeness(_PARTS.findall(segment)) > _allowed(segment)


def _strangeness(parts: list[str]) -> float:
    """The share of letters that stand in no word, and of every change from one kind of character to another."""
    letters = [part for part in parts if part.isalpha()]
    strange = sum(len(part) for part in letters if not _is_word(part))
    return (strange + len(parts) - 1) / max(sum(map(len, parts)), 1)


def _allowed(segment: str) -> float:
    allowed = next(share for length, share in _ALLOWED if len(segment) <= length)
    return allowed if any(map(str.isdigit, segment)) else _WITHOUT_DIGITS * allowed


def _is_word(part: str) -> bool:
    return 2 < len(part) <= _LONGEST_WORD and bool(_VOWEL.search(part)) and not _CONSONANTS.search(part)


def _is_encoded(run: str) -> bool:
    # Base64 with many signs between its letters has no long segment.
    found = _ENCODED.search(run)
    return found is not None and len(_PARTS.findall(found.group())) >= len(found.group()) / 2.75
