"""Dumps of a local server's database, written and loaded by Neo4j's own tool."""

import os
import shutil
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
# How the tool's lines about its progress begin, and the number of other lines quoted in an error.
_PROGRESS = "Files: "
_LINES = 5


def dump(path: Path, home: Home = None, *, progress: Progress = None) -> int:
    """Write a dump of the database of *home* to *path*; returns its size.

    The server is stopped meanwhile, and restarted if it was running. *path* appears only when the dump is complete.

    Raises:
        NotWritten: *path* cannot be written.
        EngineError: there is no database, Neo4j's tool failed, or the server does not stop or start again.

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
    """Create the file *temporary* next to *path*; fails if *path* is a folder, which a file cannot replace."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    return os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def load(path: Path, home: Home = None, *, progress: Progress = None) -> None:
    """Replace the database of *home* with the dump at *path*, and start its server.

    The dump is first loaded beside the database, so the disk must have room for both. The database is replaced only
    once the dump is loaded, and comes back if the server does not start with it. This works even if the existing
    database can no longer be opened.

    Raises:
        EngineError: the file cannot be read, Neo4j's tool rejected it or failed, or the server does not start with it;
            the database is as it was before.

    """
    settings = read_settings(home)
    try:
        file = path.open("rb")
    except OSError as error:
        raise EngineError(
            f"{path} cannot be read: {error.strerror}", "name a dump that hmxgraph backup wrote"
        ) from error
    data = settings.home / "data"
    loading, replaced = data / "loading", data / "replaced"
    with file, listening(progress) as listen:
        if not (data / "databases").exists():
            _lifecycle.ensure(home, progress=progress)
        listen(Step("loading the dump"))
        try:
            _load_into(settings, loading, file)
            with _lifecycle.stopped(home):
                _exchange(data, loading / "data", replaced)
        finally:
            shutil.rmtree(loading, ignore_errors=True)
    try:
        _lifecycle.ensure(home, progress=progress)
    except EngineError:
        with _lifecycle.stopped(home):
            _exchange(data, replaced, loading)
        shutil.rmtree(loading, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)
        raise
    shutil.rmtree(replaced, ignore_errors=True)


def _load_into(settings: Settings, folder: Path, file: IO[bytes]) -> None:
    """Load the dump in *file* into a new data home in *folder*."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "conf").mkdir(parents=True)
    arguments = ["load", _DATABASE, "--from-stdin", "--overwrite-destination=true"]
    _administer(settings, arguments, home=folder, stdin=file.fileno())


# A database consists of a folder with its name in each of these folders.
_PARTS = ("databases", "transactions")


def _exchange(data: Path, new: Path, old: Path) -> None:
    """Move the database in *data* to *old*, and the one in *new* to *data*."""
    shutil.rmtree(old, ignore_errors=True)
    for part in _PARTS:
        (old / part).mkdir(parents=True)
        if (data / part / _DATABASE).exists():
            (data / part / _DATABASE).rename(old / part / _DATABASE)
    for part in _PARTS:
        if (new / part / _DATABASE).exists():
            (new / part / _DATABASE).rename(data / part / _DATABASE)


def _administer(
    settings: Settings,
    arguments: list[str],
    *,
    home: Path | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
) -> None:
    """Run Neo4j's own tool on the databases of the data home *home*, by default that of *settings*."""
    with listening(None) as listen:
        jars = distribution(settings, listen, _jars.load())
    program = _java.find(settings, _java.accepted(jars.version))
    home = home or settings.home
    command = [str(program), "-cp", f"{jars.folder}/*", "org.neo4j.cli.AdminTool", "database", *arguments]
    environment = {**os.environ, **LOCALE, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    result = subprocess.run(  # noqa: S603
        command, env=environment, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    if result.returncode != 0:
        lines = [line.strip() for line in result.stderr.splitlines() if not line.startswith(_PROGRESS)]
        message = " ".join(filter(None, lines[:_LINES]))
        raise EngineError(f"Neo4j's tool could not {arguments[0]} the database: {message[:400]}", _WAY_OUT)


_WAY_OUT = "check that the disk has room, that the file is a dump, and that no other program uses the data home"
