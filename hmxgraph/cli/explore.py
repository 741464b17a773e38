"""``hmxgraph query``, ``digest``, ``explain``, ``verify``, ``health`` and ``schema``."""

import csv
import sys
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from hmxgraph.api.exploring import QueryResult, told
from hmxgraph.cli._terminal import AsJson, AsOf, Tenant, emit, opened, out, tell_why_nothing
from hmxgraph.fingerprint.measures import MeasuredDigest
from hmxgraph.graph.plan import query as packaged
from hmxgraph.graph.plan import query_names
from hmxgraph.protocol.document import SCHEMA_NAMES
from hmxgraph.protocol.document import schema as schema_of
from hmxgraph.protocol.explanations import Evidence, Explanation
from hmxgraph.protocol.reports import VerifyReport
from hmxgraph.protocol.timestamps import iso

# ``hmxgraph query``: saved queries as a table, JSON or CSV.

_FILLED_IN = {"tenant_id", "tenant_key", "scope"}


def query(
    name: Annotated[str | None, typer.Argument(help="A saved query; without one they are listed.")] = None,
    parameters: Annotated[list[str] | None, typer.Argument(help="Its parameters, as name=value.")] = None,
    tenant: Tenant = "default",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a saved query, or list them."""
    if name is None:
        listed = [_entry(saved) for saved in query_names("explore")]
        emit(listed, as_json, lambda: out.print(_listing(listed)))
        return
    full_name = name if "/" in name else f"explore/{name}"
    with opened(tenant) as graph:
        result = graph.query(full_name, **dict(_pair(text) for text in parameters or []))
        if not result:
            tell_why_nothing(graph, "nothing of what is stored fits the query")
    if as_csv:
        _write_csv(result)
    else:
        emit(result.document(), as_json, lambda: out.print(result.table()))


def _pair(text: str) -> tuple[str, str | list[str]]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not name=value")
    return name, value.split(",") if name.endswith("_ids") else value


def _entry(name: str) -> dict[str, Any]:
    saved = packaged(name)
    return {
        "name": name.removeprefix("explore/"),
        "title": saved.description.splitlines()[0],
        "parameters": sorted(saved.parameters - _FILLED_IN),
    }


def _listing(entries: list[dict[str, Any]]) -> Table:
    table = Table("query", "shows", "parameters", title="Saved queries")
    for entry in entries:
        table.add_row(entry["name"], entry["title"], ", ".join(entry["parameters"]))
    return table


def _write_csv(result: QueryResult) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(result.columns)
    writer.writerows([told(row[column]) for column in result.columns] for row in result)


# ``hmxgraph digest``: the structure of the entity graph.


def digest(tenant: Tenant = "default", as_of: AsOf = None, as_json: AsJson = False) -> None:
    """Print counts, distributions, hubs and diameter of the entity graph.

    The digest of HMX-F 5.
    """
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


# ``hmxgraph explain``: what a record rests on, down to the text of events.


def explain(
    record_id: Annotated[str, typer.Argument(help="Id of an artifact, memory, event or conflict; a pack's source_id.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show the evidence of a record, down to the text of events."""
    with opened(tenant) as graph:
        found = graph.explain(record_id)
        emit(found.document(), as_json, lambda: out.print(_tree(found)))


def _tree(found: Explanation) -> Tree:
    tree = Tree(Text.assemble((f"{found.kind} {found.record_id}", "bold"), f"  {found.status}\n{found.text}"))
    facts = tree.add("known of it")
    for name, value in found.facts.items():
        if value not in ([], ""):
            facts.add(Text(f"{name.replace('_', ' ')}: {_shown(value)}"))
    for event in found.events:
        tree.add(_line(event))
    for part in found.rests_on:
        tree.children.append(_tree(part))
    for user in found.supports:
        tree.add(Text(f"supports {user['kind']} {user['record_id']} ({user['status']}): {user['text']}"))
    for conflict in found.conflicts:
        tree.add(Text(f"conflict {conflict.conflict_id} ({conflict.status}): {conflict.reason}", style="red"))
    for name in found.missing:
        tree.add(Text(f"{name}: not stored", style="yellow"))
    return tree


def _shown(value: Any) -> str:
    """A fact in words: histories and lists entry by entry."""
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part)
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _line(event: Evidence) -> Text:
    text = "(erased)" if event.erased else event.text
    return Text.assemble((f"{event.timestamp} {event.event_type} {event.event_id}", "cyan"), f"\n{text}")


# ``hmxgraph verify``: recheck everything that is stored.

_DERIVED = (
    "derived: stored by another release of hmxgraph, or changed by hand; packs and queries go by what is stored. "
    "To have it derived anew, feed the same source into a new data home (HMXGRAPH_HOME) or database."
)


def verify(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Recheck every hash, chain, transition, link and counter.

    Lists what is wrong, changes nothing, and exits 1 if anything is.
    """
    with opened(tenant) as graph:
        report = graph.verify()
    emit(report.document(), as_json, lambda: _show(report))
    if not report.ok:
        raise typer.Exit(1)


def _show(report: VerifyReport) -> None:
    looked = ", ".join(f"{count} {kind}" for kind, count in report.checked.items())
    out.print(f"checked {looked}", highlight=False)
    if report.findings:
        out.print(_table(report))
    verdict = "nothing is wrong" if report.ok else f"{len(report.wrong)} wrong"
    out.print(verdict + (f", {len(report.missing)} missing" if report.missing else ""), highlight=False)
    if any(finding.check == "derived" for finding in report.wrong):
        out.print(_DERIVED, highlight=False)


def _table(report: VerifyReport) -> Table:
    table = Table("level", "kind", "id", "check", "found", "expected")
    for one in report.findings:
        level = Text(one.level, style="red" if one.level == "wrong" else "yellow")
        table.add_row(level, one.kind, Text(one.record_id), one.check, Text(one.found), Text(one.expected))
    return table


# ``hmxgraph health``: the server, its indexes, the tenant's state.


def health(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show server and tenant status."""
    with opened(tenant) as graph:
        found = graph.health()
    table = Table.grid(padding=(0, 2))
    for name, value in found.items():
        table.add_row(name, "none" if value in ([], None) else str(value))
    if found["logical_us"] is not None:
        table.add_row("latest", iso(found["logical_us"]))
    emit(found, as_json, lambda: out.print(table))


# ``hmxgraph schema``: the JSON Schemas of the documents, to print, pipe or save.


def schema(
    name: Annotated[str | None, typer.Argument(help="Which schema; without it, the names are listed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of one kind of document, or list the kinds."""
    if name is None:
        emit(list(SCHEMA_NAMES), as_json, _list_names)
    else:
        found = schema_of(name)
        emit(found, as_json, lambda: out.print_json(data=found))


def _list_names() -> None:
    for name in SCHEMA_NAMES:
        out.print(Text.assemble((name, "bold"), f"  {schema_of(name)['title']}"))
