"""The server process: its log, ports, health checks and configuration, and how to launch, find and terminate it."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from base64 import b64encode
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hmxgraph.engine import _refusals
from hmxgraph.engine._jars import Distribution
from hmxgraph.engine._java import LOCALE
from hmxgraph.engine._settings import Memory, Settings

if TYPE_CHECKING:
    import psutil

# The server's log.

# Maximum number of bytes that `tail` reads, and the size from which `rotate` rotates.
_MOST_TAIL_BYTES = 1 << 20
_ROTATION_BYTES = 4 << 20


def tail(log: Path, lines: int, since: int = 0) -> str:
    """The last *lines* of *log*, of those after the byte *since* and in the last 1 MiB; empty if there is no log."""
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(since, log.stat().st_size - _MOST_TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-lines:]) if lines > 0 else ""


def rotate(log: Path) -> int:
    """Rotate *log* if it has 4 MiB (one older file is kept); returns the byte at which new output will start."""
    size = log.stat().st_size if log.is_file() else 0
    if size < _ROTATION_BYTES:
        return size
    log.replace(log.with_suffix(".1.log"))
    return 0


# The two ports: the configured ones, else those of the last start, else free ones.

HOST = "127.0.0.1"


class Ports(NamedTuple):
    """The ports on which the server listens."""

    bolt: int
    http: int


def choose(settings: Settings, last: Ports | None) -> Ports:
    """The configured ports, else those of the last start, else any free ones; all are checked to be free.

    Raises:
        PortTaken: a configured port is in use, or both are the same.

    """
    pinned_bolt = _checked_port(settings.bolt_port, "HMXGRAPH_BOLT_PORT")
    pinned_http = _checked_port(settings.http_port, "HMXGRAPH_HTTP_PORT")
    if pinned_bolt and pinned_bolt == pinned_http:
        raise _refusals.one_port_for_two(pinned_bolt)
    bolt = pinned_bolt or _reusable(last and last.bolt, pinned_http)
    http = pinned_http or _reusable(last and last.http, bolt)
    fresh = _fresh(2)
    return Ports(bolt or fresh[0], http or fresh[1])


def is_pinned(settings: Settings) -> bool:
    """Whether both ports are configured, so that others must not be tried."""
    return settings.bolt_port is not None and settings.http_port is not None


def is_free(port: int) -> bool:
    """Whether no program listens on *port*, and this process may bind it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # like Java, ignore closed connections
        return probe.connect_ex((HOST, port)) != 0 and _can_bind(port)


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _checked_port(port: int | None, variable: str) -> int | None:
    """The *port* set by the environment *variable*, checked to be free; None if the variable is not set."""
    if port is not None and not is_free(port):
        raise _refusals.port_taken(port, variable)
    return port


def _reusable(port: int | None, other: int | None) -> int | None:
    """The port of the last start, unless it is taken or equals the *other* port."""
    return port if port is not None and port != other and is_free(port) else None


def _fresh(count: int) -> list[int]:
    """Ports assigned by the operating system; they are distinct because all are held at the same time."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


# Health checks, on the loopback interface and without a proxy.

# The bytes that begin a Bolt connection, then four proposed versions: 5.4, 4.4, none, none.
_BOLT_HELLO = bytes.fromhex("6060b017") + bytes.fromhex("00000405") + bytes.fromhex("00000404") + bytes(8)
# Timeouts in seconds: for a Bolt answer, for an HTTP answer, and for a connection alone.
_BOLT_SECONDS = 2
_HTTP_SECONDS = 10
_CONNECT_SECONDS = 0.5


def speaks_bolt(port: int) -> bool:
    """Whether a Bolt server agrees on a protocol version (Bolt handshake, version 4.4 or 5.4)."""
    try:
        with socket.create_connection((HOST, port), _BOLT_SECONDS) as connection:
            connection.sendall(_BOLT_HELLO)
            answer = connection.recv(4)
    except OSError:
        return False
    return len(answer) == 4 and any(answer)


def takes_connections(port: int) -> bool:
    """Whether a connection to *port* is accepted or times out, as with a busy or frozen process, but is not refused."""
    try:
        socket.create_connection((HOST, port), _CONNECT_SECONDS).close()
    except TimeoutError:
        return True
    except OSError:
        return False
    return True


def login(port: int, user: str, password: str) -> int | None:
    """The HTTP status of an empty transaction: 200 if the database is ready, 401 if it refuses the password.

    None if the server does not answer.
    """
    token = b64encode(f"{user}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
    status, _ = _ask(port, "POST", "/db/neo4j/tx/commit", '{"statements":[]}', headers)
    return status


def version(port: int) -> str:
    """The version that the server reports; empty if it reports none."""
    status, body = _ask(port, "GET", "/", None, {"Accept": "application/json"})
    try:
        return str(json.loads(body)["neo4j_version"]) if status == 200 else ""
    except (ValueError, LookupError, TypeError):
        return ""


def _ask(port: int, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int | None, bytes]:
    connection = HTTPConnection(HOST, port, timeout=_HTTP_SECONDS)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return None, b""
    finally:
        connection.close()


# Configuration file and command line.

# Packages of the JDK that Neo4j accesses by reflection.
_OPENED_PACKAGES = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_FLAGS = (
    "-XX:+ExitOnOutOfMemoryError",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
    "--enable-native-access=ALL-UNNAMED",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED_PACKAGES),
)
USUAL_COLLECTOR = ("-XX:+UseG1GC",)
# For recovery: the serial collector keeps the old generation contiguous, so that one array can almost fill it.
COMPACTING_COLLECTOR = ("-XX:+UseSerialGC", "-XX:MaxNewSize=128m")
# Settings that exist only in 5.x, and settings of later releases. The default quiet period delays every stop by 10 s.
# With the older parser (ANTLR disabled), the first pack after a start takes 9.8 s instead of 13.0 s.
_ONLY_5 = {
    "internal.cypher.parser.antlr_enabled": "false",
    "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
}
_SINCE_2025 = {
    "server.config.strict_validation.enabled": "false",  # not every release has all of the following settings
    "dbms.fleet_manager.enabled": "false",
    "server.fleet_discovery.enabled": "false",
    "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
}


def conf_text(ports: Ports, memory: Memory, version: str, *, salvage: bool = False) -> str:
    """The text of neo4j.conf: local access only, no telemetry, no file import, fast shutdown.

    With *salvage*, Neo4j cuts off the unreadable end of a transaction log instead of refusing to open the database.
    """
    lines = {
        "server.default_listen_address": HOST,
        "server.default_advertised_address": HOST,
        "server.bolt.listen_address": f":{ports.bolt}",
        "server.bolt.advertised_address": f":{ports.bolt}",
        "server.http.listen_address": f":{ports.http}",
        "server.http.advertised_address": f":{ports.http}",
        "server.https.enabled": "false",
        "server.memory.heap.initial_size": f"{min(memory.heap, 256)}m",
        "server.memory.heap.max_size": f"{memory.heap}m",
        "server.memory.pagecache.size": f"{memory.pagecache}m",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",  # for Neo4j Browser
        "browser.post_connect_cmd": f"{style_command()}; clear",  # `clear` hides the output of the first command
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "db.logs.query.enabled": "OFF",
        "db.tx_log.rotation.retention_policy": "256M size",
        # By default, Neo4j replaces plans older than 10 s once the database has grown, and planning takes seconds: in
        # the first minute of a new store, 12 turns of remember, append and pack took 51 s, and 14 s without replanning.
        # A longer interval would be worse: plans made for an empty store are about twice as slow in a full one.
        "dbms.cypher.min_replan_interval": "2m",
        **(_ONLY_5 if version.startswith("5.") else _SINCE_2025),
        **({"internal.dbms.tx_log.fail_on_corrupted_log_files": "false"} if salvage else {}),
    }
    head = "# Written by hmxgraph at every start; changes are overwritten.\n"
    return head + "".join(f"{name}={value}\n" for name, value in lines.items())


def style_command() -> str:
    """The Neo4j Browser command that loads the style, on one line, without its leading colon and without semicolons.

    >>> style_command()[:26]
    'style {"node":{"diameter":'

    """
    return "style " + json.dumps(browser_style(), separators=(",", ":"))


@cache
def browser_style() -> dict[str, dict[str, str]]:
    """Colours and captions for Neo4j Browser: defaults for all nodes and relationships, then by label and type."""
    styles: dict[str, dict[str, str]] = json.loads(
        Path(__file__).with_name("browser_style.json").read_text(encoding="utf-8")
    )
    return styles


def ports_in(conf: str) -> Ports | None:
    """The ports in a neo4j.conf; None unless it sets both.

    >>> ports_in(conf_text(Ports(7687, 7474), Memory(512, 128), "5.26.31"))
    Ports(bolt=7687, http=7474)

    """
    matches = [re.search(rf"^server\.{name}\.listen_address=:(\d+)$", conf, re.MULTILINE) for name in ("bolt", "http")]
    bolt, http = (int(match[1]) if match else None for match in matches)
    return None if bolt is None or http is None else Ports(bolt, http)


def command(
    java: Path, jars: Distribution, home: Path, memory: Memory, options: tuple[str, ...] = USUAL_COLLECTOR
) -> list[str]:
    """The command line of the server, with *options* for Java; its ``--home-dir`` also identifies the process."""
    sizes = (f"-Xms{min(memory.heap, 256)}m", f"-Xmx{memory.heap}m")
    arguments = (home_argument(home), f"--config-dir={home / 'conf'}", "--console-mode")
    return [str(java), *options, *_FLAGS, *sizes, "-cp", jars.class_path, jars.main_class, *arguments]


def home_argument(home: Path) -> str:
    """The argument that identifies the server of a data home."""
    return f"--home-dir={home}"


# The operating system process: launch it detached, find it, terminate it.

# The umask keeps the server's files private. The shell prints the process id and exits at once, so that the server is
# not our child: it outlives us and leaves no zombie.
_DETACHED = 'umask 077; exec 3>&1 >>"$1" 2>&1; shift; "$@" 3>&- & echo $! >&3'

# Seconds between two checks whether the server has exited.
_PAUSE = 0.1
# A process that has just started may have an empty command line: number of attempts to read it, and seconds between.
_ATTEMPTS = 10
_ATTEMPT_PAUSE = 0.01


def launch(command: list[str], home: Path, log: Path) -> int:
    """Start *command*, detached from this process, with output appended to *log*; returns the process id.

    Raises:
        OSError: the shell could not start it.

    """
    shell = ["/bin/sh", "-c", _DETACHED, "sh", str(log), *command]
    result = subprocess.run(  # noqa: S603
        shell,
        cwd=home,
        env={**os.environ, **LOCALE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    if not result.stdout:
        raise OSError(result.stderr.strip())
    return int(result.stdout)


def is_server(pid: int, home: Path) -> bool:
    """Whether *pid* is currently the server of *home*; checks its command line, because process ids are reused."""
    import psutil  # noqa: PLC0415 - only needed for a local server

    try:
        return _serves(_command(psutil.Process(pid)), home)
    except psutil.Error:
        return False


def _command(running: "psutil.Process") -> list[str]:
    """The command line of a process; it is briefly empty while the process starts, so reading is retried."""
    for _ in range(_ATTEMPTS):
        command = running.cmdline()
        if command:
            return command
        time.sleep(_ATTEMPT_PAUSE)
    return []


def _serves(command: list[str] | None, home: Path) -> bool:
    return command is not None and "--console-mode" in command and home_argument(home) in command


def find(home: Path) -> int | None:
    """The process id of the server of *home*, searched for among all processes; None if it does not run."""
    import psutil  # noqa: PLC0415 - only needed for a local server

    return next((p.pid for p in psutil.process_iter(["cmdline"]) if _serves(p.info["cmdline"], home)), None)


def terminate(pid: int, home: Path, seconds: float) -> bool:
    """Send SIGTERM to the server of *home* and wait up to *seconds*; returns whether it has exited."""
    deadline = time.monotonic() + seconds
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    while is_server(pid, home):
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
