"""One real Neo4j for every test that needs one, and a tenant of its own for each of them."""

import gc
import os
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import hmxgraph
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from tests.databases import migrated, shared_database

# The default deadlines are too short for a machine that runs all tests at once.
os.environ.setdefault("HMXGRAPH_TIMEOUT", "120")
IMAGE = "neo4j:5.26.31-community"

# make test, make test-all and make fuzz: the same tests with more and more examples.
for name, examples in (("quick", 25), ("all", 100)):
    settings.register_profile(
        name, deadline=None, max_examples=examples, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
    )
settings.register_profile("fuzz", deadline=None, max_examples=20_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A real Neo4j: HMXGRAPH_TEST_URI, else a container, else a server that all workers share in a throw-away home."""
    if uri := os.environ.get("HMXGRAPH_TEST_URI"):
        user = os.environ.get("HMXGRAPH_TEST_USER", "neo4j")
        yield migrated(Address(uri, user, os.environ.get("HMXGRAPH_TEST_PASSWORD", "")))
    elif _docker_answers():
        yield from _container()
    else:
        yield from _local(tmp_path_factory.getbasetemp())


@pytest.fixture
def tenant_id(request: pytest.FixtureRequest) -> str:
    """A tenant that no other test and no other run has."""
    return f"{request.node.name[:40]}-{uuid.uuid4()}"


@pytest.fixture
def connection(address: Address) -> Iterator[Connection]:
    """A connection on which plans and procedures can be performed."""
    connection = Connection(address)
    yield connection
    connection.close()


@pytest.fixture
def graph(address: Address, tenant_id: str) -> Iterator[hmxgraph.KnowledgeGraph]:
    """A connected graph of a fresh tenant."""
    with hmxgraph.connect(
        address.uri, user=address.user, password=address.password, database=address.database, tenant_id=tenant_id
    ) as graph:
        yield graph


@pytest.fixture
def personal_graph(address: Address, tenant_id: str) -> Iterator[hmxgraph.KnowledgeGraph]:
    """A connected graph of a fresh tenant of one person, whose messages name no user."""
    with hmxgraph.connect(
        address.uri,
        user=address.user,
        password=address.password,
        database=address.database,
        tenant_id=tenant_id,
        trust=hmxgraph.TrustPolicy(single_user=True),
    ) as graph:
        yield graph


def _docker_answers() -> bool:
    import docker  # noqa: PLC0415 - only where the choice is to be made

    with warnings.catch_warnings():
        # Where no engine listens, the client leaves its socket to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            docker.from_env().close()
        except docker.errors.DockerException:
            return False
        finally:
            gc.collect()
    return True


def _container() -> Iterator[Address]:
    from testcontainers.community.neo4j import Neo4jContainer  # noqa: PLC0415 - starts nothing unless chosen

    with Neo4jContainer(IMAGE) as container:
        yield migrated(Address(container.get_connection_url(), container.username, container.password))


def _local(temporary: Path) -> Iterator[Address]:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    with shared_database(temporary.parent if worker else temporary, worker or "alone") as address:
        yield address
