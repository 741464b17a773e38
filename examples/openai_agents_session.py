"""The OpenAI Agents SDK with a memory on Neo4j: sessions are recorded, and the next gets them as instructions.

    pip install hmxgraph[local] openai-agents
    python examples/openai_agents_session.py

The model is the SDK's own scripted one, so that this runs without a key; leave ``model=`` out to use a real one.
"""

import asyncio

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

import hmxgraph
from hmxgraph.adapters.openai_agents import HmxSession, pack_instructions


@function_tool
def cluster_of(environment: str) -> str:
    """Name the cluster of an environment."""
    return f"{environment} runs on cluster juniper"


async def main() -> None:
    """Monday's session is recorded; Tuesday's instructions contain what was found out in it."""
    set_tracing_disabled(disabled=True)
    with hmxgraph.connect(tenant_id="example-openai-agents") as graph:
        monday = HmxSession(graph, "monday", agent_id="deployer")
        await monday.clear_session()
        steps = [
            [function_call("cluster_of", {"environment": "staging"}, call_id="c1")],
            [assistant_message("Juniper.")],
        ]
        agent = Agent("deployer", model=ScriptedModel(steps), tools=[cluster_of])
        await Runner.run(agent, "Which cluster does staging run on?", session=monday)
        print("Monday's items:", [item.get("type", item.get("role")) for item in await monday.get_items()])

        model = ScriptedModel([[assistant_message("Juniper, as on Monday.")]])
        instructions = pack_instructions(graph, "Be brief.", budget=512)
        agent = Agent("deployer", model=model, tools=[cluster_of], instructions=instructions)
        await Runner.run(agent, "Deploy to the staging cluster", session=HmxSession(graph, "tuesday"))
        print("Tuesday's instructions:", model.last_call.system_instructions, sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
