"""The warm process and its clients, if one of them is silent."""

import json
import os
import socket
import subprocess
from multiprocessing import Pipe
from threading import Thread

import pytest

from hmxgraph.adapters import warm
from hmxgraph.adapters.warm import Warm


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The state file of this test's warm process."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(tmp_path))
    monkeypatch.setattr(warm, "_HANDSHAKE", 1)
    return warm.state_file()


def test_a_silent_client_keeps_nobody_waiting(file):
    """A silent client blocks only its own connection."""
    with Warm(lambda message: ({"echo": message}, None)).listening(file):
        port = json.loads(file.read_bytes())["port"]
        with socket.create_connection(("127.0.0.1", port)):
            assert warm.ask({"a": 1}) == {"echo": {"a": 1}}


def test_a_silent_process_is_given_up(file):
    """A client gives up on a stopped process, which accepts connections but does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        file.parent.mkdir(parents=True)
        state = {"port": server.getsockname()[1], "key": "00" * 32, "pid": os.getpid()}
        file.write_text(json.dumps(state))
        assert warm.ask({"a": 1}) is None


def test_a_command_waits_for_a_process_that_is_starting(file):
    """A process that is starting has announced its id; a command waits until it listens, a hook does not."""
    warm._announce(os.getpid())
    answers: list[object] = []
    client = Thread(target=lambda: answers.append(warm.ask({"a": 1}, patience=60)))
    client.start()
    assert warm.ask({"a": 1}) is None
    with Warm(lambda message: ({"echo": message}, None)).listening(file):
        client.join()
    assert answers == [{"echo": {"a": 1}}]


def test_nobody_waits_for_a_process_that_died_while_starting(file):
    """A process that ended before it listened is not waited for, and another may be announced."""
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    warm._announce(ended.pid)
    assert warm.ask({"a": 1}, patience=60) is None
    warm._announce(os.getpid())
    assert json.loads(file.read_bytes())["pid"] == os.getpid()


def test_a_process_that_answers_stays_announced(file):
    """Another process that starts meanwhile does not hide the address of the one that answers."""
    with Warm(lambda message: ({"echo": message}, None)).listening(file):
        warm._announce(os.getppid())
        assert warm.ask({"a": 1}) == {"echo": {"a": 1}}


def test_another_process_may_start_once_one_has_ended(file, monkeypatch):
    """A new process waits 20 s after one that was started, as that may be starting still, unless it has ended."""
    monkeypatch.setattr(warm, "_DETACHED", 'echo 1 >> "$1.starts"; echo 1')
    starts = file.with_suffix(".log.starts")
    warm.start({})
    warm.start({})
    assert starts.read_text() == "1\n"
    with Warm(lambda message: (message, None)).listening(file):
        pass
    warm.start({})
    assert starts.read_text() == "1\n1\n"


@pytest.mark.parametrize("message", [b"", b"{", b"\xff"])
def test_a_message_that_is_not_json_is_ignored(message):
    """A client that sends anything but JSON gets no answer, and the process goes on."""
    ours, theirs = Pipe()

    def send():
        warm._authenticate(theirs, b"key", answering=True)
        theirs.send_bytes(message)

    client = Thread(target=send)
    client.start()
    Warm(lambda _: pytest.fail("answered"))._converse(ours, b"key")
    client.join()
    with theirs, pytest.raises(EOFError):
        theirs.recv_bytes()


def test_a_process_that_cannot_be_started_is_an_error_that_hooks_expect(file, monkeypatch):
    """A shell that fails, for example because no process can be created, must not fail the hook."""
    monkeypatch.setattr(warm, "_DETACHED", "exit 2")
    with pytest.raises(OSError, match="could not be started"):
        warm.start({"event": "Stop"})
    assert not file.exists()
