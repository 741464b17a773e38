"""Dumps of a local server's database: written and loaded by Neo4j's own tool while the server is stopped."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EISDIR
from pathlib import Path
from typing import IO

from hmxgraph.engine import _jars, _java, _lifecycle
from hmxgraph.engine._jars import distribution
from hmxgraph.engine._java import LOCALE
from hmxgraph.engine._lifecycle import Home
from hmxgraph.engine._settings import Settings
from hmxgraph.engine._settings import read as read_settings
from hmxgraph.engine.server import Progress, Step, listening
from hmxgraph.errors import EngineError, NotWritten

_DATABASE = "neo4j"
_LINES = 5


def dump(path: Path, home: Home = None, *, progress: Progress = None) -> int:
    """Write a dump of the database of *home* to *path*; returns its size.

    The server is stopped meanwhile, and restarted if it was running. *path* appears only when the dump is complete.

    Raises:
        NotWritten: *path* cannot be written.
        EngineError: there is no database, or Neo4j's tool failed.

    """
    settings = read_settings(home)
    if not (settings.home / "data" / "databases" / _DATABASE).exists():
        raise EngineError(f"there is no database in {settings.home}", "name the data home with HMXGRAPH_HOME")
    temporary = path.with_name(f".{path.name}.part")
    with _writing(path):
        file = _created(path, temporary)
    try:
        was_running = _lifecycle.stop(home)
        try:
            with listening(progress) as listen, file:
                listen(Step("writing the dump"))
                _administer(settings, ["dump", _DATABASE, "--to-stdout"], stdout=file.fileno())
                with _writing(path):
                    os.fsync(file.fileno())
            with _writing(path):
                temporary.replace(path)
        finally:
            if was_running:
                _lifecycle.ensure(home, progress=progress)
    finally:
        file.close()
        temporary.unlink(missing_ok=True)
    return path.stat().st_size


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(str(path), error.strerror or str(error)) from error


def _created(path: Path, temporary: Path) -> IO[bytes]:
    """The file *temporary*, which can take the place of *path*."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    return os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def load(path: Path, home: Home = None, *, progress: Progress = None) -> None:
    """Replace the database of *home* with the dump at *path*, and start its server.

    This works even if the existing database can no longer be opened.

    Raises:
        EngineError: the file cannot be read; or Neo4j's tool rejected it or failed, and the server is left stopped.

    """
    settings = read_settings(home)
    try:
        file = path.open("rb")
    except OSError as error:
        raise EngineError(
            f"{path} cannot be read: {error.strerror}", "name a dump that hmxgraph backup wrote"
        ) from error
    with file, listening(progress) as listen:
        if not (settings.home / "data" / "databases").exists():
            _lifecycle.ensure(home, progress=progress)
        _lifecycle.stop(home)
        listen(Step("loading the dump"))
        _administer(settings, ["load", _DATABASE, "--from-stdin", "--overwrite-destination=true"], stdin=file.fileno())
    _lifecycle.ensure(home, progress=progress)


def _administer(
    settings: Settings, arguments: list[str], *, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.DEVNULL
) -> None:
    """Run Neo4j's own tool on the databases of a data home."""
    with listening(None) as listen:
        jars = distribution(settings, listen, _jars.load())
    program = _java.find(settings, _java.accepted(jars.version))
    home = settings.home
    command = [str(program), "-cp", f"{jars.folder}/*", "org.neo4j.cli.AdminTool", "database", *arguments]
    environment = {**os.environ, **LOCALE, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    result = subprocess.run(  # noqa: S603
        command, env=environment, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    if result.returncode != 0:
        message = " ".join(line.strip() for line in result.stderr.splitlines()[:_LINES] if line.strip())
        raise EngineError(f"Neo4j's tool could not {arguments[0]} the database: {message[:400]}", _WAY_OUT)


_WAY_OUT = "check that the disk has room, that the file is a dump, and that no other program uses the data home"
