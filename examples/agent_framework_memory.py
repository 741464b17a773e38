"""An agent of the Microsoft Agent Framework that knows what was said in another session.

    pip install hmxgraph[local,agent-framework]
    python examples/agent_framework_memory.py

A scripted client stands in for the model, so that the example needs no key.
"""

import asyncio
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

import hmxgraph
from hmxgraph.adapters.microsoft_agents import HmxProvider


class Scripted(BaseChatClient):
    """Knows the cluster only if the instructions name it."""

    async def _inner_get_response(self, *, options: Any, **_: Any) -> ChatResponse:
        known = "juniper" in (options.get("instructions") or "")
        return ChatResponse(
            messages=[Message("assistant", ["It runs on juniper." if known else "I will remember it."])]
        )


async def main() -> None:
    """Two sessions of one user."""
    with hmxgraph.connect(tenant_id="example-agent-framework") as graph:
        agent = Agent(Scripted(), name="deployer", context_providers=[HmxProvider(graph, user_id="ana")])
        for prompt in ("Remember: our staging cluster is called juniper.", "Which cluster does staging run on?"):
            answer = await agent.run(prompt, session=agent.create_session())
            print(prompt, "->", answer.text)


if __name__ == "__main__":
    asyncio.run(main())
