"""``hmxgraph compile`` and ``hmxgraph suggest``: what the events teach, and what comes next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shlex import quote
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from hmxgraph.cli._terminal import AsJson, Tenant, emit, err, opened, out
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES
from hmxgraph.protocol.reports import CompileReport
from hmxgraph.protocol.suggestions import Suggestion

_DEEDS = ("created", "updated", "unchanged", "deprecated")
SHOWN = 20


def compile_events(
    tenant: Tenant = "default",
    full: Annotated[bool, typer.Option("--full", help="Read every session again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would change.")] = False,
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
        found = graph.suggest(session_id=session)
    emit(found.document(), as_json, lambda: _show_suggestion(found))


@contextmanager
def stages() -> Iterator[Callable[[str, int], None] | None]:
    """Tells stages of the compilation on stderr, where that is a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("compiling", total=None)
        yield lambda stage, done: bar.update(task, description=f"{stage} {done or ''}")


def show_report(report: CompileReport) -> None:
    """Print *report*: counts by type, and the changes themselves."""
    mode = " (dry run, nothing written)" if report.dry_run else ""
    whole = f", {report.sessions} in all" if report.sessions else ""
    changed = counted(report.summarised, "changed session", "changed sessions")
    title = f"{counted(report.events, 'event', 'events')} of {changed}{whole}{mode}"
    table = Table("type", *_DEEDS, title=title)
    for kind in ARTIFACT_TYPES:
        table.add_row(kind, *(str(getattr(report, deed).get(kind, 0)) for deed in _DEEDS))
    out.print(table)
    for note in _notes(report):
        out.print(note)
    changes = [change for change in report.changes if change.deed not in {"unchanged", "left"}]
    for change in changes[:SHOWN]:
        line = f"{change.deed:<11}{change.artifact_type:<18}{change.title}"
        out.print(line, highlight=False, no_wrap=True, overflow="ellipsis")
    if len(changes) > SHOWN:
        rest = f"... and {len(changes) - SHOWN} more: {_where_all_are(report)}"
        out.print(rest, highlight=False, soft_wrap=True)


def _where_all_are(report: CompileReport) -> str:
    """How to see every change, drafts too; what was only tried is nowhere but in the report."""
    return (
        "--json tells all"
        if report.dry_run
        else f"hmxgraph artifact list --status any --tenant {quote(report.tenant_id)}"
    )


def counted(number: int, one: str, many: str) -> str:
    """*number* with the word for it.

    >>> counted(1, "session", "sessions"), counted(1200, "session", "sessions")
    ('1 session', '1,200 sessions')
    """
    return f"{number:,} {one if number == 1 else many}"


def _notes(report: CompileReport) -> Iterator[str]:
    """What a reader of the table should know besides."""
    if not report.sessions and not report.dry_run and not report.summarised:
        yield "Nothing to compile: the tenant has no new events. Feed some in with hmxgraph ingest."
    if report.without_outcome:
        found = counted(report.without_outcome, "session has", "sessions have")
        yield f"{found} no outcome: feedback, results and tests would tell what worked."
    if report.shortened:
        found = counted(report.shortened, "session is", "sessions are")
        yield f"{found} so long that only the first and last steps were learnt from."
    if report.near_duplicates:
        found = counted(report.near_duplicates, "pattern was", "patterns were")
        yield f"{found} left out: others say nearly the same."


def _show_suggestion(found: Suggestion) -> None:
    table = Table("next tool", "confidence", "because of", title=found.title or "No known task fits")
    for tool in found.tools[:SHOWN]:
        table.add_row(tool.tool, f"{tool.confidence:.2f}", ", ".join(tool.artifact_ids))
    out.print(table)
    for step in found.steps:
        out.print(f"{step.order}. {step.description}")
