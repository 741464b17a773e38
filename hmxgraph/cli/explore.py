"""The commands that read: ``hmxgraph query``, ``draw``, ``digest``, ``explain``, ``verify``, ``health``, ``schema``."""

import csv
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from hmxgraph.api.drawing import DRAWING_ENDINGS
from hmxgraph.api.exploring import QueryResult, cell_text
from hmxgraph.cli._extras import need
from hmxgraph.cli._terminal import AsJson, AsOf, Tenant, emit, explain_empty_result, full_id, opened, out, short_id
from hmxgraph.fingerprint.measures import MeasuredDigest
from hmxgraph.graph.plan import query as saved_query
from hmxgraph.graph.plan import query_names
from hmxgraph.protocol.document import SCHEMA_NAMES
from hmxgraph.protocol.document import schema as schema_of
from hmxgraph.protocol.explanations import Evidence, Explanation
from hmxgraph.protocol.reports import VerifyReport
from hmxgraph.protocol.timestamps import iso

if TYPE_CHECKING:
    from hmxgraph.api.graph import KnowledgeGraph

# ``hmxgraph query`` and ``draw``: the results of saved queries.

# Parameters of saved queries that ``graph.query`` sets itself.
_AUTOMATIC_PARAMETERS = {"tenant_id", "tenant_key", "scope"}


def query(
    name: Annotated[str | None, typer.Argument(help="Name of a saved query; without it, all are listed.")] = None,
    parameters: Annotated[list[str] | None, typer.Argument(help="Its parameters, as name=value.")] = None,
    tenant: Tenant = "default",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a saved query, or list them."""
    if name is None:
        entries = [_entry(saved) for saved in query_names("explore")]
        emit(entries, as_json, lambda: out.print(_listing(entries)))
        return
    with opened(tenant) as graph:
        values = _values(graph, parameters or [])
        result = graph.query(_full_name(name), **values)
        if not result:
            _explain_no_rows(graph, _full_name(name), values)
    if as_csv:
        _write_csv(result)
    else:
        emit(result.document(), as_json, lambda: out.print(result.table()))


def draw(
    out_file: Annotated[Path, typer.Option("--out", "-o", help="Interactive page (.html) or static drawing (.svg).")],
    name: Annotated[str, typer.Argument(help="Name of a saved query that returns nodes.")] = "entity_map",
    parameters: Annotated[list[str] | None, typer.Argument(help="Its parameters, as name=value.")] = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Write a picture of a saved query's result to a file.

    The page is interactive: zoom, drag, click for properties. It needs no network.
    """
    if out_file.suffix.lower() not in DRAWING_ENDINGS:
        raise typer.BadParameter(f"{out_file.name} must end with {' or '.join(DRAWING_ENDINGS)}")
    need("draw", "neo4j_viz", "scipy")
    with opened(tenant) as graph:
        values = _values(graph, parameters or [])
        drawing = graph.draw(_full_name(name), **values)
        if not drawing:
            _explain_no_rows(graph, _full_name(name), values)
    drawing.save(out_file)
    outcome = {"file": str(out_file), "nodes": len(drawing.nodes), "relationships": len(drawing.edges)}
    line = f"{outcome['nodes']} nodes and {outcome['relationships']} relationships in {out_file}"
    emit(outcome, as_json, lambda: out.print(Text(line)))


def _full_name(name: str) -> str:
    return name if "/" in name else f"explore/{name}"


def _values(graph: "KnowledgeGraph", parameters: list[str]) -> dict[str, Any]:
    """The values of *parameters* by name; shortened ids of artifacts and sources are completed."""
    values: dict[str, Any] = dict(_pair(text) for text in parameters)
    if "artifact_id" in values:
        values["artifact_id"] = full_id(graph, values["artifact_id"])
    if "source_ids" in values:
        values["source_ids"] = [full_id(graph, source_id) for source_id in values["source_ids"]]
    return values


def _pair(text: str) -> tuple[str, str | list[str]]:
    """The name and value in ``name=value``; if the name ends in ``_ids``, the value is a list, split at commas.

    >>> _pair("session_id=s1"), _pair("source_ids=a,b")
    (('session_id', 's1'), ('source_ids', ['a', 'b']))
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not name=value")
    return name, value.split(",") if name.endswith("_ids") else value


# Hints for parameters that refer to something that does not exist, such as "no session has the id 's1'". For each
# parameter: the words after "no", a saved query that has no rows in that case, and how to list what exists.
_NAMED_THINGS = {
    "session_id": ("session has the id", "explore/session_story", "hmxgraph query sessions lists them"),
    "thread_id": ("thread has the id", "explore/thread_trust", "hmxgraph query task_board lists tasks"),
    "name": ("entity is named", "explore/mentions", "hmxgraph query hubs lists the best connected"),
}
# Finds queries that omit drafts: their text contains (a:Artifact {tenant_id: $tenant_id, status: 'active'}) or the
# like.
_ACTIVE_ARTIFACTS = re.compile(r":Artifact \{[^}]*status: 'active'")


def _explain_no_rows(graph: "KnowledgeGraph", name: str, values: Mapping[str, Any]) -> None:
    """Print why a saved query has no rows: it omits drafts, there are no events, or a parameter matches nothing."""
    unknown = "; ".join(_unknown_names(graph, values))
    omits_drafts = _ACTIVE_ARTIFACTS.search(saved_query(name).text) is not None
    explain_empty_result(graph, unknown or "the query has no results", omits_drafts=omits_drafts)


def _unknown_names(graph: "KnowledgeGraph", values: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each parameter that refers to something that does not exist."""
    for parameter, value in values.items():
        if parameter in _NAMED_THINGS:
            thing, finder, way_out = _NAMED_THINGS[parameter]
            if not graph.query(finder, **{parameter: value}):
                yield f"no {thing} {value!r:.200}; {way_out}"
    if "artifact_id" in values and not _has_record(graph, values["artifact_id"], {"artifact"}):
        way_out = "hmxgraph artifact list --status any lists them"
        yield f"no artifact has the id {values['artifact_id']!r:.200}; {way_out}"
    for source_id in values.get("source_ids", ()):
        if not _has_record(graph, source_id, {"artifact", "memory"}):
            yield f"no artifact or memory has the id {source_id!r:.200}"


def _has_record(graph: "KnowledgeGraph", record_id: str, kinds: set[str]) -> bool:
    rows = graph.query("explore/ids", prefix=record_id)
    return any(row["id"] == record_id and row["kind"] in kinds for row in rows)


def _entry(name: str) -> dict[str, Any]:
    saved = saved_query(name)
    return {
        "name": name.removeprefix("explore/"),
        "title": saved.description.splitlines()[0],
        "parameters": sorted(saved.parameters - _AUTOMATIC_PARAMETERS),
    }


def _listing(entries: list[dict[str, Any]]) -> Table:
    table = Table("query", "shows", "parameters", title="Saved queries")
    for entry in entries:
        table.add_row(entry["name"], entry["title"], ", ".join(entry["parameters"]))
    return table


def _write_csv(result: QueryResult) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(result.columns)
    writer.writerows([cell_text(row[column]) for column in result.columns] for row in result)


# ``hmxgraph digest``: the structure of the entity graph.


def digest(tenant: Tenant = "default", as_of: AsOf = None, as_json: AsJson = False) -> None:
    """Print counts, distributions, hubs and diameter of the entity graph.

    This is the graph digest of HMX-F 5.
    """
    with opened(tenant) as graph:
        measured = graph.digest(as_of=as_of)
    emit(measured.document(), as_json, lambda: show_digest(measured))


def show_digest(measured: MeasuredDigest) -> None:
    """Print a digest as a table of numbers and, if there are hubs, a table of hubs."""
    out.print(_numbers(measured))
    hubs = Table("entity", "type", "connections", title="hubs")
    for hub in measured.top_connected_entities:
        hubs.add_row(Text(hub.name), hub.type, str(hub.connection_count))
    if measured.top_connected_entities:
        out.print(hubs)


def _numbers(measured: MeasuredDigest) -> Table:
    depth = str(measured.max_depth) if measured.max_depth_exact else f"at least {measured.max_depth}"
    table = Table(show_header=False, box=None)
    for name, value in {
        "entities": f"{measured.entity_count}{_distribution(measured.entity_type_distribution)}",
        "relations": f"{measured.relation_count}{_distribution(measured.relation_type_distribution)}",
        "average entity confidence": f"{measured.avg_entity_confidence:g}",
        "average relation weight": f"{measured.avg_relation_weight:g}",
        "diameter of the largest component": depth,
    }.items():
        table.add_row(name, Text(value))
    return table


def _distribution(counts: dict[str, int]) -> str:
    largest = sorted(counts.items(), key=lambda part: (-part[1], part[0]))
    return f" ({', '.join(f'{name} {count}' for name, count in largest)})" if largest else ""


# ``hmxgraph explain``: the evidence of a record, down to the text of events.


def explain(
    record_id: Annotated[
        str, typer.Argument(help="Id of an artifact, memory, event, task record, entity or conflict, or its beginning.")
    ],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show the evidence of a record, down to the text of events."""
    with opened(tenant) as graph:
        explanation = graph.explain(full_id(graph, record_id))
        emit(explanation.document(), as_json, lambda: out.print(_tree(explanation)))


def _tree(explanation: Explanation) -> Tree:
    """A tree of the record: its properties, events, sources, dependents, conflicts and missing events."""
    title = (f"{explanation.kind} {explanation.record_id}", "bold")
    tree = Tree(Text.assemble(title, f"  {explanation.status}\n{explanation.text}"))
    properties = tree.add("properties")
    for name, value in explanation.facts.items():
        if value not in ([], ""):
            properties.add(Text(f"{name.replace('_', ' ')}: {_property_text(value)}"))
    for event in explanation.events:
        tree.add(_event_text(event))
    for source in explanation.rests_on:
        tree.children.append(_tree(source))
    for dependent in explanation.supports:
        name = f"{dependent['kind']} {short_id(dependent['record_id'])} ({dependent['status']})"
        tree.add(Text(f"supports {name}: {dependent['text']}"))
    for conflict in explanation.conflicts:
        tree.add(Text(f"conflict {short_id(conflict.conflict_id)} ({conflict.status}): {conflict.reason}", style="red"))
    for event_id in explanation.missing:
        tree.add(Text(f"{event_id}: not stored", style="yellow"))
    return tree


def _property_text(value: Any) -> str:
    """*value* as text: list entries separated by commas, non-empty values of a mapping by blanks."""
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part)
    return ", ".join(map(_property_text, value)) if isinstance(value, list) else str(value)


def _event_text(event: Evidence) -> Text:
    text = "(erased)" if event.erased else event.text
    return Text.assemble((f"{event.timestamp} {event.event_type} {short_id(event.event_id)}", "cyan"), f"\n{text}")


# ``hmxgraph verify``: check everything that is stored.

_DERIVED = (
    "derived: stored by another release of hmxgraph, or changed by hand; packs and queries use the stored value. "
    "To derive it again, ingest the same source into a new data home (HMXGRAPH_HOME) or database."
)


def verify(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Check hashes, chains, transitions, links and counters.

    Lists every inconsistency and repairs nothing. Exits with 1 if anything is wrong, but not if something is only
    missing, because it may still arrive.
    """
    with opened(tenant) as graph:
        report = graph.verify()
    emit(report.document(), as_json, lambda: _show(report))
    if not report.ok:
        raise typer.Exit(1)


def _show(report: VerifyReport) -> None:
    counts = ", ".join(f"{count} {kind}" for kind, count in report.checked.items())
    out.print(f"checked {counts}", highlight=False)
    if report.findings:
        out.print(_table(report))
    verdict = "no inconsistencies" if report.ok else f"{len(report.wrong)} wrong"
    out.print(verdict + (f", {len(report.missing)} missing" if report.missing else ""), highlight=False)
    if any(finding.check == "derived" for finding in report.wrong):
        out.print(_DERIVED, highlight=False)


def _table(report: VerifyReport) -> Table:
    table = Table("level", "kind", "id", "check", "actual", "expected")
    for finding in report.findings:
        level = Text(finding.level, style="red" if finding.level == "wrong" else "yellow")
        record_id, actual, expected = Text(finding.record_id), Text(finding.actual), Text(finding.expected)
        table.add_row(level, finding.kind, record_id, finding.check, actual, expected)
    return table


# ``hmxgraph health``: server and tenant status.


def health(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show server and tenant status."""
    with opened(tenant) as graph:
        state = graph.health()
    emit(state, as_json, lambda: out.print(_health_table(state)))


def _health_table(state: Mapping[str, Any]) -> Table:
    """The server and tenant status; ``compiled`` states whether the artifacts reflect all changes."""
    behind = (state["compiled_version"] or 0) < (state["state_version"] or 0)
    latest = state["logical_us"]
    rows = {
        "server": f"Neo4j {state['version']} {state['edition']}",
        "indexes": f"not online: {', '.join(state['indexes_not_online'])}" if state["indexes_not_online"] else "online",
        "tenant": state["tenant_id"],
        "events": f"{state['event_count'] or 0:,}",
        "latest event": "none" if latest is None else iso(latest),
        "compiled": "never" if not state["compiled_version"] else "before the last change" if behind else "yes",
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, value)
    return table


# ``hmxgraph schema``: the JSON Schemas of the documents.


def schema(
    name: Annotated[str | None, typer.Argument(help="Name of a schema; without it, all are listed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of one kind of document, or list the kinds."""
    if name is None:
        emit(list(SCHEMA_NAMES), as_json, _list_names)
    else:
        document = schema_of(name)
        emit(document, as_json, lambda: out.print_json(data=document))


def _list_names() -> None:
    for name in SCHEMA_NAMES:
        out.print(Text.assemble((name, "bold"), f"  {schema_of(name)['title']}"))
