"""A Pydantic AI agent that knows what was said in another run.

    pip install hmxgraph[local,pydantic-ai]
    python examples/pydantic_ai_memory.py

A function stands in for the model, so that the example needs no key.
"""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

import hmxgraph
from hmxgraph.adapters.pydantic_agents import HmxMemory


def model(_: list[ModelMessage], info: Any) -> ModelResponse:
    """Name the cluster only if the instructions do."""
    known = "juniper" in (info.instructions or "")
    return ModelResponse([TextPart("It runs on juniper." if known else "I will remember it.")])


def main() -> None:
    """Two runs in two conversations of one user."""
    with hmxgraph.connect(tenant_id="example-pydantic-ai") as graph:
        agent = Agent(FunctionModel(model), name="deployer", capabilities=[HmxMemory(graph, user_id="ana")])
        for prompt in ("Remember: our staging cluster is called juniper.", "Which cluster does staging run on?"):
            print(prompt, "->", agent.run_sync(prompt).output)


if __name__ == "__main__":
    main()
