"""The tenant: the keys of its nodes, its state version and its logical clock."""

from dataclasses import dataclass

from hmxgraph.errors import InvalidTenant
from hmxgraph.graph.plan import Plan, Row, bind
from hmxgraph.protocol.canonical import node_key
from hmxgraph.protocol.trust import DEFAULT_TRUST, TrustPolicy
from hmxgraph.text.terms import scope_token

# The keys of one tenant's nodes.


@dataclass(frozen=True, slots=True)
class Tenancy:
    """One tenant: id, key of its ``Tenant`` node, token inside the full-text indexes, and whom it trusts."""

    tenant_id: str
    key: str
    scope: str
    trust: TrustPolicy = DEFAULT_TRUST

    @classmethod
    def of(cls, tenant_id: str, trust: TrustPolicy = DEFAULT_TRUST) -> "Tenancy":
        """The tenancy of *tenant_id*.

        Raises:
            InvalidTenant: *tenant_id* is empty, has a NUL, or is no text that UTF-8 can write.

        >>> Tenancy.of("acme").tenant_id
        'acme'

        """
        _check(tenant_id)
        return cls(tenant_id, node_key(tenant_id, "tenant"), scope_token(tenant_id), trust)

    def node_key(self, *parts: str) -> str:
        """The key of the node with these *parts* as its id: hex SHA-256 of tenant, NUL, parts (DESIGN 2)."""
        return node_key(self.tenant_id, *parts)


def stored_mask_key(tenancy: Tenancy) -> str:
    """The key under which secrets are masked before they are stored; empty where they are stored as they are."""
    return tenancy.key if tenancy.trust.mask_secrets == "ingest" else ""


def _check(tenant_id: object) -> None:
    if not isinstance(tenant_id, str):
        raise InvalidTenant(tenant_id, f"it is of type {type(tenant_id).__name__}")
    if not tenant_id:
        raise InvalidTenant(tenant_id, "it is empty")
    if "\0" in tenant_id:
        # NUL ends the tenant in every key (DESIGN 2): with it, two tenants could share a key.
        raise InvalidTenant(tenant_id, "it contains a NUL")
    try:
        tenant_id.encode()
    except UnicodeEncodeError as error:
        raise InvalidTenant(tenant_id, "it contains a lone surrogate") from error


def model_key(tenancy: Tenancy) -> str:
    """The key of the tenant's model."""
    return tenancy.node_key("compiler-model")


# A tenant's state: its version, raised once per write, and its logical clock.


def bump(tenancy: Tenancy, logical_us: int, *, events: int = 0) -> Plan[int]:
    """The tenant's new state version; the last statement of each transaction that wrote (the node is shared)."""
    rows = yield bind(
        "tenants/bump", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, logical_us=logical_us, events=events
    )
    version: int = rows[0]["state_version"]
    return version


def open_batch(tenancy: Tenancy, batch: Row) -> Plan[Row]:
    """The row of ``events/open``: sessions and stored answers, locked; what *batch* leaves out is not asked for."""
    asked: Row = {"sessions": [], "event_keys": [], "slot_keys": [], "told": {}}
    rows = yield bind("events/open", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, batch=asked | batch)
    return rows[0]


def state(tenancy: Tenancy) -> Plan[Row]:
    """Version, logical time (None before the first write), number of events, version last compiled."""
    rows = yield bind("tenants/state", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    nothing: Row = {"state_version": 0, "logical_us": None, "event_count": 0, "compiled_version": 0}
    return rows[0] if rows else nothing
