import os
import sys

import psutil
import pytest

from hmxgraph.engine._process import find, home_argument, is_server, launch, terminate

PAUSE = "import signal; signal.pause()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('ready', 'w').close(); signal.pause()"


@pytest.fixture
def start(tmp_path):
    """Start programs that look like the server of the home *tmp_path*; remaining ones are killed."""
    started: list[int] = []

    def run(*program: str) -> int:
        started.append(launch([*program, home_argument(tmp_path), "--console-mode"], tmp_path, tmp_path / "log"))
        return started[-1]

    yield run
    for pid in started:
        if is_server(pid, tmp_path):
            psutil.Process(pid).kill()


@pytest.fixture
def waiting(start):
    """Return a process with the command line of a server."""
    return start(sys.executable, "-c", PAUSE)


def test_server_is_known_by_its_home(waiting, tmp_path):
    """A running server is found by its own data home only."""
    assert is_server(waiting, tmp_path)
    assert find(tmp_path) == waiting
    assert not is_server(waiting, tmp_path / "deeper")
    assert find(tmp_path.parent) is None


def test_server_is_detached(waiting):
    """The server has its own session and is not our child, so it outlives us and leaves no zombie."""
    assert os.getsid(waiting) != os.getsid(0)
    assert psutil.Process(waiting).ppid() != os.getpid()


def test_a_reused_number_fools_nobody(tmp_path):
    """A process with the same id but another command line is not the server."""
    assert not is_server(os.getpid(), tmp_path)


def test_killed_server_is_gone(waiting, tmp_path):
    """A killed server counts as gone, even if it is still a zombie."""
    psutil.Process(waiting).kill()
    assert terminate(waiting, tmp_path, 10)
    assert not is_server(waiting, tmp_path)
    assert find(tmp_path) is None


def test_terminated_server_is_waited_for(waiting, tmp_path):
    """Terminating returns when the process has exited."""
    assert terminate(waiting, tmp_path, 10)
    assert find(tmp_path) is None


def test_server_that_ignores_the_request(start, tmp_path):
    """A process that ignores SIGTERM is reported, not killed."""
    os.mkfifo(tmp_path / "ready")
    pid = start(sys.executable, "-c", DEAF)
    (tmp_path / "ready").read_bytes()  # blocks until the process has written, so that it is deaf by now
    assert not terminate(pid, tmp_path, 0.2)
    assert is_server(pid, tmp_path)


def test_terminating_what_is_gone(tmp_path):
    """A process that has exited meanwhile counts as stopped."""
    assert terminate(2**22 - 1, tmp_path, 1)


def test_output_is_appended_to_the_log(start, tmp_path):
    """Standard output and error of all starts are appended to the log."""
    for word in ("first", "second"):
        os.mkfifo(tmp_path / word)
        start("/bin/sh", "-c", f"echo {word}; echo {word} >&2; exec 3>{word}")
        (tmp_path / word).read_bytes()
    assert (tmp_path / "log").read_text().split() == ["first", "first", "second", "second"]


def test_log_that_cannot_be_written(tmp_path):
    """If the log cannot be opened, nothing is started and the reason is reported."""
    (tmp_path / "log").mkdir()
    with pytest.raises(OSError, match="log"):
        launch(["/bin/sleep", "60"], tmp_path, tmp_path / "log")
