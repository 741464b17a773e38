"""What a system under test can do, and the systems that run inside the process: files and memory, no server."""

import asyncio
import importlib.metadata
import re
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Item
from benchmarks.vectors import SIZE, Vectors

DEPTH = 200  # how many hits a ranked system is asked for: enough for the largest budget


@dataclass(frozen=True)
class Place:
    """What a system may need: a Neo4j that may be written to, the vectors, a token counter, a folder to itself."""

    uri: str
    user: str
    password: str
    vectors: Vectors
    tokens: Callable[[str], int]
    folder: Path


class System:
    """A memory under test. `store` is timed as ingest, `search` as a query.

    ``apart`` says what keeps two memories of one store apart, or is empty where nothing does.
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    how: ClassVar[str] = ""
    apart: ClassVar[str] = ""

    def __init__(self, place: Place) -> None:
        self.place = place

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """Open the memory of that name; *empty* removes what an earlier one left, where names do not keep apart."""

    def store(self, items: list[Item]) -> None:
        """Keep the items, in order; returns when they can be found."""
        raise NotImplementedError

    def settle(self) -> None:
        """Wait for indexes that lag behind; not timed."""

    def search(self, question: str) -> list[str]:
        """Item ids, best first."""
        raise NotImplementedError

    def within(self, question: str, budget: int, costs: dict[str, int], ranked: list[str]) -> set[str]:
        """The item ids that get into the budget: in the order of the ranking, skipping what does not fit."""
        del question
        left, taken = budget, set()
        for item_id in ranked:
            if item_id not in taken and costs.get(item_id, left + 1) <= left:
                taken.add(item_id)
                left -= costs[item_id]
        return taken

    def end(self) -> None:
        """Leave nothing behind."""

    @property
    def version(self) -> str:
        """The installed version of its package."""
        return importlib.metadata.version(self.package) if self.package else ""


class Waiting(System):
    """A system with an asynchronous interface."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._loop = asyncio.new_event_loop()

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of *work*."""
        return self._loop.run_until_complete(work)

    def end(self) -> None:
        """Cancel what its client still does in the background."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self.wait(_gathered(left))


async def _gathered(tasks: set[Any]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


class MostRecent(System):
    """The floor: whatever was said last."""

    name, how, apart = "most recent", "floor: the last items", "an object each"

    def store(self, items: list[Item]) -> None:
        """Keep the ids."""
        self._ids = [item.item_id for item in items]

    def search(self, question: str) -> list[str]:
        """The newest first."""
        del question
        return self._ids[: -DEPTH - 1 : -1]


class BM25S(System):
    """Plain full text."""

    name, package, how, apart = "bm25s", "bm25s", "Lucene BM25, English stemmer and stop words", "an index each"

    def store(self, items: list[Item]) -> None:
        """Index all lines."""
        import bm25s
        import Stemmer

        self._bm25s, self._stemmer = bm25s, Stemmer.Stemmer("english")
        self._ids = [item.item_id for item in items]
        self._index = bm25s.BM25()
        self._index.index(self._tokens([item.line for item in items]), show_progress=False)

    def _tokens(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    def search(self, question: str) -> list[str]:
        """By BM25."""
        best, _ = self._index.retrieve(self._tokens([question]), k=min(DEPTH, len(self._ids)), show_progress=False)
        return [self._ids[place] for place in best[0]]


class Tantivy(System):
    """Full text on disk."""

    name, package, how, apart = "tantivy", "tantivy", "full text on disk, en_stem", "an index each"

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """A folder of its own."""
        import tantivy

        del memory, empty
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        builder.add_text_field("text", tokenizer_name="en_stem")
        folder = _fresh_folder(self.place, "tantivy")
        self._index = tantivy.Index(builder.build(), path=str(folder))

    def store(self, items: list[Item]) -> None:
        """One commit."""
        import tantivy

        writer = self._index.writer()
        for item in items:
            writer.add_document(tantivy.Document(id=item.item_id, text=item.line))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def search(self, question: str) -> list[str]:
        """By BM25."""
        searcher = self._index.searcher()
        query = self._index.parse_query(" ".join(words(question)), ["text"])
        return [searcher.doc(address)["id"][0] for _, address in searcher.search(query, DEPTH).hits]


class Dense(System):
    """The shared vectors alone, without any library."""

    name, how, apart = "vectors alone", "cosine of the shared embedding, numpy", "an array each"

    def store(self, items: list[Item]) -> None:
        """One matrix."""
        self._ids = [item.item_id for item in items]
        self._matrix = np.array([self.place.vectors(item.line) for item in items])

    def search(self, question: str) -> list[str]:
        """By cosine."""
        scores = self._matrix @ np.array(self.place.vectors(question))
        return [self._ids[place] for place in np.argsort(-scores, kind="stable")[:DEPTH]]


class LangGraphStore(System):
    """LangGraph's store with its vector index."""

    name, package = "LangGraph store", "langgraph-checkpoint"
    how, apart = "put() an item, search(query) by vectors; in memory", "namespace"

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """A namespace."""
        from langgraph.store.memory import InMemoryStore

        del empty
        vectors = self.place.vectors
        index = {"dims": SIZE, "embed": lambda texts: [vectors(text) for text in texts], "fields": ["text"]}
        self._store, self._where = InMemoryStore(index=index), ("memories", memory)

    def store(self, items: list[Item]) -> None:
        """One put an item."""
        for item in items:
            self._store.put(self._where, item.item_id, {"text": item.line})

    def search(self, question: str) -> list[str]:
        """By vectors."""
        return [each.key for each in self._store.search(self._where, query=question, limit=DEPTH)]


class LlamaIndexFusion(System):
    """LlamaIndex: BM25 and vectors, fused by rank."""

    name, package = "LlamaIndex fusion", "llama-index-core"
    how, apart = "BM25 + vector retrievers, reciprocal rank fusion; in memory", "an index each"

    def store(self, items: list[Item]) -> None:
        """Build both indexes."""
        from llama_index.core import VectorStoreIndex
        from llama_index.core.base.embeddings.base import BaseEmbedding
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.schema import TextNode
        from llama_index.retrievers.bm25 import BM25Retriever

        vectors = self.place.vectors

        class Shared(BaseEmbedding):
            def _get_query_embedding(self, query: str) -> list[float]:
                return vectors(query)

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return vectors(query)

            def _get_text_embedding(self, text: str) -> list[float]:
                return vectors(text)

        nodes = [TextNode(id_=item.item_id, text=item.line) for item in items]
        depth = min(DEPTH, len(nodes))
        dense = VectorStoreIndex(nodes, embed_model=Shared()).as_retriever(similarity_top_k=depth)
        full_text = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=depth)
        self._retriever = QueryFusionRetriever(
            [full_text, dense],
            llm=MockLLM(),
            similarity_top_k=depth,
            num_queries=1,
            mode="reciprocal_rerank",
            use_async=False,
        )

    def search(self, question: str) -> list[str]:
        """By fused rank."""
        return [each.node.node_id for each in self._retriever.retrieve(question)]


class LightRAG(Waiting):
    """LightRAG in the mode that needs no model."""

    name, package = "LightRAG, naive", "lightrag-hku"
    how, apart = "ainsert_custom_kg(chunks); naive mode, which needs no model; files", "a folder each"

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """A folder of its own."""
        from lightrag import LightRAG as Client
        from lightrag.kg.shared_storage import initialize_pipeline_status
        from lightrag.utils import EmbeddingFunc, Tokenizer

        del memory, empty
        vectors = self.place.vectors

        async def embed(texts: list[str], **_: Any) -> np.ndarray:
            return np.array([vectors(text) for text in texts], dtype=np.float32)

        async def silent(*_: Any, **__: Any) -> str:
            return ""

        self._client = Client(
            working_dir=str(_fresh_folder(self.place, "lightrag")),
            llm_model_func=silent,
            tokenizer=Tokenizer("bytes", _Bytes()),
            embedding_func=EmbeddingFunc(embedding_dim=SIZE, max_token_size=8192, func=embed),
            vector_db_storage_cls_kwargs={"cosine_better_than_threshold": -1.0},
        )
        self.wait(self._client.initialize_storages())
        self.wait(initialize_pipeline_status())

    def store(self, items: list[Item]) -> None:
        """All chunks at once."""
        chunks = [
            {"content": item.line, "source_id": item.item_id, "file_path": item.item_id.replace("/", "|")}
            for item in items
        ]
        self.wait(self._client.ainsert_custom_kg({"chunks": chunks, "entities": [], "relationships": []}))

    def search(self, question: str) -> list[str]:
        """By vectors."""
        from lightrag import QueryParam

        parameters = QueryParam(
            mode="naive", chunk_top_k=DEPTH, top_k=DEPTH, enable_rerank=False, max_total_tokens=1_000_000
        )
        answer = self.wait(self._client.aquery_data(question, parameters))
        return [each["file_path"].replace("|", "/") for each in answer.get("data", {}).get("chunks", [])]

    def end(self) -> None:
        """Close its files."""
        self.wait(self._client.finalize_storages())
        super().end()


class _Bytes:
    """A tokenizer that needs no download; LightRAG counts with it."""

    def encode(self, content: str) -> list[int]:
        return list(content.encode())

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(tokens).decode(errors="ignore")


class Mem0(System):
    """mem0 without a model, with its default vector store on disk."""

    name, package = "mem0", "mem0ai"
    how, apart = "add(infer=False) an item, search(); Qdrant on disk", "user_id"

    def begin(self, memory: str, *, empty: bool = True) -> None:
        """A collection of its own."""
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory

        del empty
        vectors = self.place.vectors

        class Shared(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return [vectors(text) for text in texts]

            def embed_query(self, text: str) -> list[float]:
                return vectors(text)

        folder = _fresh_folder(self.place, "mem0")
        store = {"collection_name": "m", "path": str(folder), "embedding_model_dims": SIZE, "on_disk": True}
        self._user = memory
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": {"model": Shared(), "embedding_dims": SIZE}},
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", "config": {"model": "none", "api_key": "none"}},
                "history_db_path": f"{folder}.db",
            }
        )

    def store(self, items: list[Item]) -> None:
        """One add an item."""
        for item in items:
            message = [{"role": "user", "content": item.line}]
            self._memory.add(message, user_id=self._user, infer=False, metadata={"item_id": item.item_id})

    def search(self, question: str) -> list[str]:
        """By its own search."""
        hits = self._memory.search(question, filters={"user_id": self._user}, top_k=DEPTH, threshold=0.0)
        return [each["metadata"]["item_id"] for each in hits["results"]]

    def end(self) -> None:
        """Close the store."""
        self._memory.vector_store.client.close()


def words(text: str) -> list[str]:
    """The lower-case words of a question, for query languages that give signs a meaning."""
    return re.findall(r"[a-z0-9]+", text.lower())


def _fresh_folder(place: Place, name: str) -> Path:
    folder = place.folder / f"{name}-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    return folder
