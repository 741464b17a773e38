"""Ways to a graph: shared databases, own databases, wrong logins, nobody there, the awaitable face."""

import asyncio

import pytest

import hmxgraph
from hmxgraph.errors import AccessDenied, IsolationUnsupported, StatementMisuse, StorageUnavailable, UnknownChoice


def test_own_database_needs_an_edition_that_has_them(address, tenant_id):
    """Community has one database: asking for another is one clear error with the way out."""
    with pytest.raises(IsolationUnsupported, match='isolation="key"'):
        hmxgraph.connect(address.uri, password=address.password, tenant_id=tenant_id, isolation="database")


def test_unknown_isolation_is_refused(address, tenant_id):
    """A kind of isolation that does not exist is told with those that do."""
    with pytest.raises(UnknownChoice, match="key, database"):
        hmxgraph.connect(address.uri, password=address.password, tenant_id=tenant_id, isolation="cell")


def test_wrong_password_names_the_setting(address, tenant_id):
    """A refused login says which settings to check."""
    with pytest.raises(AccessDenied, match="HMXGRAPH_PASSWORD"):
        hmxgraph.connect(address.uri, password="wrong", tenant_id=tenant_id)


def test_nobody_there_names_the_way_out(tenant_id):
    """An address where nothing listens is told with the way to a local server."""
    with pytest.raises(StorageUnavailable, match="hmxgraph server start"):
        hmxgraph.connect("bolt://127.0.0.1:1", password="x", tenant_id=tenant_id)


def test_health_tells_server_and_tenant(graph, tenant_id):
    """Health is the server's version and edition, indexes in trouble, and the tenant's state."""
    health = graph.health()
    assert health["version"].split(".")[0].isdigit()
    assert (health["indexes_not_online"], health["tenant_id"], health["event_count"]) == ([], tenant_id, 0)


def test_trace_tells_each_statement_until_stopped(graph):
    """A trace sees statement, rows and time of everything sent, and nothing after it was stopped."""
    lines = []
    stop = graph.trace(lines.append)
    graph.health()
    stop()
    graph.health()
    assert [line.split()[0] for line in lines] == ["health/server", "health/indexes_not_online", "tenants/state"]


def test_writing_statements_are_no_saved_queries(graph):
    """A packaged statement that writes cannot be run as a query."""
    with pytest.raises(StatementMisuse):
        graph.query("tenants/bump", logical_us=0, events=0)


def test_awaitable_face_opens_both_ways(address, tenant_id):
    """The asynchronous graph opens with async with and with await, and says so when it was not opened."""

    async def story():
        login = {"password": address.password, "tenant_id": tenant_id}
        async with hmxgraph.connect_async(address.uri, **login) as graph:
            first = await graph.health()
        graph = await hmxgraph.connect_async(address.uri, **login)
        second = await graph.health()
        await graph.close()
        with pytest.raises(StorageUnavailable, match="async with"):
            await graph.health()
        return first, second

    first, second = asyncio.run(story())
    assert first == second
