"""Forgetting: content gone, place and hash kept, what rested on it alone deprecated."""

import pytest

from hmxgraph.errors import UnknownChoice
from hmxgraph.graph.plans.artifacts import artifact
from hmxgraph.graph.plans.lifecycle import record_artifact
from hmxgraph.graph.plans.retention import forget
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.ingest.forgetting import Forgettable
from tests.artifact_makers import schema
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document

LEFT = "MATCH (n {tenant_id: $tenant_id}) RETURN labels(n) AS labels, properties(n) AS properties"
FOUND = """
CALL db.index.fulltext.queryNodes('event_text', $word) YIELD node
WHERE node.tenant_id = $tenant_id
RETURN node.event_id AS id
"""


@pytest.fixture
def stored(connection, tenant_id):
    """The bare look at the test's tenant."""
    return Ingested(connection, tenant_id)


def holding(stored, word):
    """The labels of the tenant's nodes that still hold *word* in any property."""
    return [row["labels"] for row in stored.rows(LEFT) if word.lower() in str(row["properties"]).lower()]


@pytest.fixture
def forgetting(connection, tenant_id):
    """Forget by criteria."""

    def run(*, dry_run=False, **criteria):
        return connection.perform(forget(Tenancy.of(tenant_id), Forgettable(**criteria), dry_run=dry_run))

    return run


@pytest.fixture
def events(tenant_id):
    """Two sessions of three events each; every text holds a word of its own."""
    return [
        document(
            tenant_id=tenant_id,
            event_id=f"{session}{n}",
            session_id=session,
            sequence=n,
            agent_id=f"agent-{session}",
            source=f"source-{n}",
            timestamp=f"2026-03-1{n}T00:00:00Z",
            content={"role": "user", "text": f"zebra{session}{n} runs"},
            **({"ttl_seconds": 60} if n == 1 else {}),
        )
        for session in ("a", "b")
        for n in range(3)
    ]


def test_content_goes_place_and_hash_stay(graph, stored, forgetting, events):
    """An erased event keeps id, hash, type and order; nothing of its content is left, nor found."""
    graph.ingest(events)
    before, links = stored.event("a1"), stored.links()
    report = forgetting(event_ids=("a1",))
    after = stored.event("a1")
    assert (report.events, report.remaining, report.sessions) == ((("a1", before["event_hash"]),), 0, 1)
    assert after["erased"] is True
    assert {"event_hash", "sequence", "time_us", "key"} <= after.keys()
    assert not {"content", "text", "search_text", "agent_id", "source", "metadata", "salience"} & after.keys()
    assert holding(stored, "zebraa1") == []
    assert stored.rows(FOUND, word="zebraa1") == []
    assert len(stored.rows(FOUND, word="zebraa2")) == 1
    assert stored.links() == links


def test_replay_does_not_bring_it_back(graph, stored, forgetting, events):
    """Feeding an erased event in again is a duplicate; another body under its id is a conflict."""
    graph.ingest(events)
    forgetting(session_id="a")
    report = graph.ingest([*events, dict(events[0], metadata={"other": 1})])
    assert (report.accepted, report.duplicates, report.conflicts) == (0, 6, 1)
    assert stored.event("a0")["erased"] is True


@pytest.mark.parametrize(
    ("criteria", "gone"),
    [
        ({"event_ids": ("a0", "b2", "unknown")}, {"a0", "b2"}),
        ({"session_id": "b"}, {"b0", "b1", "b2"}),
        ({"agent_id": "agent-a"}, {"a0", "a1", "a2"}),
        ({"source": "source-2"}, {"a2", "b2"}),
        ({"before_us": 1773187200000000}, {"a0", "b0"}),
        ({"older_than_us": 24 * 3600 * 1_000_000}, {"a0", "b0"}),
        ({"expired": True}, {"a1", "b1"}),
        ({"session_id": "a", "source": "source-1"}, {"a1"}),
    ],
)
def test_each_criterion(graph, forgetting, events, criteria, gone):
    """Events are chosen by id, session, agent, source, age and ttl; several criteria must all be met."""
    graph.ingest(events)
    dry = forgetting(dry_run=True, **criteria)
    report = forgetting(**criteria)
    assert {event.event_id for event in report.events} == gone == {event.event_id for event in dry.events}
    assert (dry.remaining, report.remaining) == (len(gone), 0)
    assert forgetting(**criteria).events == ()


def test_ttl_runs_by_the_logical_clock(graph, forgetting, events):
    """An event expires when the tenant's own time has passed its ttl, not when ours has."""
    graph.ingest([events[1]])
    assert forgetting(expired=True).events == ()
    graph.ingest([dict(events[2], timestamp="2026-03-11T00:01:00Z")])
    assert [event.event_id for event in forgetting(expired=True).events] == ["a1"]


def test_artifacts_without_evidence_are_deprecated(graph, connection, forgetting, events, tenant_id):
    """An artifact that loses its last evidence is deprecated with the reason; one that keeps some holds."""
    tenancy = Tenancy.of(tenant_id)
    graph.ingest(events)
    for name, sources in (("alone", ["a0", "a1"]), ("shared", ["a0", "b0"]), ("other", ["b1"])):
        connection.perform(record_artifact(tenancy, schema(name, step=name, source_events=sources)))
    dry = forgetting(dry_run=True, session_id="a")
    report = forgetting(session_id="a")
    assert dry.artifacts == report.artifacts == ("alone",)
    statuses = {name: connection.perform(artifact(tenancy, name)).status for name in ("alone", "shared", "other")}
    assert statuses == {"alone": "deprecated", "shared": "active", "other": "active"}
    assert forgetting(dry_run=True, session_id="b").artifacts == ("other", "shared")
    assert forgetting(session_id="b").artifacts == ("other", "shared")


def test_what_only_they_told_is_forgotten(graph, stored, forgetting, tenant_id):
    """Memories, entities and relations that rest on erased events alone go, those with other evidence stay."""
    texts = {
        "a": "Always verify the rollout with kubectl. I prefer Quokkabox.",
        "b": "Always verify the rollout with kubectl.",
    }
    graph.ingest(
        document(tenant_id=tenant_id, event_id=name, session_id=name, content={"role": "user", "text": text})
        for name, text in texts.items()
    )
    dry = forgetting(dry_run=True, session_id="a")
    report = forgetting(session_id="a")
    assert report.memories == dry.memories
    assert report.entities == dry.entities
    assert report.relations == dry.relations
    assert report.memories
    assert report.entities
    assert holding(stored, "Quokkabox") == []
    assert holding(stored, "verify the rollout")
    forgetting(session_id="b")
    assert holding(stored, "verify the rollout") == []


def test_a_dry_run_writes_nothing(graph, stored, forgetting, events):
    """A dry run tells what would go and leaves version and events as they are."""
    graph.ingest(events)
    before, version = stored.event("a0"), graph.health()["state_version"]
    assert len(forgetting(dry_run=True, session_id="a").events) == 3
    assert (stored.event("a0"), graph.health()["state_version"]) == (before, version)


def test_nothing_chosen_is_refused():
    """Without a criterion everything would go: that is refused."""
    with pytest.raises(UnknownChoice, match="session_id"):
        Forgettable()


def test_sessions_are_marked_as_changed(graph, stored, forgetting, events):
    """A session that lost events is compiled again; an outcome that came from an erased feedback is lost."""
    feedback = dict(events[0], event_id="f", sequence=9, event_type="feedback", content={"signal": "positive"})
    graph.ingest([*events, feedback])
    assert stored.session("a")["outcome"] == "positive"
    forgetting(event_ids=("f",))
    session = stored.session("a")
    assert "outcome" not in session
    assert session["changed_version"] == graph.health()["state_version"]
    assert session["event_count"] == 4
