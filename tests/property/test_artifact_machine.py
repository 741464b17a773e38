"""Whatever the order of operations on artifacts, chains stay linear and as-of answers match a replay of the log."""

import uuid

import networkx as nx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from neo4j import GraphDatabase

from hmxgraph.errors import HmxGraphError
from hmxgraph.graph import artifacts, conflicts, lifecycle
from hmxgraph.graph.ingesting import IngestOptions, ingest
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.retention import forget
from hmxgraph.protocol.lifecycle import ArtifactFilter
from hmxgraph.protocol.reports import ForgetCriteria
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, made
from tests.property.artifact_model import Model

EVERY = ArtifactFilter(status=None)
EDGES = "MATCH (n:Artifact {tenant_id: $tenant_id})-[:SUPERSEDES]->(o:Artifact) RETURN n.artifact_id, o.artifact_id"
CONDITIONS = ("table larger than 1 GB", "table larger than 1 GB", "pods restart in a loop")
ANSWERS = ("Use an online migration", "Ask the owner first", "Roll back to the last release")
POLICY = st.tuples(st.just("policy"), st.sampled_from(CONDITIONS), st.sampled_from(ANSWERS), st.sampled_from("xy"))
SCHEMA = st.tuples(st.just("schema"), st.sampled_from(("Apply", "Check", "Verify")))
SAID = st.one_of(POLICY, POLICY, POLICY, SCHEMA)
MOVES = ("archived", "archived", "deprecated", "active", "active", "draft", "superseded")
EVENTS = ("e0", "e1", "e2", "e3")
EVIDENCE = st.frozensets(st.sampled_from(EVENTS), max_size=2)
PICK = st.integers(min_value=0, max_value=99)
SECONDS = st.integers(min_value=0, max_value=40)


def content(said):
    """The artifact type and content for a drawn value."""
    if said[0] == "schema":
        return "task_schema", {"steps": [{"order": 1, "description": said[1]}]}
    return "decision_policy", {"condition": said[1], "recommendation": said[2], "scope": [said[3]]}


def observation(number, name):
    """A minimal event."""
    return {
        "hmx_version": "HMX-1.0",
        "event_id": name,
        "event_type": "observation",
        "agent_id": "agent",
        "tenant_id": "any",
        "session_id": "s",
        "timestamp": iso(at(number)),
        "sequence": number,
        "content": {"n": number},
        "metadata": {},
    }


class Lifecycle(RuleBasedStateMachine):
    """One tenant on the real graph, run in step with the model."""

    def __init__(self, connection, driver):
        super().__init__()
        self.connection = connection
        self.driver = driver
        self.tenancy = Tenancy.of(f"machine-{uuid.uuid4()}")
        self.model = Model({name: at(number) for number, name in enumerate(EVENTS)})
        self.names = []
        self.number = 0
        seen = [observation(number, name) for number, name in enumerate(EVENTS)]
        ingest(connection.transact, self.tenancy, seen, IngestOptions(rehome=True))

    @rule(
        said=SAID,
        status=st.sampled_from(("active", "active", "active", "draft", "archived")),
        second=SECONDS,
        evidence=EVIDENCE,
    )
    def record(self, said, status, second, evidence):
        """Record an artifact, a duplicate if a live one says the same."""
        name, artifact = self._new(said, status, second, evidence)
        expected = self.model.record(name, said, status, at(second), evidence)
        self._same(expected, lifecycle.record_artifact(self.tenancy, artifact), lambda done: done.outcome)

    @precondition(lambda self: self.names)
    @rule(
        pick=PICK, said=SAID, status=st.sampled_from(("active", "active", "draft")), second=SECONDS, evidence=EVIDENCE
    )
    def supersede(self, pick, said, status, second, evidence):
        """Supersede an artifact, or expect the model's error."""
        name, artifact = self._new(said, status, second, evidence)
        old_id = self.names[pick % len(self.names)]
        expected = self.model.supersede(old_id, name, said, status, at(second), evidence)
        self._same(expected, lifecycle.supersede(self.tenancy, old_id, artifact), lambda done: done.outcome)

    @precondition(lambda self: self.names)
    @rule(pick=PICK, status=st.sampled_from(MOVES), second=st.none() | SECONDS)
    def transition(self, pick, status, second):
        """Change an artifact's status, or expect the model's error."""
        name = self.names[pick % len(self.names)]
        time = None if second is None else at(second)
        expected = self.model.transition(name, status, time)
        move = lifecycle.transition(self.tenancy, name, status, at_us=time)
        self._same(expected, move, lambda artifact: artifact.status)

    @precondition(lambda self: self.model.disputes)
    @rule(pick=PICK, side=st.sampled_from((0, 1, None)), second=st.none() | SECONDS)
    def resolve(self, pick, side, second):
        """Resolve a conflict for one side or for both, or expect the model's error."""
        sides = sorted(self.model.disputes)[pick % len(self.model.disputes)]
        keep = None if side is None else sides[side]
        time = None if second is None else at(second)
        conflict_id = next(conflict.conflict_id for conflict in self._conflicts(None) if names(conflict) == sides)
        expected = self.model.resolve(sides, keep, "tried", time)
        work = conflicts.resolve(self.tenancy, conflict_id, keep=keep, reason="tried", at_us=time)
        self._same(expected, work, lambda conflict: conflict.status)

    @precondition(lambda self: len(self.model.erased) < len(EVENTS))
    @rule(pick=PICK)
    def forget(self, pick):
        """Erase an event; artifacts that rested on it alone are deprecated."""
        left = sorted(set(EVENTS) - self.model.erased)
        event_id = left[pick % len(left)]
        expected = self.model.forget([event_id])
        work = forget(self.tenancy, ForgetCriteria(event_ids=(event_id,)))
        self._same(expected, work, lambda report: list(report.artifacts))

    def teardown(self):
        """Check that chains are linear and that as-of answers match the replay."""
        self._lines()
        times = sorted({entry[0] for entry in self.model.log})
        for time in [None, *times[:: max(1, len(times) // 2)]]:
            self._as_of(time)

    def _new(self, said, status, second, evidence):
        self.number += 1
        name = f"a{self.number}"
        return name, made(name, *content(said), second, {"status": status, "source_events": sorted(evidence)})

    def _same(self, expected, procedure, outcome):
        try:
            result = outcome(self.connection.perform(procedure))
        except HmxGraphError as error:
            result = type(error)
        assert result == expected
        self.names = sorted(self.model.versions)

    def _as_of(self, time):
        page = self.connection.perform(artifacts.artifacts(self.tenancy, EVERY, as_of_us=time, limit=1000))
        until = self.model.clock if time is None else time
        statuses = {artifact.artifact_id: (artifact.status, artifact.superseded_by) for artifact in page.artifacts}
        assert statuses == self.model.artifacts_at(until)
        assert {
            names(conflict): (conflict.status, conflict.kept_id) for conflict in self._conflicts(time)
        } == self.model.disputes_at(until)

    def _conflicts(self, time):
        return self.connection.perform(conflicts.conflicts(self.tenancy, status=None, as_of_us=time))

    def _joined(self, name):
        return any(entry[1:4] == ("status", name, "active") for entry in self.model.log)

    def _lines(self):
        edges, _, _ = self.driver.execute_query(EDGES, tenant_id=self.tenancy.tenant_id, database_="neo4j")
        page = self.connection.perform(artifacts.artifacts(self.tenancy, EVERY, limit=1000))
        stored = {artifact.artifact_id: artifact for artifact in page.artifacts}
        chains = nx.DiGraph()
        chains.add_nodes_from(stored)
        chains.add_edges_from(tuple(edge) for edge in edges)
        assert nx.is_directed_acyclic_graph(chains)
        assert all(degree <= 1 for _, degree in [*chains.in_degree(), *chains.out_degree()])
        # A proposed successor that never became active is not part of the chain.
        joined = [
            artifact for artifact in stored.values() if artifact.supersedes and self._joined(artifact.artifact_id)
        ]
        assert {(artifact.artifact_id, artifact.supersedes) for artifact in joined} == set(chains.edges)
        successions = {
            (artifact.superseded_by, artifact.artifact_id) for artifact in stored.values() if artifact.superseded_by
        }
        assert successions == set(chains.edges)
        for members in nx.weakly_connected_components(chains):
            line = list(reversed(list(nx.topological_sort(chains.subgraph(members)))))
            first = 1 if stored[line[0]].supersedes is None else stored[line[0]].version
            assert [stored[name].version for name in line] == list(range(first, first + len(line)))
            assert sum(stored[name].status == "active" for name in line) <= 1
            assert all(stored[name].status == "superseded" for name in line[:-1])


def names(conflict):
    """The ids of a conflict's sides, in order."""
    return tuple(side.side_id for side in conflict.sides)


@pytest.fixture(scope="module")
def driver(address):
    """A plain driver for reading the relationships directly."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        yield driver


@pytest.mark.timeout(1200)
def test_lifecycle_equals_its_model(connection, driver):
    """Runs of 30 steps on the real graph agree with the model and its replay, and chains are linear."""
    runs = 6 if settings().max_examples < 100 else settings().max_examples
    run_state_machine_as_test(
        lambda: Lifecycle(connection, driver), settings=settings(max_examples=runs, stateful_step_count=30)
    )


@pytest.mark.fuzz
def test_lifecycle_equals_its_model_at_length(connection, driver):
    """The same for 1,000 runs of 30 steps."""
    run_state_machine_as_test(
        lambda: Lifecycle(connection, driver), settings=settings(max_examples=1000, stateful_step_count=30)
    )
