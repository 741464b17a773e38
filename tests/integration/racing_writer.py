"""A process that writes everything at once: what eight of them do on one tenant is a function of numbers.

Run as a program, it works through the numbers in an order of its own until the time is up, and prints what it did.
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

# Chains and facts that all fight for; sessions, rules and facts of one number are written by whoever comes first.
CHAINS = 3


def ingest(graph, number, _writer):
    """A session that others ingest too."""
    graph.ingest(deployment(f"d{number}", tenant=graph.tenant_id))


def remember(graph, number, _writer):
    """A fact in the place of the one before."""
    graph.remember(f"The release manager is Person{number}", at=iso(at(number)), idempotency_key=f"r{number}")


def supersede(graph, number, writer):
    """Another head of a chain."""
    first = f"chain{number % CHAINS}"
    graph.record_artifact(schema(first, step=f"Begin {first}"))
    head = graph.chain(first).head
    successor = schema(f"{first}-{number}-{writer}", second=number, step=f"Step {number} of {writer} in {first}")
    graph.supersede(head.artifact_id, successor)


def resolve(graph, number, _writer):
    """Two rules that contradict each other; every open conflict of rules is decided."""
    for recommendation in ("use it", "do not use it"):
        name = f"{recommendation.partition(' ')[0]}{number}"
        graph.record_artifact(policy(name, recommendation, condition=f"case number {number}"))
    for conflict in graph.conflicts():
        if all(side.kind == "artifact" for side in conflict.sides):
            graph.resolve(conflict.conflict_id, keep=min(side.side_id for side in conflict.sides))


def compile_all(graph, _number, _writer):
    """What the sessions teach by now."""
    graph.compile()


ACTS = {each.__name__: each for each in (ingest, remember, supersede, resolve, compile_all)}
# What a twin can repeat in any order.
ORDERED = (ingest, remember)


def race(graph, writer, seconds):
    """Write until the time is up: (number, act) of all that was written, and how often each act lost to another."""
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
