"""Options and output shared by ``hmxgraph task``, ``record`` and ``memory``."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from rich.table import Table

from hmxgraph.cli._terminal import AsJson, Tenant, emit, opened, out, short_id
from hmxgraph.errors import IngestRefused, MalformedJson
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.record_results import Hit, Library, RecordReceipt, RecordView, SearchResult
from hmxgraph.protocol.records import FILTERS, MODES, TaskRecord

# Options.

Agent = Annotated[str | None, typer.Option("--agent", envvar="HMXGRAPH_AGENT", help="Agent recorded as the author.")]
Project = Annotated[str | None, typer.Option("--project", help="Id of the project.")]
Summary = Annotated[str, typer.Option("--summary", "-s", help="Summary, in words.")]
At = Annotated[str | None, typer.Option(help="When it happened (ISO 8601 with offset); default: now.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="Any other field; JSON or plain text.")
]
Where = Annotated[
    list[str] | None, typer.Option("--where", "-w", metavar="FILTER=VALUE", help=f"Exact filter: {', '.join(FILTERS)}.")
]
Query = Annotated[str, typer.Argument(help="Words to rank by; if there are none, newest first.")]
Mode = Annotated[str, typer.Option(help=f"Purpose of the search: {', '.join(MODES)}.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="Maximum number of hits.")]
Hidden = Annotated[bool, typer.Option("--hidden", help="Include hidden hits, such as superseded ones.")]
Compact = Annotated[bool, typer.Option("--compact", help="Ids, trust and a short text only.")]
Budget = Annotated[int | None, typer.Option("--budget", min=1, help="Maximum size of the result in tokens.")]
Siblings = Annotated[bool, typer.Option("--siblings", help="Add siblings to each hit: those with the same event: tag.")]
Alias = Annotated[
    list[str] | None,
    typer.Option("--alias", metavar="[TENANT:]PROJECT", help="A former scope of the project; repeatable."),
]
Hard = Annotated[bool, typer.Option("--hard", help="A policy without exceptions, part of every pack.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; can be repeated.")]
Supports = Annotated[bool | None, typer.Option("--supports/--opposes", help="Whether you support the claim.")]
# The style in which tables print the records of each trust tier.
_TRUST_STYLES = {
    "verified_record": "green",
    "canonical_record": "",
    "compiled_digest_hint": "dim",
    "semantic_candidate": "dim",
}


# Field values on the command line.


def fields_of(assignments: Sequence[str] | None, **options: Any) -> dict[str, Any]:
    """The fields given with ``--set``, and those of other *options* that are not None.

    >>> fields_of(["confidence=0.5", "tool_name=make"], agent_id="ana")
    {'confidence': 0.5, 'tool_name': 'make', 'agent_id': 'ana'}
    """
    names = frozenset(TaskRecord.model_fields)
    fields = {name: _json_or_text(text) for name, text in _parsed_assignments(assignments, names, "--set")}
    return merged_fields(fields, **{name: value for name, value in options.items() if value is not None})


def merged_fields(fields: Mapping[str, Any], **command_fields: Any) -> dict[str, Any]:
    """The *fields* given with ``--set``, and the *command_fields* that the command sets from its other options.

    Raises:
        BadParameter: a field is in both; the message names the option to use.

    >>> merged_fields({"confidence": 0.5}, summary="half way")
    {'confidence': 0.5, 'summary': 'half way'}
    """
    for name in sorted(fields.keys() & command_fields.keys()):
        option = _OPTION_OF_FIELD.get(name, f"--{name.replace('_', '-')}")
        raise typer.BadParameter(f"--set {name}=...: use {option} instead")
    return {**fields, **command_fields}


# The option or argument that sets a field, if it does not have the field's name.
_OPTION_OF_FIELD = {
    "agent_id": "--agent",
    "goal": "the argument GOAL",
    "inputs": "--input",
    "project_id": "--project",
    "reply_to_artifact_id": "--reply-to",
    "supports_claim": "--supports",
    "task_id": "the argument TASK_ID",
    "tool_name": "--tool",
    "what_failed": "--failed",
    "what_worked": "--worked",
    "why_chosen": "--why",
}


def json_lines(lines: Iterable[str]) -> list[Any]:
    """The JSON values of *lines*; blank lines are skipped.

    Raises:
        IngestRefused: a line is not JSON; the error states its number.

    >>> json_lines(['{"summary": "half way"}', ""])
    [{'summary': 'half way'}]
    """
    values = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                values.append(parse_json(line))
            except MalformedJson as error:
                raise IngestRefused("standard input", str(error), number) from error
    return values


def _filters_of(assignments: Sequence[str] | None) -> dict[str, Any]:
    """The exact filters given with ``--where``."""
    return dict(_parsed_assignments(assignments, frozenset(FILTERS), "--where"))


def _alias(tenant: str, text: str) -> tuple[str, str]:
    """The tenant and project in a value of ``--alias``; the part before the first colon is the tenant.

    >>> _alias("acme", "parser-1"), _alias("acme", "acme-2024:parser")
    (('acme', 'parser-1'), ('acme-2024', 'parser'))
    """
    project_or_tenant, colon, after = text.partition(":")
    return (project_or_tenant or tenant, after) if colon else (tenant, text)


# Output.


def show_receipt(receipt: RecordReceipt) -> None:
    """Print the ids of a stored record, and its projections, which are the texts that a search finds."""
    out.print(f"{receipt.artifact_id} in task {receipt.task_id}", highlight=False)
    for projection in receipt.projections:
        out.print(f"  {projection.kind}: {projection.text}", highlight=False)


def show_receipts(receipts: Iterable[RecordReceipt]) -> None:
    """Print the ids and projections of several stored records."""
    for receipt in receipts:
        show_receipt(receipt)


def _show_hits(result: SearchResult) -> None:
    """Print hits as a table, then the number of hits from each project searched, and of hits beyond the budget."""
    out.print(hits_table(result.hits))
    for scope, count in result.scope_expansion:
        out.print(f"{count} from project {scope.project_id} of tenant {scope.tenant_id}", highlight=False)
    if result.omitted:
        out.print(f"{result.omitted} more did not fit the budget")


def show_library(library: Library) -> None:
    """Print the records and the compiled artifacts of a library."""
    out.print(records_table(library.records))
    for artifact in library.artifacts:
        out.print(f"  {artifact['artifact_type']}: {artifact['title']}", highlight=False)


def hits_table(hits: Iterable[Hit]) -> Table:
    """A table of hits with score, trust, kind, id and the text that matched, each followed by its siblings."""
    table = Table("score", "trust", "kind", "record", "text")
    for hit in hits:
        style = _TRUST_STYLES[hit.trust_tier]
        row = (f"{hit.score:.3f}", hit.trust_tier, hit.view.artifact_kind, short_id(hit.artifact_id), hit.matched_text)
        table.add_row(*row, style=style)
        for sibling in hit.expanded_siblings:
            kind, record_id = sibling.get("artifact_kind", ""), sibling["artifact_id"]
            table.add_row("", "", f"+ {kind}", short_id(record_id), sibling["text"], style="dim")
    return table


def records_table(views: Iterable[RecordView]) -> Table:
    """A table of records with kind, trust, author, id and text."""
    table = Table("kind", "trust", "agent", "record", "text")
    for view in views:
        style = _TRUST_STYLES[view.trust_tier]
        row = (view.artifact_kind, view.trust_tier, view.record.agent_id or "", short_id(view.artifact_id), view.text)
        table.add_row(*row, style=style)
    return table


def show_mapping(values: Mapping[str, Any], indent: str = "") -> None:
    """Print named values that are not None, one per line.

    Lists, and mappings that contain lists or mappings, are indented below their names.
    """
    for name, value in values.items():
        if isinstance(value, list):
            out.print(f"{indent}{name}:")
            for part in value:
                out.print(f"{indent}  - {_on_one_line(part)}", highlight=False)
        elif isinstance(value, Mapping) and any(isinstance(part, Mapping | list) for part in value.values()):
            out.print(f"{indent}{name}:")
            show_mapping(value, f"{indent}  ")
        elif value is not None:
            out.print(f"{indent}{name}: {_on_one_line(value)}", highlight=False)


def _on_one_line(value: Any) -> str:
    """*value* as text; for a mapping, its names and values, without those that are None.

    >>> _on_one_line({"active": 1, "hidden": 0}), _on_one_line({}), _on_one_line(2)
    ('active 1, hidden 0', 'none', '2')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None) or "none"
    return str(value)


def show_all(mappings: Iterable[Mapping[str, Any]]) -> None:
    """Print several mappings, separated by blank lines."""
    for index, values in enumerate(mappings):
        if index:
            out.print()
        show_mapping(values)


def _parsed_assignments(assignments: Sequence[str] | None, names: frozenset[str], option: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for text in assignments or ():
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            close = get_close_matches(name, sorted(names), 1, 0.7)
            hint = f"did you mean {close[0]}=...? " if close and close[0] != name else ""
            message = f"{option} {text}: {hint}write NAME=VALUE with NAME one of {', '.join(sorted(names))}"
            raise typer.BadParameter(message)
        if name in dict(pairs):
            raise typer.BadParameter(f"{option} {text}: {name} is set twice")
        pairs.append((name, value))
    return pairs


def _json_or_text(text: str) -> Any:
    """The JSON value of *text*, or *text* itself if it is not JSON."""
    try:
        return parse_json(text)
    except MalformedJson:
        return text


# The command ``search``, which is the same in ``hmxgraph task`` and ``hmxgraph record``.


def search(
    query: Query = "",
    where: Where = None,
    mode: Mode = "generic",
    limit: Limit = 20,
    hidden: Hidden = False,
    compact: Compact = False,
    budget: Budget = None,
    siblings: Siblings = False,
    alias: Alias = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Search records by words and exact filters."""
    with opened(tenant) as graph:
        result = graph.records.search(
            query,
            mode=mode,
            limit=limit,
            include_hidden=hidden,
            compact=compact,
            token_budget=budget,
            expand_event_siblings=siblings,
            aliases=[_alias(tenant, text) for text in alias or ()],
            **_filters_of(where),
        )
        emit(result.document(), as_json, lambda: _show_hits(result))
