"""Ensure, look at, and stop the one server of a data home."""

import os
import time
from pathlib import Path
from typing import TypeAlias

import psutil

from hmxgraph.engine import probe, process, refusals, state
from hmxgraph.engine.journal import tail
from hmxgraph.engine.locking import exclusive
from hmxgraph.engine.progress import Listener, Progress, Step, listening
from hmxgraph.engine.server import Server, Status
from hmxgraph.engine.settings import Settings, read
from hmxgraph.engine.start import adopt, log_path, start

Home: TypeAlias = str | os.PathLike[str] | None

_LOCK_SECONDS = 1800  # the first start may fetch 143 MB over a slow line
_STOP_SECONDS = 90


def ensure(home: Home = None, *, progress: Progress = None) -> Server:
    """The running server of *home*, fetched and started if need be, shared with all processes of this machine.

    *progress* is called with each `Step`; True draws a bar on stderr.

    Raises:
        EngineError: a leaf that says what is missing, and the way out.

    """
    settings = read(home)
    server = answering(settings.home)
    if server is not None:
        return server
    try:
        with listening(progress) as listen:
            return _ensure_alone(settings, listen)
    except OSError as error:
        raise refusals.home_unusable(settings.home, error) from error


def _ensure_alone(settings: Settings, listen: Listener) -> Server:
    """Whoever gets the lock first starts the server; the others find it running."""
    _prepare(settings.home)
    with exclusive(_lock(settings.home), _LOCK_SECONDS, lambda: listen(Step("waiting for another process"))):
        return answering(settings.home) or _bring_up(settings, listen)


def answering(home: Path) -> Server | None:
    """The server of the state file, if its process lives and speaks Bolt."""
    server = state.load(home)
    if server is None or not process.is_server(server.pid, home):
        return None
    return server if probe.speaks_bolt(server.bolt_port) else None


def _bring_up(settings: Settings, listen: Listener) -> Server:
    """Under the lock: use the process that is there, else start one."""
    pid = process.find(settings.home)
    server = start(settings, listen) if pid is None else adopt(pid, settings, listen)
    state.save(server)
    return server


def _prepare(home: Path) -> None:
    if os.name != "posix":
        raise refusals.unsupported_platform(os.name)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("conf", "logs"):
        (home / name).mkdir(exist_ok=True)


def _lock(home: Path) -> Path:
    return home / "server.lock"


def status(home: Home = None) -> Status:
    """What there is in *home* now; starts nothing and waits for nobody."""
    place = read(home).home
    server = answering(place)
    pid = server.pid if server else process.find(place)
    if pid is None:
        return Status("stopped", place)
    try:
        running = psutil.Process(pid)
        resident, age = running.memory_info().rss, int(time.time() - running.create_time())
    except psutil.NoSuchProcess:
        return Status("stopped", place)
    return Status("running" if server else "unresponsive", place, server, pid, resident, age)


def stop(home: Home = None) -> bool:
    """Stop the server of *home* and wait until it is gone; whether there was one.

    Raises:
        ServerUnresponsive: it has not ended in time.
        EngineError: the data home cannot be used.

    """
    place = read(home).home
    if not place.is_dir():
        return _ended(place)  # moved or deleted under a server that goes on, and would keep its data locked
    try:
        return _stop_alone(place)
    except OSError as error:
        raise refusals.home_unusable(place, error) from error


def _stop_alone(place: Path) -> bool:
    with exclusive(_lock(place), _STOP_SECONDS):
        ended = _ended(place)
        state.clear(place)
    return ended


def _ended(place: Path) -> bool:
    """Whether there was a server of *place*, which is gone now."""
    pid = process.find(place)
    if pid is not None and not process.terminate(pid, place, _STOP_SECONDS):
        raise refusals.will_not_stop(pid, _STOP_SECONDS)
    return pid is not None


def logs(home: Home = None, lines: int = 50) -> str:
    """The last *lines* of what the server said, over all its starts."""
    return tail(log_path(read(home).home), lines)
