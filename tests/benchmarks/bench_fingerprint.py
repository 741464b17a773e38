"""The cost of moving memory and what arrives: export, verification, digest, a restored agent."""

import random
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import perf_counter

import pytest
from neo4j import GraphDatabase

from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.state import TIERS, ExportOptions
from hmxgraph.fingerprint.verify import verify
from hmxgraph.graph.artifacts import artifact_row
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from hmxgraph.graph.exploring import digest
from hmxgraph.graph.fingerprints import export_fingerprint
from hmxgraph.graph.plan import Plan, Tenancy, bind, bump, write
from tests.artifact_makers import at, made
from tests.benchmarks.restored_agent import measured
from tests.shared_data import shared
from tests.unit.fingerprint.states import WORDS, drawn, drawn_content, sentence

pytestmark = pytest.mark.bench
ARTIFACTS, ENTITIES, RELATIONS = 10_000, 100_000, 250_000
TYPES = ("decision_policy", "task_schema", "failure_playbook", "causal_pattern", "strategy_template")
TAGS = [f"{word}-{number}" for word in WORDS for number in range(30)]
ENTITY_ROWS = "UNWIND $rows AS row CREATE (entity:Entity) SET entity = row"
RELATION_ROWS = """
UNWIND $rows AS row
MATCH (source:Entity {key: row.source}), (target:Entity {key: row.target})
CREATE (source)-[relation:RELATES_TO]->(target) SET relation = row.properties
"""


def milliseconds(call: Callable[[], object], rounds: int) -> float:
    """The median time of *call* in milliseconds, after a warm-up."""
    call()
    return 1000 * median(_seconds(call) for _ in range(rounds))


def _seconds(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began


@pytest.fixture(scope="module")
def learned(address: Address) -> Iterator[tuple[Connection, Tenancy]]:
    """A tenant with 10,000 active artifacts of five types and many tags."""
    connection, tenancy = Connection(address), Tenancy.of(f"bench-fingerprint-{uuid.uuid4()}")
    rng = random.Random(8)
    for first in range(0, ARTIFACTS, 1_000):
        rows = [artifact_row(tenancy, _artifact(rng, number), len) for number in range(first, first + 1_000)]
        connection.perform(write(partial(_create, tenancy, rows)))
    yield connection, tenancy
    connection.close()


def _artifact(rng: random.Random, number: int):
    kind = rng.choice(TYPES)
    content = drawn_content(rng, kind, 12) | {"note": str(number)}
    fields = {
        "title": f"{sentence(rng, 6)} {number}",
        "tags": rng.sample(TAGS, rng.randint(1, 5)),
        "observed_count": rng.randint(2, 300),
        "confidence": round(rng.random(), 4),
    }
    return made(f"a{number:05}", kind, content, 0, fields)


def _create(tenancy: Tenancy, rows: list) -> Plan[None]:
    yield bind("artifacts/create", tenant_id=tenancy.tenant_id, artifacts=rows)
    yield from bump(tenancy, at(0))


@pytest.mark.parametrize("tier", TIERS)
def test_export_of_ten_thousand_artifacts(learned, tier):
    """An export of 10,000 artifacts takes at most 2 s."""
    connection, tenancy = learned
    options = ExportOptions(tier=tier)
    size = len(connection.perform(export_fingerprint(tenancy, options)).to_json())
    taken = milliseconds(lambda: connection.perform(export_fingerprint(tenancy, options)), 3)
    print(f"\nexport of {ARTIFACTS:,} artifacts, {tier}: {taken:,.0f} ms, {size:,} bytes (goal 2,000 ms)")
    assert taken <= 2_000


def test_verification_of_a_full_envelope():
    """A full envelope is verified within 25 ms."""
    text = generate(drawn(1, 900, "full", 60), ExportOptions()).to_json().encode()
    taken = milliseconds(lambda: verify(text), 20)
    print(f"\nverification of {len(text):,} bytes: {taken:.1f} ms (goal 25 ms)")
    assert taken <= 25


@pytest.fixture(scope="module")
def graph(address: Address) -> Iterator[tuple[Connection, Tenancy]]:
    """A tenant with 100,000 entities and 250,000 relations, most of them at a few hubs."""
    connection, tenancy = Connection(address), Tenancy.of(f"bench-digest-{uuid.uuid4()}")
    rng = random.Random(9)
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        for first in range(0, ENTITIES, 10_000):
            rows = [_entity(tenancy, number) for number in range(first, first + 10_000)]
            driver.execute_query(ENTITY_ROWS, rows=rows, database_=address.database)
        for _ in range(0, RELATIONS, 10_000):
            rows = [_relation(tenancy, rng) for _ in range(10_000)]
            driver.execute_query(RELATION_ROWS, rows=rows, database_=address.database)
    yield connection, tenancy
    connection.close()


def _entity(tenancy: Tenancy, number: int) -> dict:
    return {
        "key": tenancy.node_key("entity", str(number)),
        "tenant_id": tenancy.tenant_id,
        "type": ("tool", "file", "concept", "person", "url")[number % 5],
        "name": f"entity {number}",
        "confidence": number % 100 / 100,
        "status": "active",
        "first_us": number,
    }


def _relation(tenancy: Tenancy, rng: random.Random) -> dict:
    ends = (int(ENTITIES * rng.random() ** power) for power in (2, 3))
    source, target = (tenancy.node_key("entity", str(number)) for number in ends)
    properties = {"relation_type": rng.choice(("uses", "touches")), "weight": 1.0, "status": "active", "first_us": 0}
    return {"source": source, "target": target, "properties": {**properties, "tenant_id": tenancy.tenant_id}}


def test_digest_of_a_hundred_thousand_entities(graph):
    """The digest of 100,000 entities and 250,000 relations takes at most 5 s."""
    connection, tenancy = graph
    taken = milliseconds(lambda: connection.perform(digest(tenancy)), 3)
    measures = connection.perform(digest(tenancy))
    print(
        f"\ndigest of {measures.entity_count:,} entities: {taken:,.0f} ms, depth {measures.max_depth} (goal 5,000 ms)"
    )
    assert (measures.entity_count, measures.relation_count) == (ENTITIES, RELATIONS)
    assert taken <= 5_000


def test_what_a_restored_agent_is_told(address):
    """Print how many of the original's top procedures an agent restored from a full fingerprint gets too."""
    share = measured(address, shared("data", "agent-runs", "airline.ndjson.gz"), 40)
    print(f"\n{share.lines()}")
    assert any(original for original, _ in share.tops)
