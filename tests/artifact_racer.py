"""Racers that supersede one head after another, each head at the same moment as their competitors."""

import threading

from hmxgraph.errors import AlreadySuperseded
from hmxgraph.graph import lifecycle
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from tests.artifact_makers import schema

PATIENCE = 120


def race(connection, tenant_id, racer, heads, barrier):
    """For each of *heads*: the head, the id of its successor as this racer learned it, and whether this racer won."""
    outcomes = []
    for head in heads:
        artifact = schema(f"{head}-{racer}", second=1, step=f"Step of {head} by {racer}")
        barrier.wait(PATIENCE)
        try:
            successor = connection.perform(lifecycle.supersede(Tenancy.of(tenant_id), head, artifact))
            outcomes.append((head, successor.artifact_id, True))
        except AlreadySuperseded as error:
            outcomes.append((head, error.winner_id, False))
    return outcomes


def race_as_process(address, tenant_id, racer, heads, barrier, results):
    """Race in a separate process with its own driver; put the outcomes into *results*."""
    connection = Connection(address)
    results.put(race(connection, tenant_id, racer, heads, barrier))
    connection.close()


def race_as_threads(connection, tenant_id, racers, heads):
    """Race in as many threads as there are *racers*; return the outcomes of each."""
    barrier = threading.Barrier(racers)
    outcomes = [[] for _ in range(racers)]

    def run(racer):
        outcomes[racer].extend(race(connection, tenant_id, racer, heads, barrier))

    threads = [threading.Thread(target=run, args=(racer,)) for racer in range(racers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return outcomes
