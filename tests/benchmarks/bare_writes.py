"""The baseline for ingest: the same graph written by plain statements that check and derive nothing."""

import re
from collections import defaultdict
from collections.abc import Iterator
from time import perf_counter

from neo4j import Driver

CHUNK = 1_000
_KEY = re.compile(r"[0-9a-f]{64}")
NODES = "MATCH (n {tenant_id: $tenant_id}) RETURN labels(n)[0] AS label, properties(n) AS properties"
LINKS = """
MATCH (a {tenant_id: $tenant_id})-[r]->(b)
RETURN labels(a)[0] AS a_label, a.key AS a, type(r) AS type, properties(r) AS properties, labels(b)[0] AS b_label,
  b.key AS b
"""


class BareCopy:
    """All nodes and relationships of a tenant, ready to be written again under other keys."""

    def __init__(self, driver: Driver, tenant_id: str, copy_id: str) -> None:
        self._driver = driver
        self._old, self._new = tenant_id, copy_id
        self._nodes: dict[str, list] = defaultdict(list)
        self._links: dict[tuple[str, str, str], list] = defaultdict(list)
        for label, properties in driver.execute_query(NODES, tenant_id=tenant_id).records:
            self._nodes[label].append(self._copied(properties))
        for a_label, a, kind, properties, b_label, b in driver.execute_query(LINKS, tenant_id=tenant_id).records:
            link = {"a": self._copied(a), "b": self._copied(b), "properties": self._copied(properties)}
            self._links[a_label, kind, b_label].append(link)

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of nodes and relationships."""
        return sum(map(len, self._nodes.values())), sum(map(len, self._links.values()))

    def write(self) -> float:
        """Write the copy in one session, one statement per transaction; return the seconds taken."""
        statements = list(self._statements())
        with self._driver.session() as session:
            began = perf_counter()
            for text, rows in statements:
                session.execute_write(lambda tx, text=text, rows=rows: tx.run(text, rows=rows).consume())
            return perf_counter() - began

    def _statements(self) -> Iterator[tuple[str, list]]:
        for label, rows in sorted(self._nodes.items()):
            yield from _chunks(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", rows)
        for (a, kind, b), rows in sorted(self._links.items()):
            text = (
                f"UNWIND $rows AS row MATCH (a:{a} {{key: row.a}}) MATCH (b:{b} {{key: row.b}}) "
                f"CREATE (a)-[r:{kind}]->(b) SET r = row.properties"
            )
            yield from _chunks(text, rows)

    def _copied(self, value):
        if isinstance(value, dict):
            return {name: self._copied(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self._copied(part) for part in value]
        if isinstance(value, str) and _KEY.fullmatch(value):
            return f"{self._new}:{value}"
        return self._new if value == self._old else value


def _chunks(text: str, rows: list) -> Iterator[tuple[str, list]]:
    for at in range(0, len(rows), CHUNK):
        yield text, rows[at : at + CHUNK]
