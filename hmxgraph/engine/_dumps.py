"""Dumps of a local server's database, written and loaded by Neo4j's own tool."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from errno import EISDIR
from functools import partial
from pathlib import Path
from typing import IO

from hmxgraph.engine import _jars, _java, _lifecycle, _refusals, _swap
from hmxgraph.engine._data_home import exclusive
from hmxgraph.engine._jars import distribution
from hmxgraph.engine._java import LOCALE
from hmxgraph.engine._lifecycle import Home
from hmxgraph.engine._settings import Settings
from hmxgraph.engine._settings import read as read_settings
from hmxgraph.engine._swap import DATABASE
from hmxgraph.engine.server import Listener, Progress, Step, listening
from hmxgraph.errors import EngineError, NotWritten

# How long to wait while another process loads a dump, which takes a while if the dump is large.
_LOCK_SECONDS = 1800
# Neo4j's tool begins lines about its progress like this. An error quotes the first few of its other lines.
_PROGRESS = "Files: "
_QUOTED_LINES = 5


def dump(path: Path, home: Home = None, *, progress: Progress = None) -> int:
    """Write a dump of the database of *home* to *path*; returns its size in bytes.

    The server is stopped meanwhile, and restarted if it was running. *path* appears only when the dump is complete.

    Raises:
        NotWritten: *path* cannot be written.
        EngineError: there is no database, the data home cannot be written, Neo4j's tool failed, or the server does not
            stop or start again.

    """
    settings = read_settings(home)
    if not _swap.exists(settings.home / "data"):
        raise EngineError(f"there is no database in {settings.home}", "name the data home with HMXGRAPH_HOME")
    temporary = path.with_name(f".{path.name}.part")
    with _writing(path):
        file = _created(path, temporary)
    was_running = False
    try:
        with listening(progress) as listen, file, _home_errors(settings.home), _lifecycle.stopped(home) as was_running:
            listen(Step("writing the dump"))
            _administer(settings, ["dump", DATABASE, "--to-stdout"], stdout=file.fileno())
            with _writing(path):
                os.fsync(file.fileno())
                temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        if was_running:
            _lifecycle.ensure(home, progress=progress)
    return path.stat().st_size


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise `NotWritten` for *path* if the block raises an OSError."""
    try:
        yield
    except OSError as error:
        raise NotWritten(str(path), error.strerror or str(error)) from error


def _created(path: Path, temporary: Path) -> IO[bytes]:
    """Create *temporary*, the file that will replace *path*; raises an OSError if *path* is a folder or a device."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if path.exists() and not path.is_file():
        raise OSError("not a file")  # the rename would replace a device such as /dev/null
    return os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def load(path: Path, home: Home = None, *, progress: Progress = None) -> None:
    """Replace the database of *home* with the dump at *path*, and start its server.

    The dump is first loaded beside the database, so the disk must have room for both. Then it replaces the database,
    and the server starts. If that fails, the former database is brought back; if this process is killed, that happens
    at the next start. This works even if the existing database can no longer be opened.

    Raises:
        EngineError: the file cannot be read, the data home cannot be written, Neo4j's tool rejected the file or failed,
            or the server does not start with it; the database is as it was before.

    """
    settings = read_settings(home)
    try:
        file = path.open("rb")
    except OSError as error:
        raise EngineError(
            f"{path} cannot be read: {error.strerror}", "name a dump that hmxgraph backup wrote"
        ) from error
    data = settings.home / "data"
    with file, listening(progress) as listen, _home_errors(settings.home), _restore_lock(settings, listen):
        if not (data / "databases").exists():
            _lifecycle.ensure(home, progress=progress)
        listen(Step("loading the dump"))
        loading = data / "loading"
        try:
            _load_into(settings, loading, file)
            _lifecycle.replace_database(settings, loading / "data", listen)
        finally:
            shutil.rmtree(loading, ignore_errors=True)


@contextmanager
def _home_errors(home: Path) -> Iterator[None]:
    """Raise an `EngineError` about *home* if the block raises an OSError other than `NotWritten`."""
    try:
        yield
    except NotWritten:
        raise
    except OSError as error:
        raise _refusals.home_unusable(home, error) from error


def _restore_lock(settings: Settings, listen: Listener) -> AbstractContextManager[None]:
    """Let no other process load a dump into the same data home during the block."""
    waiting = partial(listen, Step("waiting for another process"))
    return exclusive(settings.home / "restore.lock", _LOCK_SECONDS, waiting)


def _load_into(settings: Settings, folder: Path, file: IO[bytes]) -> None:
    """Load the dump in *file* into a new data home in *folder*."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "conf").mkdir(parents=True)
    arguments = ["load", DATABASE, "--from-stdin", "--overwrite-destination=true"]
    _administer(settings, arguments, home=folder, stdin=file.fileno())


def _administer(
    settings: Settings,
    arguments: list[str],
    *,
    home: Path | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
) -> None:
    """Run ``neo4j-admin database`` with *arguments* on the data home *home*, by default that of *settings*."""
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
        message = " ".join(filter(None, lines[:_QUOTED_LINES]))
        raise EngineError(f"Neo4j's tool could not {arguments[0]} the database: {message[:400]}", _WAY_OUT)


_WAY_OUT = "check that the disk has room, that the file is a dump, and that no other program uses the data home"
