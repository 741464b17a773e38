"""API keys in the graph: created, looked up by the hash of their secret, listed, revoked."""

from hashlib import sha256

from hmxgraph.errors import NotFound
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, read, write
from hmxgraph.protocol.access import ApiKey


def secret_hash(secret: str) -> str:
    """The stored hash of a secret; a secret has 256 random bits, so one round of SHA-256 resists brute force.

    >>> secret_hash("hmx_a")[:8]
    '57c30878'
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def create(tenancy: Tenancy, key: ApiKey, secret: str) -> Procedure[ApiKey]:
    """Store *key* with the hash of its *secret*."""
    return (yield from write(lambda: _create(tenancy, key, secret_hash(secret))))


def find(secret: str) -> Procedure[ApiKey | None]:
    """The key with this secret, whichever tenant it opens and whether or not it is in force; None if there is none."""
    return (yield from read(lambda: _find(secret_hash(secret))))


def keys(tenancy: Tenancy) -> Procedure[tuple[ApiKey, ...]]:
    """The tenant's keys, newest first."""
    return (yield from read(lambda: _keys(tenancy)))


def revoke(tenancy: Tenancy, key_id: str, at_us: int) -> Procedure[ApiKey]:
    """Revoke a key; revoking it again changes nothing.

    Raises:
        NotFound: the tenant has no such key.

    """
    return (yield from write(lambda: _revoke(tenancy, key_id, at_us)))


def _create(tenancy: Tenancy, key: ApiKey, hashed: str) -> Plan[ApiKey]:
    yield bind(
        "access/create",
        tenant_id=tenancy.tenant_id,
        key=_node_key(tenancy, key.key_id),
        key_id=key.key_id,
        secret_hash=hashed,
        scopes=list(key.scopes),
        label=key.label,
        agent_id=key.agent_id,
        created_us=key.created_us,
        expires_us=key.expires_us,
    )
    return key


def _find(hashed: str) -> Plan[ApiKey | None]:
    rows = yield bind("access/find", secret_hash=hashed)
    return _api_key(rows[0]["access"]) if rows else None


def _keys(tenancy: Tenancy) -> Plan[tuple[ApiKey, ...]]:
    rows = yield bind("access/list", tenant_id=tenancy.tenant_id)
    return tuple(_api_key(row["access"]) for row in rows)


def _revoke(tenancy: Tenancy, key_id: str, at_us: int) -> Plan[ApiKey]:
    rows = yield bind("access/revoke", tenant_id=tenancy.tenant_id, key=_node_key(tenancy, key_id), revoked_us=at_us)
    if not rows:
        raise NotFound("API key", key_id, tenancy.tenant_id, "hmxgraph key list shows the tenant's keys")
    return _api_key(rows[0]["access"])


def _node_key(tenancy: Tenancy, key_id: str) -> str:
    return tenancy.node_key("api-key", key_id)


def _api_key(properties: Row) -> ApiKey:
    return ApiKey(
        properties["key_id"],
        properties["tenant_id"],
        tuple(properties["scopes"]),
        properties["label"],
        properties["agent_id"],
        properties["created_us"],
        properties.get("expires_us"),
        properties.get("revoked_us"),
    )
