"""The capability for Pydantic AI, with the real package and a scripted model function."""

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="pip install 'hmxgraph[pydantic-ai]'")

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from hmxgraph.adapters.pydantic_agents import HmxMemory


def agent_of(memory, seen, last="Done on cluster juniper"):
    """An agent that calls a tool, which fails at first, and then answers; its instructions are added to *seen*."""

    def model(messages, info):
        seen.append(info.instructions or "")
        kinds = [part.part_kind for message in messages for part in message.parts]
        results = kinds.count("tool-return") + kinds.count("retry-prompt")
        if results < 2:
            return ModelResponse([ToolCallPart("deploy", {"env": "staging" if results else "stagging"})])
        if isinstance(last, Exception):
            raise last
        return ModelResponse([TextPart(last)])

    agent = Agent(FunctionModel(model), name="deployer", capabilities=[memory])

    @agent.tool_plain
    def deploy(env: str) -> str:
        """Deploy an environment."""
        if env == "stagging":
            raise ModelRetry("no such environment: stagging")
        return "deployed"

    return agent


def test_a_run_gets_the_pack_and_is_recorded(graph):
    """Every request's instructions contain the pack, which is not recorded; calls and results are recorded in order."""
    graph.remember("Never deploy staging on a Friday", kind="policy", hard=True)
    seen = []
    agent = agent_of(HmxMemory(graph, session_id="s1", user_id="ana"), seen)
    assert asyncio.run(agent.run("Deploy staging")).output == "Done on cluster juniper"
    assert len(seen) == 3
    assert all(text.startswith("<hmxgraph-pack") and "on a Friday" in text for text in seen)
    story = [(row["event_type"], row["text"]) for row in graph.query("explore/session_story", session_id="s1")]
    kinds = ["message", "tool_call", "tool_result", "tool_call", "tool_result", "message"]
    assert [kind for kind, _ in story] == kinds
    assert "no such environment: stagging" in story[2][1]
    assert not any("hmxgraph-pack" in text for _, text in story)
    again = []
    asyncio.run(agent_of(HmxMemory(graph), again).run("Deploy staging once more"))
    assert "no such environment: stagging" in again[0]


def test_a_run_that_fails_is_recorded_and_fails(graph):
    """A failing run raises its own error, and the calls it made are recorded."""
    agent = agent_of(HmxMemory(graph, session_id="s1"), [], last=RuntimeError("the model is gone"))
    with pytest.raises(RuntimeError, match="the model is gone"):
        asyncio.run(agent.run("Deploy staging"))
    kinds = [row["event_type"] for row in graph.query("explore/session_story", session_id="s1")]
    assert kinds == ["message", "tool_call", "tool_result", "tool_call", "tool_result"]
