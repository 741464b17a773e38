"""A tenant's state: its version, raised once per write, and its logical clock."""

from hmxgraph.graph.plan import Plan, Row
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy


def bump(tenancy: Tenancy, logical_us: int, *, events: int = 0) -> Plan[int]:
    """The tenant's new state version; the last statement of each transaction that wrote (the node is shared)."""
    rows = yield bind(
        "tenants/bump", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, logical_us=logical_us, events=events
    )
    version: int = rows[0]["state_version"]
    return version


def state(tenancy: Tenancy) -> Plan[Row]:
    """Version, logical time (None before the first write), number of events, version last compiled."""
    rows = yield bind("tenants/state", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    nothing: Row = {"state_version": 0, "logical_us": None, "event_count": 0, "compiled_version": 0}
    return rows[0] if rows else nothing
