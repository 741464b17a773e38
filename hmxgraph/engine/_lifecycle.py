"""Ensure, look at and stop the one server of a data home."""

import os
import re
import secrets
import subprocess
import time
from pathlib import Path
from typing import NamedTuple, TypeAlias

import psutil

from hmxgraph.engine import _data_home, _jars, _java, _process, _refusals, _settings
from hmxgraph.engine._data_home import exclusive, write_private
from hmxgraph.engine._jars import Distribution, distribution
from hmxgraph.engine._java import LOCALE
from hmxgraph.engine._process import HOST, Ports, begin, tail
from hmxgraph.engine._settings import Settings
from hmxgraph.engine._settings import read as _read_of__settings
from hmxgraph.engine.server import Listener, Progress, Server, Status, Step, listening
from hmxgraph.errors import EngineError, JarDamaged, JavaMissing, NotEnoughMemory, PortTaken

# From the last words of a server that died while starting to the error that says the way out.


class _Clue(NamedTuple):
    """Words that tell one cause from all others."""

    pattern: str
    kind: type[EngineError]
    way_out: str


_CLUES = (
    _Clue(
        # The second: Neo4j finds no room for its logs, would have the system database read-only, and may not.
        r"no space left on device|for 'server\.databases\.read_only'",
        EngineError,
        "free 300 MB on the disk of the data home and run the same command again, or set HMXGRAPH_HOME to another disk",
    ),
    _Clue(
        r"already in use",
        PortTaken,
        "run the same command again with HMXGRAPH_BOLT_PORT and HMXGRAPH_HTTP_PORT unset: free ports are then chosen",
    ),
    _Clue(r"java heap space", NotEnoughMemory, "raise HMXGRAPH_HEAP (256m do), or unset it"),
    _Clue(
        r"could not reserve enough space|invalid (initial|maximum) heap|outofmemory|physical memory|insufficient mem",
        NotEnoughMemory,
        "lower HMXGRAPH_HEAP and HMXGRAPH_PAGECACHE, or free memory",
    ),
    _Clue(
        r"locked by another process",
        EngineError,
        "another Neo4j works on this data (in a container, or under another path): stop that one",
    ),
    _Clue(r"UnsupportedClassVersionError", JavaMissing, "set HMXGRAPH_JAVA to a newer Java, or unset it"),
    _Clue(
        r"ClassNotFoundException|NoClassDefFoundError|ZipException|could not find or load main class",
        JarDamaged,
        "run the same command again; if HMXGRAPH_JARS is set, copy its jars again",
    ),
)
_LINES = 15


def explained(words: str, log: Path) -> EngineError:
    """The error that fits *words*: of a known kind with the telling line, else with the last lines.

    >>> print(explained("Caused by: java.net.BindException: Address already in use", Path("console.log")).reason)
    the local server ended while starting: Address already in use

    """
    for clue in _CLUES:
        telling = [line for line in words.splitlines() if re.search(clue.pattern, line, re.IGNORECASE)]
        if telling:
            return clue.kind(f"the local server ended while starting: {_plain(telling[-1])}", clue.way_out)
    return _refusals.died(log, _without_trace(words))


def _plain(line: str) -> str:
    """A line of Java's without time, level and class."""
    return re.sub(r"^(Caused by: [\w.$]+: |[\d :.+-]+ [A-Z]+ +)", "", line.strip())


def _without_trace(words: str) -> str:
    """The last lines of *words*, Java's stack frames left out."""
    told = [line for line in words.splitlines() if not re.match(r"\s+at |\s+\.\.\. \d+ more", line)]
    return "\n".join(told[-_LINES:])


# The password of the local server: made at the first start, kept in a private file of the data home.

USER = "neo4j"


def read(home: Path) -> str | None:
    """The stored password, None where the file is missing or was cut."""
    path = home / "password"
    text = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    return text if re.fullmatch(r"\S{8,}", text) else None


def settle(home: Path, java: Path, jars: Distribution) -> str:
    """The password to log in with; makes one and gives it to the server before its first start.

    Raises:
        PasswordLost: there is a database, but no longer its password.

    """
    known = read(home)
    if (home / "data" / "databases" / "system").exists():
        if known is None:
            raise _refusals.password_lost(home)
        return known
    password = known or secrets.token_hex(16)
    write_private(home / "password", password + "\n")
    _set_initial(home, java, jars)
    return password


def _set_initial(home: Path, java: Path, jars: Distribution) -> None:
    """The admin tool reads the password from its file: a command line would show it to every user."""
    command = [str(java), "-cp", f"{jars.folder}/*", "org.neo4j.cli.AdminTool", "dbms", "set-initial-password"]
    environment = {**os.environ, **LOCALE, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    said = subprocess.run(  # noqa: S603
        [*command, f"@{home / 'password'}"], env=environment, capture_output=True, text=True, check=False
    )
    if said.returncode != 0:
        raise _refusals.died(home / "logs" / "neo4j.log", said.stderr)


# Start a server, or take over the process that another one of us has started, and wait until it answers.

_TRIES = 3  # a free port may be taken between our look and the server's
_PAUSE = 0.1
_LOG_LINES = 400


class _Launch(NamedTuple):
    """A process that ought to become a server."""

    pid: int
    ports: Ports
    password: str
    log_start: int = 0


def _log_path(home: Path) -> Path:
    """Where the server's output goes."""
    return home / "logs" / "console.log"


def start(settings: Settings, listen: Listener) -> Server:
    """A new server on the data of ``settings.home``; the caller holds the lock.

    Raises:
        EngineError: one of its leaves.

    """
    sizes = _settings.choose(settings)
    jars = distribution(settings, listen, _jars.load())
    program = _java.find(settings, _java.accepted(jars.version))
    secret = settle(settings.home, program, jars)
    command = _process.command(program, jars, settings.home, sizes)
    listen(Step(f"starting Neo4j {jars.version}"))
    for attempt in range(1, _TRIES + 1):
        chosen = _configure(settings, sizes, jars.version)
        try:
            return ready(_launch(command, settings.home, chosen, secret), settings, jars.version)
        except PortTaken:
            if attempt == _TRIES or _process.is_pinned(settings):
                raise
    raise AssertionError


def _configure(settings: Settings, sizes: _settings.Memory, version: str) -> Ports:
    chosen = _process.choose(settings, _configured(settings.home))
    write_private(_conf(settings.home), _process.text(chosen, sizes, version))
    return chosen


def _launch(command: list[str], home: Path, chosen: Ports, secret: str) -> _Launch:
    log = _log_path(home)
    log_start = begin(log)
    return _Launch(_process.launch(command, home, log), chosen, secret, log_start)


def _adopt(pid: int, settings: Settings, listen: Listener) -> Server:
    """The server that runs on ``settings.home`` although the state file does not say so.

    Raises:
        ServerUnresponsive: it does not begin to answer.
        PasswordLost: nobody knows its password any more.

    """
    listen(Step(f"waiting for Neo4j (process {pid})"))
    found, secret = _configured(settings.home), read(settings.home)
    if secret is None:
        raise _refusals.password_lost(settings.home)
    if found is None:
        raise _refusals.unresponsive(pid, 0, _log_path(settings.home))
    return ready(_Launch(pid, found, secret), settings, "")


def ready(launch: _Launch, settings: Settings, version: str) -> Server:
    """Wait until the launched server takes our password.

    Raises:
        EngineError: it died, was silent for too long, or refuses the password.

    """
    deadline = time.monotonic() + settings.start_seconds
    log = _log_path(settings.home)
    while not _logs_in(launch, settings.home):
        if not _process.is_server(launch.pid, settings.home):
            raise explained(tail(log, _LOG_LINES, launch.log_start), log)
        if time.monotonic() > deadline:
            raise _refusals.unresponsive(launch.pid, settings.start_seconds, log)
        time.sleep(_PAUSE)
    return _server(launch, settings.home, version or _process.version(launch.ports.http))


def _logs_in(launch: _Launch, home: Path) -> bool:
    answer = _process.login(launch.ports.http, USER, launch.password)
    if answer == 401:
        raise _refusals.password_refused(home)
    return answer == 200 and _process.speaks_bolt(launch.ports.bolt)


def _server(launch: _Launch, home: Path, version: str) -> Server:
    web = f"http://{HOST}:{launch.ports.http}"
    return Server(
        uri=f"bolt://{HOST}:{launch.ports.bolt}",
        http_uri=web,
        browser_uri=f"{web}/browser/",
        user=USER,
        password=launch.password,
        pid=launch.pid,
        home=home,
        version=version,
    )


def _conf(home: Path) -> Path:
    return home / "conf" / "neo4j.conf"


def _configured(home: Path) -> Ports | None:
    path = _conf(home)
    return _process.ports_in(path.read_text("utf-8")) if path.is_file() else None


# Ensure, look at, and stop the one server of a data home.

Home: TypeAlias = str | os.PathLike[str] | None

_LOCK_SECONDS = 1800  # the first start may fetch 143 MB over a slow line
_STOP_SECONDS = 90


def ensure(home: Home = None, *, progress: Progress = None) -> Server:
    """The running server of *home*, fetched and started if need be, shared with all processes of this machine.

    *progress* is called with each `Step`; True draws a bar on stderr.

    Raises:
        EngineError: a leaf that says what is missing, and the way out.

    """
    settings = _read_of__settings(home)
    server = answering(settings.home)
    if server is not None:
        return server
    try:
        with listening(progress) as listen:
            return _ensure_alone(settings, listen)
    except OSError as error:
        raise _refusals.home_unusable(settings.home, error) from error


def _ensure_alone(settings: Settings, listen: Listener) -> Server:
    """Whoever gets the lock first starts the server; the others find it running."""
    _prepare(settings.home)
    with exclusive(_lock(settings.home), _LOCK_SECONDS, lambda: listen(Step("waiting for another process"))):
        return answering(settings.home) or _bring_up(settings, listen)


def answering(home: Path) -> Server | None:
    """The server of the state file, if its process lives and speaks Bolt."""
    server = _data_home.load(home)
    if server is None or not _process.is_server(server.pid, home):
        return None
    return server if _process.speaks_bolt(server.bolt_port) else None


def _bring_up(settings: Settings, listen: Listener) -> Server:
    """Under the lock: use the process that is there, else start one."""
    pid = _process.find(settings.home)
    server = start(settings, listen) if pid is None else _adopt(pid, settings, listen)
    _data_home.save(server)
    return server


def _prepare(home: Path) -> None:
    if os.name != "posix":
        raise _refusals.unsupported_platform(os.name)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("conf", "logs"):
        (home / name).mkdir(exist_ok=True)


def _lock(home: Path) -> Path:
    return home / "server.lock"


def status(home: Home = None) -> Status:
    """What there is in *home* now; starts nothing and waits for nobody."""
    place = _read_of__settings(home).home
    server = answering(place)
    pid = server.pid if server else _process.find(place)
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
    place = _read_of__settings(home).home
    if not place.is_dir():
        return _ended(place)  # moved or deleted under a server that goes on, and would keep its data locked
    try:
        return _stop_alone(place)
    except OSError as error:
        raise _refusals.home_unusable(place, error) from error


def _stop_alone(place: Path) -> bool:
    with exclusive(_lock(place), _STOP_SECONDS):
        ended = _ended(place)
        _data_home.clear(place)
    return ended


def _ended(place: Path) -> bool:
    """Whether there was a server of *place*, which is gone now."""
    pid = _process.find(place)
    if pid is not None and not _process.terminate(pid, place, _STOP_SECONDS):
        raise _refusals.will_not_stop(pid, _STOP_SECONDS)
    return pid is not None


def logs(home: Home = None, lines: int = 50) -> str:
    """The last *lines* of what the server said, over all its starts."""
    return tail(_log_path(_read_of__settings(home).home), lines)
