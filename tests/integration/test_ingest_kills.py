"""An ingest that was killed at any moment and run again gives the graph of an undisturbed run."""

import json
import os
import subprocess
import sys
import threading

import psutil
import pytest

import hmxgraph
from hmxgraph import engine
from hmxgraph.errors import StorageUnavailable
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document

EVENTS = 540
REPEATS = 60
INGEST = """
import os, sys, hmxgraph
login = {name: os.environ["KILLED_" + name.upper()] for name in ("uri", "user", "password")}
with hmxgraph.connect(tenant_id=sys.argv[1], **login) as graph:
    graph.ingest(sys.argv[2], rehome=True, batch_size=30, progress=lambda settled: print(settled, flush=True))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A file of interleaved sessions, out of order, with calls, answers, causes and repeats."""
    path = tmp_path_factory.mktemp("kills") / "events.ndjson"
    lines = [json.dumps(event(number)) for number in range(EVENTS)]
    for at in range(0, EVENTS - 7, 13):
        lines[at], lines[at + 6] = lines[at + 6], lines[at]
    path.write_text("\n".join([*lines, *lines[100 : 100 + REPEATS]]))
    return path


def event(number):
    """An event of one of nine sessions; in each, calls, results and messages take turns."""
    session, step = number % 9, number // 9
    kind = ("tool_call", "tool_result", "message")[step % 3]
    content = {
        "tool_name": f"tool{session}",
        "call_id": f"c{step // 3}",
        "arguments": {"n": number},
        "text": f"Say {number}",
    }
    return document(
        event_id=f"e{number:05}",
        session_id=f"s{session}",
        sequence=step,
        event_type=kind,
        content=content,
        parent_event_id=f"e{number - 10:05}" if number >= 10 else "missing",
        timestamp=f"2026-03-14T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
    )


def undisturbed(address, tenant_id, source):
    """The graph of an uninterrupted run."""
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
        graph.ingest(source, rehome=True)
    return picture(address, tenant_id)


def picture(address, tenant_id):
    """Everything the tenant holds."""
    connection = Connection(address)
    try:
        return Ingested(connection, tenant_id).picture()
    finally:
        connection.close()


def stored(graph):
    """How many events the tenant has so far."""
    return graph.health()["event_count"]


def test_killed_clients(address, tenant_id, source):
    """A client killed again and again loses and duplicates nothing."""
    login = {f"KILLED_{name.upper()}": getattr(address, name) for name in ("uri", "user", "password")}
    command = [sys.executable, "-c", INGEST, tenant_id, str(source)]
    for goal in (1, 200, 400):
        with subprocess.Popen(command, env={**os.environ, **login}, stdout=subprocess.PIPE, text=True) as process:
            next((line for line in process.stdout if int(line) >= goal), None)
            process.kill()
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
        report = graph.ingest(source, rehome=True)
        assert report.accepted + report.duplicates == EVENTS + REPEATS
        assert stored(graph) == EVENTS
    assert picture(address, tenant_id) == undisturbed(address, f"{tenant_id}-whole", source)


@pytest.mark.slow
@pytest.mark.server
def test_killed_servers(tmp_path_factory, monkeypatch, source):
    """If the server is killed and restarted, the same ingest goes on or stops with one clear error."""
    monkeypatch.setenv("HMXGRAPH_HEAP", "512m")
    monkeypatch.setenv("HMXGRAPH_PAGECACHE", "128m")
    home = tmp_path_factory.mktemp("killed-server")
    try:
        server = engine.ensure(home)
        address = Address(server.uri, server.user, server.password)
        with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id="killed") as graph:
            kill_while_ingesting(graph, home, source)
            graph.ingest(source, rehome=True)
            assert stored(graph) == EVENTS
        assert picture(address, "killed") == undisturbed(address, "whole", source)
    finally:
        engine.stop(home)


def kill_while_ingesting(graph, home, source):
    """Ingest in one thread; midway, kill the server and start it again."""
    errors, midway = [], threading.Event()

    def run():
        try:
            graph.ingest(
                source, rehome=True, batch_size=30, progress=lambda settled: midway.set() if settled > 200 else None
            )
        except StorageUnavailable as error:
            errors.append(error)

    writer = threading.Thread(target=run)
    writer.start()
    midway.wait()
    process = psutil.Process(engine.status(home).pid)
    process.kill()
    process.wait()
    engine.ensure(home)
    writer.join()
    assert len(errors) <= 1
