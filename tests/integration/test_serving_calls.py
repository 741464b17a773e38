"""Engine calls used by servers: sorted and counted artifacts, keys, hourly usage, stored compilations."""

import pytest

from hmxgraph.errors import InvalidRequest, NotFound, UnknownChoice
from hmxgraph.protocol.timestamps import iso
from hmxgraph.protocol.usage import HOUR_US, UsageHour
from tests.artifact_makers import at, policy, schema


@pytest.fixture
def sorted_by(graph):
    """Records four artifacts; lists their ids in pages of two."""
    graph.record_artifact(schema("a", step="one", second=3, confidence=0.5, observed_count=9))
    graph.record_artifact(schema("b", step="two", second=1, confidence=0.9, observed_count=2))
    graph.record_artifact(policy("c", "lock", second=2, confidence=0.5, source_events=["e1", "e2", "e3"]))
    graph.record_artifact(schema("d", step="three", second=0, confidence=0.7, observed_count=4))
    graph.transition("d", "deprecated", at=iso(at(60)))

    def pages(**options):
        ids, after = [], None
        while True:
            page = graph.artifacts(status=None, limit=2, after=after, total=True, **options)
            assert page.total == 4
            ids += [artifact.artifact_id for artifact in page.artifacts]
            after = page.cursor
            if after is None:
                return "".join(ids)

    return pages


@pytest.mark.parametrize(
    ("sort", "falling", "rising"),
    [
        (None, "acbd", "dbca"),
        ("created", "acbd", "dbca"),
        ("confidence", "bdac", "acdb"),
        ("evidence", "adcb", "bcda"),
        ("updated", "dacb", "bcad"),
    ],
)
def test_artifacts_are_sorted(sorted_by, sort, falling, rising):
    """In either order, pages hold every artifact once; ties are broken by id."""
    assert sorted_by(sort=sort) == falling
    assert sorted_by(sort=sort, order="asc") == rising


def test_a_count_follows_the_filters(graph, sorted_by):
    """The total counts artifacts that match the filters, and only if requested."""
    sorted_by()
    assert graph.artifacts(total=True).total == 3
    assert graph.artifacts(artifact_type="decision_policy", sort="confidence", total=True).total == 1
    assert graph.artifacts().total is None
    assert "total" not in graph.artifacts().document()


def test_wrong_sorts_and_cursors_are_refused(graph, sorted_by):
    """Unknown sorts and orders, and cursors of another listing, are refused."""
    sorted_by()
    with pytest.raises(UnknownChoice, match="created, updated, confidence, evidence"):
        graph.artifacts(sort="title")
    with pytest.raises(UnknownChoice, match="asc, desc"):
        graph.artifacts(order="down")
    plain = graph.artifacts(status=None, limit=1).cursor
    by_number = graph.artifacts(status=None, limit=1, sort="confidence").cursor
    for cursor, options in ((plain, {"sort": "confidence"}), (by_number, {}), ("nonsense", {"sort": "created"})):
        with pytest.raises(NotFound, match="cursor"):
            graph.artifacts(after=cursor, **options)


def test_types_are_read_at_once(graph, sorted_by, tenant_id):
    """The types of many artifacts take one read; ids unknown to the tenant are left out."""
    sorted_by()
    statements = []
    stop = graph.trace(statements.append)
    assert graph.artifact_types(["a", "c", "nowhere"]) == {"a": "task_schema", "c": "decision_policy"}
    stop()
    assert len(statements) == 1
    other = graph.for_tenant(f"{tenant_id}-b")
    assert other.artifact_types(["a", "c"]) == {}
    other.close()


def test_keys_open_one_tenant(graph, tenant_id):
    """A key is found by its secret alone; only its tenant can list or revoke it."""
    made = graph.keys.create("ops", scopes=["write"], label="ci")
    stored_key = graph.keys.find(made.secret)
    assert stored_key == made.key
    assert (stored_key.tenant_id, stored_key.scopes, stored_key.agent_id) == (tenant_id, ("write",), "ops")
    assert graph.keys.find(made.secret + "x") is None
    assert graph.keys.find("\ud800") is None
    other = graph.for_tenant(f"{tenant_id}-b")
    assert other.keys.list() == ()
    with pytest.raises(NotFound, match="hmxgraph key list"):
        other.keys.revoke(made.key.key_id)
    other.close()
    first = graph.keys.revoke(made.key.key_id)
    assert graph.keys.revoke(made.key.key_id) == first
    assert graph.keys.list() == (first,)
    assert first.standing(first.created_us) == "revoked"


def test_wrong_keys_are_not_made(graph):
    """A key needs valid scopes and an agent id."""
    for scopes in ([], ["admin"], ["read", "admin"]):
        with pytest.raises(UnknownChoice, match="read, write"):
            graph.keys.create("ops", scopes=scopes)
    with pytest.raises(InvalidRequest):
        graph.keys.create("ops", scopes="read")
    with pytest.raises(InvalidRequest):
        graph.keys.create("")
    assert graph.keys.list() == ()


def test_usage_adds_up_by_hour(graph, tenant_id):
    """Counts of one hour are summed, hours are listed in order within the period, tenants are separate."""
    graph.usage.add([UsageHour(HOUR_US, ingested=2), UsageHour(3 * HOUR_US, syntheses=1)])
    graph.usage.add([UsageHour(HOUR_US, ingested=3, errors=1)])
    assert graph.usage.hours() == (
        UsageHour(HOUR_US, ingested=5, errors=1),
        UsageHour(3 * HOUR_US, syntheses=1),
    )
    assert graph.usage.hours(since=iso(2 * HOUR_US)) == (UsageHour(3 * HOUR_US, syntheses=1),)
    assert graph.usage.hours(until=iso(HOUR_US)) == ()
    other = graph.for_tenant(f"{tenant_id}-b")
    assert other.usage.hours() == ()
    other.close()


def test_compilations_are_kept(graph):
    """Compilation reports are listed newest first, each under an id of its own."""
    graph.append("message", {"role": "user", "text": "Deploy staging"}, session_id="s")
    runs = [graph.usage.record_run(graph.compile(full=full)) for full in (False, True)]
    stored = graph.usage.runs()
    assert {run.run_id for run in stored} == {run.run_id for run in runs}
    assert stored[0].report["full"] is True
    assert graph.usage.runs(limit=1) == stored[:1]
    with pytest.raises(InvalidRequest):
        graph.usage.runs(limit=0)
