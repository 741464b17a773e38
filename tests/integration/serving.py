"""A real server process for tests, and API keys for it."""

import os
import signal
import ssl
import subprocess
import sys
from contextlib import contextmanager
from time import monotonic, sleep

import httpx

import hmxgraph
from tests.integration.servers import free_port


def environment(address):
    """The environment variables with which commands use the database at *address*."""
    settings = {"URI": address.uri, "USER": address.user, "PASSWORD": address.password, "DATABASE": address.database}
    return os.environ | {f"HMXGRAPH_{name}": value for name, value in settings.items()}


class Served:
    """A running server: its base URL, its process, and its log."""

    def __init__(self, process, port, log, certificate=None):
        self.process, self.log = process, log
        self.trusted = ssl.create_default_context(cafile=certificate) if certificate else True
        self.root = f"{'https' if certificate else 'http'}://127.0.0.1:{port}"
        self.base_url = f"{self.root}/v1"

    def stop(self, number=signal.SIGTERM):
        """Stop the process and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(120)


@contextmanager
def server_process(address, folder, *arguments, certificate=None, port=None):
    """``hmxgraph serve`` on the database at *address* until the block ends; set *port* to reuse an earlier one."""
    port = port or free_port()
    log = folder / f"serve-{port}-{monotonic()}.log"
    command = [sys.executable, "-m", "hmxgraph", "serve", "--port", str(port), *map(str, arguments)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment(address), stdout=output, stderr=output)
    served = Served(process, port, log, certificate)
    try:
        _wait(served)
        yield served
    finally:
        served.stop()


def _wait(served):
    end = monotonic() + 180
    while monotonic() < end:
        assert served.process.poll() is None, served.log.read_text()
        try:
            if httpx.get(f"{served.root}/health", verify=served.trusted, timeout=60).status_code == 200:
                return
        except httpx.HTTPError:
            sleep(0.2)
    raise AssertionError(served.log.read_text())


def key_for(address, tenant_id, agent_id="ops", **options):
    """A new API key of a tenant, with its secret."""
    with hmxgraph.connect(
        address.uri, user=address.user, password=address.password, database=address.database, tenant_id=tenant_id
    ) as graph:
        return graph.keys.create(agent_id, **options)
