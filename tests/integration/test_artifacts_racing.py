"""Concurrent writers of the same thing: one wins, and the others learn which."""

import faulthandler
import multiprocessing
import threading
from functools import partial

import pytest

from hmxgraph.errors import HmxGraphError, InvalidTransition
from hmxgraph.graph import artifacts, conflicts, lifecycle
from hmxgraph.graph.plan import Tenancy, bind
from hmxgraph.protocol.lifecycle import ArtifactFilter
from tests.artifact_makers import policy, schema, stored_at_once
from tests.artifact_racer import race_as_process, race_as_threads
from tests.integration.held_up import held_up

RACES = 250
EVERY = ArtifactFilter(status=None)


@pytest.fixture
def tenancy(tenant_id):
    """The tenant of this test."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def heads(connection, tenancy):
    """The active heads that the writers race to supersede."""
    names = [f"h{number}" for number in range(RACES)]
    stored_at_once(connection, tenancy, [schema(name, step=f"Step of {name}") for name in names])
    return names


@pytest.fixture
def all_of(connection, tenancy):
    """Returns all artifacts of the tenant by id."""

    def all_of():
        page = connection.perform(artifacts.artifacts(tenancy, EVERY, limit=10_000))
        return {artifact.artifact_id: artifact for artifact in page.artifacts}

    return all_of


@pytest.fixture
def write(connection, tenancy):
    """Returns a callable that records an artifact when it is called."""
    return lambda artifact: partial(connection.perform, lifecycle.record_artifact(tenancy, artifact))


def at_once(*calls):
    """Start all calls at the same instant; returns what each returned or raised."""
    barrier = threading.Barrier(len(calls))
    results = [None] * len(calls)

    def run(place, call):
        barrier.wait(60)
        try:
            results[place] = call()
        except HmxGraphError as error:
            results[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback()
        pytest.fail("a writer still waits after two minutes; where, is told above")
    return results


def no_forks(outcomes, stored):
    """Assert that each head has one successor, which one racer created and whose name every racer got."""
    for race in zip(*outcomes, strict=True):
        head = race[0][0]
        assert {winner for _, winner, _ in race} == {stored[head].superseded_by}
        assert sorted(won for _, _, won in race) == [False] * (len(race) - 1) + [True]
        assert [name for name, artifact in stored.items() if artifact.supersedes == head] == [
            stored[head].superseded_by
        ]


@pytest.mark.slow
def test_threads_never_fork_a_chain(connection, tenancy, heads, all_of):
    """In 250 races of two threads each head gets one successor, and the loser is given its name."""
    outcomes = race_as_threads(connection, tenancy.tenant_id, 2, heads)
    assert len(all_of()) == 2 * RACES
    no_forks(outcomes, all_of())


@pytest.mark.slow
def test_processes_never_fork_a_chain(address, tenancy, heads, all_of):
    """In 250 races of two processes each head gets one successor, and the loser is given its name."""
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(2), spawn.Queue()
    racers = [
        spawn.Process(target=race_as_process, args=(address, tenancy.tenant_id, racer, heads, barrier, results))
        for racer in range(2)
    ]
    for racer in racers:
        racer.start()
    outcomes = [results.get(timeout=240) for _ in racers]
    for racer in racers:
        racer.join(60)
    no_forks(outcomes, all_of())


def test_eight_racers_leave_one_line(connection, tenancy, all_of):
    """Of eight threads that supersede one head, one succeeds and seven are given the winner's name."""
    connection.perform(lifecycle.record_artifact(tenancy, schema("h0")))
    no_forks(race_as_threads(connection, tenancy.tenant_id, 8, ["h0"]), all_of())


def test_equal_knowledge_recorded_at_once_is_one(write, all_of):
    """Of eight simultaneous writers of equal content, one creates it and the others get that artifact."""
    receipts = at_once(*(write(schema(f"a{number}")) for number in range(8)))
    assert sorted(receipt.outcome for receipt in receipts) == ["created"] + ["duplicate"] * 7
    assert {receipt.artifact_id for receipt in receipts} == set(all_of())


def test_the_same_artifact_recorded_at_once_is_recorded_once(write, all_of):
    """Of eight simultaneous writers of one document, one creates it and the others report it unchanged; none hangs.

    The losing transactions fail. Only many rounds show what a failure does to the connection that they share.
    """
    names = {f"a{number}" for number in range(60)}
    for name in sorted(names):
        receipts = at_once(*(write(schema(name, step=f"Step of {name}")) for _ in range(8)))
        assert sorted(receipt.outcome for receipt in receipts) == ["created"] + ["unchanged"] * 7
    assert set(all_of()) == names


def test_opposites_recorded_at_once_are_noticed(connection, tenancy, write):
    """Two contradicting policies recorded at the same time open one conflict."""
    for number in range(10):
        case = f"case {number}"
        sides = [policy(f"{case} a", "Use it", condition=case), policy(f"{case} b", "Never use it", condition=case)]
        at_once(*(write(side) for side in sides))
    assert len(connection.perform(conflicts.conflicts(tenancy))) == 10


def test_two_ends_of_one_artifact(connection, tenancy, all_of):
    """If an artifact is archived and deprecated at the same time, one succeeds and the other is clearly refused."""
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1")))
    moves = (lifecycle.transition(tenancy, "a1", status) for status in ("archived", "deprecated"))
    ends = at_once(*(partial(connection.perform, move) for move in moves))
    assert [type(end) for end in ends].count(InvalidTransition) == 1
    assert all_of()["a1"].status in {"archived", "deprecated"}


def archiving(tenancy, name):
    """A function that archives an artifact within a given transaction."""
    change = {"key": tenancy.node_key(name), "status": "archived", "from": ["active"], "reason": "", "at_us": 0}
    statement = bind("artifacts/transition", tenant_id=tenancy.tenant_id, changes=[change])
    return lambda tx: tx.run(statement.text, statement.parameters).consume()


LATE = {
    "transition": lambda tenancy: lifecycle.transition(tenancy, "a1", "deprecated"),
    "supersede": lambda tenancy: lifecycle.supersede(tenancy, "a1", schema("a2", step="Again", second=2)),
    "draft made active": lambda tenancy: lifecycle.transition(tenancy, "d2", "active"),
}


@pytest.mark.parametrize("late", LATE)
def test_a_writer_that_waited_sees_what_it_waited_for(connection, tenancy, all_of, late):
    """A write that waited for an archival is refused: the status is checked under the lock, not before it."""
    connection.perform(lifecycle.record_artifact(tenancy, schema("a1", status="active")))
    draft = schema("d2", step="Proposed", second=1, status="draft")
    connection.perform(lifecycle.supersede(tenancy, "a1", draft))
    refusals = []

    def work():
        with pytest.raises(InvalidTransition) as refusal:
            connection.perform(LATE[late](tenancy))
        refusals.append(refusal.value)

    held_up(connection._driver, work, archiving(tenancy, "a1"), "Artifact")
    assert len(refusals) == 1
    assert {name: artifact.status for name, artifact in all_of().items()} == {"a1": "archived", "d2": "draft"}
