"""An operation that is cut off after any of its transactions, then repeated, ends like an undisturbed one."""

from functools import partial

import pytest

import hmxgraph
from hmxgraph.graph import compilations
from hmxgraph.graph.connection import Connection
from tests.artifact_makers import policy
from tests.session_makers import deployment, repaired_deployment

pytestmark = pytest.mark.server
SAID = "2026-06-01T00:00:00Z"


class CutOffError(BaseException):
    """Ends a call at any point, as a signal would: it is not an ``Exception``, so error handlers do not catch it."""


@pytest.fixture
def cut(monkeypatch):
    """Runs a call and cuts it off after a number of writing transactions; returns whether it made that many."""
    transact = Connection.transact

    def cut(call, after):
        left = [after]

        def counted(connection, work, **options):
            done = transact(connection, work, **options)
            left[0] -= work.mode == "write"
            if work.mode == "write" and not left[0]:
                raise CutOffError
            return done

        with monkeypatch.context() as patched:
            patched.setattr(Connection, "transact", counted)
            try:
                call()
            except CutOffError:
                return True
        return False

    return cut


@pytest.fixture
def opened(address, tenant_id):
    """Opens the graph of another fresh tenant."""
    graphs = []

    def opened():
        login = {"user": address.user, "password": address.password, "database": address.database}
        graphs.append(hmxgraph.connect(address.uri, tenant_id=f"{tenant_id}-{len(graphs)}", **login))
        return graphs[-1]

    yield opened
    for graph in graphs:
        graph.close()


def sessions(graph):
    """Ingest deployments, every other one repaired."""
    for number in range(3):
        made = (
            deployment(f"d{number}", tenant=graph.tenant_id),
            repaired_deployment(f"r{number}", tenant=graph.tenant_id),
        )
        graph.ingest([event for events in made for event in events])


def learnt(graph):
    """Ingest and compile the deployments."""
    sessions(graph)
    graph.compile()


def broken_rule(graph):
    """Record an artifact, then remember a rule that it breaks."""
    sessions(graph)
    graph.record_artifact(policy("p1", "Lock the table", second=3))
    rule(graph)


def rule(graph):
    """Remember a rule."""
    graph.remember("Never lock a table", kind="policy", at=SAID)


def rule_and_policy(graph):
    """Remember a rule and record a policy that does not break it."""
    rule(graph)
    graph.record_artifact(policy("p1", "Copy the table", second=3))


def imported(graph):
    """Import a draft, and record a draft of the tenant's own with the same content."""
    sessions(graph)
    title = "When table larger than 1 GB"
    graph.record_artifact(policy("p1", "Use an online migration", title=title))
    envelope = graph.export_fingerprint(tier="full")
    graph.transition("p1", "deprecated")
    graph.import_fingerprint(envelope)
    graph.record_artifact(policy("p2", "Use an online migration", title=title, status="draft"))


def breach(graph):
    """Record a policy that breaks the rule."""
    graph.record_artifact(policy("p2", "Lock the table", second=5))


def later_breach(graph):
    """Supersede the policy with one that breaks the rule."""
    graph.supersede("p1", policy("p2", "Lock the table", second=5))


def compiled(graph):
    """Compile the tenant."""
    graph.compile()


def forgotten(graph):
    """Forget a session, then compile what is left."""
    graph.forget(session_id="r1")
    graph.compile()


def exported(graph):
    """Export a compact fingerprint."""
    graph.export_fingerprint(tier="compact")


def picture(graph):
    """What the graph holds, without ids and times, so that tenants can be compared."""
    artifacts = graph.artifacts(status=None, limit=500).artifacts
    conflicts = graph.conflicts()
    return {
        "artifacts": sorted(
            (artifact.artifact_type, artifact.title, artifact.status, artifact.version) for artifact in artifacts
        ),
        "conflicts": sorted((conflict.kind, *sorted(side.text for side in conflict.sides)) for conflict in conflicts),
        "memories": sorted((memory.text, memory.status, memory.observation_count) for memory in graph.memories()[0]),
        "next": [tool.tool for tool in graph.suggest(events=deployment("next", tenant=graph.tenant_id)[:3]).tools],
    }


@pytest.mark.parametrize(
    ("prepared", "operation"),
    [
        (sessions, sessions),
        (sessions, compiled),
        pytest.param(broken_rule, compiled, marks=pytest.mark.slow),
        (imported, compiled),
        pytest.param(learnt, forgotten, marks=pytest.mark.slow),
        pytest.param(learnt, exported, marks=pytest.mark.slow),
        (rule, breach),
        (rule_and_policy, later_breach),
    ],
)
def test_cut_off_and_done_again(opened, cut, prepared, operation):
    """After every possible cut, repeating the operation leaves the same as an undisturbed run."""
    whole = opened()
    prepared(whole)
    operation(whole)
    after, was_cut = 1, True
    while was_cut:
        graph = opened()
        prepared(graph)
        was_cut = cut(partial(operation, graph), after)
        operation(graph)
        assert picture(graph) == picture(whole), f"cut off after {after} writes"
        assert graph.verify().findings == ()
        after += 1


def test_cut_off_after_summaries_are_rebuilt_for_another_release(opened, cut, monkeypatch):
    """A compilation cut off after rebuilding summaries for a new release is completed by the next one."""
    graph = opened()
    learnt(graph)
    monkeypatch.setattr(compilations, "summary_version", lambda profile: f"another of {profile.name}")
    assert cut(graph.compile, 1)
    assert sum(graph.compile().unchanged.values()) > 0
