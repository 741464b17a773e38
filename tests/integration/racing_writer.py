"""A writer process that makes every kind of write; each write is determined by a number.

Eight of them race on one tenant. Run as a program, it works through the numbers, each time with the writes in random
order, until the time is up, and prints what it did.
"""

import json
import random
import sys
from collections import Counter
from time import monotonic

import hmxgraph
from hmxgraph.errors import LifecycleError
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, policy, schema
from tests.session_makers import deployment

# The number of artifact chains for which all writers compete.
CHAINS = 3


def ingest(graph, number, _writer):
    """Ingest a session that other writers ingest too."""
    graph.ingest(deployment(f"d{number}", tenant=graph.tenant_id))


def remember(graph, number, _writer):
    """Remember a fact that replaces the one before."""
    graph.remember(f"The release manager is Person{number}", at=iso(at(number)), idempotency_key=f"r{number}")


def supersede(graph, number, writer):
    """Supersede the head of a chain."""
    first = f"chain{number % CHAINS}"
    graph.record_artifact(schema(first, step=f"Begin {first}"))
    head = graph.chain(first).head
    successor = schema(f"{first}-{number}-{writer}", second=number, step=f"Step {number} of {writer} in {first}")
    graph.supersede(head.artifact_id, successor)


def resolve(graph, number, _writer):
    """Record two contradicting policies, then resolve every open conflict between artifacts."""
    for recommendation in ("use it", "do not use it"):
        name = f"{recommendation.partition(' ')[0]}{number}"
        graph.record_artifact(policy(name, recommendation, condition=f"case number {number}"))
    for conflict in graph.conflicts():
        if all(side.kind == "artifact" for side in conflict.sides):
            graph.resolve(conflict.conflict_id, keep=min(side.side_id for side in conflict.sides))


def compile_all(graph, _number, _writer):
    """Compile the sessions ingested so far."""
    graph.compile()


ACTS = {each.__name__: each for each in (ingest, remember, supersede, resolve, compile_all)}
# Acts whose result does not depend on the order in which they are repeated.
ORDERED = (ingest, remember)


def race(graph, writer, seconds):
    """Write until the time is up; returns the completed (number, act) pairs and how often each act was refused."""
    chance, end = random.Random(f"writer {writer}"), monotonic() + seconds
    done, lost = [], Counter()
    for number in range(1_000_000):
        if monotonic() > end:
            return done, lost
        for name in chance.sample(sorted(ACTS), len(ACTS)):
            if name == "compile_all" and number % 5:
                continue
            try:
                ACTS[name](graph, number, writer)
            except LifecycleError:
                lost[name] += 1
            else:
                done.append((number, name))
    raise AssertionError


if __name__ == "__main__":
    tenant, own_name, duration = sys.argv[1:]
    with hmxgraph.connect(tenant_id=tenant, timeout=120) as own_graph:
        outcome = race(own_graph, own_name, float(duration))
    json.dump(outcome, sys.stdout)
