"""The jars of the local Neo4j server: the lock file that lists them, their download and verification."""

import json
import os
import re
import shutil
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from hmxgraph.engine import _refusals
from hmxgraph.engine._data_home import exclusive
from hmxgraph.engine._settings import Settings
from hmxgraph.engine.server import Listener, Step
from hmxgraph.errors import EngineError

# The lock file lists the jars of the local server, each with its SHA-256 and size.

_LOCK_NAME = "neo4j-5.26.31.lock.json"


class Jar(NamedTuple):
    """One jar in the lock file; ``size`` is in bytes, ``coordinate`` is ``group:artifact:version[:classifier]``.

    >>> Jar("io.netty:netty-all:4.1:linux-x86_64", "00", 1).file_name
    'netty-all-4.1-linux-x86_64.jar'

    """

    coordinate: str
    sha256: str
    size: int

    @property
    def file_name(self) -> str:
        """The name of the jar file in the class path folder."""
        return "-".join(self.coordinate.split(":")[1:]) + ".jar"


class Lock(NamedTuple):
    """The contents of the lock file: a Neo4j version and its jars."""

    version: str
    jars: tuple[Jar, ...]


@cache
def load() -> Lock:
    """The packaged lock file.

    >>> load().version
    '5.26.31'

    """
    document = json.loads(files("hmxgraph.engine").joinpath(_LOCK_NAME).read_bytes())
    jars = (Jar(jar["coordinate"], jar["sha256"], jar["bytes"]) for jar in document["jars"])
    return Lock(document["neo4j"], tuple(jars))


# Download from a Maven repository: parallel, resumable, every jar verified.

_THREADS = 8


class _Download(NamedTuple):
    """What the threads of one download share; ``context`` belongs to jgo, a Maven client, and resolves coordinates.

    ``pauses`` are the seconds to wait before each attempt; ``stopped`` is set when another jar has failed.
    """

    context: Any
    folder: Path
    pauses: tuple[float, ...]
    stopped: Event


def is_sound(path: Path, jar: Jar) -> bool:
    """Whether the file *path* has the size and SHA-256 of *jar*."""
    if not path.is_file() or path.stat().st_size != jar.size:
        return False
    with path.open("rb") as file:
        return _digest(file) == jar.sha256


def _digest(file: Any) -> str:
    digest = sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def unsound(folder: Path, jars: Sequence[Jar]) -> tuple[Jar, ...]:
    """The *jars* that are missing or damaged in *folder*, in the given order."""
    with ThreadPoolExecutor(_THREADS) as pool:
        checks = pool.map(lambda jar: is_sound(folder / jar.file_name, jar), jars)
        return tuple(jar for jar, sound in zip(jars, checks, strict=True) if not sound)


def fetch(jars: tuple[Jar, ...], folder: Path, settings: Settings, listen: Listener) -> None:
    """Download *jars* into *folder*; a jar appears there only once it is complete and verified.

    Raises:
        EngineError: the cache cannot be written, or the package ``jgo`` is missing.
        JarsUnavailable: a jar could not be downloaded.
        JarDamaged: the repository repeatedly sent a jar whose SHA-256 differs from the lock file's.

    """
    download = _Download(_maven(settings), folder, settings.retry_seconds, Event())
    total, done = sum(jar.size for jar in jars), 0
    task = "downloading Neo4j"
    listen(Step(task, done, total))
    with ThreadPoolExecutor(_THREADS) as pool:
        jar_by_future = {pool.submit(_fetch_one, jar, download): jar for jar in jars}
        try:
            for future in as_completed(jar_by_future):
                future.result()
                done += jar_by_future[future].size
                listen(Step(task, done, total))
        except BaseException:
            download.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _maven(settings: Settings) -> Any:
    """A jgo context with a temporary local repository, so that ``~/.m2`` is neither changed nor trusted."""
    try:
        from jgo.maven import MavenContext  # noqa: PLC0415 - optional extra, needed only here
    except ImportError as error:
        raise _refusals.package_missing("jgo") from error
    remote = {"mirror": settings.maven_url.rstrip("/")} if settings.maven_url else None
    return MavenContext(repo_cache=settings.cache / "download", remote_repos=remote, timeout=30)


def _fetch_one(jar: Jar, download: _Download) -> None:
    """Download *jar*, with retries; raises the error of the last attempt."""
    failure: EngineError | None = None
    for pause in download.pauses:
        if download.stopped.wait(pause):
            return
        failure = _attempt(jar, download)
        if failure is None:
            return
    if failure is not None:
        raise failure


def _attempt(jar: Jar, download: _Download) -> EngineError | None:
    """Try once to download *jar*; returns the error, or None if it succeeded."""
    artifact = download.context.create_dependency(jar.coordinate).artifact
    try:
        artifact.cached_path.unlink(missing_ok=True)  # jgo would accept an incomplete file from an interrupted run
        path = artifact.resolve()
        if not is_sound(path, jar):
            return _refusals.wrong_bytes(jar.coordinate)
        path.replace(download.folder / jar.file_name)
    except (OSError, RuntimeError) as error:
        return _translated(error, jar, download.context.repo_cache)
    return None


def _translated(error: Exception, jar: Jar, cache: Path) -> EngineError:
    """*error* as an engine error: about the disk if it has an errno, otherwise about the network."""
    if isinstance(error, OSError) and error.errno is not None:
        return _refusals.cache_unusable(cache, error)
    return _refusals.not_fetched(jar.coordinate, error)


# The folder with the jars to run: the one in ``HMXGRAPH_JARS``, or one in the shared cache.

_ENTRY_POINTS = ("org.neo4j.server.CommunityEntryPoint", "org.neo4j.server.Neo4jCommunity")  # of 5.x, of 2026.x
_LOCK_SECONDS = 1800  # how long to wait while another process downloads the jars


class Distribution(NamedTuple):
    """A verified folder of jars, its Neo4j version and main class."""

    folder: Path
    version: str
    main_class: str

    @property
    def class_path(self) -> str:
        """All jars, in a fixed order: Java uses a class archive only with the class path for which it was written.

        jaxb-runtime comes last. Its manifest names other jars, and Java 21 rejects the archive if those come after it.
        """
        jars = sorted(self.folder.glob("*.jar"), key=lambda jar: (jar.name.startswith("jaxb-runtime"), jar.name))
        return os.pathsep.join(map(str, jars))


def distribution(settings: Settings, listen: Listener, lock: Lock) -> Distribution:
    """The jars to run: those in ``HMXGRAPH_JARS`` if set, else those in *lock*, downloaded unless the cache has them.

    Raises:
        JarsUnavailable: the jars could not be downloaded, or ``HMXGRAPH_JARS`` contains no Neo4j.
        JarDamaged: a jar differs from the lock file, or is not an archive.
        EngineError: the cache cannot be written, another process has locked it for too long, or the package ``jgo``
            is missing.

    """
    if settings.jars is not None:
        return user_distribution(settings.jars, lock)
    return distribution_in(_cached(settings, lock, listen))


def _cached(settings: Settings, lock: Lock, listen: Listener) -> Path:
    folder = settings.cache / f"neo4j-{lock.version}"
    if unsound(folder, lock.jars):
        try:
            with exclusive(settings.cache / "jars.lock", _LOCK_SECONDS):
                _complete(folder, settings, lock, listen)
        except OSError as error:
            raise _refusals.cache_unusable(settings.cache, error) from error
    return folder


def _complete(folder: Path, settings: Settings, lock: Lock, listen: Listener) -> None:
    """Download the jars that *folder* lacks.

    A new folder has another name until it is complete; an existing one is repaired in place.
    """
    target = folder if folder.is_dir() else folder.with_name(folder.name + ".partial")
    target.mkdir(parents=True, exist_ok=True)
    missing = unsound(target, lock.jars)
    if missing:
        fetch(missing, target, settings, listen)
    if target != folder:
        target.rename(folder)
    shutil.rmtree(settings.cache / "download", ignore_errors=True)


def user_distribution(folder: Path, lock: Lock) -> Distribution:
    """The distribution in the user's own *folder*, after a check of its jars.

    Jars named in *lock* must have the locked SHA-256; others must be zip files.

    Raises:
        JarDamaged: a jar differs from the lock file, or is not an archive.
        JarsUnavailable: *folder* contains no server.

    """
    locked = {jar.file_name: jar for jar in lock.jars}
    for path in sorted(folder.glob("*.jar")):
        sound = is_sound(path, locked[path.name]) if path.name in locked else zipfile.is_zipfile(path)
        if not sound:
            raise _refusals.damaged_jar(path)
    return distribution_in(folder)


def distribution_in(folder: Path) -> Distribution:
    """The distribution in *folder*, whose ``neo4j-<version>.jar`` shows the version and the main class.

    Raises:
        JarsUnavailable: *folder* contains no server.

    """
    for path in sorted(folder.glob("neo4j-[0-9]*.jar")):
        version = re.sub(r"^neo4j-|\.jar$", "", path.name)
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
        for main_class in _ENTRY_POINTS:
            if main_class.replace(".", "/") + ".class" in names:
                return Distribution(folder, version, main_class)
    raise _refusals.no_server_jar(folder)
