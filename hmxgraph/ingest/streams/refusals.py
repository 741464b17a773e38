"""What a stream says when the other side does not answer, or cannot be told any more; never its login or keys."""

from hmxgraph.errors import IngestRefused
from hmxgraph.text.addresses import public_address, public_addresses


def broken_off(address: str, error: Exception, line: int | None = None, *, during: str = "") -> IngestRefused:
    """The stream at *address* ended with *error*, after *line* messages.

    >>> str(broken_off("redis://:secret@host", OSError("gone"), 7))
    'redis://host:7: gone'
    """
    reason = public_addresses(str(error)) or type(error).__name__
    return IngestRefused(public_address(address), f"{during} ({reason})" if during else reason, line)


def not_acknowledged(address: str, error: Exception) -> IngestRefused:
    """The events are stored, but *address* does not know it.

    >>> str(not_acknowledged("redis://host", OSError("gone")))
    'redis://host: stored but not acknowledged (gone): read it again, what is stored counts as duplicate'
    """
    reason = f"stored but not acknowledged ({public_addresses(str(error)) or type(error).__name__}): read it again, "
    return IngestRefused(public_address(address), f"{reason}what is stored counts as duplicate")
