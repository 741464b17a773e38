"""Times as callers give them, as microseconds."""

from datetime import datetime
from typing import TypeAlias

from hmxgraph.protocol.timestamps import microseconds

Moment: TypeAlias = str | datetime


def as_us(moment: Moment | None) -> int | None:
    """UTC microseconds of an ISO 8601 text or an aware datetime; None stays None.

    Raises:
        ValueError: the text is no ISO 8601 time with an offset, or the datetime is naive.

    >>> as_us("1970-01-01T00:00:01Z")
    1000000

    """
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise ValueError(f"{moment!r} has no offset; give it a time zone")
        return microseconds(moment.isoformat())
    return None if moment is None else microseconds(moment)
