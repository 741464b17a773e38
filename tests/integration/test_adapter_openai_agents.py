"""HmxSession and packs as instructions, with the real OpenAI Agents SDK and its own scripted model."""

import asyncio

import pytest

pytest.importorskip("agents", reason="needs the extra adapters-test")

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call

import hmxgraph
from hmxgraph.adapters.openai_agents import HmxSession, pack_instructions
from hmxgraph.errors import GraphError, InvalidRequest
from tests.integration.proxies import proxied

ITEMS = [
    {"role": "user", "content": "Deploy staging"},
    {"type": "function_call", "call_id": "c1", "name": "kubectl", "arguments": '{"verb": "apply"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "Error: context not set"},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "é ☕ \u2028"}, {"type": "input_image", "image_url": None}],
    },
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Set it", "annotations": []}],
    },
    {"type": "something_new", "id": "x", "n": 2**60, "f": 1.5},
]
LARGE = {"type": "function_call_output", "call_id": "c1", "output": "line\n" * 20_000}

set_tracing_disabled(disabled=True)


@pytest.fixture
def session(graph):
    """A session on a fresh tenant."""
    return HmxSession(graph, "thread-1", agent_id="deployer", user_id="ana")


async def scenario(session):
    """What a session returns while items are added, limited, popped and cleared."""
    seen = [await session.get_items(), await session.pop_item()]
    await session.add_items([])
    await session.add_items(ITEMS)
    await session.add_items([LARGE, {"role": "user", "content": "again"}])
    seen += [await session.get_items(), await session.get_items(2), await session.get_items(limit=0)]
    seen += [await session.pop_item(), await session.pop_item(), await session.get_items()]
    await session.clear_session()
    seen += [await session.get_items(), await session.pop_item()]
    await session.add_items(ITEMS[:2])
    return [*seen, await session.get_items()]


def test_it_behaves_as_the_sdks_own_session(session):
    """Adding, limiting, popping and clearing items gives the same results as the SDK's own SQLite session."""
    assert isinstance(session, Session)
    own = SQLiteSession("thread-1")
    ours, theirs = asyncio.run(scenario(session)), asyncio.run(scenario(own))
    own.close()
    assert ours == theirs


def test_another_process_reads_the_same_history(graph, session):
    """The history is in the graph, not in the object; the session's settings limit what is read."""
    asyncio.run(session.add_items(ITEMS))
    again = HmxSession(graph, "thread-1", session_settings=SessionSettings(limit=2))
    assert asyncio.run(again.get_items()) == ITEMS[-2:]
    assert asyncio.run(HmxSession(graph, "thread-2").get_items()) == []


@pytest.mark.parametrize("after", [1, 2], ids=["history", "evidence"])
def test_an_addition_that_is_repeated_after_a_failure_is_stored_once(address, tenant_id, after):
    """If the first or the second commit of an addition gets no answer, repeating it stores the items once."""
    login = {"user": address.user, "password": address.password, "database": address.database, "tenant_id": tenant_id}
    with proxied(address.uri) as proxy, hmxgraph.connect(proxy.uri, **login) as graph:
        asyncio.run(HmxSession(graph, "thread-0").add_items(ITEMS[:2]))  # from here on all statements are planned
        session = HmxSession(graph, "thread-1")
        commits = []

        def fall_silent(line):
            commits.extend([line] if line.startswith("events/settle") else [])
            proxy.fault = "silent" if len(commits) == after else None

        stop = graph.trace(fall_silent)
        with graph.timeout(4), pytest.raises(GraphError):
            asyncio.run(session.add_items(ITEMS[:2]))
        stop()
        proxy.fault = None
        asyncio.run(session.add_items(ITEMS[:2]))
        assert asyncio.run(session.get_items()) == ITEMS[:2]
        assert graph.health()["event_count"] == 6
        asyncio.run(session.add_items(ITEMS[:2]))
        assert asyncio.run(session.get_items()) == ITEMS[:2] * 2


def test_what_was_popped_stays_evidence_until_it_is_erased(graph, session):
    """Cleared items are still recalled in packs, unless the session was created with erase=True."""
    asyncio.run(session.add_items([{"role": "user", "content": "The staging cluster is called juniper"}]))
    asyncio.run(session.clear_session())
    assert "juniper" in graph.pack("Which staging cluster?").text
    asyncio.run(HmxSession(graph, "thread-1", erase=True).clear_session())
    assert "juniper" not in graph.pack("Which staging cluster?").text
    assert asyncio.run(session.get_items()) == []


def test_an_item_that_cannot_be_kept_is_refused(session):
    """An item that is too large is refused rather than left out of the history."""
    with pytest.raises(InvalidRequest, match="items"):
        asyncio.run(session.add_items([{"role": "user", "content": "x" * 600_000}]))
    assert asyncio.run(session.get_items()) == []


@function_tool
def cluster_of(environment: str) -> str:
    """Name the cluster of an environment."""
    return f"{environment} runs on juniper"


def test_a_run_is_recorded_and_recalled_in_the_next(graph):
    """The SDK stores a run in the session; a later session's run receives it in its instructions, inside a pack."""
    calls = [
        [function_call("cluster_of", {"environment": "staging"}, call_id="c1")],
        [assistant_message("On juniper.")],
    ]
    first = ScriptedModel(calls)
    agent = Agent("deployer", model=first, tools=[cluster_of], instructions="Be brief.")
    session = HmxSession(graph, "monday")
    ran = asyncio.run(Runner.run(agent, "Where does staging run?", session=session))
    assert ran.final_output == "On juniper."
    assert [item.get("type", item.get("role")) for item in asyncio.run(session.get_items())] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
    ]
    second = ScriptedModel([[assistant_message("On juniper, as on Monday.")]])
    instructions = pack_instructions(graph, "Be brief.", budget=512)
    agent = Agent("deployer", model=second, tools=[cluster_of], instructions=instructions)
    asyncio.run(Runner.run(agent, "Where does staging run?", session=HmxSession(graph, "tuesday")))
    prompt = second.last_call.system_instructions
    assert prompt.startswith("Be brief.\n\n<hmxgraph-pack id=")
    assert "juniper" in prompt
