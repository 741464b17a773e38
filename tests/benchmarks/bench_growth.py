"""What calls cost as the store grows, in accesses to the store (PROFILE), which no busy machine distorts.

``HMXGRAPH_GROWTH`` names the numbers of sessions, of ten events each (``100,400,1600`` by default).
"""

import os
import sys
from typing import Any

import pytest

import hmxgraph
from hmxgraph.graph.connection import Connection, Course, run
from hmxgraph.graph.plan import Work
from tests.artifact_makers import policy
from tests.session_makers import repaired_deployment

pytestmark = [pytest.mark.bench, pytest.mark.timeout(7200)]
SIZES = tuple(int(size) for size in os.environ.get("HMXGRAPH_GROWTH", "100,400,1600").split(","))
# How much more than its share a call may cost on the largest store: erasing one session touches the same everywhere,
# and nothing may grow faster than the store.
TOLERANCE = 1.5


class _Profiled:
    """A transaction whose statements are profiled."""

    def __init__(self, tx: Any) -> None:
        self._tx, self._results = tx, []

    def run(self, text: str, parameters: dict[str, Any]) -> Any:
        """The result of a statement, which remembers its accesses."""
        self._results.append(self._tx.run(f"PROFILE {text}", parameters))
        return self._results[-1]

    @property
    def hits(self) -> int:
        """The accesses of all statements."""
        return sum(_hits(result.consume().profile) for result in self._results)


def _hits(plan: dict[str, Any]) -> int:
    return plan.get("dbHits", 0) + sum(_hits(child) for child in plan.get("children", ()))


class Counting(Connection):
    """A connection that counts the accesses of all it performs."""

    hits = 0

    def _attempt(self, course: Course, work: Work[Any]) -> Any:
        def transaction(tx: Any) -> Any:
            profiled = _Profiled(tx)
            value = run(work.factory(), profiled, course.watch)  # type: ignore[arg-type]
            return value, profiled.hits

        with self._driver.session(**course.session_options(self.address.database, self._bookmarks)) as session:
            value, hits = (session.execute_read if work.mode == "read" else session.execute_write)(transaction)
        self.hits += hits
        return value


def grown(graph, before, size):
    """Let the tenant have *size* sessions, and a conflict of rules for every ten of them."""
    tenant = graph.tenant_id
    graph.ingest(line for n in range(before, size) for line in repaired_deployment(f"d{n}", tenant=tenant))
    for number in range(before // 10, size // 10):
        for word in ("use it", "do not use it"):
            name = f"{word.partition(' ')[0]}{number}"
            graph.record_artifact(policy(name, word, condition=f"case number {number}"))
    graph.compile()


def calls(graph, size):
    """Each call, as little as possible of it depending on *size*."""

    def compile_changed():
        graph.ingest(repaired_deployment(f"changed{size}", tenant=graph.tenant_id))
        before = graph._connection.hits
        graph.compile()
        return before

    return {
        "suggest": lambda: graph.suggest(session_id="d0"),
        "pack": lambda: graph.pack("Deploy the staging environment", budget=2048),
        "compile, one changed session": compile_changed,
        "forget, one session": lambda: graph.forget(session_id=f"d{size // 2}"),
        "query explore/session_story": lambda: graph.query("explore/session_story", session_id="d1"),
        "conflicts": graph.conflicts,
        "query explore/open_conflicts": lambda: graph.query("explore/open_conflicts"),
    }


def test_growth(address, tenant_id):
    """Prints accesses by size; forget costs what it erases, and nothing grows faster than the store."""
    connection, table = Counting(address), {}
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, ready=connection)
    before = 0
    for size in SIZES:
        grown(graph, before, size)
        before = size
        for name, call in calls(graph, size).items():
            began = connection.hits
            answer = call()
            began = answer if isinstance(answer, int) else began
            table.setdefault(name, []).append(connection.hits - began)
    connection.close()
    sys.stdout.write(f"{'sessions':<32}{''.join(f'{size:>12,}' for size in SIZES)}\n")
    for name, hits in table.items():
        sys.stdout.write(f"{name:<32}{''.join(f'{each:>12,}' for each in hits)}\n")
    growth = {name: hits[-1] / hits[0] for name, hits in table.items()}
    assert growth["forget, one session"] < TOLERANCE
    assert max(growth.values()) < TOLERANCE * SIZES[-1] / SIZES[0]
