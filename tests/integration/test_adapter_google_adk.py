"""HmxMemoryService with the real Google ADK: growing sessions, searches, stated memories and their deletion."""

import asyncio

import pytest

pytest.importorskip("google.adk", reason="needs google-adk: pip install 'hmxgraph[google-adk]'", exc_type=ImportError)

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import InMemorySessionService
from google.genai import types

from hmxgraph.adapters.google_adk import HmxMemoryService, tenant_of

ANA = {"app_name": "shop", "user_id": "ana"}


@pytest.fixture
def service(graph):
    """A service whose tenants are used by this test only."""
    ANA["app_name"] = graph.tenant_id
    return HmxMemoryService(graph, budget=512)


def event(event_id, author, *parts, second=0, **fields):
    """An event of an ADK session."""
    content = types.Content(role="user" if author == "user" else "model", parts=list(parts))
    return Event(id=event_id, author=author, content=content, timestamp=1_773_457_200.0 + second, **fields)


CALL = types.FunctionCall(id="c1", name="cluster_of", args={"environment": "staging"})
ANSWER = types.FunctionResponse(id="c1", name="cluster_of", response={"error": "unknown environment"})
EVENTS = [
    event("e1", "user", types.Part(text="Which cluster does staging run on?")),
    event("e2", "deployer", types.Part(text="Let me look."), types.Part(function_call=CALL), second=1),
    event("e3", "deployer", types.Part(function_response=ANSWER), second=2),
    event("e4", "deployer", types.Part(text="Staging ru"), second=3, partial=True),
    event("e5", "deployer", types.Part(text="Staging runs on juniper."), second=4),
    event("e6", "deployer", second=5, error_code="RESOURCE_EXHAUSTED", error_message="quota"),
]


def story(graph):
    """The type and text of each stored event of the session."""
    with graph.for_tenant(tenant_of(**ANA)) as own:
        return [(row["event_type"], row["text"]) for row in own.query("explore/session_story", session_id="s1").rows]


def session_of(events):
    """A session with *events* from the ADK's own session service."""

    async def made():
        sessions = InMemorySessionService()
        session = await sessions.create_session(**ANA, session_id="s1")
        session.events.extend(events)
        return session

    return asyncio.run(made())


def test_a_growing_session_is_stored_once(service, graph):
    """Every part becomes one event; partial events are skipped; adding a session or its events again adds nothing."""
    assert isinstance(service, BaseMemoryService)
    asyncio.run(service.add_session_to_memory(session_of(EVENTS[:3])))
    asyncio.run(service.add_session_to_memory(session_of(EVENTS)))
    kinds = [kind for kind, _ in story(graph)]
    assert kinds == ["message", "message", "tool_call", "tool_result", "message", "error"]
    assert "failed" in story(graph)[3][1]
    asyncio.run(service.add_events_to_memory(**ANA, events=EVENTS, session_id="s1"))
    assert len(story(graph)) == 6


def test_a_search_finds_only_the_users_own(service):
    """Entries carry text, source and author; another user or another app finds nothing."""

    async def searches():
        await service.add_events_to_memory(**ANA, events=EVENTS, session_id="s1")
        strangers = ({**ANA, "user_id": "bo"}, {**ANA, "app_name": f"{ANA['app_name']}/x"})
        query = "staging cluster juniper"
        own = await service.search_memory(**ANA, query=query)
        return own.memories, [(await service.search_memory(**stranger, query=query)).memories for stranger in strangers]

    own, foreign = asyncio.run(searches())
    texts = [entry.content.parts[0].text for entry in own]
    assert "Staging runs on juniper." in texts
    assert {entry.author for entry in own if "juniper" in entry.content.parts[0].text} == {"deployer"}
    assert foreign == [[], []]
    failed = next(entry for entry in own if "unknown environment" in entry.content.parts[0].text)
    assert failed.content.parts[0].text.startswith("[tool] ")
    assert failed.custom_metadata["trusted"] is False
    assert all(entry.id and entry.custom_metadata["section"] for entry in own)


def test_what_is_remembered_and_deleted(service):
    """A stated memory is found by its words, and no longer found once its entry is deleted."""

    async def life():
        stated = MemoryEntry(content=types.Content(parts=[types.Part(text="The release train leaves on Tuesday")]))
        await service.add_memory(**ANA, memories=[stated])
        memories = (await service.search_memory(**ANA, query="When does the release train leave?")).memories
        for entry in memories:
            await service.delete_memory(**ANA, memory_id=entry.id)
        await service.delete_memory(**ANA, memory_id="unknown")
        return memories, (await service.search_memory(**ANA, query="When does the release train leave?")).memories

    memories, left = asyncio.run(life())
    assert any("Tuesday" in entry.content.parts[0].text for entry in memories)
    assert not any("Tuesday" in entry.content.parts[0].text for entry in left)
