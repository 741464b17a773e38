"""The errors of the engine, each with a message that says what is wrong and what to do."""

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
    StoreDamaged,
)

_MIB = 1024 * 1024
_FIRST_START_MIB = 300  # what a first start writes, mostly transaction logs
_OTHER_SERVER = "set HMXGRAPH_URI to another Neo4j (docker compose up -d starts one)"


def unsupported_platform(name: str) -> EngineError:
    """The operating system cannot run the local server."""
    return EngineError(f"the local server runs on Linux and macOS, not on {name}", _OTHER_SERVER)


def home_unusable(home: Path, error: OSError) -> EngineError:
    """The data home cannot be written."""
    return EngineError(
        f"the data home {home} cannot be used ({error.strerror or error})",
        "set HMXGRAPH_HOME to a folder you can write",
    )


def lock_held(path: Path, seconds: float) -> EngineError:
    """Another process held the lock file *path* for longer than this process waits."""
    reason = f"another process has held {path} for {seconds:.0f} s"
    return EngineError(reason, "wait until it has finished (a first start downloads the server), or end it; try again")


def package_missing(name: str) -> EngineError:
    """An optional package of the extra ``local`` is not installed."""
    way_out = f"pip install 'hmxgraph[local]', set HMXGRAPH_JARS to a folder of jars, or {_OTHER_SERVER}"
    return EngineError(f"the package {name} is needed to download the local server", way_out)


def no_java(accepted: Iterable[int], rejected: Iterable[str]) -> JavaMissing:
    """No suitable Java was found."""
    versions = " or ".join(str(major) for major in sorted(accepted))
    rejected_versions = ", ".join(rejected) or "none"
    way_out = (
        f"pip install 'hmxgraph[local]' (includes one), set HMXGRAPH_JAVA to a Java {versions}, or {_OTHER_SERVER}"
    )
    return JavaMissing(f"no Java {versions} for the local server (found: {rejected_versions})", way_out)


def wrong_java(accepted: Iterable[int], actual: str) -> JavaMissing:
    """``HMXGRAPH_JAVA`` does not point to a suitable Java."""
    versions = " or ".join(str(major) for major in sorted(accepted))
    reason = f"HMXGRAPH_JAVA does not point to Java {versions} (found: {actual})"
    return JavaMissing(reason, "correct it, or unset it to search the usual places")


def not_fetched(coordinate: str, error: object) -> JarsUnavailable:
    """A jar could not be downloaded."""
    way_out = (
        "check the network and run the same command again (finished downloads are kept), set HMXGRAPH_MAVEN_URL to a "
        f"mirror or HMXGRAPH_JARS to a folder of jars, or {_OTHER_SERVER}"
    )
    reason = re.sub(r"//[^/@\s]*@", "//", str(error))  # remove the credentials of a mirror
    return JarsUnavailable(f"{coordinate} could not be downloaded ({reason})", way_out)


def cache_unusable(cache: Path, error: OSError) -> EngineError:
    """The cache folder cannot be written, or its disk is full."""
    return EngineError(
        f"the jars cannot be stored in {cache} ({error.strerror or error})",
        "set HMXGRAPH_CACHE to a folder with 300 MB free",
    )


def wrong_bytes(coordinate: str) -> JarDamaged:
    """The SHA-256 of a downloaded jar differs from the lock file's."""
    way_out = "run the same command again; if the error persists, set HMXGRAPH_MAVEN_URL to another mirror"
    return JarDamaged(f"{coordinate} as downloaded does not match its SHA-256", way_out)


def damaged_jar(path: Path) -> JarDamaged:
    """A jar in the user's own folder is damaged."""
    return JarDamaged(f"the jar {path} is damaged", "copy it again, or unset HMXGRAPH_JARS to download the jars")


def no_server_jar(folder: Path) -> JarsUnavailable:
    """The user's folder does not contain Neo4j."""
    way_out = "point HMXGRAPH_JARS to a folder with all jars of Neo4j, such as its lib folder, or unset it"
    return JarsUnavailable(f"{folder} contains no neo4j-<version>.jar with a server", way_out)


def not_enough_memory(needed: int, physical: int) -> NotEnoughMemory:
    """Heap, page cache and Java's own memory together exceed the memory of this machine."""
    reason = f"the local server needs {needed} MiB of memory, this machine has {physical} MiB"
    way_out = f"lower HMXGRAPH_HEAP and HMXGRAPH_PAGECACHE (but not below 256m and 64m), or {_OTHER_SERVER}"
    return NotEnoughMemory(reason, way_out)


def port_taken(port: int, variable: str) -> PortTaken:
    """A configured port is in use."""
    return PortTaken(f"port {port} is taken by another program", f"end that program, change {variable}, or unset it")


def one_port_for_two(port: int) -> PortTaken:
    """Both port variables are set to the same number."""
    reason = f"HMXGRAPH_BOLT_PORT and HMXGRAPH_HTTP_PORT are both {port}"
    return PortTaken(reason, "the server needs two ports: change one of them, or unset it")


def password_lost(home: Path) -> PasswordLost:
    """The data home holds a database but not its password."""
    reason = f"{home} holds a database, but its password file is missing or unreadable"
    return PasswordLost(reason, f"restore {home / 'password'}, or move {home} away to start with an empty database")


def password_refused(home: Path) -> PasswordLost:
    """The database's password differs from the one in the file."""
    reason = f"the server on {home} refuses the password in {home / 'password'}"
    return PasswordLost(reason, "if you changed it in Neo4j Browser, write the new one into that file")


def died(log: Path, lines: str) -> ServerDied:
    """The server exited while starting."""
    return ServerDied(
        "the local server exited while starting", f"see {log} and debug.log next to it, or {_OTHER_SERVER}", lines
    )


def torn_log(log: Path) -> StoreDamaged:
    """The transaction log ends with an incomplete transaction."""
    return StoreDamaged(
        f"the database does not open: its transaction log ends in the middle of a write (see {log})",
        "run HMXGRAPH_SALVAGE=1 hmxgraph server start once, which cuts that end off and keeps it as a zip file, "
        "then hmxgraph verify for each tenant; or restore a dump with hmxgraph restore",
    )


def not_opened(log: Path, cause: str) -> StoreDamaged:
    """Neo4j could not open the database and logged *cause*."""
    way_out = f"see {log}; hmxgraph restore replaces the database with a dump"
    return StoreDamaged(f"the database does not open: {cause}", way_out)


def unresponsive(pid: int, seconds: float, log: Path) -> ServerUnresponsive:
    """The process is running but does not answer."""
    reason = f"the local server (process {pid}) does not answer after {seconds:.0f} s"
    free = disk_usage(log.parent).free // _MIB
    if free < _FIRST_START_MIB:
        reason += f", with {free} MiB left on the disk of its data"
        return ServerUnresponsive(reason, f"free {_FIRST_START_MIB} MB there, run `hmxgraph server stop` and try again")
    retry = "run `hmxgraph server stop` and try again, raise HMXGRAPH_START_SECONDS"
    # debug.log, because no other log reports a database that cannot be opened.
    return ServerUnresponsive(reason, f"{retry}, or see {log} and debug.log next to it")


def will_not_stop(pid: int, seconds: float) -> ServerUnresponsive:
    """The process did not exit in time after SIGTERM."""
    reason = f"the local server (process {pid}) has not stopped within {seconds:.0f} s"
    return ServerUnresponsive(
        reason, f"it may still be writing to disk: wait, or end it with `kill -9 {pid}` (it recovers at the next start)"
    )
