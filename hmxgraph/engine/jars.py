"""The folder of jars that the server runs from: the user's own, or the shared one in the cache."""

import re
import shutil
import zipfile
from pathlib import Path
from typing import NamedTuple

from hmxgraph.engine import refusals
from hmxgraph.engine.fetch import fetch, is_sound, unsound
from hmxgraph.engine.lockfile import Lock
from hmxgraph.engine.locking import exclusive
from hmxgraph.engine.progress import Listener
from hmxgraph.engine.settings import Settings

_ENTRY_POINTS = ("org.neo4j.server.CommunityEntryPoint", "org.neo4j.server.Neo4jCommunity")  # 5.x, 2026.x
_FETCH_SECONDS = 1800


class Distribution(NamedTuple):
    """A checked folder of jars and what it starts."""

    folder: Path
    version: str
    main_class: str


def distribution(settings: Settings, listen: Listener, lock: Lock) -> Distribution:
    """The jars to run: ``HMXGRAPH_JARS`` if set, else the locked ones, fetched where they are missing or damaged.

    Raises:
        JarsUnavailable: nothing to be had, and why.
        JarDamaged: a jar differs from the lock.

    """
    if settings.jars is not None:
        return own(settings.jars, lock)
    return described(_cached(settings, lock, listen))


def _cached(settings: Settings, lock: Lock, listen: Listener) -> Path:
    folder = settings.cache / f"neo4j-{lock.version}"
    if unsound(folder, lock.jars):
        try:
            with exclusive(settings.cache / "jars.lock", _FETCH_SECONDS):
                _complete(folder, settings, lock, listen)
        except OSError as error:
            raise refusals.cache_unusable(settings.cache, error) from error
    return folder


def _complete(folder: Path, settings: Settings, lock: Lock, listen: Listener) -> None:
    """Fill a new folder aside and rename it; mend a complete one in place, jar by jar."""
    target = folder if folder.is_dir() else folder.with_name(folder.name + ".partial")
    target.mkdir(parents=True, exist_ok=True)
    missing = unsound(target, lock.jars)
    if missing:
        fetch(missing, target, settings, listen)
    if target != folder:
        target.rename(folder)
    shutil.rmtree(settings.cache / "download", ignore_errors=True)


def own(folder: Path, lock: Lock) -> Distribution:
    """The user's folder, checked: locked jars by SHA-256, others by being readable archives."""
    locked = {jar.file_name: jar for jar in lock.jars}
    for path in sorted(folder.glob("*.jar")):
        sound = is_sound(path, locked[path.name]) if path.name in locked else zipfile.is_zipfile(path)
        if not sound:
            raise refusals.damaged_jar(path)
    return described(folder)


def described(folder: Path) -> Distribution:
    """Version and entry point, looked up in the server's own jar (the class was renamed in 2026.x)."""
    for path in sorted(folder.glob("neo4j-[0-9]*.jar")):
        version = re.sub(r"^neo4j-|\.jar$", "", path.name)
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
        for main_class in _ENTRY_POINTS:
            if main_class.replace(".", "/") + ".class" in names:
                return Distribution(folder, version, main_class)
    raise refusals.no_server_jar(folder)
