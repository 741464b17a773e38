"""One driver for many tenants: ``graph.for_tenant``, from many threads and tasks at once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

import hmxgraph
from hmxgraph.errors import GraphNotOpen, InvalidTenant
from hmxgraph.graph import driver as graph_driver

TENANTS, THREADS, EACH = 6, 12, 5


def said(text):
    """A user message."""
    return {"role": "user", "text": text}


def users_of(address):
    """How many graphs share the driver of this address."""
    return graph_driver._shared[address][1]


def test_tenants_share_the_driver_and_nothing_else(graph, address, tenant_id):
    """Another tenant's graph uses the same driver, sees none of this tenant's events, and closes separately."""
    before = users_of(address)
    other = graph.for_tenant(f"{tenant_id}-b")
    assert users_of(address) == before + 1
    graph.append("message", said("The staging password is in the blue folder"), session_id="s")
    assert "blue" not in other.pack("Where is the staging password?").text
    assert "blue" in graph.pack("Where is the staging password?").text
    assert other.tenant_id == f"{tenant_id}-b"
    other.close()
    assert users_of(address) == before
    with pytest.raises(GraphNotOpen):
        other.health()
    assert graph.health()["event_count"] == 1


def test_a_graph_outlives_the_one_that_made_it(address, tenant_id):
    """The driver is closed with the last graph that uses it."""
    first = hmxgraph.connect(address.uri, password=address.password, tenant_id=tenant_id)
    second = first.for_tenant(f"{tenant_id}-b")
    first.close()
    assert second.append("message", said("still here"), session_id="s").status == "stored"
    second.close()
    with pytest.raises(GraphNotOpen):
        first.for_tenant("another")


def test_an_invalid_tenant_takes_no_driver(graph, address):
    """A refused tenant id leaves the number of graphs on the driver unchanged."""
    before = users_of(address)
    with pytest.raises(InvalidTenant):
        graph.for_tenant("")
    assert users_of(address) == before


def test_many_threads_write_for_many_tenants(graph, tenant_id):
    """Threads that share graphs lose no event, see no other tenant's data, and leave graphs that verify."""
    graphs = [graph.for_tenant(f"{tenant_id}-{number}") for number in range(TENANTS)]

    def work(thread):
        for number in range(EACH):
            mine = graphs[(thread + number) % TENANTS]
            assert mine.append("message", said(f"thread {thread} says {number}"), session_id="s").status == "stored"
            assert mine.pack("what does the thread say").tenant_id == mine.tenant_id

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert sum(each.health()["event_count"] for each in graphs) == THREADS * EACH
    for each in graphs:
        assert each.verify().wrong == ()
        each.close()


def test_asynchronous_tenants_share_a_driver(address, tenant_id):
    """The asynchronous face does the same: tasks of many tenants share a driver, closed with the last graph."""

    async def scenario():
        graph = await hmxgraph.connect_async(address.uri, password=address.password, tenant_id=tenant_id)
        graphs = [await graph.for_tenant(f"{tenant_id}-{number}") for number in range(TENANTS)]
        writes = [each.append("message", said(f"n {n}"), session_id="s") for each in graphs for n in range(EACH)]
        receipts = await asyncio.gather(*writes)
        await graph.close()
        with pytest.raises(GraphNotOpen):
            graph.for_tenant("another")
        counts = [(await each.health())["event_count"] for each in graphs]
        for each in graphs:
            await each.close()
            await each.close()
        return {receipt.status for receipt in receipts}, counts

    assert asyncio.run(scenario()) == ({"stored"}, [EACH] * TENANTS)


def test_an_asynchronous_graph_must_be_open(address, tenant_id):
    """``for_tenant`` on a graph that was never opened is refused."""
    with pytest.raises(GraphNotOpen, match="async with"):
        hmxgraph.connect_async(address.uri, password=address.password, tenant_id=tenant_id).for_tenant("b")
