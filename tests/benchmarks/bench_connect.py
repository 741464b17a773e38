"""Time of the first connection to an empty database, which creates the schema, and of a second connection."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

import hmxgraph
from hmxgraph import engine
from hmxgraph.graph.driver import Address

pytestmark = pytest.mark.bench
GOAL_SECONDS = 5.0


@pytest.fixture(scope="module")
def empty_server() -> Iterator[tuple[Address, float]]:
    """A server that nobody has connected to yet, and the seconds its start took."""
    with tempfile.TemporaryDirectory(prefix="hmxgraph-bench-", ignore_cleanup_errors=True) as home:
        try:
            began = perf_counter()
            server = engine.ensure(Path(home))
            yield Address(server.uri, server.user, server.password), perf_counter() - began
        finally:
            engine.stop(Path(home))


def connected(address: Address) -> tuple[float, int]:
    """Seconds to connect, and the number of indexes not online afterwards."""
    began = perf_counter()
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id="first") as graph:
        seconds = perf_counter() - began
        return seconds, len(graph.health()["indexes_not_online"])


def test_first_connect(empty_server):
    """On a quiet machine the first client connects within 5 s, and every index is online."""
    address, start = empty_server
    first, missing = connected(address)
    again, _ = connected(address)
    print(f"\n  server start {start:.2f} s, first connect {first:.2f} s (goal {GOAL_SECONDS:.0f}), again {again:.3f} s")
    assert missing == 0
    assert first <= GOAL_SECONDS
