"""Planted faults: changes of one place in the package, as data, and a copy of the project to plant them in."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# Tests read these beside the package.
_COPIED = ("hmxgraph", "cypher", "tests", "docs", "examples", "notebooks", "tools")


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one place: in *file*, *old* becomes *new*, which breaks what *breaks* says.

    ``clause`` is the rule that it breaks, for the faults that the conformance kit must find; ``tests`` are the tests
    that cover the file, for those that the test suite must find; ``commit`` is the fix that a real bug was taken from.
    """

    file: str
    old: str
    new: str
    breaks: str
    clause: str = ""
    tests: tuple[str, ...] = ()
    commit: str = ""

    def text(self, root: Path = ROOT) -> str:
        """The text of the file below *root* with the fault in it.

        Raises:
            ValueError: the place is missing, or not the only one; names file and fault.

        """
        text = (root / self.file).read_text(encoding="utf-8")
        if (places := text.count(self.old)) != 1:
            raise ValueError(f"{self.file}: {places} places for the fault {self.breaks!r}, expected one: {self.old!r}")
        return text.replace(self.old, self.new)


def faults(name: str) -> tuple[Fault, ...]:
    """The faults in ``name.toml``: "kit" or "suite"."""
    listed = tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))["fault"]
    return tuple(Fault(**{**fault, "tests": tuple(fault.get("tests", ()))}) for fault in listed)


class Copy:
    """A copy of the project, in which one fault at a time is planted and programs are run."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = {**os.environ, **environment, "PYTHONPATH": str(folder)}
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in ROOT.iterdir():
            if path.is_file() and not path.name.startswith("."):
                shutil.copy2(path, folder / path.name)
        self._check()
        self._planted = 0

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """*fault* is in the copy until the block ends."""
        path = self.folder / fault.file
        sound, saved = path.read_bytes(), path.stat()
        path.write_text(fault.text(self.folder), encoding="utf-8")
        # Compiled modules are kept by time and size: each planted file has a time that no other version has.
        self._planted += 1
        os.utime(path, (self._planted, self._planted))
        try:
            yield
        finally:
            path.write_bytes(sound)
            os.utime(path, ns=(saved.st_atime_ns, saved.st_mtime_ns))

    def run(self, *arguments: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """Python with *arguments*, in the copy.

        Raises:
            subprocess.TimeoutExpired: it took longer than *seconds*.

        """
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def _check(self) -> None:
        """Refuse a copy whose package is not the one that programs in it import."""
        imported = self.run("-c", "import hmxgraph; print(hmxgraph.__file__)", seconds=60).stdout.strip()
        if not Path(imported).is_relative_to(self.folder):
            raise RuntimeError(f"programs in {self.folder} import hmxgraph from {imported}")
