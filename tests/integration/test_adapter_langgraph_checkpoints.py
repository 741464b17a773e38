"""The LangGraph checkpointer: its conformance kit, a real LangGraph graph, and threads as of an earlier time."""

import asyncio
import operator
import time
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, TypedDict

import pytest

import hmxgraph

conformance = pytest.importorskip(
    "langgraph.checkpoint.conformance", reason="pip install langgraph-checkpoint-conformance"
)
from langgraph.channels.delta import DeltaChannel  # noqa: E402 - after importorskip
from langgraph.graph import START, StateGraph  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402

from hmxgraph.adapters.langgraph_checkpoints import HmxSaver  # noqa: E402
from hmxgraph.errors import InvalidRequest  # noqa: E402


class Shop(TypedDict):
    """The state of the graph under test."""

    theme: str
    log: Annotated[list[str], operator.add]


def compiled(saver):
    """A graph with two steps, the second of which may ask a person for approval."""

    def paint(state):
        return {"log": [f"painted {state['theme']}"]}

    def ship(state):
        answer = interrupt("ship it?") if state["theme"] == "ask" else "yes"
        return {"log": [f"shipped: {answer}"]}

    builder = StateGraph(Shop).add_node("paint", paint).add_node("ship", ship)
    builder.add_edge(START, "paint").add_edge("paint", "ship")
    return builder.compile(checkpointer=saver)


def thread(name):
    """The configuration that selects a thread."""
    return {"configurable": {"thread_id": name}}


@pytest.mark.slow
def test_the_kit_passes(address, tenant_id):
    """Every capability of the conformance kit passes, including deleting runs, copying and pruning."""

    @conformance.checkpointer_test(name="HmxSaver")
    async def savers():
        terms = {"user": address.user, "password": address.password, "database": address.database}
        with hmxgraph.connect(address.uri, **terms, tenant_id=f"{tenant_id}-{time.time_ns()}") as graph:
            yield HmxSaver(graph)

    report = asyncio.run(conformance.validate(savers))
    failures = [failure for result in report.results.values() for failure in result.failures or ()]
    assert failures == []
    assert {name for name, result in report.results.items() if result.passed} == {
        "put",
        "put_writes",
        "get_tuple",
        "list",
        "delete_thread",
        "delete_for_runs",
        "copy_thread",
        "prune",
    }


def test_a_thread_goes_on_and_its_past_stays_readable(graph):
    """A value that a later turn overwrote can be read as of an earlier time, where writing is refused."""
    saver = HmxSaver(graph)
    app = compiled(saver)
    app.invoke({"theme": "dark"}, thread("t"))
    before = datetime.now(UTC).isoformat()
    time.sleep(0.01)
    app.invoke({"theme": "light"}, thread("t"))
    now, past = (compiled(each).get_state(thread("t")).values for each in (saver, saver.as_of(before)))
    assert now == {"theme": "light", "log": ["painted dark", "shipped: yes", "painted light", "shipped: yes"]}
    assert past == {"theme": "dark", "log": ["painted dark", "shipped: yes"]}
    with pytest.raises(InvalidRequest, match="read-only"):
        compiled(saver.as_of(before)).invoke({"theme": "red"}, thread("t"))


def test_a_past_takes_no_deletions(graph):
    """Deleting or pruning as of an earlier time is refused and leaves the current threads unchanged."""
    saver = HmxSaver(graph)
    compiled(saver).invoke({"theme": "dark"}, thread("t"))
    past = saver.as_of(datetime.now(UTC).isoformat())
    for delete in (
        partial(past.delete_thread, "t"),
        partial(past.delete_for_runs, ["r"]),
        partial(past.prune, ["t"]),
        partial(past.prune, ["t"], strategy="delete"),
    ):
        with pytest.raises(InvalidRequest, match="read-only"):
            delete()
    assert compiled(saver).get_state(thread("t")).values["theme"] == "dark"


def test_a_person_answers_in_another_process(graph):
    """A newly compiled graph can resume an interrupted run, also asynchronously."""
    assert "__interrupt__" in compiled(HmxSaver(graph)).invoke({"theme": "ask"}, thread("t"))
    done = asyncio.run(compiled(HmxSaver(graph)).ainvoke(Command(resume="gladly"), thread("t")))
    assert done["log"] == ["painted ask", "shipped: gladly"]
    states = [state.next for state in compiled(HmxSaver(graph)).get_state_history(thread("t"))]
    assert states[0] == ()
    assert ("ship",) in states


def test_branches_of_a_thread_keep_their_own_values(graph):
    """Two branches from the same checkpoint do not overwrite each other's values."""
    app = compiled(HmxSaver(graph))
    app.invoke({"theme": "dark"}, thread("t"))
    fork = next(state for state in app.get_state_history(thread("t")) if state.next == ("ship",)).config
    branches = [app.update_state(fork, {"theme": theme}) for theme in ("red", "blue")]
    assert [app.get_state(branch).values["theme"] for branch in branches] == ["red", "blue"]


def test_tenants_and_memory_stay_apart_from_threads(graph, address):
    """Another tenant does not see the thread, nothing is learned from it, and it can continue after pruning."""
    app = compiled(HmxSaver(graph))
    for theme in ("dark", "light"):
        app.invoke({"theme": theme}, thread("t"))
    assert graph.health()["event_count"] == 0
    assert graph.pack("painted dark").entries == ()
    with graph.for_tenant(f"{graph.tenant_id}-other") as foreign:
        other = HmxSaver(foreign)
        assert other.get_tuple(thread("t")) is None
        assert [*other.list(None)] == []
        other.delete_thread("t")
    saver = HmxSaver(graph)
    values = len(graph.states.of_kind("langgraph-value"))
    saver.prune(["t"])
    assert len([*saver.list(thread("t"))]) == 1
    assert len(graph.states.of_kind("langgraph-value")) < values
    assert app.get_state(thread("t")).values["log"][0] == "painted dark"
    app.invoke({"theme": "red"}, thread("t"))
    assert app.get_state(thread("t")).values["log"][-2:] == ["painted red", "shipped: yes"]


def test_a_channel_of_changes_is_rebuilt_and_survives_pruning(graph):
    """A DeltaChannel stores occasional snapshots and replays the changes since, also after pruning."""

    def extended(state, writes):
        return [*state, *(word for write in writes for word in write)]

    class Talk(TypedDict):
        words: Annotated[list, DeltaChannel(extended, snapshot_frequency=3)]

    builder = StateGraph(Talk).add_node("echo", lambda state: {"words": [f"echo {state['words'][-1]}"]})
    saver = HmxSaver(graph)
    app = builder.add_edge(START, "echo").compile(checkpointer=saver)
    said = [word for number in range(5) for word in (f"w{number}", f"echo w{number}")]
    for number in range(5):
        app.invoke({"words": [f"w{number}"]}, thread("t"))
        assert app.get_state(thread("t")).values["words"] == said[: 2 * number + 2]
    before = len([*saver.list(thread("t"))])
    saver.prune(["t"])
    assert 1 <= len([*saver.list(thread("t"))]) < before
    assert app.get_state(thread("t")).values["words"] == said
    asyncio.run(app.ainvoke({"words": ["more"]}, thread("t")))
    assert app.get_state(thread("t")).values["words"] == [*said, "more", "echo more"]
