"""Microsoft Agent Framework: a context provider that gives each run a context pack, and records the run."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from agent_framework import ContextProvider, Message  # pyright: ignore[reportMissingImports]

from hmxgraph.adapters._chat import FORMAT, Item, call_item, message_item, result_item
from hmxgraph.api.graph import KnowledgeGraph


class HmxProvider(ContextProvider):
    """A context provider over *graph*: ``Agent(client, context_providers=[HmxProvider(graph, user_id="ana")])``.

    The pack for the user's messages is added to the instructions of the run, so it does not become part of the history.
    Messages, calls and results are recorded in a session with the framework's session id.
    """

    def __init__(
        self, graph: KnowledgeGraph, *, user_id: str | None = None, budget: int = 1024, source_id: str = "hmxgraph"
    ) -> None:
        super().__init__(source_id)
        self._graph = graph
        self._user_id = user_id
        self._budget = budget

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Add the pack for the user's messages."""
        del agent, state
        query = " ".join(message.text for message in context.input_messages if message.role == "user" and message.text)
        if query:
            options: Any = {"budget": self._budget, "session_id": _session(session, context), "user_id": self._user_id}
            pack = await asyncio.to_thread(self._graph.pack, query, **options)
            if pack.entries:
                context.extend_instructions(self.source_id, pack.prompt)

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Record the input and output of a run."""
        del state
        answers = context.response.messages if context.response else ()
        items = list(chat_items([*context.input_messages, *answers]))
        if items:
            author: Any = {"agent_id": getattr(agent, "name", None) or "agent-framework", "user_id": self._user_id}
            session_id = _session(session, context)
            await asyncio.to_thread(self._graph.record, items, session_id=session_id, format=FORMAT, **author)


def chat_items(messages: Iterable[Message]) -> Iterator[Item]:
    """The texts of the user and the assistant, the calls and the results in *messages*."""
    for message in messages:
        for content in message.contents:
            if content.type == "text" and content.text and message.role in {"user", "assistant"}:
                yield message_item(str(message.role), content.text)
            elif content.type == "function_call":
                yield call_item(str(content.call_id), str(content.name), content.arguments)
            elif content.type == "function_result":
                yield result_item(str(content.call_id), str(content.result), failed=content.exception is not None)


def _session(session: Any, context: Any) -> str:
    return context.session_id or session.session_id
