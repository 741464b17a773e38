import os
import stat
import time

import pytest

from hmxgraph.engine import _data_home
from hmxgraph.engine._data_home import write_private
from hmxgraph.engine.server import Server, Status
from hmxgraph.graph.deadlines import settling


@pytest.fixture
def server(tmp_path):
    """A server as stored in the state file."""
    web = "http://127.0.0.1:2"
    return Server("bolt://127.0.0.1:1", web, f"{web}/browser/", "neo4j", "a secret", 4711, tmp_path, "5.26.31")


def test_state_comes_back(server, tmp_path):
    """A saved state can be loaded."""
    _data_home.save(server)
    assert _data_home.load(tmp_path) == server


def test_a_server_has_just_started_for_two_minutes(server, tmp_path):
    """Since its state was written; where none is, none has."""
    state = _data_home.state_file(tmp_path)
    assert not settling(state)
    _data_home.save(server)
    assert settling(state)
    earlier = time.time() - 130
    os.utime(state, (earlier, earlier))
    assert not settling(state)


def test_state_is_private(server, tmp_path):
    """Only its owner can read the state file, and no other file is left next to it."""
    _data_home.save(server)
    _data_home.save(server)
    assert [path.name for path in tmp_path.iterdir()] == ["server.json"]
    assert stat.S_IMODE((tmp_path / "server.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_cut_state_is_no_state(server, tmp_path, cut):
    """A truncated state file counts as missing."""
    _data_home.save(server)
    path = tmp_path / "server.json"
    path.write_bytes(path.read_bytes()[:cut])
    assert _data_home.load(tmp_path) is None


@pytest.mark.parametrize("text", ["[]", "null", "{}", '{"pid": 1}', '{"uri": 1, "more": 2}', "\ufffd"])
def test_foreign_state_is_no_state(tmp_path, text):
    """A state file of another form counts as missing."""
    (tmp_path / "server.json").write_text(text)
    assert _data_home.load(tmp_path) is None


def test_state_belongs_to_the_folder_it_is_in(server, tmp_path):
    """The state of a moved data home has its new path."""
    _data_home.save(server)
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert _data_home.load(moved).home == moved


def test_password_is_not_shown_by_accident(server):
    """Neither repr nor the status document has the password; the server's document does."""
    assert "a secret" not in repr(server)
    assert "a secret" not in str(Status("running", server.home, server).document())
    assert server.document()["password"] == "a secret"


def test_status_reports_health(server):
    """Only a running server is healthy."""
    assert Status("running", server.home, server).healthy
    assert not Status("stopped", server.home).healthy
    assert Status("stopped", server.home).document()["server"] is None


def test_private_file_is_replaced_whole(tmp_path):
    """A rewritten private file is private, even if everybody could read it before."""
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
