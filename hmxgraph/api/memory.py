"""``graph.memory``: semantic memories by hand, and the upkeep of everything that is remembered."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from hmxgraph.api._base import Face, Moment, as_us, doing, drafted, now_us
from hmxgraph.graph import maintenance, memory_operations
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.memory_operations import MemoryQuery, Remembered
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.record_search import Shape
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.memories import DreamReport, Memories, MemoryResult, MemoryView, Report
from hmxgraph.protocol.parsing import checked_texts


class MemorySearch(TypedDict, total=False):
    """What a search for memories may say besides its words."""

    kind: str | None
    project_id: str | None
    mode: str
    limit: int
    include_hidden: bool


class About(TypedDict, total=False):
    """What may be said of a memory besides its words."""

    project_id: str | None
    tags: Sequence[str]
    hard: bool


class MemoryOperations(Face):
    """Memories searched, added, judged, retired; counts, health, maintenance, and what these cost on this graph."""

    def __init__(self, tenancy: Tenancy, connection: Connection, meter: Meter | None = None) -> None:
        self._tenancy = tenancy
        self._connection = connection
        self._meter = meter or Meter()

    def search(
        self,
        query: str,
        *,
        as_of: Moment | None = None,
        compact: bool = False,
        token_budget: int | None = None,
        expand_event_siblings: bool = False,
        **wanted: Unpack[MemorySearch],
    ) -> MemoryResult:
        """Memories that hold, best match first, by ``kind``, ``project_id``, ``mode``, ``limit``, ``include_hidden``.

        Expired, superseded and deleted ones come only with ``include_hidden``, with their ``hidden_reason``. A mode
        adds the digest that answers it.

        Raises:
            UnknownChoice: no such kind or mode.

        """
        asked = MemoryQuery(
            query, as_of_us=as_us(as_of), shape=Shape(compact, token_budget, expand_event_siblings), **wanted
        )
        found = memory_operations.search(self._tenancy, asked)
        return self._perform(self._meter.measured("search", {"query": query, **wanted}, found))

    def add(
        self,
        text: str,
        *,
        kind: str = "fact",
        agent_id: str | None = None,
        at: Moment | None = None,
        **about: Unpack[About],
    ) -> MemoryView:
        """The memory that *text* becomes: a fact, preference, policy or goal, with ``project_id``, ``tags``, ``hard``.

        Raises:
            UnknownChoice: no such kind.
            InvalidRequest: no text, or tags that are no list.

        """
        made = memory_operations.add(self._tenancy, remembered(kind, text, about), doing(agent_id, at))
        return self._perform(self._meter.measured("add", {"kind": kind, "text": text}, made))

    def get(self, memory_id: str) -> MemoryView:
        """The memory with this id, hidden or not, with its trust, evidence and what took its place.

        Raises:
            NotFound: there is none.

        """
        found = memory_operations.memory(self._tenancy, memory_id)
        return self._perform(self._meter.measured("get", {"memory_id": memory_id}, found))

    def delete(self, memory_id: str, *, reason: str = "", at: Moment | None = None) -> MemoryView:
        """The memory, deleted: hidden, kept for what rests on it; said by hand again, it comes as another memory.

        Raises:
            NotFound: there is none.

        """
        done = memory_operations.delete(self._tenancy, memory_id, reason, now_us(at))
        return self._perform(self._meter.measured("delete", {"memory_id": memory_id}, done))

    def supersede(
        self,
        memory_id: str,
        text: str,
        *,
        kind: str = "fact",
        agent_id: str | None = None,
        at: Moment | None = None,
        **about: Unpack[About],
    ) -> MemoryView:
        """The memory that *text* becomes, in the place of *memory_id*, which is hidden from now on.

        Raises:
            NotFound: there is no such memory.
            AlreadySuperseded: another one took its place.
            SupersessionCycle: the words are those of the memory itself, or of one that came after it.
            InvalidRequest: no text, or the words of a memory that took the place of another one.

        """
        what = remembered(kind, text, about)
        done = memory_operations.supersede(self._tenancy, memory_id, what, doing(agent_id, at))
        return self._perform(self._meter.measured("supersede", {"memory_id": memory_id, "text": text}, done))

    def feedback(
        self,
        memory_id: str,
        signal: str,
        *,
        comment: str = "",
        agent_id: str | None = None,
        at: Moment | None = None,
    ) -> MemoryView:
        """The memory with one more word about it: ``positive``, ``negative`` or ``correction``; it moves its rank.

        Raises:
            UnknownChoice: no such signal.
            NotFound: there is no such memory.

        """
        done = memory_operations.feedback(self._tenancy, memory_id, signal, comment, doing(agent_id, at))
        return self._perform(self._meter.measured("feedback", {"memory_id": memory_id, "signal": signal}, done))

    def record_outcome(
        self,
        memory_ids: Sequence[str],
        outcome: str,
        *,
        summary: str = "",
        agent_id: str | None = None,
        at: Moment | None = None,
    ) -> Memories:
        """The memories that were used, with what came of it: ``success``, ``failure`` or ``mixed``.

        Raises:
            UnknownChoice: no such outcome.
            NotFound: one of the memories does not exist.

        """
        names = checked_texts("memory_ids", memory_ids)
        done = memory_operations.record_outcome(self._tenancy, names, outcome, summary, doing(agent_id, at))
        request = {"memory_ids": names, "outcome": outcome}
        return self._perform(self._meter.measured("record_outcome", request, done))

    def stats(self, *, project_id: str | None = None) -> Report:
        """How many memories hold and how many do not, by kind; how many task records are shown and hidden."""
        return self._perform(self._meter.measured("stats", {}, maintenance.stats(self._tenancy, project_id)))

    def health(
        self, *, project_id: str | None = None, include_examples: bool = False, duplicate_limit: int = 10
    ) -> Report:
        """Exact duplicates, index coverage, sizes, latencies, scope; *duplicate_limit* bounds only the examples."""
        found = maintenance.health(
            self._tenancy,
            project_id,
            include_examples=include_examples,
            duplicate_limit=duplicate_limit,
            meter=self._meter,
        )
        return self._perform(self._meter.measured("health", {}, found))

    def metrics(self) -> Report:
        """What the operations on this graph cost: milliseconds, bytes, estimated tokens (bytes / 4), refusals."""
        return self._perform(maintenance.metrics(self._tenancy, self._meter))

    def compact(
        self,
        *,
        project_id: str | None = None,
        digest_modes: Sequence[str] | None = None,
        force_digest_rebuild: bool = False,
    ) -> Report:
        """The digests of a project, or of everything, made fresh: those of *digest_modes*, else all five libraries.

        Raises:
            UnknownChoice: no such mode.

        """
        modes = None if digest_modes is None else checked_texts("digest_modes", digest_modes)
        done = maintenance.compact(self._tenancy, project_id, modes, force=force_digest_rebuild)
        return self._perform(self._meter.measured("compact", {"project_id": project_id}, done))

    def dream(
        self,
        *,
        project_id: str | None = None,
        dry_run: bool = True,
        agent_id: str = "hmxgraph",
        at: Moment | None = None,
    ) -> DreamReport:
        """What maintenance would do, or with ``dry_run=False`` did; a second time there is nothing left to do.

        Safe by construction: it retires duplicate digests and refreshes stale ones. Duplicate memories and records and
        expired memories are only reported. What was done is told by a ``dream_report`` record that links to it.
        """
        drafts = (
            drafted("task_start", at, {"agent_id": agent_id}),
            drafted("task_progress", at, {"agent_id": agent_id}),
        )
        done = maintenance.dream_of(self._tenancy, project_id, dry_run=dry_run, drafts=drafts)
        return self._perform(self._meter.measured("dream", {"dry_run": dry_run}, done))


def remembered(kind: str, text: str, about: About) -> Remembered:
    """A memory to be added."""
    tags = tuple(checked_texts("tags", about.get("tags")))
    return Remembered(kind, text, about.get("project_id"), tags, about.get("hard", False))
