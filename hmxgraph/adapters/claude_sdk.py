"""Sessions of the Claude Agent SDK: transcripts that any machine can resume, and that the memory learns from.

Entries are stored unchanged (``graph.states``), so that a session loads as it was appended. They are also ingested like
transcripts on disk, so that packs and playbooks can draw on them.
"""

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from time import time_ns
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from claude_agent_sdk import fold_session_summary  # pyright: ignore[reportMissingImports]

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.protocol.states import State

# The kinds of states. States are grouped on shelves, each of which can be deleted as a whole. The shelf of a session
# holds its entries and a list of its sub-agents; the shelf of a project holds the summaries of its sessions.
_ENTRY, _SUBPATH, _SUMMARY = "claude-entry", "claude-subpath", "claude-summary"


class HmxSessionStore:
    """A ``SessionStore`` in *graph*, for ``ClaudeAgentOptions(session_store=...)``.

    With ``learn=False``, transcripts are stored but not ingested. If several processes append to a session at once, its
    summary may lack a batch, but its entries are always complete.
    """

    def __init__(self, graph: KnowledgeGraph, *, learn: bool = True) -> None:
        self._graph = graph
        self._learn = learn
        self._appending = threading.Lock()  # one batch at a time: keeps entries in order, and summaries complete

    async def append(self, key: Any, entries: Sequence[Any]) -> None:
        """Store entries in order; one whose ``uuid`` is already stored is skipped."""
        if entries:
            await asyncio.to_thread(self._append, key, entries)

    async def load(self, key: Any) -> list[Any] | None:
        """The entries in the order in which they were appended; None if there are none."""
        states = await asyncio.to_thread(
            self._graph.states.on_shelf, _session_shelf(key), _ENTRY, place=key.get("subpath") or ""
        )
        rows = sorted(map(_value_of, states), key=lambda row: row["at"])
        return [row["entry"] for row in rows] or None

    async def list_sessions(self, project_key: str) -> list[Any]:
        """The sessions of a project with the time of their last append, in milliseconds since 1970."""
        return [
            {name: summary[name] for name in ("session_id", "mtime")} for summary in await self._summaries(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """The summaries of the sessions of a project, as made by the SDK."""
        return await self._summaries(project_key)

    async def list_subkeys(self, key: Any) -> list[str]:
        """The subpaths of a session, each of which is the transcript of a sub-agent."""
        states = await asyncio.to_thread(self._graph.states.on_shelf, _session_shelf(key), _SUBPATH)
        return sorted(state.place for state in states)

    async def delete(self, key: Any) -> None:
        """Delete a session with its sub-agents, or only the sub-agent in *key*.

        With *learn*, their events are erased, and what was learned only from these events is deprecated.
        """
        await asyncio.to_thread(self._delete, key)

    async def _summaries(self, project_key: str) -> list[Any]:
        states = await asyncio.to_thread(self._graph.states.on_shelf, _project_shelf(project_key), _SUMMARY)
        return [_value_of(state) for state in states]

    def _append(self, key: Any, entries: Sequence[Any]) -> None:
        with self._appending:
            if self._learn:  # first: if this batch is appended again after a failure, it only yields duplicates
                self._graph.ingest(entries, format="claude-code", session_id=key["session_id"])
            self._graph.states.keep(_entry_states(key, entries))
            if not key.get("subpath"):
                self._update_summary(key, entries)

    def _update_summary(self, key: Any, entries: Sequence[Any]) -> None:
        """Update the summary of a session with new entries."""
        project, session = _project_shelf(key["project_key"]), key["session_id"]
        before = [_value_of(state) for state in self._graph.states.on_shelf(project, _SUMMARY, items=[session])]
        summary = fold_session_summary(before[0] if before else None, key, list(entries))
        summary["mtime"] = time_ns() // 1_000_000
        self._graph.states.keep([_state(project, _SUMMARY, "", session, summary)], replace=True)

    def _delete(self, key: Any) -> None:
        shelf, subpath = _session_shelf(key), key.get("subpath")
        entries = self._graph.states.on_shelf(shelf, _ENTRY, place=subpath or None)
        agents = sorted({_value_of(state)["entry"].get("agentId") for state in entries if state.place} - {None})
        if self._learn:
            for agent in agents:
                self._graph.forget(session_id=f"{key['session_id']}/{agent}")
        if subpath:
            self._graph.states.drop(shelf, [*entries, *self._graph.states.on_shelf(shelf, _SUBPATH, place=subpath)])
            return
        self._graph.states.drop(shelf)
        project = _project_shelf(key["project_key"])
        self._graph.states.drop(project, self._graph.states.on_shelf(project, _SUMMARY, items=[key["session_id"]]))
        if self._learn:
            self._graph.forget(session_id=key["session_id"])


def _entry_states(key: Any, entries: Sequence[Any]) -> Iterator[State]:
    """A state for each entry, with its position; for a sub-agent's entries, also a state that lists its subpath."""
    shelf, place, now = _session_shelf(key), key.get("subpath") or "", time_ns()
    for number, entry in enumerate(entries):
        name = str(entry.get("uuid") or uuid4())
        yield _state(shelf, _ENTRY, place, name, {"at": [now, number], "entry": entry})
    if place:
        yield _state(shelf, _SUBPATH, place, "", {})


def _state(shelf: str, kind: str, place: str, item: str, value: Any) -> State:
    return State(shelf, kind, place, item, "", "json", json.dumps(value).encode())


def _value_of(state: State) -> Any:
    return json.loads(state.body)


def _project_shelf(project_key: str) -> str:
    """The shelf of a project.

    >>> _project_shelf("-home-ana-shop"), _session_shelf({"project_key": "a/b", "session_id": "s"})
    ('claude-project/-home-ana-shop', 'claude-session/a%2Fb/s')
    """
    return f"claude-project/{quote(project_key, safe='')}"


def _session_shelf(key: Any) -> str:
    return f"claude-session/{quote(key['project_key'], safe='')}/{quote(key['session_id'], safe='')}"
