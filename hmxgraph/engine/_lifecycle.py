"""Start, inspect and stop the server of a data home."""

import os
import re
import secrets
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hmxgraph.engine import _class_archive, _data_home, _jars, _java, _process, _refusals, _settings, _swap
from hmxgraph.engine._data_home import exclusive, write_private
from hmxgraph.engine._jars import Distribution, distribution
from hmxgraph.engine._java import LOCALE
from hmxgraph.engine._process import HOST, Ports, rotate, tail
from hmxgraph.engine._settings import Settings
from hmxgraph.engine._settings import read as read_settings
from hmxgraph.engine.server import Listener, Progress, Server, Status, Step, listening
from hmxgraph.errors import EngineError, JarDamaged, JavaMissing, NotEnoughMemory, PortTaken

# Turn the log of a server that exited while starting into an error that names the cause and what to do.


class HeapFull(NotEnoughMemory):
    """The server needed more heap while it was starting."""


class _Cause(NamedTuple):
    """A regular expression for log lines that reveal a cause (case is ignored), and the error to raise for it."""

    pattern: str
    kind: type[EngineError]
    way_out: str


# Known causes. If a log shows several, the first one in this list is reported.
_CAUSES = (
    _Cause(
        # On a full disk, Neo4j also tries to make its system database read-only, and logs the second alternative.
        r"no space left on device|for 'server\.databases\.read_only'",
        EngineError,
        "free 300 MB on the disk of the data home and run the same command again, or set HMXGRAPH_HOME to another disk",
    ),
    _Cause(
        r"already in use",
        PortTaken,
        "unset HMXGRAPH_BOLT_PORT and HMXGRAPH_HTTP_PORT and run the same command again: it then chooses free ports",
    ),
    _Cause(
        r"java heap space",
        HeapFull,
        "raise HMXGRAPH_HEAP (at least 256m; 9g to recover from a full disk), or unset it",
    ),
    _Cause(
        r"could not reserve enough space|invalid (initial|maximum) heap|outofmemory|physical memory|insufficient mem",
        NotEnoughMemory,
        "lower HMXGRAPH_HEAP and HMXGRAPH_PAGECACHE, or free memory",
    ),
    _Cause(
        r"locked by another process",
        EngineError,
        "another Neo4j is using this data (in a container, or under another path): stop it",
    ),
    _Cause(r"UnsupportedClassVersionError", JavaMissing, "set HMXGRAPH_JAVA to a newer Java, or unset it"),
    _Cause(
        r"ClassNotFoundException|NoClassDefFoundError|ZipException|could not find or load main class",
        JarDamaged,
        "run the same command again; if HMXGRAPH_JARS is set, copy its jars again",
    ),
)
# Number of log lines quoted by an error whose cause is unknown.
_QUOTED_LINES = 15
# Number of lines at the end of console.log and of the more verbose debug.log that are searched for a cause.
_LOG_LINES = 400
_DEBUG_LINES = 4000
# Matches "Failed to start DatabaseId{60d71926[neo4j]}".
_FAILED_TO_OPEN = r"Failed to start DatabaseId\{\w+\[neo4j\]\}"


def startup_error(log_text: str, log: Path) -> EngineError:
    """The error for a server that exited while starting; it quotes the line of *log_text* with a known cause.

    If there is no such line, it quotes the last lines.

    >>> print(startup_error("Caused by: java.net.BindException: Address already in use", Path("console.log")).reason)
    the local server exited while starting: Address already in use

    """
    return _known_cause(log_text) or _refusals.died(log, _without_trace(log_text))


def _known_cause(log_text: str) -> EngineError | None:
    """The error for the first of `_CAUSES` that occurs in *log_text*; it quotes the last line that matches."""
    for cause in _CAUSES:
        matches = [line for line in log_text.splitlines() if re.search(cause.pattern, line, re.IGNORECASE)]
        if matches:
            return cause.kind(f"the local server exited while starting: {_message(matches[-1])}", cause.way_out)
    return None


def not_opened(log_text: str, log: Path) -> EngineError | None:
    """The error for a server that started although its database failed to open, as *log_text* (from *log*) shows.

    None if *log_text* does not report such a failure.

    >>> not_opened("INFO  [o.n.k.d.Database] [neo4j/60d71926] Started.", Path("debug.log")) is None
    True

    """
    if not re.search(_FAILED_TO_OPEN, log_text):
        return None
    if "fail_on_corrupted_log_files" in log_text:
        return _refusals.torn_log(log)
    causes = re.findall(r"^\s*Caused by: .+", log_text, re.MULTILINE) or ["Neo4j does not say why"]
    return _known_cause("\n".join(causes)) or _refusals.not_opened(log, _message(causes[-1]))


def _message(line: str) -> str:
    """The message in a Java log line: without time and level, or without "Caused by" and the class of the exception.

    >>> _message("Caused by: java.net.BindException: Address already in use")
    'Address already in use'

    """
    return re.sub(r"^(Caused by: [\w.$]+: |[\d :.+-]+ [A-Z]+ +)", "", line.strip())


def _without_trace(log_text: str) -> str:
    """The last lines of *log_text* without Java stack frames."""
    lines = [line for line in log_text.splitlines() if not re.match(r"\s+at |\s+\.\.\. \d+ more", line)]
    return "\n".join(lines[-_QUOTED_LINES:])


# The password of the local server: generated at the first start, kept in a private file of the data home.

USER = "neo4j"


def stored_password(home: Path) -> str | None:
    """The stored password; None if the file is missing or truncated."""
    path = home / "password"
    text = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    return text if re.fullmatch(r"\S{8,}", text) else None


def ensure_password(home: Path, java: Path, jars: Distribution) -> str:
    """The login password; before the first start, it is generated unless it is stored, and set in the database.

    Raises:
        PasswordLost: there is a database, but not its password.
        ServerDied: Neo4j's tool could not set the password.

    """
    stored = stored_password(home)
    if (home / "data" / "databases" / "system").exists():
        if stored is None:
            raise _refusals.password_lost(home)
        return stored
    password = stored or secrets.token_hex(16)
    write_private(home / "password", password + "\n")
    _set_initial(home, java, jars)
    return password


def _set_initial(home: Path, java: Path, jars: Distribution) -> None:
    """Set the initial password; the tool reads it from a file, because all users can see its command line."""
    command = [str(java), "-cp", f"{jars.folder}/*", "org.neo4j.cli.AdminTool", "dbms", "set-initial-password"]
    environment = {**os.environ, **LOCALE, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    result = subprocess.run(  # noqa: S603
        [*command, f"@{home / 'password'}"], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise _refusals.died(home / "logs" / "neo4j.log", result.stderr)


# Start a server, or adopt a process that is already running on the data home, and wait until it answers.

_TRIES = 3  # another program may take a free port before the server binds it
_PAUSE_SECONDS = 0.1  # between two checks whether the server answers
# Heap in MiB for recovery after a full disk cut a write short. The transaction log then ends with part of a record.
# Neo4j may misread it as a length of up to 2 GiB (allocated twice) or as a count of up to 2^31 records (a list of
# 8 GiB). Only after this allocation does it notice that the log ends there, and truncate it.
_RECOVERY_HEAP = 9216


class _Launch(NamedTuple):
    """A server process that was just launched, or an adopted one: it was running already.

    ``log_start`` and ``debug_start`` are the sizes of console.log and debug.log before the launch; an adopted process
    has no ``debug_start``.
    """

    pid: int
    ports: Ports
    password: str
    log_start: int = 0
    debug_start: int | None = None


def _log_path(home: Path) -> Path:
    """The file that receives the server's standard output and errors."""
    return home / "logs" / "console.log"


def _debug_log(home: Path) -> Path:
    """The server's own log, the only one that says why a database does not open."""
    return home / "logs" / "debug.log"


def start(settings: Settings, listen: Listener) -> Server:
    """Start a server on the data of ``settings.home``; the caller holds the lock.

    Raises:
        EngineError: the server did not start; the subclass usually names the cause.

    """
    sizes = _settings.choose(settings)
    jars = distribution(settings, listen, _jars.load())
    program = _java.find(settings, _java.accepted(jars.version))
    password = ensure_password(settings.home, program, jars)
    listen(Step(f"starting Neo4j {jars.version}"))
    archive = _class_archive.flags(settings.cache, program, jars, settings.home)
    usual_command = _process.command(program, jars, settings.home, sizes, (*_process.USUAL_COLLECTOR, *archive))
    try:
        return _start_process(settings, sizes, usual_command, password, jars.version)
    except HeapFull:
        larger = sizes._replace(heap=min(_RECOVERY_HEAP, _settings.largest_heap(sizes.pagecache)))
        if larger.heap <= sizes.heap:
            raise
    listen(Step(f"recovering with a heap of {larger.heap} MB"))
    recovery_command = _process.command(program, jars, settings.home, larger, _process.COMPACTING_COLLECTOR)
    _start_process(settings, larger, recovery_command, password, jars.version)
    _terminate(settings.home)
    return _start_process(settings, sizes, usual_command, password, jars.version)


def _start_process(
    settings: Settings, sizes: _settings.Memory, command: list[str], password: str, version: str
) -> Server:
    """Start a server with *command*; if another program takes a chosen port first, try again with other ports."""
    for attempt in range(1, _TRIES + 1):
        chosen = _configure(settings, sizes, version)
        try:
            return ready(_launch(command, settings.home, chosen, password), settings, version)
        except PortTaken:
            if attempt == _TRIES or _process.is_pinned(settings):
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _configure(settings: Settings, sizes: _settings.Memory, version: str) -> Ports:
    chosen = _process.choose(settings, _ports_of_last_start(settings.home))
    write_private(_conf_path(settings.home), _process.conf_text(chosen, sizes, version, salvage=settings.salvage))
    return chosen


def _launch(command: list[str], home: Path, chosen: Ports, password: str) -> _Launch:
    log = _log_path(home)
    log_start = rotate(log)
    debug = _debug_log(home)
    debug_start = debug.stat().st_size if debug.is_file() else 0
    return _Launch(_process.launch(command, home, log), chosen, password, log_start, debug_start)


def _adopt(pid: int, settings: Settings, listen: Listener) -> Server:
    """The server whose process *pid* is already running on ``settings.home``, once it answers.

    Raises:
        ServerUnresponsive: it does not answer, or neo4j.conf does not name its ports.
        PasswordLost: the data home does not contain its password, or it refuses that password.
        EngineError: it exits while this process waits for it.

    """
    listen(Step(f"waiting for Neo4j (process {pid})"))
    ports, password = _ports_of_last_start(settings.home), stored_password(settings.home)
    if password is None:
        raise _refusals.password_lost(settings.home)
    if ports is None:
        raise _refusals.unresponsive(pid, 0, _log_path(settings.home))
    return ready(_Launch(pid, ports, password), settings, "")


def ready(launch: _Launch, settings: Settings, version: str) -> Server:
    """The launched server, once it accepts the password and speaks Bolt.

    Raises:
        EngineError: it exited, could not open its database, did not answer in time, or refused the password.

    """
    deadline = time.monotonic() + settings.start_seconds
    log = _log_path(settings.home)
    while not _logs_in(launch, settings.home):
        if not _process.is_server(launch.pid, settings.home):
            raise startup_error(tail(log, _LOG_LINES, launch.log_start), log)
        if time.monotonic() > deadline:
            raise _refusals.unresponsive(launch.pid, settings.start_seconds, log)
        time.sleep(_PAUSE_SECONDS)
    return _server_of(launch, settings.home, version or _process.version(launch.ports.http))


def _check_database(launch: _Launch, home: Path) -> None:
    """Stop a server that started without its database, because it would never answer.

    Adopted servers are not checked: which part of debug.log belongs to them is unknown.

    Raises:
        EngineError: the database did not open; `StoreDamaged` unless the log shows a more specific cause.

    """
    log = _debug_log(home)
    since = launch.debug_start
    if since is None or not log.is_file():
        return
    # A smaller file means that Neo4j has rotated the log: read the new one from its beginning.
    text = tail(log, _DEBUG_LINES, since if log.stat().st_size >= since else 0)
    error = not_opened(text, log)
    if error is not None:
        _process.terminate(launch.pid, home, _STOP_SECONDS)
        raise error


def _logs_in(launch: _Launch, home: Path) -> bool:
    """Whether the server accepts the password and speaks Bolt.

    Raises:
        EngineError: it refuses the password, or started without its database.

    """
    answer = _process.login(launch.ports.http, USER, launch.password)
    if answer == 401:
        raise _refusals.password_refused(home)
    if answer not in {None, 200}:
        _check_database(launch, home)
    return answer == 200 and _process.speaks_bolt(launch.ports.bolt)


def _server_of(launch: _Launch, home: Path, version: str) -> Server:
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


def _conf_path(home: Path) -> Path:
    return home / "conf" / "neo4j.conf"


def _ports_of_last_start(home: Path) -> Ports | None:
    """The ports of the last start, from neo4j.conf; None if it does not name both."""
    path = _conf_path(home)
    return _process.ports_in(path.read_text("utf-8")) if path.is_file() else None


# The engine's public functions.

Home: TypeAlias = str | os.PathLike[str] | None

# How long to wait for the lock of the data home, and for a server to stop. A first start holds the lock while it
# downloads 143 MB, perhaps over a slow network.
_LOCK_SECONDS = 1800
_STOP_SECONDS = 90
_RESTORE_UNDONE = "a restore was interrupted, and the complete former database is back: run the restore again"


def ensure(home: Home = None, *, progress: Progress = None) -> Server:
    """The server of *home*, downloaded and started if necessary; all processes of this machine share it.

    *progress* is called with each `Step`; True draws a bar on stderr.

    Raises:
        EngineError: there is no server; the error states the way out, and its subclass usually names the cause.

    """
    settings = read_settings(home)
    server = _answering_server(settings.home)
    if server is not None:
        return server
    try:
        with listening(progress) as listen:
            return _ensure_locked(settings, listen)
    except OSError as error:
        raise _refusals.home_unusable(settings.home, error) from error


def _ensure_locked(settings: Settings, listen: Listener) -> Server:
    """Start the server while holding the lock, unless another process has started it in the meantime."""
    _prepare(settings.home)
    with exclusive(_lock(settings.home), _LOCK_SECONDS, lambda: listen(Step("waiting for another process"))):
        return _answering_server(settings.home) or _bring_up(settings, listen)


def _answering_server(home: Path) -> Server | None:
    """The server in the state file, if its process is running and speaks Bolt."""
    server = _data_home.load(home)
    if server is None or not _process.is_server(server.pid, home):
        return None
    return server if _process.speaks_bolt(server.bolt_port) else None


def reachable(home: Home = None) -> Server | None:
    """The server in the state file, if its process runs and accepts connections; it may be too busy to answer.

    Unlike `ensure`, this starts no server and does not wait for an answer to a query.
    """
    folder = read_settings(home).home
    server = _data_home.load(folder)
    if server is None or not _process.is_server(server.pid, folder):
        return None
    return server if _process.takes_connections(server.bolt_port) else None


def died(home: Home = None) -> bool:
    """Whether the server of *home* crashed or was killed, so that it ended without `stop`."""
    folder = read_settings(home).home
    server = _data_home.load(folder)
    return server is not None and not _process.is_server(server.pid, folder)


def runs(home: Home = None) -> bool:
    """Whether a server process is running on *home*; it is not contacted, so a frozen server causes no delay."""
    return _process.find(read_settings(home).home) is not None


def _bring_up(settings: Settings, listen: Listener) -> Server:
    """Adopt the running process, or start one; the caller holds the lock.

    A restore that was killed is completed if its server is already running with the new database; otherwise it is
    undone.
    """
    data = settings.home / "data"
    pid = _process.find(settings.home)
    if pid is None:
        _undo_restore(data)
    server = start(settings, listen) if pid is None else _adopt(pid, settings, listen)
    _swap.confirm(data)
    _data_home.save(server)
    return server


def _undo_restore(data: Path) -> None:
    """Bring the former database back if a restore was killed; the caller holds the lock, and no server runs."""
    if _swap.undo(data):
        warnings.warn(_RESTORE_UNDONE, RuntimeWarning, stacklevel=2)


def replace_database(settings: Settings, new: Path, listen: Listener) -> None:
    """Restart the server with the database in *new*; if it does not start, bring the former database back.

    Raises:
        EngineError: the server does not start with the new database.

    """
    data = settings.home / "data"
    with stopped(settings.home):
        _swap.replace(data, new)
        try:
            server = start(settings, listen)
        except EngineError:
            _terminate(settings.home)
            _swap.undo(data)
            raise
        _swap.confirm(data)
        _data_home.save(server)


def _prepare(home: Path) -> None:
    if os.name != "posix":
        raise _refusals.unsupported_platform(os.name)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.chmod(0o700)  # also where the folder existed before
    for name in ("conf", "logs"):
        (home / name).mkdir(exist_ok=True)


def _lock(home: Path) -> Path:
    return home / "server.lock"


def status(home: Home = None) -> Status:
    """The current state of *home*; does not start the server or wait for it."""
    import psutil  # noqa: PLC0415 - only needed for a local server

    folder = read_settings(home).home
    server = _answering_server(folder)
    pid = server.pid if server else _process.find(folder)
    if pid is None:
        return Status("stopped", folder)
    try:
        process = psutil.Process(pid)
        resident_bytes, age = process.memory_info().rss, int(time.time() - process.create_time())
    except psutil.NoSuchProcess:
        return Status("stopped", folder)
    return Status("running" if server else "unresponsive", folder, server, pid, resident_bytes, age)


def stop(home: Home = None) -> bool:
    """Stop the server of *home* and wait until it has exited; returns whether one was running.

    Raises:
        ServerUnresponsive: it did not exit in time.
        EngineError: the data home cannot be used, or another process holds its lock.

    """
    folder = read_settings(home).home
    if not folder.is_dir():
        return _terminate(folder)  # the folder was moved or deleted while the server was running
    try:
        with stopped(folder) as was_running:
            return was_running
    except OSError as error:
        raise _refusals.home_unusable(folder, error) from error


@contextmanager
def stopped(home: Home = None) -> Iterator[bool]:
    """Stop the server of *home*, and let no process start it during the block; yields whether one was running.

    If a restore was killed, it is undone before the block.
    """
    folder = read_settings(home).home
    with exclusive(_lock(folder), _STOP_SECONDS):
        was_running = _terminate(folder)
        _data_home.clear(folder)
        _undo_restore(folder / "data")
        yield was_running


def _terminate(folder: Path) -> bool:
    """Terminate the server of *folder*; returns whether one was running."""
    pid = _process.find(folder)
    if pid is not None and not _process.terminate(pid, folder, _STOP_SECONDS):
        raise _refusals.will_not_stop(pid, _STOP_SECONDS)
    if pid is not None:
        _class_archive.keep(read_settings(folder).cache, folder)
    return pid is not None


def logs(home: Home = None, lines: int = 50) -> str:
    """The last *lines* of the server's output, across restarts, up to 1 MiB."""
    return tail(_log_path(read_settings(home).home), lines)
