"""Small servers for stream tests: started on a free port, stopped with the test."""

import shutil
import socket
import subprocess
from contextlib import contextmanager
from time import monotonic

import pytest


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def program(name, *arguments, port):
    """The program, running until the block ends; skips where it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: apt-get install {name})")
    process = subprocess.Popen([path, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(port) -> None:
    """Return when something listens on *port*."""
    end = monotonic() + 20
    while monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            continue
        return
    raise AssertionError(f"nothing listens on {port}")
