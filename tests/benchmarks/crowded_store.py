"""A store of a million events in many tenants, one of them large, for latency benchmarks.

The shared data are ingested and compiled once, each data set in a tenant of its own and all of them in one large
tenant. Their nodes and relationships are then copied inside the database up to a million events: the large tenant's
sessions several times within it, the others into further tenants. Events, sessions and entities get the keys that
ingest would give them, memories and artifacts get new ids, and hashes that cover the tenant's name are kept from the
original. Indexes are dropped before copying and built once at the end.
"""

import gzip
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

from neo4j import Driver, GraphDatabase

import hmxgraph
from hmxgraph import engine
from hmxgraph.graph._entities import entity_key
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from hmxgraph.graph.plan import Tenancy, Work
from hmxgraph.graph.schema import packaged_schema, register, send_all
from hmxgraph.protocol.canonical import stable_id
from tests.databases import migrated
from tests.shared_data import shared

EVENTS = int(os.environ.get("HMXGRAPH_BENCH_EVENTS", "1000000"))
HOME = Path(os.environ.get("HMXGRAPH_BENCH_STORE") or Path(tempfile.gettempdir(), "hmxgraph-bench-store"))
LARGE, REPEATS = "large", 4
MEMORY = {"HMXGRAPH_HEAP": "4g", "HMXGRAPH_PAGECACHE": "4g"}
WRITERS = 2
_APART_US = 45 * 86_400_000_000
_TIMES = ("time_us", "first_us", "last_us", "head_us", "tail_us")
_KEY = re.compile(r"[0-9a-f]{64}")
# Content hashes, which copies keep.
_HASHES = frozenset({"event_hash", "content_hash", "core_hash", "model_hash"})

INDEXED = "SHOW INDEXES YIELD name WHERE name = 'event_text' RETURN count(*)"
NODES = """
MATCH (n {tenant_id: $tenant_id})
RETURN elementId(n) AS element, labels(n)[0] AS label, properties(n) AS properties
"""
LINKS = """
MATCH (a {tenant_id: $tenant_id})-[r]->(b)
RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS properties
"""
COPY = """
CALL () {
  UNWIND $nodes AS row
  MATCH (old) WHERE elementId(old) = row[0]
  CREATE (new:$(labels(old)))
  SET new = properties(old)
  SET new += row[1]
  RETURN collect(new) AS nodes
}
UNWIND $links AS row
WITH nodes[row[0]] AS a, nodes[row[2]] AS b, row
CREATE (a)-[link:$(row[1])]->(b)
SET link = row[3]
"""
REPEAT = """
CALL () {
  UNWIND $nodes AS row
  MATCH (old) WHERE elementId(old) = row[0]
  CALL (old, row) {
    WITH old, row WHERE row[1] IS NOT NULL
    CREATE (new:$(labels(old)))
    SET new = properties(old)
    SET new += row[1]
    RETURN new
    UNION
    WITH old, row WHERE row[1] IS NULL
    RETURN old AS new
  }
  RETURN collect(new) AS nodes
}
CALL (nodes) {
  UNWIND $links AS row
  WITH nodes[row[0]] AS a, nodes[row[2]] AS b, row
  CREATE (a)-[link:$(row[1])]->(b)
  SET link = row[3]
}
MATCH (tenant:Tenant {tenant_id: $tenant_id})
SET tenant.event_count = tenant.event_count + $events, tenant.logical_us = tenant.logical_us + $later
"""


def crowded_store(tell: Any = print) -> Address:
    """Start the store in ``HMXGRAPH_BENCH_STORE``, fill it if necessary, and return its address."""
    os.environ.update({name: os.environ.get(name, size) for name, size in MEMORY.items()})
    server = engine.ensure(HOME)
    address = Address(server.uri, server.user, server.password)
    login = (address.user, address.password)
    with GraphDatabase.driver(address.uri, auth=login, notifications_min_severity="OFF") as driver:
        if event_count(driver) < EVENTS:
            _fill(address, driver, tell)
    return address


def event_count(driver: Driver) -> int:
    """The number of events in the finished store; 0 as long as it has no indexes."""
    return _total(driver) if driver.execute_query(INDEXED).records[0][0] else 0


def _total(driver: Driver) -> int:
    return driver.execute_query("MATCH (n:Tenant) RETURN sum(n.event_count)").records[0][0]


def graph_of(address: Address, tenant_id: str) -> hmxgraph.KnowledgeGraph:
    """A graph of the tenant."""
    return hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id)


def _fill(address: Address, driver: Driver, tell: Any) -> None:
    ingest_originals(address, sources(), tell)
    drop_indexes(driver)
    once = sum(len(source_lines(name)) for name in sources())
    if _events_of(driver, LARGE) == once:
        repeat_large(driver, Subgraph(driver, LARGE), range(1, REPEATS), tell)
    copy_tenants(driver, {name: Subgraph(driver, name) for name in sources()}, EVENTS, tell)
    create_indexes(address, driver)
    tell(f"  {event_count(driver):,} events")


def ingest_originals(address: Address, names: Sequence[str], tell: Any = print) -> None:
    """Ingest and compile each of these sources in a tenant of its own, and all of them in the large tenant."""
    migrated(address)
    for name in names:
        _ingested(address, name, source_lines(name), tell)
    _ingested(address, LARGE, [event for name in names for event in _in_large(name)], tell)


def sources() -> list[str]:
    """The names of the copied sources: agent runs by domain, and conversations."""
    folders = (shared("data", "agent-runs"), shared("data", "conversations"))
    return [path.name.split(".")[0] for folder in folders for path in sorted(folder.glob("*.ndjson.gz"))]


def source_lines(name: str) -> list[dict[str, Any]]:
    """The events of one source."""
    folder = "conversations" if name.startswith("conv-") else "agent-runs"
    text = gzip.decompress(shared("data", folder, f"{name}.ndjson.gz").read_bytes())
    return [json.loads(line) | {"tenant_id": name} for line in text.splitlines()]


def _ingested(address: Address, tenant_id: str, events: Iterable[dict[str, Any]], tell: Any) -> None:
    with graph_of(address, tenant_id) as graph:
        if graph.health()["state_version"]:
            return
        report = graph.ingest(events)
        assert not report.rejected
        tell(f"  {tenant_id}: {report.accepted:,} events at {report.rate:,.0f}/s")
        if not tenant_id.startswith("conv-"):
            tell(f"  {tenant_id}: {sum(graph.compile().created.values())} artifacts")


def _in_large(name: str) -> Iterator[dict[str, Any]]:
    """The events of one source for the large tenant; session ids get the source as prefix to keep them apart."""
    for event in source_lines(name):
        yield event | {"tenant_id": LARGE, "session_id": f"{name}/{event['session_id']}"}


def drop_indexes(driver: Driver) -> None:
    """Drop all constraints and indexes, so that copying is fast."""
    for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
        for row in driver.execute_query(f"SHOW {kinds} YIELD name, type WHERE type <> 'LOOKUP' RETURN name").records:
            driver.execute_query(f"DROP {kind} {row['name']} IF EXISTS")


def create_indexes(address: Address, driver: Driver) -> None:
    """Create the constraints and indexes of the schema, and wait until they are built."""
    connection = Connection(address)
    connection.transact(Work("schema", partial(send_all, packaged_schema().baseline)))
    driver.execute_query("CALL db.awaitIndexes(3600)")
    connection.transact(Work("write", partial(register, packaged_schema().version)))
    connection.close()


def _events_of(driver: Driver, tenant_id: str) -> int:
    return driver.execute_query("MATCH (n:Tenant {tenant_id: $id}) RETURN n.event_count", id=tenant_id).records[0][0]


def repeat_large(driver: Driver, original: "Subgraph", repeats: Iterable[int], tell: Any = print) -> None:
    """Copy the large tenant's *original* sessions, each time weeks later, linked to the same entities and memories."""
    for repeat in repeats:
        original.repeated(driver, repeat)
        tell(f"  {LARGE}: {(repeat + 1) * original.events:,} events")


def tenants(driver: Driver) -> set[str]:
    """The ids of all tenants."""
    return {row[0] for row in driver.execute_query("MATCH (n:Tenant) RETURN n.tenant_id").records}


def copy_tenants(driver: Driver, originals: "Mapping[str, Subgraph]", events: int, tell: Any = print) -> None:
    """Copy the *originals* in turn, as ``name~0``, ``name~1`` and so on, until the store has this many events."""
    subgraphs, known = dict(originals), tenants(driver)
    copies, missing = [], events - _total(driver)
    for number, name in enumerate(cycle(subgraphs)):
        tenant_id = f"{name}~{number // len(subgraphs)}"
        if missing <= 0:
            break
        if tenant_id not in known:
            copies.append((subgraphs[name], tenant_id))
            missing -= subgraphs[name].events
    with ThreadPoolExecutor(WRITERS) as pool:
        for done in pool.map(lambda pair: pair[0].copied(driver, pair[1]), copies):
            tell(f"  {done}")


class Subgraph:
    """All nodes and relationships of one tenant, to be copied to another."""

    def __init__(self, driver: Driver, tenant_id: str) -> None:
        self._tenant_id = tenant_id
        self._nodes = [row.values() for row in driver.execute_query(NODES, tenant_id=tenant_id).records]
        places = {element: place for place, (element, _, _) in enumerate(self._nodes)}
        self._links = [
            [places[row["a"]], row["type"], places[row["b"]], row["properties"]]
            for row in driver.execute_query(LINKS, tenant_id=tenant_id).records
        ]

    @property
    def events(self) -> int:
        """The number of events."""
        return sum(label == "Event" for _, label, _ in self._nodes)

    def copied(self, driver: Driver, tenant_id: str) -> str:
        """Copy the tenant as *tenant_id*, in one transaction."""
        names = _Names(self._tenant_id, Tenancy.of(tenant_id), self._nodes)
        nodes = [[element, names.changed(properties)] for element, _, properties in self._nodes]
        links = [[a, kind, b, properties | {"tenant_id": tenant_id}] for a, kind, b, properties in self._links]
        driver.execute_query(COPY, nodes=nodes, links=links)
        return tenant_id

    def repeated(self, driver: Driver, repeat: int) -> None:
        """Copy the tenant's events and sessions within it, linked to the same entities and memories."""
        names = _Names(self._tenant_id, Tenancy.of(self._tenant_id), self._nodes, f"~{repeat}")
        repeated_labels = {"Event", "Session"}
        nodes = [
            [element, names.changed(of, repeat) if label in repeated_labels else None]
            for element, label, of in self._nodes
        ]
        new = [changed is not None for _, changed in nodes]
        links = [link for link in self._links if new[link[0]] or new[link[2]]]
        driver.execute_query(
            REPEAT, nodes=nodes, links=links, tenant_id=self._tenant_id, events=self.events, later=_APART_US
        )


class _Names:
    """Maps ids and keys of one tenant to those of its copy."""

    def __init__(
        self, old: str, new: Tenancy, nodes: Iterable[tuple[str, str, dict[str, Any]]], suffix: str = ""
    ) -> None:
        self._old, self._new, self._suffix = old, new, suffix
        self._known: dict[str, str] = {}
        for _, label, properties in nodes:
            for field in ("memory_id", "artifact_id", "conflict_id"):
                if field in properties and not suffix:
                    self._known[properties[field]] = stable_id(new.tenant_id, properties[field])
            for field in ("event_id", "session_id"):
                if field in properties and suffix:
                    self._known[properties[field]] = properties[field] + suffix
            self._known[properties["key"]] = self._key(label, properties)

    def changed(self, properties: dict[str, Any], weeks: int = 0) -> dict[str, Any]:
        """The properties that differ in the copy; times are shifted by *weeks* times 45 days."""
        fixed = {"tenant_id": self._new.tenant_id}
        if "scope" in properties:
            fixed["scope"] = self._new.scope
        renamed = {name: self._renamed(value) for name, value in properties.items() if name not in _HASHES}
        later = {name: properties[name] + weeks * _APART_US for name in _TIMES if name in properties and weeks}
        changed = {name: value for name, value in renamed.items() if value != properties[name]} | fixed | later
        return changed | _ranked_by(properties | changed)

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._renamed(part) for part in value]
        if not isinstance(value, str):
            return value
        if (known := self._known.get(value)) is not None:
            return known
        return sha256(f"{self._new.tenant_id}\0{value}".encode()).hexdigest() if _KEY.fullmatch(value) else value

    def _key(self, label: str, of: dict[str, Any]) -> str:
        if label in {"Event", "Session"}:
            return self._new.node_key(of["event_id" if label == "Event" else "session_id"] + self._suffix)
        if label == "Entity":
            return entity_key(self._new, of["type"], of["normalised"])
        if label == "Tenant":
            return self._new.key
        name = next((of[field] for field in ("memory_id", "artifact_id", "conflict_id") if field in of), None)
        return self._new.node_key(self._known.get(name, name) if name else of["key"])


def _ranked_by(properties: dict[str, Any]) -> dict[str, str]:
    """The recall row of an event, rebuilt from the changed *properties*."""
    if "recall_row" not in properties:
        return {}
    _, _, speaker, title, words, sequence, _, *tail = json.loads(properties["recall_row"])
    ids = properties["event_id"], properties["session_id"]
    row = [*ids, speaker, title, words, sequence, properties["time_us"], *tail]
    return {"recall_row": json.dumps(row, ensure_ascii=False, separators=(",", ":"))}


if __name__ == "__main__":
    print(crowded_store().uri)
