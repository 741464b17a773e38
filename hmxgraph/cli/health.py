"""``hmxgraph health``: the server, its indexes, the tenant's state."""

from rich.table import Table

from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, opened, out
from hmxgraph.protocol.timestamps import iso


def health(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Print whether the server is well and how far the tenant's memory has come."""
    with opened(tenant) as graph:
        found = graph.health()
    table = Table.grid(padding=(0, 2))
    for name, value in found.items():
        table.add_row(name, "none" if value in ([], None) else str(value))
    if found["logical_us"] is not None:
        table.add_row("latest", iso(found["logical_us"]))
    emit(found, as_json, lambda: out.print(table))
