"""Embeddings that events carry: stored, compared where dimensions agree, reported where they do not."""

import pytest

from hmxgraph.graph.plan import Tenancy
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document


@pytest.fixture
def stored(connection, tenant_id):
    """The stored nodes and relationships of the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def made(tenant_id):
    """Factory for event documents of the test's tenant, with an embedding if given."""

    def make(number, embeddings=None):
        given = {} if embeddings is None else {"embeddings": embeddings}
        return document(tenant_id=tenant_id, event_id=f"e{number}", sequence=number, **given)

    return make


def dimension(stored):
    """The embedding dimension recorded on the tenant's node."""
    key = Tenancy.of(stored.tenant_id).key
    return stored.rows("MATCH (t:Tenant {key: $key}) RETURN t.embedding_dimension AS d", key=key)[0]["d"]


def test_the_first_embedding_settles_the_dimension(graph, stored, made):
    """The first embedding sets the tenant's dimension for good; others are stored with a warning."""
    assert graph.ingest([made(0)]).warnings == ()
    assert dimension(stored) is None
    first = graph.ingest([made(1), made(2, [1, 0, 0.5]), made(3, [0.2, 1])])
    later = graph.ingest([made(4, [0, 1])])
    assert dimension(stored) == 3
    assert first.accepted + later.accepted == 4
    assert first.warnings == later.warnings
    assert "2 numbers" in first.warnings[0]
    assert "have 3" in first.warnings[0]
    assert (stored.event("e2")["embeddings"], stored.event("e2")["embedding_dimension"]) == ([1, 0, 0.5], 3)
    assert stored.event("e4")["embeddings"] == [0, 1]


def test_hashes_cover_every_embedding(graph, made):
    """Embeddings excluded from comparison are stored too, so that every event still matches its hash."""
    graph.ingest([made(0, [1, 2]), made(1, [1.5]), made(2, [0, 0])])
    assert graph.verify().findings == ()


def test_events_of_like_meaning(graph, made):
    """Events are ranked by angle; those without an embedding of this dimension, and erased ones, are left out."""
    graph.ingest([made(0), made(1, [1, 0]), made(2, [0, 1]), made(3, [1, 0.1, 0]), made(4, [2, 0.2]), made(5, [0, 0])])
    rows = graph.query("explore/similar_events", embedding=[1, 0.2])
    assert [row["event_id"] for row in rows] == ["e4", "e1", "e2"]
    graph.forget(event_id="e4")
    assert [row["event_id"] for row in graph.query("explore/similar_events", embedding=[1, 0.2])] == ["e1", "e2"]
    assert list(graph.query("explore/similar_events", embedding=[1, 0, 0])) == []


def test_replay_of_embeddings_writes_nothing(graph, made):
    """Re-ingested events with embeddings are duplicates and raise no warning."""
    events = [made(0, [1, 2]), made(1, [3])]
    graph.ingest(events)
    version = graph.health()["state_version"]
    again = graph.ingest(events)
    assert (again.duplicates, again.warnings, graph.health()["state_version"]) == (2, (), version)
