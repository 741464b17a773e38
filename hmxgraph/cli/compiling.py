"""The commands ``hmxgraph compile`` and ``hmxgraph suggest``."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from shlex import quote
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hmxgraph.cli._terminal import AsJson, Tenant, emit, err, opened, out, short_id
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES
from hmxgraph.protocol.reports import CompileReport
from hmxgraph.protocol.suggestions import Suggestion

_ACTIONS = ("created", "updated", "unchanged", "deprecated")
# Maximum number of changes, and of suggested tools, that are printed.
SHOWN = 20
_NO_PROCEDURE = "No known procedure fits"


def compile_events(
    tenant: Tenant = "default",
    full: Annotated[bool, typer.Option("--full", help="Read all sessions again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would change.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compile sessions into artifacts, without a language model."""
    with opened(tenant) as graph, stages() as progress:
        report = graph.compile(full=full, dry_run=dry_run, progress=progress)
    emit(report.document(), as_json, lambda: show_report(report))


def suggest(
    session: Annotated[str, typer.Argument(help="Id of the running session; hmxgraph query sessions lists them.")],
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Suggest the next tool and steps of a running session."""
    with opened(tenant) as graph:
        suggestion = graph.suggest(session_id=session)
        artifact_ids = {artifact_id for tool in suggestion.tools[:SHOWN] for artifact_id in tool.artifact_ids}
        titles = {artifact_id: graph.artifact(artifact_id).title for artifact_id in sorted(artifact_ids)}
    emit(suggestion.document(), as_json, lambda: _show_suggestion(suggestion, titles))


@contextmanager
def stages() -> Iterator[Callable[[str, int], None] | None]:
    """A callback that shows the stages of the compilation on stderr, or None if that is not a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("compiling", total=None)
        yield lambda stage, done: bar.update(task, description=f"{stage} {done or ''}")


def show_report(report: CompileReport) -> None:
    """Print a report: counts by type of artifact, notes, and the first changes."""
    mode = " (dry run, nothing written)" if report.dry_run else ""
    total = f", {report.sessions} in total" if report.sessions and not report.older else ""
    sessions = "session" if report.full else "changed session"
    summarised = counted(report.summarised, sessions, f"{sessions}s")
    title = f"{counted(report.events, 'event', 'events')} of {summarised}{total}{mode}"
    table = Table("type", *_ACTIONS, title=title)
    for kind in ARTIFACT_TYPES:
        table.add_row(kind, *(str(getattr(report, action).get(kind, 0)) for action in _ACTIONS))
    out.print(table)
    show_notes(report)
    changes = [change for change in report.changes if change.action not in {"unchanged", "skipped"}]
    for change in changes[:SHOWN]:
        line = f"{change.action:<11}{change.artifact_type:<18}{change.title}"
        out.print(line, highlight=False, no_wrap=True, overflow="ellipsis")
    if len(changes) > SHOWN:
        remainder = f"... and {len(changes) - SHOWN} more: {_how_to_list(report)}"
        out.print(remainder, highlight=False, soft_wrap=True)


def _how_to_list(report: CompileReport) -> str:
    """A hint how to list all changes; after a dry run, they are only in the report."""
    return (
        "--json prints them all"
        if report.dry_run
        else f"hmxgraph artifact list --status any --tenant {quote(report.tenant_id)}"
    )


def counted(number: int, singular: str, plural: str) -> str:
    """*number* with the noun in singular or plural.

    >>> counted(1, "session", "sessions"), counted(1200, "session", "sessions")
    ('1 session', '1,200 sessions')
    """
    return f"{number:,} {singular if number == 1 else plural}"


def show_notes(report: CompileReport) -> None:
    """Print what the compilation left out, and what would help it to learn more."""
    for note in _notes(report):
        out.print(note)


def _notes(report: CompileReport) -> Iterator[str]:
    if not report.sessions and not report.dry_run and not report.summarised:
        yield "Nothing to compile: the tenant has no new events. Add some with hmxgraph ingest."
    if report.older:
        yield f"Learned from the latest {report.sessions:,} sessions; older ones no longer count."
    yield from report.no_material
    if report.without_outcome:
        number = counted(report.without_outcome, "session has", "sessions have")
        yield f"{number} no outcome: add feedback or test results so that outcomes can be learned."
    if report.shortened:
        number = counted(report.shortened, "session is", "sessions are")
        yield f"{number} so long that only the first and last steps were used."
    if report.near_duplicates:
        number = counted(report.near_duplicates, "pattern was", "patterns were")
        yield f"{number} skipped as near duplicates of others."


def _show_suggestion(suggestion: Suggestion, titles: Mapping[str, str]) -> None:
    """Print the suggested tools with the artifacts that support them, advice after a failure, and the next steps."""
    table = Table("next tool", "confidence", "supported by", title=suggestion.title or _NO_PROCEDURE)
    for tool in suggestion.tools[:SHOWN]:
        support = [f"{titles[artifact_id]} ({short_id(artifact_id)})" for artifact_id in tool.artifact_ids]
        table.add_row(Text(tool.tool), f"{tool.confidence:.2f}", Text("\n".join(support)))
    out.print(table)
    for advice in suggestion.recovery:
        out.print(Text(f"recovery: {advice}"))
    if suggestion.steps and not suggestion.title:
        out.print("Similar requests led to these steps:")
    for step in suggestion.steps:
        out.print(Text(f"{step.order}. {step.description}{' (optional)' if step.optional else ''}"))
