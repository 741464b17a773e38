"""The tenants of a server: a graph for each, which share one driver, and usage counts that are not stored yet."""

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from time import time_ns

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.protocol.usage import UsageHour, hour_of


class Tenants:
    """The graphs of all tenants, each created on first use. Thread-safe."""

    def __init__(self, root: KnowledgeGraph) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._graphs: dict[str, KnowledgeGraph] = {}
        self._compiling: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def graph(self, tenant_id: str) -> KnowledgeGraph:
        """The tenant's graph."""
        with self._lock:
            graph = self._graphs.get(tenant_id)
            if graph is None:
                graph = self._graphs[tenant_id] = self.root.for_tenant(tenant_id)
            return graph

    def compile_lock(self, tenant_id: str) -> threading.Lock:
        """The lock to hold while compiling the tenant, so that a second request waits for the first."""
        with self._lock:
            return self._compiling[tenant_id]

    def close(self) -> None:
        """Close all graphs."""
        with self._lock:
            graphs, self._graphs = list(self._graphs.values()), {}
        for graph in (*graphs, self.root):
            graph.close()


class UsageTally:
    """Usage counts that are not stored yet, by tenant and hour. Thread-safe.

    They are added to the database every few seconds and when the server stops, so that no request waits for that. A
    server that is killed loses the counts of its last seconds, but no events.
    """

    def __init__(self, clock_us: Callable[[], int] = lambda: time_ns() // 1_000) -> None:
        self._clock_us = clock_us
        self._lock = threading.Lock()
        self._hours: dict[str, dict[int, UsageHour]] = {}

    def count(self, tenant_id: str, **counts: int) -> None:
        """Add to the counters of the current hour.

        >>> tally = UsageTally(lambda: 5)
        >>> tally.count("acme", ingested=2)
        >>> tally.take_all()["acme"][0].ingested, tally.take_all()
        (2, {})
        """
        hour_us = hour_of(self._clock_us())
        with self._lock:
            hours = self._hours.setdefault(tenant_id, {})
            hour = hours.get(hour_us, UsageHour(hour_us))
            hours[hour_us] = replace(hour, **{name: getattr(hour, name) + number for name, number in counts.items()})

    def take_all(self) -> dict[str, list[UsageHour]]:
        """Remove and return all counts, by tenant."""
        with self._lock:
            hours, self._hours = self._hours, {}
        return {tenant_id: list(counted.values()) for tenant_id, counted in hours.items()}

    def put_back(self, tenant_id: str, hours: list[UsageHour]) -> None:
        """Put back counts that could not be stored."""
        with self._lock:
            counted = self._hours.setdefault(tenant_id, {})
            for hour in hours:
                current = counted.get(hour.hour_us)
                counted[hour.hour_us] = hour if current is None else _sum(current, hour)

    def store(self, tenants: Tenants) -> None:
        """Add all counts to the database; if that fails, those not added yet are kept for the next call."""
        take_all = self.take_all()
        while take_all:
            tenant_id, hours = take_all.popitem()
            try:
                tenants.graph(tenant_id).usage.add(hours)
            except BaseException:
                for unstored_id, unstored_hours in [(tenant_id, hours), *take_all.items()]:
                    self.put_back(unstored_id, unstored_hours)
                raise


def _sum(usage: UsageHour, other: UsageHour) -> UsageHour:
    return UsageHour(
        usage.hour_us,
        usage.ingested + other.ingested,
        usage.duplicates + other.duplicates,
        usage.errors + other.errors,
        usage.syntheses + other.syntheses,
        usage.compilations + other.compilations,
    )
