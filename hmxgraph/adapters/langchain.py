"""LangChain: a retriever over context packs, in which each document is one entry of a pack."""

import asyncio
from typing import Any

from langchain_core.callbacks import (  # pyright: ignore[reportMissingImports]
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document  # pyright: ignore[reportMissingImports]
from langchain_core.retrievers import BaseRetriever  # pyright: ignore[reportMissingImports]
from pydantic import ConfigDict, Field

from hmxgraph.adapters._sources import sources
from hmxgraph.api.graph import KnowledgeGraph


class HmxRetriever(BaseRetriever):
    """Documents from the pack for a query: ``HmxRetriever(graph=graph, budget=1024).invoke("Deploy staging")``.

    *budget* is the hard limit in tokens for all documents together. *options* are those of ``graph.pack``, such as
    ``sections``, ``session_id``, ``user_id``, ``as_of`` or ``min_confidence``. Text from outside sources begins with
    its label in brackets. The metadata of a document holds its source, section, origin, confidence, number of
    supporting events and whether its text is trusted.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    graph: KnowledgeGraph
    budget: int = 2048
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager  # the base class reports start, end and errors to it
        pack = self.graph.pack(query, budget=self.budget, **self.options)
        return [
            Document(page_content=text, metadata=metadata, id=source) for source, text, _, metadata in sources(pack)
        ]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=run_manager.get_sync())
