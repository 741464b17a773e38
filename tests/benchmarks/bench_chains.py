"""The cost of a long history: in a chain of 5,000 versions refuse a loop, find the head, add a version, list all."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter

import pytest
from neo4j import GraphDatabase

from hmxgraph.errors import SupersessionCycle
from hmxgraph.graph import artifacts, lifecycle
from hmxgraph.graph.artifacts import artifact_row
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from hmxgraph.graph.lifecycle import numbered
from hmxgraph.graph.plan import Plan, Tenancy, bind, bump, write
from tests.artifact_makers import at, schema

pytestmark = pytest.mark.bench
VERSIONS = 5_000
CHUNK = 500
ROUNDS = 30
GOAL = 50.0
WALK = """
MATCH (old:Artifact {key: $key})
MATCH (head:Artifact)-[:SUPERSEDES*0..]->(old)
WHERE NOT EXISTS { (:Artifact)-[:SUPERSEDES]->(head) }
RETURN head.artifact_id AS artifact_id
"""


@dataclass(frozen=True)
class LongChain:
    """A chain of versions v1 ... v5000 in a tenant of its own."""

    connection: Connection
    tenancy: Tenancy
    address: Address

    def timed(self, call: Callable[[], object]) -> float:
        """The median milliseconds of *call*, warm."""
        call()
        return median(_milliseconds(call) for _ in range(ROUNDS))


@pytest.fixture(scope="module")
def chain(address: Address) -> Iterator[LongChain]:
    """The chain, built version by version."""
    connection, tenancy = Connection(address), Tenancy.of(f"bench-chain-{uuid.uuid4()}")
    connection.perform(lifecycle.record_artifact(tenancy, version(1)))
    for first in range(2, VERSIONS + 1, CHUNK):
        connection.perform(write(partial(_grow, tenancy, first, min(first + CHUNK, VERSIONS + 1))))
    yield LongChain(connection, tenancy, address)
    connection.close()


def version(number: int):
    """The document of one version."""
    return schema(f"v{number}", second=number, step=f"Step as of version {number}")


def _grow(tenancy: Tenancy, first: int, end: int) -> Plan[None]:
    for number in range(first, end):
        successor = numbered(version(number), {"artifact_id": f"v{number - 1}", "version": number - 1})
        row = artifact_row(tenancy, successor, len) | {
            "old_key": tenancy.node_key(f"v{number - 1}"),
            "at_us": at(number),
        }
        done = yield bind("artifacts/supersede", tenant_id=tenancy.tenant_id, successions=[row])
        assert done
    yield from bump(tenancy, at(end))


def _milliseconds(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return (perf_counter() - began) * 1000


def _refused(chain: LongChain) -> None:
    with pytest.raises(SupersessionCycle):
        chain.connection.perform(lifecycle.supersede(chain.tenancy, f"v{VERSIONS}", version(1)))


def _superseded(chain: LongChain, number: int) -> None:
    chain.connection.perform(lifecycle.supersede(chain.tenancy, f"v{number}", version(number + 1)))


def test_long_chain(chain: LongChain) -> None:
    """In a chain of 5,000 versions a loop is refused and the head found in under 50 ms each."""
    perform, tenancy = chain.connection.perform, chain.tenancy
    loop = chain.timed(partial(_refused, chain))
    head = chain.timed(lambda: perform(artifacts.head(tenancy, "v1")))
    then = chain.timed(lambda: perform(artifacts.head(tenancy, "v1", as_of_us=at(VERSIONS // 2))))
    whole = _milliseconds(lambda: perform(artifacts.chain(tenancy, "v1")))
    with GraphDatabase.driver(chain.address.uri, auth=(chain.address.user, chain.address.password)) as driver:
        bare_statement = chain.timed(lambda: driver.execute_query("RETURN 1", database_=chain.address.database))
        parameters = {"key": tenancy.node_key("v1"), "database_": chain.address.database}
        walk = chain.timed(lambda: driver.execute_query(WALK, **parameters))
    assert perform(artifacts.head(tenancy, "v1")).artifact_id == f"v{VERSIONS}"
    assert perform(artifacts.head(tenancy, "v1", as_of_us=at(VERSIONS // 2))).artifact_id == f"v{VERSIONS // 2}"
    growing = median(
        _milliseconds(partial(_superseded, chain, number)) for number in range(VERSIONS, VERSIONS + ROUNDS)
    )
    print(f"\nchain of {VERSIONS} versions (ms, median of {ROUNDS}; goal {GOAL:.0f} each for the first two)")
    rows = {
        "refuse a loop": loop,
        "head": head,
        "head as of the middle": then,
        "next version": growing,
        "all versions as documents": whole,
        "peer: head by walking the edges": walk,
        "floor: RETURN 1": bare_statement,
    }
    for name, milliseconds in rows.items():
        print(f"  {name:<34} {milliseconds:>9.2f}")
    assert loop < GOAL
    assert head < GOAL
