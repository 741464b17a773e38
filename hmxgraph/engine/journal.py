"""The server's own words: the end of its log, and only what it said since it was started."""

from pathlib import Path

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
