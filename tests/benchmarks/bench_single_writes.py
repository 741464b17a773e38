"""Single writes compared with bare transactions that create the same nodes and relationships, in alternating order."""

import os
import uuid
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import pytest
from neo4j import Driver

import hmxgraph
from hmxgraph.graph.driver import Address

pytestmark = pytest.mark.bench
GOAL = 4.0
PAIRS = int(os.environ.get("HMXGRAPH_BENCH_WRITES", "60"))
NODES = (
    "MATCH (n {tenant_id: $tenant_id}) RETURN elementId(n) AS id, labels(n)[0] AS label, properties(n) AS properties"
)
LINKS = """
MATCH (a {tenant_id: $tenant_id})-[r]->(b)
RETURN elementId(r) AS id, type(r) AS type, properties(r) AS properties,
  elementId(a) AS a, labels(a)[0] AS a_label, a.key AS a_key, elementId(b) AS b, labels(b)[0] AS b_label, b.key AS b_key
"""
UNIQUE = ("key", "head_key", "supersedes_key")
Found = list[dict[str, Any]]


class BareWrite:
    """One statement that creates what one call created, under keys of its own."""

    def __init__(self, driver: Driver, tenant_id: str, call: Callable[[], object]) -> None:
        self._driver = driver
        before = {row["id"] for text in (NODES, LINKS) for row in self._rows(text, tenant_id)}
        call()
        self.nodes, self.links = (
            [row for row in self._rows(text, tenant_id) if row["id"] not in before] for text in (NODES, LINKS)
        )
        self._text, self._ends = self._statement()

    def _rows(self, text: str, tenant_id: str) -> Found:
        return [record.data() for record in self._driver.execute_query(text, tenant_id=tenant_id).records]

    def _statement(self) -> tuple[str, dict[str, str]]:
        names = {node["id"]: f"n{number}" for number, node in enumerate(self.nodes)}
        creates = [
            f"CREATE (n{number}:{node['label']}) SET n{number} = $n{number}" for number, node in enumerate(self.nodes)
        ]
        matches, ends = [], {}
        for number, link in enumerate(self.links):
            for end in ("a", "b"):
                if link[end] not in names:
                    name = names[link[end]] = f"old{len(ends)}"
                    ends[name] = link[f"{end}_key"]
                    matches.append(f"MATCH ({name}:{link[f'{end}_label']} {{key: ${name}}})")
            a, b = names[link["a"]], names[link["b"]]
            creates.append(f"CREATE ({a})-[r{number}:{link['type']}]->({b}) SET r{number} = $r{number}")
        return "\n".join([*matches, *creates]), ends

    def seconds(self) -> float:
        """The duration of one bare transaction."""
        parameters: dict[str, Any] = dict(self._ends)
        mark = uuid.uuid4().hex
        for number, node in enumerate(self.nodes):
            own = {name: f"{node['properties'][name]}:{mark}" for name in UNIQUE if name in node["properties"]}
            parameters[f"n{number}"] = node["properties"] | own | {"tenant_id": "bench-bare"}
        parameters |= {f"r{number}": link["properties"] for number, link in enumerate(self.links)}
        began = perf_counter()
        with self._driver.session(database="neo4j") as session:
            session.execute_write(lambda tx: tx.run(self._text, parameters).consume())
        return perf_counter() - began


def writes(graph: hmxgraph.KnowledgeGraph) -> dict[str, Callable[[], object]]:
    """One call of each kind; every call writes something new."""
    task_id = graph.tasks.start("Ship the release", agent_id="ann").task_id

    def word() -> str:
        return uuid.uuid4().hex[:8]

    return {
        "remember": lambda: graph.remember(f"The door code of room {word()} is kept by Ann", kind="fact"),
        "append": lambda: graph.append("message", {"role": "user", "text": f"Deploy {word()}.yaml"}, session_id="s"),
        "tasks.progress": lambda: graph.tasks.progress(
            task_id, summary=f"Built {word()}", next_step="Test it", agent_id="ann"
        ),
    }


def timed(call: Callable[[], object]) -> float:
    """The duration of one call in seconds."""
    began = perf_counter()
    call()
    return perf_counter() - began


def test_single_writes(address: Address) -> None:
    """The median of each single write is at most four times that of one bare transaction."""
    ratios = {}
    tenant_id = f"bench-writes-{uuid.uuid4().hex[:8]}"
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
        print()
        for name, call in writes(graph).items():
            call()
            bare = BareWrite(graph._connection._driver, tenant_id, call)
            for _ in range(5):
                call(), bare.seconds()
            times: list[tuple[float, float]] = []
            for number in range(PAIRS):
                before = bare.seconds() if number % 2 else 0.0
                duration = timed(call)
                times.append((duration, before or bare.seconds()))
            own, floor = (median(column) * 1000 for column in zip(*times, strict=True))
            sent: list[str] = []
            stop = graph.trace(sent.append)
            call()
            stop()
            ratios[name] = own / floor
            print(
                f"  {name:<15} p50 {own:6.1f} ms, bare {floor:6.1f} ms, ratio {ratios[name]:.2f} (goal {GOAL:.0f}); "
                f"{len(sent)} statements, {len(bare.nodes)} nodes, {len(bare.links)} relationships"
            )
    assert max(ratios.values()) <= GOAL
