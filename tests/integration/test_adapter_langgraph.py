"""HmxStore with the real LangGraph: it behaves like LangGraph's own store, and adds reads as of an earlier time."""

import asyncio
from datetime import UTC, timedelta
from typing import TypedDict

import pytest

pytest.importorskip("langgraph", reason="needs the extra adapters-test")

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from hmxgraph.adapters.langgraph import HmxStore
from hmxgraph.errors import InvalidRequest, InvalidTime

PREFS = ("users", "ana")
DRINKS = {
    "tea": {"text": "Ana drinks green tea every morning", "rank": 1, "tags": {"hot": True}},
    "ale": {"text": "Ana dislikes ale", "rank": 2, "tags": {"hot": False}},
    "milk": {"text": "Oat milk, never cream", "rank": 2.5, "tags": {"hot": False}},
}


@pytest.fixture
def store(graph):
    """A store on a fresh tenant."""
    return HmxStore(graph)


@pytest.fixture
def filled(store):
    """A store with three items of Ana's and one of Bo's."""
    for key, value in DRINKS.items():
        store.put(PREFS, key, value)
    store.put(("users", "bo"), "tea", {"text": "Bo drinks black tea", "rank": 7})
    return store


def seen(items):
    """Namespace, key and value of each item, in a fixed order."""
    return sorted((item.namespace, item.key, str(item.value)) for item in items)


CALLS = {
    "get": lambda store: store.get(PREFS, "tea").value,
    "missing": lambda store: store.get(PREFS, "water"),
    "all": lambda store: seen(store.search(())),
    "prefix": lambda store: seen(store.search(("users",))),
    "no such prefix": lambda store: seen(store.search(("use",))),
    "equal": lambda store: seen(store.search(PREFS, filter={"rank": 2})),
    "several": lambda store: seen(store.search(PREFS, filter={"rank": {"$gt": 1, "$lte": 2}})),
    "nested": lambda store: seen(store.search(PREFS, filter={"tags": {"hot": False}})),
    "unequal": lambda store: seen(store.search((), filter={"rank": {"$ne": 2}})),
    "pages": lambda store: [len(store.search((), limit=3, offset=offset)) for offset in (0, 3, 6)],
    "namespaces": lambda store: store.list_namespaces(),
    "namespaces below": lambda store: store.list_namespaces(prefix=("users",), suffix=("bo",)),
    "any label": lambda store: store.list_namespaces(prefix=("*", "ana")),
    "depth": lambda store: store.list_namespaces(max_depth=1),
    "overwritten": lambda store: (store.put(PREFS, "tea", {"text": "coffee"}), store.get(PREFS, "tea").value),
    "deleted": lambda store: (store.delete(PREFS, "tea"), store.get(PREFS, "tea"), seen(store.search(PREFS))),
    "batch": lambda store: (
        [
            result.value if hasattr(result, "value") else result
            for result in store.batch(
                [
                    PutOp(PREFS, "tea", {"n": 1}),
                    GetOp(PREFS, "tea"),
                    PutOp(PREFS, "tea", {"n": 2}),
                    ListNamespacesOp(limit=1),
                ]
            )
        ]
        + [store.get(PREFS, "tea").value]
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_answer_as_langgraphs_own_store(filled, call):
    """Every call, whether a read, search, write or batch, returns what LangGraph's in-memory store returns."""
    own = InMemoryStore()
    for item in filled.search((), limit=100):
        own.put(item.namespace, item.key, item.value)
    assert call(filled) == call(own)


@pytest.mark.parametrize("namespace", [(), ("langgraph", "x"), ("a.b",), ("",)])
def test_langgraphs_rules_for_namespaces_hold(store, namespace):
    """Invalid namespaces raise the framework's own error."""
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"v": 1})


@pytest.mark.parametrize("label", ["a/b", "a//b", "100%", "Zoë", "a b"])
def test_any_label_is_kept_apart(store, label):
    """Characters that could be mistaken for separators are kept in namespace labels and keys."""
    store.put((label, "x"), label, {"v": 1})
    assert [(item.namespace, item.key) for item in store.search((label,))] == [((label, "x"), label)]
    assert store.search(("a",)) == []


def test_search_by_words_needs_no_embeddings(filled):
    """Hits come best first with scores, without items that share no word or whose matching text is not indexed."""
    hits = filled.search((), query="who drinks green tea")
    assert [(hit.namespace, hit.key) for hit in hits] == [(PREFS, "tea"), (("users", "bo"), "tea")]
    assert 1 >= hits[0].score > hits[1].score > 0
    filled.put(PREFS, "secret", {"text": "green tea"}, index=False)
    filled.put(PREFS, "title", {"title": "green", "text": "tea"}, index=["text"])
    assert {hit.key for hit in filled.search(PREFS, query="green")} == {"tea"}


def test_an_overwritten_value_stays_readable(store):
    """Overwritten and deleted values can be read as of an earlier time, with the time of the item's first put."""
    store.put(PREFS, "theme", {"theme": "dark"})
    dark = store.get(PREFS, "theme")
    store.put(PREFS, "theme", {"theme": "light"})
    light = store.get(PREFS, "theme")
    store.delete(PREFS, "theme")
    assert store.get(PREFS, "theme") is None
    assert store.as_of(dark.updated_at).get(PREFS, "theme").value == {"theme": "dark"}
    assert store.as_of(light.updated_at.isoformat()).search(PREFS, query="light")[0].value == {"theme": "light"}
    assert store.as_of(dark.updated_at - timedelta(seconds=1)).search(()) == []
    assert dark.created_at == light.created_at == dark.updated_at < light.updated_at
    with pytest.raises(InvalidRequest, match="stores are read-only"):
        store.as_of(dark.updated_at).put(PREFS, "theme", {"theme": "red"})
    with pytest.raises(InvalidTime):
        store.as_of("2026-03-14")


def test_an_erased_value_does_not_bring_back_the_one_before(graph, store):
    """Erasing the item's events leaves no item, not its earlier value."""
    store.put(PREFS, "theme", {"theme": "dark"})
    store.put(PREFS, "theme", {"theme": "light"})
    erased = graph.query("explore/session_story", session_id="langgraph-store/users/ana//theme").rows[-1]
    assert "light" in erased["text"]
    graph.forget(session_id="langgraph-store/users/ana//theme")
    assert store.get(PREFS, "theme") is None


def test_time_to_live(graph):
    """An item expires when its time to live has passed; an item without one stays."""
    store = HmxStore(graph, ttl={"default_ttl": 1})
    store.put(PREFS, "tea", {"n": 1})
    store.put(PREFS, "ale", {"n": 2}, ttl=None)
    put_at = store.get(PREFS, "tea", refresh_ttl=False).updated_at
    later = store.as_of(put_at + timedelta(minutes=1))
    assert {item.key for item in later.search(PREFS)} == {"ale"}
    assert later.as_of(put_at + timedelta(seconds=59)).get(PREFS, "tea").value == {"n": 1}


def test_a_read_restarts_the_time_to_live(graph):
    """Reading an item postpones its expiry without changing when it was updated."""
    store = HmxStore(graph, ttl={"default_ttl": 1})
    store.put(PREFS, "tea", {"n": 1})
    item = store.search(PREFS)[0]
    assert store.as_of(item.updated_at.astimezone(UTC) + timedelta(minutes=1)).get(PREFS, "tea") is not None
    assert store.get(PREFS, "tea").updated_at == item.updated_at


@pytest.mark.parametrize(
    "value", [{"n": 2**70}, {"x": float("inf")}, {"a": None, "b": [1, {"c": ""}]}, {}, {"é": "☕"}]
)
def test_values_come_back_equal(store, value):
    """Values come back equal, including numbers that strict JSON cannot hold."""
    store.put(PREFS, "k", value)
    assert store.get(PREFS, "k").value == value


@pytest.mark.parametrize("value", [{"x": object()}, {"x": "y" * 600_000}])
def test_a_value_that_cannot_be_stored_is_refused(store, value):
    """A value that is not JSON or is too long is refused, and nothing is stored."""
    with pytest.raises(InvalidRequest, match="value"):
        store.put(PREFS, "k", value)
    assert store.get(PREFS, "k") is None


def test_the_awaitable_calls(filled):
    """Concurrent async puts, deletes, searches and reads give the expected items."""

    async def calls():
        await asyncio.gather(*(filled.aput(PREFS, f"k{n}", {"n": n}) for n in range(5)))
        await filled.adelete(PREFS, "k0")
        items = await filled.asearch(PREFS, filter={"n": {"$gte": 0}})
        return seen(items), await filled.aget(PREFS, "k0"), await filled.alist_namespaces(prefix=PREFS)

    keys, gone, namespaces = asyncio.run(calls())
    assert ([key for _, key, _ in keys], gone, namespaces) == (["k1", "k2", "k3", "k4"], None, [PREFS])


class State(TypedDict):
    """The state of the graph under test."""

    said: str
    known: str


def test_a_compiled_graph_uses_it(store):
    """A LangGraph node remembers something in one run and reads it in the next."""

    def node(state: State, runtime: Runtime) -> dict:
        hits = runtime.store.search(PREFS, query=state["said"])
        runtime.store.put(PREFS, state["said"][:10], {"text": state["said"]})
        return {"known": hits[0].value["text"] if hits else ""}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    compiled = builder.compile(store=store)
    assert compiled.invoke({"said": "My deploy target is staging", "known": ""})["known"] == ""
    assert compiled.invoke({"said": "Where do I deploy?", "known": ""})["known"] == "My deploy target is staging"


def test_what_is_stored_is_recalled_in_packs(filled, graph):
    """Values in the store are part of the tenant's memory and appear in packs."""
    pack = graph.pack("What does Ana drink?")
    assert "green tea" in pack.text
    (entry,) = [entry for entry in pack.entries if "green tea" in entry.content][:1]
    assert entry.content.startswith("[data]")  # the value does not say whose words it holds


def test_unknown_comparisons_are_named(filled):
    """A comparison operator that LangGraph does not know is refused by name."""
    with pytest.raises(InvalidRequest, match=r"\$regex"):
        filled.batch([SearchOp((), {"rank": {"$regex": "x"}})])
