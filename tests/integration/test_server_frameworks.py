"""The SDK's ``auto`` and its adapters against the server, with the real frameworks where installed."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypedDict

import pytest

from tests.integration.serving import key_for

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # warnings of the frameworks are not ours
ANSWER = "Staging runs on cluster juniper."
AUTO = """
import hippocortex.auto, openai, sys
client = openai.OpenAI(api_key="none", base_url=sys.argv[1])
for question in sys.argv[2:]:
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
"""


class Model(BaseHTTPRequestHandler):
    """A fake model API with a fixed answer; it keeps its prompts."""

    asked: list = []  # noqa: RUF012 - shared on purpose

    def do_POST(self):
        """Answer one completion request."""
        self.asked.append(json.dumps(json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def model():
    """The base URL of the fake model."""
    Model.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}/v1"
        listener.shutdown()


@pytest.fixture
def terms(served, address, tenant_id):
    """Key, base URL and session for an SDK adapter."""
    yield {"api_key": key_for(address, tenant_id).secret, "base_url": served.base_url, "session_id": "past"}
    gc.collect()  # the SDK's adapters never close their clients


@pytest.fixture
def known(graph):
    """A graph with a rule that a memory context should contain."""
    graph.remember("Never deploy staging on a Friday", kind="policy", hard=True)
    return graph


def story(graph):
    """Types and texts of the captured events."""
    return [(row["event_type"], row["text"]) for row in graph.query("explore/session_story", session_id="past")]


def test_auto_remembers_from_one_program_to_the_next(terms, known, model):
    """``import hippocortex.auto`` patches a program's OpenAI client; the next program recalls the answer."""
    pytest.importorskip("openai", reason="pip install 'hmxgraph[formats-test]'")
    settings = {"HIPPOCORTEX_API_KEY": terms["api_key"], "HIPPOCORTEX_BASE_URL": terms["base_url"]}
    settings |= {"HIPPOCORTEX_EXTRACT": "false"}
    for question in ("Which cluster does staging run on?", "What cluster was staging on?"):
        command = [sys.executable, "-c", AUTO, model, question]
        ran = subprocess.run(
            command, env=os.environ | settings, capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stderr
    assert "Never deploy staging on a Friday" in Model.asked[0]
    assert "juniper" in Model.asked[1]
    assert known.health()["event_count"] >= 4


def test_langgraph(terms, known):
    """A compiled graph gets the context and is captured, both synchronously and asynchronously."""
    langgraph = pytest.importorskip("langgraph.graph", reason="pip install 'hmxgraph[adapters-test]'")
    from hippocortex.adapters import langgraph as adapter  # noqa: PLC0415 - after the check

    class Talk(TypedDict):
        messages: list

    seen = []

    def answer(state):
        seen.append(json.dumps(state["messages"], default=str))
        return {"messages": [*state["messages"], {"role": "assistant", "content": ANSWER}]}

    builder = langgraph.StateGraph(Talk).add_node("answer", answer).add_edge(langgraph.START, "answer")
    wrapped = adapter.wrap(builder.compile(), **terms)
    question = {"messages": [{"role": "user", "content": "Deploy staging"}]}
    wrapped.invoke(question)
    asyncio.run(wrapped.ainvoke(question))
    assert all("Never deploy staging on a Friday" in text for text in seen)
    assert [kind for kind, _ in story(known)] == ["message"] * 4
    assert story(known)[1][1].endswith(ANSWER)


def test_crewai(terms, known, monkeypatch):
    """A crew gets the context through its agents, and its tasks and result are captured."""
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    crewai = pytest.importorskip("crewai", reason="pip install 'hmxgraph[crewai]'")
    from hippocortex.adapters import crewai as adapter  # noqa: PLC0415 - after the check

    class Scripted(crewai.BaseLLM):
        asked: list = []  # noqa: RUF012 - a field of the model

        def call(self, messages, *_, **__):
            self.asked.append(str(messages))
            return f"Thought: I know it.\nFinal Answer: {ANSWER}"

    llm = Scripted(model="scripted")
    agent = crewai.Agent(role="deployer", goal="Deploy", backstory="Careful", llm=llm)
    task = crewai.Task(description="Deploy staging", expected_output="The cluster", agent=agent)
    adapter.wrap(crewai.Crew(agents=[agent], tasks=[task]), **terms).kickoff()
    assert "Never deploy staging on a Friday" in llm.asked[0]
    assert [kind for kind, _ in story(known)] == ["tool_call", "message"]
    assert ANSWER in story(known)[1][1]


def test_autogen(terms, known):
    """An AutoGen 0.2 agent called without a sender, the only case in which the SDK's hook runs, is captured."""
    autogen = pytest.importorskip("autogen", reason="pip install 'pyautogen<0.3'")
    from hippocortex.adapters import autogen as adapter  # noqa: PLC0415 - after the check

    seen = []

    def answer(_recipient, messages=None, sender=None, config=None):
        del sender, config
        seen.append(str(messages))
        return True, ANSWER

    agent = autogen.ConversableAgent("deployer", llm_config=False, human_input_mode="NEVER")
    agent.register_reply([autogen.Agent, None], answer)
    adapter.wrap(agent, **terms)
    assert agent.generate_reply(messages=[{"role": "user", "content": "Deploy staging"}]) == ANSWER
    assert "Never deploy staging on a Friday" in seen[0]
    assert [kind for kind, _ in story(known)] == ["message", "message"]
    assert story(known)[1][1].endswith(ANSWER)


def test_openai_agents(terms, known):
    """An agent gets the context, and its tool calls are captured; hooks are called by hand as they no longer fit."""
    agents = pytest.importorskip("agents", reason="pip install 'hmxgraph[adapters-test]'")
    from hippocortex.adapters import openai_agents as adapter  # noqa: PLC0415 - after the check

    agent = adapter.wrap(agents.Agent("deployer", instructions="Be brief."), **terms)

    async def run():
        tool = agents.function_tool(lambda: None, name_override="cluster_of", description_override="x")
        await agent.hooks.on_start(None, agent, "Deploy staging")
        instructed = agent.instructions
        await agent.hooks.on_tool_start(None, agent, tool)
        await agent.hooks.on_tool_end(None, agent, tool, ANSWER)
        await agent.hooks.on_end(None, agent, ANSWER)
        return instructed

    assert "Never deploy staging on a Friday" in asyncio.run(run())
    assert [kind for kind, _ in story(known)] == ["message", "tool_call", "tool_result", "message"]
