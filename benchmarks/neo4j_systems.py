"""The systems that keep their memory in Neo4j; all use one server, one after the other."""

import re
import uuid
from collections.abc import Sequence
from typing import Any

from benchmarks.data import Item
from benchmarks.systems import DEPTH, System, Waiting, words
from benchmarks.vectors import SIZE


class OnNeo4j(System):
    """A system that writes into the shared server."""

    def cypher(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """The rows of a statement."""
        from neo4j import GraphDatabase

        with GraphDatabase.driver(self.place.uri, auth=(self.place.user, self.place.password)) as driver:
            return [record.data() for record in driver.execute_query(statement, parameters, database_="neo4j").records]

    def empty(self, label: str) -> None:
        """Delete the nodes of a label."""
        from neo4j import GraphDatabase

        statement = f"MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 1000 ROWS"
        login = (self.place.user, self.place.password)
        with GraphDatabase.driver(self.place.uri, auth=login) as driver, driver.session() as session:
            session.run(statement).consume()

    def settle(self) -> None:
        """Wait until every index is up to date."""
        self.cypher("CALL db.awaitIndexes(60)")
        self.cypher("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")


class Hmxgraph(System):
    """The default call: every section; what is no episode takes budget and scores nothing."""

    name, package, how, apart = "hmxgraph", "hmxgraph", "ingest(), pack(question, budget); no embeddings", "tenant_id"
    sections: Sequence[str] | None = None

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """A tenant of its own."""
        import hmxgraph

        del empty
        place = self.place
        self._tenant = f"bench-{memory}-{uuid.uuid4().hex[:8]}"
        self._graph = hmxgraph.connect(place.uri, user=place.user, password=place.password, tenant_id=self._tenant)

    def store(self, items: list[Item]) -> None:
        """One ingest, extraction included."""
        report = self._graph.ingest([item.event | {"tenant_id": self._tenant} for item in items])
        if report.accepted != len(items):
            raise ValueError(f"accepted {report.accepted} of {len(items)}")

    def search(self, question: str) -> list[str]:
        """The entries of a pack of 8,192 tokens, by rank."""
        entries = self._pack(question, 8192).entries
        ranked = sorted((entry for entry in entries if entry.section == "episodes"), key=lambda entry: entry.rank)
        return [entry.source_id for entry in ranked]

    def within(self, question: str, budget: int, costs: dict[str, int], ranked: list[str]) -> set[str]:
        """The episodes of a pack of that size, headings and all."""
        del costs, ranked
        pack = self._pack(question, budget)
        if self.place.tokens(pack.text) > budget:
            raise ValueError(f"a pack of {budget} tokens has {self.place.tokens(pack.text)}")
        return {entry.source_id for entry in pack.entries if entry.section == "episodes"}

    def _pack(self, question: str, budget: int) -> Any:
        chosen = {"sections": self.sections} if self.sections else {}
        return self._graph.pack(question, budget=budget, **chosen)

    def end(self) -> None:
        """Close the connection; the tenant stays in the scratch server."""
        self._graph.close()


class HmxgraphEpisodes(Hmxgraph):
    """Only events, as the other systems return."""

    name, how = "hmxgraph, episodes only", 'pack(..., sections=["episodes"]); no embeddings'
    sections = ("episodes",)


class Neo4jAgentMemory(Waiting, OnNeo4j):
    """Its short-term memory, without an extractor."""

    name, package = "neo4j-agent-memory", "neo4j-agent-memory"
    how, apart = "add_messages_batch(), search_messages()", ""

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """One store for all; emptied unless told otherwise."""
        from neo4j_agent_memory import MemoryClient, MemorySettings

        del memory
        place = self.place

        class Shared:
            model, dimensions = "shared", SIZE

            async def embed(self, texts: Sequence[str]) -> list[list[float]]:
                return [place.vectors(text) for text in texts]

            async def embed_one(self, text: str) -> list[float]:
                return place.vectors(text)

        settings = MemorySettings(
            neo4j={"uri": place.uri, "username": place.user, "password": place.password},
            embedding=Shared(),
            extraction={"extractor_type": "none"},
            backend="bolt",
        )
        self._client = MemoryClient(settings)
        self.wait(self._client.connect())
        if empty:
            self._clear()

    def _clear(self) -> None:
        self.empty("Message")
        self.empty("Conversation")

    def store(self, items: list[Item]) -> None:
        """A batch a session."""
        sessions: dict[str, list[dict[str, Any]]] = {}
        for item in items:
            message = {"role": "user", "content": item.line, "timestamp": item.at.isoformat()}
            sessions.setdefault(item.session_id, []).append(message | {"metadata": {"item_id": item.item_id}})
        for session_id, messages in sessions.items():
            self.wait(self._client.short_term.add_messages_batch(session_id, messages, batch_size=500))

    def search(self, question: str) -> list[str]:
        """By vectors."""
        hits = self.wait(self._client.short_term.search_messages(question, limit=DEPTH, threshold=0.0))
        return [each.metadata["item_id"] for each in hits]

    def end(self) -> None:
        """Leave the server empty."""
        self._clear()
        self.wait(self._client.close())
        super().end()


class Graphiti(Waiting, OnNeo4j):
    """Graphiti's own bulk writer and search; its model is left out: an item is an episode and a fact."""

    name, package = "Graphiti, given facts", "graphiti-core"
    how, apart = "bulk save of given facts; edge search BM25 + cosine, RRF", "group_id"

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """A group of its own."""
        from graphiti_core import Graphiti as Client
        from graphiti_core.cross_encoder.client import CrossEncoderClient
        from graphiti_core.embedder.client import EmbedderClient
        from graphiti_core.llm_client.client import LLMClient
        from graphiti_core.llm_client.config import LLMConfig

        vectors, place = self.place.vectors, self.place

        class Shared(EmbedderClient):
            async def create(self, input_data: Any) -> list[float]:
                return vectors(input_data if isinstance(input_data, str) else input_data[0])

            async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
                return [vectors(text) for text in input_data_list]

        class Unused(CrossEncoderClient):
            async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
                del query
                return [(passage, 0.0) for passage in passages]

        class Silent(LLMClient):
            async def _generate_response(self, messages: Any, response_model: Any = None, *_: Any, **__: Any) -> Any:
                del messages
                return {name: [] for name in response_model.model_fields} if response_model else {}

        self._group = re.sub(r"\W", "_", memory)
        self._embedder = Shared()
        self._client = Client(
            place.uri,
            place.user,
            place.password,
            llm_client=Silent(LLMConfig(api_key="none")),
            embedder=self._embedder,
            cross_encoder=Unused(),
        )
        self.wait(self._client.build_indices_and_constraints())
        if empty:
            self._clear()

    def _clear(self) -> None:
        self.empty("Episodic")
        self.cypher("MATCH (n:Entity) WHERE n.group_id IS NOT NULL AND n.uuid IS NOT NULL DETACH DELETE n")

    def store(self, items: list[Item]) -> None:
        """Batches of 500 episodes with their facts."""
        from graphiti_core.nodes import EntityNode
        from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

        speakers = sorted({item.speaker for item in items})
        people = {
            name: EntityNode(
                name=name,
                group_id=self._group,
                created_at=items[-1].at,
                labels=["Entity"],
                name_embedding=self.place.vectors(name),
            )
            for name in speakers
        }
        for start in range(0, len(items), 500):
            episodes, mentions, facts = self._written(items[start : start + 500], people)
            nodes = list(people.values()) if start == 0 else []
            driver = self._client.driver
            self.wait(add_nodes_and_edges_bulk(driver, episodes, mentions, nodes, facts, self._embedder))

    def _written(self, items: list[Item], people: dict[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
        from graphiti_core.edges import EntityEdge, EpisodicEdge
        from graphiti_core.nodes import EpisodeType, EpisodicNode

        episodes, mentions, facts = [], [], []
        for item in items:
            speaker = people[item.speaker]
            other = next((each for name, each in people.items() if name != item.speaker), speaker)
            common = {"group_id": self._group, "created_at": item.at}
            episode = EpisodicNode(
                uuid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self._group}/{item.item_id}")),
                name=item.item_id,
                labels=[],
                source=EpisodeType.message,
                source_description=item.session_id,
                content=item.line,
                valid_at=item.at,
                **common,
            )
            fact = EntityEdge(
                source_node_uuid=speaker.uuid,
                target_node_uuid=other.uuid,
                name="SAID",
                fact=item.line,
                fact_embedding=self.place.vectors(item.line),
                episodes=[item.item_id],
                valid_at=item.at,
                **common,
            )
            episodes.append(episode)
            mentions.append(EpisodicEdge(source_node_uuid=episode.uuid, target_node_uuid=speaker.uuid, **common))
            facts.append(fact)
        return episodes, mentions, facts

    def search(self, question: str) -> list[str]:
        """By its hybrid search over facts."""
        from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF

        config = EDGE_HYBRID_SEARCH_RRF.model_copy(deep=True, update={"limit": DEPTH})
        hits = self.wait(self._client.search_(question, config=config, group_ids=[self._group]))
        return [edge.episodes[0] for edge in hits.edges]

    def end(self) -> None:
        """Leave the server empty."""
        self._clear()
        self.wait(self._client.close())
        super().end()


class Neo4jGraphRAG(OnNeo4j):
    """Its hybrid retriever; it has no writer that works without a model, so one bare statement makes the nodes."""

    name, package = "neo4j-graphrag", "neo4j-graphrag"
    how, apart = "bare UNWIND CREATE; HybridRetriever (vector + full text)", ""

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """One store for all; emptied unless told otherwise."""
        from neo4j import GraphDatabase
        from neo4j_graphrag.embeddings import Embedder
        from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index
        from neo4j_graphrag.retrievers import HybridRetriever

        del memory
        vectors = self.place.vectors

        class Shared(Embedder):
            def embed_query(self, text: str) -> list[float]:
                return vectors(text)

        if empty:
            self.empty("RagChunk")
        self._driver = GraphDatabase.driver(self.place.uri, auth=(self.place.user, self.place.password))
        create_vector_index(self._driver, "rag_vector", "RagChunk", "embedding", SIZE, "cosine")
        create_fulltext_index(self._driver, "rag_text", "RagChunk", ["text"])
        self.settle()
        self._retriever = HybridRetriever(
            self._driver, "rag_vector", "rag_text", Shared(), return_properties=["item_id"]
        )

    def store(self, items: list[Item]) -> None:
        """Batches of 500."""
        rows = [{"item_id": i.item_id, "text": i.line, "embedding": self.place.vectors(i.line)} for i in items]
        for start in range(0, len(rows), 500):
            statement = "UNWIND $rows AS row CREATE (c:RagChunk) SET c = row"
            self._driver.execute_query(statement, rows=rows[start : start + 500])

    def search(self, question: str) -> list[str]:
        """By vectors and full text."""
        hits = self._retriever.get_search_results(query_text=" ".join(words(question)), top_k=DEPTH)
        return [record["node"]["item_id"] for record in hits.records]

    def end(self) -> None:
        """Leave the server empty."""
        self.empty("RagChunk")
        self._driver.close()


class McpNeo4jMemory(Waiting, OnNeo4j):
    """The MCP server's memory, called without the protocol around it."""

    name, package = "mcp-neo4j-memory", "mcp-neo4j-memory"
    how, apart = "create_entities() by 100; search_memories(), in the order it returns", ""

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """One graph for all; emptied unless told otherwise."""
        from mcp_neo4j_memory.neo4j_memory import Entity, Neo4jMemory
        from neo4j import AsyncGraphDatabase

        del memory
        if empty:
            self.empty("Memory")
        self._entity = Entity
        self._driver = AsyncGraphDatabase.driver(self.place.uri, auth=(self.place.user, self.place.password))
        self._memory = Neo4jMemory(self._driver)
        self.wait(self._memory.create_fulltext_index())

    def store(self, items: list[Item]) -> None:
        """An entity an item."""
        entities = [self._entity(name=item.item_id, type="item", observations=[item.line]) for item in items]
        for start in range(0, len(entities), 100):
            self.wait(self._memory.create_entities(entities[start : start + 100]))

    def search(self, question: str) -> list[str]:
        """By its full-text search."""
        hits = self.wait(self._memory.search_memories(" ".join(words(question))))
        return [each.name for each in hits.entities][:DEPTH]

    def end(self) -> None:
        """Leave the server empty."""
        self.empty("Memory")
        self.wait(self._driver.close())
        super().end()
