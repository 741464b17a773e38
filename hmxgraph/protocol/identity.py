"""Names that follow from what they name: UUIDv5 ids and node keys."""

from hashlib import sha256
from uuid import UUID, uuid5

NAMESPACE = UUID("5f1d7a62-6c0b-5a53-9a0e-5f8f5d1f8a10")
# The most characters of a text that an index holds as it is.
LONGEST_INDEXED = 1_024


def stable_id(*parts: str) -> str:
    """The UUIDv5 of the NUL-joined *parts*: the same parts give the same id everywhere.

    >>> stable_id("acme", "task_schema", "deploy", "1") == stable_id("acme", "task_schema", "deploy", "1")
    True

    """
    return str(uuid5(NAMESPACE, "\0".join(parts)))


def node_key(tenant_id: str, *parts: str) -> str:
    """The key of a node: hex SHA-256 of tenant and *parts*, NUL-joined, so that ids of any length can be indexed.

    >>> len(node_key("acme", "evt-001"))
    64

    """
    return sha256("\0".join((tenant_id, *parts)).encode()).hexdigest()


def indexable(text: str) -> str:
    """*text* as an index can hold it: itself, or, where it is too long for one, its beginning and its hash.

    No text that is short enough reads like that, so that two names never meet.

    >>> indexable("ana"), len(indexable("a" * 40_000)), indexable("a" * 40_000) == indexable("a" * 40_001)
    ('ana', 1089, False)

    """
    if len(text) <= LONGEST_INDEXED:
        return text
    return f"{text[:LONGEST_INDEXED]}\u2026{sha256(text.encode()).hexdigest()}"
