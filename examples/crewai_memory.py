"""A crew whose tasks know what other crews found out, without embeddings.

    pip install hmxgraph[local,crewai]
    python examples/crewai_memory.py

A scripted model stands in for the real one, so that the example needs no key.
"""

from typing import Any

from crewai import Agent, BaseLLM, Crew, Task

import hmxgraph
from hmxgraph.adapters.crew import HmxMemory


class Scripted(BaseLLM):
    """Answers with the rule only if the prompt contains it."""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        """Answer one prompt."""
        known = "not on a Friday" if "on a Friday" in str(messages) else "any day"
        return f"Thought: I know it.\nFinal Answer: Deploy staging {known}."


def main() -> None:
    """A rule of the team reaches the prompt of a task."""
    with hmxgraph.connect(tenant_id="example-crewai") as graph:
        graph.remember("Never deploy staging on a Friday", kind="policy", hard=True)
        agent = Agent(role="deployer", goal="Deploy", backstory="Careful", llm=Scripted(model="scripted"))
        task = Task(description="When do we deploy staging?", expected_output="The day", agent=agent)
        print(Crew(agents=[agent], tasks=[task], memory=HmxMemory(graph)).kickoff())


if __name__ == "__main__":
    main()
