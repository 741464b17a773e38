"""The command ``hmxgraph watch``: follow the files that agents write, and store what is new."""

import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.status import Status
from rich.text import Text

from hmxgraph import engine
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.api.watching import Positions, Progress, Watch
from hmxgraph.cli._terminal import AsJson, MaskSecretsChoice, Rehome, SingleUser, Tenant, err, json_line, opened, out
from hmxgraph.cli.ingest import problem_lines
from hmxgraph.errors import GraphError, HmxGraphError, NotWritten
from hmxgraph.protocol.trust import TrustPolicy

if TYPE_CHECKING:
    from hmxgraph.protocol.reports import CompileReport

# Seconds of pause between two scans of the files; after a longer scan, the pause is as long as the scan.
_PAUSE_SECONDS = 0.5
# Timeout in seconds of each transaction of a scan; if the database does not answer in time, the next scan tries again.
_SCAN_SECONDS = 20.0
# New events are compiled when no more have arrived for the first number of seconds, but at the latest when the oldest
# of them has waited for the second.
_QUIET_SECONDS = 5.0
_MOST_WAIT_SECONDS = 60.0


def watch(
    path: Annotated[Path, typer.Argument(help="File or folder, such as ~/.claude/projects.")],
    format_: Annotated[str | None, typer.Option("--from", help="Name of the format; detected if omitted.")] = None,
    compile_: Annotated[bool, typer.Option("--compile/--no-compile", help="Compile in the background.")] = True,
    user: Annotated[str | None, typer.Option(help="User for records that name none.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Store and compile what is there, then exit.")] = False,
    single_user: SingleUser = False,
    mask_secrets: MaskSecretsChoice = None,
    rehome: Rehome = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Follow a file or folder, and store what is appended to it.

    New files and complete lines are usually stored within two seconds. The watch follows truncated and rotated files,
    and after a restart it resumes where it stopped. Rejected lines are listed with their faults. Ctrl-C ends it.
    """
    path = path.expanduser().absolute()
    trust = TrustPolicy(single_user=single_user)
    with opened(tenant, trust, mask_secrets) as graph, _until_interrupted() as stopped:
        positions = Positions(_positions_of(graph, path))
        with _printer(as_json) as show:
            watched = Watch(graph, path, positions, format=format_, user_id=user, rehome=rehome)
            _Run(graph, watched, stopped, show, compiles=compile_).follow(once=once)
        positions.close()


class _Run:
    """A run of the command, which scans the files, stores and compiles what is new, and reports progress."""

    def __init__(
        self, graph: KnowledgeGraph, watched: Watch, stopped: Event, show: "_Printer", *, compiles: bool
    ) -> None:
        self._graph = graph
        self._watch = watched
        self._stopped = stopped
        self._show = show
        self._compiler = _Compiler(graph) if compiles else None
        self._failure: HmxGraphError | None = None

    def follow(self, *, once: bool) -> None:
        """Scan until interrupted; with *once*, until there is nothing more to read, or until an error.

        Raises:
            HmxGraphError: *once* is set, and something could not be stored or compiled.

        """
        while not self._stopped.is_set():
            start_time, rejected_before = monotonic(), self._watch.progress.rejected
            stored = self._scan()
            if self._compiler:
                self._compiler.start_if_due(stored)
            self._report(self._watch.progress.rejected - rejected_before)
            if once and (self._failure or not (stored or self._watch.progress.behind or self._watch.settling)):
                break
            has_more = self._watch.progress.behind and self._failure is None
            self._stopped.wait(0 if has_more else max(_PAUSE_SECONDS, monotonic() - start_time))
        if self._compiler:
            self._compiler.finish()
            self._report()
            self._failure = self._failure or self._compiler.failure
        if once and self._failure:
            raise self._failure

    def _scan(self) -> int:
        """Store what is new; return the number of events stored (0 after an error; then the next scan tries again)."""
        try:
            with self._graph.timeout(_SCAN_SECONDS):
                stored = self._watch.step()
        except (GraphError, NotWritten) as error:
            self._failure = error
            return 0
        self._failure = None
        return stored

    def _report(self, rejected: int = 0) -> None:
        """Show the progress; if *rejected* lines were rejected since the last report, also their faults."""
        problems = problem_lines(self._watch.problems) if rejected else []
        if (hidden_count := rejected - len(self._watch.problems)) > 0:
            problems.append(f"rejected: {hidden_count:,} more")
        compiled = self._compiler.note if self._compiler else ""
        failure = f"not stored: {self._failure}" if isinstance(self._failure, GraphError) else str(self._failure or "")
        self._show(self._watch.progress, "; ".join(filter(None, (compiled, failure))), problems)


class _Compiler:
    """Compiles new events in the background when no more arrive for a while, or when the first has waited a minute."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.note = ""
        self.failure: HmxGraphError | None = None
        self._graph = graph
        self._pool = ThreadPoolExecutor(1)
        self._running: Future[CompileReport] | None = None
        # The times at which the first and the last event that is not compiled yet were stored. If the first time is 0,
        # there is no such event.
        self._first_stored = self._last_stored = 0.0

    def start_if_due(self, stored: int) -> None:
        """Start a compilation if one is due; *stored* events are new since the last call."""
        now = monotonic()
        if stored:
            self._first_stored, self._last_stored = self._first_stored or now, now
        if self._running and self._running.done():
            self._collect()
        due = self._first_stored and (
            now - self._last_stored >= _QUIET_SECONDS or now - self._first_stored >= _MOST_WAIT_SECONDS
        )
        if due and not self._running:
            self._start()

    def finish(self) -> None:
        """Compile the events that are not compiled yet, and wait until that is done."""
        if self._running:
            self._collect()
        if self._first_stored:
            self._start()
            self._collect()
        self._pool.shutdown()

    def _start(self) -> None:
        self._first_stored = 0.0
        self.note = "compiling"
        self._running = self._pool.submit(self._graph.compile)

    def _collect(self) -> None:
        """Take the result of the running compilation; if it failed, the failure is reported and watching continues."""
        running, self._running = self._running, None
        if running is None:
            return
        try:
            report = running.result()
        except HmxGraphError as error:
            self.failure = error
            self.note = f"not compiled: {error}"
        else:
            self.failure = None
            artifacts = sum(report.created.values()) + sum(report.updated.values())
            changed = _count_of(artifacts, "new or changed artifact")
            self.note = f"compiled {_count_of(report.sessions, 'session')}, {changed}"


def _positions_of(graph: KnowledgeGraph, path: Path) -> Path:
    """The file that stores how far each file under *path* was read, for this tenant of this database."""
    address = graph._connection.address  # noqa: SLF001 - only the connection knows the address
    name = "\0".join((address.uri, address.database, graph.tenant_id, str(path)))
    return engine.data_home() / "watch" / f"{sha256(name.encode()).hexdigest()[:32]}.sqlite"


@contextmanager
def _until_interrupted() -> Iterator[Event]:
    """An event that Ctrl-C or SIGTERM sets; a second signal of the same kind raises KeyboardInterrupt."""
    stopped = Event()

    def stop(number: int, _: Any) -> None:
        stopped.set()
        signal.signal(number, signal.default_int_handler)

    previous_handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


class _Printer:
    """Shows the progress: at a terminal, one line that changes; elsewhere, a new line for each change."""

    def __init__(self, status: Status | None, *, as_json: bool) -> None:
        self._status = status
        self._as_json = as_json
        self.text = ""
        self._last: Any = None

    def __call__(self, progress: Progress, note: str, problems: Sequence[str]) -> None:
        """Show *progress* with *note*, and a line for each of *problems*."""
        document = {**progress.document(), "note": note}
        if document == self._last:
            return
        self._last, self.text = document, line(progress, note)
        if self._as_json:
            sys.stdout.write(json_line({**document, "problems": problems}))
            sys.stdout.flush()
            return
        for problem in problems:
            (err if self._status else out).print(Text(problem, "red"), soft_wrap=True)
        if self._status:
            self._status.update(self.text)
        else:
            out.print(self.text)


@contextmanager
def _printer(as_json: bool) -> Iterator[_Printer]:
    live = out.is_terminal and not as_json
    with err.status("scanning") if live else nullcontext() as status:
        show = _Printer(status, as_json=as_json)
        yield show
    if live:
        out.print(show.text)


def line(progress: Progress, note: str = "") -> str:
    """*progress* and *note* in one line.

    >>> line(Progress(files=2, lines=10, accepted=7, duplicates=1, unfinished=1))
    '2 files, 10 lines, 7 events stored, 1 duplicate, 1 file ending mid-line'
    """
    parts = [
        _count_of(progress.files, "file"),
        _count_of(progress.lines, "line"),
        f"{_count_of(progress.accepted, 'event')} stored",
        _count_of(progress.duplicates, "duplicate") if progress.duplicates else "",
        f"{progress.rejected:,} rejected" if progress.rejected else "",
        f"{_count_of(progress.unfinished, 'file')} ending mid-line" if progress.unfinished else "",
        f"{_count_of(len(progress.unknown), 'file')} in an unknown format" if progress.unknown else "",
        f"{_count_of(len(progress.unreadable), 'file')} without permission to read" if progress.unreadable else "",
    ]
    return "; ".join(filter(None, (", ".join(filter(None, parts)), note)))


def _count_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
