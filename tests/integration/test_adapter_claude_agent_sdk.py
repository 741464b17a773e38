"""The session store of the Claude Agent SDK: conformance, resumed sessions, and what is learned from them."""

import asyncio
import itertools
import json

import pytest

testing = pytest.importorskip(
    "claude_agent_sdk.testing", reason="pip install 'hmxgraph[claude-agent-sdk]'", exc_type=ImportError
)
import claude_agent_sdk as sdk  # noqa: E402 - after importorskip

from hmxgraph.adapters.claude_sdk import HmxSessionStore  # noqa: E402
from tests.transcripts import Transcript  # noqa: E402

KEY = {"project_key": "-home-ana-shop", "session_id": "7c1fca3f-5d3e-4d6f-9a51-000000000001"}


@pytest.fixture
def transcript(tmp_path):
    """The entries of a session that fails and finds the fix, as the SDK delivers them."""
    written = Transcript(tmp_path, KEY["session_id"], "2026-03-02T09:00:00+00:00")
    written.user("Run the test suite of the shop")
    written.bash("mix test", "Exit code 1\ntcp connect (localhost:5432): connection refused", failed=True)
    written.bash("docker compose up -d db", "Container shop-db-1  Started").bash("mix test", "212 tests, 0 failures")
    read = [json.loads(line) for line in written.path.read_text(encoding="utf-8").splitlines()]
    parents = [None, *(entry["uuid"] for entry in read)]
    return [{**entry, "parentUuid": parent} for entry, parent in zip(read, parents, strict=False)]


def test_the_kit_passes(graph):
    """The store passes the SDK's conformance kit, which gets a new tenant for each store it makes."""
    numbers = itertools.count()
    graphs = []

    def make_store():
        graphs.append(graph.for_tenant(f"{graph.tenant_id}-{next(numbers)}"))
        return HmxSessionStore(graphs[-1])

    try:
        asyncio.run(testing.run_session_store_conformance(make_store))
    finally:
        for each in graphs:
            each.close()


def test_a_session_is_resumed_as_it_was_and_learned_from(graph, transcript):
    """Appending a batch again changes nothing, the SDK's own readers see the session, and packs contain the fix."""
    store = HmxSessionStore(graph)

    async def session():
        for batch in (transcript[:3], transcript[2:], transcript):
            await store.append(KEY, batch)
        return await HmxSessionStore(graph).load(KEY)

    assert asyncio.run(session()) == transcript
    messages = asyncio.run(sdk.get_session_messages_from_store(store, KEY["session_id"], directory="/home/ana/shop"))
    assert messages[0].message["content"] == "Run the test suite of the shop"
    assert "docker compose up -d db" in graph.pack("tcp connect: connection refused").text
    asyncio.run(store.delete(KEY))
    assert asyncio.run(store.load(KEY)) is None
    assert "docker compose" not in graph.pack("tcp connect: connection refused").text


def test_sub_agents_are_forgotten_with_their_session(graph, transcript):
    """A sub-agent's transcript, a session of its own, is erased alone or together with its parent session."""
    store = HmxSessionStore(graph)

    for name in ("a1", "a2"):
        entries = [
            {**entry, "agentId": name, "isSidechain": True, "uuid": f"{name}-{entry['uuid']}"} for entry in transcript
        ]
        asyncio.run(store.append({**KEY, "subpath": f"subagents/agent-{name}"}, entries))
    asyncio.run(store.append(KEY, transcript))
    asyncio.run(store.delete({**KEY, "subpath": "subagents/agent-a1"}))
    assert "docker compose" in graph.pack("tcp connect: connection refused").text
    left = graph.query("explore/session_story", session_id=f"{KEY['session_id']}/a1").rows
    assert not [row for row in left if row["text"]]
    asyncio.run(store.delete(KEY))
    assert "docker compose" not in graph.pack("tcp connect: connection refused").text


def test_a_store_that_only_keeps_learns_nothing(graph, transcript):
    """With learn=False the transcript is kept but no event is stored."""
    store = HmxSessionStore(graph, learn=False)
    asyncio.run(store.append(KEY, transcript))
    assert graph.health()["event_count"] == 0
    assert asyncio.run(store.load(KEY)) == transcript
