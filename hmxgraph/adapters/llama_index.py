"""LlamaIndex: a retriever over context packs, and a memory block for ``Memory(memory_blocks=[...])``."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever  # pyright: ignore[reportMissingImports]
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock  # pyright: ignore[reportMissingImports]
from llama_index.core.memory import BaseMemoryBlock  # pyright: ignore[reportMissingImports]
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode  # pyright: ignore[reportMissingImports]

from hmxgraph.adapters._chat import FORMAT, Item, call_item, message_item, result_item
from hmxgraph.adapters._sources import sources
from hmxgraph.api.graph import KnowledgeGraph


class HmxRetriever(BaseRetriever):
    """Nodes from the pack for a query, best first: ``HmxRetriever(graph, budget=1024).retrieve("Deploy staging")``.

    *budget* is the hard limit for all nodes together, in tokens; *options* are those of ``graph.pack``. Texts from
    outside sources begin with their label in brackets, as in the pack. The metadata holds source, section, origin,
    confidence and whether the text is trusted.
    """

    def __init__(self, graph: KnowledgeGraph, *, budget: int = 2048, **options: Any) -> None:
        super().__init__()
        self._graph = graph
        self._options = {"budget": budget, **options}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        pack = self._graph.pack(query_bundle.query_str, **self._options)
        return [
            NodeWithScore(node=TextNode(id_=source_id, text=text, metadata=metadata), score=score)
            for source_id, text, score, metadata in sources(pack)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class HmxMemoryBlock(BaseMemoryBlock[str]):
    """A memory block that returns the pack for the last user message.

    It also records the messages that LlamaIndex flushes from its short-term memory, with their tool calls and results:
    in the session that a message names, else in *session_id*.
    """

    name: str = "hmxgraph"
    graph: KnowledgeGraph
    session_id: str = "llama-index"
    user_id: str | None = None
    budget: int = 1024

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        del block_kwargs
        questions = [message.content for message in messages or () if message.role == "user" and message.content]
        if not questions:
            return ""
        pack = await asyncio.to_thread(self.graph.pack, questions[-1], budget=self.budget, user_id=self.user_id)
        return pack.prompt

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for session, group in groupby(messages, self._session):
            items = list(_items(group))
            await asyncio.to_thread(self.graph.record, items, session_id=session, user_id=self.user_id, format=FORMAT)

    def _session(self, message: ChatMessage) -> str:
        return message.additional_kwargs.get("session_id") or self.session_id

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return None: a truncated pack would lose its closing marker; lower *budget* instead."""
        del content, tokens_to_truncate
        return None


def _items(messages: Iterable[ChatMessage]) -> Iterator[Item]:
    """The texts, calls and results in *messages*. A result has no tool name; its call, with the same id, has it."""
    for message in messages:
        text = message.content or ""
        if message.role == "tool":
            yield result_item(str(message.additional_kwargs.get("tool_call_id", "")), text, failed=False)
        elif text:
            yield message_item(str(message.role.value), text)
        calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
        for call in calls:
            yield call_item(str(call.tool_call_id or ""), call.tool_name, call.tool_kwargs)
        # Older integrations have no ToolCallBlock and keep the provider's calls here; newer ones have both.
        if not calls and (provider_calls := message.additional_kwargs.get("tool_calls")):
            yield {"role": "assistant", "content": None, "tool_calls": provider_calls}
