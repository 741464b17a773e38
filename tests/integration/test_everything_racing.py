"""Eight processes make all kinds of writes on one tenant at once and leave it consistent.

``HMXGRAPH_RACE_SECONDS`` sets the duration (20 by default).
"""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.integration.fault_operations import opened
from tests.integration.ingested import Ingested
from tests.integration.racing_writer import ACTS, CHAINS, ORDERED
from tests.integration.serving import environment

SECONDS = int(os.environ.get("HMXGRAPH_RACE_SECONDS", "20"))
WRITERS = 8
LOOPS = "MATCH (n {tenant_id: $tenant_id}) WHERE EXISTS { (n)-[:SUPERSEDES]->+(n) } RETURN n.key AS key"
FORKS = """
MATCH (n {tenant_id: $tenant_id})
WHERE n:Artifact AND (COUNT { (n)<-[:SUPERSEDES]-() } > 1 OR COUNT { (n)-[:SUPERSEDES]->() } > 1)
RETURN n.key AS key
"""
FACTS = """
MATCH (memory:Memory {tenant_id: $tenant_id})
RETURN memory.text AS text, memory.status AS status, memory.observation_count AS observed
ORDER BY text, status
"""


def raced(address, tenant_id):
    """Run the writers; returns what they did and how often each act was refused. A failing writer fails the test."""
    command = [sys.executable, "-m", "tests.integration.racing_writer", tenant_id]
    writers = [
        subprocess.Popen(
            [*command, f"w{number}", str(SECONDS)],
            env=environment(address),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(WRITERS)
    ]
    outcomes = [writer.communicate(timeout=SECONDS + 600) for writer in writers]
    failures = "\n".join(errors for _, errors in outcomes if errors)
    assert not failures, failures
    done, lost = [], Counter()
    for text, _ in outcomes:
        own, own_lost = json.loads(text)
        done += [tuple(each) for each in own]
        lost.update(own_lost)
    return done, lost


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_eight_processes_write_everything_at_once(address, tenant_id, graph, connection):
    """Chains stay linear, nothing supersedes itself, and events, sessions and facts equal those of one writer."""
    done, lost = raced(address, tenant_id)
    sys.stdout.write(f"{Counter(name for _, name in done)}, lost to others: {dict(lost)}\n")
    stored = Ingested(connection, tenant_id)
    assert graph.verify().findings == ()
    assert (stored.rows(LOOPS), stored.rows(FORKS)) == ([], [])
    for number in range(CHAINS):
        versions = graph.chain(f"chain{number}").versions
        assert [version.version for version in versions] == list(range(1, len(versions) + 1))
    with opened(address, f"{tenant_id}-twin") as twin:
        for number, name in sorted(set(done)):
            if ACTS[name] in ORDERED:
                ACTS[name](twin, number, "twin")
    alone = Ingested(connection, twin.tenant_id)
    assert _own(stored.picture()) == _own(alone.picture())
    assert stored.rows(FACTS) == alone.rows(FACTS)


def _own(picture):
    """A picture without ids that depend on the tenant."""
    events = sorted((event["session_id"], event["content"], event["search_text"]) for event in picture["e"])
    sessions = [(row["session"]["session_id"], row["session"]["event_count"]) for row in picture["s"]]
    return events, sessions, Counter(link["type"] for link in picture["l"]), len(picture["w"])
