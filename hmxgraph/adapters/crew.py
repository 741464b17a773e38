"""CrewAI: a replacement for the crew's ``Memory`` that needs neither an LLM for analysis nor embeddings.

It is not just a storage backend, because CrewAI passes only vectors to those, not the text of a query.
"""

from datetime import datetime
from typing import Any, NoReturn

from crewai.memory.types import MemoryMatch, MemoryRecord  # pyright: ignore[reportMissingImports]
from crewai.memory.unified_memory import Memory  # pyright: ignore[reportMissingImports]
from pydantic import PrivateAttr

from hmxgraph.adapters._sources import sources
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import InvalidRequest


class HmxMemory(Memory):
    """A crew's memory in *graph*: ``Crew(agents=[...], tasks=[...], memory=HmxMemory(graph))``.

    Each task gets the entries of a context pack, with the labels that mark outside text. The task's result is recorded
    in *session_id* as a message of the agent, so that it counts as the agent's claim and not as a fact.
    """

    storage: Any = None
    session_id: str = "crewai"
    budget: int = 1024
    _graph: KnowledgeGraph = PrivateAttr()

    def __init__(self, graph: KnowledgeGraph, **fields: Any) -> None:
        super().__init__(**fields)
        self._graph = graph

    def recall(self, query: str, *_scope: Any, limit: int = 10, **_options: Any) -> list[MemoryMatch]:
        """The *limit* best entries of the pack for *query*; CrewAI's other options, such as scopes, are ignored."""
        pack = self._graph.pack(query, budget=self.budget)
        return [_match(text, score, metadata) for _, text, score, metadata in sources(pack)][:limit]

    def extract_memories(self, content: str) -> list[str]:
        """The content unchanged: hmxgraph decides later, from evidence, what is worth remembering."""
        return [content]

    def remember(
        self, content: str, *_scope: Any, agent_role: str | None = None, **_options: Any
    ) -> MemoryRecord | None:
        """Record a text that an agent wants to remember; returns its record, or None if the memory is read-only."""
        (record,) = self.remember_many([content], agent_role=agent_role) or (None,)
        return record

    def remember_many(
        self, contents: list[str], *_scope: Any, agent_role: str | None = None, **_options: Any
    ) -> list[MemoryRecord]:
        """Record several texts in one transaction; returns their records, none if the memory is read-only."""
        if self.read_only or not contents:
            return []
        items = [{"role": "assistant", "content": content} for content in contents]
        self._graph.record(items, session_id=self.session_id, agent_id=agent_role)
        return [MemoryRecord(content=content, source=agent_role) for content in contents]

    def forget(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to erase anything, as does ``reset``; use ``graph.forget``, which has a dry run and returns a proof.

        Raises:
            InvalidRequest: always.

        """
        expected = "graph.forget(), because a crew's memory cannot erase events"
        way_out = f"try graph.forget(session_id={self.session_id!r}, dry_run=True)"
        raise InvalidRequest("call", "to forget() or reset()", expected, way_out)

    reset = forget


def _match(text: str, score: float, metadata: dict[str, Any]) -> MemoryMatch:
    dated = {"created_at": datetime.fromisoformat(metadata["timestamp"])} if "timestamp" in metadata else {}
    record = MemoryRecord(
        id=metadata["source_id"],
        content=text,
        categories=[metadata["section"]],
        importance=min(1.0, metadata["confidence"]),
        source=metadata["origin"],
        **dated,
    )
    return MemoryMatch(record=record, score=score, match_reasons=[metadata["section"]])
