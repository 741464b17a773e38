"""A real Kafka broker for stream tests, run from Maven jars in the test's own folder."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from hmxgraph.engine import _java, _settings
from hmxgraph.errors import EngineError
from tests.integration.servers import free_port, wait_for

_ENDPOINT = "org.apache.kafka:kafka_2.13:3.9.1+org.slf4j:slf4j-simple:1.7.36"
_STOP_SECONDS = 60
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
"""


@contextmanager
def kafka(folder: Path) -> Iterator[str]:
    """The address of a Kafka broker: ``HMXGRAPH_TEST_KAFKA`` if set, else a broker that runs until the block ends.

    Skips the test if the jars or a suitable Java are not available.
    """
    given = os.environ.get("HMXGRAPH_TEST_KAFKA")
    if given:
        yield given
        return
    java = _java_with_jars()
    port = free_port()
    properties = folder / "server.properties"
    text = _PROPERTIES.format(port=port, controller=free_port(), folder=folder)
    properties.write_text(text, encoding="utf-8")
    cluster = uuid4().hex[:22]
    format_log = [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    subprocess.run(format_log, check=True, capture_output=True)
    with (folder / "kafka.log").open("wb") as log:
        broker = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
        try:
            wait_for(port, seconds=60)
            yield f"127.0.0.1:{port}"
        finally:
            broker.terminate()
            broker.wait(_STOP_SECONDS)


def _java_with_jars() -> list[str]:
    """The command prefix that runs a Kafka class."""
    settings = _settings.read()
    try:
        program = _java.find(settings, _java.accepted("5"))
        jars = _class_path(settings)
    except (EngineError, OSError, RuntimeError) as error:
        pytest.skip(f"no Kafka here ({error}); set HMXGRAPH_TEST_KAFKA=host:port to test against one")
    return [str(program), "-Xmx512m", "-cp", os.pathsep.join(map(str, jars))]


def _class_path(settings: _settings.Settings) -> list[Path]:
    """Kafka's jars, downloaded once into the cache that also holds the local Neo4j's jars."""
    from jgo.env import EnvironmentBuilder  # noqa: PLC0415 - only with the extra
    from jgo.maven import MavenContext  # noqa: PLC0415 - only with the extra

    cache = settings.cache / "kafka"
    remote = {"mirror": settings.maven_url.rstrip("/")} if settings.maven_url else None
    context = MavenContext(repo_cache=cache / "repository", remote_repos=remote, timeout=60)
    return list(EnvironmentBuilder(context, cache_dir=cache).from_endpoint(_ENDPOINT).all_jars)
