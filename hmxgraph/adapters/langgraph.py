"""LangGraph's long-term memory: a ``BaseStore`` that stores every value as an event.

Each item is a session named ``langgraph-store/<namespace>//<key>``; a batch adds one event for each key that it puts.
Overwritten values remain readable: ``store.as_of(time)`` is the store as it was at that time.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from langgraph.store.base import (  # pyright: ignore[reportMissingImports]
    BaseStore,
    GetOp,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from hmxgraph.adapters._langgraph_items import (
    DELETE,
    PUT,
    TOUCH,
    Namespace,
    StoredItem,
    fits,
    matches,
    ranked,
    session_of,
)
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.canonical import node_key
from hmxgraph.protocol.lenient import storable
from hmxgraph.protocol.timestamps import microseconds


class HmxStore(BaseStore):
    """A LangGraph store in *graph*; pass it to LangGraph's ``StateGraph.compile(store=...)``.

    Search with ``query=`` needs no embeddings: it returns the items that share words with the query, best first, with a
    score in (0, 1]. Expired items are hidden as soon as they expire. Values must be JSON.
    """

    __slots__ = ("_as_of", "_graph", "ttl_config")
    supports_ttl = True

    def __init__(self, graph: KnowledgeGraph, *, ttl: TTLConfig | None = None, as_of: datetime | None = None) -> None:
        self._graph = graph
        self._as_of = as_of
        self.ttl_config = ttl

    def as_of(self, moment: str | datetime) -> "HmxStore":
        """A read-only view of the store as it was at *moment*.

        Raises:
            InvalidTime: *moment* has no offset, or is not a date-time.

        """
        text = moment if isinstance(moment, str) else moment.isoformat()
        microseconds(text)  # refuse a time without an offset
        return HmxStore(self._graph, ttl=self.ttl_config, as_of=datetime.fromisoformat(text).astimezone(UTC))

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """The results of *ops* in order; reads see the state before the batch, and the last put of a key wins.

        Raises:
            InvalidRequest: a value is not JSON or too large, a put was sent to a store from ``as_of``, which is
                read-only, a filter has an unknown comparison, or an operation is not one of LangGraph's.

        """
        operations = list(ops)
        puts = {(op.namespace, op.key): op for op in operations if isinstance(op, PutOp)}
        gets = [(op.namespace, op.key) for op in operations if isinstance(op, GetOp)]
        stored_items = self._stored_items([*gets, *puts])
        results = [self._result(op, stored_items) for op in operations]
        for address, op in puts.items():
            self._put(op, stored_items.get(address))
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """The same as ``batch``, run in a thread, so that it does not block the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _result(self, op: Any, stored_items: Mapping[tuple[Namespace, str], StoredItem]) -> Any:
        match op:
            case GetOp():
                stored = stored_items.get((op.namespace, op.key))
                self._refresh_ttl([stored] if stored else [], refresh=op.refresh_ttl)
                return stored.item() if stored else None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise InvalidRequest("operation", type(op).__name__, "an operation of a store", "get, search, put or list")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        candidates = [
            stored for stored in self._items_under(op.namespace_prefix) if matches(stored.value, op.filter or {})
        ]
        candidates.sort(key=attrgetter("updated"), reverse=True)
        hits = ranked(candidates, StoredItem.words, op.query) if op.query else [(stored, None) for stored in candidates]
        page = hits[op.offset : op.offset + op.limit]
        self._refresh_ttl([stored for stored, _ in page], refresh=op.refresh_ttl)
        return [stored.hit(score) for stored, score in page]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        namespaces = {stored.namespace for stored in self._items_under(())}
        fitting = [name for name in namespaces if all(fits(name, condition) for condition in conditions)]
        return sorted({name[: op.max_depth] for name in fitting})[op.offset : op.offset + op.limit]

    # Reading and writing events.

    def _stored_items(self, addresses: Sequence[tuple[Namespace, str]]) -> dict[tuple[Namespace, str], StoredItem]:
        keys = sorted({node_key(self._graph.tenant_id, session_of(*address)) for address in addresses})
        read = self._graph._read  # noqa: SLF001 - a read for adapters
        rows = read("events/latest", session_keys=keys, **self._read_parameters()) if keys else ()
        return {(stored.namespace, stored.key): stored for stored in self._live_items(rows)}

    def _items_under(self, prefix: Namespace) -> Iterator[StoredItem]:
        read = self._graph._read  # noqa: SLF001 - a read for adapters
        return self._live_items(read("events/latest_under", prefix=session_of(prefix), **self._read_parameters()))

    def _live_items(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[StoredItem]:
        """The items in *rows*, without those that are deleted or expired."""
        now = self._as_of or datetime.now(UTC)
        for stored in filter(None, map(StoredItem.of, rows)):
            if stored.expires is None or stored.expires > now:
                yield stored

    def _read_parameters(self) -> dict[str, Any]:
        as_of_us = None if self._as_of is None else microseconds(self._as_of.isoformat())
        return {"as_of_us": as_of_us, "passing": [TOUCH]}

    def _refresh_ttl(self, items: Iterable[StoredItem], *, refresh: bool) -> None:
        """Restart the time to live of *items* if *refresh* is set."""
        for stored in items:
            if refresh and stored.ttl is not None and self._as_of is None:
                self._append(TOUCH, stored.namespace, stored.key, {})

    def _put(self, op: PutOp, before: StoredItem | None) -> None:
        if self._as_of is not None:
            raise InvalidRequest("put", f"as of {self._as_of}", "the current store", "as_of() stores are read-only")
        if op.value is None:
            self._append(DELETE, op.namespace, op.key, {})
            return
        value = dict(op.value)
        created = None if before is None else before.created.isoformat()
        fields = {"created_at": created, "ttl_minutes": op.ttl, "index": op.index, "verbatim": _verbatim(value)}
        metadata = {name: part for name, part in fields.items() if part is not None}
        self._append(PUT, op.namespace, op.key, metadata, value=value)

    def _append(self, kind: str, namespace: Namespace, key: str, metadata: dict[str, Any], **value: Any) -> None:
        content = {"namespace": list(namespace), "key": key, **value}
        session = session_of(namespace, key)
        receipt = self._graph.append(kind, content, session_id=session, metadata=metadata, source="langgraph")
        if receipt.status != "stored":
            raise InvalidRequest("value", f"of {key!r}", "a value that an event can store", receipt.reason)


def _verbatim(value: Any) -> str | None:
    """*value* as JSON text if an event cannot store it exactly (a number beyond 2^53 becomes text), else None."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        raise InvalidRequest("value", f"({error})", "JSON", "convert it before you put it") from error
    return text if storable(value)[1] else None
