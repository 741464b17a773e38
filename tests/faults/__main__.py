"""Plant faults and print who finds them: ``python -m tests.faults kit``, ``suite`` or ``slow``.

``kit``: the conformance kit alone must find each fault of ``kit.toml``. ``suite``: of the tests named beside each fault
of ``suite.toml``, those that ``make test`` runs must; ``slow``: those that only ``make test-all`` runs. Words after
that choose the faults that contain one of them.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from tests.databases import local_database
from tests.faults.faults import Copy, Fault, faults

SECONDS = 900
_LINE = 150
Judge: TypeAlias = Callable[[Copy, Fault], tuple[str, str]]


def main(which: str, *words: str) -> int:
    """Plant each fault and print its verdict; the exit code is 1 if one survived."""
    judge = {"kit": _by_kit, "suite": _by_tests("not slow and not fuzz and not bench"), "slow": _by_tests("slow")}[
        which
    ]
    listed = faults("kit" if which == "kit" else "suite")
    chosen = [fault for fault in listed if not words or any(word in _named(fault) for word in words)]
    verdicts = Counter[str]()
    with _environment() as environment, tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), environment)
        for number, fault in enumerate(chosen, start=1):
            with copy.planted(fault):
                verdict, detail = _timed(judge, copy, fault)
            verdicts[verdict] += 1
            where = fault.commit or fault.clause or fault.file
            _print(f"{number:3} {verdict:8} {where}: {fault.breaks} | {detail}"[:_LINE])
    _print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) + f" of {len(chosen)}")
    return 1 if verdicts["survived"] else 0


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _named(fault: Fault) -> str:
    return f"{fault.file} {fault.breaks} {fault.clause} {fault.commit}"


def _timed(judge: Judge, copy: Copy, fault: Fault) -> tuple[str, str]:
    try:
        return judge(copy, fault)
    except subprocess.TimeoutExpired:
        return "killed", f"no end within {SECONDS} s"


def _by_kit(copy: Copy, fault: Fault) -> tuple[str, str]:
    done = copy.run("-m", "tests.faults.put_kit", fault.clause, seconds=SECONDS)
    if done.returncode == 0:
        return "survived", ""
    return "killed", (done.stdout or done.stderr).strip().splitlines()[-1]


def _by_tests(marks: str) -> Judge:
    """A judge by the tests named beside a fault that have these *marks*; it stops at the first that fails."""

    def judge(copy: Copy, fault: Fault) -> tuple[str, str]:
        done = copy.run("-m", "pytest", "-q", "-x", "-n", "0", "-m", marks, *fault.tests, seconds=SECONDS)
        if done.returncode == 1:
            return "killed", next((line for line in done.stdout.splitlines() if line.startswith("FAILED")), "an error")
        # 5: no test is chosen by these marks.
        if done.returncode not in {0, 5}:
            raise RuntimeError(f"{fault.breaks}: pytest did not run: {done.stdout[-500:]}{done.stderr[-500:]}")
        return "survived", ""

    return judge


@contextmanager
def _environment() -> Iterator[dict[str, str]]:
    """The server of HMXGRAPH_TEST_URI, else a local one, under the names that tests and programs read."""
    if "HMXGRAPH_TEST_URI" in os.environ:
        given = {name: os.environ.get(f"HMXGRAPH_TEST_{name}", "") for name in ("URI", "USER", "PASSWORD")}
        yield _login(given)
        return
    with tempfile.TemporaryDirectory() as home, local_database(Path(home)) as address:
        yield _login({"URI": address.uri, "USER": address.user, "PASSWORD": address.password})


def _login(login: dict[str, str]) -> dict[str, str]:
    given = {f"HMXGRAPH_TEST_{name}": value for name, value in login.items()}
    return given | {f"HMXGRAPH_{name}": value for name, value in login.items()} | {"HMXGRAPH_TIMEOUT": "120"}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
