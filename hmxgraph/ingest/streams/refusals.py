"""What a stream says when the other side cannot be told any more."""

from hmxgraph.errors import IngestRefused


def not_acknowledged(source: str, error: Exception) -> IngestRefused:
    """The events are stored, but *source* does not know it.

    >>> str(not_acknowledged("redis://host", OSError("gone")))
    'redis://host: stored but not acknowledged (gone): read it again, what is stored counts as duplicate'
    """
    reason = f"stored but not acknowledged ({str(error) or type(error).__name__}): read it again, "
    return IngestRefused(source, f"{reason}what is stored counts as duplicate")
