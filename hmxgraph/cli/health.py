"""``hmxgraph health``: the server, its indexes, the tenant's state."""

from rich.table import Table

from hmxgraph.cli.common import AsJson, Tenant, emit, opened, out


def health(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Print whether the server is well and what the tenant holds."""
    with opened(tenant) as graph:
        found = graph.health()
    table = Table.grid(padding=(0, 2))
    for name, value in found.items():
        table.add_row(name, "none" if value == [] else str(value))
    emit(found, as_json, lambda: out.print(table))
