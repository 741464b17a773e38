"""One of several processes that write at the same time: it says when it is ready, starts on a word, and reports.

Run as ``python -m tests.benchmarks.ingest_process ingest|bare URI USER PASSWORD TENANT FILE``. With ``ingest``, the
events of the file are ingested under the tenant; with ``bare``, the tenant's graph is copied by plain statements.
"""

import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from neo4j import GraphDatabase

import hmxgraph
from hmxgraph.graph.driver import Address
from hmxgraph.text.terms import counter
from tests.benchmarks.bare_writes import BareCopy


class Written(NamedTuple):
    """Seconds from the starting word to the end of the last process, and processor seconds of all processes."""

    seconds: float
    processor: float


def together(kind: str, address: Address, tenants: Iterable[str], file: Path) -> Written:
    """Let one process for each tenant write at the same time."""
    login = (address.uri, address.user, address.password)
    command = [sys.executable, "-m", "tests.benchmarks.ingest_process", kind, *login]
    processes = [
        subprocess.Popen([*command, tenant, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for tenant in tenants
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    began = perf_counter()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate()[0] for process in processes]
    seconds = perf_counter() - began
    assert [process.returncode for process in processes] == [0] * len(processes)
    return Written(seconds, sum(json.loads(output)["processor"] for output in outputs))


def main(arguments: Sequence[str]) -> None:
    """Prepare, wait for the starting word, write, and print the processor seconds of the writing."""
    kind, uri, user, password, tenant_id, file = arguments
    lines = Path(file).read_bytes().splitlines()
    with hmxgraph.connect(uri, user=user, password=password, tenant_id=tenant_id) as graph:
        if kind == "bare":
            with GraphDatabase.driver(uri, auth=(user, password)) as driver:
                copy = BareCopy(driver, tenant_id, f"{tenant_id}-copy-{uuid.uuid4()}")
                print(json.dumps({"processor": _timed(copy.write)}))
        else:
            counter()("load the ranks")
            print(json.dumps({"processor": _timed(lambda: _ingested(graph, lines))}))


def _timed(write: Callable[[], object]) -> float:
    print("ready", flush=True)
    sys.stdin.readline()
    began = process_time()
    write()
    return process_time() - began


def _ingested(graph: hmxgraph.KnowledgeGraph, lines: Sequence[bytes]) -> None:
    report = graph.ingest(lines, rehome=True)
    assert (report.accepted, report.rejected) == (len(lines), ())


if __name__ == "__main__":
    main(sys.argv[1:])
