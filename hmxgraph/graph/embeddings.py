"""Vectors of events from the caller's embedder: computed after a write, and compared in packs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutine
from typing import Any, TypeAlias

from hmxgraph.errors import EmbedderError, InvalidVectors
from hmxgraph.extraction.extract import EVENT_TYPE
from hmxgraph.graph.plan import Embed, Plan, Procedure, Row, Tenancy, Work, ask, bind, read, shown_mask_key, write
from hmxgraph.graph.schema import register_names
from hmxgraph.text.masking import linked_secrets
from hmxgraph.text.vectors import BACKGROUND, Background, checked_vectors

# The embedder: a list of texts in, a vector for each out.

Embedder: TypeAlias = Callable[[list[str]], Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]]]
# Maximum number of texts per call of the embedder.
_TEXTS_PER_CALL = 128


class Embedding:
    """Answers the requests of procedures for vectors; requests marked ``kept`` reach the embedder only once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[str, ...], list[list[float]]] = {}

    def vectors(self, request: Embed) -> list[list[float]]:
        """The vectors of the texts in *request*.

        Raises:
            EmbedderError: the embedder failed, or did not return valid vectors.

        """
        if request.texts in self._kept:
            return self._kept[request.texts]
        answer = self._call(request.texts)
        if isawaitable(answer):
            if iscoroutine(answer):
                answer.close()
            raise InvalidVectors("an awaitable", "vectors; an asynchronous embedder is for connect_async")
        return self._checked(request, answer)

    async def vectors_async(self, request: Embed) -> list[list[float]]:
        """The awaitable twin of :meth:`vectors`: calls the embedder in a thread, and awaits its answer if needed."""
        if request.texts in self._kept:
            return self._kept[request.texts]
        answer = await asyncio.to_thread(self._call, request.texts)
        if isawaitable(answer):
            try:
                answer = await answer
            except Exception as error:
                raise _failed(error) from error
        return self._checked(request, answer)

    def _call(self, texts: tuple[str, ...]) -> Any:
        try:
            return self._embedder(list(texts))
        except Exception as error:
            raise _failed(error) from error

    def _checked(self, request: Embed, answer: Any) -> list[list[float]]:
        vectors = checked_vectors(answer, len(request.texts))
        if request.kept:
            self._kept[request.texts] = vectors
        return vectors


def _failed(error: Exception) -> EmbedderError:
    return EmbedderError(f"{type(error).__name__}: {error}"[:300])


def prepare() -> Procedure[None]:
    """Ensure that the vector index exists and is online."""
    yield Work("schema", partial(ask, bind("embeddings/index")))
    yield Work("schema", register_names)


# Vectors for the events of sessions that changed since the last pass: other sessions are not read again.

# Maximum number of events per page.
_EVENTS_PER_PAGE = 512
# Maximum number of characters of an event or a question that the embedder gets.
_LONGEST_TEXT = 4_000
# Maximum number of vectors removed per transaction.
_DROPPED_AT_ONCE = 5_000


def embed_new(tenancy: Tenancy, *, replace: bool = False) -> Procedure[int]:
    """Store a vector for each event that needs one, and return their number; with *replace*, first remove all vectors.

    Raises:
        EmbedderError: the embedder failed, or its vectors do not fit those that the tenant has.

    """
    while replace and (yield from write(partial(_drop, tenancy))) == _DROPPED_AT_ONCE:
        pass
    embedded, after, version = 0, "", None
    while True:
        rows = yield from read(partial(_pending, tenancy, after))
        if not rows:
            return embedded
        [page] = rows
        version = page["state_version"] if version is None else version
        after = page["last_session"]
        embedded += yield from _embed(tenancy, page["events"])
        if page["complete"]:
            break
    yield from write(partial(_settle, tenancy, version))
    return embedded


def _embed(tenancy: Tenancy, events: Sequence[Sequence[str]]) -> Procedure[int]:
    stored = 0
    for start in range(0, len(events), _TEXTS_PER_CALL):
        part = events[start : start + _TEXTS_PER_CALL]
        vectors = yield Embed(tuple(_text(tenancy, speaker, text) for _, speaker, text in part))
        pairs = [[key, vector] for (key, *_), vector in zip(part, vectors, strict=True)]
        stored += yield from write(partial(_store, tenancy, pairs))
    return stored


def _text(tenancy: Tenancy, speaker: str, text: str) -> str:
    """A text for the embedder, which may be an external service: secrets are masked as in packs."""
    line = f"{speaker}: {text}" if speaker else text
    key = shown_mask_key(tenancy)
    return linked_secrets(line, key) if key else line


def _pending(tenancy: Tenancy, after: str) -> Plan[list[Row]]:
    return ask(
        bind(
            "embeddings/pending",
            tenant_id=tenancy.tenant_id,
            tenant_key=tenancy.key,
            after=after,
            limit=_EVENTS_PER_PAGE,
            longest=_LONGEST_TEXT,
            stated=EVENT_TYPE,
        )
    )


def _store(tenancy: Tenancy, pairs: Sequence[Sequence[Any]]) -> Plan[int]:
    size = len(pairs[0][1])
    [row] = yield bind(
        "embeddings/store",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        dimension=size,
        batch={"vectors": pairs},
    )
    if row["dimension"] != size:
        raise InvalidVectors(
            f"vectors of {size} numbers",
            f"{row['dimension']}, as this tenant has; after a change of model call graph.embed(replace=True)",
        )
    stored: int = row["stored"]
    return stored


def _settle(tenancy: Tenancy, version: int) -> Plan[list[Row]]:
    """Record that all events up to *version* of the tenant's state have vectors."""
    return ask(bind("embeddings/settle", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, version=version))


def _drop(tenancy: Tenancy) -> Plan[int]:
    rows = yield bind("embeddings/drop", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, limit=_DROPPED_AT_ONCE)
    return rows[0]["removed"] if rows else 0


# The vector of a question.


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """The vector of a question, and its similarity to unrelated sentences."""

    vector: list[float]
    background: Background

    def meanings(self, row: Row) -> Mapping[str, float]:
        """How close each event in a row of ``embeddings/nearest`` is to the question, without those close by chance."""
        meanings = ((event_id, self.background.closeness(similarity)) for event_id, similarity in row["similarities"])
        return {event_id: meaning for event_id, meaning in meanings if meaning}


def question_vector(tenancy: Tenancy, question: str) -> Procedure[QuestionVector | None]:
    """The vector of *question*; None if it is blank.

    Raises:
        EmbedderError: the embedder failed, or did not return valid vectors.

    """
    if not question.strip():
        return None
    sentences = yield Embed(BACKGROUND, kept=True)
    [vector] = yield Embed((_text(tenancy, "", question[:_LONGEST_TEXT]),))
    if len(sentences[0]) != len(vector):
        raise InvalidVectors(f"vectors of {len(sentences[0])} and {len(vector)} numbers", "vectors of one size")
    return QuestionVector(vector, Background.of(vector, sentences))
