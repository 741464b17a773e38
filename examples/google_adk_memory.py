"""Google ADK with a memory on Neo4j: one session is added, and a later one finds it by its words.

    pip install hmxgraph[local] google-adk
    python examples/google_adk_memory.py

Sessions are made by hand here, so that this runs without a key. In a real agent: ``Runner(memory_service=...)`` with
``PreloadMemoryTool`` among the agent's tools, and ``add_session_to_memory`` after each turn.
"""

import asyncio

from google.adk.events import Event
from google.adk.sessions import InMemorySessionService
from google.genai import types

import hmxgraph
from hmxgraph.adapters.google_adk import HmxMemoryService


def message(event_id: str, author: str, text: str) -> Event:
    """An event with one text, as a session of ADK stores it."""
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    return Event(id=event_id, author=author, content=content, timestamp=1_773_457_200.0 + int(event_id))


async def main() -> None:
    """Add Monday's session, then search as another session would."""
    with hmxgraph.connect(tenant_id="example-google-adk") as graph:
        service = HmxMemoryService(graph, budget=512)
        session = await InMemorySessionService().create_session(
            app_name="example-shop", user_id="ana", session_id="monday"
        )
        session.events.append(message("1", "user", "Which cluster does staging run on?"))
        session.events.append(message("2", "deployer", "Staging runs on cluster juniper."))
        await service.add_session_to_memory(session)
        response = await service.search_memory(app_name="example-shop", user_id="ana", query="staging cluster")
        for entry in response.memories:
            print(f"{entry.author or entry.custom_metadata['section']}: {entry.content.parts[0].text}")


if __name__ == "__main__":
    asyncio.run(main())
