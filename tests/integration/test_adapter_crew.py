"""The memory of a CrewAI crew, with the real package and a scripted model."""

import os

import pytest

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
pytest.importorskip("crewai", reason="pip install 'hmxgraph[crewai]'")

from crewai import Agent, BaseLLM, Crew, Task

from hmxgraph.adapters.crew import HmxMemory
from hmxgraph.errors import InvalidRequest

# The package warns about its own use of pydantic and leaves its threads' sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")


class Scripted(BaseLLM):
    """A model that always gives the same answer and keeps the prompts it received."""

    asked: list = []  # noqa: RUF012 - a field of the model

    def call(self, messages, *_, **__):
        """Keep the prompt and answer."""
        self.asked.append(messages if isinstance(messages, str) else " ".join(m["content"] or "" for m in messages))
        return "Thought: I know it.\nFinal Answer: Staging runs on cluster juniper."


def crew(graph, model):
    """A crew of one agent with one task."""
    agent = Agent(role="deployer", goal="Deploy", backstory="Careful", llm=model)
    task = Task(description="Deploy staging to its cluster", expected_output="The cluster", agent=agent)
    return Crew(agents=[agent], tasks=[task], memory=HmxMemory(graph, session_id="crew-1"), verbose=False)


def test_a_task_gets_what_is_known_and_its_result_is_recorded(graph):
    """The task's prompt contains the known rule, its result is recorded, and the second crew is given that result."""
    graph.remember("Never deploy staging on a Friday", kind="policy", hard=True)
    model = Scripted(model="scripted")
    assert "juniper" in str(crew(graph, model).kickoff())
    assert "Never deploy staging on a Friday" in model.asked[0]
    assert "cluster juniper" not in model.asked[0]
    crew(graph, model).kickoff()
    assert "cluster juniper" in model.asked[-1]
    texts = [row["text"] for row in graph.query("explore/session_story", session_id="crew-1")]
    assert any("Staging runs on cluster juniper" in text for text in texts)


def test_matches_name_their_source_and_are_limited(graph):
    """Recall returns at most *limit* matches with evidence; a read-only memory records nothing; reset is refused."""
    for day in ("Friday", "Saturday", "Sunday"):
        graph.remember(f"Never deploy staging on a {day}", kind="policy", hard=True)
    memory = HmxMemory(graph, read_only=True)
    matches = memory.recall("Deploy staging", limit=2)
    assert len(matches) == 2
    assert all(graph.explain(match.record.id).trail() for match in matches)
    assert memory.remember("Deploy at night") is None
    with pytest.raises(InvalidRequest, match=r"graph\.forget"):
        memory.reset()
