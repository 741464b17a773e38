"""``hmxgraph digest``: the structure of the entity graph."""

from rich.table import Table
from rich.text import Text

from hmxgraph.cli.terminal.common import AsJson, AsOf, Tenant, emit, opened, out
from hmxgraph.fingerprint.measures.digest import MeasuredDigest


def digest(tenant: Tenant = "default", as_of: AsOf = None, as_json: AsJson = False) -> None:
    """Counts, distributions, averages, hubs and depth of the entity graph (HMX-F 5)."""
    with opened(tenant) as graph:
        found = graph.digest(as_of=as_of)
    emit(found.document(), as_json, lambda: show_digest(found))


def show_digest(found: MeasuredDigest) -> None:
    """Print a digest as two tables: numbers, then hubs."""
    out.print(_numbers(found))
    hubs = Table("entity", "type", "connections", title="best connected")
    for hub in found.top_connected_entities:
        hubs.add_row(Text(hub.name), hub.type, str(hub.connection_count))
    if found.top_connected_entities:
        out.print(hubs)


def _numbers(found: MeasuredDigest) -> Table:
    depth = str(found.max_depth) if found.max_depth_exact else f"at least {found.max_depth}"
    table = Table(show_header=False, box=None)
    for name, value in {
        "entities": f"{found.entity_count}{_parts(found.entity_type_distribution)}",
        "relations": f"{found.relation_count}{_parts(found.relation_type_distribution)}",
        "average confidence of entities": f"{found.avg_entity_confidence:g}",
        "average weight of relations": f"{found.avg_relation_weight:g}",
        "greatest distance in the largest component": depth,
    }.items():
        table.add_row(name, Text(value))
    return table


def _parts(distribution: dict[str, int]) -> str:
    largest = sorted(distribution.items(), key=lambda part: (-part[1], part[0]))
    return f" ({', '.join(f'{name} {count}' for name, count in largest)})" if largest else ""
