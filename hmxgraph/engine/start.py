"""Start a server, or take over the process that another one of us has started, and wait until it answers."""

import time
from pathlib import Path
from typing import NamedTuple

from hmxgraph.engine import configuration, java, lockfile, memory, password, ports, probe, process, refusals
from hmxgraph.engine.diagnosis import explained
from hmxgraph.engine.files import write_private
from hmxgraph.engine.jars import distribution
from hmxgraph.engine.journal import begin, tail
from hmxgraph.engine.ports import HOST, Ports
from hmxgraph.engine.progress import Listener, Step
from hmxgraph.engine.server import Server
from hmxgraph.engine.settings import Settings
from hmxgraph.errors import PortTaken

_TRIES = 3  # a free port may be taken between our look and the server's
_PAUSE = 0.1
_LOG_LINES = 400


class Launch(NamedTuple):
    """A process that ought to become a server."""

    pid: int
    ports: Ports
    password: str
    log_start: int = 0


def log_path(home: Path) -> Path:
    """Where the server's output goes."""
    return home / "logs" / "console.log"


def start(settings: Settings, listen: Listener) -> Server:
    """A new server on the data of ``settings.home``; the caller holds the lock.

    Raises:
        EngineError: one of its leaves.

    """
    sizes = memory.choose(settings)
    jars = distribution(settings, listen, lockfile.load())
    program = java.find(settings, java.accepted(jars.version))
    secret = password.settle(settings.home, program, jars)
    command = configuration.command(program, jars, settings.home, sizes)
    listen(Step(f"starting Neo4j {jars.version}"))
    for attempt in range(1, _TRIES + 1):
        chosen = _configure(settings, sizes, jars.version)
        try:
            return ready(_launch(command, settings.home, chosen, secret), settings, jars.version)
        except PortTaken:
            if attempt == _TRIES or ports.is_pinned(settings):
                raise
    raise AssertionError


def _configure(settings: Settings, sizes: memory.Memory, version: str) -> Ports:
    chosen = ports.choose(settings, _configured(settings.home))
    write_private(_conf(settings.home), configuration.text(chosen, sizes, version))
    return chosen


def _launch(command: list[str], home: Path, chosen: Ports, secret: str) -> Launch:
    log = log_path(home)
    log_start = begin(log)
    return Launch(process.launch(command, home, log), chosen, secret, log_start)


def adopt(pid: int, settings: Settings, listen: Listener) -> Server:
    """The server that runs on ``settings.home`` although the state file does not say so.

    Raises:
        ServerUnresponsive: it does not begin to answer.
        PasswordLost: nobody knows its password any more.

    """
    listen(Step(f"waiting for Neo4j (process {pid})"))
    found, secret = _configured(settings.home), password.read(settings.home)
    if secret is None:
        raise refusals.password_lost(settings.home)
    if found is None:
        raise refusals.unresponsive(pid, 0, log_path(settings.home))
    return ready(Launch(pid, found, secret), settings, "")


def ready(launch: Launch, settings: Settings, version: str) -> Server:
    """Wait until the launched server takes our password.

    Raises:
        EngineError: it died, was silent for too long, or refuses the password.

    """
    deadline = time.monotonic() + settings.start_seconds
    log = log_path(settings.home)
    while not _logs_in(launch, settings.home):
        if not process.is_server(launch.pid, settings.home):
            raise explained(tail(log, _LOG_LINES, launch.log_start), log)
        if time.monotonic() > deadline:
            raise refusals.unresponsive(launch.pid, settings.start_seconds, log)
        time.sleep(_PAUSE)
    return _server(launch, settings.home, version or probe.version(launch.ports.http))


def _logs_in(launch: Launch, home: Path) -> bool:
    answer = probe.login(launch.ports.http, password.USER, launch.password)
    if answer == 401:
        raise refusals.password_refused(home)
    return answer == 200 and probe.speaks_bolt(launch.ports.bolt)


def _server(launch: Launch, home: Path, version: str) -> Server:
    web = f"http://{HOST}:{launch.ports.http}"
    return Server(
        uri=f"bolt://{HOST}:{launch.ports.bolt}",
        http_uri=web,
        browser_uri=f"{web}/browser/",
        user=password.USER,
        password=launch.password,
        pid=launch.pid,
        home=home,
        version=version,
    )


def _conf(home: Path) -> Path:
    return home / "conf" / "neo4j.conf"


def _configured(home: Path) -> Ports | None:
    path = _conf(home)
    return configuration.ports_in(path.read_text("utf-8")) if path.is_file() else None
