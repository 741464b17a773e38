"""neo4j.conf and the command line of the server."""

import re
from pathlib import Path

from hmxgraph.engine.jars import Distribution
from hmxgraph.engine.memory import Memory
from hmxgraph.engine.ports import HOST, Ports

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
