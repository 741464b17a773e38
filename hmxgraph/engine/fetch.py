"""Locked jars from a Maven repository into a folder: in parallel, resumable, each one checked."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from hmxgraph.engine import refusals
from hmxgraph.engine.lockfile import Jar
from hmxgraph.engine.progress import Listener, Step
from hmxgraph.engine.settings import Settings
from hmxgraph.errors import EngineError

_THREADS = 8


class Download(NamedTuple):
    """What the threads of one download share."""

    context: Any
    folder: Path
    pauses: tuple[float, ...]
    stopped: Event


def is_sound(path: Path, jar: Jar) -> bool:
    """Whether *path* holds exactly the locked bytes."""
    if not path.is_file() or path.stat().st_size != jar.size:
        return False
    with path.open("rb") as file:
        return _digest(file) == jar.sha256


def _digest(file: Any) -> str:
    whole = sha256()
    while chunk := file.read(1 << 20):
        whole.update(chunk)
    return whole.hexdigest()


def unsound(folder: Path, jars: Iterable[Jar]) -> tuple[Jar, ...]:
    """The jars that *folder* lacks or holds damaged, in the order of the lock."""
    with ThreadPoolExecutor(_THREADS) as pool:
        jars = tuple(jars)
        checks = pool.map(lambda jar: is_sound(folder / jar.file_name, jar), jars)
        return tuple(jar for jar, sound in zip(jars, checks, strict=True) if not sound)


def fetch(jars: tuple[Jar, ...], folder: Path, settings: Settings, listen: Listener) -> None:
    """Put *jars* into *folder*; each appears there whole and checked, or not at all.

    Raises:
        JarsUnavailable: a jar could not be downloaded.
        JarDamaged: the repository keeps sending other bytes than the locked ones.

    """
    download = Download(_maven(settings), folder, settings.retry_seconds, Event())
    total, done = sum(jar.size for jar in jars), 0
    what = "fetching the jars of Neo4j"
    listen(Step(what, done, total))
    with ThreadPoolExecutor(_THREADS) as pool:
        running = {pool.submit(_fetch_one, jar, download): jar for jar in jars}
        try:
            for future in as_completed(running):
                future.result()
                done += running[future].size
                listen(Step(what, done, total))
        except BaseException:
            download.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _maven(settings: Settings) -> Any:
    """A jgo context with its own scratch repository, so that nobody's ``~/.m2`` is touched or trusted."""
    try:
        from jgo.maven import MavenContext  # noqa: PLC0415 - optional extra, needed only here
    except ImportError as error:
        raise refusals.package_missing("jgo") from error
    remote = {"mirror": settings.maven_url.rstrip("/")} if settings.maven_url else None
    return MavenContext(repo_cache=settings.cache / "download", remote_repos=remote, timeout=30)


def _fetch_one(jar: Jar, download: Download) -> None:
    failure: EngineError | None = None
    for pause in download.pauses:
        if download.stopped.wait(pause):
            return
        failure = _attempt(jar, download)
        if failure is None:
            return
    if failure is not None:
        raise failure


def _attempt(jar: Jar, download: Download) -> EngineError | None:
    """One try to put *jar* in place: what went wrong, or nothing."""
    artifact = download.context.create_dependency(jar.coordinate).artifact
    try:
        artifact.cached_path.unlink(missing_ok=True)  # what an interrupted run left; jgo would take it as whole
        path = artifact.resolve()
        if not is_sound(path, jar):
            return refusals.wrong_bytes(jar.coordinate)
        path.replace(download.folder / jar.file_name)
    except (OSError, RuntimeError) as error:
        return _translated(error, jar, download.context.repo_cache)
    return None


def _translated(error: Exception, jar: Jar, cache: Path) -> EngineError:
    """Errors of the disk carry a number of their own, those of the network do not."""
    if isinstance(error, OSError) and error.errno is not None:
        return refusals.cache_unusable(cache, error)
    return refusals.not_fetched(jar.coordinate, error)
