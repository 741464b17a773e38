"""The values that the engine returns (a server, its status), and how it reports progress."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


@dataclass(frozen=True, slots=True)
class Server:
    """A running local Neo4j server: its addresses, login and process."""

    uri: str
    http_uri: str
    browser_uri: str
    user: str
    password: str = field(repr=False)
    pid: int
    home: Path
    version: str

    @property
    def bolt_port(self) -> int:
        """The port in ``uri``."""
        return int(self.uri.rpartition(":")[2])

    def document(self) -> dict[str, Any]:
        """All fields as JSON values, including the password."""
        return {**asdict(self), "home": str(self.home)}


@dataclass(frozen=True, slots=True)
class Status:
    """Whether a server runs on the data home *home* (the folder with database and logs), and how it is doing.

    ``unresponsive`` means that the process runs but does not answer. ``server`` is None unless the state is
    ``running``; ``pid`` is None if it is ``stopped``.
    """

    state: Literal["running", "unresponsive", "stopped"]
    home: Path
    server: Server | None = None
    pid: int | None = None
    resident_bytes: int = 0
    uptime_seconds: int = 0

    @property
    def healthy(self) -> bool:
        """Whether the server answers."""
        return self.state == "running"

    def document(self) -> dict[str, Any]:
        """The status as JSON values, without the password."""
        server = {k: v for k, v in self.server.document().items() if k != "password"} if self.server else None
        process = {"pid": self.pid, "resident_bytes": self.resident_bytes, "uptime_seconds": self.uptime_seconds}
        return {"state": self.state, "home": str(self.home), "server": server, **process}


# Progress, reported to a callback or drawn as bars on the terminal.


class Step(NamedTuple):
    """Progress of one task, such as "downloading Neo4j": bytes done, and bytes in total (0 if unknown)."""

    what: str
    done: int = 0
    total: int = 0


Listener: TypeAlias = Callable[[Step], None]
Progress: TypeAlias = Listener | bool | None


def silent(step: Step) -> None:
    """A listener that ignores *step*."""


@contextmanager
def listening(progress: Progress) -> Iterator[Listener]:
    """The listener for *progress*: itself if callable, bars on stderr for True, a silent one for False and None.

    If stderr is not a terminal, True prints a line for each task instead of drawing bars: downloading and starting a
    server take a while, and silence would look like a hang.
    """
    if callable(progress):
        yield progress
    elif progress and not sys.stderr.isatty():
        yield Lines()
    elif progress:
        with _rich_progress() as display:
            yield Bar(display)
    else:
        yield silent


def _rich_progress() -> "RichProgress":
    from rich.console import Console  # noqa: PLC0415 - rich is slow to import
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[measure]}"), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


class Lines:
    """A listener that prints the name of each task once, on stderr."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def __call__(self, step: Step) -> None:
        """Print the task of *step*, unless it was printed before."""
        if step.what not in self._printed:
            self._printed.add(step.what)
            sys.stderr.write(f"{step.what} ...\n")
            sys.stderr.flush()


class Bar:
    """A listener that draws a progress bar for each task."""

    def __init__(self, display: "RichProgress") -> None:
        self._display = display
        self._task_ids: dict[str, TaskID] = {}

    def __call__(self, step: Step) -> None:
        """Draw *step*; a new task gets a bar of its own."""
        measure = f"{step.done / 1e6:.0f} of {step.total / 1e6:.0f} MB" if step.total else ""
        if step.what not in self._task_ids:
            self._task_ids[step.what] = self._display.add_task(step.what, total=step.total or None, measure=measure)
        self._display.update(self._task_ids[step.what], completed=step.done, measure=measure)
