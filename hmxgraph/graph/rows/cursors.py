"""Pages: how many rows they may have, and where one ended, as an opaque text that the next question brings back."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from hmxgraph.errors import InvalidRequest, NotFound
from hmxgraph.protocol.canonical import MAX_INTEGER, canonical_bytes
from hmxgraph.protocol.parsing import parse_json


def check_limit(limit: int) -> None:
    """Refuse a page of no rows, and of more than the server can count.

    Raises:
        InvalidRequest: *limit* is outside 1..9007199254740991.

    """
    if not 1 <= limit <= MAX_INTEGER:
        found = str(limit) if abs(limit) <= MAX_INTEGER else f"{hex(limit):.60}"
        raise InvalidRequest("limit", found, "size of a page", f"give 1 or more, up to {MAX_INTEGER}")


def cursor(time_us: int, name: str) -> str:
    """The cursor of a page whose last row has this time and id."""
    return urlsafe_b64encode(canonical_bytes([str(time_us), name])).decode()


def place(text: str | None) -> tuple[int | None, str | None]:
    """The time and id that *text* stands for; nothing for the first page.

    Raises:
        NotFound: *text* was not made by :func:`cursor`.

    >>> place(cursor(5, "a"))
    (5, 'a')

    """
    if text is None:
        return None, None
    try:
        return _place(parse_json(urlsafe_b64decode(text.encode())))
    except (binascii.Error, ValueError) as error:
        raise NotFound("cursor", text, hint="give back the cursor of the page before, unchanged") from error


def _place(value: Any) -> tuple[int, str]:
    match value:
        case [str(time_us), str(name)]:
            return int(time_us), name
        case _:
            raise ValueError(f"{value!r} is no place")
