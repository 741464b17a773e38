"""How the time of a pack grows with the store: one store grows in steps, and packs and their bare statements are timed.

The store has tenants of mixed sizes and a large one, which holds an eighth of all events (crowded_store.py). At each
step the same questions are put to one copy of each source, chosen at random, and to the large tenant.
``HMXGRAPH_BENCH_SCALE`` sets the steps, ``HMXGRAPH_BENCH_PACKS`` the number of packs for each source.
"""

import os
import random
import tempfile
from collections.abc import Iterator
from itertools import accumulate, takewhile
from math import log
from pathlib import Path
from time import perf_counter

import pytest
from neo4j import Driver, GraphDatabase

from hmxgraph import engine
from hmxgraph.graph.driver import OPTIONS, Address
from tests.benchmarks.bench_pack_latency import Times, at, measured, questions_of
from tests.benchmarks.crowded_store import (
    LARGE,
    MEMORY,
    Subgraph,
    copy_tenants,
    create_indexes,
    drop_indexes,
    event_count,
    graph_of,
    ingest_originals,
    repeat_large,
    source_lines,
    sources,
    tenants,
)

pytestmark = pytest.mark.bench
SIZES = tuple(int(size) for size in os.environ.get("HMXGRAPH_BENCH_SCALE", "100000,300000,1000000").split(","))
PACKS = int(os.environ.get("HMXGRAPH_BENCH_PACKS", "20"))
LARGE_SHARE = 8
# Growth of the median pack when the store grows tenfold.
GOAL = 1.5


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[engine.Server]:
    """An empty local server in a temporary data home."""
    for name, size in MEMORY.items():
        monkeypatch.setenv(name, os.environ.get(name, size))
    with tempfile.TemporaryDirectory(prefix="hmxgraph-bench-scale-", ignore_cleanup_errors=True) as home:
        yield engine.ensure(home)
        engine.stop(home)


class GrowingStore:
    """A store that is filled in steps with copies of a few sources."""

    def __init__(self, address: Address, driver: Driver) -> None:
        self._address, self._driver = address, driver
        by_size = sorted(sources(), key=lambda name: len(source_lines(name)))
        sums = accumulate(len(source_lines(name)) for name in by_size)
        self.names = by_size[: max(1, len(list(takewhile(lambda events: events <= SIZES[0] // 3, sums))))]
        ingest_originals(address, self.names)
        self._originals = {name: Subgraph(driver, name) for name in self.names}
        self._large, self._repeats = Subgraph(driver, LARGE), 1

    def grow(self, events: int) -> float:
        """Grow to this many events; return the seconds taken."""
        began = perf_counter()
        drop_indexes(self._driver)
        needed = max(self._repeats, -(-events // LARGE_SHARE // self._large.events))
        repeat_large(self._driver, self._large, range(self._repeats, needed))
        self._repeats = needed
        copy_tenants(self._driver, self._originals, events, tell=len)
        create_indexes(self._address, self._driver)
        return perf_counter() - began

    def packs(self, chance: random.Random) -> tuple[Times, Times]:
        """Times of packs and bare statements: of one copy of each source, and of the large tenant."""
        stored = sorted(tenants(self._driver))
        small, large = Times(), Times()
        for name in self.names:
            copies = [tenant_id for tenant_id in stored if tenant_id.split("~")[0] == name]
            questions = questions_of(name)[:PACKS]
            for tenant_id, times in ((chance.choice(copies), small), (LARGE, large)):
                with graph_of(self._address, tenant_id) as graph:
                    for question in questions[:3]:
                        graph.pack(question)
                    times.add(measured(graph, self._driver, questions))
        return small, large


def test_packs_do_not_grow_with_the_store(server: engine.Server) -> None:
    """If the store grows tenfold, the median pack grows at most 1.5 times."""
    medians: dict[str, list[tuple[int, float, float]]] = {"tenants": [], LARGE: []}
    address = Address(server.uri, server.user, server.password)
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password), **OPTIONS) as driver:
        store = GrowingStore(address, driver)
        for size in SIZES:
            seconds = store.grow(size)
            events, number = event_count(driver), len(tenants(driver))
            print(
                f"\n  {events:,} events of {number} tenants, grown in {seconds:.0f} s, "
                f"{disk(server.home) / events / 1000:.1f} KB of disk per event; packs of 4,096 tokens, ms"
            )
            for name, times in zip(medians, store.packs(random.Random(5)), strict=True):
                own, bare = at(times.packs, 0.5), at(times.bare, 0.5)
                medians[name].append((events, own, bare))
                print(
                    f"    {name:<8} {len(times.packs):4} packs  p50 {own:6.1f}  p99 {at(times.packs, 0.99):6.1f}  "
                    f"bare p50 {bare:6.1f}  p99 {at(times.bare, 0.99):6.1f}  ratio {times.ratio:.2f}"
                )
    growth = {name: [tenfold(rows, column) for column in (1, 2)] for name, rows in medians.items()}
    for name, (own, bare) in growth.items():
        print(f"  {name:<8} tenfold store: packs {own:.2f} times (goal {GOAL}), bare statements {bare:.2f} times")
    assert max(own for own, _ in growth.values()) <= GOAL


def disk(home: Path) -> int:
    """Bytes of the database's files, without transaction logs."""
    return sum(file.stat().st_size for file in (home / "data" / "databases" / "neo4j").rglob("*") if file.is_file())


def tenfold(rows: list[tuple[int, float, float]], column: int) -> float:
    """The factor by which a median grows when the store grows tenfold, from the line through all steps (logarithms)."""
    x = [log(row[0]) for row in rows]
    y = [log(row[column]) for row in rows]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
    return 10**slope
