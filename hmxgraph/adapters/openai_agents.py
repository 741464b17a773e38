"""The OpenAI Agents SDK: a ``Session`` whose items are recorded and learned from, and context packs as instructions.

``graph.record`` converts items to events, from which memory is learned. Additional events hold the items verbatim, so
that the session returns them unchanged. They hold them in metadata, so that packs do not find the same text twice; an
item too large for metadata is in the content. Popping an item or clearing the session is an event, too: nothing is lost
unless *erase* is set.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from agents import Agent, RunContextWrapper  # pyright: ignore[reportMissingImports]
from agents.memory import SessionSettings  # pyright: ignore[reportMissingImports]

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import EngineError, GraphError, InvalidRequest
from hmxgraph.protocol.canonical import node_key

Item = dict[str, Any]
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]
_ADD, _POP, _CLEAR = "x-openai-items", "x-openai-pop", "x-openai-clear"
# Maximum characters of items in the metadata of one event, safely below its limit of 64 KB.
_MOST_IN_METADATA = 15_000
_log = logging.getLogger(__name__)


class HmxSession:
    """A session of the Agents SDK in *graph*, for ``Runner.run(agent, text, session=...)``.

    With *erase*, ``clear_session`` erases the events of the session, and deprecates what was learned only from them;
    without it, the events remain, and only the history that the agent sees is cleared.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        session_id: str,
        *,
        agent_id: str | None = None,
        user_id: str | None = None,
        session_settings: SessionSettings | None = None,
        erase: bool = False,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._graph = graph
        self._author: dict[str, Any] = {"agent_id": agent_id, "user_id": user_id}
        self._erase = erase
        # The idempotency key of each failed addition, by the texts of its items: if the addition is repeated, it reuses
        # the key and is stored once.
        self._failed: dict[tuple[str, ...], str] = {}

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """The items in order, or the latest *limit* of them (default: the limit of ``session_settings``)."""
        most = limit if limit is not None or self.session_settings is None else self.session_settings.limit
        items = await asyncio.to_thread(self._items)
        return items if most is None else items[max(0, len(items) - most) :]

    async def add_items(self, items: list[Any]) -> None:
        """Append *items*; if the database fails and the call is repeated on this object, they are stored once.

        Raises:
            InvalidRequest: an item is not JSON, or exceeds the 512 KB of an event (as JSON text inside JSON); the items
                before one that is too large may have been stored.

        """
        if items:
            await asyncio.to_thread(self._add, [dict(item) for item in items])

    async def pop_item(self) -> Item | None:
        """Remove the latest item from the history and return it; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Start a new history; with *erase*, erase the session's events."""
        await asyncio.to_thread(self._clear)

    def _items(self) -> list[Item]:
        key = node_key(self._graph.tenant_id, self.session_id)
        rows = self._graph._read("events/of_session", session_key=key, event_types=[_ADD, _POP, _CLEAR])  # noqa: SLF001 - a read for adapters
        items: list[Item] = []
        for row in rows:
            if row["event_type"] == _ADD:
                items += kept_items(row)
            elif row["event_type"] == _POP:
                del items[-1:]
            else:
                items.clear()
        return items

    def _add(self, items: Sequence[Item]) -> None:
        item_texts = tuple(map(_text_of, items))
        key = self._failed.pop(item_texts, None) or str(uuid4())
        try:
            self._add_with_key(key, items, item_texts)
        except (GraphError, EngineError):
            self._failed[item_texts] = key
            raise

    def _add_with_key(self, key: str, items: Sequence[Item], item_texts: Sequence[str]) -> None:
        for number, texts in enumerate(_portions(item_texts)):
            large = len(texts[0]) > _MOST_IN_METADATA
            fields = {"items": texts}
            self._append(_ADD, fields if large else {}, {} if large else fields, key=f"{key}/{number}")
        options = {"session_id": self.session_id, "format": "openai-responses", "idempotency_key": key}
        report = self._graph.record(items, **options, **self._author)
        for receipt in report.receipts:
            if receipt.status == "rejected":
                _log.warning("an item is kept in the session but not learned from: %s", receipt.reason)

    def _pop(self) -> Item | None:
        items = self._items()
        if not items:
            return None
        self._append(_POP, {}, {})
        return items[-1]

    def _clear(self) -> None:
        if self._erase:
            self._graph.forget(session_id=self.session_id)
        else:
            self._append(_CLEAR, {}, {})

    def _append(self, kind: str, content: Item, metadata: Item, key: str | None = None) -> None:
        receipt = self._graph.append(
            kind, content, session_id=self.session_id, metadata=metadata, idempotency_key=key, **self._author
        )
        if receipt.status not in {"stored", "duplicate"}:
            raise InvalidRequest("items", f"of {self.session_id!r}", "items that an event can store", receipt.reason)


def pack_instructions(graph: KnowledgeGraph, instructions: str = "", **options: Any) -> Instructions:
    """A function for ``Agent(instructions=...)``: *instructions* and the pack for the latest user message.

    Without such a message, the pack is for *instructions* or the agent's name. *options* are those of ``graph.pack``.
    The pack stands between markers, so that ``graph.record`` removes it from recorded prompts: recalled text is not
    learned again.
    """

    async def instructed(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        query = latest_prompt(context.turn_input) or instructions or agent.name
        pack = await asyncio.to_thread(graph.pack, query, **options)
        return "\n\n".join(filter(None, (instructions, pack.prompt)))

    return instructed


def latest_prompt(items: Iterable[Any]) -> str:
    """The text of the latest user message in *items* that has any; empty if there is none.

    >>> latest_prompt([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
    'hi'
    >>> latest_prompt([{"role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image"}]}])
    'look'
    """
    user_text = ""
    for item in items:
        if isinstance(item, Mapping) and item.get("role") == "user":
            content = item.get("content")
            parts = [content] if isinstance(content, str) else [part.get("text") or "" for part in content or ()]
            user_text = " ".join(filter(None, parts)) or user_text
    return user_text


def kept_items(row: Mapping[str, Any]) -> list[Item]:
    """The items in one event of the type ``x-openai-items``; none if it was erased."""
    fields = [json.loads(row[name]) for name in ("metadata", "content") if row[name] is not None]
    return [json.loads(text) for field in fields for text in field.get("items", ())]


def _text_of(item: Item) -> str:
    try:
        return json.dumps(item)
    except (TypeError, ValueError) as error:
        raise InvalidRequest("item", f"with {error}", "JSON", "pass items as the SDK makes them") from error


def _portions(texts: Iterable[str]) -> Iterator[list[str]]:
    """*texts* in order, in lists that each fit into the metadata of one event; a text too large for that is alone.

    >>> [len(texts) for texts in _portions(["a", "b", "c" * 20_000, "d"])]
    [2, 1, 1]
    """
    portion: list[str] = []
    for text in texts:
        if portion and sum(map(len, portion)) + len(text) > _MOST_IN_METADATA:
            yield portion
            portion = []
        portion.append(text)
    if portion:
        yield portion
