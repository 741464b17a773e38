"""The warm process and those who ask it, when one of both is silent."""

import json
import os
import socket

import pytest

from hmxgraph.adapters import warm
from hmxgraph.adapters.warm import Warm


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Where a warm process of this test says that it is."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(tmp_path))
    monkeypatch.setattr(warm, "_HANDSHAKE", 1)
    return warm.state_file()


def test_a_silent_client_keeps_nobody_waiting(file):
    """It holds its own connection only."""
    with Warm(lambda message: ({"echo": message}, None)).listening(file):
        port = json.loads(file.read_bytes())["port"]
        with socket.create_connection(("127.0.0.1", port)):
            assert warm.asked({"a": 1}) == {"echo": {"a": 1}}


def test_a_silent_process_is_given_up(file):
    """Whoever asks goes on without it: a stopped process accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        file.parent.mkdir(parents=True)
        state = {"port": server.getsockname()[1], "key": "00" * 32, "pid": os.getpid()}
        file.write_text(json.dumps(state))
        assert warm.asked({"a": 1}) is None
