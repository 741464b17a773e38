"""How much heap and page cache the local server gets on this machine."""

from pathlib import Path
from typing import NamedTuple

import psutil

from hmxgraph.engine import refusals
from hmxgraph.engine.settings import Settings

_MIB = 1024 * 1024
_OUTSIDE_HEAP = 384  # measured: class data, threads and buffers of an idle 5.26
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class Memory(NamedTuple):
    """Sizes in MiB."""

    heap: int
    pagecache: int


def share(physical: int, heap: int | None = None, pagecache: int | None = None) -> Memory:
    """Heap and page cache for a machine with *physical* MiB: an eighth and a sixth, within bounds.

    Raises:
        NotEnoughMemory: they do not fit, with what Java needs beside them.

    >>> share(8192)
    Memory(heap=1024, pagecache=1365)

    """
    chosen = Memory(heap or _within(512, physical // 8, 2048), pagecache or _within(128, physical // 6, 4096))
    needed = sum(chosen) + _OUTSIDE_HEAP
    if needed > physical:
        raise refusals.not_enough_memory(needed, physical)
    return chosen


def _within(low: int, wanted: int, high: int) -> int:
    return max(low, min(wanted, high))


def physical_mebibytes() -> int:
    """What this machine, or the container's limit, allows."""
    limits = [int(text) for text in map(_read, _CGROUP_LIMITS) if text.isdecimal()]
    return min([int(psutil.virtual_memory().total), *limits]) // _MIB


def _read(path: Path) -> str:
    return path.read_text("ascii").strip() if path.is_file() else ""


def choose(settings: Settings) -> Memory:
    """The sizes asked for by *settings*, and sensible ones for what is left open."""
    return share(physical_mebibytes(), settings.heap, settings.pagecache)
