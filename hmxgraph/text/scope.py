"""The word under which a tenant's nodes stand in the full-text indexes."""

from hashlib import sha256


def scope_token(tenant_id: str) -> str:
    """The tenant's scope token: decimal digits between two letters, which no analyzer stems or splits.

    >>> scope_token("acme")
    't9379647469329139872t'

    """
    return f"t{int.from_bytes(sha256(tenant_id.encode()).digest()[:8], 'big')}t"
