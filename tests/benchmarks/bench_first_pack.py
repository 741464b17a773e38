"""What a newcomer waits for: the first pack after a start of the local server, then commands on a warm one."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, sleep

import pytest

from hmxgraph import engine

pytestmark = pytest.mark.bench
GOAL_SECONDS = 2.5
# Seconds between the start and the first pack: asked at once, and after the newcomer has read what start printed.
PAUSES = (0, 10)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A data home of its own."""
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)
    with tempfile.TemporaryDirectory(prefix="hmxgraph-bench-", ignore_cleanup_errors=True) as home:
        yield {**os.environ, "HMXGRAPH_HOME": home, "HMXGRAPH_TIMEOUT": "120"}
        engine.stop(Path(home))


def command(environment: dict[str, str], *arguments: str) -> tuple[float, float]:
    """Seconds that a command took, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = perf_counter()
    subprocess.run([sys.executable, "-m", "hmxgraph", *arguments], env=environment, check=True, capture_output=True)
    seconds, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_first_pack(environment: dict[str, str]) -> None:
    """The first pack of a data home with a memory takes at most 2.5 s, asked some seconds after the start."""
    command(environment, "server", "start")
    command(environment, "remember", "Always verify the rollout", "--kind", "policy")
    firsts = []
    for pause in PAUSES:
        command(environment, "server", "stop")
        start, _ = command(environment, "server", "start")
        sleep(pause)
        first, processor = command(environment, "pack", "Deploy to staging")
        firsts.append(first)
        print(
            f"\n  server start {start:.1f} s; first pack {pause} s later {first:.1f} s "
            f"(goal {GOAL_SECONDS}; processor time of the command {processor:.2f} s)",
            end="",
        )
    for arguments in (("--version",), ("pack", "Deploy to staging"), ("remember", "Never push on Fridays")):
        seconds, processor = command(environment, *arguments)
        print(f"\n  hmxgraph {arguments[0]}: {seconds:.2f} s, processor time {processor:.2f} s", end="")
    print()
    assert firsts[-1] <= GOAL_SECONDS
