"""Opening a graph: isolation, logins, addresses, schema versions, forked processes and event loops."""

import asyncio
import gc
import logging
import multiprocessing
import re
import sys
import threading

import pytest
from neo4j import GraphDatabase

import hmxgraph
from hmxgraph.errors import (
    AccessDenied,
    DatabaseMissing,
    GraphNotOpen,
    IsolationUnsupported,
    NewerStore,
    OlderStore,
    StatementMisuse,
    StorageUnavailable,
    UnknownChoice,
)
from hmxgraph.graph import driver as graph_driver
from hmxgraph.graph import exploring
from hmxgraph.graph.connection import TransactionWatch, perform, run
from hmxgraph.graph.schema import migrate
from tests.integration.proxies import proxied, until


def test_own_database_needs_an_edition_that_has_them(address, tenant_id):
    """Asking for a database per tenant on Community, which has only one, is an error that suggests key isolation."""
    with pytest.raises(IsolationUnsupported, match='isolation="key"'):
        hmxgraph.connect(address.uri, password=address.password, tenant_id=tenant_id, isolation="database")


def test_unknown_isolation_is_refused(address, tenant_id):
    """An unknown kind of isolation is refused with a list of the known ones."""
    with pytest.raises(UnknownChoice, match="key, database"):
        hmxgraph.connect(address.uri, password=address.password, tenant_id=tenant_id, isolation="cell")


def test_wrong_password_names_the_setting(address, tenant_id):
    """A refused login names the setting to check."""
    with pytest.raises(AccessDenied, match=r"wrote nothing.*HMXGRAPH_PASSWORD"):
        hmxgraph.connect(address.uri, password="wrong", tenant_id=tenant_id)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_database_that_is_not_there_names_the_setting(address, tenant_id, scheme):
    """A missing database is an error that names the server, the database and the setting."""
    uri = address.uri.replace("bolt:", f"{scheme}:", 1)
    with pytest.raises(DatabaseMissing, match=rf"{uri} .*nosuch.*HMXGRAPH_DATABASE"):
        hmxgraph.connect(uri, password=address.password, database="nosuch", tenant_id=tenant_id)


def test_a_routed_connection_reads_what_it_wrote(address, tenant_id, caplog):
    """Over neo4j:// the driver fetches routes, and a read passes on the bookmark of the last write."""
    uri = address.uri.replace("bolt:", "neo4j:", 1)
    caplog.set_level(logging.DEBUG, logger="neo4j")
    with hmxgraph.connect(uri, password=address.password, tenant_id=tenant_id) as graph:
        graph.remember("The build runs on Linux")
        written = "\n".join(caplog.messages)
        caplog.clear()
        assert "Linux" in graph.pack("Where does the build run?").text
        begins = [message for message in caplog.messages if "C: BEGIN" in message]
    assert "C: ROUTE" in written
    *_, bookmark = re.findall(r"'bookmark': '([^']+)'", written)
    assert begins
    assert all(bookmark in begin and "'mode': 'r'" in begin for begin in begins)


@pytest.mark.parametrize("name", ["system", "System"])
def test_the_database_of_users_and_databases_keeps_no_graph(address, tenant_id, name):
    """The system database is refused, because it cannot hold a graph."""
    with pytest.raises(DatabaseMissing, match=rf"{name}.*not a graph.*HMXGRAPH_DATABASE"):
        hmxgraph.connect(address.uri, password=address.password, database=name, tenant_id=tenant_id)


@pytest.mark.parametrize(
    ("change", "refusal", "reason"),
    [
        (
            "SET schema.version = 999, schema.release = '9.9.9'",
            NewerStore,
            r"9\.9\.9.*version 999.*upgrade this client",
        ),
        ("SET schema.version = 0", OlderStore, "version 0; upgrades start from version 2.*ingest the events again"),
        ("CREATE (:Tenant {key: 'k', state_version: 1}) DELETE schema", OlderStore, "data and no schema version"),
    ],
)
def test_a_database_with_an_incompatible_schema_is_left_alone(address, change, refusal, reason):
    """An incompatible schema version is refused after a single read, and nothing is written."""
    sent = []

    def transact(work):
        with (
            GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver,
            driver.session(database=address.database) as session,
            session.begin_transaction() as transaction,
        ):
            transaction.run(f"MATCH (schema:SchemaVersion) {change}")
            sent.append(work.mode)
            result = run(work.factory(), transaction, TransactionWatch(()))
            # Other tests connect to the same database.
            transaction.rollback()
            return result

    with pytest.raises(refusal, match=reason):
        perform(migrate(), transact)
    assert sent == ["read"]


def test_nobody_there_names_the_way_out(tenant_id):
    """If nothing listens at the address, the error says how to start a local server."""
    with pytest.raises(StorageUnavailable, match=r"this step wrote nothing.*hmxgraph server start") as refused:
        hmxgraph.connect("bolt://127.0.0.1:1", password="x", tenant_id=tenant_id)
    assert refused.value.outcome == "not stored"


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("localhost:7687", "one of bolt://"),
        ("http://localhost:7474", "one of bolt://"),
        ("bolt://[::1", "IPv6"),
        ("bolt://localhost:port", "port"),
        ("bolt://localhost:99999", "[Pp]ort"),
        ("bolt://ana:secret@localhost:7687", "HMXGRAPH_USER"),
        ("neo4j://localhost?region", "region"),
    ],
)
def test_no_address_names_the_accepted_forms(tenant_id, uri, said):
    """An invalid address is refused, sync and async, with an accepted form and without revealing a password in it."""

    async def awaited():
        async with hmxgraph.connect_async(uri, password="x", tenant_id=tenant_id):
            pass

    for attempt in (lambda: hmxgraph.connect(uri, password="x", tenant_id=tenant_id), lambda: asyncio.run(awaited())):
        with pytest.raises(StorageUnavailable, match=said) as refused:
            attempt()
        assert "write HMXGRAPH_URI like bolt://host:7687" in str(refused.value)
        assert "secret" not in str(refused.value)


def test_health_reports_server_and_tenant(graph, tenant_id):
    """Health reports the server's version, indexes that are not online, and the tenant's state."""
    health = graph.health()
    assert health["version"].split(".")[0].isdigit()
    assert (health["indexes_not_online"], health["tenant_id"], health["event_count"]) == ([], tenant_id, 0)


def test_trace_reports_each_statement_until_stopped(graph):
    """A trace receives a line for each statement until it is stopped."""
    lines = []
    stop = graph.trace(lines.append)
    graph.health()
    stop()
    graph.health()
    assert [line.split()[0] for line in lines] == ["health/server", "health/indexes_not_online", "tenants/state"]


def test_writing_statements_are_no_saved_queries(graph):
    """A packaged statement that writes cannot be run as a query."""
    with pytest.raises(StatementMisuse):
        graph.query("tenants/bump", logical_us=0)


def test_a_query_cannot_name_another_tenant(graph):
    """A saved query always runs for the graph's own tenant; a caller cannot pass another."""
    for name in ("tenant_id", "tenant_key", "scope"):
        with pytest.raises(StatementMisuse, match=f"unexpected \\${name}"):
            graph.query("explore/sessions", **{name: "another"})


def test_only_packaged_statements_are_queries(graph, tmp_path):
    """A query name cannot be a path to a file that is not one of the project's statements."""
    evil = tmp_path / "evil.cypher"
    evil.write_text("// mode: read\n// row: n\nRETURN 1 AS n")
    to_evil = "../" * 30 + str(evil.with_suffix("")).lstrip("/")
    for name in (to_evil, str(evil.with_suffix("")), "tenants/../tenants/state", "tenants//state", ""):
        with pytest.raises(StatementMisuse):
            graph.query(name)


def test_a_closed_graph_stays_closed_and_others_open(address, tenant_id):
    """Closing a graph twice is harmless and does not affect another graph at the same address."""
    login = {"user": address.user, "password": address.password, "tenant_id": tenant_id}
    with hmxgraph.connect(address.uri, **login) as closed, hmxgraph.connect(address.uri, **login) as other:
        closed.close()
        closed.close()
        with pytest.raises(GraphNotOpen, match="connect again"):
            closed.health()
        assert other.health()["tenant_id"] == tenant_id
    with hmxgraph.connect(address.uri, **login) as again:
        assert again.health()["tenant_id"] == tenant_id


def asked_in_a_child(graph, address, answers):
    """Runs in a forked process: use the parent's graph, then open the child's own."""
    try:
        graph.health()
    except GraphNotOpen as error:
        answers.put(str(error))
    graph.close()
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id="of-a-child") as own:
        answers.put(own.health()["tenant_id"])
        answers.put(own._connection._driver is graph._connection._driver)


def test_a_forked_process_opens_its_own(address, tenant_id):
    """A forked process cannot use its parent's connection, is asked to connect again, and gets its own driver."""
    forking = multiprocessing.get_context("fork")
    queue = forking.Queue()
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
        child = forking.Process(target=asked_in_a_child, args=(graph, address, queue), daemon=True)
        child.start()
        answers = [queue.get(timeout=60) for _ in range(3)]
        child.join()
        assert "was forked: connect again" in answers[0]
        assert answers[1:] == ["of-a-child", False]
        assert graph.health()["tenant_id"] == tenant_id


def test_awaitable_face_opens_both_ways(address, tenant_id):
    """The asynchronous graph opens with ``async with`` or ``await``; using it after closing is a clear error."""

    async def story():
        login = {"password": address.password, "tenant_id": tenant_id}
        async with hmxgraph.connect_async(address.uri, **login) as graph:
            first = await graph.health()
        graph = await hmxgraph.connect_async(address.uri, **login)
        second = await graph.health()
        await graph.close()
        with pytest.raises(GraphNotOpen, match="async with"):
            await graph.health()
        return first, second

    first, second = asyncio.run(story())
    assert first == second


def test_a_graph_for_networkx_is_made_beside_the_event_loop(awaitable, monkeypatch):
    """``to_networkx`` builds its graph in another thread, since importing networkx would block the event loop."""
    at_work, made = [], exploring.entity_graph

    def watched(relations):
        at_work.append(threading.current_thread())
        return made(relations)

    async def story():
        async with awaitable:
            return await awaitable.to_networkx()

    monkeypatch.setattr(exploring, "entity_graph", watched)
    assert asyncio.run(story()).number_of_nodes() == 0
    assert at_work != [threading.current_thread()]


@pytest.fixture
def awaitable(address, tenant_id):
    """The asynchronous graph of the test's tenant, not yet opened."""
    return hmxgraph.connect_async(address.uri, password=address.password, tenant_id=tenant_id)


def test_tasks_that_open_at_once_share_one_connection(awaitable, monkeypatch):
    """However many tasks open a graph at the same time, only one driver is created."""
    made, opened = [], graph_driver.open_async

    def counted(address):
        made.append(address)
        return opened(address)

    async def story():
        async def ask():
            await awaitable
            return await awaitable.health()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(8):
                tasks.create_task(ask())
        await awaitable.close()

    monkeypatch.setattr(graph_driver, "open_async", counted)
    asyncio.run(story())
    assert len(made) == 1


def test_whatever_becomes_of_closing_it_opens_again(awaitable):
    """After a cancelled close, the graph can be opened and used again."""

    async def story():
        await awaitable
        closing = asyncio.create_task(awaitable.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait({closing})
        async with awaitable:
            return closing.cancelled(), await awaitable.health()

    cancelled, health = asyncio.run(story())
    # From Python 3.14 on, a connection closes in one step, which leaves nothing to cancel.
    assert cancelled or sys.version_info >= (3, 14)
    assert health["indexes_not_online"] == []


def test_use_from_another_event_loop_is_refused(awaitable):
    """Querying, opening or closing a graph from another event loop is refused; in its own loop it keeps working."""
    with asyncio.Runner() as home:
        home.run(awaitable.__aenter__())
        for elsewhere in (awaitable.health, awaitable.__aenter__, awaitable.close):
            with pytest.raises(GraphNotOpen, match="another event loop"):
                asyncio.run(elsewhere())
        assert home.run(awaitable.health())["indexes_not_online"] == []
        home.run(awaitable.close())


@pytest.mark.filterwarnings("ignore")  # unclosed sockets
def test_an_event_loop_that_ended_is_forgotten(awaitable):
    """If the loop that opened a graph has ended without closing it, another loop can open it again."""

    async def story():
        with pytest.raises(GraphNotOpen, match="another event loop"):
            await awaitable.health()
        async with awaitable:
            return await awaitable.health()

    asyncio.run(awaitable.__aenter__())
    assert asyncio.run(story())["indexes_not_online"] == []
    gc.collect()


def test_a_graph_opens_although_idle_connections_were_cut(address, tenant_id):
    """A restart of the server closes the connections of graphs that are open; opening another graph works at once."""
    with proxied(address.uri) as proxy, hmxgraph.connect(proxy.uri, password=address.password, tenant_id=tenant_id):
        proxy.fault = "refused"
        until(lambda: not proxy.connections)
        proxy.fault = None
        with hmxgraph.connect(proxy.uri, password=address.password, tenant_id=f"{tenant_id}-2") as other:
            assert other.health()["state_version"] == 0
