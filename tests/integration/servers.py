"""Small servers for stream tests: started on a free port, stopped when the test ends."""

import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest


def free_port() -> int:
    """A port on which nothing is listening."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def program(name, *arguments, port):
    """The program, running until the block ends; skips the test if it is not installed."""
    path = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: apt-get install {name})")
    process = subprocess.Popen([path, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(port, seconds=20) -> None:
    """Wait until something listens on *port*."""
    end = monotonic() + seconds
    while monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            continue
        return
    raise AssertionError(f"nothing listens on {port}")
