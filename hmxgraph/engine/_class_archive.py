"""The class archive in the shared cache: classes as Java has read, checked and linked them.

A server that starts from it needs about 60 % of the time. Java writes it when a server that had none stops.
"""

from hashlib import sha256
from pathlib import Path

from hmxgraph.engine._jars import Distribution

_NO_LOG = "-Xlog:cds*=off"
# An archive begins with a number that Java writes last.
_MAGIC_BYTES = 4


def flags(cache: Path, java: Path, jars: Distribution, home: Path) -> tuple[str, ...]:
    """Java's flags to start from the archive in *cache*; if there is none, to write one for `keep`.

    Java ignores an archive that does not fit it or the jars.
    """
    program = java.resolve()
    identity = _short_hash(str(program), str(program.stat().st_mtime_ns), str(jars.folder), jars.version)
    archive = cache / f"classes-{identity}.jsa"
    if archive.is_file():
        return (_NO_LOG, f"-XX:SharedArchiveFile={archive}")
    cache.mkdir(parents=True, exist_ok=True)
    return (_NO_LOG, f"-XX:ArchiveClassesAtExit={_unfinished(archive, home)}")


def keep(cache: Path, home: Path) -> None:
    """Keep the archive that the stopped server of *home* has written, if it is complete, and delete older ones."""
    for written in cache.glob(_unfinished(Path("classes-*.jsa"), home).name):
        with written.open("rb") as file:
            complete = any(file.read(_MAGIC_BYTES))
        if complete:
            for older in cache.glob("classes-*.jsa"):
                older.unlink()
            written.replace(written.with_suffix(""))
        else:
            written.unlink()


def _unfinished(archive: Path, home: Path) -> Path:
    return archive.with_name(f"{archive.name}.{_short_hash(str(home))}")


def _short_hash(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:12]
