"""The commands that write events: ``hmxgraph ingest``, ``forget``, ``clock``, ``remember`` and ``embed``."""

import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hmxgraph.api.aio import connect_async
from hmxgraph.cli._fields import Agent, At
from hmxgraph.cli._signals import interruptible_input
from hmxgraph.cli._terminal import (
    AsJson,
    MaskSecretsChoice,
    Rehome,
    SingleUser,
    Tenant,
    confirmed,
    emit,
    err,
    full_id,
    opened,
    out,
    short_id,
)
from hmxgraph.graph.ingesting import IngestChoices
from hmxgraph.ingest.streams.stream import is_stream_url, open_stream
from hmxgraph.protocol.memories import Memory
from hmxgraph.protocol.reports import ClockReport, ConflictingEvent, ForgetReport, IngestReport, Rejection, SourceReport
from hmxgraph.protocol.trust import TrustPolicy

# ``hmxgraph ingest``, ``forget`` and ``clock``: store events, erase them, and check their dates.

if TYPE_CHECKING:
    from hmxgraph.api.recording import ForgetChoices, RememberOptions

# Maximum number of rows shown of each kind: conflicts, groups of rejections, reasons for content left out, sessions.
SHOWN = 20
# Maximum number of line numbers shown for a group of lines that were rejected with the same faults.
MOST_LINES = 5
_NOTHING_MATCHED = (
    "nothing matched: no event that still has its content meets all criteria; "
    "hmxgraph explain ID lists the events behind a memory or an artifact"
)
_CRITERIA = "--event, --session, --agent, --user, --source, --fingerprint, --before, --older-than or --expired"
# An age such as 90d, 12h or 2w.
_AGE = re.compile(r"(\d+)([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Rate(ProgressColumn):
    """The number of events per second; empty until it is known."""

    def render(self, task: Task) -> Text:
        """The rate as a whole number."""
        return Text("" if task.speed is None else f"{task.speed:,.0f} /s")


def ingest(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files or folders (JSON, JSONL, gz); or - for stdin, or a stream's URL.", show_default=False
        ),
    ],
    format_: Annotated[str | None, typer.Option("--from", help="Name of the format; detected if omitted.")] = None,
    session: Annotated[str | None, typer.Option(help="Session for records that name none.")] = None,
    agent: Annotated[str | None, typer.Option(help="Agent for records that name none.")] = None,
    user: Annotated[str | None, typer.Option(help="User for records that name none.")] = None,
    rejects: Annotated[
        Path | None,
        typer.Option(
            help="Write rejected lines to this file, to be corrected and ingested again; for a pipe, append them."
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
    writers: Annotated[int, typer.Option(min=1, help="Number of writer threads; each writes its own sessions.")] = 1,
    batch: Annotated[int, typer.Option(min=1, max=10_000, help="Events per transaction.")] = 1_000,
    idle: Annotated[float | None, typer.Option(help="End a stream after this many seconds without a message.")] = None,
    single_user: SingleUser = False,
    mask_secrets: MaskSecretsChoice = None,
    rehome: Rehome = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Store events, and report the outcome of each line and event.

    The format of each file is detected from its content. Folders are read with all their subfolders. Events whose id is
    already stored with different content are reported as conflicts; rejected lines are listed with all their faults.
    """
    options: IngestChoices = {"rejects": rejects, "writers": writers, "batch_size": batch, "format": format_}
    options |= {"session_id": session, "agent_id": agent, "user_id": user}
    options |= {"on_error": "raise" if strict else "report", "rehome": rehome}
    source = _source_of(sources)
    with interruptible_input(sources[0]):
        with _progress() as show_progress:
            options["progress"] = show_progress
            arguments = _GraphArguments(tenant, TrustPolicy(single_user=single_user), mask_secrets)
            if isinstance(source, str) and is_stream_url(source):
                report = _ingest_stream(source, idle, arguments, options)
            else:
                report = _ingest_source(source, arguments, options)
        emit(report.document(), as_json, lambda: _show(report))
    if report.rejected or report.conflicts:
        sys.exit(1)


def forget(
    event: Annotated[list[str] | None, typer.Option(help="Id of an event; repeat it for several.")] = None,
    session: Annotated[str | None, typer.Option(help="All events of this session.")] = None,
    agent: Annotated[str | None, typer.Option(help="All events of this agent.")] = None,
    source: Annotated[str | None, typer.Option(help="All events from this source.")] = None,
    user: Annotated[
        str | None, typer.Option(help="All events that name this user, and what was remembered for them.")
    ] = None,
    fingerprint: Annotated[
        str | None,
        typer.Option(help="Id of an import, or of the fingerprint that was imported; the import is withdrawn."),
    ] = None,
    before: Annotated[str | None, typer.Option(help="Events before this time (ISO 8601 with offset).")] = None,
    older_than: Annotated[str | None, typer.Option(help="Events older than this: 90d, 12h, 2w.")] = None,
    expired: Annotated[bool, typer.Option("--expired", help="Events whose ttl has expired.")] = False,
    now: Annotated[bool, typer.Option("--now", help="Measure age and expiry by this machine's clock.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would be erased.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Erase events that meet all criteria, after a dry run.

    Asks before it erases, unless --yes is given.
    """
    criteria = {"event_id": event, "session_id": session, "agent_id": agent, "source": source, "before": before}
    criteria |= {"user_id": user, "fingerprint": fingerprint}
    choices: ForgetChoices = {name: value for name, value in criteria.items() if value}  # type: ignore[assignment]
    if older_than:
        choices["older_than"] = age(older_than)
    if expired:
        choices["expired"] = True
    if not choices:
        raise typer.BadParameter(f"select events with {_CRITERIA}")
    if now:
        choices["now"] = True
    with opened(tenant) as graph:
        if event:
            choices["event_id"] = [full_id(graph, event_id) for event_id in event]
        report = graph.forget(dry_run=True, **choices)
        if not dry_run and report.events and _is_confirmed(report, yes):
            report = graph.forget(**choices)
        emit(report.document(), as_json, lambda: out.print(_forget_table(report)))
        if not report.events:
            err.print(_NOTHING_MATCHED, style="yellow", highlight=False, soft_wrap=True)
        if report.shared_sessions:
            err.print(Text(_shared_sessions_hint(report.shared_sessions)), soft_wrap=True)
        if report.artifacts and not report.dry_run:
            err.print("run hmxgraph compile to learn from the remaining events", highlight=False, soft_wrap=True)


def clock(
    repair: Annotated[
        bool, typer.Option("--repair", help="Ignore the listed events until their time, and set logical time back.")
    ] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """List events dated over five minutes after this machine's clock; --repair sets the tenant's logical time back."""
    with opened(tenant) as graph:
        report = graph.repair_clock(dry_run=not repair)
    emit(report.document(), as_json, lambda: out.print(_clock_table(report)))


def _clock_table(report: ClockReport) -> Table:
    table = Table("event", "session", "dated", title=f"Ahead of the clock in {report.tenant_id}")
    for event in report.ahead:
        table.add_row(Text(event.event_id), Text(event.session_id), event.timestamp)
    table.caption = f"logical time: {report.before or 'none'}" + (
        f", now {report.after}" if report.after != report.before else ""
    )
    return table


def age(text: str) -> timedelta:
    """The time span that *text* states.

    Raises:
        BadParameter: *text* is not a time span, or is longer than Python can represent.

    >>> age("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not an age; write it like 90d, 12h or 2w")
    try:
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError as error:
        raise typer.BadParameter(f"{text!r} is too long for an age") from error


class _GraphArguments(NamedTuple):
    """The arguments of ``opened``: the tenant, its trust policy and its masking mode."""

    tenant: str
    trust: TrustPolicy
    mask_secrets: str | None


def _source_of(sources: Sequence[str]) -> str | list[Path]:
    """A single source as text, or the paths of several files and folders.

    Raises:
        BadParameter: standard input or a stream is one of several sources.

    """
    if len(sources) == 1:
        return sources[0]
    if stream := next((source for source in sources if source == "-" or is_stream_url(source)), None):
        raise typer.BadParameter(f"{stream} must be the only source; several sources must be files or folders")
    return [Path(source) for source in sources]


def _ingest_source(source: str | list[Path], arguments: _GraphArguments, options: IngestChoices) -> IngestReport:
    with opened(*arguments) as graph:
        return graph.ingest(source, **options)


def _ingest_stream(source: str, idle: float | None, arguments: _GraphArguments, options: IngestChoices) -> IngestReport:
    settings: Any = {"trust": arguments.trust, "mask_secrets": arguments.mask_secrets}

    async def run() -> IngestReport:
        async with connect_async(tenant_id=arguments.tenant, progress=True, **settings) as graph:
            return await graph.ingest(open_stream(source, idle_seconds=idle), **options)

    return asyncio.run(run())


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """A callback that shows how many events and rejected lines are done; None if stderr is not a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} events"), Rate())
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as progress:
        task = progress.add_task("ingest", total=None)
        yield lambda count: progress.update(task, completed=count)


def _show(report: IngestReport) -> None:
    """Print the recognised formats of the sources, and the outcomes of their lines and events."""
    if report.sources:
        out.print(_format_table(report))
        out.print(_line_table(report))
    if report.left_out:
        out.print(_left_out_table(report))
    out.print(_event_table(report))


def _format_table(report: IngestReport) -> Table:
    """The number of sources, lines and events of each format; a single source is shown by its path."""
    formats: dict[str, list[SourceReport]] = {}
    for source in report.sources:
        formats.setdefault(source.format, []).append(source)
    table = Table("recognised as", "sources", "lines", "events", title="Sources")
    for name, sources in sorted(formats.items()):
        source_text = sources[0].source or "1" if len(sources) == 1 else f"{len(sources):,}"
        lines, events = (sum(getattr(source, count) for source in sources) for count in ("lines", "events"))
        table.add_row(name, source_text, f"{lines:,}", f"{events:,}")
    return table


def _line_table(report: IngestReport) -> Table:
    """The outcomes of all lines; the last row is the sum of the others."""
    table = Table(title="Lines", show_header=False)
    table.add_row("became events", f"{sum(source.with_events for source in report.sources):,}")
    table.add_row("completed or repeated an event", f"{report.part_of:,}")
    for reason, count in report.skipped.items():
        table.add_row(f"skipped: {reason}", f"{count:,}")
    table.add_row("rejected", f"{sum(source.rejected for source in report.sources):,}")
    table.add_row(Text("lines", "bold"), Text(f"{report.lines:,}", "bold"))
    return table


def _left_out_table(report: IngestReport) -> Table:
    """How often content was left out of lines that became events, by reason, the most frequent first."""
    table = Table(title="Left out of lines that became events", show_header=False)
    reasons = sorted(report.left_out.items(), key=lambda item: (-item[1], item[0]))
    for reason, count in reasons[:SHOWN]:
        table.add_row(reason, f"{count:,}")
    if other_reasons := reasons[SHOWN:]:
        table.add_row(
            f"{len(other_reasons):,} more reasons; --json shows all", f"{sum(count for _, count in other_reasons):,}"
        )
    return table


def _event_table(report: IngestReport) -> Table:
    table = Table(title=f"Events in {report.tenant_id}", show_header=False)
    for name in ("accepted", "duplicates", "conflicts"):
        table.add_row(name, f"{getattr(report, name):,}")
    table.add_row("rejected", f"{report.rejected_count:,}")
    events = report.accepted + report.duplicates + report.conflicts + report.rejected_count
    table.add_row(Text("events", "bold"), Text(f"{events:,}", "bold"))
    table.add_row("stored after later events", f"{report.late:,}")
    table.add_row("moved to this tenant", f"{report.rehomed:,}")
    table.add_row("sessions with new events", f"{report.sessions:,}")
    table.add_row("events/s", f"{report.rate:,.0f}")
    for warning in report.warnings:
        table.add_row(Text("warning", "yellow"), warning)
    for conflict in report.conflicting[:SHOWN]:
        table.add_row(Text("conflict", "red"), _conflict_line(conflict))
    groups = _by_faults(report.rejected)[:SHOWN]
    for rejections in groups:
        table.add_row(Text("rejected", "red"), _rejected_line(rejections))
    shown_count = sum(map(len, groups))
    if hidden_count := report.rejected_count - shown_count + max(report.conflicts - SHOWN, 0):
        table.add_row(
            "", f"{hidden_count:,} more; --json lists up to 10,000 of each kind, --rejects keeps all rejected lines"
        )
    return table


def problem_lines(problems: Sequence[Rejection | ConflictingEvent]) -> list[str]:
    """A line for each conflict, and for each group of rejections with the same source and faults."""
    conflicts = [f"conflict: {_conflict_line(each)}" for each in problems if isinstance(each, ConflictingEvent)]
    groups = _by_faults(each for each in problems if isinstance(each, Rejection))
    return conflicts + [f"rejected: {_rejected_line(rejections)}" for rejections in groups]


def _conflict_line(conflict: ConflictingEvent) -> str:
    """Where the event of a conflict was read, and what is wrong with it."""
    return f"{_location(conflict)}: {conflict.event_id} is stored with different content"


def _rejected_line(rejections: Sequence[Rejection]) -> str:
    """Where lines with the same faults were read, and these faults."""
    return f"{_locations(rejections[0].source, rejections)}: {_faults(rejections[0])}"


def _by_faults(rejected: Iterable[Rejection]) -> list[list[Rejection]]:
    """The rejections, grouped by source and faults."""
    groups: dict[tuple[str, str], list[Rejection]] = {}
    for rejection in rejected:
        groups.setdefault((rejection.source, _faults(rejection)), []).append(rejection)
    return list(groups.values())


def _faults(rejection: Rejection) -> str:
    return "; ".join(map(str, rejection.faults))


def _locations(source: str, rejections: Sequence[Rejection]) -> str:
    """The source and lines of rejections with the same faults; only the first few lines are listed."""
    if len(rejections) == 1:
        return f"{_location(rejections[0])} {rejections[0].event_id}".rstrip()
    numbers = ", ".join(f"{rejection.line:,}" for rejection in rejections[:MOST_LINES])
    suffix = f" and {len(rejections) - MOST_LINES:,} more" if len(rejections) > MOST_LINES else ""
    return f"{source + ', ' if source else ''}lines {numbers}{suffix}"


def _location(problem: Rejection | ConflictingEvent) -> str:
    """The source and line of a rejection or conflict; line 0 stands for the whole source."""
    line = f"line {problem.line}" if problem.line else "the whole source"
    return f"{problem.source}, {line}" if problem.source else line


def _is_confirmed(report: ForgetReport, yes: bool) -> bool:
    if yes:
        return True
    err.print(_forget_table(report))
    return confirmed("Erase these events for good?")


def _forget_table(report: ForgetReport) -> Table:
    title = "Would be forgotten" if report.dry_run else "Forgotten"
    table = Table(title=f"{title if report.events else 'Nothing to forget'} from {report.tenant_id}", show_header=False)
    table.add_row("events", f"{len(report.events):,}")
    table.add_row("sessions", f"{report.sessions:,}")
    table.add_row("task records", f"{len(report.records):,}")
    for name in ("artifacts", "memories", "relations", "entities"):
        table.add_row(f"{name} based on them", f"{len(getattr(report, name)):,}")
    table.add_row("events not yet erased", f"{report.remaining:,}")
    return table


def _shared_sessions_hint(sessions: Sequence[str]) -> str:
    """A hint about sessions in which agents or other users may have quoted the user; only the first few are listed.

    >>> print(_shared_sessions_hint(["chat-7"]))
    text of others (answers, tool calls, other users) is left in 1 of the user's sessions and may quote the user:
      chat-7
    to read a session: hmxgraph query session_story session_id=ID; to erase it: hmxgraph forget --session ID
    """
    names = [f"  {session}" for session in sessions[:SHOWN]]
    more = [f"  and {len(sessions) - SHOWN:,} more; --json lists all"] if len(sessions) > SHOWN else []
    others = "text of others (answers, tool calls, other users)"
    heading = f"{others} is left in {len(sessions):,} of the user's sessions and may quote the user:"
    way_out = "to read a session: hmxgraph query session_story session_id=ID; to erase it: hmxgraph forget --session ID"
    return "\n".join((heading, *names, *more, way_out))


# ``hmxgraph remember`` and ``embed``.


def remember(
    text: Annotated[str, typer.Argument(help="A sentence to remember; - reads one sentence per line from stdin.")],
    kind: Annotated[str, typer.Option("--kind", "-k", help="fact, preference, policy or goal.")] = "fact",
    hard: Annotated[bool, typer.Option("--hard", help="A policy without exceptions, part of every pack.")] = False,
    supersedes: Annotated[str | None, typer.Option("--supersedes", help="Id of the memory that this replaces.")] = None,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", help="Only for packs of this scope; repeatable.")
    ] = None,
    user: Annotated[str | None, typer.Option("--user", help="Only for packs of this user.")] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Part of every pack of its scope and user.")] = False,
    alias: Annotated[
        list[str] | None, typer.Option("--alias", help="Another name that questions may use; repeatable.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", help="Time at which it ceases to hold (ISO 8601 with offset).")
    ] = None,
    at: At = None,
    agent: Agent = None,
    mask_secrets: MaskSecretsChoice = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Remember a fact, preference, policy or goal.

    Repeating the same words counts as another observation. Lines from stdin are stored in one transaction.
    """
    texts = list(filter(str.strip, sys.stdin.read().splitlines())) if text == "-" else [text]
    options: RememberOptions = {"kind": kind, "hard": hard, "supersedes": supersedes, "scope": scope, "user_id": user}
    options |= {"pinned": pinned, "aliases": alias, "expires": expires, "at": at, "agent_id": agent}
    with opened(tenant, mask_secrets=mask_secrets) as graph:
        if supersedes:
            options["supersedes"] = full_id(graph, supersedes)
        memories = graph.remember_all(texts, **options)
        documents = [memory.document() for memory in memories]
        emit(
            documents if text == "-" else documents[0],
            as_json,
            lambda: out.print(*map(memory_line, memories), sep="\n"),
        )


def embed(
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", envvar="HMXGRAPH_EMBED", help="Function from texts to vectors, as module:function."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Recompute all vectors, after a change of model.")] = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Add vectors to stored events, with your own embedder.

    With HMXGRAPH_EMBED set, commands that store events embed them, and packs also find paraphrases.
    """
    with opened(tenant, embed=embedder) as graph:
        number = graph.embed(replace=replace)
    emit({"embedded": number}, as_json, lambda: out.print(f"{number:,} events have new vectors"))


def memory_line(memory: Memory) -> Text:
    """One line for a memory: kind, text, status, number of observations and short id."""
    observed = "once" if memory.observation_count == 1 else f"{memory.observation_count} times"
    kind = f"hard {memory.kind}" if memory.hard else memory.kind
    return Text.assemble(
        (f"{kind} ", "bold"),
        memory.text,
        (f"  {memory.status}, observed {observed}, {short_id(memory.memory_id)}", "dim"),
    )
