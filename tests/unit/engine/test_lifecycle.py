"""The lifecycle of a server whose Java is a short script: every way to fail to start, without a database."""

import os
import shutil
import stat
import sys
from pathlib import Path
from time import monotonic

import psutil
import pytest

from hmxgraph import engine
from hmxgraph.engine import _data_home
from hmxgraph.engine._data_home import exclusive
from hmxgraph.engine._process import find
from hmxgraph.errors import (
    EngineError,
    JavaMissing,
    NotEnoughMemory,
    NotWritten,
    PasswordLost,
    PortTaken,
    ServerDied,
    ServerUnresponsive,
)
from tests.unit.engine.conftest import NEO4J

SILENT = f"exec {sys.executable} -c 'import signal; signal.pause()' \"$@\""  # a live process that opens no port


def test_server_that_dies_while_starting(home, use):
    """The error has the server's last lines and the next steps."""
    use("echo 'old words'; exit 1")
    with pytest.raises(ServerDied, match="old words"):
        engine.ensure(home)
    use("echo 'something odd happened' >&2; exit 3")
    with pytest.raises(ServerDied, match=r"something odd happened(.|\n)*HMXGRAPH_URI") as caught:
        engine.ensure(home)
    assert "old words" not in str(caught.value)
    assert engine.status(home).state == "stopped"


def test_a_dump_that_cannot_be_written_leaves_the_server_alone(home, use, tmp_path):
    """A missing folder, a file in its place and a folder as the target are refused before the server is stopped."""
    use(NEO4J)
    engine.ensure(home)
    (home / "data" / "databases" / "neo4j").mkdir(parents=True)
    pid = find(home)
    (tmp_path / "file").touch()
    (tmp_path / "folder.dump").mkdir()
    for target in (tmp_path / "missing" / "all.dump", tmp_path / "file" / "all.dump", tmp_path / "folder.dump"):
        with pytest.raises(NotWritten, match=f"cannot write {target}"):
            engine.dump(target, home)
    assert find(home) == pid
    names = {path.name for path in tmp_path.iterdir()}
    engine.dump(tmp_path / "all.dump", home)
    assert {path.name for path in tmp_path.iterdir()} == names | {"all.dump"}
    assert find(home) not in {pid, None}


def test_server_that_never_answers(home, use, monkeypatch):
    """A process that opens no port is an error after the time limit; stop terminates it."""
    monkeypatch.setenv("HMXGRAPH_START_SECONDS", "1")
    use(SILENT)
    with pytest.raises(ServerUnresponsive, match=r"does not answer after 1 s.*hmxgraph server stop"):
        engine.ensure(home)
    assert engine.status(home).state == "unresponsive"
    pid = find(home)
    with pytest.raises(ServerUnresponsive, match=f"process {pid}"):  # the same one, never a second
        engine.ensure(home)
    assert engine.stop(home)
    assert engine.status(home).state == "stopped"


def test_server_that_never_answers_on_a_full_disk(home, use, monkeypatch):
    """On a full disk Neo4j starts without its database and does not say so; the error does."""
    monkeypatch.setenv("HMXGRAPH_START_SECONDS", "1")
    left = shutil.disk_usage("/")._replace(free=7 * 1024 * 1024)
    monkeypatch.setattr("hmxgraph.engine._refusals.disk_usage", lambda _: left)
    use(SILENT)
    with pytest.raises(ServerUnresponsive, match=r"after 1 s, with 7 MiB left.*free 300 MB.*hmxgraph server stop"):
        engine.ensure(home)
    assert engine.stop(home)


def test_a_frozen_server_is_reached_at_once(home, pretended_neo4j):
    """A frozen server counts as reachable without waiting; a killed one does not."""
    server = engine.ensure(home)
    process = psutil.Process(server.pid)
    process.suspend()
    began = monotonic()
    assert engine.reachable(home) == server
    assert engine.runs(home)
    assert not engine.died(home)
    assert monotonic() - began < 1
    process.kill()
    psutil.wait_procs([process], timeout=20)
    assert engine.reachable(home) is None
    assert engine.died(home)
    assert not engine.runs(home)


def test_port_taken_at_the_last_moment(home, use, tmp_path):
    """If a port is taken after all, the server is started on other ports before giving up."""
    use(f"echo start >> {tmp_path}/starts; echo 'bind failed: Address already in use'; exit 1")
    with pytest.raises(PortTaken, match="already in use"):
        engine.ensure(home)
    assert (tmp_path / "starts").read_text().split() == ["start"] * 3


def test_wanted_ports_are_not_replaced(home, use, tmp_path, monkeypatch, unused_ports):
    """Configured ports are never replaced by others."""
    monkeypatch.setenv("HMXGRAPH_BOLT_PORT", str(unused_ports[0]))
    monkeypatch.setenv("HMXGRAPH_HTTP_PORT", str(unused_ports[1]))
    use(f"echo start >> {tmp_path}/starts; echo 'bind failed: Address already in use'; exit 1")
    with pytest.raises(PortTaken):
        engine.ensure(home)
    assert (tmp_path / "starts").read_text().split() == ["start"]


def test_no_java(home, monkeypatch):
    """Without a suitable Java nothing is started."""
    monkeypatch.setenv("HMXGRAPH_JAVA", "/bin/false")
    with pytest.raises(JavaMissing, match="not a Java"):
        engine.ensure(home)


def test_too_little_memory(home, monkeypatch):
    """A heap that does not fit is rejected before anything is started."""
    monkeypatch.setenv("HMXGRAPH_HEAP", "900t")
    with pytest.raises(NotEnoughMemory):
        engine.ensure(home)


def test_home_that_cannot_be_made(home, tmp_path):
    """A data home below a file is rejected by name."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match=r"file/home cannot be used .*HMXGRAPH_HOME"):
        engine.ensure(tmp_path / "file" / "home")


def test_the_data_home_is_private_at_every_start(home, pretended_neo4j):
    """A folder that was open to all becomes private; so are the server's files."""
    home.mkdir()
    home.chmod(0o755)
    engine.ensure(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    engine.stop(home)
    home.chmod(0o777)
    engine.ensure(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (home / "logs").iterdir()} == {0}


def test_password_that_no_longer_fits(home, use):
    """A server that refuses the stored password gives another error than one that does not start."""
    use(f"{NEO4J} --refuse")
    with pytest.raises(PasswordLost, match="refuses the password"):
        engine.ensure(home)


def test_lost_state_is_found_again(home, pretended_neo4j):
    """Whatever happens to the state file, the running server is used and no second one started."""
    first = engine.ensure(home)
    path = home / "server.json"
    whole = path.read_bytes()
    for damage in (b"", whole[:30], whole.replace(str(first.pid).encode(), str(os.getpid()).encode())):
        path.write_bytes(damage)
        assert engine.status(home).pid == first.pid
        assert engine.ensure(home) == first
        assert _data_home.load(home) == first
    path.unlink()
    assert engine.ensure(home) == first
    assert len(servers(home)) == 1


def test_killed_server_is_started_again(home, pretended_neo4j):
    """After kill -9 the next call starts a new process with the same ports and password."""
    first = engine.ensure(home)
    psutil.Process(first.pid).kill()
    second = engine.ensure(home)
    assert second.pid != first.pid
    assert (second.uri, second.password) == (first.uri, first.password)


def test_startup_steps_are_reported(home, pretended_neo4j):
    """Progress is reported when a server starts, but not if it already runs."""
    steps: list[engine.Step] = []
    engine.ensure(home, progress=steps.append)
    assert [step.what for step in steps] == ["starting Neo4j 5.99.0"]
    engine.ensure(home, progress=steps.append)
    assert len(steps) == 1


def test_stopping_nothing(home):
    """Stopping returns False if nothing is running, or nothing ever was."""
    assert not engine.stop(home)
    assert not home.exists()
    assert engine.logs(home) == ""
    assert engine.status(home) == engine.Status("stopped", home)


def test_a_server_whose_home_was_moved_is_stopped_by_the_old_name(home, pretended_neo4j):
    """It keeps running under the old name and locks its data; there it is found and stopped."""
    server = engine.ensure(home)
    home.rename(home.with_name("moved"))
    assert engine.status(home).pid == server.pid
    assert engine.stop(home)
    assert servers(home) == []
    assert not engine.stop(home)
    assert not home.exists()


def test_stopping_where_nothing_can_be_written(tmp_path):
    """If the lock cannot be created, the error names the variable of the data home."""
    (tmp_path / "server.lock").mkdir()
    with pytest.raises(EngineError, match=r"cannot be used .*HMXGRAPH_HOME"):
        engine.stop(tmp_path)


def test_lock_held_for_too_long(tmp_path):
    """A lock that is never released is an error that names it, after the wait was reported."""
    notices: list[str] = []
    with exclusive(tmp_path / "lock", 1), pytest.raises(EngineError, match="another process has held"):  # noqa: SIM117
        with exclusive(tmp_path / "lock", 0.2, lambda: notices.append("waiting")):
            pass
    assert notices == ["waiting"]


def servers(home: Path) -> list[int]:
    """Return the processes that run on *home*."""
    mark = f"--home-dir={home}"
    return [p.pid for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())]
