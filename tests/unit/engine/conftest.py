"""Stand-ins for the engine's surroundings, as real files and processes: a Maven repository, a Java, jars."""

import hashlib
import socket
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from hmxgraph import engine
from hmxgraph.engine._jars import Jar
from hmxgraph.engine._settings import Settings

ENTRY_POINT = "org/neo4j/server/CommunityEntryPoint.class"
NEO4J = f'exec {sys.executable} {Path(__file__).with_name("pretended_neo4j.py")} "$@"'
VARIABLES = ("JARS", "JAVA", "HEAP", "PAGECACHE", "BOLT_PORT", "HTTP_PORT", "START_SECONDS", "MAVEN_URL", "CACHE")


@dataclass
class Repository:
    """A Maven repository on this machine: jars by path, and wrong answers to send before the right one."""

    url: str = ""
    jars: dict[str, bytes] = field(default_factory=dict)
    first: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def publish(self, coordinate: str, body: bytes, *first: tuple[int, bytes]) -> Jar:
        """Serve *body* at *coordinate*, after the answers *first*; return its line of the lock file."""
        group, name, version = coordinate.split(":")
        path = f"/{group.replace('.', '/')}/{name}/{version}/{name}-{version}.jar"
        self.jars[path], self.first[path] = body, list(first)
        return Jar(coordinate, hashlib.sha256(body).hexdigest(), len(body))

    def answer(self, path: str) -> tuple[int, bytes]:
        """Return status and body for *path*."""
        self.asked.append(path)
        if self.first.get(path):
            return self.first[path].pop(0)
        return (200, self.jars[path]) if path in self.jars else (404, b"")


@pytest.fixture
def repository() -> Iterator[Repository]:
    """An empty repository that answers on the loopback interface."""
    served = Repository()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = served.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        served.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        server.shutdown()
        thread.join()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a temporary home and cache, without pauses."""
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", retry_seconds=(0, 0, 0))


@pytest.fixture
def jar_folder(tmp_path: Path) -> Path:
    """A folder with one jar that claims to be a server."""
    folder = tmp_path / "jars"
    folder.mkdir()
    write_jar(folder / "neo4j-5.99.0.jar", ENTRY_POINT)
    return folder


def write_jar(path: Path, *names: str) -> None:
    """Write an archive of empty files called *names*."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")


@pytest.fixture
def java(tmp_path: Path) -> Callable[..., Path]:
    """Make a program that claims to be a Java and runs *body* when asked to run the server."""

    def make(body: str = "exit 1", version: str = "17.0.1", name: str = "java") -> Path:
        program = tmp_path / name
        program.write_text(
            f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}"\' >&2 && exit 0\n'
            f'case "$*" in *AdminTool*) exit 0;; *-Xshare:dump*) exit 1;; esac\n{body}\n'
        )
        program.chmod(0o755)
        return program

    return make


@pytest.fixture
def home(tmp_path: Path, jar_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data home whose server is what ``HMXGRAPH_JAVA`` runs; no process is left behind."""
    for name in VARIABLES:
        monkeypatch.delenv(f"HMXGRAPH_{name}", raising=False)
    monkeypatch.setenv("HMXGRAPH_JARS", str(jar_folder))
    monkeypatch.setenv("HMXGRAPH_START_SECONDS", "30")
    yield tmp_path / "home"
    engine.stop(tmp_path / "home")


@pytest.fixture
def use(java: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make the server's Java a script with the given body."""
    return lambda body: monkeypatch.setenv("HMXGRAPH_JAVA", str(java(body)))


@pytest.fixture
def pretended_neo4j(use: Callable[[str], None]) -> None:
    """Make the server a process that answers like Neo4j as far as the engine asks."""
    use(NEO4J)


@pytest.fixture
def unused_ports() -> list[int]:
    """Two ports on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return [first.getsockname()[1], second.getsockname()[1]]
