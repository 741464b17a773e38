"""The server's process: its configuration, its ports, its log, and whether it answers."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from base64 import b64encode
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

import psutil

from hmxgraph.engine import _refusals
from hmxgraph.engine._jars import Distribution
from hmxgraph.engine._java import LOCALE
from hmxgraph.engine._settings import Memory, Settings

# The server's own words: the end of its log, and only what it said since it was started.

_WINDOW = 1 << 20
_KEPT = 4 << 20


def tail(log: Path, lines: int, since: int = 0) -> str:
    """The last *lines* of *log* behind the byte *since*; empty where there is no log."""
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(since, log.stat().st_size - _WINDOW))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-lines:]) if lines > 0 else ""


def begin(log: Path) -> int:
    """Make room in *log* for a new start (one older file is kept); the byte at which it will begin."""
    size = log.stat().st_size if log.is_file() else 0
    if size < _KEPT:
        return size
    log.replace(log.with_suffix(".1.log"))
    return 0


# The two ports of the local server: those asked for, else those of the last start, else free ones.

HOST = "127.0.0.1"


class Ports(NamedTuple):
    """Where the server listens."""

    bolt: int
    http: int


def choose(settings: Settings, last: Ports | None) -> Ports:
    """Ports that are free at this moment.

    Raises:
        PortTaken: one that the user asked for is in use, or is asked for twice.

    """
    wanted_bolt = _pinned(settings.bolt_port, "HMXGRAPH_BOLT_PORT")
    wanted_http = _pinned(settings.http_port, "HMXGRAPH_HTTP_PORT")
    if wanted_bolt and wanted_bolt == wanted_http:
        raise _refusals.one_port_for_two(wanted_bolt)
    bolt = wanted_bolt or _again(last and last.bolt, wanted_http)
    http = wanted_http or _again(last and last.http, bolt)
    fresh = _fresh(2)
    return Ports(bolt or fresh[0], http or fresh[1])


def is_pinned(settings: Settings) -> bool:
    """Whether the user asked for both ports, so that no others may be tried."""
    return settings.bolt_port is not None and settings.http_port is not None


def is_free(port: int) -> bool:
    """Whether nobody listens on *port*."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: closed connections do not count
        return probe.connect_ex((HOST, port)) != 0 and _binds(port)


def _binds(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _pinned(port: int | None, variable: str) -> int | None:
    if port is not None and not is_free(port):
        raise _refusals.port_taken(port, variable)
    return port


def _again(port: int | None, other: int | None) -> int | None:
    """The port of the last start, unless it is taken, or is now the *other* one."""
    return port if port is not None and port != other and is_free(port) else None


def _fresh(count: int) -> list[int]:
    """Ports given by the system, distinct because they are held together."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


# Real questions to a running server, on the loopback interface and past any proxy.

_BOLT_HELLO = bytes.fromhex("6060b017") + bytes.fromhex("00000405") + bytes.fromhex("00000404") + bytes(8)
_SECONDS = 2


def speaks_bolt(port: int) -> bool:
    """Whether a Bolt server agrees on a protocol version (Bolt handshake, version 4.4 or 5.4)."""
    try:
        with socket.create_connection((HOST, port), _SECONDS) as connection:
            connection.sendall(_BOLT_HELLO)
            answer = connection.recv(4)
    except OSError:
        return False
    return len(answer) == 4 and any(answer)


def login(port: int, user: str, password: str) -> int | None:
    """The HTTP status of an empty, authenticated transaction: 200 ready, 401 refused; None where nobody answers."""
    token = b64encode(f"{user}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
    status, _ = _ask(port, "POST", "/db/neo4j/tx/commit", '{"statements":[]}', headers)
    return status


def version(port: int) -> str:
    """The version that the server states, empty where it states none."""
    status, body = _ask(port, "GET", "/", None, {"Accept": "application/json"})
    return str(json.loads(body)["neo4j_version"]) if status == 200 else ""


def _ask(port: int, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int | None, bytes]:
    connection = HTTPConnection(HOST, port, timeout=_SECONDS * 5)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return None, b""
    finally:
        connection.close()


# neo4j.conf and the command line of the server.

_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_FLAGS = (
    "-XX:+UseG1GC",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
    "--enable-native-access=ALL-UNNAMED",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
)
# What each line of releases needs beside the rest. The quiet period makes every stop 10 s longer, for nothing.
_ONLY_5 = {"internal.dbms.bolt.netty_server_shutdown_quiet_period": "0"}
_SINCE_2025 = {
    "server.config.strict_validation.enabled": "false",  # not every release knows all of the following
    "dbms.fleet_manager.enabled": "false",
    "server.fleet_discovery.enabled": "false",
    "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
}


def text(ports: Ports, memory: Memory, version: str) -> str:
    """The whole neo4j.conf: this machine only, no reports to anybody, no file import, quick to stop."""
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
        "client.allow_telemetry": "false",  # Browser reports to its makers unless told not to
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "db.logs.query.enabled": "OFF",
        "db.tx_log.rotation.retention_policy": "256M size",
        **(_ONLY_5 if version.startswith("5.") else _SINCE_2025),
    }
    head = "# Written by hmxgraph at every start; changes made here are lost.\n"
    return head + "".join(f"{name}={value}\n" for name, value in lines.items())


def ports_in(conf: str) -> Ports | None:
    """The ports that a neo4j.conf names, None where it names none.

    >>> ports_in(text(Ports(7687, 7474), Memory(512, 128), "5.26.31"))
    Ports(bolt=7687, http=7474)

    """
    found = [re.search(rf"^server\.{name}\.listen_address=:(\d+)$", conf, re.MULTILINE) for name in ("bolt", "http")]
    bolt, http = (int(match[1]) if match else None for match in found)
    return None if bolt is None or http is None else Ports(bolt, http)


def command(java: Path, jars: Distribution, home: Path, memory: Memory) -> list[str]:
    """The server's command line; ``--home-dir`` is also how its process is recognised."""
    sizes = (f"-Xms{min(memory.heap, 256)}m", f"-Xmx{memory.heap}m")
    place = (home_argument(home), f"--config-dir={home / 'conf'}", "--console-mode")
    return [str(java), *_FLAGS, *sizes, "-cp", f"{jars.folder}/*", jars.main_class, *place]


def home_argument(home: Path) -> str:
    """The argument that tells the server of one data home from all others."""
    return f"--home-dir={home}"


# The server's operating system process: launch it apart from ours, find it, end it.

# The shell steps aside at once, so the server belongs to nobody here: it outlives us, and leaves us no zombie.
_APART = 'exec 3>&1 >>"$1" 2>&1; shift; "$@" 3>&- & echo $! >&3'

_PAUSE = 0.1
_LOOKS = 10


def launch(command: list[str], home: Path, log: Path) -> int:
    """Start *command* in its own session, output appended to *log*; its process id."""
    shell = ["/bin/sh", "-c", _APART, "sh", str(log), *command]
    said = subprocess.run(  # noqa: S603
        shell,
        cwd=home,
        env={**os.environ, **LOCALE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    if not said.stdout:
        raise OSError(said.stderr.strip())
    return int(said.stdout)


def is_server(pid: int, home: Path) -> bool:
    """Whether *pid* is, now, the server of *home*: told by its command line, so a reused number fools nobody."""
    try:
        return _serves(_command(psutil.Process(pid)), home)
    except psutil.Error:
        return False


def _command(running: psutil.Process) -> list[str]:
    """The command line; for an instant, while one program replaces another (exec), a process has none."""
    for _ in range(_LOOKS):
        command = running.cmdline()
        if command:
            return command
        time.sleep(_PAUSE / _LOOKS)
    return []


def _serves(command: list[str] | None, home: Path) -> bool:
    return command is not None and "--console-mode" in command and home_argument(home) in command


def find(home: Path) -> int | None:
    """The process id of the server of *home*, whatever the state file says."""
    return next((p.pid for p in psutil.process_iter(["cmdline"]) if _serves(p.info["cmdline"], home)), None)


def terminate(pid: int, home: Path, seconds: float) -> bool:
    """Ask the server of *home* to stop and wait for it; whether it is gone."""
    deadline = time.monotonic() + seconds
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    while is_server(pid, home):
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
