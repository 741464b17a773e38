"""Google ADK: a ``BaseMemoryService`` for ``Runner(memory_service=...)`` and its memory tools.

Each user of each app is a tenant, so that no search ever sees another user's memory. Events keep their ids, so adding a
session again after it has grown stores only its new events.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from google.adk.events import Event  # pyright: ignore[reportMissingImports]
from google.adk.memory.base_memory_service import (  # pyright: ignore[reportMissingImports]
    BaseMemoryService,
    SearchMemoryResponse,
)
from google.adk.memory.memory_entry import MemoryEntry  # pyright: ignore[reportMissingImports]
from google.adk.sessions import Session  # pyright: ignore[reportMissingImports]
from google.genai import types  # pyright: ignore[reportMissingImports]

from hmxgraph.adapters._sources import sources
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import NotFound
from hmxgraph.protocol.events import ASSISTANT, HARNESS, HMX_VERSION, ORIGIN, TOOL, USER, went_well

# The session id for events that are added without one.
_UNNAMED_SESSION = "adk-events"
_SECOND_US = 1_000_000


class HmxMemoryService(BaseMemoryService):
    """Memory of ADK sessions in the database of *graph*; a search returns a context pack of *budget* tokens."""

    def __init__(self, graph: KnowledgeGraph, *, budget: int = 2048) -> None:
        self._graph = graph
        self._budget = budget

    async def add_session_to_memory(self, session: Session) -> None:
        """Store those events of *session* that are not stored yet."""
        await asyncio.to_thread(self._add, session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store those of *events* that are not stored yet; *custom_metadata* is ignored."""
        del custom_metadata
        await asyncio.to_thread(self._add, app_name, user_id, events, session_id or _UNNAMED_SESSION)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember the text of each of *memories* as a fact; *custom_metadata* is ignored."""
        del custom_metadata
        texts = ["\n".join(part.text for part in entry.content.parts or () if part.text) for entry in memories]
        await asyncio.to_thread(self._remember, app_name, user_id, [text for text in texts if text.strip()])

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The entries of the pack for *query*, best first; text from outside sources begins with its label."""
        return await asyncio.to_thread(self._search, app_name, user_id, query)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase the events behind a search result; does nothing for an unknown id."""
        if memory_id:
            await asyncio.to_thread(self._delete, app_name, user_id, memory_id)

    def _tenant_graph(self, app_name: str, user_id: str) -> KnowledgeGraph:
        return self._graph.for_tenant(tenant_of(app_name, user_id))

    def _add(self, app_name: str, user_id: str, events: Sequence[Event], session_id: str) -> None:
        with self._tenant_graph(app_name, user_id) as graph:
            home = {"tenant_id": graph.tenant_id, "session_id": session_id}
            graph.ingest([home | document for event in events for document in documents_of(event)], on_error="raise")

    def _remember(self, app_name: str, user_id: str, texts: Sequence[str]) -> None:
        with self._tenant_graph(app_name, user_id) as graph:
            for text in texts:
                graph.remember(text)

    def _search(self, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        with self._tenant_graph(app_name, user_id) as graph:
            recalled = list(sources(graph.pack(query, budget=self._budget)))
        return SearchMemoryResponse(memories=[_entry(text, metadata) for _, text, _, metadata in recalled])

    def _delete(self, app_name: str, user_id: str, memory_id: str) -> None:
        with self._tenant_graph(app_name, user_id) as graph:
            try:
                trail = graph.explain(memory_id).trail()
            except NotFound:
                return
            graph.forget(event_id=sorted({event.event_id for event in trail}))


def tenant_of(app_name: str, user_id: str) -> str:
    """The tenant of a user of an app.

    >>> tenant_of("shop", "ana/1")
    'shop/ana%2F1'
    """
    return f"{quote(app_name, safe='')}/{quote(user_id, safe='')}"


def documents_of(event: Event) -> Iterator[dict[str, Any]]:
    """The HMX events of one ADK event, without tenant and session.

    Unfinished streaming events, thoughts, files and code are left out.
    """
    if event.partial:
        return
    contents = list(_contents(event))
    us = round(event.timestamp * _SECOND_US)
    author = {} if event.author in {"", "user"} else {"author": event.author}
    for number, (event_type, origin, content) in enumerate(contents):
        yield {
            "hmx_version": HMX_VERSION,
            "event_id": event.id if number == 0 else f"{event.id}#{number}",
            "event_type": event_type,
            "agent_id": event.author or "agent",
            "timestamp": datetime.fromtimestamp(us / _SECOND_US, UTC).isoformat(),
            "sequence": us + number,
            "content": content,
            "metadata": {ORIGIN: origin, "invocation_id": event.invocation_id} | author,
        }


def _contents(event: Event) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The type, origin and content of each HMX event: one for each text, call, result and error of *event*."""
    by_user = event.author == "user"
    for part in (event.content and event.content.parts) or ():
        if part.text and not part.thought:
            role = "user" if by_user else "assistant"
            yield "message", USER if by_user else ASSISTANT, {"role": role, "text": part.text}
        elif call := part.function_call:
            content = {"tool_name": call.name or "unknown", "arguments": call.args or {}}
            yield "tool_call", ASSISTANT, content | ({"call_id": call.id} if call.id else {})
        elif answer := part.function_response:
            result = answer.response or {}
            success = went_well("tool_result", {"result": result}) is not False
            content = {"tool_name": answer.name or "unknown", "result": result, "success": success}
            yield "tool_result", TOOL, content | ({"call_id": answer.id} if answer.id else {})
    if event.error_code:
        message = event.error_message or event.error_code
        yield "error", HARNESS, {"error_type": str(event.error_code), "message": message}


def _entry(text: str, metadata: Mapping[str, Any]) -> MemoryEntry:
    """A search result in the form of the ADK, where the author is a separate field and not part of the text."""
    author = metadata["speaker"] or None
    plain_text = text.removeprefix(f"{author}: ") if author else text
    content = types.Content(role="user", parts=[types.Part(text=plain_text)])
    return MemoryEntry(
        content=content,
        id=metadata["source_id"],
        author=author,
        timestamp=metadata.get("timestamp"),
        custom_metadata=dict(metadata),
    )
