"""Writes disturbed at random moments and repeated until they succeed leave what one undisturbed call leaves.

``HMXGRAPH_FAULT_MOMENTS`` sets the number of moments per combination of disturbance and operation (1 by default),
``HMXGRAPH_FAULT_SEED`` the seed. Each run adds lines to the file that ``HMXGRAPH_FAULT_LOG`` names.
"""

import json
import os
import random
from pathlib import Path

import pytest

from hmxgraph import engine
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.driver import Address
from tests.integration.fault_disturbances import (
    CLIENTS,
    DEADLINE,
    DEADLINE_OF_START,
    LONGEST_DELAY,
    SERVERS,
    Scene,
    impossible,
    together,
)
from tests.integration.fault_operations import (
    ENVELOPE,
    OPERATIONS,
    compile_all,
    held,
    ingest,
    opened,
    perform,
)

MOMENTS = int(os.environ.get("HMXGRAPH_FAULT_MOMENTS", "1"))
SEED = os.environ.get("HMXGRAPH_FAULT_SEED", "1")
# Moments of each operation that share one disturbance of the server.
AT_ONCE = 5
# Seconds that a call may exceed its deadline on a busy machine, and that a server may take to start.
SLACK = 10
START = 300

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def envelope(address, tmp_path_factory):
    """A file with the fingerprint of a tenant that has learned something."""
    path = tmp_path_factory.mktemp("faults") / "envelope.json"
    with opened(address, f"faults-origin-{os.urandom(8).hex()}") as graph:
        for steps in (ingest, compile_all):
            perform(steps, graph)
        path.write_text(graph.export_fingerprint().to_json(), "utf-8")
    return path


@pytest.fixture(autouse=True)
def surroundings(envelope, monkeypatch):
    """Set the environment variable that tells operations where the fingerprint is."""
    monkeypatch.setenv(ENVELOPE, str(envelope))


@pytest.fixture(scope="module")
def twin(address):
    """Returns what an undisturbed operation leaves behind, and how many statements it sends."""
    twins = {}

    def twin(operation):
        if operation not in twins:
            sent = []
            connection = Connection(address)
            with opened(address, f"faults-twin-{os.urandom(8).hex()}") as graph:
                for steps in OPERATIONS[operation].before:
                    perform(steps, graph)
                stop = graph.trace(sent.append)
                perform(OPERATIONS[operation].steps, graph)
                stop()
                twins[operation] = (held(connection, graph), len(sent))
            connection.close()
        return twins[operation]

    return twin


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The data home of a server that tests may disturb."""
    folder = tmp_path_factory.mktemp("disturbed")
    yield folder
    engine.stop(folder)


def prepared(scene):
    """Perform the writes that precede the scene's operation; returns the scene."""
    with opened(scene.address, scene.tenant_id) as graph:
        for steps in OPERATIONS[scene.operation].before:
            perform(steps, graph)
    return scene


def compared(scene, twin, failures, disturbance, longest):
    """Repeat the call; assert that the result is as undisturbed, and that errors came in time with their outcome."""
    connection = Connection(scene.address)
    with opened(scene.address, scene.tenant_id) as graph:
        perform(OPERATIONS[scene.operation].steps, graph)
        equal = held(connection, graph) == twin(scene.operation)[0]
    connection.close()
    late = [failure for failure in failures if failure.seconds > longest]
    _log(scene, disturbance, failures, equal=equal)
    assert equal, f"seed {SEED}: {scene}"
    assert not late, f"seed {SEED}: {scene}"
    assert {failure.outcome for failure in failures} <= {"not stored", "unknown"}


def _log(scene, disturbance, failures, *, equal):
    if path := os.environ.get("HMXGRAPH_FAULT_LOG"):
        line = {"disturbance": disturbance, "operation": scene.operation, "after": scene.statements, "equal": equal}
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | {"failures": failures}) + "\n")


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("disturbance", CLIENTS)
def test_a_client_or_connection_fails(address, tenant_id, tmp_path, twin, disturbance, operation, moment):
    """If a client or connection fails, nothing is lost, duplicated or corrupted, and errors arrive in time."""
    if reason := impossible(disturbance):
        pytest.skip(reason)
    chance = random.Random(f"{SEED}{disturbance}{operation}{moment}")
    statements, delay = chance.randrange(twin(operation)[1]), chance.uniform(0, LONGEST_DELAY)
    scene = prepared(Scene(address, tenant_id, operation, statements, delay, tmp_path))
    failures = CLIENTS[disturbance](scene)
    compared(scene, twin, failures, disturbance, DEADLINE + SLACK)


@pytest.mark.server
@pytest.mark.parametrize("moments", [range(MOMENTS)[first : first + AT_ONCE] for first in range(0, MOMENTS, AT_ONCE)])
@pytest.mark.parametrize("disturbance", SERVERS)
def test_a_server_fails(tenant_id, tmp_path, home, twin, monkeypatch, disturbance, moments):
    """If the server fails while all operations are running, nothing is lost, duplicated or corrupted.

    A restart costs most of the time, so each disturbs every operation at several moments at once.
    """
    if reason := impossible(disturbance):
        pytest.skip(reason)
    for name in ("HMXGRAPH_URI", "HMXGRAPH_BOLT_PORT", "HMXGRAPH_HTTP_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": home, "HEAP": "512m", "PAGECACHE": "128m", "START_SECONDS": START}.items():
        monkeypatch.setenv(f"HMXGRAPH_{name}", str(value))
    chance = random.Random(f"{SEED}{disturbance}{moments}")
    delay = chance.uniform(0, LONGEST_DELAY)
    scenes = [
        prepared(
            Scene(_local(), f"{tenant_id}-{moment}-{name}", name, chance.randrange(twin(name)[1]), delay, tmp_path)
        )
        for name in OPERATIONS
        for moment in moments
    ]
    failures = together(SERVERS[disturbance], scenes)
    for scene in scenes:
        compared(
            scene._replace(address=_local()), twin, failures[scene.tenant_id], disturbance, DEADLINE_OF_START + START
        )


def _local():
    server = engine.ensure()
    return Address(server.uri, server.user, server.password)
