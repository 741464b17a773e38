"""LangGraph's short-term memory: a checkpointer that stores every step of a thread and can show a past state of it.

Checkpoints are stored with ``graph.states``, not as events: nothing is learned from them. Each version of a channel's
value is stored once, so a step stores only the values that it changed.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import uuid4

from langgraph.checkpoint.base import (  # pyright: ignore[reportMissingImports]
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    get_checkpoint_metadata,
    writes_sort_key,
)

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.states import State
from hmxgraph.protocol.timestamps import microseconds

# The kinds of `State` that a thread consists of. The five names that identify a state mean here:
#
# - shelf: the thread
# - kind: one of these three
# - place: the checkpoint namespace
# - item: the checkpoint id or, for a value, the version of its channel
# - part: "" for a checkpoint, the channel of a value, the task id and number of a write
_CHECKPOINT, _VALUE, _WRITE = "langgraph-checkpoint", "langgraph-value", "langgraph-write"
_KINDS = (_CHECKPOINT, _VALUE, _WRITE)
# Maximum number of checkpoints whose values and writes are read in one round trip each.
_BATCH_SIZE = 50


class _StoredCheckpoint(NamedTuple):
    """A checkpoint as it is stored: without the values of its channels, which are states of their own."""

    state: State
    checkpoint: Any
    metadata: Any
    parent: str | None

    @property
    def versions(self) -> dict[str, str]:
        """The version of each channel, as the text that is ``item`` of the value's state."""
        return {name: str(version) for name, version in self.checkpoint["channel_versions"].items()}


class HmxSaver(BaseCheckpointSaver[str]):
    """A LangGraph checkpointer backed by *graph*: pass it to LangGraph's ``StateGraph.compile(checkpointer=...)``.

    The async methods run the synchronous ones in worker threads.
    """

    def __init__(self, graph: KnowledgeGraph, *, serde: Any = None, as_of: str | None = None) -> None:
        super().__init__(serde=serde)
        self._graph = graph
        self._as_of = as_of

    def as_of(self, moment: str | datetime) -> "HmxSaver":
        """A read-only checkpointer that shows the threads as they were at *moment*, without what was deleted since.

        Raises:
            InvalidTime: *moment* has no offset, or is not a date-time.

        """
        text = moment if isinstance(moment, str) else moment.isoformat()
        microseconds(text)  # refuse a time without an offset
        return HmxSaver(self._graph, serde=self.serde, as_of=text)

    def get_next_version(self, current: str | int | None, channel: None = None) -> str:
        """A version that sorts after *current*; a random suffix keeps the versions of two branches apart."""
        del channel
        number = int(str(current).partition(".")[0]) if current is not None else 0
        return f"{number + 1:032}.{uuid4().hex}"

    # Reading.

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """The checkpoint that *config* names, or the latest of its thread; None if there is none."""
        thread, namespace, checkpoint_id = _identifiers(config)
        items = [checkpoint_id] if checkpoint_id else None
        states = self._thread_states(thread, _CHECKPOINT, place=namespace, items=items, limit=1)
        return next(self._tuples(map(self._stored, states)), None)

    def list(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of a thread, or of all threads, whose metadata match *filter*, latest first.

        At most *limit* are returned, and only those before the one that *before* names.
        """
        fields = config["configurable"] if config else {}
        thread, checkpoint_id = fields.get("thread_id"), fields.get("checkpoint_id")
        items = [checkpoint_id] if checkpoint_id else None
        if thread is None:
            states = self._graph.states.of_kind(_CHECKPOINT, as_of=self._as_of)
        else:
            states = self._thread_states(str(thread), _CHECKPOINT, place=fields.get("checkpoint_ns"), items=items)
        before_id = before["configurable"].get("checkpoint_id") if before else None
        stored = (self._stored(state) for state in states if before_id is None or state.item < before_id)
        matching = [checkpoint for checkpoint in stored if (filter or {}).items() <= checkpoint.metadata.items()]
        yield from self._tuples(matching if limit is None else matching[: max(limit, 0)])

    def _thread_states(self, thread: str, kind: str, **conditions: Any) -> tuple[State, ...]:
        """The states of one kind in a thread, in descending order of ``item``."""
        return self._graph.states.on_shelf(thread, kind, as_of=self._as_of, **conditions)

    def _stored(self, state: State) -> "_StoredCheckpoint":
        return _StoredCheckpoint(state, *self._value(state))

    def _value(self, state: State) -> Any:
        return self.serde.loads_typed((state.format, state.body))

    def _tuples(self, stored: Iterable[_StoredCheckpoint]) -> Iterator[CheckpointTuple]:
        """The checkpoints in LangGraph's form, with the values of their channels and their pending writes."""
        for thread, of_thread in groupby(stored, key=lambda checkpoint: checkpoint.state.shelf):
            group = [*of_thread]
            for start in range(0, len(group), _BATCH_SIZE):
                yield from self._with_values(thread, group[start : start + _BATCH_SIZE])

    def _with_values(self, thread: str, group: Sequence[_StoredCheckpoint]) -> Iterator[CheckpointTuple]:
        versions = sorted({version for stored in group for version in stored.versions.values()})
        value_states = self._thread_states(thread, _VALUE, items=versions)
        values = {(state.place, state.part, state.item): state for state in value_states}
        writes: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
        for state in self._thread_states(thread, _WRITE, items=[stored.state.item for stored in group]):
            writes[state.place, state.item].append(self._value(state))
        for state, checkpoint, metadata, parent in group:
            channel_values = {
                name: self._value(values[state.place, name, str(version)])
                for name, version in checkpoint["channel_versions"].items()
                if (state.place, name, str(version)) in values
            }
            pending = sorted(writes[state.place, state.item], key=_write_order)
            complete: Any = {**checkpoint, "channel_values": channel_values}
            yield CheckpointTuple(
                config=_config(thread, state.place, state.item),
                checkpoint=complete,
                metadata=metadata,
                parent_config=_config(thread, state.place, parent) if parent else None,
                pending_writes=[(task_id, channel, value) for task_id, channel, value, _, _ in pending],
            )

    # Writing.

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Store a checkpoint and the values of the channels in *new_versions*; returns its configuration."""
        thread, namespace, parent = _identifiers(config)
        without_values = {name: part for name, part in checkpoint.items() if name != "channel_values"}
        stored_metadata = get_checkpoint_metadata(config, metadata)
        run_id = stored_metadata.get("run_id")
        values = checkpoint["channel_values"]
        changed = [
            self._state(thread, _VALUE, namespace, str(version), name, values[name])
            for name, version in new_versions.items()
            if name in values
        ]
        state = self._state(
            thread, _CHECKPOINT, namespace, checkpoint["id"], "", (without_values, stored_metadata, parent)
        )
        self._store(changed, replace=False)  # before the checkpoint, which must never lack a value
        self._store([replace(state, mark=str(run_id) if run_id else None)], replace=True)
        return _config(thread, namespace, checkpoint["id"])

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Store a task's writes to a checkpoint.

        Writes that are stored already stay unchanged, except special ones (errors, interrupts), which are replaced.
        """
        thread, namespace, item = _identifiers(config)
        assert item is not None, "LangGraph names the checkpoint that a task writes on"
        numbered = [(WRITES_IDX_MAP.get(name, idx), name, value) for idx, (name, value) in enumerate(writes)]
        states = {
            idx: self._state(
                thread, _WRITE, namespace, item, f"{task_id}/{idx}", (task_id, name, value, task_path, idx)
            )
            for idx, name, value in numbered
        }
        self._store([state for idx, state in states.items() if idx >= 0], replace=False)
        self._store([state for idx, state in states.items() if idx < 0], replace=True)

    def _state(self, thread: str, kind: str, namespace: str, item: str, part: str, value: Any) -> State:
        return State(thread, kind, namespace, item, part, *self.serde.dumps_typed(value))

    def _store(self, states: Sequence[State], *, replace: bool) -> None:
        self._check_writable("put")
        if states:
            self._graph.states.keep(states, replace=replace)

    def _check_writable(self, name: str) -> None:
        if self._as_of is not None:
            raise InvalidRequest(name, f"as of {self._as_of}", "the current threads", "as_of() savers are read-only")

    # Deleting and copying.

    def delete_thread(self, thread_id: str) -> None:
        """Delete everything in a thread."""
        self._check_writable("delete_thread")
        self._graph.states.drop(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of the given runs, their writes, and the values that no other checkpoint uses."""
        self._check_writable("delete_for_runs")
        marked = self._graph.states.of_kind(_CHECKPOINT, marks=list(map(str, run_ids)))
        for thread, states in groupby(sorted(marked, key=attrgetter("shelf")), key=attrgetter("shelf")):
            self._drop_checkpoints(thread, set(states))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints, values and writes of one thread into another."""
        source, target = str(source_thread_id), str(target_thread_id)
        states = [state for kind in _KINDS for state in self._thread_states(source, kind)]
        self._store([replace(state, shelf=target) for state in states], replace=True)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all but the latest checkpoint of each namespace of the threads.

        Older checkpoints that are needed to rebuild a ``DeltaChannel`` of the latest one are kept as well. With a
        *strategy* other than ``keep_latest``, the whole threads are deleted.
        """
        self._check_writable("prune")
        for thread in map(str, thread_ids):
            if strategy != "keep_latest":
                self.delete_thread(thread)
                continue
            states = self._thread_states(thread, _CHECKPOINT)
            needed: set[State] = set()
            for namespace in {state.place for state in states}:
                needed |= self._needed([state for state in states if state.place == namespace])
            self._drop_checkpoints(thread, set(states) - needed)

    def _needed(self, states: Sequence[State]) -> set[State]:
        """The first of *states* (checkpoints of one namespace, latest first), and the ancestors needed to rebuild it.

        A delta channel stores only its changes since its latest snapshot, so the ancestors back to that are needed.
        """
        by_id = {state.item: state for state in states}
        needed, state = set(), states[0]
        channels = set(self._stored(state).metadata.get("counters_since_delta_snapshot") or ())
        while True:
            needed.add(state)
            (complete,) = self._tuples([self._stored(state)])
            channels -= complete.checkpoint["channel_values"].keys()
            parent = by_id.get(self._stored(state).parent or "")
            if not channels or parent is None:
                return needed
            state = parent

    def _drop_checkpoints(self, thread: str, dropped: set[State]) -> None:
        """Delete some checkpoints of a thread, their writes, and the values that no remaining checkpoint uses."""
        dropped_ids = {(state.place, state.item) for state in dropped}
        remaining = [self._stored(state) for state in self._thread_states(thread, _CHECKPOINT) if state not in dropped]
        used_values = {
            (stored.state.place, name, version) for stored in remaining for name, version in stored.versions.items()
        }
        writes = [state for state in self._thread_states(thread, _WRITE) if (state.place, state.item) in dropped_ids]
        values = [
            state
            for state in self._thread_states(thread, _VALUE)
            if (state.place, state.part, state.item) not in used_values
        ]
        self._graph.states.drop(thread, [*dropped, *writes, *values])

    # The asynchronous methods.

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Asynchronous version of ``get_tuple``."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """Asynchronous version of ``list``."""
        for checkpoint in await asyncio.to_thread(lambda: [*self.list(config, **options)]):
            yield checkpoint

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Asynchronous version of ``put``."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Asynchronous version of ``put_writes``."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Asynchronous version of ``delete_thread``."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Asynchronous version of ``delete_for_runs``."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Asynchronous version of ``copy_thread``."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Asynchronous version of ``prune``."""
        await asyncio.to_thread(lambda: self.prune(thread_ids, strategy=strategy))


def _identifiers(config: Any) -> tuple[str, str, str | None]:
    """The thread id, checkpoint namespace and checkpoint id in a configuration."""
    fields = config["configurable"]
    return str(fields["thread_id"]), fields.get("checkpoint_ns") or "", fields.get("checkpoint_id")


def _config(thread: str, namespace: str, checkpoint_id: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}


def _write_order(write: tuple[str, str, Any, str, int]) -> Any:
    task_id, _, _, task_path, index = write
    return writes_sort_key(task_path, task_id, index)
