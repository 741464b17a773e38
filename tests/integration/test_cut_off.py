"""Cut off after any of its transactions and done again, an operation ends where an undisturbed one ends."""

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
    """What ends a process at any moment, such as a signal: no handler of errors sees it."""


@pytest.fixture
def cut(monkeypatch):
    """Calls a function and ends it after so many writing transactions; whether it had that many."""
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
    """Opens the graph of a further tenant."""
    graphs = []

    def opened():
        login = {"user": address.user, "password": address.password, "database": address.database}
        graphs.append(hmxgraph.connect(address.uri, tenant_id=f"{tenant_id}-{len(graphs)}", **login))
        return graphs[-1]

    yield opened
    for graph in graphs:
        graph.close()


def sessions(graph):
    """Deployments, every other one repaired."""
    for number in range(3):
        made = (
            deployment(f"d{number}", tenant=graph.tenant_id),
            repaired_deployment(f"r{number}", tenant=graph.tenant_id),
        )
        graph.ingest([event for events in made for event in events])


def learnt(graph):
    """Deployments, compiled."""
    sessions(graph)
    graph.compile()


def broken_rule(graph):
    """An artifact, and a rule said after it that it breaks."""
    sessions(graph)
    graph.record_artifact(policy("p1", "Lock the table", second=3))
    rule(graph)


def rule(graph):
    """A rule."""
    graph.remember("Never lock a table", kind="policy", at=SAID)


def rule_and_policy(graph):
    """A rule, and a policy that does not break it."""
    rule(graph)
    graph.record_artifact(policy("p1", "Copy the table", second=3))


def imported(graph):
    """A draft that was imported, and one of the tenant's own that says the same."""
    sessions(graph)
    title = "When table larger than 1 GB"
    graph.record_artifact(policy("p1", "Use an online migration", title=title))
    envelope = graph.export_fingerprint(tier="full")
    graph.transition("p1", "deprecated")
    graph.import_fingerprint(envelope)
    graph.record_artifact(policy("p2", "Use an online migration", title=title, status="draft"))


def breach(graph):
    """Record what breaks the rule."""
    graph.record_artifact(policy("p2", "Lock the table", second=5))


def later_breach(graph):
    """Put what breaks the rule in the place of what does not."""
    graph.supersede("p1", policy("p2", "Lock the table", second=5))


def compiled(graph):
    """Compile."""
    graph.compile()


def forgotten(graph):
    """Forget a session, and learn anew from what is left."""
    graph.forget(session_id="r1")
    graph.compile()


def exported(graph):
    """Export."""
    graph.export_fingerprint(tier="compact")


def picture(graph):
    """What the graph holds, in words that no tenant and no call has to itself."""
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
    """Wherever the operation is cut off, the second time leaves what an undisturbed one leaves."""
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
    """Cut off between rebuilding summaries for a new release and learning from them, the next compilation goes on."""
    graph = opened()
    learnt(graph)
    monkeypatch.setattr(compilations, "summary_version", lambda profile: f"another of {profile.name}")
    assert cut(graph.compile, 1)
    assert sum(graph.compile().unchanged.values()) > 0
