"""Reading artifacts: filters, pages, validity scopes and chains, each as of any time."""

import asyncio

import pytest

import hmxgraph
from hmxgraph.errors import InvalidRequest, NotFound, UnknownChoice
from hmxgraph.graph import artifacts, lifecycle
from hmxgraph.graph._paging import cursor as page_cursor
from hmxgraph.graph.plan import Tenancy
from hmxgraph.protocol.lifecycle import ArtifactFilter
from tests.artifact_makers import at, policy, schema


@pytest.fixture
def tenancy(tenant_id):
    """The tenant of this test."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def record(connection, tenancy):
    """Records artifacts."""

    def record(*given):
        for artifact in given:
            connection.perform(lifecycle.record_artifact(tenancy, artifact))

    return record


@pytest.fixture
def listed(connection, tenancy):
    """Returns the ids of a listing, as of now or of a given second."""

    def listed(second=None, **filters):
        as_of_us = None if second is None else at(second)
        page = connection.perform(artifacts.artifacts(tenancy, ArtifactFilter(**filters), as_of_us=as_of_us))
        return [artifact.artifact_id for artifact in page.artifacts]

    return listed


@pytest.fixture
def chained(connection, tenancy, record):
    """Three versions, at seconds 10, 20 and 30, the last archived at second 40."""
    record(schema("v1", second=10))
    for number in (2, 3):
        successor = schema(f"v{number}", second=10 * number, step=f"Step of {number}")
        connection.perform(lifecycle.supersede(tenancy, f"v{number - 1}", successor))
    connection.perform(lifecycle.transition(tenancy, "v3", "archived", at_us=at(40)))


def test_filters_narrow_the_listing(record, listed):
    """Status, type, tags, words and compiling agent each narrow the listing, which is newest first."""
    record(
        schema("s1", second=1, tags=["k8s", "staging"], agent_id="one", title="Deploying services"),
        policy("p1", "Go online", second=2, tags=["k8s"], agent_id="two"),
        schema("s2", second=3, step="Check", status="draft"),
    )
    assert listed() == ["p1", "s1"]
    assert listed(status=None) == ["s2", "p1", "s1"]
    assert listed(status="draft") == ["s2"]
    assert listed(artifact_type="task_schema") == ["s1"]
    assert listed(tags=("k8s",)) == ["p1", "s1"]
    assert listed(tags=("k8s", "staging")) == ["s1"]
    assert listed(text="deploy service") == ["s1"]
    assert listed(text="deploy online") == []
    assert listed(compiled_by="two") == ["p1"]


def test_an_unknown_status_type_or_limit_is_refused(connection, tenancy):
    """An unknown status or type, or an invalid limit raises an error instead of returning an empty page."""
    with pytest.raises(UnknownChoice, match="status"):
        connection.perform(artifacts.artifacts(tenancy, ArtifactFilter(status="actve")))
    with pytest.raises(UnknownChoice, match="artifact_type 'playbook'; choose one of task_schema, failure_playbook"):
        connection.perform(artifacts.artifacts(tenancy, ArtifactFilter(artifact_type="playbook")))
    assert not connection.perform(artifacts.artifacts(tenancy, ArtifactFilter(artifact_type="x-acme-checklist")))
    for limit in (0, -1, 10**20, 10**5000):
        with pytest.raises(InvalidRequest, match="limit"):
            connection.perform(artifacts.artifacts(tenancy, limit=limit))


def test_an_empty_tenant_has_an_empty_page(listed):
    """A tenant without artifacts lists nothing."""
    assert listed() == []


def test_pages_follow_each_other_without_gap_or_repeat(connection, tenancy, record):
    """Following the cursors returns every artifact exactly once, even where several have the same time."""
    record(*(schema(f"a{number:02}", second=number // 4, step=f"Step {number}") for number in range(11)))
    ids, cursor = [], None
    while True:
        page = connection.perform(artifacts.artifacts(tenancy, after=cursor, limit=3))
        ids += [artifact.artifact_id for artifact in page.artifacts]
        if (cursor := page.cursor) is None:
            break
        assert len(page) == 3
    assert sorted(ids) == [f"a{number:02}" for number in range(11)]
    assert len(set(ids)) == 11


@pytest.mark.parametrize("cursor", ["", "nonsense", "e30=", "WzEsMl0=", page_cursor(2**63, "a")])
def test_an_invalid_cursor_is_refused(connection, tenancy, cursor):
    """A cursor that no page returned is refused."""
    with pytest.raises(NotFound, match="cursor of the previous page"):
        connection.perform(artifacts.artifacts(tenancy, after=cursor))


def test_listings_honour_the_validity_scope(record, listed, tenancy):
    """Only readers known to be outside an artifact's scope are excluded; what they leave unsaid is not (HMX-A 6)."""
    spans = {"start": "2026-03-14T03:00:10Z", "end": "2026-03-14T03:00:20Z"}
    record(
        schema("a-only", step="1", validity_scope={"agent_ids": ["a"]}),
        schema("tenant-other", step="2", validity_scope={"tenant_ids": [tenancy.tenant_id, "other"]}),
        schema("tenant-this", step="3", validity_scope={"tenant_ids": [tenancy.tenant_id]}),
        schema("night", step="4", validity_scope={"tags": ["night"]}),
        schema("span", step="5", validity_scope={"time_range": spans}),
        schema("all", step="6", validity_scope={}),
        schema("clock", step="7", second=15),
    )
    assert listed() == ["clock", "a-only", "all", "night", "span", "tenant-other", "tenant-this"]
    assert "a-only" not in listed(agent_id="b")
    assert "a-only" in listed(agent_id="a")
    assert "night" not in listed(situation=("day",))
    assert "night" in listed(situation=("day", "night"))
    assert [("span" in listed(second=second)) for second in (9, 10, 20, 21)] == [False, True, True, False]


def test_listings_answer_from_what_was_recorded_by_then(chained, listed):
    """A listing as of a time ignores later versions and status changes."""
    seen = [(second, listed(second=second)) for second in (9, 10, 20, 39, 40)]
    assert seen == [(9, []), (10, ["v1"]), (20, ["v2"]), (39, ["v3"]), (40, [])]
    assert listed(second=20, status="superseded") == ["v1"]
    assert listed(status="archived") == ["v3"]


def test_an_artifact_answers_from_what_was_recorded_by_then(connection, tenancy, chained):
    """An artifact as of a time shows its successor and last change only once they had happened."""
    shown = [connection.perform(artifacts.artifact(tenancy, "v1", as_of_us=at(second))) for second in (10, 19, 20)]
    assert [(version.status, version.superseded_by) for version in shown] == [("active", None)] * 2 + [
        ("superseded", "v2")
    ]
    assert [version.updated_at for version in shown] == [None, None, "2026-03-14T03:00:20.000Z"]
    with pytest.raises(NotFound):
        connection.perform(artifacts.artifact(tenancy, "v1", as_of_us=at(9)))


@pytest.mark.parametrize("asked", ["v1", "v2", "v3"])
def test_a_chain_is_found_from_each_of_its_versions(connection, tenancy, chained, asked):
    """Any version leads to the whole chain, divided into older and newer versions (HMX-A 7)."""
    chain = connection.perform(artifacts.chain(tenancy, asked))
    ids = [version.artifact_id for version in chain.versions]
    assert ids == ["v1", "v2", "v3"]
    place = ids.index(asked)
    assert [version.artifact_id for version in chain.older] == ids[:place]
    assert [version.artifact_id for version in chain.newer] == ids[place + 1 :]
    assert (chain.head.artifact_id, chain.active) == ("v3", None)


def test_a_chain_ends_where_it_ended_then(connection, tenancy, chained):
    """A chain as of a time ends with that time's active head; later versions are invisible."""
    chain = connection.perform(artifacts.chain(tenancy, "v1", as_of_us=at(25)))
    assert [version.artifact_id for version in chain.versions] == ["v1", "v2"]
    assert chain.active is not None
    assert chain.active.artifact_id == chain.head.artifact_id == "v2"
    assert chain.head.superseded_by is None


def test_the_head_is_found_without_the_chain(connection, tenancy, chained):
    """Any version leads to the newest one, now or as of an earlier time."""
    assert connection.perform(artifacts.head(tenancy, "v1")).artifact_id == "v3"
    assert connection.perform(artifacts.head(tenancy, "v1", as_of_us=at(25))).artifact_id == "v2"
    with pytest.raises(NotFound):
        connection.perform(artifacts.head(tenancy, "v9"))


def test_a_change_takes_effect_no_earlier_than_the_one_before(connection, tenancy, record):
    """A successor with an older ``created_at`` takes effect when its predecessor last changed."""
    record(schema("a1", second=10, status="draft"))
    connection.perform(lifecycle.transition(tenancy, "a1", "active", at_us=at(30)))
    connection.perform(lifecycle.supersede(tenancy, "a1", schema("a2", second=5, step="Else")))
    seen = [connection.perform(artifacts.head(tenancy, "a1", as_of_us=at(second))) for second in (29, 30)]
    assert [artifact.artifact_id for artifact in seen] == ["a1", "a2"]


def test_time_without_a_time_is_the_tenants_own(connection, tenancy, record):
    """A change without a time takes effect at the tenant's latest recorded time, not at the wall clock."""
    record(schema("a1", second=10), schema("b1", second=70, step="Else"))
    moved = connection.perform(lifecycle.transition(tenancy, "a1", "archived"))
    assert moved.updated_at == "2026-03-14T03:01:10.000Z"


@pytest.fixture(params=["status_values", "status_times"])
def half_changed(request, connection, tenant_id):
    """Takes a property from an artifact until a graph has run some statements, as while a commit changes it."""
    node = "MATCH (node:Artifact {tenant_id: $tenant_id, artifact_id: $name})"

    def broken(graph, artifact_id, statements):
        def run(text):
            driver = connection._driver
            (record,) = driver.execute_query(f"{node} {text}", tenant_id=tenant_id, name=artifact_id).records
            return record["values"]

        name = request.param
        values = run(f"WITH node, node.{name} AS values REMOVE node.{name} RETURN values")
        seen = []

        def mend(line):
            seen.append(line)
            if len(seen) == statements:
                run(f"SET node.{name} = {values} RETURN node.{name} AS values")

        graph.trace(mend)
        return seen

    return broken


def test_a_node_that_is_read_half_changed_is_read_again(graph, address, tenant_id, chained, half_changed):
    """A reader that meets a commit gets the whole artifact; one that stays broken is an error."""
    login = {"user": address.user, "password": address.password, "tenant_id": tenant_id}

    async def chain():
        async with hmxgraph.connect_async(address.uri, **login) as other:
            seen = half_changed(other, "v2", 2)
            return len((await other.chain("v1")).versions), len(seen)

    seen = half_changed(graph, "v2", 3)
    assert (len(graph.chain("v1").versions), len(seen)) == (3, 4)
    assert asyncio.run(chain()) == (3, 4)
    seen = half_changed(graph, "v2", 10)
    with pytest.raises(KeyError):
        graph.chain("v1")
    assert len(seen) == 8


def test_a_pack_that_meets_a_commit_is_read_again(graph, record, half_changed):
    """A pack has the rule whose node was half changed when it was first read."""
    record(policy("p1", "Use an online migration"))
    whole = graph.pack("Migrate the table online").text
    seen = half_changed(graph, "p1", 3)
    assert graph.pack("Migrate the table online").text == whole
    assert "online migration" in whole
    assert len(seen) > 3
