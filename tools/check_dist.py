"""Install what ``dist/`` holds into a clean environment of each Python present, and run the demo there: ``make dist``.

Each of the two files is installed without the checkout: the wheel with every Python, the source distribution with the
first. The commands that are run need the files that belong in a package: statements, schemas, sample events.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DIST = Path(__file__).parents[1] / "dist"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_COMMANDS = (
    ("demo",),
    ("pack", "Deploy the staging environment", "--tenant", "demo", "--html", "pack.html"),
    ("schema", "event"),
    ("query",),
    ("browser", "--save", "look", "--tenant", "demo"),
)


def pythons() -> Iterator[tuple[str, str]]:
    """The supported versions that are on this machine, each with its program; missing versions are printed."""
    for version in VERSIONS:
        candidates = [
            shutil.which(f"python{version}"),
            *sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python")),
        ]
        program = next((str(path) for path in candidates if path and _is_usable(version, str(path))), None)
        if program:
            yield version, program
        else:
            print(f"Python {version}: not on this machine, not tried", flush=True)


def _is_usable(version: str, program: str) -> bool:
    """Whether *program* is a Python of that version that can make environments."""
    command = [program, "-c", "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() == version


def try_out(version: str, program: str, package: Path, home: Path) -> None:
    """Install *package* with *program* into an environment of its own, and run commands and the conformance kit.

    Raises:
        SystemExit: a step failed; its output is printed.

    """
    with tempfile.TemporaryDirectory(prefix="hmxgraph-dist-", ignore_cleanup_errors=True) as folder:
        run([program, "-m", "venv", "env"], folder, home)
        python = str(Path(folder) / "env" / "bin" / "python")
        run([python, "-m", "pip", "install", "--quiet", f"{package}[local]"], folder, home)
        for arguments in _COMMANDS:
            run([python, "-m", "hmxgraph", *arguments], folder, home)
        run([python, "-m", "hmxgraph.conformance", "--help"], folder, home)
        version_and_file = run(
            [python, "-c", "import hmxgraph; print(hmxgraph.__version__, hmxgraph.__file__)"], folder, home
        )
        hmxgraph_version, file = version_and_file.split()
        if folder not in file:
            raise SystemExit(f"imported from {file}, not from the environment")
        print(
            f"Python {version}, {package.name}: hmxgraph {hmxgraph_version} installed, demo and commands ran",
            flush=True,
        )


def run(command: list[str], folder: str, home: Path) -> str:
    """What a command prints, run in *folder* without the checkout on its path.

    Raises:
        SystemExit: the command failed; its output is printed.

    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("HMXGRAPH_", "PYTHONPATH"))
    }
    environment |= {"HMXGRAPH_HOME": str(home), "HMXGRAPH_TIMEOUT": "120", "COLUMNS": "80"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def main() -> None:
    """Try the wheel with every Python, and the source distribution with the first."""
    wheel, source = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    home = Path(tempfile.mkdtemp(prefix="hmxgraph-dist-home-"))
    present = list(pythons())
    if not present:
        raise SystemExit(f"none of Python {', '.join(VERSIONS)} is on this machine")
    try:
        for version, program in present:
            try_out(version, program, wheel, home)
        try_out(*present[0], source, home)
    finally:
        run([sys.executable, "-m", "hmxgraph", "server", "stop"], str(DIST), home)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
