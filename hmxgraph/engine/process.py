"""The server's operating system process: launch it apart from ours, find it, end it."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

from hmxgraph.engine.configuration import home_argument
from hmxgraph.engine.java import LOCALE

# The shell steps aside at once, so the server belongs to nobody here: it outlives us, and leaves us no zombie.
_APART = 'exec 3>&1 >>"$1" 2>&1; shift; "$@" 3>&- & echo $! >&3'

_PAUSE = 0.1
_LOOKS = 10


def launch(command: list[str], home: Path, log: Path) -> int:
    """Start *command* in its own session, output appended to *log*; its process id."""
    shell = ["/bin/sh", "-c", _APART, "sh", str(log), *command]
    said = subprocess.run(  # noqa: S603
        shell,
        cwd=home,
        env={**os.environ, **LOCALE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    if not said.stdout:
        raise OSError(said.stderr.strip())
    return int(said.stdout)


def is_server(pid: int, home: Path) -> bool:
    """Whether *pid* is, now, the server of *home*: told by its command line, so a reused number fools nobody."""
    try:
        return _serves(_command(psutil.Process(pid)), home)
    except psutil.Error:
        return False


def _command(running: psutil.Process) -> list[str]:
    """The command line; for an instant, while one program replaces another (exec), a process has none."""
    for _ in range(_LOOKS):
        command = running.cmdline()
        if command:
            return command
        time.sleep(_PAUSE / _LOOKS)
    return []


def _serves(command: list[str] | None, home: Path) -> bool:
    return command is not None and "--console-mode" in command and home_argument(home) in command


def find(home: Path) -> int | None:
    """The process id of the server of *home*, whatever the state file says."""
    return next((p.pid for p in psutil.process_iter(["cmdline"]) if _serves(p.info["cmdline"], home)), None)


def terminate(pid: int, home: Path, seconds: float) -> bool:
    """Ask the server of *home* to stop and wait for it; whether it is gone."""
    deadline = time.monotonic() + seconds
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    while is_server(pid, home):
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
