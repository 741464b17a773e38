"""Fixtures: the command line, a running server, and the task, record and memory operations of a tenant."""

import sys

import pytest

from hmxgraph import engine
from hmxgraph.cli import main
from tests.integration.serving import server_process
from tests.task_makers import memory_of, records_of, tasks_of


@pytest.fixture
def run(address, tenant_id, monkeypatch, capsys):
    """Runs the command line; returns exit code, standard output and standard error."""
    settings = {"URI": address.uri, "USER": address.user, "PASSWORD": address.password, "DATABASE": address.database}
    for name, value in settings.items():
        monkeypatch.setenv(f"HMXGRAPH_{name}", value)
    monkeypatch.setenv("HMXGRAPH_TENANT", tenant_id)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hmxgraph", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def local(tmp_path, monkeypatch):
    """A local server of the test's own, with no other server configured."""
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)
    monkeypatch.setenv("HMXGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HMXGRAPH_START_SECONDS", "300")
    try:
        yield engine.ensure()
    finally:
        engine.stop()


@pytest.fixture(scope="session")
def served(address, tmp_path_factory):
    """One ``hmxgraph serve`` without a rate limit, shared by all tests that talk to a server."""
    with server_process(address, tmp_path_factory.mktemp("served"), "--rate", "0") as running:
        yield running


@pytest.fixture
def tasks(graph):
    """The tasks of a fresh tenant."""
    return tasks_of(graph)


@pytest.fixture
def records(graph):
    """The records of a fresh tenant."""
    return records_of(graph)


@pytest.fixture
def memory(graph):
    """The memory operations of a fresh tenant."""
    return memory_of(graph)
