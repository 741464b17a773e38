"""The cost of calls as the store grows, in accesses to the store (PROFILE), which do not depend on the machine's load.

``HMXGRAPH_GROWTH`` sets the numbers of sessions, of ten events each (``100,400,1600`` by default);
``HMXGRAPH_GROWTH_EVENTS`` the numbers of events of the one session that grows (``5000,100000``);
``HMXGRAPH_GROWTH_CONFLICTS`` the numbers of conflicts of one tenant (``200,20000``); ``HMXGRAPH_GROWTH_TENANT`` the
numbers of sessions of one large tenant, of ten events each (``1000,100000``: a million events, about half an hour).
"""

import os
import sys
import time

import pytest

import hmxgraph
from hmxgraph.graph.connection import ConnectionTerms
from tests.artifact_makers import policy, stored_at_once
from tests.counting import Counting
from tests.session_makers import repaired_deployment, service_work

pytestmark = pytest.mark.bench
SIZES = tuple(int(size) for size in os.environ.get("HMXGRAPH_GROWTH", "100,400,1600").split(","))
EVENTS = tuple(int(size) for size in os.environ.get("HMXGRAPH_GROWTH_EVENTS", "5000,100000").split(","))
CONFLICTS = tuple(int(size) for size in os.environ.get("HMXGRAPH_GROWTH_CONFLICTS", "200,20000").split(","))
TENANT = tuple(int(size) for size in os.environ.get("HMXGRAPH_GROWTH_TENANT", "1000,100000").split(","))
# Allowed factor over the expected growth: erasing one session costs the same in any store, and no call may grow
# faster than the store.
TOLERANCE = 1.5


def grown(graph, before, size):
    """Grow the tenant to *size* sessions, with one conflict for every ten of them."""
    deployed(graph, before, size)
    for number in range(before // 10, size // 10):
        for word in ("use it", "do not use it"):
            name = f"{word.partition(' ')[0]}{number}"
            graph.record_artifact(policy(name, word, condition=f"case number {number}"))
    graph.compile()


def deployed(graph, before, size):
    """Ingest the sessions up to *size*."""
    tenant = graph.tenant_id
    graph.ingest(line for n in range(before, size) for line in repaired_deployment(f"d{n}", tenant=tenant))


def hits(graph):
    """The accesses counted so far; 0 on a connection that does not count."""
    return getattr(graph._connection, "hits", 0)


def calls(graph, size):
    """The measured calls, depending on *size* as little as possible."""

    def compile_changed():
        graph.ingest(repaired_deployment(f"changed{size}", tenant=graph.tenant_id))
        before = hits(graph)
        graph.compile()
        return before

    return {
        "suggest": lambda: graph.suggest(session_id="d0"),
        "pack": lambda: graph.pack("Deploy the staging environment", budget=2048),
        "compile, one changed session": compile_changed,
        "forget, one session": lambda: graph.forget(session_id=f"d{size // 2}"),
        "query explore/session_story": lambda: graph.query("explore/session_story", session_id="d1"),
        "conflicts": graph.conflicts,
        "query explore/open_conflicts": lambda: graph.query("explore/open_conflicts"),
    }


def measured(connection, calls, table):
    """Add the accesses of each call to *table*; a call that prepares something returns the count at which to start."""
    for name, call in calls.items():
        before = connection.hits
        answer = call()
        before = answer if isinstance(answer, int) else before
        table.setdefault(name, []).append(connection.hits - before)


def shown(title, sizes, table):
    """Print the accesses for each size."""
    sys.stdout.write(f"\n{title:<32}{''.join(f'{size:>12,}' for size in sizes)}\n")
    for name, hits in table.items():
        sys.stdout.write(f"{name:<32}{''.join(f'{each:>12,}' for each in hits)}\n")


def test_growth(address, tenant_id):
    """Print accesses by size: forgetting costs only what it erases, and no call grows faster than the store."""
    connection, table = Counting(address), {}
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)
    before = 0
    for size in SIZES:
        grown(graph, before, size)
        before = size
        measured(connection, calls(graph, size), table)
    connection.close()
    shown("sessions", SIZES, table)
    growth = {name: hits[-1] / hits[0] for name, hits in table.items()}
    assert growth["forget, one session"] < TOLERANCE
    assert max(growth.values()) < TOLERANCE * SIZES[-1] / SIZES[0]


def session_calls(graph, size):
    """Calls about a session of *size* events, or about one of its events."""

    def compile_appended():
        graph.ingest(service_work("long", range(size + 1, size + 2), tenant=graph.tenant_id))
        before = graph._connection.hits
        graph.compile()
        return before

    return {
        "ingest, one event": lambda: graph.ingest(service_work("long", range(size, size + 1), tenant=graph.tenant_id)),
        "suggest": lambda: graph.suggest(session_id="long"),
        "compile, one event more": compile_appended,
        "pack for the session": lambda: graph.pack("Restart service 12", session_id="long", budget=2048),
        "pack that asks, not works": lambda: graph.pack("When did service 12 fail?", session_id="long", budget=2048),
        "forget, one event": lambda: graph.forget(event_id=f"long/{size // 2}"),
        "compile after that": graph.compile,
    }


def test_one_session_that_grows(address, tenant_id):
    """Print accesses by session size: ``suggest`` does not grow, and no call grows nearly as fast as the session."""
    connection, table = Counting(address), {}
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)
    before = 0
    for size in EVENTS:
        graph.ingest(service_work("long", range(before, size), tenant=tenant_id))
        before = size + 2
        graph.compile()
        measured(connection, session_calls(graph, size), table)
    connection.close()
    shown("events of one session", EVENTS, table)
    growth = {name: hits[-1] / hits[0] for name, hits in table.items()}
    assert growth["suggest"] < 1.01
    assert max(growth.values()) < 3


def opposed(numbers):
    """For each number, two rules of which one forbids what the other recommends."""
    for number in numbers:
        for word in ("use it", "do not use it"):
            yield policy(f"{word.partition(' ')[0]}{number}", word, condition=f"case number {number}")


def conflict_calls(graph, size):
    """Calls that may read conflicts or rules, but need only some of them."""

    def compile_changed():
        graph.ingest(repaired_deployment(f"changed{size}", tenant=graph.tenant_id))
        before = graph._connection.hits
        graph.compile()
        return before

    return {
        "compile, one changed session": compile_changed,
        "compile, nothing changed": graph.compile,
        "suggest": lambda: graph.suggest(session_id="d0"),
        "pack": lambda: graph.pack("Deploy the staging environment", budget=2048),
        "conflicts, the newest 50": lambda: graph.conflicts(limit=50),
        "record one more rule": lambda: graph.record_artifact(policy(f"more{size}", "wait", condition=f"more {size}")),
    }


def test_conflicts_that_grow(address, tenant_id):
    """Print accesses by the number of conflicts with the same time: no call reads all of them."""
    connection, table = Counting(address), {}
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)
    graph.ingest(repaired_deployment("d0", tenant=tenant_id))
    before = 0
    for size in CONFLICTS:
        for first in range(before, size, 1000):
            stored_at_once(connection, graph._tenancy, opposed(range(first, min(first + 1000, size))))
        before = size
        graph.compile()
        assert len(graph.conflicts()) == size
        measured(connection, conflict_calls(graph, size), table)
    connection.close()
    shown("conflicts", CONFLICTS, table)
    assert max(hits[-1] / hits[0] for hits in table.values()) < TOLERANCE


def test_a_tenant_that_grows(address, tenant_id):
    """Print accesses and seconds by the number of sessions of a tenant with a fixed number of conflicts."""
    connection, table = Counting(address), {}
    counted = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, terms=ConnectionTerms(timeout=3600))
    with graph:
        stored_at_once(connection, graph._tenancy, opposed(range(50)))
        before = 0
        for size in TENANT:
            for first in range(before, size, 5000):
                deployed(graph, first, min(first + 5000, size))
            before = size
            begun = time.perf_counter()
            graph.compile()
            sys.stdout.write(f"\n{size:,} sessions compiled in {time.perf_counter() - begun:.0f} s\n")
            measured(connection, calls(counted, size), table)
            for warm in range(3):
                timed(calls(graph, size - 2 * warm - 2), printed=warm == 2)
    connection.close()
    shown("sessions of the tenant", TENANT, table)


def timed(calls, *, printed):
    """Run the calls, and print the time of each if *printed*."""
    for name, call in calls.items():
        begun = time.perf_counter()
        call()
        if printed:
            sys.stdout.write(f"{name:<32}{1000 * (time.perf_counter() - begun):>12,.0f} ms\n")
