"""Disturbances of a client, a connection or a server, each at a chosen moment of an operation."""

import asyncio
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

import psutil
import pytest

import hmxgraph
from hmxgraph import engine
from hmxgraph.errors import StorageUnavailable, StoreDamaged
from hmxgraph.graph.driver import Address
from tests.integration.fault_operations import OPERATIONS, opened, perform, perform_async
from tests.integration.proxies import proxied
from tests.integration.serving import environment

# Seconds for one call, for one call to a restarted server, which plans every statement again, and for everything.
DEADLINE = 20
DEADLINE_OF_START = 120
PATIENCE = 600
_LIBFAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


class Scene(NamedTuple):
    """Who performs which operation, and when to disturb it: *delay* seconds after that many statements."""

    address: Address
    tenant_id: str
    operation: str
    statements: int
    delay: float
    folder: Path


class Failure(NamedTuple):
    """The outcome, duration and message of a failed call."""

    outcome: str
    seconds: float
    message: str


def repeated(graph: hmxgraph.KnowledgeGraph, operation: str, deadline: float = DEADLINE) -> list[Failure]:
    """Repeat the operation, as a caller would, until it succeeds; returns the failures before that."""
    failures: list[Failure] = []
    end = monotonic() + PATIENCE
    while True:
        began = monotonic()
        try:
            with graph.timeout(deadline):
                perform(OPERATIONS[operation].steps, graph)
        except StorageUnavailable as error:
            failures.append(Failure(error.outcome, monotonic() - began, str(error)))
            if monotonic() > end:
                raise
            sleep(0.2)
        else:
            return failures


def _at(graph, statements: int, begin: Callable[[], object]) -> Callable[[], None]:
    """Call *begin* once, after a number of statements; the returned function calls it if there were fewer."""
    left, begun = iter(range(statements)), []

    def count(_: str = "") -> None:
        if not begun and next(left, None) is None:
            begun.append(True)
            begin()

    graph.trace(count)
    if not statements:
        count()

    def at_the_latest() -> None:
        while not begun:
            count()

    return at_the_latest


# Failures of the connection between a client and its server.


def network(fault: str) -> Callable[[Scene], list[Failure]]:
    """Apply *fault* to all traffic; a lasting fault ends after three seconds."""

    def disturb(scene: Scene) -> list[Failure]:
        with proxied(scene.address.uri) as proxy, opened(scene.address, scene.tenant_id, proxy.uri) as graph:

            def begin() -> None:
                proxy.fault = fault
                threading.Timer(3, lambda: setattr(proxy, "fault", None)).start()

            at_the_latest = _at(graph, scene.statements, begin)
            failures = repeated(graph, scene.operation)
            at_the_latest()
            return failures

    return disturb


# Failures of a client that runs in its own process.


@contextmanager
def _client(scene: Scene, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Run the operation in a client process; yields it at the chosen moment and waits until it has ended."""
    command = [sys.executable, "-m", "tests.integration.fault_operations", scene.tenant_id, scene.operation]
    surroundings = environment(scene.address) | variables
    log = scene.folder / "client.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        output_lines = iter(process.stdout or ())
        for _ in range(scene.statements):
            next(output_lines, None)
        sleep(scene.delay)
        yield process
        process.communicate(timeout=PATIENCE)


def client_killed(scene: Scene) -> list[Failure]:
    """Kill -9 of the client."""
    with _client(scene) as process:
        process.kill()
    return []


def client_signalled(number: signal.Signals) -> Callable[[Scene], list[Failure]]:
    """Send a signal to the client, which must then end in time."""

    def disturb(scene: Scene) -> list[Failure]:
        with _client(scene) as process:
            process.send_signal(number)
            process.wait(DEADLINE)
        return []

    return disturb


def client_out_of_memory(scene: Scene) -> list[Failure]:
    """From the chosen moment on, the client can allocate no more memory."""
    with _client(scene) as process, suppress(psutil.NoSuchProcess):
        memory = psutil.Process(process.pid).memory_info().vms
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, resource.RLIM_INFINITY))
    return []


def clock_jumps(scene: Scene) -> list[Failure]:
    """The client's clock jumps 400 days forwards or backwards."""
    clock = scene.folder / "clock"
    clock.write_text("+0d")
    settings = {"LD_PRELOAD": _LIBFAKETIME, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
    with _client(scene, **settings, FAKETIME_DONT_FAKE_MONOTONIC="1") as process:
        clock.write_text("+400d" if scene.statements % 2 else "-400d")
    assert process.returncode == 0, (scene.folder / "client.log").read_text()
    return []


def second_client(scene: Scene) -> list[Failure]:
    """A second client does the same work at the same time."""
    with opened(scene.address, scene.tenant_id) as graph, _client(scene) as process:
        failures = repeated(graph, scene.operation)
    assert process.returncode == 0, (scene.folder / "client.log").read_text()
    return failures


def task_cancelled(scene: Scene) -> list[Failure]:
    """The asyncio task that runs the operation is cancelled."""

    async def story() -> None:
        address = scene.address
        login = {"user": address.user, "password": address.password, "database": address.database}
        async with hmxgraph.connect_async(address.uri, tenant_id=scene.tenant_id, **login) as graph:
            loop = asyncio.get_running_loop()
            performing = asyncio.create_task(perform_async(OPERATIONS[scene.operation].steps, graph))
            _at(graph, scene.statements, lambda: loop.call_later(scene.delay, performing.cancel))
            with suppress(asyncio.CancelledError):
                await asyncio.wait_for(performing, PATIENCE)

    asyncio.run(story())
    return []


# Failures of the local server, while each of its clients has reached its chosen moment.


def server_killed(_: float) -> None:
    """Kill -9 of the server; its clients start it again."""
    psutil.Process(_pid()).kill()


def server_frozen(_: float) -> None:
    """Suspend the server (SIGSTOP) for five seconds."""
    process = psutil.Process(_pid())
    process.suspend()
    sleep(5)
    process.resume()


def server_restarted(_: float) -> None:
    """Stop the server cleanly and start it again."""
    engine.stop()
    engine.ensure()


def disk_full(share: float) -> None:
    """Let no file grow more than 8 KiB past the end of the transaction log, so that a write is torn."""
    _limited(_log_position(_pid()) + int(share * 8192))


def disk_read_only(_: float) -> None:
    """Let the server write to no file."""
    _limited(0)


def _limited(size: int) -> None:
    """Limit the server's files to *size* for three seconds, then restart it as its errors recommend."""
    pid = _pid()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    sleep(3)
    with suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    engine.stop()
    try:
        engine.ensure()
    except StoreDamaged as error:
        if "HMXGRAPH_SALVAGE=1" not in error.way_out:
            raise
        with pytest.MonkeyPatch.context() as surroundings:
            surroundings.setenv("HMXGRAPH_SALVAGE", "1")
            engine.ensure()


def _log_position(pid: int) -> int:
    """The server's write position in the transaction log of its graph."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        if "transactions/neo4j/neostore.transaction.db" in str(link.readlink()):
            return int(Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().split()[1])
    raise AssertionError("the server has no transaction log open")


def _pid() -> int:
    pid = engine.status().pid
    assert pid is not None
    return pid


def together(disturb: Callable[[float], None], scenes: list[Scene]) -> dict[str, list[Failure]]:
    """Perform the operations of all *scenes* on the local server; *disturb* it once each reaches its moment.

    Returns the failures of each tenant.
    """
    at_moment = threading.Barrier(len(scenes) + 1)

    def work(scene: Scene) -> list[Failure]:
        with hmxgraph.connect(tenant_id=scene.tenant_id) as graph:
            at_the_latest = _at(graph, scene.statements, lambda: at_moment.wait(PATIENCE))
            failures = repeated(graph, scene.operation, DEADLINE_OF_START)
            at_the_latest()
            return failures

    with ThreadPoolExecutor(len(scenes)) as pool:
        working = {scene.tenant_id: pool.submit(work, scene) for scene in scenes}
        at_moment.wait(PATIENCE)
        sleep(scenes[0].delay)
        disturb(scenes[0].delay / LONGEST_DELAY)
        return {tenant_id: each.result(2 * PATIENCE) for tenant_id, each in working.items()}


LONGEST_DELAY = 0.05
CLIENTS = {
    "reset in request": network("cut_request"),
    "reset in answer": network("cut_answer"),
    "silent": network("silent"),
    "slow": network("slow"),
    "refused": network("refused"),
    "client killed": client_killed,
    "client interrupted": client_signalled(signal.SIGINT),
    "client terminated": client_signalled(signal.SIGTERM),
    "client out of memory": client_out_of_memory,
    "clock jumps": clock_jumps,
    "second client": second_client,
    "task cancelled": task_cancelled,
}
SERVERS = {
    "server killed": server_killed,
    "server frozen": server_frozen,
    "server restarted": server_restarted,
    "disk full": disk_full,
    "disk read-only": disk_read_only,
}


def impossible(disturbance: str) -> str:
    """Why this machine cannot produce the disturbance; empty if it can."""
    if disturbance == "clock jumps" and not Path(_LIBFAKETIME).exists():
        return f"{disturbance}: no {_LIBFAKETIME} (Debian: apt-get install libfaketime)"
    if disturbance in {"client out of memory", "disk full", "disk read-only"} and not hasattr(resource, "prlimit"):
        return f"{disturbance}: only Linux limits a running process"
    return ""
