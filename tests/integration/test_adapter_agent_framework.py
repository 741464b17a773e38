"""The context provider for Microsoft Agent Framework, with the real package and a scripted client."""

import asyncio

import pytest

pytest.importorskip("agent_framework", reason="pip install 'hmxgraph[agent-framework]'")

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from hmxgraph.adapters.microsoft_agents import HmxProvider


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A client that calls a tool once, then answers; it keeps the instructions it was given."""

    def __init__(self):
        super().__init__()
        self.instructions = []

    async def _inner_get_response(self, *, messages, options, **_):
        self.instructions.append(options.get("instructions") or "")
        if any(content.type == "function_result" for message in messages for content in message.contents):
            return ChatResponse(messages=[Message("assistant", ["Staging runs on juniper."])])
        call = Content.from_function_call("c1", "cluster_of", arguments={"env": "staging"})
        return ChatResponse(messages=[Message("assistant", [call])])


def cluster_of(env: str) -> str:
    """Name the cluster of an environment."""
    return f"{env} runs on juniper"


def test_a_run_gets_the_pack_and_is_recorded(graph):
    """The pack is added to the instructions but not recorded; a later session knows what the first one found."""
    graph.remember("Never deploy staging on a Friday", kind="policy", hard=True)
    client = Scripted()
    agent = Agent(client, name="deployer", tools=[cluster_of], context_providers=[HmxProvider(graph, user_id="ana")])
    session = agent.create_session(session_id="s1")
    answer = asyncio.run(agent.run("Which cluster does staging run on?", session=session))
    assert answer.text == "Staging runs on juniper."
    assert "Never deploy staging on a Friday" in client.instructions[0]
    story = [(row["event_type"], row["text"]) for row in graph.query("explore/session_story", session_id="s1")]
    assert [kind for kind, _ in story] == ["message", "tool_call", "tool_result", "message"]
    assert not any("hmxgraph-pack" in text for _, text in story)
    asyncio.run(agent.run("Which cluster is it?", session=agent.create_session(session_id="s2")))
    assert "juniper" in client.instructions[-1]
