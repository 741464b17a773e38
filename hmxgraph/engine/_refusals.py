"""The words of every engine error: what is wrong, and the ways out that fit it."""

import re
from collections.abc import Iterable
from pathlib import Path
from shutil import disk_usage

from hmxgraph.errors import (
    EngineError,
    JarDamaged,
    JarsUnavailable,
    JavaMissing,
    NotEnoughMemory,
    PasswordLost,
    PortTaken,
    ServerDied,
    ServerUnresponsive,
)

_MIB = 1024 * 1024
_ROOM = 300  # MiB that a first start writes, its logs of transactions above all
_OTHER_SERVER = "set HMXGRAPH_URI to another Neo4j (docker compose up -d starts one)"


def unsupported_platform(name: str) -> EngineError:
    """This operating system cannot run the local server."""
    return EngineError(f"the local server runs on Linux and macOS, not on {name}", _OTHER_SERVER)


def home_unusable(home: Path, error: OSError) -> EngineError:
    """The data home cannot be written."""
    return EngineError(f"the data home {home} cannot be used ({error})", "set HMXGRAPH_HOME to a folder you can write")


def lock_held(path: Path, seconds: float) -> EngineError:
    """Somebody else keeps the file lock."""
    reason = f"another process has held {path} for {seconds:.0f} s"
    return EngineError(reason, "wait until it has fetched and started the server, or end it, and try again")


def package_missing(name: str) -> EngineError:
    """An optional package of the extra ``local`` is not installed."""
    way_out = f"pip install 'hmxgraph[local]', set HMXGRAPH_JARS to a folder of jars, or {_OTHER_SERVER}"
    return EngineError(f"the package {name} is needed to fetch the local server", way_out)


def no_java(accepted: Iterable[int], seen: Iterable[str]) -> JavaMissing:
    """Nowhere a Java that this Neo4j runs on."""
    versions = " or ".join(str(major) for major in sorted(accepted))
    found = ", ".join(seen) or "none at all"
    way_out = f"pip install 'hmxgraph[local]' (brings one), set HMXGRAPH_JAVA to a Java {versions}, or {_OTHER_SERVER}"
    return JavaMissing(f"no Java {versions} for the local server (found: {found})", way_out)


def wrong_java(accepted: Iterable[int], found: str) -> JavaMissing:
    """``HMXGRAPH_JAVA`` names something else."""
    versions = " or ".join(str(major) for major in sorted(accepted))
    reason = f"HMXGRAPH_JAVA is no Java {versions} (found: {found})"
    return JavaMissing(reason, "correct it, or unset it to let hmxgraph look for one")


def not_fetched(coordinate: str, error: object) -> JarsUnavailable:
    """A jar could not be downloaded."""
    way_out = (
        "check the network and run the same command again (it goes on where it stopped), set HMXGRAPH_MAVEN_URL to a "
        f"mirror or HMXGRAPH_JARS to a folder of jars, or {_OTHER_SERVER}"
    )
    reason = re.sub(r"//[^/@\s]*@", "//", str(error))  # a mirror's login is nobody's business
    return JarsUnavailable(f"{coordinate} could not be fetched ({reason})", way_out)


def cache_unusable(cache: Path, error: OSError) -> EngineError:
    """The folder for the jars cannot be written, or its disk is full."""
    return EngineError(
        f"the jars cannot be stored in {cache} ({error})", "set HMXGRAPH_CACHE to a folder with 300 MB free"
    )


def wrong_bytes(coordinate: str) -> JarDamaged:
    """The bytes downloaded are not the locked ones."""
    way_out = "run the same command again; if it stays so, set HMXGRAPH_MAVEN_URL to another mirror"
    return JarDamaged(f"{coordinate} as fetched does not match its SHA-256", way_out)


def damaged_jar(path: Path) -> JarDamaged:
    """A jar in the user's own folder is broken."""
    return JarDamaged(
        f"the jar {path} is damaged", "copy it again, or unset HMXGRAPH_JARS to let hmxgraph fetch the jars"
    )


def no_server_jar(folder: Path) -> JarsUnavailable:
    """The user's folder holds no Neo4j."""
    way_out = "point HMXGRAPH_JARS at a folder with all jars of Neo4j (its own lib folder will do), or unset it"
    return JarsUnavailable(f"{folder} holds no neo4j-<version>.jar with a server in it", way_out)


def not_enough_memory(needed: int, physical: int) -> NotEnoughMemory:
    """Heap, page cache and Java itself do not fit the machine."""
    reason = f"the local server needs {needed} MiB of memory, this machine has {physical} MiB"
    return NotEnoughMemory(reason, f"lower HMXGRAPH_HEAP and HMXGRAPH_PAGECACHE (256m and 64m do), or {_OTHER_SERVER}")


def port_taken(port: int, variable: str) -> PortTaken:
    """The port the user asked for is in use."""
    return PortTaken(f"port {port} is taken by another program", f"end that program, change {variable}, or unset it")


def one_port_for_two(port: int) -> PortTaken:
    """The user asked for one port for both."""
    reason = f"HMXGRAPH_BOLT_PORT and HMXGRAPH_HTTP_PORT are both {port}"
    return PortTaken(reason, "the server needs two ports: change one of them, or unset it")


def password_lost(home: Path) -> PasswordLost:
    """Data without its password."""
    reason = f"{home} holds a database, but the file with its password is gone or unreadable"
    return PasswordLost(reason, f"put {home / 'password'} back, or move {home} away to start with an empty one")


def password_refused(home: Path) -> PasswordLost:
    """The database has another password than the file says."""
    reason = f"the server on {home} refuses the password in {home / 'password'}"
    return PasswordLost(reason, "if you changed it in the Browser, write the new one into that file")


def died(log: Path, lines: str) -> ServerDied:
    """The server ended while starting."""
    return ServerDied(
        "the local server ended while starting", f"see {log} and debug.log beside it, or {_OTHER_SERVER}", lines
    )


def unresponsive(pid: int, seconds: float, log: Path) -> ServerUnresponsive:
    """The process is there but does not answer."""
    reason = f"the local server (process {pid}) does not answer after {seconds:.0f} s"
    free = disk_usage(log.parent).free // _MIB
    if free < _ROOM:
        reason += f", with {free} MiB left on the disk of its data"
        return ServerUnresponsive(reason, f"free {_ROOM} MB there, run `hmxgraph server stop` and try again")
    again = "run `hmxgraph server stop` and try again, raise HMXGRAPH_START_SECONDS"
    # A database that cannot be opened is told in debug.log alone.
    return ServerUnresponsive(reason, f"{again}, or see {log} and debug.log beside it")


def will_not_stop(pid: int, seconds: float) -> ServerUnresponsive:
    """The process ignores SIGTERM."""
    reason = f"the local server (process {pid}) has not stopped within {seconds:.0f} s"
    return ServerUnresponsive(
        reason, f"wait for its last checkpoint, or end it with `kill -9 {pid}` (it recovers at the next start)"
    )
